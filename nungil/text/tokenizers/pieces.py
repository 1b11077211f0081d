"""Subwords by SentencePiece: unigram or BPE, without normalisation, so that every text can be restored."""

import io
import re
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from nungil.errors import CheckpointError, ConfigError, CorpusError
from nungil.text.tokenizers.base import EOS, PAD, SOS, SPECIALS, UNK, Ids, Tokenizer
from nungil.text.tokenizers.jamo import from_jamo, to_jamo

SPACE = "▁"  # SentencePiece's sign for a space; a real ▁ would be decoded as a space
ESCAPE = "\ue000"  # a private character: ESCAPE a stands for itself, ESCAPE b for a true ▁
LONGEST = 100_000  # bytes; SentencePiece silently skips longer lines, by default above 4,192
FEW = 20  # words; for fewer, a call for each is faster than one for all, which starts a thread
REMEMBERED = 1_000_000  # characters of words whose ids are cached: at most about 50 MB
THREADS = 2  # affects the result: another number of threads may give another model

Korean = Literal["syllable", "jamo"]


class PieceTokenizer(Tokenizer):
    """A SentencePiece model. With `korean="jamo"` Hangul is decomposed before it and composed after it."""

    def __init__(self, model: bytes, korean: Korean = "syllable") -> None:
        self.model, self.korean = model, korean
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        except (RuntimeError, ValueError) as error:
            raise CheckpointError(f"not a SentencePiece model: {_reason(error)}") from None
        _refuse_other_specials(self._processor)
        self._bytes = np.array([self._processor.is_byte(number) for number in range(self.size)], np.bool_)
        self._words: dict[str, list[int]] = {}
        self._remembered = 0

    def __getstate__(self) -> dict[str, object]:
        return {"model": self.model, "korean": self.korean}

    def __setstate__(self, state: dict[str, object]) -> None:
        self.__init__(**state)  # type: ignore[misc]  # a process of its own gets the bytes and builds anew

    @property
    def size(self) -> int:
        """The number of pieces."""
        return int(self._processor.get_piece_size())

    def encode(self, text: str) -> list[int]:
        """The ids of a text."""
        (ids,) = self._encode([text])
        return ids

    def encode_many(self, texts: list[str]) -> Ids:
        """The ids of many texts, on one core."""
        return Ids.join(self._encode(texts))

    def decode(self, ids: Iterable[int]) -> str:
        """The text of some ids."""
        return self._restore(self._processor.decode([int(one) for one in ids]))

    def tokens(self, ids: Iterable[int]) -> list[str]:
        """The pieces; ▁ marks the beginning of a word."""
        return [from_jamo(piece) for piece in self._processor.id_to_piece([int(one) for one in ids])]

    @property
    def vocabulary(self) -> list[str]:
        """The pieces as in SentencePiece, with Hangul decomposed."""
        return list(self._processor.id_to_piece(list(range(self.size))))

    def cuts(self, word: tuple[int, ...], most: int) -> list[tuple[tuple[int, ...], float]]:
        """The most likely segmentations of a word, given as ids, each with its log-probability (unigram models only).

        A word with a character that no piece has, has only one.
        """
        if UNK in word or self._bytes[list(word)].any():
            return [(word, 0.0)]
        text = "".join(self._processor.id_to_piece(list(word))).removeprefix(SPACE)
        found = self._processor.nbest_encode(text, nbest_size=most, out_type=int) if text else [list(word)]
        return [(tuple(cut), sum(map(self._processor.get_score, cut))) for cut in found]

    def unknown(self, ids: NDArray[np.integer[Any]]) -> int:
        """How many are `<unk>`, or bytes such as `<0xE7>` of unknown characters."""
        return int(np.count_nonzero(self._bytes[ids])) + super().unknown(ids)

    def to_bytes(self) -> bytes:
        """The model as SentencePiece wrote it."""
        return self.model

    def _encode(self, texts: list[str]) -> list[list[int]]:
        """Encode word by word, with a cache: no piece crosses a space."""
        known = self._words
        found = [_put_together(text, known) for text in texts]
        new = [place for place, ids in enumerate(found) if ids is None]
        if new:
            known = self._learn({word for place in new for word in texts[place].split(" ")})
        for place in new:
            found[place] = _put_together(texts[place], known)
        return [ids or [] for ids in found]

    def _learn(self, words: set[str]) -> dict[str, list[int]]:
        """Add these words to the cache; if it is full, drop all others."""
        self._remembered += sum(map(len, words))
        if self._remembered > REMEMBERED:
            self._words, self._remembered = {}, 0
        known = self._words
        new = [word for word in words if word not in known]
        known.update(zip(new, self._cut([self._prepare(word) for word in new]), strict=True))
        if "" in words:  # between two spaces there is an empty word
            known[""] = [self._processor.piece_to_id(SPACE)]
        return known

    def _cut(self, words: list[str]) -> list[list[int]]:
        if len(words) < FEW:
            return [list(self._processor.encode(word)) for word in words]
        return list(self._processor.encode(words, num_threads=1))

    def _prepare(self, text: str) -> str:
        if self.korean == "jamo":
            text = to_jamo(text)
        return text if SPACE not in text and ESCAPE not in text else _escape(text)

    def _restore(self, text: str) -> str:
        text = text if ESCAPE not in text else _unescape(text)
        return from_jamo(text) if self.korean == "jamo" else text


def _put_together(text: str, known: dict[str, list[int]]) -> list[int] | None:
    """The ids of a text whose words are all cached."""
    ids: list[int] = []
    if text:
        try:
            for word in text.split(" "):
                ids += known[word]
        except KeyError:
            return None
    return ids


def train_pieces(
    texts: Iterable[str], unit: Literal["unigram", "bpe"], size: int, korean: Korean = "syllable"
) -> PieceTokenizer:
    """Train `size` pieces, or fewer if the text has not so many. The same texts give the same bytes."""
    given = [_escape(to_jamo(text) if korean == "jamo" else text) for text in texts]
    try:
        return PieceTokenizer(_train(given, unit, size), korean)
    except (RuntimeError, ValueError) as error:
        fewer = re.search(r"Vocabulary size too high.*<= (\d+)", str(error))
        if fewer:
            return PieceTokenizer(_train(given, unit, int(fewer.group(1))), korean)
        raise _as_ours(error, size) from None


def _train(texts: list[str], unit: str, size: int) -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=_cut(texts),
        model_writer=written,
        model_type=unit,
        vocab_size=size,
        hard_vocab_limit=unit == "bpe",
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
        byte_fallback=True,
        character_coverage=0.9995,
        required_chars=SPACE,  # rare in a script without spaces, but every text begins with one
        max_sentence_length=LONGEST,
        num_threads=THREADS,
        minloglevel=2,
        pad_id=PAD,
        unk_id=UNK,
        bos_id=SOS,
        eos_id=EOS,
        pad_piece=SPECIALS[PAD],
        unk_piece=SPECIALS[UNK],
        bos_piece=SPECIALS[SOS],
        eos_piece=SPECIALS[EOS],
    )
    return written.getvalue()


def _cut(texts: list[str]) -> Iterator[str]:
    """The texts, with overlong ones split, which SentencePiece would skip."""
    part = LONGEST // 4  # a character has at most four bytes
    for text in texts:
        yield from (text[place : place + part] for place in range(0, len(text), part)) if len(text) > part else (text,)


def _as_ours(error: Exception, size: int) -> Exception:
    message = _reason(error)
    needed = re.search(r"required_chars\D*\d+ vs (\d+)", message)
    if needed:
        return ConfigError(
            "tokenizer", [f"size: {size} is too small; single characters and bytes need {needed.group(1)}"]
        )
    if "empty" in message.lower() or "!sentences_.empty()" in message:
        return CorpusError("there is no text to learn a tokenizer from")
    return ConfigError("tokenizer", [f"SentencePiece could not be trained: {message}"])


def _reason(error: Exception) -> str:
    """SentencePiece's complaint without its source file and brackets."""
    return re.sub(r"^.*?\(\d+\)\s*", "", str(error)).strip() or type(error).__name__


def _refuse_other_specials(processor: sentencepiece.SentencePieceProcessor) -> None:
    found = tuple(processor.id_to_piece(number) for number in range(min(4, processor.get_piece_size())))
    if found != SPECIALS:
        raise CheckpointError(
            f"this SentencePiece model begins with {found}, not with {SPECIALS}: it is not one of ours"
        )


def _escape(text: str) -> str:
    return text.replace(ESCAPE, ESCAPE + "a").replace(SPACE, ESCAPE + "b")


def _unescape(text: str) -> str:
    return re.sub(ESCAPE + "([ab])", lambda found: ESCAPE if found[1] == "a" else SPACE, text)
