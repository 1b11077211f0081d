"""Insight: what translators and classifiers share for judging how far a map can be trusted.

Lenses, honesty, interventions, differences, badges: text in, records out.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from nungil.errors import UsageError
from nungil.inspection.badge import Badge
from nungil.inspection.changes import Change, Places
from nungil.inspection.difference import Difference
from nungil.inspection.edits import Edit, Traced, edited
from nungil.inspection.example import Example
from nungil.inspection.honesty import Strip
from nungil.inspection.intervention import Intervention, intervene, place_of
from nungil.inspection.judging import Metric, Tell, judge
from nungil.inspection.lenses import missing_lenses, through
from nungil.inspection.lensmap import LensMap
from nungil.inspection.measuring import PERMUTATIONS, Wanted, measure, measured
from nungil.inspection.record import AttentionRecord
from nungil.inspection.shown import Shown
from nungil.inspection.wordplaces import places_of
from nungil.model.build import Model
from nungil.model.folder import ModelConfig
from nungil.pipeline.texts import encode, evaluating, not_empty, paired, shown
from nungil.text.tokenizers.base import Tokenizer


class Insight(ABC):
    """`target` is always a translation or a label to use in place of the model's own."""

    config: ModelConfig

    @abstractmethod
    def _parts(self) -> tuple[Model, Tokenizer]:
        """The model, and the tokenizer of its source."""

    @abstractmethod
    def _example(self, source: Shown, target: str | None) -> Example:
        """The source with its translation or label."""

    @abstractmethod
    def _room(self, source: Sequence[int]) -> int:
        """Most tokens that may be written for this source."""

    @abstractmethod
    def _judged(self, records: Sequence[tuple[str, str]]) -> tuple[list[Example], Metric]:
        """Examples of some records, and the metric that scores the model on them."""

    def example(self, text: str, target: str | None = None) -> Example:
        """The text and its translation or label, as `nungil.inspection` takes them."""
        with evaluating(self._parts()[0]):
            return self._example(self._source(text), target)

    def lens(
        self,
        text: str,
        lens: str = "raw",
        target: str | None = None,
        *,
        layer: int | None = None,
        head: int | None = None,
    ) -> LensMap:
        """The text through a lens: raw, value-norm, rollout, gradient-input, integrated-gradients or leave-one-out.

        `layer` and `head` are for raw and value-norm. A model without attention has the last three all the same.
        """
        with evaluating(self._parts()[0]):
            return through(self._example(self._source(text), target), lens, layer, head)

    def honesty(
        self,
        text: str,
        target: str | None = None,
        *,
        layer: int | None = None,
        head: int | None = None,
        permutations: int = PERMUTATIONS,
        seed: int = 1,
    ) -> Strip:
        """How far the map of this text can be trusted: by default that of the last layer, the mean over its heads."""
        with evaluating(self._parts()[0]):
            return measure(self._attending(self._source(text), target), layer, head, permutations, seed)

    def quick_honesty(
        self, text: str, target: str | None = None, *, layer: int | None = None, head: int | None = None
    ) -> Strip | None:
        """The same without permutations, if that takes no more than about a second; else None."""
        with evaluating(self._parts()[0]):
            return measured(self._attending(self._source(text), target), Wanted(layer, head))

    def _honest(self, record: AttentionRecord, example: Example, honesty: Wanted | bool) -> AttentionRecord:
        """The record with its honesty strip, if one is wanted and cheap enough."""
        if honesty is False:
            return record
        with evaluating(self._parts()[0]):
            strip = measured(example, Wanted() if honesty is True else honesty)
        return record if strip is None else replace(record, honesty=(strip,))

    def intervene(
        self,
        text: str,
        *changes: Change,
        target: str | None = None,
        layer: int | None = None,
        head: int | None = None,
        everywhere: bool = False,
    ) -> Intervention:
        """Change rows of attention and see what is written instead: `Force(3, "snow")`, `Flatten(1)` …

        In one layer, by default the last, in one head or all; or, with `everywhere`, in all layers and heads.
        """
        source = self._source(text)
        with evaluating(self._parts()[0]):
            example = self._attending(source, target)
            place = place_of(example, layer, head, everywhere)
            return intervene(example, changes, place, self._places(source), self._room(source.ids))

    def compare(
        self, text: str, *edits: Edit, lens: str = "raw", layer: int | None = None, head: int | None = None
    ) -> Difference:
        """Swap, delete or insert words, and see the new output and where its map differs."""
        after = self._edited(text, edits)
        with evaluating(self._parts()[0]):
            both = [self._example(one, None) for one in (self._source(text), after.source)]
            first, second = (through(example, lens, layer, head) for example in both)
            likely = both[0].probability(), both[1].probability()
        return Difference(first, second, tuple(str(edit) for edit in edits), tuple(after.origins), likely)

    def edited(self, text: str, *edits: Edit) -> Example:
        """The text after these edits, and its translation or label, as `nungil.inspection` takes them."""
        after = self._edited(text, edits)
        with evaluating(self._parts()[0]):
            return self._example(after.source, None)

    def badge(self, records: Iterable[tuple[str, str]], *, seed: int = 1, tell: Tell | None = None) -> Badge:
        """The badge of the model on texts and their translations, or their labels."""
        given = paired(records)
        if not given:
            raise UsageError("a badge needs some texts with their translations or labels, and got none")
        with evaluating(self._parts()[0]):
            examples, metric = self._judged(given)
            self._refuse_unlooking(examples[0])
            return judge(examples, metric, seed, tell)

    def _source(self, text: str) -> Shown:
        tokenizer, tidied = self._parts()[1], not_empty(text)
        return shown(encode(tidied, tokenizer, self.config).ids, tokenizer, tidied)

    def _edited(self, text: str, edits: Sequence[Edit]) -> Traced:
        if not edits:
            raise UsageError("no edits were given; name one, such as Swap('snow', 'rain')")
        tokenizer = self._parts()[1]
        return edited(
            self._source(text), edits, self._places, lambda word: shown(tokenizer.encode(word), tokenizer, word)
        )

    def _attending(self, source: Shown, target: str | None) -> Example:
        example = self._example(source, target)
        self._refuse_unlooking(example)
        return example

    def _refuse_unlooking(self, example: Example) -> None:
        missing = missing_lenses(example)
        if "raw" in missing:
            raise UsageError(f"there is no map to trust or to change: {missing['raw']}")

    def _places(self, source: Shown) -> Places:
        find: Callable[..., Sequence[int]] = places_of
        return partial(find, source=source.ids, tokens=source.tokens, encode=self._parts()[1].encode)
