"""AttentionRecord: attention weights with their tokens, as NumPy arrays. No torch.

A record is made by a model's `look`, or by `AttentionRecord.from_matrix` from the weights of any other model. Every
drawing starts from one. It includes how to read the rows, because a map that is off by one word looks just as good.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import ConfigDict, Field

from nungil.errors import ShapeError, UsageError
from nungil.inspection.beam import BeamTree
from nungil.inspection.checks import check_text, numbers, tokens_checked, weights_checked
from nungil.inspection.honesty import Strip, WrittenStrip
from nungil.inspection.merging import ANY_MARKS, RULE, merge, spell, words_of
from nungil.inspection.steps import Step, regrouped
from nungil.settings import Settings, build_settings, parse_json, read_text
from nungil.text.counts import counted
from nungil.text.files import path_of
from nungil.text.tokenizers.base import SOS, SPECIALS

if TYPE_CHECKING:
    from nungil.inspection.picture import Picture

Array = NDArray[np.float64]
Kind = Literal["cross", "pooling", "self", "masked"]  # the main map of a record is the first of these kinds
Side = Literal["target", "source", "input"]

# Who looks (the rows of a map), and at what (its columns). A decoder is fed its own output shifted by one, so the
# columns of its self-attention are not the tokens of its rows.
SIDES: dict[Kind, tuple[Side, Side]] = {
    "cross": ("target", "source"),
    "pooling": ("target", "source"),
    "self": ("source", "source"),
    "masked": ("target", "input"),
}
Reading = Literal["output", "input"]
READINGS: dict[Reading, str] = {
    "output": "row t is the word being output",
    "input": "row t is the word just put in",
}
READING = READINGS["output"]
RECORD_FILE = "the file of a record"
UNMERGED = "none: tokens as the model has them"


@dataclass(frozen=True, eq=False)
class AttentionMap:
    """The weights of one attention of a model, (heads, rows, columns); see `kind`."""

    kind: Kind
    layer: int
    weights: Array

    def __post_init__(self) -> None:
        if self.kind not in SIDES:
            raise UsageError(f"there is no attention of kind {self.kind!r}; there is {', '.join(SIDES)}")
        object.__setattr__(self, "weights", weights_checked(self.weights, f"{self.kind} map of layer {self.layer}"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AttentionMap):
            return NotImplemented
        return (self.kind, self.layer) == (other.kind, other.layer) and np.array_equal(self.weights, other.weights)

    def __hash__(self) -> int:
        return hash((self.kind, self.layer, self.weights.tobytes()))

    @property
    def rows(self) -> Side:
        """The side whose tokens are the rows."""
        return SIDES[self.kind][0]

    @property
    def columns(self) -> Side:
        """The side whose tokens are the columns."""
        return SIDES[self.kind][1]

    @property
    def heads(self) -> int:
        """The number of heads; 1 for attention without heads."""
        return int(self.weights.shape[0])


@dataclass(frozen=True, repr=False)
class AttentionRecord:
    """Tokens of both sides, and a map for each attention of the model. Immutable.

    `input_tokens` are what the decoder was fed, the columns of its self-attention; empty where there is none. `reading`
    is the convention that every drawing prints. For a classifier there is one target token: the label. `steps` are the
    tokens as they were written, with their probabilities; `beam` is the search that found them, if there was one.
    `honesty` says how far maps can be trusted, for those where it was measured. `readers` gives, for classifiers with
    n-grams, the probabilities by attention and by n-grams, which no map shows.
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
    steps: tuple[Step, ...] = ()
    beam: BeamTree | None = None
    honesty: tuple[Strip, ...] = ()
    readers: str = ""

    def __post_init__(self) -> None:
        for name in ("source_tokens", "target_tokens", "input_tokens"):
            object.__setattr__(self, name, tokens_checked(getattr(self, name), name))
        for name in ("reading", "merge", "source", "target", "readers"):
            check_text(getattr(self, name), name)
        object.__setattr__(self, "maps", tuple(self.maps))
        object.__setattr__(self, "steps", tuple(self.steps))
        object.__setattr__(self, "honesty", tuple(self.honesty))
        if not self.maps:
            raise UsageError("a record needs at least one map of weights, and got none")
        if self.score is not None:
            object.__setattr__(self, "score", float(self.score))  # NumPy numbers cannot be written as JSON
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
                f"{one.kind} map of layer {one.layer}: weights {one.weights.shape} do not fit "
                f"{counted(expected[0], f'{one.rows} token')} "
                f"(rows) and {counted(expected[1], f'{one.columns} token')} (columns){hint}"
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

        Row t has the weights of target token t on each source token, not below 0. Rows that do not sum to 1 are
        kept, and every drawing says so.
        """
        array = numbers(weights, "weights")
        one = AttentionMap("cross", 0, array[None] if array.ndim == 2 else array)
        return cls(source_tokens, target_tokens, (one,), reading=reading)  # type: ignore[arg-type]  # checked there

    def tokens_of(self, side: Side) -> tuple[str, ...]:
        """The tokens of one side."""
        return {"source": self.source_tokens, "target": self.target_tokens, "input": self.input_tokens}[side]

    def reading_of(self, one: AttentionMap) -> str:
        """How a row of this map is read. `reading` concerns the decoder; encoders do not need it."""
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
        if head not in range(one.heads):
            raise UsageError(
                f"{one.kind} attention of layer {one.layer} has no head {head}; "
                + (f"its heads, from 0: 0 to {one.heads - 1}" if one.heads > 1 else "it has one, 0")
            )
        return np.asarray(one.weights[head])

    def picture(self, kind: str | None = None, layer: int | None = None, head: int | None = None) -> "Picture":
        """One map, chosen as `select` does, with its notes: the start of every drawing."""
        from nungil.inspection.pictures import picture_of  # a picture knows records

        return picture_of(self, kind, layer, head)

    def strip_of(self, kind: str | None = None, layer: int | None = None, head: int | None = None) -> Strip | None:
        """The honesty of a map, chosen as by `select`; None if not measured."""
        one = self.map_of(kind, layer)
        head = 0 if head is None and one.heads == 1 else head  # the mean over one head is that head
        found = ((strip, 0 if strip.head is None and one.heads == 1 else strip.head) for strip in self.honesty)
        wanted = one.kind, one.layer, head
        return next((strip for strip, measured in found if (strip.kind, strip.layer, measured) == wanted), None)

    def read_as(self, reading: Reading) -> "AttentionRecord":
        """The same weights with each row of the decoder named after the word being output, or the word just put in.

        A row is one step: it had the last word as its input, and the next one as its output.
        """
        rows = self.rows_read_as(reading)
        return self if rows is self.target_tokens else replace(self, target_tokens=rows, reading=READINGS[reading])

    def rows_read_as(self, reading: Reading) -> tuple[str, ...]:
        """The tokens that the rows of the decoder are named after in this reading."""
        if reading not in READINGS:
            raise UsageError(f"there is no reading {reading!r}; there is {', '.join(READINGS)}")
        if self.reading == READINGS[reading]:
            return self.target_tokens
        if self.reading != READING:
            raise UsageError(f"this record is read another way already: {self.reading}")
        if self.kinds[0] == "pooling":
            raise UsageError("the one row of a classifier is its whole text: nothing is put in, and no reading chosen")
        return (SPECIALS[SOS], *self.target_tokens[:-1])

    def without_marks(self) -> "AttentionRecord":
        """The record without the rows and columns of `<sos>`, `<eos>` and `<pad>`, or `</s>`, `[CLS]` and their like.

        Rows are not normalised again, so a row that looked mostly at `<eos>` becomes pale. A side with only marks keeps
        them.
        """
        return self._regrouped(_unmarked, lambda tokens, word: tokens[word[0]], self.merge)

    def merged(self) -> "AttentionRecord":
        """The record with pieces merged to words: columns summed, rows averaged, so that rows still sum to 1.

        ▁ (SentencePiece) or Ġ (byte-level BPE) begins a word, ￭ (our word tokenizer) or ## (WordPiece) continues one.
        `merge` records the merge.
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
        steps = regrouped(self.steps, group, name)
        return replace(self, maps=maps, merge=rule, steps=steps, **named)  # type: ignore[arg-type]  # three fields

    def to_json(self) -> dict[str, Any]:
        """Plain values with every digit; includes coverage, which follows from them."""
        from nungil.inspection.coverage import coverage_of  # coverage knows records

        coverage = coverage_of(self)
        return {
            "reading": self.reading,
            "merge": self.merge,
            "source": self.source,
            "target": self.target,
            "score": self.score,
            "source_tokens": list(self.source_tokens),
            "target_tokens": list(self.target_tokens),
            "input_tokens": list(self.input_tokens),
            "steps": [step.model_dump(mode="json") for step in self.steps],
            "beam": None if self.beam is None else self.beam.model_dump(mode="json"),
            "coverage": None if coverage is None else coverage.to_json(),
            "honesty": [strip.to_json() for strip in self.honesty],
            "readers": self.readers,
            "maps": [{"kind": m.kind, "layer": m.layer, "weights": m.weights.tolist()} for m in self.maps],
        }

    @classmethod
    def from_json(cls, plain: object, where: str = "attention record") -> "AttentionRecord":
        """The record that `to_json` wrote. Anything else is refused, with `where` in the message."""
        if not isinstance(plain, Mapping):
            raise UsageError(f"{where}: an object of names and values is expected, as to_json() writes it")
        written = build_settings(plain, _Written, where)
        maps = tuple(AttentionMap(m.kind, m.layer, numbers(m.weights, f"{where}: weights")) for m in written.maps)
        fields = {name: getattr(written, name) for name in type(written).model_fields if name != "coverage"}
        honesty = tuple(Strip.from_written(strip) for strip in written.honesty)
        return cls(**{**fields, "maps": maps, "honesty": honesty})

    @classmethod
    def load(cls, path: str | Path) -> "AttentionRecord":
        """The record of a `.json` file that `save` wrote."""
        return cls.from_json(parse_json(read_text(path_of(path, RECORD_FILE)), str(path)), str(path))

    def save(self, path: str | Path) -> None:
        """Write the record to a file; its ending says how: .html, .json or .csv for all of it,
        .svg, .png or .pdf for its main map."""
        from nungil.inspection.saving import save_record  # drawings know records; a record knows of them only here

        save_record(self, path_of(path, RECORD_FILE))

    def __repr__(self) -> str:
        """A summary; every number is in `to_json()`."""
        source, target = self.source or " ".join(self.source_tokens), self.target or " ".join(self.target_tokens)
        maps = ", ".join(f"{one.kind} layer {one.layer} {one.weights.shape}" for one in self.maps)
        return f"<AttentionRecord {source!r} → {target!r}: {maps} (heads, rows, columns)>"

    def _repr_html_(self) -> str:
        """For notebooks: the page of the record, in a frame."""
        from nungil.inspection.page import frame, to_page  # a page knows records

        return frame(to_page(self))


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
    steps: list[Step] = Field(default_factory=list)
    beam: BeamTree | None = None
    honesty: list[WrittenStrip] = Field(default_factory=list)
    readers: str = ""
    coverage: dict[str, Any] | None = None  # not read: it follows from the maps


def _unmarked(tokens: Sequence[str]) -> list[list[int]]:
    kept = [[place] for place, token in enumerate(tokens) if token not in ANY_MARKS]
    return kept or [[place] for place in range(len(tokens))]
