"""The head of a table, and what it tells: is there a header, is it for translating or classifying, which columns."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nungil.errors import CorpusError, did_you_mean
from nungil.text.languages import SHORT, language_of
from nungil.text.source import Task

SOURCES = {"source", "src", "input", "original", "source_text", "from", "원문"}
TARGETS = {"target", "tgt", "trg", "output", "translation", "target_text", "to", "번역", "번역문"}
TEXTS = {"text", "document", "sentence", "review", "content", "comment", "body", "tweet", "message", "utterance"}
TEXTS |= {"문장", "리뷰", "내용", "텍스트", "본문"}
LABELS = {"label", "labels", "class", "sentiment", "category", "intent", "polarity", "topic"}
LABELS |= {"라벨", "레이블", "감정", "분류"}
NUMBERING = {"id", "idx", "index", "no", "number", "번호"}
GRADES = {"rating", "stars", "score", "grade", "평점"}  # labels where no column is called one
NAME = re.compile(r"[^\W\d][\w .-]{0,39}")
LONGEST_NAME = 40  # characters
BRACKETS = re.compile(r"\s*[(\[][^()\[\]]*[)\]]$")
NUMBER = re.compile(r"[-+]?\d+(\.\d+)?")
MOST_LABELS = 50  # distinct values, and no more than half of the rows, that still look like labels
LONGEST_LABEL = 40  # characters


@dataclass(frozen=True)
class Table:
    """The first rows of a table, and the names of its columns where they have names."""

    where: str
    names: tuple[str, ...]
    rows: Sequence[Sequence[str]]

    @property
    def width(self) -> int:
        """How many columns most rows of the head have."""
        widths = Counter(len(row) for row in self.rows if any(row))
        return max(widths, key=lambda width: (widths[width], width), default=len(self.names))

    def column(self, place: int) -> list[str]:
        """The values of one column, without the rows that end before it."""
        return [row[place] for row in self.rows if len(row) > place]


def has_header(rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first row holds names: known ones, or words where all other rows have numbers."""
    first = [name.strip().lower() for name in rows[0]] if rows else []
    if len([name for name in first if name]) < 2 or any(len(name) > LONGEST_NAME for name in first):
        return False
    below = Table("", (), rows[1:])
    if _pair_by_name(first) or _names_a_label(first, below):
        return True
    if not all(NAME.fullmatch(name) for name in first if name):
        return False
    return any(_all_numbers(below.column(place)) for place in range(min(len(first), below.width)))


def choose_columns(
    table: Table, task: Task | None, asked: Sequence[str], wanted: Sequence[str] = ()
) -> tuple[Task, tuple[int, int]]:
    """The task, and the places of its two columns: those asked for, else by their names, else by what they hold.

    Of several languages those that are `wanted` are taken, in the order of the table.
    """
    if asked:
        first, second = (_place(table, name) for name in asked)
        return task or _task_of(table, first, second), (first, second)
    names = [name.strip().lower() for name in table.names]
    if table.width < 2:
        raise CorpusError(f"{table.where}: one column only; a text needs its translation or its label beside it")
    names = ["" if name in NUMBERING and _holds_numbers(table, place) else name for place, name in enumerate(names)]
    pair = _pair_by_name(names, wanted)
    if pair is not None and task != "classify":
        return "translate", pair
    if task is None:
        labelled = _label_by_name(names) is not None or _label_among(table, range(2)) is not None
        task = "classify" if labelled else "translate"
    return task, (pair or _first_two(table)) if task == "translate" else _text_and_label(table, names)


def _first_two(table: Table) -> tuple[int, int]:
    """The first two columns that are not numbers from top to bottom, if there are two: numbers of rows come first."""
    texts = [place for place in range(table.width) if not _holds_numbers(table, place)]
    return (texts[0], texts[1]) if len(texts) > 1 else (0, 1)


def _holds_numbers(table: Table, place: int) -> bool:
    return _all_numbers(table.column(place))


def _place(table: Table, name: str) -> int:
    """The place, counted from 0, of a column asked for by name or by number from 1."""
    if name in table.names:
        return table.names.index(name)
    if name.isdecimal() and int(name) >= 1:
        if int(name) > max(table.width, len(table.names)):
            raise CorpusError(f"{table.where}: there is no column {name}; the table has {table.width}")
        return int(name) - 1
    if not table.names:
        raise CorpusError(f"{table.where}: no header, so no column {name!r}; give numbers from 1, or --header")
    raise CorpusError(f"{table.where}: there is no column {name!r}{did_you_mean(name, table.names)}")


def _pair_by_name(names: Sequence[str], wanted: Sequence[str] = ()) -> tuple[int, int] | None:
    bare = [re.sub(r"\s+", "_", BRACKETS.sub("", name)) for name in names]  # `source text (en)`
    sources = [place for place, name in enumerate(bare) if name in SOURCES]
    targets = [place for place, name in enumerate(bare) if name in TARGETS]
    if sources and targets:
        return sources[0], targets[0]
    tagged = [(place, language_of(name)) for place, name in enumerate(names) if language_of(name)]
    tagged.sort(key=lambda one: SHORT.get(one[1], one[1]) not in wanted)  # which keeps their order
    others = [place for place, language in tagged if language != tagged[0][1]]
    return (min(tagged[0][0], others[0]), max(tagged[0][0], others[0])) if others else None


def _label_by_name(names: Sequence[str]) -> int | None:
    found = [place for known in (LABELS, GRADES) for place, name in enumerate(names) if name in known]
    return found[0] if found else None


def _names_a_label(names: Sequence[str], below: Table) -> bool:
    """A label by name, confirmed by its neighbours or values: "Class", "클래스" may be the first pair of a manual."""
    label = _label_by_name(names)
    if label is None:
        return False
    return bool((TEXTS | NUMBERING) & set(names)) or label == _label_among(below, range(below.width))


def _task_of(table: Table, first: int, second: int) -> Task:
    if second < len(table.names) and table.names[second].strip().lower() in LABELS | GRADES:
        return "classify"
    if table.names and _pair_by_name([table.names[first].lower(), table.names[second].lower()]):
        return "translate"
    return "classify" if _label_among(table, (first, second)) is not None else "translate"


def _text_and_label(table: Table, names: Sequence[str]) -> tuple[int, int]:
    """By name; else the label is the column with the fewest values and the text the longest of the others."""
    label = _label_by_name(names)
    if label is None:
        label = _label_among(table, range(table.width))
    if label is None:
        label = 1
    named = (place for place, name in enumerate(names) if name in TEXTS and place != label)
    text = next((place for place in named if _is_filled(table.column(place))), None)
    if text is None:
        others = [place for place in range(table.width) if place != label]
        text = max(others, key=lambda place: sum(map(len, table.column(place))))
    return text, label


def _label_among(table: Table, places: Sequence[int]) -> int | None:
    """The column that looks like labels: short values, few and often the same, and fewer than beside it."""
    found = []
    for place in places:
        values = table.column(place)
        distinct = set(values)
        if not _is_filled(values):
            continue  # remarks on some rows; or nothing, as a delimiter at the end of each line makes it
        if len(distinct) <= min(MOST_LABELS, len(values) // 2) and max(map(len, distinct), default=0) <= LONGEST_LABEL:
            found.append((len(distinct), place))
    most = max((len(set(table.column(place))) for place in places), default=0)
    return min(found)[1] if found and min(found)[0] * 2 <= most else None


def _is_filled(values: Sequence[str]) -> bool:
    return 2 * sum(1 for value in values if value.strip()) >= len(values)


def _all_numbers(values: Sequence[str]) -> bool:
    return len(values) >= 2 and all(NUMBER.fullmatch(value.strip()) for value in values)
