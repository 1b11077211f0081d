"""Builds the quick counterpart of a translator, and keeps it until the weights change."""

from collections.abc import Hashable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from nungil.model.products import SearchPrecision
from nungil.model.quick.recurrent import QuickRecurrent
from nungil.model.quick.transformer import QuickTransformer
from nungil.model.recurrent import RecurrentTranslator
from nungil.model.transformer import TransformerTranslator

Quick = QuickTransformer | QuickRecurrent
KINDS = {"fp32": None, "bf16": torch.bfloat16, "int8": torch.int8}


@torch.inference_mode()
def quick(model: object, precision: SearchPrecision = "fp32", tokens: int = 0) -> Quick | None:
    """The quick counterpart of the model as it is now, to decode about `tokens` tokens; None if there is none."""
    if isinstance(model, TransformerTranslator) and not model.training:
        return QuickTransformer(model, KINDS[precision])
    if isinstance(model, RecurrentTranslator) and not model.training and QuickRecurrent.suits(model):
        return QuickRecurrent(model, KINDS[precision], QuickRecurrent.looks_up(model, tokens))
    return None


class _Kept(NamedTuple):
    made: Quick | None
    asked: Hashable
    lookup: bool  # whether it has a table of the whole vocabulary; such a model also serves fewer tokens


class Ready:
    """Caches the quick counterpart of a translator until its weights, mode or wanted precision change."""

    def __init__(self, model: object) -> None:
        self.model = model
        self._kept: _Kept | None = None

    def made_for(self, precision: SearchPrecision, tokens: int) -> Quick | None:
        """The quick model, fit to decode about `tokens` tokens; None if there is none."""
        if not isinstance(self.model, nn.Module):
            return None
        lookup = isinstance(self.model, RecurrentTranslator) and QuickRecurrent.looks_up(self.model, tokens)
        asked = precision, self.model.training, _weights_as_they_are(self.model)
        kept = self._kept
        if kept is None or kept.asked != asked or (lookup and not kept.lookup):
            kept = self._kept = None  # free the old one before the new one is built
            kept = self._kept = _Kept(quick(self.model, precision, tokens), asked, lookup)
        return kept.made

    def __reduce__(self) -> tuple[type["Ready"], tuple[object]]:
        """A copy builds its own: weights in oneDNN's layout cannot be copied."""
        return Ready, (self.model,)


def _weights_as_they_are(model: nn.Module) -> Hashable:
    """A key that changes with the weights. torch's version counter misses fused optimizers, hence the sums as well.

    The sums are taken row by row: the sum of a whole matrix is rounded differently with another number of threads.
    """
    with torch.inference_mode():
        return tuple((weight.data_ptr(), _changes(weight), _sum(weight.detach())) for weight in model.parameters())


def _sum(weight: Tensor) -> float:
    rows = weight.sum(dim=-1) if weight.dim() > 1 else weight
    return float(rows.double().numpy().sum())


def _changes(weight: nn.Parameter) -> int:
    return 0 if weight.is_inference() else weight._version
