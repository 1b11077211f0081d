"""AttentionRecord: where a model looked, as tokens and NumPy arrays. No torch.

A record is made by a model's `look`, or by `AttentionRecord.from_matrix` from the weights of any other model. Every
drawing starts from one. It says how it is to be read, because a map that is off by one word looks just as fine.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import ConfigDict, Field

from nungil.errors import ShapeError, UsageError
from nungil.inspection.merging import MARKS, RULE, merge, spell, words_of
from nungil.settings import Settings, build_settings, parse_json, read_text

Array = NDArray[np.float64]
Kind = Literal["cross", "pooling", "self", "masked"]  # the main map of a record is the first of these that it has
Side = Literal["target", "source", "input"]

# Who looks (the rows of a map), and at what (its columns). A decoder is fed its own output shifted by one, so the
# columns of its self-attention are not the tokens of its rows.
SIDES: dict[Kind, tuple[Side, Side]] = {
    "cross": ("target", "source"),
    "pooling": ("target", "source"),
    "self": ("source", "source"),
    "masked": ("target", "input"),
}
READING = "row t is the word being output"
UNMERGED = "none: tokens as the model has them"
SUM_LIMIT = 1 + 1e-3  # what rounding in half precision may add to a row's sum


@dataclass(frozen=True, eq=False)
class AttentionMap:
    """The weights of one attention of a model, (heads, rows, columns); `kind` says who looks at what."""

    kind: Kind
    layer: int
    weights: Array

    def __post_init__(self) -> None:
        if self.kind not in SIDES:
            raise UsageError(f"there is no attention of kind {self.kind!r}; there is {', '.join(SIDES)}")
        object.__setattr__(self, "weights", _checked(self.weights, f"{self.kind} map of layer {self.layer}"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AttentionMap):
            return NotImplemented
        return (self.kind, self.layer) == (other.kind, other.layer) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash((self.kind, self.layer, self.weights.tobytes()))

    @property
    def rows(self) -> Side:
        """Whose tokens the rows are."""
        return SIDES[self.kind][0]

    @property
    def columns(self) -> Side:
        """Whose tokens the columns are."""
        return SIDES[self.kind][1]

    @property
    def heads(self) -> int:
        """How many heads looked side by side; 1 for attention without heads."""
        return int(self.weights.shape[0])


@dataclass(frozen=True)
class AttentionRecord:
    """Tokens of both sides, and a map for each attention of the model. Nothing in it can be changed.

    `input_tokens` are what the decoder was fed, the columns of its self-attention; empty where there is none. `reading`
    is the convention that every drawing prints. For a classifier there is one target token: the label.
    """

    source_tokens: tuple[str, ...]
    target_tokens: tuple[str, ...]
    maps: tuple[AttentionMap, ...]
    input_tokens: tuple[str, ...] = ()
    reading: str = READING
    merge: str = UNMERGED
    source: str = ""
    target: str = ""
    score: float | None = None

    def __post_init__(self) -> None:
        for name in ("source_tokens", "target_tokens", "input_tokens"):
            object.__setattr__(self, name, _tokens(getattr(self, name), name))
        for name in ("reading", "merge", "source", "target"):
            _check_text(getattr(self, name), name)
        object.__setattr__(self, "maps", tuple(self.maps))
        if not self.maps:
            raise UsageError("a record needs at least one map of weights, and got none")
        if self.score is not None:
            object.__setattr__(self, "score", float(self.score))  # a number of NumPy cannot be written as JSON
            if not np.isfinite(self.score):
                raise UsageError(f"the score of a record is a finite number or None, not {self.score}")
        for place, one in enumerate(self.maps):
            self._check_sizes(one)
            if any((one.kind, one.layer) == (other.kind, other.layer) for other in self.maps[:place]):
                raise UsageError(
                    f"a record holds one map of a kind and layer, and got two: {one.kind}, layer {one.layer}"
                )

    def _check_sizes(self, one: AttentionMap) -> None:
        expected = len(self.tokens_of(one.rows)), len(self.tokens_of(one.columns))
        if one.weights.shape[1:] != expected:
            hint = "; these weights are turned: hand in weights.T" if one.weights.shape[:0:-1] == expected else ""
            raise ShapeError(
                f"{one.kind} map of layer {one.layer}: weights {one.weights.shape} do not fit {expected[0]} {one.rows} "
                f"tokens (rows) and {expected[1]} {one.columns} tokens (columns){hint}"
            )

    @classmethod
    def from_matrix(
        cls,
        weights: ArrayLike,
        source_tokens: Sequence[str],
        target_tokens: Sequence[str],
        *,
        reading: str = READING,
    ) -> "AttentionRecord":
        """A record of the weights of any model: (target, source) or (heads, target, source), nested lists or an array.

        Row t says how much target token t looks at each source token: nothing below 0, and a sum of at most 1.
        """
        array = _numbers(weights, "weights")
        array = array[None] if array.ndim == 2 else array
        one = AttentionMap("cross", 0, array)
        _check_sums(one.weights)
        return cls(
            _tokens(source_tokens, "source_tokens"), _tokens(target_tokens, "target_tokens"), (one,), reading=reading
        )

    def tokens_of(self, side: Side) -> tuple[str, ...]:
        """The tokens of one side."""
        return {"source": self.source_tokens, "target": self.target_tokens, "input": self.input_tokens}[side]

    def reading_of(self, one: AttentionMap) -> str:
        """How a row of this map is read. The convention of the record is about the decoder; an encoder needs none."""
        if one.kind == "self":
            return "row t is the source word that looks"
        return "the one row is the whole text" if one.kind == "pooling" else self.reading

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of attention there are, the main one first."""
        return tuple(kind for kind in get_args(Kind) if any(one.kind == kind for one in self.maps))

    @property
    def layers(self) -> tuple[int, ...]:
        """The layers of the main kind."""
        return tuple(sorted({one.layer for one in self.maps if one.kind == self.kinds[0]}))

    @property
    def heads(self) -> int:
        """How many heads the main map has."""
        return self.map_of().heads

    @property
    def weights(self) -> Array:
        """The main map, (target, source): the last layer of cross-attention (or pooling), the mean over its heads."""
        return self.select()

    def map_of(self, kind: str | None = None, layer: int | None = None) -> AttentionMap:
        """The map of this kind (by default the main one) and layer (by default the last), with all its heads."""
        kind = self.kinds[0] if kind is None else kind
        found = {one.layer: one for one in self.maps if one.kind == kind}
        if not found:
            raise UsageError(f"this record has no {kind!r} attention; it has {', '.join(self.kinds)}")
        layer = max(found) if layer is None else layer
        if layer not in found:
            there = ", ".join(str(number) for number in sorted(found))
            raise UsageError(f"this record has no {kind} attention of layer {layer}; its layers, from 0: {there}")
        return found[layer]

    def select(self, kind: str | None = None, layer: int | None = None, head: int | None = None) -> Array:
        """The weights of one head, (rows, columns), heads counted from 0; without a head, the mean over all of them."""
        one = self.map_of(kind, layer)
        if head is None:
            return np.asarray(one.weights.mean(axis=0))
        if not 0 <= head < one.heads:
            raise UsageError(
                f"{one.kind} attention of layer {one.layer} has no head {head}; its heads, from 0: 0 to {one.heads - 1}"
            )
        return np.asarray(one.weights[head])

    def without_marks(self) -> "AttentionRecord":
        """The record without the rows and columns of `<sos>`, `<eos>` and `<pad>`.

        What was looked at there is gone, and nothing is made to sum to 1 again: a row that looked at `<eos>` is a pale
        row, not a loud one. A side that has nothing but marks keeps them.
        """
        return self._regrouped(_unmarked, lambda tokens, word: tokens[word[0]], self.merge)

    def merged(self) -> "AttentionRecord":
        """The record with pieces merged to words: columns summed, rows averaged, so that a row's sum stays a sum of 1.

        ▁ begins a word (SentencePiece), ￭ goes on with one (word tokenizer). `merge` says that it was done.
        """
        return self if self.merge == RULE else self._regrouped(words_of, spell, RULE)

    def _regrouped(
        self,
        group: Callable[[Sequence[str]], list[list[int]]],
        name: Callable[[Sequence[str], Sequence[int]], str],
        rule: str,
    ) -> "AttentionRecord":
        sides: tuple[Side, ...] = get_args(Side)
        groups = {side: group(self.tokens_of(side)) for side in sides}
        named = {f"{side}_tokens": tuple(name(self.tokens_of(side), word) for word in groups[side]) for side in sides}
        maps = tuple(replace(m, weights=merge(m.weights, groups[m.rows], groups[m.columns])) for m in self.maps)
        return replace(self, maps=maps, merge=rule, **named)  # type: ignore[arg-type]  # the names of three fields

    def to_json(self) -> dict[str, Any]:
        """Plain values, every digit of them."""
        return {
            "reading": self.reading,
            "merge": self.merge,
            "source": self.source,
            "target": self.target,
            "score": self.score,
            "source_tokens": list(self.source_tokens),
            "target_tokens": list(self.target_tokens),
            "input_tokens": list(self.input_tokens),
            "maps": [{"kind": m.kind, "layer": m.layer, "weights": m.weights.tolist()} for m in self.maps],
        }

    @classmethod
    def from_json(cls, plain: object, where: str = "attention record") -> "AttentionRecord":
        """The record that `to_json` wrote. Anything else is refused, with `where` in the sentence."""
        if not isinstance(plain, Mapping):
            raise UsageError(f"{where}: an object of names and values is expected, as to_json() writes it")
        written = build_settings(plain, _Written, where)
        maps = tuple(AttentionMap(m.kind, m.layer, _numbers(m.weights, f"{where}: weights")) for m in written.maps)
        fields = {name: getattr(written, name) for name in type(written).model_fields}
        return cls(**{**fields, "maps": maps})

    @classmethod
    def load(cls, path: str | Path) -> "AttentionRecord":
        """The record of a `.json` file that `save` wrote."""
        return cls.from_json(parse_json(read_text(Path(path)), str(path)), str(path))

    def save(self, path: str | Path) -> None:
        """Write the record to a file; its ending says how: .html, .json or .csv."""
        from nungil.inspection.saving import save_record  # drawings know records; a record knows of them only here

        save_record(self, Path(path))


class _WrittenMap(Settings):
    """A map as JSON holds it."""

    model_config = ConfigDict(strict=True)

    kind: Kind
    layer: int = Field(ge=0)
    weights: list[Any]


class _Written(Settings):
    """A record as JSON holds it: a closed set of keys."""

    model_config = ConfigDict(strict=True)

    source_tokens: list[str]
    target_tokens: list[str]
    maps: list[_WrittenMap]
    input_tokens: list[str] = Field(default_factory=list)
    reading: str = READING
    merge: str = UNMERGED
    source: str = ""
    target: str = ""
    score: float | None = None


def _unmarked(tokens: Sequence[str]) -> list[list[int]]:
    kept = [[place] for place, token in enumerate(tokens) if token not in MARKS]
    return kept or [[place] for place in range(len(tokens))]


def _numbers(weights: object, where: str) -> Array:
    """An array of plain numbers: text, holes and rows of different lengths are refused, never guessed at."""
    try:
        array = np.asarray(weights)
    except (ValueError, TypeError, RuntimeError) as error:
        raise ShapeError(f"{where}: rows of different lengths, or no array of numbers ({error})") from None
    if array.dtype.kind not in "fiu":
        raise UsageError(f"{where}: numbers are expected, not {array.dtype}")
    return array.astype(np.float64)


def _checked(weights: Array, where: str) -> Array:
    """The weights as an array of our own that cannot be changed, or a sentence on the first that cannot be a weight."""
    array = np.array(weights, dtype=np.float64)
    if array.ndim != 3 or 0 in array.shape:
        raise ShapeError(f"{where}: weights are (heads, rows, columns) or (rows, columns), not {array.shape}")
    for wrong, what in ((~np.isfinite(array), "not finite"), (array < 0, "below 0")):
        if wrong.any():
            place = tuple(int(one) for one in np.argwhere(wrong)[0])
            raise UsageError(
                f"{where}: the weight of head {place[0]}, row {place[1]}, column {place[2]} (from 0) is "
                f"{array[place]}, {what}; hand in the weights after softmax, not the scores before it"
            )
    array.flags.writeable = False
    return array


def _check_sums(weights: Array) -> None:
    sums = weights.sum(axis=-1)
    if (sums > SUM_LIMIT).any():
        head, row = (int(one) for one in np.argwhere(sums > SUM_LIMIT)[0])
        raise UsageError(
            f"weights: row {row} of head {head} (from 0) sums to {sums[head, row]:.6g}, more than 1; "
            "hand in the weights after softmax over the source, one row for each target token"
        )


def _tokens(tokens: Sequence[str], name: str) -> tuple[str, ...]:
    if isinstance(tokens, str):
        raise UsageError(f"{name}: a list of tokens is expected, not one text; perhaps {tokens.split()!r} is meant")
    if not isinstance(tokens, Iterable):
        raise UsageError(f"{name}: a list of tokens is expected, not {tokens!r}")
    listed = tuple(tokens)
    for place, token in enumerate(listed):
        if not isinstance(token, str):
            raise UsageError(f"{name}: token {place} (from 0) is {token!r}; tokens are texts")
        _check_text(token, f"{name}, token {place} (from 0)")
    return listed


def _check_text(text: str, where: str) -> None:
    """Half a character can be neither shown nor written to a file."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise UsageError(f"{where}: {text!r} holds half a character (a lone surrogate), which no file can hold")
