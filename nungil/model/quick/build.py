"""From a translator to the same one for searching."""

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
    """Made of the weights as they are now, for about so many tokens; None where there is no quicker way."""
    if isinstance(model, TransformerTranslator) and not model.training:
        return QuickTransformer(model, KINDS[precision])
    if isinstance(model, RecurrentTranslator) and not model.training and QuickRecurrent.suits(model):
        return QuickRecurrent(model, KINDS[precision], QuickRecurrent.looks_up(model, tokens))
    return None


class _Kept(NamedTuple):
    made: Quick | None
    asked: Hashable
    lookup: bool  # whether it has a table of the whole vocabulary, which serves few tokens too


class Ready:
    """A translator made ready, and kept so until its weights have changed or it is wanted otherwise."""

    def __init__(self, model: object) -> None:
        self.model = model
        self._kept: _Kept | None = None

    def made_for(self, precision: SearchPrecision, tokens: int) -> Quick | None:
        """The quick model for about so many tokens, or for more of them; or None."""
        if not isinstance(self.model, nn.Module):
            return None
        lookup = isinstance(self.model, RecurrentTranslator) and QuickRecurrent.looks_up(self.model, tokens)
        asked = precision, self.model.training, _weights_as_they_are(self.model)
        kept = self._kept
        if kept is None or kept.asked != asked or (lookup and not kept.lookup):
            kept = self._kept = None  # before there are two of them
            kept = self._kept = _Kept(quick(self.model, precision, tokens), asked, lookup)
        return kept.made

    def __reduce__(self) -> tuple[type["Ready"], tuple[object]]:
        """A copy makes its own: what lies as oneDNN reads it cannot be copied."""
        return Ready, (self.model,)


def _weights_as_they_are(model: nn.Module) -> Hashable:
    """Other numbers after a change of weights. torch counts changes, but not those of fused optimizers: hence sums.

    They are taken row by row: one sum over all of a matrix is rounded otherwise by another number of threads.
    """
    with torch.inference_mode():
        return tuple((weight.data_ptr(), _changes(weight), _sum(weight.detach())) for weight in model.parameters())


def _sum(weight: Tensor) -> float:
    rows = weight.sum(dim=-1) if weight.dim() > 1 else weight
    return float(rows.double().numpy().sum())


def _changes(weight: nn.Parameter) -> int:
    return 0 if weight.is_inference() else weight._version
