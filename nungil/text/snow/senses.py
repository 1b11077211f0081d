"""Which sense? A labelled corpus: a Korean sentence with one homonym, its sense, and the words that settle it."""

from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import NamedTuple

from nungil.text.snow.corpus import Made, Split, check_request, dealt, endless

SENSE_HEADER = "text\tlabel\tplace\tdeciding"


class SenseExample(NamedTuple):
    """A Korean sentence, the sense of its homonym, where that stands, and where the words stand that settle it."""

    text: str
    label: str
    position: int
    deciders: tuple[int, ...]


def sense_examples(
    count: int, seed: int = 1, lengths: tuple[int, int] = (3, 60), split: Split = "all", distinct: bool = True
) -> Iterator[SenseExample]:
    """So many examples, the same for the same arguments. Lengths are of the English, which is not shown."""
    check_request(count, lengths)
    return islice(_settled(endless(Random(seed), lengths, split, distinct)), count)


def sense_splits(
    count: int, seed: int = 1, lengths: tuple[int, int] = (3, 60), distinct: bool = True
) -> Iterator[tuple[Split, SenseExample]]:
    """So many examples for train, valid and test together, each with its split."""
    check_request(count, lengths)
    return dealt(_settled(endless(Random(seed), lengths, "all", distinct)), count, lambda example: example.text)


def sense_line(example: SenseExample) -> str:
    """The example as tab-separated columns: sentence, sense, where the homonym stands, where what settles it stands."""
    return f"{example.text}\t{example.label}\t{example.position}\t{' '.join(map(str, example.deciders))}"


def _settled(pairs: Iterator[Made]) -> Iterator[SenseExample]:
    """Only sentences with exactly one homonym that is settled: a label must be about one word, and must be earned.

    The same Korean with two English sides would come twice, so what was seen is kept here too.
    """
    seen: set[str] = set()
    for pair, marks in pairs:
        if len(marks) == 1 and marks[0].deciders and pair.korean not in seen:
            seen.add(pair.korean)
            yield SenseExample(pair.korean, marks[0].sense, marks[0].position, marks[0].deciders)
