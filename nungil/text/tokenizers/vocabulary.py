"""Word and character tokenizers: a list of known tokens, and a way to cut text into them and join them again."""

import json
import re
import unicodedata
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

from nungil.errors import CheckpointError
from nungil.text.tokenizers.base import EOS, PAD, SOS, SPECIALS, UNK, Ids, Tokenizer
from nungil.text.tokenizers.jamo import from_jamo, to_jamo

JOINER = "￭"  # before a token that stands without a space after the one before it: snow ￭.
_WORD = re.compile(r"\s?(?:\w+|[^\w\s])")


class VocabularyTokenizer(Tokenizer):
    """Knows a closed list of tokens; all else is `<unk>`."""

    unit: ClassVar[Literal["word", "character"]]

    def __init__(self, known: Sequence[str]) -> None:
        self.known = tuple(known)
        self._everything = SPECIALS + self.known
        self._number = {token: number for number, token in enumerate(self._everything)}
        if len(self._number) != len(self._everything):
            raise CheckpointError("the vocabulary names a token twice")

    @abstractmethod
    def cut(self, text: str) -> list[str]:
        """A text as tokens."""

    @abstractmethod
    def join(self, tokens: list[str]) -> str:
        """Tokens as text."""

    @property
    def size(self) -> int:
        """Known tokens and the four special ones."""
        return len(self._everything)

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""
        return [self._number.get(token, UNK) for token in self.cut(text)]

    def encode_many(self, texts: list[str]) -> Ids:
        """The ids of many texts."""
        return Ids.join([self.encode(text) for text in texts])

    def decode(self, ids: Iterable[int]) -> str:
        """The text of some ids; an unknown token shows as `<unk>`."""
        return self.join([self._everything[one] for one in ids if one not in (PAD, SOS, EOS)])

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """What each id stands for."""
        return [self._everything[one] for one in ids]

    @property
    def vocabulary(self) -> list[str]:
        """The four special tokens, and the known ones."""
        return list(self._everything)

    def to_bytes(self) -> bytes:
        """JSON: the unit and the known tokens, most frequent first."""
        plain = {"unit": self.unit, "known": list(self.known), **self._more()}
        return (json.dumps(plain, ensure_ascii=False, indent=0) + "\n").encode()

    def _more(self) -> dict[str, Any]:
        return {}


class WordTokenizer(VocabularyTokenizer):
    """Words and punctuation marks; one that stands without a space before it begins with ￭."""

    unit = "word"

    def cut(self, text: str) -> list[str]:
        """`I like snow.` → I, like, snow, ￭."""
        tokens: list[str] = []
        for part in _WORD.findall(text):
            if not tokens or part[0].isspace():
                tokens.append(part.lstrip())
            elif _is_mark(part[0]) or (_is_mark(tokens[-1][-1]) and part[0].isalnum()):
                tokens[-1] += part  # a vowel sign of Hindi is no letter to `\w`, but belongs to its word
            else:
                tokens.append(JOINER + part)
        return tokens

    def join(self, tokens: list[str]) -> str:
        """Spaces between tokens, but none before ￭."""
        return "".join(t[1:] if t.startswith(JOINER) and len(t) > 1 else f" {t}" for t in tokens).removeprefix(" ")


class CharacterTokenizer(VocabularyTokenizer):
    """Characters, spaces included; Hangul by syllable or by jamo."""

    unit = "character"

    def __init__(self, known: Sequence[str], korean: Literal["syllable", "jamo"] = "syllable") -> None:
        super().__init__(known)
        self.korean = korean

    def cut(self, text: str) -> list[str]:
        """Each character a token."""
        return list(to_jamo(text) if self.korean == "jamo" else text)

    def join(self, tokens: list[str]) -> str:
        """All of them in a row."""
        return from_jamo("".join(tokens)) if self.korean == "jamo" else "".join(tokens)

    def _more(self) -> dict[str, Any]:
        return {"korean": self.korean}


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def count_words(texts: Iterable[str], size: int) -> WordTokenizer:
    """The `size` most frequent words."""
    return WordTokenizer(_most_frequent(WordTokenizer(()), texts, size))


def count_characters(texts: Iterable[str], size: int, korean: Literal["syllable", "jamo"]) -> CharacterTokenizer:
    """The `size` most frequent characters."""
    return CharacterTokenizer(_most_frequent(CharacterTokenizer((), korean), texts, size), korean)


def _most_frequent(tokenizer: VocabularyTokenizer, texts: Iterable[str], size: int) -> list[str]:
    """By count, and by code point where counts are equal, so that the order of the texts does not matter."""
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(tokenizer.cut(text))
    ranked = sorted((-count, token) for token, count in counts.items() if token not in SPECIALS)
    return [token for _, token in ranked[: max(0, size - len(SPECIALS))]]


def vocabulary_from_bytes(data: bytes) -> VocabularyTokenizer:
    """The tokenizer that `to_bytes` wrote."""
    try:
        plain = json.loads(data)
        unit, known = plain["unit"], plain["known"]
        if unit not in ("word", "character") or not all(isinstance(token, str) for token in known):
            raise TypeError
        return WordTokenizer(known) if unit == "word" else CharacterTokenizer(known, plain["korean"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CheckpointError("this is not a word or character vocabulary of ours") from None
