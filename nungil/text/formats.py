"""Which format a file is in, told from its name and its first lines."""

import json
import re
from pathlib import Path
from typing import Literal

from nungil.errors import CorpusError
from nungil.text.declared import width_of
from nungil.text.elements import root_of
from nungil.text.readers.csv import is_separated, told_delimiter
from nungil.text.readers.fasttext import MARK
from nungil.text.source import Format

Shape = Literal["lines", "tsv", "csv", "jsonl", "fasttext"]  # what one file can be; two of "lines" are aligned files
ENDINGS: dict[str, Shape] = {".tsv": "tsv", ".tab": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
UNIT_ENDINGS: dict[str, Format] = {
    **{".tmx": "tmx", ".po": "po"},
    **dict.fromkeys((".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".mxliff", ".txlf"), "xliff"),
}
ROOTS: dict[str, Format] = {"tmx": "tmx", "xliff": "xliff"}
REGULAR = 0.95  # share of lines with as many tabs as the first that makes a file without a telling name a table
PO_BEGINNING = re.compile(r"(?:[ \t]*+(?:#[^\n]*+)?+\r?+\n)*+(?:msgid|msgctxt)[ \t]*\"")


def tell_shape(path: Path, lines: list[str]) -> Shape:
    """The format of a file: what its content cannot be mistaken for, else what its name says, else lines of text."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        raise CorpusError(f"{path}: the file is empty" if not lines else f"{path}: nothing but empty lines")
    if sum(line.startswith(MARK) for line in filled) * 2 > len(filled):  # one without is a mistake to be named
        return "fasttext"
    if _is_object(filled[0]):
        return "jsonl"
    ending = _ending(path)
    if ENDINGS.get(ending) in ("tsv", "csv") and told_delimiter(lines) is not None:
        return "csv"
    if ending == ".json":
        raise CorpusError(f"{path}:1: not JSON Lines; one object per line is expected")
    if ENDINGS.get(ending) == "tsv" and not any("\t" in line for line in filled):
        return "lines"  # train.en.tsv and train.ko.tsv: one column each
    if ending in ENDINGS:
        return ENDINGS[ending]
    tabs = filled[0].count("\t")
    regular = sum(line.count("\t") == tabs for line in filled) >= REGULAR * len(filled)
    return "tsv" if tabs and regular else "lines"


def looks_like_table(path: Path, lines: list[str]) -> bool:
    """Whether a file that is called a table has columns, or objects; its lines are no texts then."""
    if _ending(path) not in ENDINGS or not any(line.strip() for line in lines):
        return False
    shape = tell_shape(path, lines)
    return shape in ("tsv", "jsonl") or (shape == "csv" and is_separated(lines))


def tell_units(path: Path, first: bytes) -> Format | None:
    """Which format with units of translation a file is in, from its beginning or its name; None if in another one."""
    ending = _ending(path)
    if ending == ".pot":
        raise CorpusError(f"{path}: a template has no translations (.pot); give the .po files that were made from it")
    if ending == ".mo":
        raise CorpusError(f"{path}: this is made for programs (.mo); give the .po file that it was made from")
    text = first.decode(width_of(first) or "latin-1", "replace")  # names are in ASCII
    root = root_of(text) if text.lstrip().startswith("<") else ""
    if root in ROOTS:
        return ROOTS[root]
    if ending == ".xml" and root:
        raise CorpusError(f"{path}: XML whose root element is <{root}>; of XML, TMX and XLIFF are read")
    return "po" if PO_BEGINNING.match(text) else UNIT_ENDINGS.get(ending)


def _ending(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def _is_object(line: str) -> bool:
    if not line.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
