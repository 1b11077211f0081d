"""Tab-separated text without any quoting: `line.split("\\t")`, as corpora of the field are published."""

from nungil.errors import CorpusError
from nungil.text.counts import counted
from nungil.text.files import read_lines
from nungil.text.source import Rows, Source


def read_tsv(source: Source) -> Rows:
    """Rows of a TSV file. An empty line is a row of empty texts, for cleaning to count."""
    (path,) = source.files
    name, (first, second) = str(path), source.columns
    needed, header = max(first, second) + 1, source.header
    for line, text in enumerate(read_lines(path, source.encoding), 1):
        fields = text.split("\t")
        if header and any(fields):
            header = False
        elif len(fields) >= needed:
            yield fields[first], fields[second], name, line
        elif text:
            raise too_few(name, line, len(fields), needed, "tab")
        else:
            yield "", "", name, line


def too_few(name: str, line: int, found: int, needed: int, separator: str) -> CorpusError:
    """The error of a row that ends before the columns asked for."""
    columns = counted(found, "column")
    return CorpusError(f"{name}:{line}: {columns} where {needed} are needed (separated by {separator})")
