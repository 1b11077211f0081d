"""Classifier: texts in, labels out."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import torch

from nungil.decoding.native import batches_of
from nungil.errors import EmptyError, UsageError
from nungil.inspection.ledger import Ledger
from nungil.inspection.measuring import Wanted
from nungil.inspection.record import AttentionRecord
from nungil.inspection.recorder import Recorder
from nungil.inspection.steps import Candidate, Step
from nungil.inspection.whole import Place, explain_model, settled
from nungil.inspection.worked.asked import Asked
from nungil.model.build import parameter_count
from nungil.model.classifier import AttentionClassifier
from nungil.model.folder import ModelConfig
from nungil.model.results import Classified
from nungil.pipeline.insights import ClassifierInsight
from nungil.pipeline.neighbours import Neighbours, Vectors, neighbours_of
from nungil.pipeline.texts import Marked, encode, evaluating, many, not_empty, padded, shown
from nungil.records import Classification
from nungil.text.tokenizers.base import Tokenizer

ROWS = 256  # texts of a batch


@dataclass(frozen=True, repr=False)
class Classifier(ClassifierInsight):
    """Classifies text."""

    config: ModelConfig
    model: AttentionClassifier
    tokenizer: Tokenizer

    def __repr__(self) -> str:
        """One line; the whole network is `model`."""
        what = f"of {self.config.source or '?'}, {len(self.config.labels):,} labels"
        return f"<Classifier {what}: {self.config.model.kind}, {parameter_count(self.model):,} parameters>"

    def classify(self, texts: str | Iterable[str]) -> list[Classification]:
        """The label of each text, in the same order."""
        given = many(texts)
        if "" in given:
            raise EmptyError(f"text {given.index('') + 1} is empty; there is nothing to classify in it")
        encoded = [encode(text, self.tokenizer, self.config) for text in given]
        answers: dict[int, Classification] = {}
        with evaluating(self.model), torch.inference_mode():
            for places in batches_of([len(one.ids) for one in encoded], ROWS):
                source, keep = padded([encoded[place].ids for place in places])
                rows = self.model(source, keep).logits.softmax(dim=-1).tolist()
                for place, row in zip(places, rows, strict=True):
                    answers[place] = self._classification(given[place], encoded[place], row)
        return [answers[place] for place in range(len(given))]

    def look(self, text: str, *, honesty: Wanted | bool = False) -> AttentionRecord:
        """Where the pooling looks: one row, for the label. `honesty` is as for translators."""
        if not self.config.attends:
            raise UsageError(f"this classifier pools by {self.model.settings.pooling}: it has no attention to look at")
        given = not_empty(text)
        encoded = encode(given, self.tokenizer, self.config)
        source, keep = padded([encoded.ids])
        recorder = Recorder()
        with evaluating(self.model), torch.inference_mode():
            found = self.model(source, keep, recorder)
        answer = self._classification(given, encoded, found.logits.softmax(dim=-1)[0].tolist())
        number = self.config.labels.index(answer.label)
        read = shown(encoded.ids, self.tokenizer, given)
        record = recorder.record(
            0, read.tokens, [answer.label], source=given, target=answer.label, score=answer.probability
        )
        ranked = sorted(answer.probabilities.items(), key=lambda one: -one[1])
        candidates = tuple(Candidate(token=label, probability=min(1.0, value)) for label, value in ranked)
        step = Step(token=answer.label, probability=candidates[0].probability, candidates=candidates)
        record = replace(record, steps=(step,), readers=_readers(found, number))
        return self._honest(record, self._of(read, number), honesty)

    def neighbours(self, word: str, count: int = 10) -> list[Neighbours]:
        """The words nearest to a word by the angle between embeddings."""
        table = self.model.embedding.table.weight
        return neighbours_of(word, [Vectors("source", self.tokenizer, table)], count)

    def explain(
        self, text: str, step: int = 1, *, layer: int | None = None, head: int | None = None, kind: str | None = None
    ) -> Ledger:
        """Every number from the tokens to the labels, checked against the model, in one step.

        With kind `self`, for Transformers, `step` is a token, from 1, whose self-attention is written out. Layers and
        heads count from 0; by default the last layer and its first head.
        """
        given = not_empty(text)
        encoded = encode(given, self.tokenizer, self.config)
        asked = Asked(*shown(encoded.ids, self.tokenizer, given), self.config.labels, step=step)
        label = self.classify(given)[0].label
        place = Place(kind, layer, head)
        facts = {"text": given, "target": label, "chosen": label, "cut": encoded.cut}
        return explain_model(self.model, settled(self.model, asked, place), facts)

    def _classification(self, source: str, encoded: Marked, row: list[float]) -> Classification:
        probabilities = dict(zip(self.config.labels, row, strict=True))
        label = max(probabilities, key=lambda name: probabilities[name])
        return Classification(label, probabilities[label], probabilities, source, encoded.cut, encoded.unknown)


def _readers(found: Classified, label: int) -> str:
    """With n-grams, the probabilities by attention and by n-grams, because the map shows only the former."""
    if found.deep is None or found.wide is None:
        return ""
    return told_by_both(*(float(one.softmax(dim=-1)[0, label]) for one in (found.deep, found.wide)))


def told_by_both(deep: float, wide: float) -> str:
    """The probability of the label by attention and by n-grams. The page translates this very sentence to Korean."""
    return (
        f"the label is by the mean of two. Attention, of which this map is, gives it a probability of {deep:.2f}; "
        f"n-grams, which no map shows, {wide:.2f}."
    )
