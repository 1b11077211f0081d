"""One step of a trained model: worked out by hand, and held to what the model itself puts out."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from nungil.attention.eye import Look
from nungil.errors import UsageError
from nungil.inspection.ledger import Array, Ledger
from nungil.inspection.worked import classifier, recurrent, transformer
from nungil.inspection.worked.asked import Asked, Worked
from nungil.inspection.worked.cells import NAMES
from nungil.inspection.worked.parameters import Parameters
from nungil.model.build import Model
from nungil.model.classifier import AttentionClassifier, ClassifierSettings
from nungil.model.recurrent import RecurrentSettings, RecurrentTranslator
from nungil.model.transformer import TransformerSettings
from nungil.text.tokenizers.base import SOS

ROUNDING = 1e-5  # what numbers of 32 bits may differ by from those of 64


class Place(NamedTuple):
    """Which attention a user asks about; what is left open is the main one, its last layer, its first head."""

    kind: str | None = None
    layer: int | None = None
    head: int | None = None


def explain_model(model: Model, asked: Asked, facts: Mapping[str, Any]) -> Ledger:
    """The ledger of one step. `facts` is what a page tells of it: the text, what came of it."""
    real = _run(model, asked)  # first: what a model cannot read it refuses itself
    with np.errstate(all="ignore"):  # the sheet refuses what is not finite, in a sentence
        worked = _work_out(model, asked)
    residual = _difference(worked, real, asked)
    told = {**_described(model, asked), **facts}
    if residual > ROUNDING:  # is it the rounding of 32 bits, or a fault?
        told["residual_in_double"] = _difference(worked, _run(deepcopy(model).double(), asked), asked)
    against = f"{type(model).__name__}: its attention weights up to this step, and its probabilities"
    layer = None if asked.kind is None else asked.layer
    return Ledger(_mechanism(model, asked.kind), worked.steps, residual, against, told, asked.kind, layer)


def settled(model: Model, asked: Asked, place: Place) -> Asked:
    """What is asked with everything said, or a sentence on what there is not."""
    kinds = kinds_of(model)
    kind = place.kind or next(iter(kinds), None)
    if kind is None:
        _refuse_places(model, place)
        return _step_checked(asked)
    if kind not in kinds:
        raise UsageError(f"this model has no {kind} attention; it has {', '.join(kinds) or 'none'}")
    layers, heads = kinds[kind]
    layer, head = layers - 1 if place.layer is None else place.layer, place.head or 0
    others = "".join(f"; kind {other} has {count[0]} of them" for other, count in kinds.items() if count != kinds[kind])
    if layer not in range(layers):
        there = ", ".join(map(str, range(layers)))
        raise UsageError(f"{kind} attention has no layer {layer}; its layers, from 0: {there}{others}")
    if head not in range(heads):
        there = ", ".join(map(str, range(heads)))
        raise UsageError(f"{kind} attention of layer {layer} has no head {head}; its heads, from 0: {there}")
    return _step_checked(replace(asked, kind=kind, layer=layer, head=head))


def kinds_of(model: Model) -> dict[str, tuple[int, int]]:
    """The attentions of a model, the main one first: how many layers, and heads in each."""
    settings = model.settings
    if isinstance(settings, RecurrentSettings):
        return {} if settings.decoder == "plain" else {"cross": (1, 1)}
    if isinstance(settings, TransformerSettings):
        decoder = settings.decoder_layers, settings.heads
        return {"cross": decoder, "masked": decoder, "self": (settings.encoder_layers, settings.heads)}
    pools = {"pooling": (1, 1)} if settings.pooling == "attention" else {}
    return pools | ({"self": (settings.layers, settings.heads)} if settings.encoder == "transformer" else {})


def _refuse_places(model: Model, place: Place) -> None:
    if place.layer is not None or place.head is not None:
        plain = isinstance(model, RecurrentTranslator)
        why = "a plain decoder" if plain else "a pooling that does not look"
        raise UsageError(f"this model has {why}: there is no layer or head to choose; leave --layer and --head out")


def _step_checked(asked: Asked) -> Asked:
    """Steps are words that are written; with kind `self`, words that are read; a classifier takes one."""
    count, what = len(asked.written), "written"
    if asked.kind == "self":
        count, what = len(asked.source), "read"
    elif not asked.written:
        count, what = 1, "made"
    if asked.step in range(1, count + 1):
        return asked
    tokens = {"written": asked.target_tokens, "read": asked.source_tokens, "made": ()}[what]
    named = f": {' '.join(tokens)}" if tokens else ""
    steps = "one step" if count == 1 else f"{count} steps"
    raise UsageError(
        f"there is no step {asked.step}; {steps} {'is' if count == 1 else 'are'} {what}, counted from 1{named}"
    )


def _work_out(model: Model, asked: Asked) -> Worked:
    weights = Parameters({name: part.detach().cpu().numpy() for name, part in model.state_dict().items()})
    settings = model.settings
    if isinstance(settings, RecurrentSettings):
        return recurrent.work_out(weights, settings, asked)
    if isinstance(settings, TransformerSettings):
        return transformer.work_out(weights, settings, asked)
    return classifier.work_out(weights, settings, asked)


class _Watcher:
    """An eye that keeps the weights of every look, and leaves them as they are."""

    def __init__(self) -> None:
        self.looks: dict[tuple[str, int], list[Array]] = {}

    def __call__(self, look: Look) -> Float[Tensor, "B *heads T S"]:
        """Remember; a look without heads has one."""
        seen = look.weights[0].double().cpu().numpy()
        self.looks.setdefault((look.kind, look.layer), []).append(seen if seen.ndim == 3 else seen[None])
        return look.weights


class _Output(NamedTuple):
    """What the model itself puts out: every look, (heads, rows, columns), and the probabilities of every step."""

    looks: dict[tuple[str, int], Array]
    probabilities: Array


def _run(model: Model, asked: Asked) -> _Output:
    watcher = _Watcher()
    source = torch.tensor([asked.source])
    keep = torch.ones_like(source, dtype=torch.bool)
    was_training = model.training
    model.eval()
    try:
        with torch.inference_mode():
            if isinstance(model, AttentionClassifier):
                logits = model(source, keep, watcher).logits
            else:
                put_in = torch.tensor([[SOS, *asked.written[:-1]]])
                logits = model.logits(model(source, keep, put_in, watcher).features)[0]
    finally:
        model.train(was_training)
    looks = {place: np.concatenate(seen, axis=1) for place, seen in watcher.looks.items()}
    return _Output(looks, logits.double().softmax(dim=-1).numpy())


def _difference(worked: Worked, real: _Output, asked: Asked) -> float:
    """The largest difference of any weight and any probability."""
    row = len(asked.written) if asked.kind == "self" else asked.step
    row = row if asked.written else 1
    found = [np.abs(worked.probabilities - real.probabilities[row - 1]).max()]
    for place, weights in worked.looks.items():
        rows, columns = weights.shape[1:]
        found.append(np.abs(weights - real.looks[place][:, :rows, :columns]).max())
    return float(max(found))


def _mechanism(model: Model, kind: str | None) -> str:
    """The name of what is written out: a score and its window, heads, a pooling, or none."""
    settings = model.settings
    if kind in ("self", "masked") or isinstance(settings, TransformerSettings):
        return "multi-head"
    if kind is None:
        return settings.pooling if isinstance(settings, ClassifierSettings) else "plain"
    score = settings.score
    return score.name if score.window == "none" else f"{score.window} of {score.name}"


def _described(model: Model, asked: Asked) -> dict[str, Any]:
    """What a page says of the model and of the step."""
    settings = model.settings
    told: dict[str, Any] = {"model": settings.kind, "step": asked.step, "source_tokens": list(asked.source_tokens)}
    if isinstance(settings, RecurrentSettings):
        told |= {"decoder": settings.decoder, "cell": NAMES[settings.cell]}
    elif isinstance(settings, ClassifierSettings):
        told |= {"encoder": settings.encoder, "pooling": settings.pooling}
        told |= {"cell": NAMES[settings.encoder]} if settings.encoder in NAMES else {}
    else:
        told |= {"heads": settings.heads}
    if asked.written:
        told["target_tokens"] = list(asked.target_tokens)
    if asked.kind != "self" and asked.written:
        told |= {"put_in": asked.tokens_put_in[-1], "chosen": asked.target_tokens[asked.step - 1]}
        told["steps"] = len(asked.written)
    if asked.kind == "self":
        told |= {"word": asked.source_tokens[asked.step - 1], "steps": len(asked.source)}
    return told | ({"head": asked.head} if asked.kind in ("self", "cross", "masked") else {})
