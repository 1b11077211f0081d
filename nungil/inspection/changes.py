"""Changes that a user can make to one row of attention: force, move, zero, flatten, permute, or another row altogether.

Steps count from 1.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import isfinite

from torch import Tensor

from nungil.errors import UsageError
from nungil.inspection.rows import Rewrite, flattened, forced, moved, permuted, replaced, seeded, zeroed
from nungil.text.counts import counted

Word = str | int  # a word by its text, or by the number of its column, from 1
Places = Callable[[Word], Sequence[int]]  # the places of a word's pieces, from 0


@dataclass(frozen=True)
class Change(ABC):
    """A change of the row of one step."""

    step: int

    def __post_init__(self) -> None:
        if self.step < 1:
            raise UsageError(f"steps count from 1; there is no step {self.step}")

    @abstractmethod
    def rewrite(self, places: Places) -> Rewrite:
        """What is done to the row, once it is known where the words are."""

    @abstractmethod
    def what(self) -> str:
        """What is done, as it is said."""

    def __str__(self) -> str:
        return f"step {self.step}: {self.what()}"


@dataclass(frozen=True)
class Force(Change):
    """All the weight on one word."""

    word: Word

    def rewrite(self, places: Places) -> Rewrite:
        """Nothing is left of the row but its sum."""
        found = places(self.word)
        return lambda rows, _: forced(rows, found)

    def what(self) -> str:
        """To the row."""
        return f"all weight on {named(self.word)}"


@dataclass(frozen=True)
class Move(Change):
    """The weight of one word on another."""

    word: Word
    to: Word
    share: float = 1.0  # of the weight; the rest stays

    def rewrite(self, places: Places) -> Rewrite:
        """All else stays."""
        found, to = places(self.word), places(self.to)
        return lambda rows, _: moved(rows, found, to, self.share)

    def what(self) -> str:
        """To the row."""
        share = "the weight" if self.share == 1 else f"{100 * self.share:.0f}% of the weight"
        return f"{share} of {named(self.word)} moved to {named(self.to)}"


@dataclass(frozen=True)
class Zero(Change):
    """No weight on one word; the others get it, each in proportion to what it has."""

    word: Word

    def rewrite(self, places: Places) -> Rewrite:
        """The row sums to what it did."""
        found = places(self.word)

        def rewritten(rows: Tensor, seen: Tensor) -> Tensor:
            if len(found) >= rows.shape[-1]:
                raise UsageError(f"{named(self.word)} is all there is to look at; no other word can have its weight")
            return zeroed(rows, seen, found)

        return rewritten

    def what(self) -> str:
        """To the row."""
        return f"no weight on {named(self.word)}"


@dataclass(frozen=True)
class Flatten(Change):
    """The same weight for every word that may be seen."""

    def rewrite(self, places: Places) -> Rewrite:
        """As if there were no attention, but a mean."""
        del places
        return flattened

    def what(self) -> str:
        """To the row."""
        return "the same weight everywhere"


@dataclass(frozen=True)
class Permute(Change):
    """The same weights on other words, by a draw that a seed repeats."""

    seed: int = 1

    def rewrite(self, places: Places) -> Rewrite:
        """Among the words that may be seen."""
        del places
        # Drawn anew whenever it is asked, so that a search and a reading of the same step see the same order.
        return lambda rows, seen: permuted(rows, seen, seeded(self.seed))

    def what(self) -> str:
        """To the row."""
        return f"the weights in another order (seed {self.seed})"


@dataclass(frozen=True)
class Set(Change):
    """Weights of one's own, one for each word; they are made to sum to what the row did."""

    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        wrong = next((one for one in self.weights if not (isfinite(one) and one >= 0)), None)
        if wrong is not None:
            raise UsageError(f"{self}: {wrong} is no weight; give numbers that are finite and not below 0")
        if not any(self.weights):
            raise UsageError(f"{self}: all are 0; give one at least that is above")

    def rewrite(self, places: Places) -> Rewrite:
        """What may not be seen stays unseen."""
        del places

        def rewritten(rows: Tensor, seen: Tensor) -> Tensor:
            if len(self.weights) != rows.shape[-1]:
                raise UsageError(
                    f"{self}: {counted(len(self.weights), 'weight')} for {counted(rows.shape[-1], 'word')}; "
                    "give one for each"
                )
            return replaced(rows, seen, self.weights)

        return rewritten

    def what(self) -> str:
        """To the row."""
        return "weights of your own"


def named(word: Word) -> str:
    """A word as it is said."""
    return f"word {word}" if isinstance(word, int) else f"“{word}”"
