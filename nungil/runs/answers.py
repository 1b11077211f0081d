"""Answers in a file: translations or labels, a line each, as `nungil translate` and `nungil classify` print them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from nungil.errors import CorpusError
from nungil.text.files import read_lines
from nungil.text.source import Task
from nungil.text.table import LONGEST_LABEL, MOST_LABELS


class Answers(NamedTuple):
    """A text or label for each line, the probabilities of labels where they are known, and what they are if told."""

    texts: list[str]
    probabilities: list[float] | None = None
    task: Task | None = None


def read_answers(path: Path, encoding: str = "utf-8") -> Answers:
    """The answers of a file: plain lines; `label<TAB>probability`; or what --json prints."""
    lines = read_side(path, encoding)
    if all(line.startswith("{") or line == "null" for line in lines):
        return _from_json(path, lines)
    cut = [line.rpartition("\t") for line in lines]
    if all(tab and label and _is_probability(number) for label, tab, number in cut):
        return Answers([label for label, _, _ in cut], [float(number) for _, _, number in cut], "classify")
    return Answers(lines)


def read_side(path: Path, encoding: str = "utf-8") -> list[str]:
    """The lines of a file of references, sources, labels or links."""
    lines = list(read_lines(path, encoding))
    if not lines:
        raise CorpusError(f"{path}: the file is empty")
    return lines


def are_labels(references: Sequence[str]) -> bool:
    """Whether references look like labels: short, and few for so many lines."""
    different = set(references)
    short = all(len(one) <= LONGEST_LABEL for one in different)
    return short and len(different) <= min(MOST_LABELS, len(references) // 2)


def _from_json(path: Path, lines: Sequence[str]) -> Answers:
    objects = [_object(path, number, line) for number, line in enumerate(lines, start=1)]
    kind, task = next(((name, task) for name, task in KINDS.items() if name in objects[0]), ("", None))
    texts = [one.get(kind) for one in objects]
    for number, text in enumerate(texts, start=1):
        if not isinstance(text, str):
            raise CorpusError(
                f'{path}:{number}: no "label" or "text" in it; what `nungil classify --json` and `nungil translate '
                "--json` print has one in each line"
            )
    sure = [one.get("probability") for one in objects]
    known = all(isinstance(one, int | float) and not isinstance(one, bool) and 0 <= one <= 1 for one in sure)
    return Answers([str(text) for text in texts], [float(str(one)) for one in sure] if known else None, task)


KINDS: dict[str, Task] = {"label": "classify", "text": "translate"}


def _object(path: Path, number: int, line: str) -> dict[str, object]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise CorpusError(f"{path}:{number}: begins like JSON, but is none") from None
    return found if isinstance(found, dict) else {}


def _is_probability(text: str) -> bool:
    try:
        return 0 <= float(text) <= 1
    except ValueError:
        return False
