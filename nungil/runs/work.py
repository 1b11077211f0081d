"""What differs between translating and classifying in a run: batches, loss, validation."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import torch

from nungil.batches.batch import LabelledBatch, PairBatch, Stored, labelled_batch, marked_lengths, pair_batch
from nungil.batches.order import Order, Rows, shares
from nungil.batches.recut import Recut
from nungil.batches.store import Store
from nungil.decoding.settings import SearchSettings
from nungil.model.folder import Loaded
from nungil.model.reading import keep_few_shapes
from nungil.pipeline import Classifier, Translator
from nungil.records import Labelled, Pair
from nungil.scoring import score_labels, score_translations
from nungil.text.tokenizers.base import EOS
from nungil.training.course import Place, updates
from nungil.training.losses import Loss, classification_loss, translation_loss
from nungil.training.ranks import ALONE, Ranks
from nungil.training.steps import Group

Batch = TypeVar("Batch")
COUNTED = 16_384  # positions of a batch in which n-grams are counted
QUICK = SearchSettings(
    beam=1, scores=False
)  # validations are only compared with each other, so the fastest search will do


class Validation(NamedTuple):
    """Scores by name, their signatures, and one example for people."""

    scores: dict[str, float]
    signatures: dict[str, str]
    example: str


class Work(ABC, Generic[Batch]):
    """A model on its data."""

    loaded: Loaded

    @abstractmethod
    def lengths(self, store: Store) -> list[Rows]:
        """For each side, the lengths of all rows as the model reads them."""

    @abstractmethod
    def batch(self, store: Stored, rows: Rows) -> Batch:
        """These rows as tensors."""

    @abstractmethod
    def predictions(self, store: Stored, rows: Rows) -> int:
        """The number of predictions that the loss of these rows is summed over."""

    @abstractmethod
    def loss(self, batch: Batch, smoothing: float = 0.0, agreement: float = 0.0) -> Loss:
        """The loss of a batch."""

    @abstractmethod
    def score(self, records: Sequence[Any], shown: int = 0, search: SearchSettings = QUICK) -> Validation:
        """How well these records are translated or classified, with record number `shown` as the example."""

    def prime(self, store: Store) -> None:
        """Initialise what can be counted in the training set instead of learned."""
        del store

    def groups(
        self,
        store: Store,
        order: Order,
        accumulation: int,
        start: Place,
        ranks: Ranks = ALONE,
        recut: Recut | None = None,
    ) -> Iterator[Group[Batch]]:
        """Endlessly, the batches of each update from a place on; with `recut`, words segmented anew in every epoch.

        Each process gets its share; together they see what a single one would.
        """
        for update in updates(order, accumulation, start):
            mine = [share[ranks.rank] for share in shares(update.groups, ranks.world)]
            texts = store if recut is None else recut.of(store, update.epoch)
            batches = [self.batch(texts, rows) for rows in mine if len(rows)]
            predictions = sum(self.predictions(texts, rows) for rows in update.groups)
            store.release()  # rows are scattered: a few batches touch every page of the store
            yield Group(batches, predictions, update.epoch, update.after, update.groups)

    def validate(self, store: Store, records: Sequence[Any], budget: int, shown: int = 0) -> Validation:
        """The loss on every row, and the scores of their records."""
        found = self.score(records, shown % len(records))
        self.loaded.model.eval()
        lengths = self.lengths(store)
        plain = predictions = 0.0
        with torch.inference_mode():
            for rows in Order(lengths, max(budget, *(int(side.max()) for side in lengths)), 0).epoch(0):
                loss = self.loss(self.batch(store, rows))
                plain, predictions = plain + loss.plain, predictions + loss.predictions
        return found._replace(scores={"loss": plain / predictions, **found.scores})


@dataclass(frozen=True)
class Translating(Work[PairBatch]):
    """A translator on pairs."""

    loaded: Loaded
    translator: Translator

    def lengths(self, store: Store) -> list[Rows]:
        """Source with its marks, target with one."""
        source, target = store.columns["source"].lengths(), store.columns["target"].lengths()
        return [marked_lengths(source, self.loaded.config.marks), target + np.int32(1)]

    def prime(self, store: Store) -> None:
        """Set the output bias to log token frequencies, which the first updates would have to learn otherwise."""
        output = self.translator.model.output
        seen = store.columns["target"].counts(len(output.bias))
        seen[EOS] += store.rows
        with torch.no_grad():
            output.bias.copy_(torch.from_numpy(np.log((seen + 1) / (seen + 1).sum())))
        store.release()

    def batch(self, store: Stored, rows: Rows) -> PairBatch:
        """Pairs as tensors."""
        return pair_batch(store, rows, self.loaded.config.marks)

    def predictions(self, store: Stored, rows: Rows) -> int:
        """Target tokens, and the end of each sentence."""
        target = store.columns["target"]
        return sum(len(target.row(int(row))) for row in rows) + len(rows)

    def loss(self, batch: PairBatch, smoothing: float = 0.0, agreement: float = 0.0) -> Loss:
        """Cross-entropy of the target."""
        return translation_loss(self.translator.model, batch, smoothing, agreement)

    def score(self, records: Sequence[Pair], shown: int = 0, search: SearchSettings = QUICK) -> Validation:
        """BLEU and chrF of greedy translations."""
        found = self.translator.translate([record.source for record in records], search, split=False)
        texts = [translation.text for translation in found]
        scores = score_translations(texts, [record.target for record in records], self.loaded.config.target)
        source, target, *_ = records[shown]
        return Validation(
            {"bleu": scores.bleu, "chrf": scores.chrf},
            {"bleu": scores.bleu_signature, "chrf": scores.chrf_signature},
            f"{shortened(source)} → {shortened(texts[shown]) or '(nothing)'}  (reference: {shortened(target)})",
        )


@dataclass(frozen=True)
class Classifying(Work[LabelledBatch]):
    """A classifier on labelled texts."""

    loaded: Loaded
    classifier: Classifier

    def lengths(self, store: Store) -> list[Rows]:
        """The texts with their marks."""
        return [marked_lengths(store.columns["source"].lengths(), self.loaded.config.marks)]

    def prime(self, store: Store) -> None:
        """Count the features of n-grams."""
        reader = self.classifier.model.ngrams
        if reader is not None:
            lengths = self.lengths(store)
            order = Order(lengths, max(COUNTED, int(lengths[0].max())), 0)
            reader.count(self.batch(store, rows) for rows in order.epoch(0))
            store.release()

    def batch(self, store: Stored, rows: Rows) -> LabelledBatch:
        """Texts as tensors."""
        return labelled_batch(store, rows, self.loaded.config.marks)

    def predictions(self, store: Stored, rows: Rows) -> int:  # noqa: ARG002  a text has one label, however long it is
        """Texts."""
        return len(rows)

    def loss(self, batch: LabelledBatch, smoothing: float = 0.0, agreement: float = 0.0) -> Loss:  # noqa: ARG002
        """Cross-entropy of the label."""
        return classification_loss(self.classifier.model, batch, smoothing)

    def score(
        self,
        records: Sequence[Labelled],
        shown: int = 0,
        search: SearchSettings = QUICK,  # noqa: ARG002  a label is not searched for
    ) -> Validation:
        """Accuracy and macro F1."""
        found = self.classifier.classify([record.text for record in records])
        right = [record.label for record in records]
        scores = score_labels([one.label for one in found], right, self.loaded.config.labels)
        one = found[shown]
        example = f"{shortened(one.source)} → {one.label} ({one.probability:.0%})  (right: {right[shown]})"
        return Validation({"accuracy": 100 * scores.accuracy, "macro_f1": 100 * scores.macro_f1}, {}, example)


def shortened(text: str, most: int = 80) -> str:
    """The beginning of a long text."""
    return text if len(text) <= most else text[: most - 1] + "…"


def work_on(loaded: Loaded, opened: Translator | Classifier) -> Work[Any]:
    """The `Work` for a model."""
    keep_few_shapes()  # before anything is computed
    return Translating(loaded, opened) if isinstance(opened, Translator) else Classifying(loaded, opened)
