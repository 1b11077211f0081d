"""Opened: the files of every set, looked into. Of how they are read nothing is left to guess; no record is read yet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nungil.errors import UsageError
from nungil.text.corpus import Corpus, open_corpus
from nungil.text.direction import asked_languages, languages_of, odd_letters, turned, turned_by_letters
from nungil.text.languages import Languages, remark_on
from nungil.text.source import CorpusSettings, Task

TABLES = ("tsv", "csv")
Files = Sequence[str | Path]


@dataclass(frozen=True)
class Opened:
    """What there is to train on, and what is held out: by the names "test" and "validation", if files were given."""

    task: Task
    languages: Languages
    train: Corpus
    held_out: dict[str, Corpus]

    @property
    def decisions(self) -> list[str]:
        """How each file will be read, and between which languages."""
        corpora = [self.train, *reversed(self.held_out.values())]  # validation before test, as they are used
        return [*(line for corpus in corpora for line in corpus.describe()), *self._about_languages()]

    @property
    def doubts(self) -> list[str]:
        """What speaks against the languages, but not so that it must be a mistake."""
        return list(odd_letters(self.train.sources[0], self.languages)) if self.task == "translate" else []

    def _about_languages(self) -> list[str]:
        if self.task == "classify":
            return []
        if all(self.languages):
            remarks = (remark_on(name) for source in self.train.sources for name in source.names)
            return [
                f"From {self.languages.source} to {self.languages.target}.",
                *filter(None, dict.fromkeys(remarks)),
            ]
        return ["The names of files and columns do not tell both languages; say them with --from and --to."]


def open_sets(train_files: Files, held_out_files: Mapping[str, Files], settings: CorpusSettings) -> Opened:
    """Look into every file, and settle the task, the columns and the languages.

    `held_out_files` has the test before the validation, which may not hold the test.
    """
    asked = asked_languages(settings)  # what is no language is said before anything is read
    train = open_corpus(train_files, settings)
    reading = settings.model_copy(update={"task": train.task})
    held_out = {name: _read_alike(open_corpus(files, reading), train) for name, files in held_out_files.items()}
    if train.task == "classify":
        if asked.target:
            raise UsageError(f"labels have no language; leave out --to {settings.target}")
        return Opened(train.task, asked, train, held_out)
    languages = languages_of(train, settings)
    corpora = [turned(corpus, languages, settings) for corpus in (train, *held_out.values())]
    train, *others = turned_by_letters(corpora, languages, settings)
    return Opened(train.task, languages, train, dict(zip(held_out, others, strict=True)))


def _read_alike(corpus: Corpus, train: Corpus) -> Corpus:
    """A table without a header is read by the columns of train: a few rows tell less than many."""
    like = train.sources[0]
    if like.format not in TABLES or like.header:
        return corpus
    sources = (
        replace(source, columns=like.columns) if source.format == like.format and not source.header else source
        for source in corpus.sources
    )
    return Corpus(corpus.task, tuple(sources))
