"""Answers in a file: translations or labels, one per line, as `nungil translate` and `nungil classify` print them."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from nungil.errors import CorpusError
from nungil.text.files import read_lines
from nungil.text.source import Task
from nungil.text.table import LONGEST_LABEL, MOST_LABELS


class Answers(NamedTuple):
    """A text or label for each line, the probabilities of labels if known, and the task if the form shows it."""

    texts: list[str]
    probabilities: list[float] | None = None
    task: Task | None = None


def read_answers(path: Path, encoding: str = "utf-8") -> Answers:
    """The answers of a file: plain lines; `label<TAB>probability`; or what --json prints."""
    lines = read_side(path, encoding)
    if all(line.startswith("{") or line == "null" for line in lines):
        return _from_json(path, lines)
    cut = [line.rpartition("\t") if line else ("", "\t", "0") for line in lines]  # an empty text has no label
    labelled = [
        tab and _is_probability(number) and bool(label) == bool(line)
        for line, (label, tab, number) in zip(lines, cut, strict=True)
    ]
    if any(lines) and all(labelled):
        return Answers([label for label, _, _ in cut], [float(number) for _, _, number in cut], "classify")
    _refuse_columns(path, lines)
    return Answers(lines)


def _refuse_columns(path: Path, lines: Sequence[str]) -> None:
    """Refuse further columns of `nungil translate`, which would be scored as words."""
    written = [line for line in lines if line]  # an empty text has nothing beside it
    for option, is_printed in PRINTED.items():
        if written and is_printed(written):
            raise CorpusError(
                f"{path}: every line has a column that `nungil translate {option}` prints, which would be scored as "
                f"words of the translation; translate without {option}, or with --json"
            )


def read_side(path: Path, encoding: str = "utf-8") -> list[str]:
    """The lines of a file of references, sources, labels or links."""
    lines = list(read_lines(path, encoding))
    if not lines:
        raise CorpusError(f"{path}: the file is empty")
    return lines


def are_labels(references: Sequence[str]) -> bool:
    """Whether references look like labels: short, and mostly repeated."""
    different = set(references)
    short = all(len(one) <= LONGEST_LABEL for one in different)
    return short and len(different) <= min(MOST_LABELS, len(references) // 2)


def _from_json(path: Path, lines: Sequence[str]) -> Answers:
    objects = [_object(path, number, line) for number, line in enumerate(lines, start=1)]
    told = next((one for one in objects if one), {"label": None})
    kind, task = next(((name, task) for name, task in KINDS.items() if name in told), ("", None))
    none = {"null": ""} if task == "classify" else {}  # an empty text has no label
    texts = [none.get(line, one.get(kind)) for line, one in zip(lines, objects, strict=True)]
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise CorpusError(
                f'{path}:{number}: no "label" or "text" in it; what `nungil classify --json` and `nungil translate '
                "--json` print has one in each line"
            )
    sure = [one.get("probability", 0 if line in none else None) for line, one in zip(lines, objects, strict=True)]
    known = all(isinstance(one, int | float) and not isinstance(one, bool) and 0 <= one <= 1 for one in sure)
    return Answers([str(text) for text in texts], [float(str(one)) for one in sure] if known else None, task)


KINDS: dict[str, Task] = {"label": "classify", "text": "translate"}


def _object(path: Path, number: int, line: str) -> dict[str, object]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise CorpusError(f"{path}:{number}: begins like JSON, but is not JSON") from None
    return found if isinstance(found, dict) else {}


def _is_probability(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1 and not text.startswith("-")  # -0.0000 is a log-probability
    except ValueError:
        return False


def _has_links(lines: Sequence[str]) -> bool:
    """Whether the last column is word links, which may be empty in some lines."""
    found = [LINKED.fullmatch(line) for line in lines]
    return all(found) and any(one["links"] for one in found if one)


def _has_numbers(lines: Sequence[str]) -> bool:
    """Whether the first column is line numbers; empty lines have none."""
    found = [NUMBERED.match(line) for line in lines if line.partition("\t")[0]]
    numbers = [int(one["number"]) for one in found if one]
    return bool(numbers) and len(numbers) == len(found) and numbers == sorted(numbers) and numbers[-1] <= len(lines)


SCORED = re.compile(r".*\t(-\d+(\.\d+)?|0(\.0+)?)")
LINKED = re.compile(r".*\t(?P<links>\d+-\d+( \d+-\d+)*)?")
NUMBERED = re.compile(r"(?P<number>\d{1,9})\t")
PRINTED: dict[str, Callable[[Sequence[str]], bool]] = {
    "--n-best": _has_numbers,
    "--scores": lambda lines: all(map(SCORED.fullmatch, lines)),
    "--align": _has_links,
}
