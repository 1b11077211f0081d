"""The one door to text: files, folders and globs in, records out, and what was decided about them said."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path

from nungil.errors import CorpusError, UsageError
from nungil.records import Labelled, Pair
from nungil.text.discovery import align, expand, look_into
from nungil.text.files import check_encoding
from nungil.text.readers import read_rows
from nungil.text.source import CorpusSettings, Rows, Source, Task


@dataclass(frozen=True)
class Corpus:
    """Sources that hold the same kind of record."""

    task: Task
    sources: tuple[Source, ...]

    def describe(self) -> list[str]:
        """What was decided about each source, a sentence each."""
        return [source.describe(self.task) for source in self.sources]

    def rows(self) -> Rows:
        """Plain rows, source after source."""
        for source in self.sources:
            yield from read_rows(source)

    def pairs(self) -> Iterator[Pair]:
        """The records of a corpus to translate."""
        return starmap(Pair, self.rows())

    def labelled(self) -> Iterator[Labelled]:
        """The records of a corpus to classify."""
        return starmap(Labelled, self.rows())


def read_pairs(files: Iterable[str | Path], settings: CorpusSettings | None = None) -> Iterator[Pair]:
    """Pairs from files, folders and globs."""
    settings = (settings or CorpusSettings()).model_copy(update={"task": "translate"})
    return open_corpus(files, settings).pairs()


def read_labelled(files: Iterable[str | Path], settings: CorpusSettings | None = None) -> Iterator[Labelled]:
    """Labelled texts from files, folders and globs."""
    settings = (settings or CorpusSettings()).model_copy(update={"task": "classify"})
    return open_corpus(files, settings).labelled()


def open_corpus(files: Iterable[str | Path], settings: CorpusSettings | None = None) -> Corpus:
    """Look into every file and decide how to read it. Whatever is wrong with any of them is named at once."""
    settings = settings or CorpusSettings()
    check_encoding(settings.encoding)
    if len(settings.columns) not in (0, 2):
        raise UsageError("--columns takes two, by name or by number: --columns en,ko or --columns 2,3")
    if len(set(settings.columns)) == 1:
        raise UsageError(f"--columns {settings.columns[0]},{settings.columns[0]} names one column twice")
    if "0" in settings.columns:
        raise UsageError("--columns counts from 1")
    opened: list[tuple[Task, Source]] = []
    lines: list[Path] = []
    faults: list[str] = []
    for path in expand(files):
        try:
            found = look_into(path, settings)
        except CorpusError as error:
            faults.append(str(error))
            continue
        if found is None:
            lines.append(path)
        else:
            opened.append(found)
    if faults:
        raise CorpusError("\n".join(faults))
    opened += [("translate", source) for source in align(lines, settings)]
    return _of_one_task(opened, settings.task)


def _of_one_task(opened: Sequence[tuple[Task, Source]], asked: Task | None) -> Corpus:
    if not opened:
        raise UsageError("no files; give at least one")
    task, first = opened[0]
    for other, source in opened:
        if asked is not None and other != asked:
            held = "pairs of sentences" if other == "translate" else "labelled texts"
            raise CorpusError(f"{source.name}: holds {held}; that is not data to {asked}")
        if other != task:
            raise CorpusError(
                f"{first.name} looks like data to {task} and {source.name} like data to {other}; "
                "give --task, or --columns"
            )
    return Corpus(task, tuple(source for _, source in opened))
