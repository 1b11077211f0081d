"""`/v1/intervene`: what would be written if attention, or the text, were different."""

from dataclasses import replace
from typing import Any

import torch

from nungil.errors import UsageError
from nungil.inspection.example import Example
from nungil.pipeline import Translator
from nungil.serving.asked import Intervene
from nungil.serving.cost import refuse_costly
from nungil.serving.limits import Limits
from nungil.serving.plain import plain_picture
from nungil.serving.shelf import Served


def intervene(served: Served, asked: Intervene, limits: Limits) -> dict[str, Any]:
    """One of three questions; `question` names it, `picture` is to be drawn, `lines` are its text."""
    if asked.changes:
        found = _change(served, asked)
    elif asked.edits:
        found = _edit(served, asked, limits)
    else:
        found = _other_map(served, asked)
    return {"model": served.name, **found}


def _change(served: Served, asked: Intervene) -> dict[str, Any]:
    found = served.model.intervene(
        asked.text,
        *(one.change() for one in asked.changes),
        target=asked.target,
        layer=asked.layer,
        head=asked.head,
        everywhere=asked.everywhere,
    )
    picture = plain_picture(found.picture())
    return {"question": "changes", **found.to_json(), "picture": picture, "lines": list(found.lines())}


def _edit(served: Served, asked: Intervene, limits: Limits) -> dict[str, Any]:
    edits = [one.edit() for one in asked.edits]
    before, after = served.model.example(asked.text), served.model.edited(asked.text, *edits)
    for example in (before, after):
        refuse_costly(served, example, limits, asked.lens)
    found = served.model.compare(asked.text, *edits, lens=asked.lens, layer=asked.layer, head=asked.head)
    shown = replace(found, before=found.before.merged(), after=found.after.merged()) if asked.words else found
    return {
        "question": "edits",
        **shown.to_json(),
        "differs": found.differs,
        "classification_before": _labels(served, before),
        "classification_after": _labels(served, after),
        "output_before": found.before.output,
        "output_after": found.after.output,
        "picture": plain_picture(shown.picture()),
        "lines": list(found.lines()),
    }


def _labels(served: Served, example: Example) -> dict[str, Any] | None:
    """A classifier's label for an example, with all probabilities."""
    if example.translates:
        return None
    with torch.inference_mode():
        row = example.log_probs(example.read())[0, 0].exp().tolist()
    probabilities = dict(zip(served.model.config.labels, row, strict=True))
    label = max(probabilities, key=lambda name: probabilities[name])
    return {"label": label, "probability": probabilities[label], "probabilities": probabilities}


def _other_map(served: Served, asked: Intervene) -> dict[str, Any]:
    if isinstance(served.model, Translator):
        raise UsageError("other_map is for classifiers; a translator's rows depend on each other")
    found = served.model.other_map(asked.text, seed=asked.seed)
    picture = plain_picture(found.picture())
    return {"question": "other_map", **found.to_json(), "picture": picture, "lines": [found.verdict]}
