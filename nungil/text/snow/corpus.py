"""The corpus of snow: any number of sentence pairs with gold links, a pure function of count, seed and lengths."""

from collections.abc import Iterator
from hashlib import blake2b
from random import Random
from typing import Literal, NamedTuple

from nungil.errors import UsageError
from nungil.text.snow.pieces import Mark, Piece
from nungil.text.snow.sentence import sentence

Split = Literal["train", "valid", "test", "all"]

SHORTEST, LONGEST = 3, 60
MEAN_LENGTH = 9.0  # words beyond the shortest, of the lengths that fall off exponentially
EVEN_SHARE = 0.1  # of the sentences whose length is any, so that long ones are not rare
VALID_SHARE, TEST_SHARE = 5, 5  # of 100
PATIENCE = 5000  # sentences in a row that bring nothing new before the language is taken to be used up


class SnowPair(NamedTuple):
    """A sentence pair: English, Korean, its links (`0-0 1p2 …`) and the senses of its homonyms (`눈=snow …`)."""

    english: str
    korean: str
    links: str
    senses: str


class Made(NamedTuple):
    """A sentence pair with its homonyms and what settles them, for those who need more than the four columns."""

    pair: SnowPair
    marks: tuple[Mark, ...]


def snow_pairs(
    count: int, seed: int = 1, lengths: tuple[int, int] = (3, 60), split: Split = "all", distinct: bool = True
) -> Iterator[SnowPair]:
    """Sentence pairs whose English has between so many and so many words, the same for the same arguments.

    No pair comes twice; `distinct=False` skips that check, and the memory it takes, for very large corpora.
    The splits never share a sentence of either language, whatever their seeds and sizes.
    """
    return (made.pair for made in make(count, seed, lengths, split, distinct))


def make(
    count: int, seed: int = 1, lengths: tuple[int, int] = (3, 60), split: Split = "all", distinct: bool = True
) -> Iterator[Made]:
    """As `snow_pairs`, with the homonyms of each sentence."""
    check_request(count, lengths)
    return _make(count, Random(seed), lengths, split, distinct)


def _make(count: int, rng: Random, lengths: tuple[int, int], split: Split, distinct: bool) -> Iterator[Made]:
    seen: set[bytes] = set()
    made = misses = 0
    while made < count:
        piece = sentence(rng, draw_length(rng, lengths))
        misses += 1
        if misses > PATIENCE:
            raise UsageError(_used_up(made, lengths, split))
        if piece is None:
            continue
        korean = " ".join(piece.korean)
        if split != "all" and split_of(korean) != split:
            continue
        pair = SnowPair(_sentence_case(piece), korean, links_of(piece), senses_of(piece))
        if distinct:
            mark = blake2b(pair.english.encode(), digest_size=8).digest()
            if mark in seen:
                continue
            seen.add(mark)
        made += 1
        misses = 0
        yield Made(pair, piece.marks)


def check_request(count: int, lengths: tuple[int, int]) -> None:
    """Refuse what cannot be made, in a sentence."""
    shortest, longest = lengths
    if count < 1:
        raise UsageError(f"{count} pairs cannot be made; ask for 1 or more")
    if not SHORTEST <= shortest <= longest <= LONGEST:
        raise UsageError(
            f"lengths {shortest}:{longest} cannot be had; snow makes sentences of {SHORTEST} to {LONGEST} English words, "
            f"shortest first, as in 5:20"
        )


def draw_length(rng: Random, lengths: tuple[int, int]) -> int:
    """A length in the range: mostly short, falling off exponentially, but one in ten is any."""
    shortest, longest = lengths
    if shortest == longest:
        return shortest
    if rng.random() >= EVEN_SHARE:
        drawn = shortest + int(rng.expovariate(1 / MEAN_LENGTH))
        if drawn <= longest:
            return drawn
    return shortest + int(rng.random() * (longest - shortest + 1))


def split_of(korean: str) -> Split:
    """Which split a sentence belongs to, told by its Korean alone.

    Every English sentence has one Korean translation here, though not the other way round (a horse and words are
    both 말). So the Korean decides, and neither side of a pair can stand in two splits.
    """
    share = int.from_bytes(blake2b(korean.encode(), digest_size=4).digest(), "big") % 100
    return "test" if share < TEST_SHARE else "valid" if share < TEST_SHARE + VALID_SHARE else "train"


def links_of(piece: Piece) -> str:
    """The links in Pharaoh format, `p` for the possible ones."""
    return " ".join([f"{i}-{j}" if sure else f"{i}p{j}" for i, j, sure in sorted(piece.links)])


def senses_of(piece: Piece) -> str:
    """The homonyms in the order of the Korean sentence, with their senses."""
    return " ".join([f"{mark.homonym}={mark.sense}" for mark in sorted(piece.marks)]) if piece.marks else ""


def _sentence_case(piece: Piece) -> str:
    text = " ".join(piece.english)
    return text[0].upper() + text[1:]


def _used_up(made: int, lengths: tuple[int, int], split: Split) -> str:
    return (
        f"snow has no more than about {made} different sentences of {lengths[0]} to {lengths[1]} words in split {split}; "
        "ask for fewer, or for a wider range of lengths"
    )
