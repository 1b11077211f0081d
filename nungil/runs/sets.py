"""The three sets of a run: train as a stream that can be read again, validation and test in memory."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import starmap, zip_longest
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from nungil.errors import CorpusError
from nungil.records import Labelled, Pair
from nungil.runs.data import DataSettings
from nungil.runs.labels import FirstPlaces, check_known, check_labels
from nungil.text.cleaning import (
    CleaningSettings,
    HeldOut,
    Record,
    Tally,
    batches,
    clean_labelled,
    clean_pairs,
    hold_out,
)
from nungil.text.corpus import Corpus
from nungil.text.counts import counted
from nungil.text.opened import Opened
from nungil.text.seen import Hashes
from nungil.text.split import LEAST, TEST, TRAIN, VALID, near_keys, split
from nungil.text.survey import MOST_LABELS
from nungil.text.tokenizers.train import SAMPLE, Sample

Parts = NDArray[np.int8]
SHARE = 20  # a twentieth of the records is set aside for each set, up to `aside`
MOST_TESTED = 100_000  # records in memory; the test set is run once
SURPLUS = 3  # the part of unused records: more than validation needs, or than `train_size`


@dataclass(frozen=True)
class Kind(Generic[Record]):
    """What differs between records to translate and records to classify."""

    noun: str
    record: type[Record]
    clean: Callable[..., Iterator[Record]]
    sides: tuple[str, ...]  # the columns that are text, in their order
    sample: int  # texts of a side that a tokenizer is trained on
    aside: int  # most records to set aside for a set

    def most(self, name: str) -> int:
        """Most records of a set, which are kept in memory; validation runs often."""
        return 2 * self.aside if name == "validation" else MOST_TESTED

    def count(self, number: int) -> str:
        """`1 pair`, `1,000 pairs`."""
        return counted(number, self.noun[:-1])


# Texts to classify: accuracy on 1,000 texts is known to 2 points, on 4,000 to 1, and classifying is much faster than
# translating, so more are set aside. They are about four times as long, so fewer are sampled.
PAIRS = Kind("pairs", Pair, clean_pairs, ("source", "target"), SAMPLE, aside=1_000)
TEXTS = Kind("texts", Labelled, clean_labelled, ("text",), SAMPLE // 4, aside=4_000)


@dataclass
class Train(Generic[Record]):
    """The training set. It stays in its files: each pass reads and cleans them again."""

    kind: Kind[Record]
    corpus: Corpus
    cleaning: CleaningSettings
    held_out: Sequence[HeldOut] = ()
    parts: Parts | None = None  # where records were set aside: the part of each clean record

    def __iter__(self) -> Iterator[Record]:
        return (record for part, record in self.parted(Tally()) if part == TRAIN)

    def clean(self, tally: Tally) -> Iterator[Record]:
        """Every clean record of the files, those set aside too."""
        rows = starmap(self.kind.record, self.corpus.rows())
        return self.kind.clean(rows, self.cleaning, tally, None, self.held_out)

    def parted(self, tally: Tally) -> Iterator[tuple[int, Record]]:
        """Every clean record with its part."""
        if self.parts is None:
            yield from ((TRAIN, record) for record in self.clean(tally))
            return
        for part, record in zip_longest(self.parts.data, self.clean(tally)):
            if part is None or record is None:
                raise CorpusError(f"{name_of(self.corpus)}: changed while it was read; start again")
            yield part, record


@dataclass
class Sets(Generic[Record]):
    """The three sets, and what was learned from reading them."""

    kind: Kind[Record]
    train: Train[Record]
    given: frozenset[str]  # "validation", "test": those that came as files
    valid: list[Record] = field(default_factory=list)
    test: list[Record] = field(default_factory=list)
    samples: tuple[Sample, ...] = ()  # of train, one per side
    labels: Counter[str] = field(default_factory=Counter)  # of train
    tally: Tally = field(default_factory=Tally)  # of train, and what was set aside from it
    decisions: list[str] = field(default_factory=list)

    def records(self, name: str) -> list[Record]:
        """The records of the validation or test set."""
        return self.valid if name == "validation" else self.test


def gather(
    opened: Opened, kind: Kind[Record], data: DataSettings, cleaning: CleaningSettings, seed: int
) -> Sets[Record]:
    """Read every set: given ones first, because train must not contain their records."""
    held_out: list[HeldOut] = []
    places: dict[str, FirstPlaces] = {}
    sets = Sets(kind, Train(kind, opened.train, cleaning, held_out), frozenset(opened.held_out))
    for name, corpus in opened.held_out.items():
        places[name] = FirstPlaces()
        held_out.append(_read_held_out(name, corpus, sets, places[name]))
    wanted = {part: size for part, size in _sizes(data).items() if size != 0}
    if wanted:
        sets.train.parts = _set_aside(sets, wanted, seed)
    if data.train_size is not None:
        sets.train.parts = _draw(sets, data.train_size, seed)
    _look_through(sets)
    if kind.record is Labelled:
        check_labels(sets.labels, sets.tally.kept, name_of(opened.train))
        for name, found in places.items():
            check_known(name, found, sets.labels)
    return sets


def side_of(record: Record, place: int) -> str:
    """The first or second text of a record."""
    return record[1] if place else record[0]


def name_of(corpus: Corpus) -> str:
    """A short name for the files of a corpus."""
    first, more = corpus.sources[0].name, len(corpus.sources) - 1
    return f"{first} and {more} more" if more else first


def reasons(tally: Tally) -> str:
    """`length ratio 2, no "ko" 1 (a.jsonl, line 7)`: why records were dropped, the most frequent reason first."""
    where = {reason: f" ({finding.where()})" for reason, finding in tally.lacking.items()}
    return ", ".join(f"{reason} {count:,}{where.get(reason, '')}" for reason, count in tally.dropped.most_common())


def _read_held_out(name: str, corpus: Corpus, sets: Sets[Record], places: FirstPlaces) -> HeldOut:
    """Hash a set that training must not see, and keep as many of its records as scoring needs."""
    # Sets are scored as they were given, with duplicates and unusual lengths. But the validation set must not contain
    # test records, which would make the test too easy.
    cleaning = sets.train.cleaning.model_copy(
        update={"drop_duplicates": False, "drop_copies": False, "length_ratio": float("inf")}
    )
    given = Train(sets.kind, corpus, cleaning, list(sets.train.held_out))
    tally = Tally()
    held_out = hold_out(name, places.noting(given.clean(tally)))
    if not tally.kept:
        raise CorpusError(f"{name_of(corpus)}: nothing is left of the {name} set: {reasons(tally) or 'it is empty'}")
    most = sets.kind.most(name)
    sets.records(name).extend(_spread(given.clean(Tally()), tally.kept, most))
    if tally.dropped:
        dropped = sets.kind.count(tally.dropped.total())
        sets.decisions.append(f"{dropped} of the {name} set left out: {reasons(tally)}.")
    if tally.kept > most:
        sets.decisions.append(_thinned(name, sets.kind.count(tally.kept), most))
    return held_out


def _spread(records: Iterable[Record], count: int, most: int) -> Iterator[Record]:
    """At most so many of `count` records, evenly spread over them."""
    return (record for number, record in enumerate(records) if _is_chosen(number, count, most))


def _is_chosen(number: int, count: int, most: int) -> bool:
    return count <= most or (number + 1) * most // count > number * most // count


def _thinned(name: str, counted: str, most: int) -> str:
    return f"The {name} set has {counted}: {most:,} of them are used, spread evenly."


def _sizes(data: DataSettings) -> dict[int, int | None]:
    """How many records to set aside for each set; None for the default."""
    valid = 0 if data.valid else data.valid_size
    test = 0 if data.test or (data.valid and data.test_size is None) else data.test_size
    return {VALID: valid, TEST: test}


def _set_aside(sets: Sets[Record], wanted: dict[int, int | None], seed: int) -> Parts:
    """The part of each clean record. Keeps eight bytes per column and record, but no text."""
    tally = Tally()
    keys, firsts = _keys(sets.train, tally)
    _refuse_nothing(sets.train, tally)
    if sets.kind.record is Labelled:
        check_labels(firsts, tally.kept, name_of(sets.train.corpus))
    sizes = _worked_out(sets.train, wanted, tally.kept)
    # One text of each label stays in train, with its near-duplicates: every label must be seen in training.
    free = ~np.isin(keys[0], keys[0][list(firsts.values())])
    if sum(sizes.values()) >= np.count_nonzero(free):
        raise _too_few(sets.train, tally.kept, f"to set {sum(sizes.values()):,} aside; set fewer aside")
    parts = np.full(tally.kept, TRAIN, np.int8)
    try:
        parts[free] = split([column[free] for column in keys], seed, sizes.get(VALID, 0), sizes.get(TEST, 0))
    except CorpusError as error:
        raise CorpusError(f"{name_of(sets.train.corpus)}: {error}; give a validation set with --valid") from None
    sets.decisions.append(_aside(sets.kind, parts, sizes))
    for name, part in (("validation", VALID), ("test", TEST)):
        _thin(sets, parts, name, part)
    return parts


def _draw(sets: Sets[Record], size: int, seed: int) -> Parts:
    """Mark all but `size` training records as surplus. Smaller draws are parts of larger ones."""
    parts = sets.train.parts
    if parts is None:
        parts = np.full(sum(1 for _ in sets.train), TRAIN, np.int8)
    numbers = np.flatnonzero(parts == TRAIN)
    if len(numbers) > size:
        parts[np.random.default_rng(seed).permutation(numbers)[size:]] = SURPLUS
        sets.decisions.append(f"Of {sets.kind.count(len(numbers))} to train on {size:,} are used, as asked.")
    return parts


def _worked_out(train: Train[Record], wanted: dict[int, int | None], count: int) -> dict[int, int]:
    """How many records to set aside for each part, with defaults filled in."""
    if None in wanted.values() and count < LEAST:
        raise _too_few(train, count, f"to set some aside for validation, which takes {LEAST} or more; add to them")
    default = max(1, min(train.kind.aside, count // SHARE))
    return {part: default if size is None else size for part, size in wanted.items()}


def _too_few(train: Train[Record], count: int, what: str) -> CorpusError:
    counted = f"{train.kind.count(count)} {'is' if count == 1 else 'are'}"
    return CorpusError(f"{name_of(train.corpus)}: {counted} too few {what}, or give a validation set with --valid")


def _keys(train: Train[Record], tally: Tally) -> tuple[list[Hashes], dict[str, int]]:
    """The near keys of each column, and the number of the first record of each label."""
    columns: list[list[Hashes]] = [[] for _ in train.kind.sides]
    places = FirstPlaces()
    for batch in batches(places.noting(train.clean(tally))):
        for place, column in enumerate(columns):
            column.append(near_keys(side_of(record, place) for record in batch))
    return [np.concatenate([np.empty(0, np.uint64), *column]) for column in columns], places.numbers


def _refuse_nothing(train: Train[Record], tally: Tally) -> None:
    where = name_of(train.corpus)
    if not tally.read:
        raise CorpusError(f"{where}: there are no {train.kind.noun} in it")
    if not tally.kept:
        raise CorpusError(
            f"{where}: nothing is left to train on: cleaning drops {train.kind.count(tally.read)}: {reasons(tally)}"
        )


def _aside(kind: Kind[Record], parts: Parts, sizes: dict[int, int]) -> str:
    valid, test = (int(np.count_nonzero(parts == part)) for part in (VALID, TEST))
    together = "near-duplicates stay together"
    if VALID not in sizes:
        return f"{kind.count(test)} of train set aside as a test set; {together}."
    more = f", and {test:,} more as a test set" if test else ""
    return f"No validation set was given: {kind.count(valid)} of train set aside{more}; {together}."


def _thin(sets: Sets[Record], parts: Parts, name: str, part: int) -> None:
    """Mark what a set does not need as surplus; it stays out of train all the same."""
    numbers, most = np.flatnonzero(parts == part), sets.kind.most(name)
    if len(numbers) > most:
        chosen = np.array([_is_chosen(number, len(numbers), most) for number in range(len(numbers))])
        parts[numbers[~chosen]] = SURPLUS
        sets.decisions.append(_thinned(name, sets.kind.count(len(numbers)), most))


def _look_through(sets: Sets[Record]) -> None:
    """One pass over train: samples for the tokenizers, labels, and the records that were set aside."""
    sets.samples = tuple(Sample(sets.kind.sample) for _ in sets.kind.sides)
    apart: dict[int, Callable[[Record], None]] = {
        TRAIN: partial(_learn_from, sets),
        VALID: sets.valid.append,
        TEST: sets.test.append,
        SURPLUS: lambda _: None,
    }
    for part, record in sets.train.parted(sets.tally):
        apart[part](record)
    _refuse_nothing(sets.train, sets.tally)


def _learn_from(sets: Sets[Record], record: Record) -> None:
    for place, sample in enumerate(sets.samples):
        sample.add(side_of(record, place))
    if isinstance(record, Labelled):
        sets.labels[record.label] += 1
        if len(sets.labels) > MOST_LABELS:  # now: a column of sentences would fill the memory
            check_labels(sets.labels, sets.tally.kept, name_of(sets.train.corpus))
