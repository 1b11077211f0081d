"""Pieces back to words: which pieces make up which word, and what becomes of the weights. No torch."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nungil.inspection.shown import bare, is_unknown, unknown
from nungil.text.tokenizers.base import EOS, PAD, SOS, SPECIALS
from nungil.text.tokenizers.jamo import from_jamo
from nungil.text.tokenizers.pieces import SPACE
from nungil.text.tokenizers.vocabulary import JOINER

MARKS = frozenset(SPECIALS[number] for number in (PAD, SOS, EOS))  # what marks the ends of a text and is no word of it
ANY_MARKS = MARKS | {"<s>", "</s>", "[CLS]", "[SEP]", "[PAD]"}  # those of other people's models too
GPT = "Ġ"  # of a piece of byte-level BPE (GPT-2) that begins a word; Maltese has the same letter
JOINERS = (JOINER, "##")  # of a piece that continues one: our word tokenizer's, and WordPiece's (BERT)
RULE = "words: columns summed over their pieces, rows averaged over theirs"


def words_of(tokens: Sequence[str]) -> list[list[int]]:
    """The places of the pieces of each word: ▁ or Ġ begins one, ￭ or ## continues one.

    Marks stand alone. Where no token has such a sign, each token is a word.
    """
    beginning = _beginning(tokens)
    words: list[list[int]] = []
    for place, token in enumerate(tokens):
        goes_on = without_joiner(token) != token if beginning is None else not token.startswith(beginning)
        after_word = place > 0 and tokens[place - 1] not in ANY_MARKS
        if goes_on and after_word and token not in ANY_MARKS:
            words[-1].append(place)
        else:
            words.append([place])
    return words


def _beginning(tokens: Sequence[str]) -> str | None:
    """The sign of pieces that begin a word, if they have one. Ġ is one only where a third of all pieces have it."""
    if any(token.startswith(SPACE) for token in tokens):
        return SPACE
    words = [token for token in tokens if token not in ANY_MARKS]
    signed = sum(token.startswith(GPT) for token in words)
    return GPT if signed and 2 * signed >= len(words) - signed - 1 else None  # the first word has none


def without_joiner(token: str) -> str:
    """The text of a piece that continues a word; a sign alone stays as it is."""
    return next((token[len(sign) :] for sign in JOINERS if token.startswith(sign) and token != sign), token)


def words_without_marks(tokens: Sequence[str]) -> list[list[int]]:
    """The same, of words only."""
    return [word for word in words_of(tokens) if tokens[word[0]] not in ANY_MARKS]


def respelt(tokens: Sequence[str], parts: Sequence[str]) -> list[str]:
    """The tokens of a text with ▁ where a word of the text begins, so that `words_of` finds the words of white space.

    `parts` are what each token puts into the text, spaces included: only they tell a full stop that no vocabulary has,
    or the letters of a character model, from words. A space goes with the word it opens; marks stay as they are, and a
    space that opens none becomes one.
    """
    spelt = [token if token in MARKS else SPECIALS[PAD] for token in tokens]
    space, apart = None, True  # the place of the last space, and whether the next letter begins a word
    for place, part in enumerate(parts):
        letters = part.strip().replace(SPACE, "_")
        apart = apart or part[:1].isspace()
        if letters and apart and space is not None:
            spelt[space], spelt[place] = SPACE, letters
        elif letters:
            spelt[place] = SPACE + letters if apart else letters
        if part:
            apart = part[-1].isspace()
            space = None if letters else place
    return spelt


def spell(tokens: Sequence[str], word: Sequence[int]) -> str:
    """The word that these pieces make, without the signs of a tokenizer; a sign alone stays as it is.

    A word with an unknown part is shown as unknown.
    """
    parts = [bare(tokens[place]) for place in word]
    joined = parts[0] + "".join(map(without_joiner, parts[1:]))
    joined = from_jamo(joined.removeprefix(_beginning(tokens) or "") or joined)
    return unknown(joined) if any(is_unknown(tokens[place]) for place in word) else joined


def merge(weights: NDArray[np.float64], rows: list[list[int]], columns: list[list[int]]) -> NDArray[np.float64]:
    """Sum over the columns of each word, average over the rows of each word: a row's sum stays what it was."""
    summed = np.stack([weights[..., word].sum(axis=-1) for word in columns], axis=-1)
    return np.stack([summed[..., word, :].mean(axis=-2) for word in rows], axis=-2)
