"""Where translations fail: by the length of the sentence, and by the place of the word."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nungil.errors import CorpusError
from nungil.scoring.alignment import Link, parse_links
from nungil.scoring.measures import Measure
from nungil.scoring.sides import check_sides
from nungil.scoring.translation import TOKENIZERS, primary_tag

# Ends of the bins, the same for every corpus, so that corpora can be compared.
ENDS = {"words": (5, 10, 15, 20, 30, 40, 60), "characters": (10, 20, 30, 40, 60, 80, 120)}
QUARTERS = ("first", "second", "third", "last")
Rows = NDArray[np.bool_]
Quarters = Sequence[Sequence[int]]  # of each word of each reference: 0 to 3, or -1 for none
Tokenize = Callable[[str], str]  # text in, tokens out, with spaces between them


class Length(NamedTuple):
    """The sentences from `shortest` to `longest`, and what each system scores on them."""

    shortest: int
    longest: int
    sentences: int
    scores: Mapping[str, Mapping[str, float]]  # by system, then by measure


class Place(NamedTuple):
    """A quarter of all sentences: its words, and the share of them that each system's translations have."""

    quarter: str
    words: int
    found: Mapping[str, float]  # by system, 0 to 1


def by_length(texts: Sequence[str], unit: str, systems: Mapping[str, Mapping[str, Measure]]) -> tuple[Length, ...]:
    """Scores by length of sentence. `texts` are the sources, or else the references."""
    lengths = np.array([_length(text, unit) for text in texts])
    places = np.digitize(lengths, ENDS[unit], right=True)  # 5 is in the bin that ends with 5
    found = []
    for place in np.unique(places):
        rows: Rows = places == place
        scores = {
            system: {name: one.score(rows) for name, one in measures.items()} for system, measures in systems.items()
        }
        found.append(Length(*_ends(int(place), lengths, ENDS[unit]), int(rows.sum()), scores))
    return tuple(found)


def _ends(place: int, lengths: NDArray[np.int64], ends: Sequence[int]) -> tuple[int, int]:
    """The shortest and the longest of a bin; the first begins and the last ends where the corpus does."""
    shortest = ends[place - 1] + 1 if place else min(1, int(lengths.min()))
    return shortest, ends[place] if place < len(ends) else int(lengths.max())


def length_unit(language: str) -> str:
    """The unit of length: characters for languages written without spaces, else words."""
    return "characters" if primary_tag(language) in TOKENIZERS else "words"


def _length(text: str, unit: str) -> int:
    return len(text.split()) if unit == "words" else len("".join(text.split()))


def by_place(
    references: Sequence[str], systems: Mapping[str, Sequence[str]], quarters: Quarters, tokenize: Tokenize
) -> tuple[Place, ...]:
    """The share of reference words that a translation has, by the quarter that each of them belongs to.

    A word that occurs `n` times in the reference and `m` times in the translation counts min(n, m) / n each time:
    BLEU's clipped count as recall, whatever the order.
    """
    cut = [[tokenize(word).split() for word in reference.split()] for reference in references]
    words = _summed(quarters, [[float(len(tokens)) for tokens in sentence] for sentence in cut])
    found = {}
    for system, hypotheses in systems.items():
        made = [[tokenize(word).split() for word in hypothesis.split()] for hypothesis in hypotheses]
        found[system] = _summed(quarters, [_found(*pair) for pair in zip(cut, made, strict=True)])
    return tuple(
        Place(name, int(words[place]), {system: float(have[place] / words[place]) for system, have in found.items()})
        for place, name in enumerate(QUARTERS)
        if words[place]
    )


def token_places(references: Sequence[str], hypotheses: Sequence[str], quarters: Quarters) -> NDArray[np.float64]:
    """Sentence by sentence and quarter by quarter, (N, 4, 2): words that are found, and words that there are.

    As `by_place`, of words as white space cuts them; summed over any sentences, any resample of them too.
    """
    counts = np.zeros((len(references), len(QUARTERS), 2))
    for row, (reference, hypothesis, places) in enumerate(zip(references, hypotheses, quarters, strict=True)):
        found = _found([[word] for word in reference.split()], [[word] for word in hypothesis.split()])
        for place, have in zip(places, found, strict=True):
            if place >= 0:
                counts[row, place] += have, 1
    return counts


def reference_quarters(references: Sequence[str]) -> list[list[int]]:
    """The quarter of the reference in which the middle of each of its words lies."""
    return [_quarters([(place, len(words)) for place in range(len(words))]) for words in map(str.split, references)]


def source_quarters(links: Sequence[str], references: Sequence[str], sources: Sequence[str]) -> list[list[int]]:
    """The quarter of the source that each word of the reference comes from, by Pharaoh links; -1 without a link.

    A word that is linked to several source words is at their mean.
    """
    check_sides("lines of links", links, "references", references)
    check_sides("sources", sources, "references", references)
    found = []
    for number, (line, reference, source) in enumerate(zip(links, references, sources, strict=True), start=1):
        words, ours = len(reference.split()), len(source.split())
        places: list[list[int]] = [[] for _ in range(words)]
        for left, right in _links(line, number):
            if left >= ours or right >= words:
                raise CorpusError(
                    f"links, line {number:,}: {left}-{right} is beyond a source of {ours} and a reference of {words} "
                    "words; words are counted from 0, the source first"
                )
            places[right].append(left)
        found.append(_quarters([(sum(each) / len(each), ours) if each else None for each in places]))
    return found


def _links(line: str, number: int) -> frozenset[Link]:
    try:
        return parse_links(line).possible
    except CorpusError as error:
        raise CorpusError(f"links, line {number:,}: {error}") from None


def _quarters(places: Sequence[tuple[float, int] | None]) -> list[int]:
    """Places, counted from 0, among so many, as quarters; what has no place is in none."""
    return [-1 if one is None else int((one[0] + 0.5) / one[1] * len(QUARTERS)) for one in places]


def _found(reference: Sequence[Sequence[str]], hypothesis: Sequence[Sequence[str]]) -> list[float]:
    """How many tokens of each word of the reference the hypothesis has."""
    wanted, made = Counter(chain.from_iterable(reference)), Counter(chain.from_iterable(hypothesis))
    return [sum(min(made[token], wanted[token]) / wanted[token] for token in tokens) for tokens in reference]


def _summed(quarters: Quarters, values: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """The values of the words of each quarter together."""
    where = np.fromiter(chain.from_iterable(quarters), dtype=np.int64)
    what = np.fromiter(chain.from_iterable(values), dtype=np.float64)
    sums: NDArray[np.float64] = np.zeros(len(QUARTERS))
    np.add.at(sums, where[where >= 0], what[where >= 0])
    return sums
