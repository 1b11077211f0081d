"""Translator and Classifier: text in, records out. What `nungil.load` gives."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from nungil.batches.batch import pad, surround
from nungil.decoding.constraints import Constraints
from nungil.decoding.found import Found
from nungil.decoding.greedy import greedy
from nungil.decoding.stepper import Stepper
from nungil.errors import UsageError
from nungil.inspection.record import AttentionRecord
from nungil.inspection.recorder import Recorder
from nungil.model.build import TranslatorModel
from nungil.model.classifier import AttentionClassifier
from nungil.model.folder import Loaded, ModelConfig, load_model
from nungil.records import Classification, Translation
from nungil.text.tidy import tidy
from nungil.text.tokenizers.base import EOS, SOS, Tokenizer
from nungil.text.tokenizers.train import Tokenizers

MORE = 20  # tokens that any translation may have beyond what its source suggests
BATCH_POSITIONS = 8_192  # sentences × the longest of them


class Marked(NamedTuple):
    """A text as ids with its marks, and whether it had to be cut."""

    ids: list[int]
    cut: bool


def load(folder: str | Path) -> "Translator | Classifier":
    """The translator or classifier of a model folder."""
    return opened(load_model(Path(folder)))


def opened(loaded: Loaded) -> "Translator | Classifier":
    """The same for a model that is in memory already."""
    if isinstance(loaded.model, AttentionClassifier):
        return Classifier(loaded.config, loaded.model, loaded.tokenizers.source)
    return Translator(loaded.config, loaded.model, loaded.tokenizers)


@dataclass(frozen=True)
class Translator:
    """Translates text. Holds no state between calls, so that two may be answered at once."""

    config: ModelConfig
    model: TranslatorModel
    tokenizers: Tokenizers

    def translate(self, texts: str | Sequence[str]) -> list[Translation]:
        """A translation for each text, in the same order. An empty text stays empty."""
        given = [tidy(text) for text in _many(texts)]
        encoded = [encode(text, self.tokenizers.source, self.config) for text in given]
        answers: list[Translation | None] = [None] * len(given)
        with evaluating(self.model):
            for places in batches_of([len(one.ids) for one in encoded], [bool(text) for text in given]):
                source, keep = _padded([encoded[place].ids for place in places])
                for place, found in zip(
                    places, greedy(self._stepper, source, keep, Constraints(self._limits(keep))), strict=True
                ):
                    answers[place] = self._translation(given[place], encoded[place], found)
        return [answer or Translation("", 0.0, (), "", ()) for answer in answers]

    def look(self, text: str, target: str | None = None) -> AttentionRecord:
        """Where it looks while it writes its own translation, or the one that is given.

        The rows are its tokens and `<eos>`; a translation that does not come to its end has none.
        """
        if not self.config.attends:
            raise UsageError("this translator has a plain decoder: it has no attention to look at")
        given = _not_empty(text)
        encoded = encode(given, self.tokenizers.source, self.config)
        source, keep = _padded([encoded.ids])
        recorder = Recorder()
        with evaluating(self.model), torch.inference_mode():
            if target is None:
                found = greedy(self._stepper, source, keep, Constraints(self._limits(keep)))[0]
                written = [*found.ids, EOS] if found.finished else found.ids
            else:
                written = [*self.tokenizers.target.encode(_not_empty(target)), EOS]
            decoded = self.model(source, keep, torch.tensor([[SOS, *written[:-1]]]), recorder)
            log_probs = self.model.logits(decoded.features).log_softmax(dim=-1)
        score = float(log_probs[0].gather(-1, torch.tensor(written)[:, None]).mean())
        return recorder.record(
            0,
            self.tokenizers.source.tokens(encoded.ids),
            self.tokenizers.target.tokens(written),
            source=given,
            target=self.tokenizers.target.decode(written),
            score=score,
        )

    def _limits(self, keep: Bool[Tensor, "B S"]) -> Int[Tensor, " B"]:
        """As long as targets were in training and some more: short enough to end what does not end by itself."""
        return (self.config.stretch * keep.sum(dim=1)).ceil().long() + MORE

    @property
    def _stepper(self) -> Stepper[Any]:
        """The model as a search sees it; each kind has a state of its own."""
        return self.model

    def _translation(self, source: str, encoded: Marked, found: Found) -> Translation:
        return Translation(
            text=self.tokenizers.target.decode(found.ids),
            score=found.log_probability / max(1, len(found.log_probabilities)),
            tokens=tuple(self.tokenizers.target.tokens(found.ids)),
            source=source,
            source_tokens=tuple(self.tokenizers.source.tokens(encoded.ids)),
            finished=found.finished,
            cut=encoded.cut,
        )


@dataclass(frozen=True)
class Classifier:
    """Classifies text."""

    config: ModelConfig
    model: AttentionClassifier
    tokenizer: Tokenizer

    def classify(self, texts: str | Sequence[str]) -> list[Classification]:
        """The label of each text, in the same order."""
        given = [tidy(text) for text in _many(texts)]
        if "" in given:
            raise UsageError(f"text {given.index('') + 1} is empty; there is nothing to classify in it")
        encoded = [encode(text, self.tokenizer, self.config) for text in given]
        answers: dict[int, Classification] = {}
        with evaluating(self.model), torch.inference_mode():
            for places in batches_of([len(one.ids) for one in encoded], [True] * len(given)):
                source, keep = _padded([encoded[place].ids for place in places])
                rows = self.model(source, keep).logits.softmax(dim=-1).tolist()
                for place, row in zip(places, rows, strict=True):
                    answers[place] = self._classification(given[place], encoded[place], row)
        return [answers[place] for place in range(len(given))]

    def look(self, text: str) -> AttentionRecord:
        """Where the pooling looks. The one row is the label."""
        if not self.config.attends:
            raise UsageError(f"this classifier pools by {self.model.settings.pooling}: it has no attention to look at")
        given = _not_empty(text)
        encoded = encode(given, self.tokenizer, self.config)
        source, keep = _padded([encoded.ids])
        recorder = Recorder()
        with evaluating(self.model), torch.inference_mode():
            row = self.model(source, keep, recorder).logits.softmax(dim=-1)[0].tolist()
        answer = self._classification(given, encoded, row)
        tokens = self.tokenizer.tokens(encoded.ids)
        return recorder.record(0, tokens, [answer.label], source=given, target=answer.label, score=answer.probability)

    def _classification(self, source: str, encoded: Marked, row: list[float]) -> Classification:
        probabilities = dict(zip(self.config.labels, row, strict=True))
        label = max(probabilities, key=lambda name: probabilities[name])
        return Classification(label, probabilities[label], probabilities, source, encoded.cut)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Without dropout; a model that is in training goes on with it, whatever happens in between."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)


def encode(text: str, tokenizer: Tokenizer, config: ModelConfig) -> Marked:
    """The ids of a text with the marks of the config, cut to the longest that the model reads."""
    ids = tokenizer.encode(text)
    kept = surround(ids[: config.longest], config.marks)
    return Marked(kept, len(ids) > config.longest)


def batches_of(lengths: Sequence[int], wanted: Sequence[bool]) -> Iterator[list[int]]:
    """Places of texts of like length, longest first, so that want of memory shows at once."""
    order = sorted((place for place, take in enumerate(wanted) if take), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        size = max(1, BATCH_POSITIONS // max(1, lengths[order[start]]))
        yield order[start : start + size]
        start += size


def _padded(rows: list[list[int]]) -> tuple[Int[Tensor, "B S"], Bool[Tensor, "B S"]]:
    return pad([np.array(row, dtype=np.int64) for row in rows])


def _many(texts: str | Sequence[str]) -> Sequence[str]:
    return [texts] if isinstance(texts, str) else texts


def _not_empty(text: str) -> str:
    tidied = tidy(text)
    if not tidied:
        raise UsageError("the text is empty; there is nothing to look at")
    return tidied
