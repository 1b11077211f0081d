"""The data of a run as the user names it: files for each set, languages, and how much to set aside."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import Field, field_validator

from nungil.errors import CorpusError, UsageError
from nungil.text.corpus import Corpus, open_corpus
from nungil.text.direction import asked_languages, directed, languages_of
from nungil.text.languages import Languages
from nungil.text.source import CorpusSettings, Task

TABLES = ("tsv", "csv")


class DataSettings(CorpusSettings):
    """The `data` section of a recipe."""

    folder: str | None = Field(
        None, description="Folder that the files are looked for in; by default where the command is run."
    )
    train: tuple[str, ...] = Field(min_length=1, description="Files, folders and globs to train on.")
    valid: tuple[str, ...] = Field((), description="The validation set; by default a part of train is set aside.")
    test: tuple[str, ...] = Field((), description="The test set; if neither is given, a part of train is set aside.")
    valid_size: int | None = Field(
        None, ge=1, description="Records set aside for validation; by default 5%, at most 1,000 pairs or 4,000 texts."
    )
    test_size: int | None = Field(
        None, ge=0, description="Records set aside as a test set; by default 5%, at most 1,000 pairs or 4,000 texts."
    )
    train_size: int | None = Field(
        None, ge=1, description="Records to train on at most, drawn by the seed; the fewer are part of the more."
    )
    longest: int | None = Field(
        None,
        ge=2,
        le=65_536,
        description="Tokens of a side; longer records are left out and counted. By default 256 for pairs, 1,024 for "
        "texts to classify.",
    )

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _one_or_many(cls, given: object) -> object:
        """`train: pairs.tsv` is as good as a list of one; paths are as good as their names."""
        many = [given] if isinstance(given, str | Path) else given
        return tuple(str(one) if isinstance(one, Path) else one for one in many) if isinstance(many, Sequence) else many

    def placed(self) -> "DataSettings":
        """The same with every file named from where the command is run."""
        if self.folder is None:
            return self
        place = Path(self.folder).expanduser()
        if not place.is_dir():
            raise CorpusError(f"{self.folder}: there is no such folder; it is to hold {', '.join(self.train)}")
        files = {name: tuple(str(place / one) for one in getattr(self, name)) for name in ("train", "valid", "test")}
        return self.model_copy(update={**files, "folder": None})


@dataclass(frozen=True)
class Opened:
    """The files of every set, of which nothing is left to guess, and not a record read."""

    task: Task
    languages: Languages
    train: Corpus
    held_out: dict[str, Corpus]  # "test", then "validation", which may not hold the test: where files were given

    @property
    def decisions(self) -> list[str]:
        """How each file will be read, and between which languages."""
        corpora = [self.train, *reversed(self.held_out.values())]  # validation before test, as they are used
        return [*(line for corpus in corpora for line in corpus.describe()), *self._about_languages()]

    def _about_languages(self) -> list[str]:
        if self.task == "classify":
            return []
        if all(self.languages):
            return [f"From {self.languages.source} to {self.languages.target}."]
        return ["The names of files and columns do not tell both languages; say them with --from and --to."]


def open_data(data: DataSettings) -> Opened:
    """Look into every file, and settle the task, the columns and the languages."""
    _refuse_sizes_beside_files(data)
    data = data.placed()
    asked = asked_languages(data)
    train = open_corpus(data.train, data)
    reading = data.model_copy(update={"task": train.task})
    given = {name: files for name, files in (("test", data.test), ("validation", data.valid)) if files}
    held_out = {name: _read_alike(open_corpus(files, reading), train) for name, files in given.items()}
    if train.task == "classify":
        if asked.target:
            raise UsageError(f"labels have no language; leave out --to {data.target}")
        return Opened(train.task, asked, train, held_out)
    languages = languages_of(train, data)
    held_out = {name: directed(corpus, languages, data) for name, corpus in held_out.items()}
    return Opened(train.task, languages, directed(train, languages, data), held_out)


def _refuse_sizes_beside_files(data: DataSettings) -> None:
    for name, files, size in (("valid", data.valid, data.valid_size), ("test", data.test, data.test_size)):
        if files and size:
            raise UsageError(f"{name} names files and {name}_size sets records of train aside; give one of the two")


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
