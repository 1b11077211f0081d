"""Hidden words: while training, a share of the tokens is `<unk>`, so that none is relied on alone. Iyyer et al. (2015).

Labels, and the tokens that are to be predicted, stay as they are.
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
    """The batch as the model is to read it, with others hidden at every call."""
    if share == 0.0:
        return batch
    if isinstance(batch, PairBatch):
        return batch._replace(source=_hidden(batch.source, share), target_in=_hidden(batch.target_in, share))
    return batch._replace(source=_hidden(batch.source, share))


def _hidden(ids: Int[Tensor, "B S"], share: float) -> Int[Tensor, "B S"]:
    """Marks and padding are never hidden: they tell where a sentence begins and ends."""
    hit = (torch.rand(ids.shape, generator=generator()) < share).to(ids.device) & (ids > EOS)
    return ids.masked_fill(hit, UNK)
