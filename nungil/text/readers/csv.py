"""Quoted CSV: commas, semicolons or tabs between fields, and anything inside quotes, line ends too.

A space after a separator belongs to neither text: `"a, text", "label"` is what many write by hand.
"""

import csv
import re
from collections.abc import Iterator
from functools import partial
from itertools import chain, islice
from pathlib import Path

from nungil.errors import CorpusError
from nungil.text.counts import counted
from nungil.text.files import HEAD_LINES, read_lines
from nungil.text.readers.tsv import too_few
from nungil.text.source import Rows, Source

separated = partial(csv.reader, skipinitialspace=True)
DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
SEPARATOR_LINE = re.compile(r"""(?i)"?sep=(\\t|\t|[^\w\s"])"? *""")  # which Excel reads, and writes for itself

# A field in quotes, those inside it doubled; what is empty or a number may go without, but not all of a record.
FIELD = r'(?:"[^"]*+(?:""[^"]*+)*+"|[-+]?\d*+(?:\.\d++)?+)'
QUOTED_RECORDS = re.compile(rf'(?:(?=[^"\n]*+"|\t*+\n){FIELD}(?:\t{FIELD})*+\n)++')
REGULAR = 0.95  # share of records as wide as the first that no text with commas in it has
UNFINISHED = 20  # lines of a record that may go on beyond those that are looked at


def read_csv(source: Source) -> Rows:
    """Rows of a CSV file, each with the line it begins in."""
    (path,) = source.files
    name, (first, second) = str(path), source.columns
    needed = max(first, second) + 1
    separator = DELIMITERS.get(source.delimiter, source.delimiter)
    width, header = 0, source.header
    for line, fields in csv_records(path, source.delimiter, source.encoding):
        if header and any(fields):
            width, header = len(fields), False
            continue
        width = width or len(fields)
        if any(fields[width:]):  # a separator at the end is nothing
            raise too_many(name, line, len(fields), width, separator)
        if len(fields) >= needed:
            yield fields[first], fields[second], name, line
        elif fields:
            raise too_few(name, line, len(fields), needed, separator)
        else:
            yield "", "", name, line


def too_many(name: str, line: int, found: int, width: int, separator: str) -> CorpusError:
    """The error of a row in which a separator is meant as text: read as it is, words would go to the wrong column."""
    return CorpusError(
        f"{name}:{line}: {counted(found, 'column')} where the first row has {width}; "
        f"a {separator} inside a text needs quotes around that text"
    )


def csv_records(path: Path, delimiter: str, encoding: str) -> Iterator[tuple[int, list[str]]]:
    """Every record and the line it begins in; the line that tells Excel the separator is none."""
    lines = read_lines(path, encoding)
    first = list(islice(lines, 1))
    told = told_delimiter(first) is not None
    reader = separated((text + "\n" for text in chain(first[told:], lines)), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1 + told
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


def told_delimiter(lines: list[str]) -> str | None:
    """The separator that the first line tells Excel, as `sep=;`, or None."""
    found = SEPARATOR_LINE.fullmatch(lines[0]) if lines else None
    return found and found[1].replace(r"\t", "\t")


def sniff_delimiter(lines: list[str]) -> str:
    """The separator that the first line tells; else that which makes most records equally wide; else a comma."""
    if is_quoted_tsv(lines):
        return "\t"
    return told_delimiter(lines) or max(DELIMITERS, key=lambda delimiter: _regularity(lines, delimiter))


def is_separated(lines: list[str]) -> bool:
    """Whether these first lines are records of one width, but for a few."""
    return told_delimiter(lines) is not None or max(_regularity(lines, one)[0] for one in DELIMITERS) >= REGULAR


def is_quoted_tsv(lines: list[str]) -> bool:
    """Whether every text of these first lines stands in quotes, between tabs, in records of one width.

    One that does not, and quotes may be text, as in most TSV: then none is taken off.
    """
    if not lines or '"' not in lines[0]:
        return False
    text = "\n".join(lines) + "\n"
    found = QUOTED_RECORDS.match(text)
    allowed = UNFINISHED if len(lines) == HEAD_LINES else 0
    if found is None or text.count("\n", found.end()) > allowed:
        return False
    share, _ = _regularity(found[0].split("\n")[:-1], "\t")
    return share == 1


def _regularity(lines: list[str], delimiter: str) -> tuple[float, int]:
    """The share of records that are as wide as the first, and that width."""
    try:
        widths = [len(fields) for fields in separated((line + "\n" for line in lines), delimiter=delimiter) if fields]
    except csv.Error:
        return 0.0, 0
    if not widths or widths[0] < 2:
        return 0.0, 0
    return widths.count(widths[0]) / len(widths), widths[0]
