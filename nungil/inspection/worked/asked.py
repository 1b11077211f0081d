"""Asked and Worked: which step of which text is to be worked out, and what came of it. Knows no torch."""

from dataclasses import dataclass
from typing import NamedTuple

from nungil.inspection.ledger import Array, Axis, LedgerStep
from nungil.text.tokenizers.base import SOS, SPECIALS


@dataclass(frozen=True)
class Asked:
    """A text as ids and tokens, marks included, what is written of it, and the place that is to be written out.

    `words` names all that may come out: a vocabulary, or labels. `step` counts from 1, `layer` and `head` from 0.
    `kind` is None where a model does not attend.
    """

    source: tuple[int, ...]
    source_tokens: tuple[str, ...]
    words: tuple[str, ...]
    written: tuple[int, ...] = ()
    target_tokens: tuple[str, ...] = ()
    step: int = 1
    kind: str | None = None
    layer: int = 0
    head: int = 0

    @property
    def axis(self) -> Axis:
        """The source tokens as rows of a table."""
        return Axis("source", self.source_tokens)

    @property
    def outputs(self) -> Axis:
        """All that may come out as rows of a table."""
        return Axis("words" if self.written else "labels", self.words)

    @property
    def put_in(self) -> tuple[int, ...]:
        """What the decoder is given up to the step: its own words, one place later."""
        return (SOS, *self.written[: self.step - 1])

    @property
    def tokens_put_in(self) -> tuple[str, ...]:
        """The same as tokens."""
        return (SPECIALS[SOS], *self.target_tokens[: self.step - 1])


class Worked(NamedTuple):
    """The lines of the step; and what a model can be held to: the weights of every attention, (heads, rows, columns) by
    kind and layer, up to the step, and the probabilities at it."""

    steps: tuple[LedgerStep, ...]
    looks: dict[tuple[str, int], Array]
    probabilities: Array
