"""Trains tokenizers: unit, number of tokens, one for both sides or one for each."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from nungil.errors import CheckpointError, CorpusError
from nungil.settings import Settings
from nungil.text.tokenizers.base import Tokenizer
from nungil.text.tokenizers.pieces import Korean, PieceTokenizer, train_pieces
from nungil.text.tokenizers.vocabulary import count_characters, count_words, vocabulary_from_bytes

SAMPLE = 400_000  # texts that a tokenizer is trained on, spread evenly over the corpus
SIZES = ((2_000, 1_000), (10_000, 4_000), (100_000, 8_000), (1_000_000, 16_000))  # up to so many texts: so many tokens
# A translator has to predict its pieces: with little text fewer are better. Sennrich and Zhang (2019).
PAIR_SIZES = ((2_000, 1_000), (10_000, 2_000), (100_000, 4_000), (1_000_000, 16_000))
LARGEST = 32_000
LOOKED_AT = 5_000  # texts of each side whose letters are compared


class TokenizerSettings(Settings):
    """How text is tokenized."""

    unit: Literal["unigram", "bpe", "word", "character"] = Field(
        "unigram", description="Subwords by SentencePiece (unigram or bpe), whole words, or characters."
    )
    size: int | None = Field(
        None, ge=300, le=256_000, description="How many tokens; by default by the size of the corpus."
    )
    joint: bool | None = Field(
        None, description="One tokenizer for both sides; by default if they are written in the same letters."
    )
    korean: Korean = Field("jamo", description="The smallest unit of Hangul: jamo (ㄴㅜㄴ) or syllable (눈).")


class Tokenizers(NamedTuple):
    """One for each side; the same one twice if joint."""

    source: Tokenizer
    target: Tokenizer

    @property
    def joint(self) -> bool:
        """Whether both sides share one."""
        return self.source is self.target


class Sample:
    """Texts spread evenly over a stream of unknown length: every one, then every second, fourth, eighth …"""

    def __init__(self, most: int = SAMPLE) -> None:
        self.most, self.stride, self.seen = most, 1, 0
        self.texts: list[str] = []

    def add(self, text: str) -> None:
        """Add the text, if its turn has come."""
        if self.seen % self.stride == 0:
            self.texts.append(text)
            if len(self.texts) > self.most:
                self.texts, self.stride = self.texts[::2], self.stride * 2
        self.seen += 1


def train_tokenizer(sample: Sample, settings: TokenizerSettings) -> Tokenizer:
    """One tokenizer for the texts of a sample."""
    if not any(sample.texts):
        raise CorpusError("there is no text to learn a tokenizer from")
    size = settings.size or fitting_size(sample.seen)
    if settings.unit == "word":
        return count_words(sample.texts, size)
    if settings.unit == "character":
        return count_characters(sample.texts, size, settings.korean)
    return train_pieces(sample.texts, settings.unit, size, settings.korean)


def train_tokenizers(source: Sample, target: Sample, settings: TokenizerSettings) -> Tokenizers:
    """One for both sides, or one each."""
    joint = same_letters(source.texts, target.texts) if settings.joint is None else settings.joint
    if settings.size is None and settings.unit in ("unigram", "bpe"):
        size = fitting_size(max(source.seen, target.seen), PAIR_SIZES)
        settings = settings.model_copy(update={"size": size})
    if not joint:
        return Tokenizers(train_tokenizer(source, settings), train_tokenizer(target, settings))
    both = Sample(2 * SAMPLE)
    both.texts, both.seen = source.texts + target.texts, max(source.seen, target.seen)
    shared = train_tokenizer(both, settings)
    return Tokenizers(shared, shared)


def fitting_size(texts: int, sizes: Sequence[tuple[int, int]] = SIZES) -> int:
    """A vocabulary size for a number of texts: small for few texts, so that each token is frequent enough."""
    return next((size for most, size in sizes if texts <= most), LARGEST)


def same_letters(source: Sequence[str], target: Sequence[str]) -> bool:
    """Whether most letters of each side are letters of the other too (German and English: yes).

    One direction alone says little: all English letters occur somewhere in Korean documents.
    """
    return _mostly_known(source, target) and _mostly_known(target, source)


def _mostly_known(texts: Iterable[str], other: Iterable[str]) -> bool:
    """Whether most letters of the texts occur in the other ones."""
    known = set().union(*(set(text.casefold()) for text in islice(other, LOOKED_AT)))
    shared = letters = 0
    for text in islice(texts, LOOKED_AT):
        found = [letter for letter in text.casefold() if letter.isalpha()]
        letters += len(found)
        shared += sum(letter in known for letter in found)
    return 2 * shared > letters


def save_tokenizers(tokenizers: Tokenizers, folder: Path) -> list[str]:
    """Write `tokenizer.*`, or `source.*` and `target.*`; return the names."""
    sides = {"tokenizer": tokenizers.source} if tokenizers.joint else tokenizers._asdict()
    names = []
    for side, tokenizer in sides.items():
        name = f"{side}.spm" if isinstance(tokenizer, PieceTokenizer) else f"{side}.json"
        tokenizer.save(folder / name)
        names.append(name)
    return names


def load_tokenizers(folder: Path, settings: TokenizerSettings) -> Tokenizers:
    """What `save_tokenizers` wrote there."""
    found = {side: _load(folder, side, settings) for side in ("tokenizer", "source", "target")}
    if found["tokenizer"] is not None:
        return Tokenizers(found["tokenizer"], found["tokenizer"])
    if found["source"] is None or found["target"] is None:
        raise CheckpointError(f"{folder}: there is no tokenizer (tokenizer.spm, or source.spm and target.spm)")
    return Tokenizers(found["source"], found["target"])


def _load(folder: Path, side: str, settings: TokenizerSettings) -> Tokenizer | None:
    pieces, words = folder / f"{side}.spm", folder / f"{side}.json"
    if pieces.is_file():
        return PieceTokenizer(pieces.read_bytes(), settings.korean)
    return vocabulary_from_bytes(words.read_bytes()) if words.is_file() else None
