"""The data of a run as the user names it: files for each set, languages, and how much to set aside."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, field_validator

from nungil.errors import CorpusError, UsageError
from nungil.text.opened import Opened, open_sets
from nungil.text.source import CorpusSettings


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


def open_data(data: DataSettings) -> Opened:
    """Look into every file of a run."""
    _refuse_sizes_beside_files(data)
    data = data.placed()
    held_out = {name: files for name, files in (("test", data.test), ("validation", data.valid)) if files}
    return open_sets(data.train, held_out, data)


def _refuse_sizes_beside_files(data: DataSettings) -> None:
    for name, files, size in (("valid", data.valid, data.valid_size), ("test", data.test, data.test_size)):
        if files and size:
            raise UsageError(f"{name} names files and {name}_size sets records of train aside; give one of the two")
