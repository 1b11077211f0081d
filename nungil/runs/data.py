"""The data of a run as the user gives it: files for each set, languages, and how much to set aside."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, field_validator

from nungil.errors import CorpusError, UsageError
from nungil.text.opened import Opened, open_sets
from nungil.text.source import CorpusSettings


class DataSettings(CorpusSettings):
    """The `data` section of a recipe."""

    folder: str | None = Field(
        None, description="Folder that file names are relative to; by default the working directory."
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
        None, ge=1, description="Most records to train on, drawn by the seed; smaller draws are parts of larger ones."
    )
    longest: int | None = Field(
        None,
        ge=2,
        le=65_536,
        description="Most tokens of a side; longer pairs are left out, longer texts truncated. By default 256 for "
        "pairs, 1,024 for texts to classify.",
    )

    @field_validator("train", "valid", "test", mode="before")
    @classmethod
    def _one_or_many(cls, given: object) -> object:
        """A single file may be given without a list; paths become names."""
        many = [given] if isinstance(given, str | Path) else given
        return tuple(str(one) if isinstance(one, Path) else one for one in many) if isinstance(many, Sequence) else many

    def placed(self) -> "DataSettings":
        """The same with file names that include `folder`."""
        if self.folder is None:
            return self
        place = Path(self.folder).expanduser()
        if not place.is_dir():
            raise CorpusError(f"{self.folder}: there is no such folder; expected in it: {', '.join(self.train)}")
        files = {name: tuple(str(place / one) for one in getattr(self, name)) for name in ("train", "valid", "test")}
        return self.model_copy(update={**files, "folder": None})


def open_data(data: DataSettings) -> Opened:
    """Inspect every file of a run."""
    _refuse_sizes_beside_files(data)
    data = data.placed()
    held_out = {name: files for name, files in (("test", data.test), ("validation", data.valid)) if files}
    return open_sets(data.train, held_out, data)


def _refuse_sizes_beside_files(data: DataSettings) -> None:
    for name, files, size in (("valid", data.valid, data.valid_size), ("test", data.test, data.test_size)):
        if files and size:
            raise UsageError(f"{name} names files, but {name}_size sets records of train aside; give only one of them")
