"""The lenses: one dict, name to function, and which of them a model has."""

from collections.abc import Callable
from typing import Literal, get_args

from nungil.errors import UsageError, did_you_mean
from nungil.inspection.example import Example
from nungil.inspection.felt import gradient_input, integrated_gradients, leave_one_out
from nungil.inspection.lensmap import LensMap
from nungil.inspection.looked import raw, rollout, rollout_missing, value_norm
from nungil.model.decoders import PlainDecoder

Lens = Literal["raw", "value-norm", "rollout", "gradient-input", "integrated-gradients", "leave-one-out"]
LENSES: dict[Lens, Callable[[Example, int | None, int | None], LensMap]] = {
    "raw": raw,
    "value-norm": value_norm,
    "rollout": rollout,
    "gradient-input": gradient_input,
    "integrated-gradients": integrated_gradients,
    "leave-one-out": leave_one_out,
}


def through(example: Example, lens: str, layer: int | None = None, head: int | None = None) -> LensMap:
    """What this lens shows. Layer and head are for raw and value-norm: by default the last, and all of its heads."""
    missing = missing_lenses(example)
    for name in get_args(Lens):
        if name == lens:
            if name in missing:
                there = ", ".join(one for one in LENSES if one not in missing)
                raise UsageError(f"this model has no lens {lens}: {missing[name]}; it has {there}")
            return LENSES[name](example, layer, head)
    raise UsageError(f"there is no lens {lens!r}{did_you_mean(lens, LENSES)}")


def missing_lenses(example: Example) -> dict[Lens, str]:
    """The lenses that mean nothing for a model, and why."""
    missing: dict[Lens, str] = {}
    why = _unlooking(example)
    if why is not None:
        missing |= {"raw": why, "value-norm": why}
    rolled = rollout_missing(example)
    if rolled is not None:
        missing["rollout"] = rolled
    return missing


def _unlooking(example: Example) -> str | None:
    if example.translates:
        plain = isinstance(getattr(example.model, "decoder", None), PlainDecoder)
        return "a plain decoder does not look at the source" if plain else None
    pooling = example.model.settings.pooling  # type: ignore[union-attr]  # only a classifier does not translate
    return None if pooling == "attention" else f"it pools by {pooling}, not by attention"
