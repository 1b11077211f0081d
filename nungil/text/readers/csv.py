"""Quoted CSV: commas, semicolons or tabs between fields, and anything inside quotes, line ends too."""

import csv
from collections.abc import Iterator
from pathlib import Path

from nungil.errors import CorpusError
from nungil.text.files import read_lines
from nungil.text.readers.tsv import too_few
from nungil.text.source import Rows, Source

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}


def read_csv(source: Source) -> Rows:
    """Rows of a CSV file, each with the line it begins in."""
    (path,) = source.files
    name, (first, second) = str(path), source.columns
    needed = max(first, second) + 1
    rows = csv_records(path, source.delimiter, source.encoding)
    width = 0
    for line, fields in rows:
        width = width or len(fields)
        if len(fields) > width:
            raise too_many(name, line, len(fields), width, DELIMITERS[source.delimiter])
        if line == 1 and source.header:
            continue
        if len(fields) >= needed:
            yield fields[first], fields[second], name, line
        elif fields:
            raise too_few(name, line, len(fields), needed, DELIMITERS[source.delimiter])
        else:
            yield "", "", name, line


def too_many(name: str, line: int, found: int, width: int, separator: str) -> CorpusError:
    """The error of a row in which a separator is meant as text: read as it is, words would go to the wrong column."""
    return CorpusError(
        f"{name}:{line}: {found} columns where the first row has {width}; "
        f"a {separator} inside a text needs quotes around that text"
    )


def csv_records(path: Path, delimiter: str, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """Every record and the line it begins in."""
    lines = (text + "\n" for text in read_lines(path, encoding))
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise CorpusError(f"{path}:{line}: {_reason(str(error))}") from None


def _reason(message: str) -> str:
    if "unexpected end of data" in message:
        return "a quote opens here and is never closed"
    if "field larger" in message:
        return f"a field of more than {csv.field_size_limit():,} characters; is a quote left open?"
    if "expected after" in message:
        return 'text follows a closing quote; a quote inside a quoted field is written twice, as in "a ""b"" c"'
    return f"not CSV: {message}"


def sniff_delimiter(lines: list[str]) -> str:
    """The separator that gives most records the same number of columns, at least two; a comma when none does."""
    return max(DELIMITERS, key=lambda delimiter: _regularity(lines, delimiter))


def _regularity(lines: list[str], delimiter: str) -> tuple[float, int]:
    """The share of records that are as wide as the first, and that width."""
    try:
        widths = [len(fields) for fields in csv.reader((line + "\n" for line in lines), delimiter=delimiter) if fields]
    except csv.Error:
        return 0.0, 0
    if not widths or widths[0] < 2:
        return 0.0, 0
    return widths.count(widths[0]) / len(widths), widths[0]
