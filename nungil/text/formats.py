"""Which format a file is in, told from its name and its first lines."""

import json
from pathlib import Path
from typing import Literal

from nungil.errors import CorpusError
from nungil.text.readers.fasttext import MARK

Shape = Literal["lines", "tsv", "csv", "jsonl", "fasttext"]  # what one file can be; two of "lines" are aligned files
ENDINGS: dict[str, Shape] = {".tsv": "tsv", ".tab": "tsv", ".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl"}
REGULAR = 0.95  # share of lines with as many tabs as the first that makes a file without a telling name a table


def tell_shape(path: Path, lines: list[str]) -> Shape:
    """The format of a file: what its content cannot be mistaken for, else what its name says, else lines of text."""
    filled = [line for line in lines if line.strip()]
    if not filled:
        raise CorpusError(f"{path}: the file is empty" if not lines else f"{path}: nothing but empty lines")
    if sum(line.startswith(MARK) for line in filled) * 2 > len(filled):  # one without is a mistake to be named
        return "fasttext"
    if _is_object(filled[0]):
        return "jsonl"
    ending = Path(path.name.removesuffix(".gz")).suffix.lower()
    if ending == ".json":
        raise CorpusError(f"{path}:1: not JSON Lines; one object per line is expected")
    if ENDINGS.get(ending) == "tsv" and not any("\t" in line for line in filled):
        return "lines"  # train.en.tsv and train.ko.tsv: one column each
    if ending in ENDINGS:
        return ENDINGS[ending]
    tabs = filled[0].count("\t")
    regular = sum(line.count("\t") == tabs for line in filled) >= REGULAR * len(filled)
    return "tsv" if tabs and regular else "lines"


def _is_object(line: str) -> bool:
    if not line.lstrip().startswith("{"):
        return False
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
