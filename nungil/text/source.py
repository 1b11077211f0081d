"""One source of records: which files, in which format, and which two of their columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field

from nungil.settings import Settings

Task = Literal["translate", "classify"]
Format = Literal["aligned", "tsv", "csv", "jsonl", "fasttext", "folder", "tmx", "xliff", "po"]
UNITS: tuple[Format, ...] = ("tmx", "xliff", "po")  # formats whose files declare their languages

# What every reader yields: source and target (or text and label), then the file and the line they stand in; of files
# that tell it also why they do not vouch for a pair, or nothing.
Row = tuple[str, str, str, int] | tuple[str, str, str, int, str]
Rows = Iterator[Row]


class CorpusSettings(Settings):
    """How to read files; what is not said is told from their names and content."""

    task: Task | None = Field(None, description="translate (pairs) or classify (labelled texts).")
    format: Format | None = Field(None, description="aligned, tsv, csv, jsonl, fasttext, folder, tmx, xliff or po.")
    columns: tuple[str, ...] = Field(
        (), description="Two columns, by name or by number from 1: source and target, or text and label."
    )
    source: str | None = Field(None, description="Language of the source, such as en; told from names by default.")
    target: str | None = Field(None, description="Language of the target, such as ko; told from names by default.")
    encoding: str = Field("utf-8", description="The encoding of every file.")
    header: bool | None = Field(None, description="Whether the first row of a table holds names.")


@dataclass(frozen=True)
class Source:
    """Everything a reader has to know; nothing of it is left to be guessed."""

    files: tuple[Path, ...]
    format: Format
    encoding: str = "utf-8"
    header: bool = False
    delimiter: str = "\t"
    columns: tuple[int, int] = (0, 1)  # counted from 0
    # The same two by name, where they have names: headers, JSON keys, file endings, languages.
    names: tuple[str, str] = ("", "")

    @property
    def name(self) -> str:
        """The files as one name."""
        return " + ".join(map(str, self.files))

    def describe(self, task: Task) -> str:
        """What was decided, as a sentence for the user."""
        ends = ("source", "target") if task == "translate" else ("text", "label")
        if self.format == "aligned":
            return f"{self.name}: line-aligned files, source first"
        if self.format == "fasttext":
            return f"{self.name}: fastText lines, `__label__x text`"
        if self.format == "folder":
            return f"{self.name}: a folder per label, a document per file"
        parts = [f"{end} from {self._column(place)}" for place, end in enumerate(ends)]
        header = "" if self.format in ("jsonl", *UNITS) else " with a header" if self.header else " without a header"
        return f"{self.name}: {self._kind()}{header}; {', '.join(parts)}"

    def _kind(self) -> str:
        if self.format == "csv" and self.delimiter == "\t":
            return "TSV whose quotes around fields are no text (--format tsv keeps them),"
        return self.format.upper()

    def _column(self, place: int) -> str:
        name, number = self.names[place], self.columns[place] + 1
        if self.format == "jsonl":
            return f'"{name}"'
        if self.format in UNITS:
            return name
        return f"column {number}" + (f" ({name})" if name else "")
