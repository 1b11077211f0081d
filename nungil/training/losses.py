"""Losses: cross-entropy summed over tokens or texts, with label smoothing. Padding never reaches the vocabulary."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from nungil.attention import coverage_loss
from nungil.batches.batch import LabelledBatch, PairBatch
from nungil.model.build import TranslatorModel
from nungil.model.classifier import AttentionClassifier
from nungil.model.recurrent import RecurrentTranslator
from nungil.training.vocabulary import vocabulary_loss

# Sizes   N real tokens of a batch   V vocabulary or classes


class Loss(NamedTuple):
    """`total` is minimised; `plain` is the cross-entropy alone. Both are summed over the predictions."""

    total: Float[Tensor, ""]
    plain: float
    right: int
    predictions: int


def translation_loss(model: TranslatorModel, batch: PairBatch, smoothing: float = 0.0, agreement: float = 0.0) -> Loss:
    """The loss over the real target tokens, with the coverage loss if the model has one.

    With `agreement` every sentence is read twice, with different dropout, and differences are penalised (R-Drop).
    """
    readings = 2 if agreement else 1
    batch = PairBatch(*(side.repeat(readings, 1) for side in batch))
    decoded = model(batch.source, batch.source_keep, batch.target_in)
    features, right = decoded.features[batch.target_keep], batch.target_out[batch.target_keep]
    features, right = (_side_by_side(both, readings) for both in (features, right))
    summed = vocabulary_loss(features, model.output.weight, model.output.bias, right, smoothing, agreement)
    loss = Loss(summed.total, float(summed.plain), int(summed.right), len(right))
    if (
        isinstance(model, RecurrentTranslator)
        and model.settings.score.name == "coverage"
        and decoded.weights is not None
    ):
        again = coverage_loss(decoded.weights)[batch.target_keep].sum()
        loss = loss._replace(total=loss.total + model.settings.coverage_loss * again)
    # The mean over readings, so that gradient and predictions have the size of one
    return Loss(loss.total / readings, loss.plain / readings, loss.right // readings, loss.predictions // readings)


def _side_by_side(readings: Tensor, count: int) -> Tensor:
    """From all words of the first reading, then all of the second, to the two readings of each word in turn."""
    return readings.view(count, -1, *readings.shape[1:]).transpose(0, 1).flatten(0, 1)


def classification_loss(model: AttentionClassifier, batch: LabelledBatch, smoothing: float = 0.0) -> Loss:
    """The loss over texts. Encoder and n-grams each have a loss of their own, so neither relies on the other."""
    found = model(batch.source, batch.source_keep)
    loss = cross_entropy(found.logits, batch.label, smoothing)
    if found.deep is None or found.wide is None:
        return loss
    deep, wide = (cross_entropy(one, batch.label, smoothing).total for one in (found.deep, found.wide))
    return loss._replace(total=deep + wide)


def cross_entropy(logits: Float[Tensor, "N V"], right: Int[Tensor, " N"], smoothing: float = 0.0) -> Loss:
    """−Σ q log p with q = 1 − ε on the right one and ε spread over all. Szegedy et al. (2016), section 7."""
    enough = torch.promote_types(logits.dtype, torch.float32)  # half precision is too coarse to sum in
    log_probs_NV = logits.log_softmax(dim=-1, dtype=enough)
    plain = -log_probs_NV.gather(-1, right[:, None]).sum()
    total = plain
    if smoothing:
        total = (1 - smoothing) * plain - smoothing * log_probs_NV.mean(dim=-1).sum()
    with torch.no_grad():
        hits = int((logits.argmax(dim=-1) == right).sum())
    return Loss(total, float(plain.detach()), hits, len(right))
