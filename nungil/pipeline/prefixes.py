"""Prefixes: text that translations are to begin with, as ids."""

from collections.abc import Sequence

from nungil.errors import UsageError
from nungil.text.tidy import tidy
from nungil.text.tokenizers.base import EOS, SPECIALS, UNK, Tokenizer

Prefix = str | Sequence[str | None] | None  # one for all texts, one for each of them, or none


def prefix_ids(prefix: Prefix, texts: int, tokenizer: Tokenizer) -> list[list[int]]:
    """The ids that each of so many translations begins with. A prefix that ends in `<eos>` is a whole translation."""
    if prefix is None or isinstance(prefix, str):
        return [_ids(prefix, tokenizer)] * texts
    if len(prefix) != texts:
        raise UsageError(f"prefix: {len(prefix)} prefixes for {texts} texts; give one for each, or one text for all")
    return [_ids(one, tokenizer) for one in prefix]


def _ids(prefix: str | None, tokenizer: Tokenizer) -> list[int]:
    given = tidy(prefix or "")
    text = given.removesuffix(SPECIALS[EOS]).rstrip()
    ids = tokenizer.encode(text)
    if UNK in ids:
        unknown = [word for word in dict.fromkeys(text.split()) if UNK in tokenizer.encode(word)]
        raise UsageError(f"prefix: not in the model's vocabulary, so that it cannot be written: {', '.join(unknown)}")
    return [*ids, EOS] if given != text else ids
