"""`Insight` for translators and for classifiers: what is written, and how it is scored."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import torch

from nungil.decoding.constraints import Constraints
from nungil.decoding.found import Found
from nungil.decoding.greedy import greedy
from nungil.decoding.native import batches_of
from nungil.decoding.stepper import Stepper
from nungil.errors import UsageError, did_you_mean
from nungil.inspection.example import Example
from nungil.inspection.judging import MakeEye, Metric
from nungil.inspection.othermap import ALLOWED, OtherMap, search_other_map
from nungil.inspection.shown import Shown
from nungil.model.build import Model, TranslatorModel
from nungil.model.classifier import AttentionClassifier
from nungil.model.folder import ModelConfig
from nungil.pipeline.insight import Insight
from nungil.pipeline.texts import evaluating, not_empty, padded, shown
from nungil.scoring import score_labels, score_translations
from nungil.text.tokenizers.base import EOS, Tokenizer
from nungil.text.tokenizers.train import Tokenizers

ROWS = 64  # texts of a batch while attention is changed


class TranslatorInsight(Insight):
    """Of a translator."""

    config: ModelConfig
    model: TranslatorModel
    tokenizers: Tokenizers

    @abstractmethod
    def _best(self, source: Sequence[int]) -> list[int]:
        """The model's own translation of some ids, with `<eos>` if it is finished."""

    def _parts(self) -> tuple[Model, Tokenizer]:
        return self.model, self.tokenizers.source

    def _example(self, source: Shown, target: str | None) -> Example:
        if target is None:
            return self._of(source, shown(self._best(source.ids), self.tokenizers.target))
        return self._of(source, self._given(target))

    def _given(self, target: str) -> Shown:
        """A given translation, with `<eos>`."""
        text, writes = not_empty(target), self.tokenizers.target
        return shown([*writes.encode(text), EOS], writes, text)

    def _of(self, source: Shown, written: Shown) -> Example:
        names = self.tokenizers.source.tokens, self.tokenizers.target.tokens
        decode, tokens = self.tokenizers.target.decode, (source.tokens, written.tokens)
        return Example(self.model, source.ids, written.ids, *names, decode, tokens)

    def _judged(self, records: Sequence[tuple[str, str]]) -> tuple[list[Example], Metric]:
        sources = [self._source(source) for source, _ in records]
        ids = [source.ids for source in sources]
        references = [not_empty(target) for _, target in records]

        def under(make_eye: MakeEye) -> float:
            found = [self.tokenizers.target.decode(one.ids) for one in self._greedy(ids, make_eye)]
            return score_translations(found, references, self.config.target).chrf

        written = [shown(ended(one), self.tokenizers.target) for one in self._greedy(ids, lambda: None)]
        examples = [self._of(source, one) for source, one in zip(sources, written, strict=True)]
        return examples, Metric("chrF", under)

    def _greedy(self, sources: Sequence[Sequence[int]], make_eye: MakeEye) -> list[Found]:
        """Greedy translations, with a new eye for each batch."""
        found: dict[int, Found] = {}
        for places in batches_of([len(source) for source in sources], ROWS):
            ids, keep = padded([sources[place] for place in places])
            constraints = Constraints(torch.tensor([self._room(sources[place]) for place in places]))
            model: Stepper[Any] = self.model
            found |= zip(places, greedy(model, ids, keep, constraints, eye=make_eye()), strict=True)
        return [found[place] for place in range(len(sources))]


def ended(found: Found) -> list[int]:
    """The ids of a translation, with `<eos>` if it is finished."""
    return [*found.ids, EOS] if found.finished else found.ids


class ClassifierInsight(Insight):
    """Of a classifier; `target` is a label."""

    config: ModelConfig
    model: AttentionClassifier
    tokenizer: Tokenizer

    def other_map(self, text: str, *, allowed: float = ALLOWED, seed: int = 1) -> OtherMap:
        """The most different map of the pooling that gives the same answer: Jain and Wallace (2019)."""
        with evaluating(self.model):
            return search_other_map(self._attending(self._source(text), None), allowed, seed)

    def _parts(self) -> tuple[Model, Tokenizer]:
        return self.model, self.tokenizer

    def _room(self, source: Sequence[int]) -> int:
        del source
        return 1

    def _example(self, source: Shown, target: str | None) -> Example:
        if target is None:
            (label,) = self._labels([source.ids], lambda: None)
        elif target in self.config.labels:
            label = self.config.labels.index(target)
        else:
            raise UsageError(f"there is no label {target!r}{did_you_mean(target, self.config.labels)}")
        return self._of(source, label)

    def _of(self, source: Shown, label: int) -> Example:
        names = self.tokenizer.tokens, self._names
        return Example(self.model, source.ids, (label,), *names, shown=(source.tokens, ()))

    def _names(self, labels: Sequence[int]) -> list[str]:
        return [self.config.labels[label] for label in labels]

    def _judged(self, records: Sequence[tuple[str, str]]) -> tuple[list[Example], Metric]:
        sources, gold = [self._source(text) for text, _ in records], [label for _, label in records]
        ids = [source.ids for source in sources]

        def under(make_eye: MakeEye) -> float:
            return 100 * score_labels(self._names(self._labels(ids, make_eye)), gold, self.config.labels).accuracy

        labels = self._labels(ids, lambda: None)
        return [self._of(*both) for both in zip(sources, labels, strict=True)], Metric("accuracy", under)

    def _labels(self, sources: Sequence[Sequence[int]], make_eye: MakeEye) -> list[int]:
        found: dict[int, int] = {}
        with torch.inference_mode():
            for places in batches_of([len(source) for source in sources], ROWS):
                ids, keep = padded([sources[place] for place in places])
                best = self.model(ids, keep, make_eye()).logits.argmax(dim=-1).tolist()
                found |= dict(zip(places, best, strict=True))
        return [found[place] for place in range(len(sources))]
