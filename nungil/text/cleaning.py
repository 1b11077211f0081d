"""Which records training should not see, and why; all drops are counted. Repairs are in tidy.py."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from nungil.records import LACKS, Labelled, Pair
from nungil.settings import Settings
from nungil.text.finding import Finding
from nungil.text.seen import Hashes, Seen
from nungil.text.tidy import repairs, tidy

Record = TypeVar("Record", bound=Pair | Labelled)
Mask = NDArray[np.bool_]
BATCH = 8_192
BATCH_CHARACTERS = 2_000_000
ALLOWANCE = 10  # bytes added to both sides before their ratio is taken: "No." and "아니요." are a good pair


class CleaningSettings(Settings):
    """The limits of cleaning, chosen so that what they reject in real corpora is broken or mistranslated."""

    longest_sentence: int = Field(
        4_000, ge=1, description="Characters of a side of a pair; the longest of 70,000 real pairs has 2,712."
    )
    longest_text: int = Field(
        20_000, ge=1, description="Characters of a text to classify; the longest of 25,000 film reviews has 13,704."
    )
    length_ratio: float = Field(
        4.5,
        gt=1,
        description="How many times as long one side may be as the other, in bytes of UTF-8, 10 added to both; of "
        "29,000 pairs of Multi30k drops 2 (their German is @@), of 28,548 Bible verses and 38,442 paragraphs none.",
    )
    drop_duplicates: bool = Field(True, description="Keep only the first of exactly equal records.")
    drop_copies: bool = Field(False, description="Drop pairs whose target is their source; names and code often are.")
    drop_withheld: bool = Field(
        True, description="Drop what its own file does not vouch for: fuzzy, not yet translated, not to be, or lacking."
    )
    drop_held_out: bool = Field(True, description="Drop records of train that stand in the validation or test set.")


@dataclass
class Tally:
    """Counts of cleaning: records read and kept, dropped by reason, changed by repair."""

    read: int = 0
    kept: int = 0
    dropped: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    lacking: dict[str, Finding] = field(default_factory=dict)  # examples of drops that should not occur, by reason

    def to_json(self) -> dict[str, Any]:
        """Plain values; `asdict` cannot handle a Counter."""
        return {"read": self.read, "kept": self.kept, "dropped": dict(self.dropped), "changed": dict(self.changed)}


@dataclass(frozen=True)
class HeldOut:
    """Records that training must not see: the name of their set, whole records, and their first texts alone."""

    name: str
    records: Seen
    firsts: Seen


def pair_fault(source: str, target: str, settings: CleaningSettings) -> str | None:
    """Why a tidied pair is dropped, or None."""
    if not source:
        return "empty source"
    if not target:
        return "empty target"
    if max(len(source), len(target)) > settings.longest_sentence:
        return "too long"
    # In bytes, because a character of Korean or Chinese says as much as three of English, and takes three bytes: the
    # mean ratio of real corpora is 0.8 to 0.95 for German, French, Romanian and Korean alike; in characters 0.9 to 2.2.
    ours, theirs = _bytes(source) + ALLOWANCE, _bytes(target) + ALLOWANCE
    if max(ours, theirs) > settings.length_ratio * min(ours, theirs):
        return "length ratio"
    if settings.drop_copies and source == target:
        return "copy"
    return None


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def text_fault(text: str, label: str, settings: CleaningSettings) -> str | None:
    """Why a tidied text with its label is dropped, or None."""
    if not text:
        return "empty text"
    if not label:
        return "empty label"
    return "too long" if len(text) > settings.longest_text else None


def clean_pairs(
    pairs: Iterable[Pair],
    settings: CleaningSettings,
    tally: Tally,
    rejected: Callable[[str, Pair], None] | None = None,
    held_out: Sequence[HeldOut] = (),
) -> Iterator[Pair]:
    """The tidied pairs that are kept. Counts go to the tally, dropped ones with their reason to `rejected`."""
    return _Sieve(settings, tally, rejected, held_out, _reason_of_pair, _pairs_in).keep(pairs)


def clean_labelled(
    texts: Iterable[Labelled],
    settings: CleaningSettings,
    tally: Tally,
    rejected: Callable[[str, Labelled], None] | None = None,
    held_out: Sequence[HeldOut] = (),
) -> Iterator[Labelled]:
    """The tidied texts that are kept. Texts of the test set are dropped, whatever their label."""
    return _Sieve(settings, tally, rejected, held_out, _reason_of_text, _texts_in).keep(texts)


def _reason_of_pair(pair: Pair, settings: CleaningSettings) -> str | None:
    if pair.withheld and settings.drop_withheld:
        return pair.withheld
    return pair_fault(pair.source, pair.target, settings)


def _reason_of_text(text: Labelled, settings: CleaningSettings) -> str | None:
    if text.withheld and settings.drop_withheld:
        return text.withheld
    return text_fault(text.text, text.label, settings)


def record_hashes(records: Iterable[Pair | Labelled]) -> Hashes:
    """A hash per record, of both its texts: which defines duplicates. Valid only within this process."""
    return np.array([hash(record[:2]) for record in records], dtype=np.int64).view(np.uint64)


def text_hashes(records: Iterable[Pair | Labelled]) -> Hashes:
    """A hash per record, of its first text only. Valid only within this process."""
    return np.array([hash(record[0]) for record in records], dtype=np.int64).view(np.uint64)


def batches(records: Iterable[Record]) -> Iterator[list[Record]]:
    """Lists of records, long enough for array operations, and bounded in memory."""
    batch: list[Record] = []
    characters = 0
    for record in records:
        batch.append(record)
        characters += len(record[0]) + len(record[1])
        if len(batch) == BATCH or characters > BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def hold_out(name: str, records: Iterable[Record]) -> HeldOut:
    """A set that training must not see, from its records as they were read."""
    held, ignored = HeldOut(name, Seen(), Seen()), Counter[str]()
    for batch in batches(records):
        tidied = [tidied_record(record, ignored) for record in batch]
        held.records.add(record_hashes(tidied))
        held.firsts.add(text_hashes(tidied))
    return held


def _pairs_in(held_out: HeldOut, pairs: list[Pair]) -> Mask:
    """Whole pairs: a short sentence may well be the source of another translation."""
    return held_out.records.contains(record_hashes(pairs))


def _texts_in(held_out: HeldOut, texts: list[Labelled]) -> Mask:
    return held_out.firsts.contains(text_hashes(texts))


@dataclass(frozen=True)
class _Sieve(Generic[Record]):
    """Cleans one stream in batches, because hashes are looked up in bulk."""

    settings: CleaningSettings
    tally: Tally
    rejected: Callable[[str, Record], None] | None
    held_out: Sequence[HeldOut]
    reason: Callable[[Record, CleaningSettings], str | None]
    stands_in: Callable[[HeldOut, list[Record]], Mask]

    def keep(self, records: Iterable[Record]) -> Iterator[Record]:
        """The records that pass, tidied, in order."""
        seen = Seen()
        for batch in batches(records):
            tidied = [tidied_record(record, self.tally.changed) for record in batch]
            reasons = [self.reason(record, self.settings) for record in tidied]
            if self.settings.drop_held_out:
                for other in self.held_out:
                    mark(reasons, tidied, f"in the {other.name} set", partial(self.stands_in, other))
            if self.settings.drop_duplicates:
                mark(reasons, tidied, "duplicate", lambda records: ~seen.add(record_hashes(records)))
            yield from self._counted(tidied, reasons)

    def _counted(self, tidied: list[Record], reasons: list[str | None]) -> Iterator[Record]:
        tally = self.tally
        tally.read += len(tidied)
        tally.kept += reasons.count(None)
        if reasons.count(None) == len(reasons):
            yield from tidied
            return
        tally.dropped.update(reason for reason in reasons if reason is not None)
        for record, reason in zip(tidied, reasons, strict=True):
            if reason is None:
                yield record
                continue
            if reason.startswith(LACKS):
                tally.lacking.setdefault(reason, Finding()).add(record)
            if self.rejected is not None:
                self.rejected(reason, record)


def mark(reasons: list[str | None], records: list[Record], reason: str, test: Callable[[list[Record]], Mask]) -> None:
    """Mark records that fail a test, and have no reason yet, with a reason."""
    places = [place for place, found in enumerate(reasons) if found is None]
    standing = records if len(places) == len(records) else [records[place] for place in places]
    for place in np.flatnonzero(test(standing)):
        reasons[places[place]] = reason


def tidied_record(record: Record, changed: Counter[str]) -> Record:
    """The record with both texts tidied, and each kind of repair counted once."""
    first, second = tidy(record[0]), tidy(record[1])
    if first == record[0] and second == record[1]:
        return record
    changed.update({*repairs(record[0]), *repairs(record[1])})
    return type(record)(first, second, *record[2:])
