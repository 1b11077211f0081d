"""From a user's files to all that training needs: tokenizers, stores of ids, records to score. Knows no torch."""

import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nungil.batches.build import Built, build_labelled_store, build_pair_store
from nungil.batches.store import Store
from nungil.errors import CorpusError
from nungil.records import Labelled, Pair
from nungil.runs.data import DataSettings, open_data
from nungil.runs.labels import listed, shares
from nungil.runs.sets import PAIRS, TEXTS, Kind, Sets, gather, reasons, side_of
from nungil.text.checkup import MANY, about_many, about_spelling, spelled_alike
from nungil.text.cleaning import CleaningSettings, Record, Tally
from nungil.text.counts import counted
from nungil.text.languages import Languages
from nungil.text.opened import Opened
from nungil.text.source import Task
from nungil.text.tokenizers.base import Ids, Tokenizer
from nungil.text.tokenizers.train import Tokenizers, TokenizerSettings, train_tokenizer, train_tokenizers

# Tokens of a side; attention takes memory by the square of it. Of 38,442 paragraphs of the Python documentation 256
# leaves out 28, of 28,336 Bible verses none; of 23,781 film reviews, which are long, 1,024 leaves out 3 in 100.
LONGEST: dict[Task, int] = {"translate": 256, "classify": 1_024}
FOREIGN = 0.5  # share of unknown tokens from which a text does not fit a tokenizer
TRIED = 2_000  # training texts on which this is checked
GROW = "give the tokenizer a larger size or another unit"
UNITS = {"unigram": "pieces", "bpe": "pieces", "word": "words", "character": "characters"}


@dataclass(frozen=True)
class Prepared:
    """Everything a training run needs."""

    task: Task
    languages: Languages  # for a classifier the target is empty
    tokenizers: Tokenizers  # for a classifier the same one twice
    labels: tuple[str, ...]  # sorted; none for a translator
    train: Store
    valid: Store  # row by row the same as valid_records
    valid_records: list[Pair] | list[Labelled]
    test_records: list[Pair] | list[Labelled]
    tally: Tally  # what cleaning did to the training files
    too_long: dict[str, int]  # records with too many tokens, by set: train, validation, test
    decisions: tuple[str, ...]  # what was decided, a sentence each


class Taken(NamedTuple):
    """What a run takes over from the model that it starts from, instead of learning it from the data."""

    tokenizers: Tokenizers
    labels: tuple[str, ...]


@dataclass(frozen=True)
class _Job:
    """What `prepare` was asked for."""

    opened: Opened
    data: DataSettings
    cleaning: CleaningSettings
    tokenizer: TokenizerSettings
    folder: Path
    seed: int
    taken: Taken | None = None

    @property
    def longest(self) -> int:
        return self.data.longest or LONGEST[self.opened.task]


def prepare(
    data: DataSettings,
    cleaning: CleaningSettings,
    tokenizer: TokenizerSettings,
    folder: Path,
    seed: int,
    opened: Opened | None = None,
    taken: Taken | None = None,
) -> Prepared:
    """Read, clean and split the files, learn tokenizers, and store ids in folder/train and folder/valid.

    Mistakes in the data are found before the stores are written; after an error none is left behind. `opened` is the
    data if it has been inspected already; what is `taken` over from a model is not learned.
    """
    for name in ("train", "valid"):
        if (folder / name).exists():
            raise CorpusError(f"{folder / name}: exists already; a store is never overwritten")
    job = _Job(opened or open_data(data), data, cleaning, tokenizer, folder, seed % 2**63, taken)
    return _prepare_pairs(job) if job.opened.task == "translate" else _prepare_texts(job)


def _prepare_pairs(job: _Job) -> Prepared:
    sets = _gather(job, PAIRS)
    taken = job.taken
    tokenizers = taken.tokenizers if taken else train_tokenizers(sets.samples[0], sets.samples[1], job.tokenizer)

    def store(pairs: Iterable[Pair], name: str) -> Built:
        return build_pair_store(pairs, tokenizers, job.folder / name, longest=job.longest)

    return _finish(job, sets, tokenizers, store)


def _prepare_texts(job: _Job) -> Prepared:
    sets = _gather(job, TEXTS)
    tokenizer = job.taken.tokenizers.source if job.taken else train_tokenizer(sets.samples[0], job.tokenizer)
    labels = _labels(job, sets)

    def store(texts: Iterable[Labelled], name: str) -> Built:
        return build_labelled_store(texts, tokenizer, labels, job.folder / name, longest=job.longest)

    return _finish(job, sets, Tokenizers(tokenizer, tokenizer), store)


def _gather(job: _Job, kind: Kind[Record]) -> Sets[Record]:
    return gather(job.opened, kind, job.data, job.cleaning, job.seed)


def _finish(
    job: _Job, sets: Sets[Record], tokenizers: Tokenizers, store: Callable[[Iterable[Record], str], Built]
) -> Prepared:
    """Check the tokenizers on every set, then store the ids."""
    _try_on_train(sets, tokenizers, "train with a new tokenizer" if job.taken else GROW)
    valid, valid_too_long = _fitting("validation", sets, tokenizers, job.longest)
    test, test_too_long = _fitting("test", sets, tokenizers, job.longest)
    try:
        built = {"valid": store(valid, "valid"), "train": store(sets.train, "train")}
    except BaseException:
        shutil.rmtree(job.folder / "valid", ignore_errors=True)
        raise
    too_long = {"train": built["train"].too_long, "validation": valid_too_long, "test": test_too_long}
    return Prepared(
        task=job.opened.task,
        languages=job.opened.languages,
        tokenizers=tokenizers,
        labels=_labels(job, sets),
        train=built["train"].store,
        valid=built["valid"].store,
        valid_records=valid,  # type: ignore[arg-type]  # a list of Record is a list of one of the two
        test_records=test,  # type: ignore[arg-type]
        tally=sets.tally,
        too_long=too_long,
        decisions=(*_decisions(job, sets, tokenizers, too_long), *_about_cutting(job, sets.kind, built["train"].store)),
    )


def _labels(job: _Job, sets: Sets[Record]) -> tuple[str, ...]:
    """The labels of train; if a run starts from a model, those of the model, which must include them."""
    if job.taken is None:
        return tuple(sorted(sets.labels))
    new = sorted(set(sets.labels) - set(job.taken.labels))
    if new:
        raise CorpusError(
            f"the model to start from does not have {listed(new)}; it has {listed(list(job.taken.labels))}"
        )
    return job.taken.labels


def _try_on_train(sets: Sets[Record], tokenizers: Tokenizers, cure: str) -> None:
    """Refuse tokenizers that do not know most of train: too small, or from a model for other texts."""
    for side, tokenizer, sample in zip(sets.kind.sides, tokenizers, sets.samples, strict=False):
        ids = tokenizer.encode_many(sample.texts[:: max(1, len(sample.texts) // TRIED)])
        share = _share_unknown(tokenizer, ids)
        if share >= FOREIGN:
            raise CorpusError(f"{_unknown(share, side, 'train')} to a tokenizer of {tokenizer.size:,}; {cure}")


def _fitting(name: str, sets: Sets[Record], tokenizers: Tokenizers, longest: int) -> tuple[list[Record], int]:
    """The records of a set that are short enough, and the number of others. Refuses files that are mostly unknown."""
    records = sets.records(name)
    fits = np.ones(len(records), np.bool_)
    for place, side in enumerate(sets.kind.sides):
        ids = tokenizers[place].encode_many([side_of(record, place) for record in records])
        _judge(_share_unknown(tokenizers[place], ids), side, name, sets)
        if sets.kind is not TEXTS:  # longer texts are truncated instead
            fits &= ids.lengths <= longest
    if records and not fits.any():
        raise CorpusError(f"nothing is left of the {name} set: every record has more than {counted(longest, 'token')}")
    return [record for record, short in zip(records, fits, strict=True) if short], int(np.count_nonzero(~fits))


def _judge(share: float, side: str, name: str, sets: Sets[Record]) -> None:
    """If most tokens are unknown: a given set is refused as the wrong files, a part of train noted as too small."""
    if share < FOREIGN:
        return
    unknown = f"{_unknown(share, side, f'the {name} set')} to the tokenizer that was learned from train"
    if name in sets.given:
        raise CorpusError(
            f"{unknown}; are the columns swapped there (--columns), is it in another language, or is train too small?"
        )
    sets.decisions.append(f"{unknown}: train is small for it.")


def _unknown(share: float, side: str, name: str) -> str:
    where = name if side == "text" else f"the {side} side of {name}"
    return f"{share:.0%} of the tokens of {where} are unknown"


def _share_unknown(tokenizer: Tokenizer, ids: Ids) -> float:
    return tokenizer.unknown(ids.flat) / max(1, len(ids.flat))


def _decisions(job: _Job, sets: Sets[Record], tokenizers: Tokenizers, too_long: dict[str, int]) -> Iterator[str]:
    kind = sets.kind
    yield from (*job.opened.decisions, *job.opened.doubts)
    yield _about_cleaning(kind, sets.tally)
    yield from sets.decisions
    if sets.labels:
        yield f"{shares(sets.labels)}."
        if MANY * len(sets.labels) > sets.labels.total():
            yield f"Note: {about_many(len(sets.labels), sets.labels.total())}."
        for same in spelled_alike(sets.labels):
            yield f"Note: {about_spelling(same)}."
        missing = sorted(set(sets.labels) - {record[1] for record in sets.valid})
        if missing:
            yield f"The validation set has no text with {listed(missing)}, so it cannot tell how well that is learned."
    yield _about_tokenizers(kind, tokenizers, job.tokenizer)
    for name, count in too_long.items():
        if count:
            of = "" if name == "train" else f" of the {name} set"
            most = counted(job.longest, "token")
            yield f"Too long for training (more than {most}): {kind.count(count)}{of} left out."


def _about_cutting(job: _Job, kind: Kind[Record], train: Store) -> list[str]:
    """Long texts to classify are truncated."""
    if kind is not TEXTS:
        return []
    full = int(np.count_nonzero(train.columns["source"].lengths() == job.longest))
    return [f"Of longer texts the first {job.longest:,} tokens are read: {kind.count(full)}."] if full else []


def _about_cleaning(kind: Kind[Record], tally: Tally) -> str:
    mended = ", ".join(f"{repair} {count:,}" for repair, count in tally.changed.most_common())
    more = f" Mended: {mended}." if mended else ""
    if not tally.dropped:
        return f"Cleaning left all {kind.count(tally.read)}.{more}"
    return f"Cleaning left {tally.kept:,} of {kind.count(tally.read)}: {reasons(tally)}.{more}"


def _about_tokenizers(kind: Kind[Record], tokenizers: Tokenizers, settings: TokenizerSettings) -> str:
    unit, (first, second) = settings.unit, (f"{tokenizer.size:,}" for tokenizer in tokenizers)
    if len(kind.sides) == 1:
        return f"Tokenizer: {unit}, {first} {UNITS[unit]}."
    why = "as asked" if settings.joint is not None else "the same letters" if tokenizers.joint else "other letters"
    if tokenizers.joint:
        return f"Tokenizer: {unit}, {first} {UNITS[unit]} for both sides ({why})."
    return f"Tokenizers: {unit}, {first} {UNITS[unit]} for the source and {second} for the target ({why})."
