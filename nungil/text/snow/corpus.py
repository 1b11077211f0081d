"""The corpus of snow: any number of sentence pairs with gold links, a pure function of count, seed and lengths."""

from collections.abc import Callable, Iterator
from hashlib import blake2b
from itertools import islice
from random import Random
from typing import Literal, NamedTuple, TypeVar

from nungil.errors import UsageError
from nungil.text.snow.pieces import Mark, Piece
from nungil.text.snow.sentence import sentence

Split = Literal["train", "valid", "test", "all"]

Item = TypeVar("Item")

SPLITS: tuple[Split, ...] = ("train", "valid", "test")
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
    return islice(endless(Random(seed), lengths, split, distinct), count)


def make_splits(
    count: int, seed: int = 1, lengths: tuple[int, int] = (3, 60), distinct: bool = True
) -> Iterator[tuple[Split, Made]]:
    """So many pairs for train, valid and test together, each with its split: 5% for each of the small ones."""
    check_request(count, lengths)
    return dealt(endless(Random(seed), lengths, "all", distinct), count, lambda made: made.pair.korean)


def dealt(items: Iterator[Item], count: int, korean_of: Callable[[Item], str]) -> Iterator[tuple[Split, Item]]:
    """Deal items out to the splits they belong to, until each has its share."""
    if count < len(SPLITS):
        raise UsageError(f"{count} pairs cannot be split into train, valid and test; ask for 3 or more")
    return _dealt(items, count, korean_of)


def _dealt(items: Iterator[Item], count: int, korean_of: Callable[[Item], str]) -> Iterator[tuple[Split, Item]]:
    small = max(1, count * VALID_SHARE // 100)
    wanted: dict[Split, int] = {"train": count - 2 * small, "valid": small, "test": small}
    for item in items:
        split = split_of(korean_of(item))
        if wanted[split] > 0:
            wanted[split] -= 1
            yield split, item
            if not any(wanted.values()):
                return


def endless(rng: Random, lengths: tuple[int, int], split: Split, distinct: bool) -> Iterator[Made]:
    """Pairs without end, until the language has no new ones."""
    seen: set[bytes] = set()
    made = misses = 0
    while True:
        misses += 1
        if misses > PATIENCE:
            raise UsageError(_used_up(made, lengths, split))
        piece = sentence(rng, draw_length(rng, lengths), lengths[0])
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
            f"lengths {shortest}:{longest} cannot be had; "
            f"snow makes sentences of {SHORTEST} to {LONGEST} English words, shortest first, as in 5:20"
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


def turned(pair: SnowPair) -> SnowPair:
    """The pair the other way round: Korean first, and links from Korean to English."""
    links = [(int(j), int(i), mark) for i, mark, j in (_parts(link) for link in pair.links.split())]
    text = " ".join(f"{j}{mark}{i}" for j, i, mark in sorted(links))
    return SnowPair(pair.korean, pair.english, text, pair.senses)


def _parts(link: str) -> tuple[str, str, str]:
    return link.partition("-") if "-" in link else link.partition("p")


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
        f"snow has only about {made} different sentences of {lengths[0]} to {lengths[1]} words in split {split}; "
        "ask for fewer, or for a wider range of lengths"
    )
