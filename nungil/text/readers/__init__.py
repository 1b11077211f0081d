"""A reader per format. A new format is one file here and one line in a table below."""

from collections.abc import Callable, Iterator
from pathlib import Path

from nungil.text.readers.aligned import read_aligned
from nungil.text.readers.csv import read_csv
from nungil.text.readers.fasttext import read_fasttext
from nungil.text.readers.folder import read_folder
from nungil.text.readers.jsonl import read_jsonl
from nungil.text.readers.po import po_units
from nungil.text.readers.tmx import tmx_units
from nungil.text.readers.tsv import read_tsv
from nungil.text.readers.xliff import xliff_units
from nungil.text.source import Format, Rows, Source
from nungil.text.units import Unit, rows_of

READERS: dict[Format, Callable[[Source], Rows]] = {
    "aligned": read_aligned,
    "tsv": read_tsv,
    "csv": read_csv,
    "jsonl": read_jsonl,
    "fasttext": read_fasttext,
    "folder": read_folder,
}
# Those that hold units of translation: path and encoding in, units out.
UNIT_READERS: dict[Format, Callable[[Path, str], Iterator[Unit]]] = {
    "tmx": tmx_units,
    "xliff": xliff_units,
    "po": po_units,
}


def read_rows(source: Source) -> Rows:
    """The rows of a source, by the reader of its format."""
    if source.format in UNIT_READERS:
        return rows_of(source, UNIT_READERS[source.format](source.files[0], source.encoding))
    return READERS[source.format](source)
