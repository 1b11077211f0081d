"""Prepares texts for a model: tidied, tokenized, marked, padded."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int
from torch import Tensor, nn

from nungil.batches.batch import pad, surround
from nungil.errors import EmptyError, UsageError
from nungil.inspection.merging import MARKS, respelt
from nungil.inspection.shown import Shown, letters, seen_space, unknown
from nungil.model.folder import ModelConfig
from nungil.text.tidy import tidy
from nungil.text.tokenizers.base import SPECIALS, UNK, Tokenizer
from nungil.text.tokenizers.pieces import SPACE, PieceTokenizer
from nungil.text.tokenizers.vocabulary import JOINER, CharacterTokenizer, VocabularyTokenizer, WordTokenizer

BYTE_SPACES = {
    f"<0x{ord(space):02X}>": space for space in " \t\n\v\f\r\x1c\x1d\x1e\x1f"
}  # as SentencePiece writes them
UNKNOWN_PIECE = " ⁇ "  # as SentencePiece decodes `<unk>`


class Marked(NamedTuple):
    """The ids of a text with their marks, whether it was truncated, and its words that are not in the vocabulary."""

    ids: list[int]
    cut: bool
    unknown: tuple[str, ...] = ()


def encode(text: str, tokenizer: Tokenizer, config: ModelConfig) -> Marked:
    """The ids of a text with the marks of the config, truncated to what the model reads."""
    ids = tokenizer.encode(text)
    unknown = _unknown(text, ids, tokenizer) if _count_unknown(ids, tokenizer) else ()
    return Marked(surround(ids[: config.longest], config.marks), len(ids) > config.longest, unknown)


def _unknown(text: str, ids: Sequence[int], tokenizer: Tokenizer) -> tuple[str, ...]:
    """The words of a text that are not in the vocabulary, each once. Unknown punctuation leaves its word known.

    With byte fallback every text has ids; a word is then unknown if most of its ids are bytes.
    """
    if isinstance(tokenizer, WordTokenizer):
        cut = zip(tokenizer.cut(text), ids, strict=True)
        return tuple(dict.fromkeys(_bare(token) for token, one in cut if one == UNK))
    return tuple(word for word in dict.fromkeys(text.split()) if _is_unknown(tokenizer.encode(word), tokenizer))


def _is_unknown(ids: Sequence[int], tokenizer: Tokenizer) -> bool:
    return UNK in ids or 2 * _count_unknown(ids, tokenizer) > len(ids)


def _count_unknown(ids: Sequence[int], tokenizer: Tokenizer) -> int:
    return tokenizer.unknown(np.array(ids, dtype=np.int64))


def _bare(token: str) -> str:
    return token.removeprefix(JOINER) or token


def named(ids: Sequence[int], tokenizer: Tokenizer, text: str) -> list[str]:
    """The tokens of a text with these ids; those not in the vocabulary are spelt out instead of `<unk>`."""
    tokens = tokenizer.tokens(ids)
    if not isinstance(tokenizer, VocabularyTokenizer):
        return tokens
    own = iter(tokenizer.cut(text))
    return [token if token in MARKS else next(own) for token in tokens]


def shown(ids: Sequence[int], tokenizer: Tokenizer, text: str | None = None) -> Shown:
    """Ids with their tokens as users see them; given the text, unknown tokens are spelt out.

    Word boundaries stay visible: ▁ begins a word, ￭ continues one. With characters ▁ stands for a space, and before a
    text of a single word.
    """
    own = tokenizer.tokens(ids) if text is None else named(ids, tokenizer, text)
    lost = SPECIALS[UNK]
    if isinstance(tokenizer, CharacterTokenizer):
        own = [seen_space(token) for token in own]
        first = next((place for place, token in enumerate(own) if token not in MARKS), None)
        if first is not None and SPACE not in own and ids[first] != UNK:
            own[first] = SPACE + own[first]
    tokens = [unknown(token) if one == UNK and token != lost else token for one, token in zip(ids, own, strict=True)]
    return Shown(tuple(ids), tuple(letters(tokens) if isinstance(tokenizer, PieceTokenizer) else tokens))


def by_words(tokens: Sequence[str], tokenizer: Tokenizer) -> list[str]:
    """The tokens with ▁ where a word of the text begins, for any kind of tokenizer."""
    return respelt(tokens, ["" if token in MARKS else _part(token, tokenizer) for token in tokens])


def _part(token: str, tokenizer: Tokenizer) -> str:
    """The text of a token, with the space before it."""
    if isinstance(tokenizer, CharacterTokenizer):
        return token
    if isinstance(tokenizer, WordTokenizer):
        return token[1:] if token.startswith(JOINER) and len(token) > 1 else f" {token}"
    if token == SPECIALS[UNK]:
        return UNKNOWN_PIECE
    return BYTE_SPACES.get(token, token.replace(SPACE, " "))


def padded(rows: Sequence[Sequence[int]]) -> tuple[Int[Tensor, "B S"], Bool[Tensor, "B S"]]:
    """Sentences as one padded tensor, and which of its ids are real."""
    return pad([np.array(row, dtype=np.int64) for row in rows])


def paired(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Checked pairs of a text and its translation or label; a bad one is refused with its number."""
    if isinstance(pairs, str | bytes | Mapping) or not isinstance(pairs, Iterable):
        raise UsageError(f"pairs of two texts are expected, as [('snow', '눈')], not {type(pairs).__name__}")
    found = list(pairs)
    for number, pair in enumerate(found, 1):
        if isinstance(pair, str) or not isinstance(pair, Iterable) or not _two_texts(list(pair)):
            raise UsageError(f"pair {number} is not two texts but {pair!r}")
        if not all(map(tidy, pair)):
            raise UsageError(f"pair {number} has an empty text: {pair!r}")
    return found


def _two_texts(pair: list[object]) -> bool:
    return len(pair) == 2 and all(isinstance(text, str) for text in pair)


def many(texts: str | Iterable[str]) -> list[str]:
    """The texts, tidied; a single one may be given as it is."""
    return [tidy(text) for text in listed(texts)]


def listed(texts: str | Iterable[str]) -> list[str]:
    """The texts as a list; a single one may be given as it is. What is no text is refused with its number."""
    if isinstance(texts, bytes) or not isinstance(texts, Iterable):
        raise UsageError(f"a text or several are expected, not {type(texts).__name__}")
    found = [texts] if isinstance(texts, str) else list(texts)
    for number, text in enumerate(found, 1):
        if not isinstance(text, str):
            raise UsageError(f"text {number} is no text but {type(text).__name__}")
    return found


def not_empty(text: str) -> str:
    """The text, tidied; an empty one is refused."""
    if not isinstance(text, str):
        raise UsageError(f"one text is expected, not {type(text).__name__}")
    tidied = tidy(text)
    if not tidied:
        raise EmptyError("the text is empty; there is nothing to look at")
    return tidied


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """The model in evaluation mode; afterwards in its previous mode."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)
