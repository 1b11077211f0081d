"""Word dropout: in training, a share of the input tokens is replaced by `<unk>`. Iyyer et al. (2015).

Labels and the tokens to be predicted are not replaced.
"""

from typing import TypeVar

import torch
from jaxtyping import Int
from torch import Tensor

from nungil.attention.draws import generator
from nungil.batches.batch import LabelledBatch, PairBatch
from nungil.text.tokenizers.base import EOS, UNK

# Sizes   B batch   S steps
Batch = TypeVar("Batch", PairBatch, LabelledBatch)


def with_hidden_words(batch: Batch, share: float) -> Batch:
    """The batch with tokens replaced at random."""
    if share == 0.0:
        return batch
    if isinstance(batch, PairBatch):
        return batch._replace(source=_hidden(batch.source, share), target_in=_hidden(batch.target_in, share))
    return batch._replace(source=_hidden(batch.source, share))


def _hidden(ids: Int[Tensor, "B S"], share: float) -> Int[Tensor, "B S"]:
    """Marks and padding are never replaced: they show where a sentence begins and ends."""
    hit = (torch.rand(ids.shape, generator=generator()) < share).to(ids.device) & (ids > EOS)
    return ids.masked_fill(hit, UNK)
