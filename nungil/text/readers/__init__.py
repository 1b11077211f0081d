"""A reader per format. A new format is one file here and one line in the table below."""

from collections.abc import Callable

from nungil.text.readers.aligned import read_aligned
from nungil.text.readers.csv import read_csv
from nungil.text.readers.fasttext import read_fasttext
from nungil.text.readers.folder import read_folder
from nungil.text.readers.jsonl import read_jsonl
from nungil.text.readers.tsv import read_tsv
from nungil.text.source import Format, Rows, Source

READERS: dict[Format, Callable[[Source], Rows]] = {
    "aligned": read_aligned,
    "tsv": read_tsv,
    "csv": read_csv,
    "jsonl": read_jsonl,
    "fasttext": read_fasttext,
    "folder": read_folder,
}


def read_rows(source: Source) -> Rows:
    """The rows of a source, by the reader of its format."""
    return READERS[source.format](source)
