"""What systems are scored on: sources and references. Knows no torch."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nungil.errors import CorpusError, UsageError
from nungil.records import Labelled, Pair
from nungil.runs.answers import Answers, are_labels, read_side
from nungil.runs.data import DataSettings, open_data
from nungil.runs.kept import kept_records
from nungil.runs.sets import name_of, reasons
from nungil.text.cleaning import CleaningSettings, Tally, clean_labelled, clean_pairs, tidied_record
from nungil.text.corpus import open_corpus
from nungil.text.counts import counted
from nungil.text.languages import Languages, read_tag, tag_of
from nungil.text.opened import Opened
from nungil.text.source import CorpusSettings, Task
from nungil.text.tidy import tidy

if TYPE_CHECKING:
    from nungil.pipeline import Classifier, Translator

Say = Callable[[str], None]
# Sets are scored as they were given: only records without a source or reference are left out.
AS_GIVEN = CleaningSettings(longest_sentence=10**9, longest_text=10**9, length_ratio=1e9, drop_duplicates=False)


@dataclass(frozen=True)
class Places:
    """Where the user says the sentences are: two files, data in a format of training, or nowhere."""

    references: Path | None = None
    sources: Path | None = None
    data: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    task: Task | None = None
    source: str | None = None  # the languages, if given
    target: str | None = None
    encoding: str = "utf-8"


class Asked(NamedTuple):
    """The sentences that all systems answer: references, sources if known, and a name for messages."""

    task: Task
    references: list[str]
    sources: list[str] | None
    languages: Languages
    name: str
    records: Sequence[Pair | Labelled] = ()  # none, if they come from two files
    sources_name: str = ""

    def where(self, number: int) -> str:
        """File and line of a reference."""
        return self._where(number, self.name)

    def where_asked(self, number: int) -> str:
        """File and line of a source."""
        return self._where(number, self.sources_name)

    def _where(self, number: int, file: str) -> str:
        if not self.records:
            return f"{file}:{number + 1}"
        record = self.records[number]
        return f"{record.file}:{record.line}" if record.line else f"{self.name}, {number + 1:,}"


def read_asked(
    places: Places,
    home: Path | None,
    model: "Translator | Classifier | None",
    ready: Mapping[Path, Answers],
    say: Say,
) -> Asked:
    """The sentences to score on: those that were named, else those that the model's run kept."""
    if places.data and (places.references or places.sources):
        raise UsageError("--data contains sources and references; leave out --references and --sources")
    if places.references is not None:
        return _from_files(places, places.references, model, ready, say)
    if places.sources is not None:
        raise UsageError("--sources needs --references FILE")
    if places.data:
        return _from_data(places, model, ready, say)
    if model is None or home is None:
        raise UsageError("answers are scored against references: give --references FILE, or --data FILE")
    kept = kept_records(home, model.config.task)
    if kept is None:
        raise UsageError(f"{home} has kept no test set; give one: --data FILE")
    if kept.name == "validation":
        say("There is no test set. Scores on the validation set, which the model was chosen by, are somewhat too good.")
    languages = Languages(model.config.source, model.config.target)
    return _asked(model.config.task, kept.records, languages, f"the {kept.name} set of {home}")


def read_training(files: Sequence[str], languages: Languages, encoding: str, say: Say) -> list[Pair]:
    """The pairs of training files, source first."""
    opened = _open(DataSettings(train=tuple(files), task="translate", encoding=encoding), languages, say)
    return list(clean_pairs(opened.train.pairs(), CleaningSettings(), Tally()))


def refuse_uneven(path: object, lines: Sequence[str], name: object, references: Sequence[str]) -> None:
    """Refuse a file that has not one line for each reference."""
    if len(lines) != len(references):
        raise CorpusError(
            f"{path}: {counted(len(lines), 'line')} for the {len(references):,} of {name}; "
            "there must be one for each, in the same order"
        )


def _from_files(
    places: Places, references: Path, model: "Translator | Classifier | None", ready: Mapping[Path, Answers], say: Say
) -> Asked:
    right = read_side(references, places.encoding)
    sources = read_side(places.sources, places.encoding) if places.sources is not None else None
    if sources is not None:
        refuse_uneven(places.sources, sources, references, right)
    task = _told_task(places, model, ready)
    if task is None:
        task = "classify" if are_labels(right) else "translate"
        if task == "classify":
            say(
                f"{references} holds {counted(len(set(right)), 'label')}; "
                "--task translate would score them as translations."
            )
    right = list(map(tidy, right)) if task == "classify" else right  # white space around a label does not matter
    languages = _languages(places, model)
    if task == "translate":
        named = Languages(tag_of(str(places.sources or "")), tag_of(str(references)))
        languages = Languages(languages.source or named.source, languages.target or named.target)
    if task == "classify" and "" in right:
        raise CorpusError(f"{references}:{right.index('') + 1}: there is no label in this line")
    return Asked(task, right, sources, languages, str(references), sources_name=str(places.sources))


def _from_data(
    places: Places, model: "Translator | Classifier | None", ready: Mapping[Path, Answers], say: Say
) -> Asked:
    task = _told_task(places, model, ready)
    if task == "translate" and places.task is None:
        _refuse_labels(places)
    reading = DataSettings(train=places.data, columns=places.columns, task=task, encoding=places.encoding)
    opened = _open(reading, _languages(places, model), say)
    corpus, name = opened.train, name_of(opened.train)
    if ready:  # a file of answers has a line for each record, so none may be left out
        raw: list[Any] = list(corpus.pairs() if opened.task == "translate" else corpus.labelled())
        return _asked(opened.task, [tidied_record(record, Counter()) for record in raw], opened.languages, name)
    tally = Tally()
    if opened.task == "translate":
        records: list[Any] = list(clean_pairs(corpus.pairs(), AS_GIVEN, tally))
    else:
        records = list(clean_labelled(corpus.labelled(), AS_GIVEN, tally))
    if not records:
        raise CorpusError(f"{name}: there is nothing in it to score on: {reasons(tally) or 'it is empty'}")
    if tally.dropped:
        say(f"{tally.dropped.total():,} of {counted(tally.read, 'record')} left out: {reasons(tally)}.")
    return _asked(opened.task, records, opened.languages, name)


def _refuse_labels(places: Places) -> None:
    """Labels are no translations to be like, though any two columns can be read as pairs."""
    try:
        corpus = open_corpus(places.data, CorpusSettings(columns=places.columns, encoding=places.encoding))
    except CorpusError:  # which reading it as pairs will say, if that cannot be done either
        return
    if corpus.task == "classify":
        raise CorpusError(
            f"{name_of(corpus)}: texts with labels, by the look of it, and translations are scored on pairs; choose "
            "the two texts with --columns en,ko, or say that these are pairs: --task translate"
        )


def _open(settings: DataSettings, languages: Languages, say: Say) -> Opened:
    """Inspect files, and say how they are read."""
    if settings.task != "classify":
        settings = settings.model_copy(update={"source": languages.source or None, "target": languages.target or None})
    opened = open_data(settings)
    for line in opened.train.describe():
        say(line)
    return opened


def _asked(task: Task, records: Sequence[Any], languages: Languages, name: str) -> Asked:
    asked = Asked(task, [record[1] for record in records], [record[0] for record in records], languages, name, records)
    if task == "classify" and "" in asked.references:
        raise CorpusError(f"{asked.where(asked.references.index(''))}: there is no label in this line")
    return asked


def _told_task(places: Places, model: "Translator | Classifier | None", ready: Mapping[Path, Answers]) -> Task | None:
    """The task of the model, else the one given, else the one that the form of answers shows."""
    if model is not None:
        if places.task not in (None, model.config.task):
            raise UsageError(f"--task {places.task}: but the model's task is to {model.config.task}")
        return model.config.task
    return places.task or next((found.task for found in ready.values() if found.task is not None), None)


def _languages(places: Places, model: "Translator | Classifier | None") -> Languages:
    """The languages given, else those of the model."""
    said = [read_tag(tag) if tag is not None else "" for tag in (places.source, places.target)]
    if model is None:
        return Languages(*said)
    return Languages(said[0] or model.config.source, said[1] or model.config.target)
