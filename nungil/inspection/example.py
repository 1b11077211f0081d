"""Example: one model, one source, what was written for it. It answers what would have been written, if …

If other words had stood in the source, if its vectors had been others, if attention had been changed by an eye. The
model should be in evaluation mode; nothing is stored on it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from nungil.attention import Eye
from nungil.batches.batch import pad
from nungil.inspection.merging import words_of
from nungil.model.build import Model, TranslatorModel
from nungil.model.classifier import AttentionClassifier
from nungil.model.recurrent import RecurrentTranslator
from nungil.model.results import Encoded
from nungil.text.tokenizers.base import SOS

# Sizes   B batch   S source steps   T target steps   E width of an embedding   F feature   V vocabulary, or classes
Names = Callable[[Sequence[int]], Sequence[str]]
AT_ONCE = 2**24  # probabilities that are computed together


class Read(NamedTuple):
    """A batch of sources as the encoder left them, with their ids."""

    encoded: Encoded
    ids: Int[Tensor, "B S"]

    def times(self, count: int) -> "Read":
        """One source so many times: it need not be read again."""
        states, keep, last, cell = self.encoded
        return Read(
            Encoded(
                states.expand(count, -1, -1),
                keep.expand(count, -1),
                last.expand(-1, count, -1),
                None if cell is None else cell.expand(-1, count, -1),
            ),
            self.ids.expand(count, -1),
        )


@dataclass(frozen=True, eq=False)
class Example:
    """A source and what was written for it, both as ids with their marks; of a classifier, the label is written."""

    model: Model
    source: tuple[int, ...]
    written: tuple[int, ...]
    names_of_source: Names
    names_of_written: Names
    spell: Callable[[Sequence[int]], str] | None = None  # written ids as a text; by default their names, with spaces
    shown: tuple[Sequence[str], Sequence[str]] = ((), ())  # tokens read and written; by default the names of their ids

    @property
    def translates(self) -> bool:
        """Whether words are written, one after another, and not one label."""
        return not isinstance(self.model, AttentionClassifier)

    @property
    def steps(self) -> int:
        """How many tokens were written."""
        return len(self.written)

    @cached_property
    def unit(self) -> str:
        """What one token is called: a word, unless words are in pieces, or in letters."""
        sides = (self.source_tokens, self.written_tokens if self.translates else ())
        return "token" if any(len(words_of(tokens)) < len(tokens) for tokens in sides) else "word"

    @property
    def rows_at_once(self) -> int:
        """How many variants can be answered together in memory that does not grow with the vocabulary."""
        return max(1, min(256, AT_ONCE // (self.steps * self.model.output.out_features)))

    @cached_property
    def source_tokens(self) -> tuple[str, ...]:
        """What was read, for people to look at."""
        return tuple(self.shown[0] or self.names_of_source(self.source))

    @cached_property
    def written_tokens(self) -> tuple[str, ...]:
        """What was written."""
        return tuple(self.shown[1] or self.names_of_written(self.written))

    def text_of(self, written: Sequence[int]) -> str:
        """What was written as a text for people."""
        return " ".join(self.names_of_written(written)) if self.spell is None else self.spell(written)

    def tensors(self, sources: Sequence[Sequence[int]] | None = None) -> tuple[Tensor, Bool[Tensor, "B S"]]:
        """The source, or others in its place, padded, and which of their ids are real."""
        return pad([np.array(one, dtype=np.int64) for one in (sources or [self.source])])

    def embedded(self, sources: Sequence[Sequence[int]] | None = None) -> Float[Tensor, "B S E"]:
        """The vectors that the encoder is given."""
        embedding = self.model.embedding if isinstance(self.model, AttentionClassifier) else self.model.source_embedding
        vectors: Tensor = embedding(self.tensors(sources)[0])
        return vectors

    def read(self, sources: Sequence[Sequence[int]] | None = None, eye: Eye | None = None) -> Read:
        """The source, or others in its place, as the encoder leaves them."""
        ids, keep = self.tensors(sources)
        return Read(self.model.encoder(self.embedded(sources), keep, eye), ids)

    def read_vectors(self, embedded: Float[Tensor, "B S E"]) -> Read:
        """The same of any vectors in place of those of the source's words."""
        ids, keep = self.tensors()
        count = len(embedded)
        return Read(self.model.encoder(embedded, keep.expand(count, -1), None), ids.expand(count, -1))

    def log_probs(self, read: Read, eye: Eye | None = None) -> Float[Tensor, "B T V"]:
        """What may be written at each step after what was written before it."""
        if isinstance(self.model, AttentionClassifier):
            return self.model.decide(read.encoded, read.ids, eye).logits.log_softmax(dim=-1)[:, None]
        features = _decoded(self.model, read.encoded, self._fed(len(read.ids), self.steps), eye)
        return self.model.logits(features).log_softmax(dim=-1)

    def log_probs_at(self, read: Read, steps: Int[Tensor, " B"], eye: Eye | None = None) -> Float[Tensor, "B V"]:
        """The same at one step of each row."""
        if isinstance(self.model, AttentionClassifier):
            return self.log_probs(read, eye)[:, 0]
        features = _decoded(self.model, read.encoded, self._fed(len(steps), int(steps.max()) + 1), eye)
        return self.model.logits(features[torch.arange(len(steps)), steps]).log_softmax(dim=-1)

    def chosen(self, log_probs: Float[Tensor, "B T V"]) -> Float[Tensor, "B T"]:
        """Of all that may be written, what was."""
        places = torch.tensor(self.written).expand(len(log_probs), -1)
        return log_probs.gather(-1, places[..., None])[..., 0]

    @torch.inference_mode()
    def probability(self) -> float:
        """Of all that was written together."""
        return float(self.chosen(self.log_probs(self.read())).sum().exp())

    def _fed(self, count: int, steps: int) -> Int[Tensor, "B T"]:
        """What the decoder is given: the word before each, `<sos>` before the first."""
        return torch.tensor([SOS, *self.written[:-1]])[:steps].expand(count, -1)


def _decoded(
    model: TranslatorModel, encoded: Encoded, fed: Int[Tensor, "B T"], eye: Eye | None
) -> Float[Tensor, "B T F"]:
    """A feature for each step. Each model knows its own state, so the two are asked apart."""
    if isinstance(model, RecurrentTranslator):
        return model.decode(fed, model.begin(encoded), eye).features
    return model.decode(fed, model.begin(encoded), eye).features
