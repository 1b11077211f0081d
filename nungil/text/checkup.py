"""Would training on these files work, and what should be looked at first: the noun behind `nungil check`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from pathlib import Path
from typing import Any

from nungil.errors import CorpusError
from nungil.records import Labelled, Pair
from nungil.text.cleaning import CleaningSettings, HeldOut, Tally, clean_labelled, clean_pairs, hold_out
from nungil.text.corpus import Corpus
from nungil.text.counts import counted
from nungil.text.finding import SHOWN
from nungil.text.opened import open_sets
from nungil.text.outlook import outlook
from nungil.text.readers import read_rows
from nungil.text.source import CorpusSettings, Rows, Task
from nungil.text.split import LEAST
from nungil.text.survey import MOST_LABELS, OTHER, Survey, survey

Reject = Callable[[str, Pair | Labelled], None]
FEW = 1_000  # records; below it a model learns by heart
MANY_DROPPED = 0.1
MIXED = 0.25  # share of pairs that are the other way round at which they are no slips
MANY = 2  # texts for each label, on average, below which these are hardly labels
CHOOSE = "is this the column of labels? Choose with --columns text,label"
LOPSIDED = 0.9  # share of the commonest label
SPELLED_OUT = {
    "copies": "the target is the source",
    "swapped": "source and target are probably swapped",
    "source in the script of the target": "the source is written in the script of the target",
    "target in the script of the source": "the target is written in the script of the source: probably untranslated",
    "broken characters": "� stands where bytes could not be read when the file was made",
    "HTML": "HTML stands in the text (`<br />`, `&amp;`), and is learned as if it were words; take it out",
    "one source, several targets": "the source was met before with another target",
    "one text, several labels": "the text was met before with another label",
}
HARMLESS = {"one source, several targets"}  # worth knowing, usual in good corpora


@dataclass(frozen=True)
class Checkup:
    """All that a look at the files found."""

    task: Task
    decisions: tuple[str, ...]
    tally: Tally
    survey: Survey
    held_out: dict[str, Tally]
    faults: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def verdict(self) -> str:
        """One sentence to act on."""
        found = counted(self.survey.records, "pair" if self.task == "translate" else "text")
        if self.faults:
            return f"training on this would fail: {'; '.join(self.faults)}"
        if self.warnings:
            things = "one thing" if len(self.warnings) == 1 else f"{len(self.warnings)} things"
            return f"{found} to train on, and {things} to look at first"
        return f"{found} to train on, and nothing that speaks against it"

    @property
    def outlook(self) -> str | None:
        """What a translator would reach, as far as it has been measured."""
        works = self.task == "translate" and not self.faults
        return outlook(self.survey.records) if works else None

    def to_json(self) -> dict[str, Any]:
        """Plain values, every number of the report."""
        return {
            "verdict": self.verdict,
            "outlook": self.outlook,
            "ok": not self.faults,
            "task": self.task,
            "faults": list(self.faults),
            "warnings": list(self.warnings),
            "decisions": list(self.decisions),
            "tally": self.tally.to_json(),
            "held_out": {name: tally.to_json() for name, tally in self.held_out.items()},
            "survey": self.survey.to_json(),
        }


@dataclass(frozen=True)
class CheckRequest:
    """What to look at: the files to train on, those held out by name, and how to read and clean them."""

    train: Sequence[str | Path]
    held_out: Mapping[str, Sequence[str | Path]] = field(default_factory=dict)
    reading: CorpusSettings = field(default_factory=CorpusSettings)
    cleaning: CleaningSettings = field(default_factory=CleaningSettings)


def check_up(request: CheckRequest, rejected: Reject | None = None) -> Checkup:
    """Read everything once, clean it, survey what is left, and judge."""
    opened = open_sets(request.train, request.held_out, request.reading)
    corpus, look = opened.train, _Look(opened.task, request.cleaning)
    for name, other in opened.held_out.items():
        look.at_held_out(name, other)
    tally = Tally()
    found = survey(look.clean(corpus, tally, rejected), corpus.task, look.others)
    faults = look.faults or list(_faults(found, look.tallies))  # what follows from an unreadable file is no news
    doubts = [doubt.removesuffix(".") for doubt in opened.doubts]
    warnings = [*doubts, *_drops(tally, look.tallies), *_oddities(found), *_label_warnings(found, look.labels)]
    warnings += _how_few(found.records, "validation" not in look.tallies)
    return Checkup(corpus.task, tuple(opened.decisions), tally, found, look.tallies, tuple(faults), tuple(warnings))


@dataclass
class _Look:
    """What has been gathered so far, set by set."""

    task: Task
    cleaning: CleaningSettings
    others: list[HeldOut] = field(default_factory=list)
    tallies: dict[str, Tally] = field(default_factory=dict)
    labels: dict[str, set[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    def at_held_out(self, name: str, corpus: Corpus) -> None:
        """Read a set that training must not see."""
        tally, labels = Tally(), set[str]()
        kept = self.clean(corpus, tally, None)
        self.others.append(hold_out(name, _noting_labels(kept, labels)))
        self.tallies[name], self.labels[name] = tally, labels

    def clean(self, corpus: Corpus, tally: Tally, rejected: Reject | None) -> Iterator[Pair | Labelled]:
        """The records of a corpus that pass. A source that cannot be read to its end is a fault; the next is read."""
        rows = self._readable(corpus)
        if self.task == "translate":
            return clean_pairs(starmap(Pair, rows), self.cleaning, tally, rejected, self.others)
        return clean_labelled(starmap(Labelled, rows), self.cleaning, tally, rejected, self.others)

    def _readable(self, corpus: Corpus) -> Rows:
        for source in corpus.sources:
            try:
                yield from read_rows(source)
            except CorpusError as error:
                self.faults.append(str(error))


def _noting_labels(records: Iterable[Pair | Labelled], labels: set[str]) -> Iterator[Pair | Labelled]:
    for record in records:
        if isinstance(record, Labelled) and len(labels) < MOST_LABELS:
            labels.add(record.label)
        yield record


def _faults(found: Survey, held_out: dict[str, Tally]) -> Iterator[str]:
    if not found.records:
        yield "nothing is left to train on"
    elif found.task == "classify" and len(found.labels) == 1:
        yield f"all texts have the same label, {next(iter(found.labels))!r}"
    elif found.task == "classify" and len(found.labels) == found.records:
        yield f"each of {found.records:,} texts has a label of its own; {CHOOSE}"
    for name, tally in held_out.items():
        if not tally.kept:
            yield f"nothing is left of the {name} set"


def _drops(tally: Tally, held_out: dict[str, Tally]) -> Iterator[str]:
    dropped = tally.dropped.total()
    if dropped > MANY_DROPPED * tally.read:
        yield f"cleaning would drop {dropped:,} of {tally.read:,} ({dropped / tally.read:.0%})"
    for one in (tally, *held_out.values()):
        for reason, finding in one.lacking.items():
            yield f"{finding.count:,} × {reason}: {finding.where()}"
    for reason, count in tally.dropped.items():
        if reason.startswith("in the "):
            yield f"{count:,} of train also stand {reason}, and would be dropped from train"
    for name, other in held_out.items():
        for reason, count in other.dropped.items():
            if reason.startswith("in the "):
                yield f"{count:,} of the {name} set also stand {reason}"


def _oddities(found: Survey) -> Iterator[str]:
    for name, finding in found.findings.items():
        if name in HARMLESS:
            continue
        if name == "swapped" and finding.count > MIXED * found.records:
            yield (
                f"{finding.count:,} of {found.records:,} pairs are the other way round, so that a model would learn "
                f"both directions at once: {finding.where()}"
            )
            continue
        meaning = SPELLED_OUT.get(name, f"the {name.replace(' in ', ' stands in ')}, with another target")
        yield f"{finding.count:,} × {meaning}: {finding.where()}"


def _how_few(records: int, needs_split: bool) -> Iterator[str]:
    counted = f"only {records:,} {'record' if records == 1 else 'records'}"
    if needs_split and 0 < records < LEAST:
        yield f"{counted}: training sets some aside for validation from {LEAST} on, with fewer it needs --valid FILE"
    elif 0 < records < FEW:
        yield f"{counted}; a model learns so few by heart"


def spelled_alike(labels: Iterable[str]) -> Iterator[list[str]]:
    """Labels that people take for one."""
    by_spelling: dict[str, list[str]] = {}
    for label in labels:
        by_spelling.setdefault(" ".join(label.casefold().split()), []).append(label)
    yield from (same for same in by_spelling.values() if len(same) > 1)


def about_many(labels: int, texts: int) -> str:
    """The word on labels of which most stand beside one text only, as numbers that measure something do."""
    return f"{labels:,} labels for {texts:,} texts, so that most of them cannot be learned; {CHOOSE}"


def about_spelling(same: Sequence[str]) -> str:
    """The word on labels that people take for one, and a model for several."""
    return f"labels that differ only in capitals or spaces, and count as several: {', '.join(map(repr, same))}"


def _label_warnings(found: Survey, held_out: dict[str, set[str]]) -> Iterator[str]:
    if found.task != "classify" or not found.records:
        return
    if OTHER in found.labels:
        yield f"more than {MOST_LABELS:,} labels; {CHOOSE}"
    elif MANY * len(found.labels) > found.records:
        yield about_many(len(found.labels), found.records)
    label, count = next(iter(found.labels.items()))
    if count > LOPSIDED * found.records and len(found.labels) > 1:
        yield f"{count / found.records:.1%} have the label {label!r}; saying always that scores as much"
    for same in spelled_alike(found.labels):
        yield about_spelling(same)
    for name, labels in held_out.items():
        unknown = sorted(labels - set(found.labels))
        if unknown and OTHER not in found.labels:
            yield f"the {name} set has labels that train has not: {', '.join(unknown[:SHOWN])}"
