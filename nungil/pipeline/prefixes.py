"""Prefixes: the ids of the text that translations have to begin with."""

from collections.abc import Iterable, Sequence

from nungil.errors import UsageError
from nungil.text.counts import counted
from nungil.text.tidy import tidy
from nungil.text.tokenizers.base import EOS, SPECIALS, UNK, Tokenizer

Prefix = str | Iterable[str | None] | None  # one for all texts, one for each of them, or none


def prefix_ids(prefix: Prefix, texts: int, tokenizer: Tokenizer) -> list[list[int]]:
    """The ids that each translation begins with. A prefix that ends in `<eos>` is the whole translation."""
    if prefix is None or isinstance(prefix, str):
        return [_ids(prefix, tokenizer)] * texts
    if isinstance(prefix, bytes) or not isinstance(prefix, Iterable):
        raise UsageError(f"prefix: a text, or one for each text, is expected, not {type(prefix).__name__}")
    given = list(prefix)
    if len(given) != texts:
        raise UsageError(
            f"prefix: {len(given)} given for {counted(texts, 'text')}; give one for each, or one text for all"
        )
    for number, one in enumerate(given, 1):
        if not isinstance(one, str | None):
            raise UsageError(f"prefix {number} is no text but {type(one).__name__}")
    return [_ids(one, tokenizer) for one in given]


def at_beginnings(prefixes: Sequence[list[int]], texts: Sequence[Sequence[str]]) -> list[list[int]]:
    """The prefix of every sentence: that of its text for the first one that is not empty, none for the others."""
    found: list[list[int]] = []
    for ids, parts in zip(prefixes, texts, strict=True):
        first = next((place for place, part in enumerate(parts) if part), None)
        found += [ids if place == first else [] for place in range(len(parts))]
    return found


def _ids(prefix: str | None, tokenizer: Tokenizer) -> list[int]:
    given = tidy(prefix or "")
    text = given.removesuffix(SPECIALS[EOS]).rstrip()
    ids = tokenizer.encode(text)
    if UNK in ids:
        unknown = [word for word in dict.fromkeys(text.split()) if UNK in tokenizer.encode(word)]
        raise UsageError(f"prefix: not in the model's vocabulary, so that it cannot be written: {', '.join(unknown)}")
    return [*ids, EOS] if given != text else ids
