"""What is in a corpus: one pass over cleaned records, in memory that does not grow with them (but for `Seen`)."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nungil.records import Labelled, Pair
from nungil.text.cleaning import HeldOut, Record, batches, record_hashes, text_hashes
from nungil.text.finding import Finding
from nungil.text.lengths import Lengths, Padding, measure, suggest_padding
from nungil.text.scripts import SCRIPTS, ScriptTable
from nungil.text.seen import Seen
from nungil.text.source import Task

MOST_LABELS = 1_000  # past it labels are counted together: this is not a column of labels
OTHER = "(other labels)"
Batch = Sequence[Pair | Labelled]
BROKEN = "\ufffd"  # what a decoder writes for bytes that it could not read
# Of HTML only what hardly any text has by itself: `<pad>`, `<name>` and "AT&T" are words of their fields.
ELEMENTS = "a|b|i|u|p|br|hr|em|ul|ol|li|td|tr|th|div|img|sub|sup|span|font|strong|table|h[1-6]|blockquote"
HTML = re.compile(
    rf"</?(?:{ELEMENTS})(?:\s[^<>]*+)?/?>|&(?:amp|lt|gt|quot|apos|nbsp|#\d{{1,7}}|#x[\da-f]{{1,6}});", re.IGNORECASE
)


@dataclass(frozen=True)
class ColumnSurvey:
    """One column: how long its texts are in words and characters, and which scripts they are written in."""

    name: str
    words: Lengths
    characters: Lengths
    padding: Padding
    scripts: dict[str, int]

    @property
    def main_script(self) -> str:
        """The script that most texts are written in."""
        return max(self.scripts, key=lambda script: self.scripts[script], default="none")


@dataclass(frozen=True)
class Survey:
    """The records that training would see."""

    task: Task
    records: int
    columns: tuple[ColumnSurvey, ...]
    findings: dict[str, Finding]
    labels: dict[str, int]

    def to_json(self) -> dict[str, Any]:
        """Plain values: lists where records have tuples."""
        plain: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return plain


def survey(records: Iterable[Record], task: Task, held_out: Sequence[HeldOut] = ()) -> Survey:
    """Look at every record once."""
    surveyor = Surveyor(task, held_out)
    for _ in surveyor.watch(records):
        pass
    return surveyor.result()


class Surveyor:
    """The counters of a survey, for callers that want to see the records go by."""

    def __init__(self, task: Task, held_out: Sequence[HeldOut] = ()) -> None:
        self._task = task
        self._held_out = held_out
        self._names = ("source", "target") if task == "translate" else ("text",)
        self._columns = [_Column(name) for name in self._names]
        self._scripts = ScriptTable()
        self._findings: dict[str, Finding] = {}
        self._labels: Counter[str] = Counter()
        self._directions = np.zeros((len(SCRIPTS), len(SCRIPTS)), np.int64)  # pairs, by the scripts of both sides
        self._firsts, self._records = Seen(), Seen()
        self._count = 0

    def watch(self, records: Iterable[Record]) -> Iterator[Record]:
        """Hand the records on, having counted them."""
        for batch in batches(records):
            self._count += len(batch)
            firsts, seconds = [row[0] for row in batch], [row[1] for row in batch]
            if self._task == "translate":
                self._look_at_pairs(batch, firsts, seconds)
            else:
                self._look_at_labels(batch, firsts, seconds)
            self._look_at_repeats(batch)
            yield from batch

    def result(self) -> Survey:
        """What has been seen so far."""
        translating = self._task == "translate"
        columns = tuple(column.result(translating) for column in self._columns)
        labels = dict(self._labels.most_common())
        return Survey(self._task, self._count, columns, dict(self._findings), labels)

    def _find(self, name: str, batch: Batch, places: Iterable[int]) -> None:
        for place in places:
            self._findings.setdefault(name, Finding()).add(batch[place])

    def _find_marks(self, batch: Batch, *sides: list[str]) -> None:
        """What is no text, in any side of a record."""
        self._find("broken characters", batch, sorted(set().union(*map(_broken, sides))))
        self._find("HTML", batch, sorted(set().union(*map(_html, sides))))

    def _look_at_pairs(self, batch: Batch, sources: list[str], targets: list[str]) -> None:
        left, right = (self._columns[side].add(texts, self._scripts) for side, texts in enumerate((sources, targets)))
        copies = np.array([source == target for source, target in zip(sources, targets, strict=True)])
        self._find("copies", batch, np.flatnonzero(copies))
        self._find_marks(batch, sources, targets)
        ours, theirs = self._usual_direction(left, right)
        if ours != theirs:
            # A name or a term in the other script is usual; a side without any letter of its own script is not.
            odd_source = (left[:, ours] == 0) & (left[:, theirs] > 0) & ~copies
            odd_target = (right[:, theirs] == 0) & (right[:, ours] > 0) & ~copies
            self._find("swapped", batch, np.flatnonzero(odd_source & odd_target))
            self._find("source in the script of the target", batch, np.flatnonzero(odd_source & ~odd_target))
            self._find("target in the script of the source", batch, np.flatnonzero(odd_target & ~odd_source))

    def _usual_direction(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> tuple[int, int]:
        """The places in SCRIPTS of what most pairs so far are written in, source and target.

        Told of both at once: where every other pair is the other way round, each side has as much of either script.
        """
        np.add.at(self._directions, (np.argmax(left, axis=1), np.argmax(right, axis=1)), 1)
        return divmod(int(np.argmax(self._directions)), len(SCRIPTS))

    def _look_at_labels(self, batch: Batch, texts: list[str], labels: list[str]) -> None:
        self._columns[0].add(texts, self._scripts)
        self._find_marks(batch, texts)
        for label in labels:
            known = label in self._labels or len(self._labels) < MOST_LABELS
            self._labels[label if known else OTHER] += 1

    def _look_at_repeats(self, batch: Batch) -> None:
        """The same text again with another translation or another label."""
        hashes = text_hashes(batch)
        known = ~self._firsts.add(hashes)
        fresh = self._records.add(record_hashes(batch))
        name = "one source, several targets" if self._task == "translate" else "one text, several labels"
        self._find(name, batch, np.flatnonzero(known & fresh))
        if self._task == "translate":
            for other in self._held_out:
                self._find(f"source in the {other.name} set", batch, np.flatnonzero(other.firsts.contains(hashes)))


def _broken(texts: list[str]) -> set[int]:
    return {place for place, text in enumerate(texts) if BROKEN in text}


def _html(texts: list[str]) -> set[int]:
    return {place for place, text in enumerate(texts) if ("<" in text or "&" in text) and HTML.search(text)}


class _Column:
    """The counters of one column."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._words: Counter[int] = Counter()
        self._characters: Counter[int] = Counter()
        self._scripts = np.zeros(len(SCRIPTS), np.int64)

    def add(self, texts: Sequence[str], table: ScriptTable) -> NDArray[np.int64]:
        """Count tidied texts, whose words stand between single spaces; give their letters per script."""
        self._words.update(text.count(" ") + 1 if text else 0 for text in texts)
        self._characters.update(map(len, texts))
        letters = table.letters(texts)
        self._scripts += np.bincount(np.argmax(letters, axis=1), minlength=len(SCRIPTS))
        return letters

    def result(self, translating: bool) -> ColumnSurvey:
        scripts = {SCRIPTS[place]: int(self._scripts[place]) for place in np.argsort(-self._scripts)}
        used = {script: count for script, count in scripts.items() if count}
        padding = suggest_padding(self._words, translating)
        return ColumnSurvey(self.name, measure(self._words), measure(self._characters), padding, used)
