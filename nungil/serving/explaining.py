"""`/v1/explain`: every number of one step, with explanations."""

from typing import Any

from nungil.errors import UsageError
from nungil.inspection.layout import Block, lay_out, opening_of, title_of, verdict
from nungil.inspection.ledger import Ledger
from nungil.inspection.words import Language, name_of
from nungil.pipeline import Translator
from nungil.serving.asked import Explain
from nungil.serving.cost import refuse_long
from nungil.serving.limits import Limits
from nungil.serving.shelf import Served


def explain(served: Served, asked: Explain, limits: Limits) -> dict[str, Any]:
    """The ledger as `nungil explain --json` prints it, with `page`: its explanation in a language."""
    model = served.model
    place = {"layer": asked.layer, "head": asked.head}
    if isinstance(model, Translator):
        ledger = model.explain(asked.text, asked.step, **place, kind=asked.kind, target=asked.target)
    elif asked.target is not None:
        raise UsageError("target: only a translator writes one; a classifier has labels")
    else:
        ledger = model.explain(asked.text, asked.step, **place, kind=asked.kind)
    refuse_long(ledger, limits)
    return {"model": served.name, **ledger.to_json(), "page": told(ledger, asked.lang)}


def told(ledger: Ledger, language: Language) -> dict[str, Any]:
    """Title, blocks and verdict, every number as text; `names` are those of the ledger's steps, one for each."""
    return {
        "lang": language,
        "title": title_of(ledger, language),
        "opening": opening_of(ledger),
        "names": [name_of(step.name, language) for step in ledger.steps],
        "blocks": [_plain(block) for block in lay_out(ledger, language)],
        "verdict": verdict(ledger, language),
    }


def _plain(block: Block) -> dict[str, Any]:
    return {
        "title": block.title,
        "story": block.story,
        "name": block.name,
        "rows": block.rows,
        "labels": list(block.labels),
        "columns": [
            {"heading": one.heading, "formula": one.formula, "cells": list(one.cells), "total": one.total}
            for one in block.columns
        ],
        "steps": list(block.steps),
    }
