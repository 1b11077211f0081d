"""Where the words of a text are: by name or number, in pieces, between marks."""

import unicodedata
from collections.abc import Sequence
from difflib import get_close_matches

from nungil.errors import UsageError
from nungil.inspection.changes import Word
from nungil.inspection.edits import Encode
from nungil.inspection.merging import MARKS, spell, words_of
from nungil.inspection.shown import bare
from nungil.text.counts import counted
from nungil.text.tokenizers.base import EOS, PAD, SOS, UNK
from nungil.text.tokenizers.pieces import SPACE
from nungil.text.tokenizers.vocabulary import JOINER


def words_in(tokens: Sequence[str]) -> list[int]:
    """The places of words, marks left out; all places of a text that has nothing but marks."""
    return [place for place, token in enumerate(tokens) if token not in MARKS] or list(range(len(tokens)))


def is_idle(token: str) -> bool:
    """Whether a token is a mark or punctuation: where attention rests when there is nothing to look for."""
    text = bare(token) or token  # what stands for a later byte of a letter is no punctuation
    text = text.removeprefix(JOINER).removeprefix(SPACE) or text
    return token in MARKS or all(unicodedata.category(character)[0] in "PS" for character in text)


def places_of(word: Word, source: Sequence[int], tokens: Sequence[str], encode: Encode) -> list[int]:
    """The places of a word's pieces in a source, from 0.

    A word is named by its text, or by the number of its column, from 1. A text is looked for as a token, as a word of
    pieces, and as the ids that the tokenizer makes of it. One that stands there twice has to be named by number.
    """
    if isinstance(word, int):
        if not 1 <= word <= len(tokens):
            raise UsageError(
                f"there is no word {word}: the source has {counted(len(tokens), 'column')}, counted from 1"
            )
        return [word - 1]
    groups = words_of(tokens)
    found = [[place] for place, token in enumerate(tokens) if word in (token, bare(token))]
    found = found or [group for group in groups if word in (said := spell(tokens, group), bare(said))]
    found = found or [[place] for place, token in enumerate(tokens) if bare(token).removeprefix(JOINER) == word]
    found = found or _runs(source, [one for one in encode(word) if one not in (PAD, SOS, EOS)])
    if not found:
        there = [spell(tokens, group) for group in groups]
        close = get_close_matches(word, there, n=1, cutoff=0.6)
        hint = f"did you mean “{close[0]}”?" if close else "; ".join(f"{n} {t}" for n, t in enumerate(tokens, 1))
        raise UsageError(f"“{word}” is not in the source: {hint}")
    if len(found) > 1:
        numbers = ", ".join(str(group[0] + 1) for group in found)
        raise UsageError(f"“{word}” stands in the source more than once; name one by its column: {numbers}")
    return found[0]


def _runs(source: Sequence[int], wanted: Sequence[int]) -> list[list[int]]:
    """Where these ids stand one after another; an unknown word could be any."""
    if not wanted or UNK in wanted:
        return []
    size = len(wanted)
    starts = (place for place in range(len(source) - size + 1) if list(source[place : place + size]) == list(wanted))
    return [list(range(place, place + size)) for place in starts]
