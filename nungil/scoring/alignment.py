"""Scores word links against gold links: the alignment error rate of Och and Ney (2003).

A line has the links of one sentence pair in Pharaoh format, words counted from 0, the source first: `0-0 1-2 1p3`.
`i-j` is a sure link; `ipj` is only possible: not required, but not wrong.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from nungil.errors import CorpusError
from nungil.scoring.sides import check_sides, first_few

Link: TypeAlias = tuple[int, int]  # source word, target word
WRITTEN = re.compile(r"([0-9]{1,9})([-p])([0-9]{1,9})")


class Links(NamedTuple):
    """The links of one sentence pair. Sure links are also possible ones."""

    sure: frozenset[Link]
    possible: frozenset[Link]


class AlignmentScores(NamedTuple):
    """Scores, 0 to 1, over all sentences, and the counts they are computed from."""

    aer: float
    precision: float
    recall: float
    links: int
    sure: int
    possible: int


def aer(links: Sequence[str], gold: Sequence[str]) -> float:
    """The alignment error rate, 0 (best) to 1, of Pharaoh lines against gold ones; see `score_links`."""
    return score_links(links, gold).aer


def score_links(links: Sequence[str], gold: Sequence[str]) -> AlignmentScores:
    """Score Pharaoh lines against gold ones: 1 − (|A∩S| + |A∩P|) / (|A| + |S|), counted over all lines.

    All links of `links` count as A, however they are marked. Precision is |A∩P| / |A|, recall |A∩S| / |S|; each is 1 if
    its denominator is 0, and the error rate of nothing against nothing is 0.
    """
    check_sides("lines of links", links, "lines of gold links", gold)
    answers, truths = _parse_sides(links, gold)
    return score_parsed([answer.possible for answer in answers], truths)


def score_parsed(links: Sequence[frozenset[Link]], gold: Sequence[Links]) -> AlignmentScores:
    """The same for parsed links."""
    pairs = list(zip(links, gold, strict=True))
    made = sum(len(answer) for answer, _ in pairs)
    sure = sum(len(truth.sure) for _, truth in pairs)
    in_sure = sum(len(answer & truth.sure) for answer, truth in pairs)
    in_possible = sum(len(answer & truth.possible) for answer, truth in pairs)
    return AlignmentScores(
        aer=1 - (in_sure + in_possible) / (made + sure) if made + sure else 0.0,
        precision=in_possible / made if made else 1.0,
        recall=in_sure / sure if sure else 1.0,
        links=made,
        sure=sure,
        possible=sum(len(truth.possible) for _, truth in pairs),
    )


def parse_links(line: str) -> Links:
    """The links of one Pharaoh line; an empty line has none. A link written twice is one, and sure if either is."""
    sure, possible = set(), set()
    for piece in line.split():
        found = WRITTEN.fullmatch(piece)
        if found is None:
            raise CorpusError(
                f"{piece!r} is no link; write source-target, words counted from 0: 0-1, or 0p1 if it is only possible"
            )
        link = int(found[1]), int(found[3])
        possible.add(link)
        if found[2] == "-":
            sure.add(link)
    return Links(frozenset(sure), frozenset(possible))


def format_links(links: Iterable[Link]) -> str:
    """Links as a Pharaoh line, sorted, all of them sure."""
    return " ".join(f"{source}-{target}" for source, target in sorted(links))


def diagonal_links(source_length: int, target_length: int) -> list[Link]:
    """Each target word with the source word at the same part of its sentence: a baseline that knows only lengths."""
    if source_length < 1:
        return []
    # The middle of the target word, (target + ½) / target_length, falls into this source word; in integers.
    return [((2 * target + 1) * source_length // (2 * target_length), target) for target in range(target_length)]


def _parse_sides(links: Sequence[str], gold: Sequence[str]) -> tuple[list[Links], list[Links]]:
    """Both sides parsed; mistakes of both in one error."""
    faults: list[str] = []
    sides = _parse("links", links, faults), _parse("gold", gold, faults)
    if faults:
        raise CorpusError(first_few(faults))
    return sides


def _parse(name: str, lines: Sequence[str], faults: list[str]) -> list[Links]:
    parsed = []
    for number, line in enumerate(lines, start=1):
        try:
            parsed.append(parse_links(line))
        except CorpusError as error:
            faults.append(f"{name}, line {number:,}: {error}")
    return parsed
