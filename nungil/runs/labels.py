"""Checks labels: are they labels, and does the training set have those of the other sets?"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from nungil.errors import CorpusError, did_you_mean
from nungil.records import Labelled
from nungil.text.checkup import CHOOSE
from nungil.text.cleaning import Record
from nungil.text.survey import MOST_LABELS

SHOWN = 10


@dataclass
class FirstPlaces:
    """The first record of each label, and its number."""

    numbers: dict[str, int] = field(default_factory=dict)
    records: dict[str, Labelled] = field(default_factory=dict)

    def noting(self, records: Iterable[Record]) -> Iterator[Record]:
        """The same records, noting first places; stops noting when there are too many labels."""
        for number, record in enumerate(records):
            if isinstance(record, Labelled) and record.label not in self.numbers and len(self.numbers) <= MOST_LABELS:
                self.numbers[record.label], self.records[record.label] = number, record
            yield record


def check_labels(labels: Collection[str], texts: int, where: str) -> None:
    """Refuse what cannot be labels: too many, the same for all texts, or a different one for each."""
    if len(labels) > MOST_LABELS:
        raise CorpusError(f"{where}: more than {MOST_LABELS:,} labels; {CHOOSE}")
    if len(labels) == 1:
        raise CorpusError(
            f"{where}: all texts have the same label, {next(iter(labels))!r}; classifying needs two or more"
        )
    if len(labels) == texts:
        raise CorpusError(f"{where}: each of {texts:,} texts has a label of its own; {CHOOSE}")


def check_known(name: str, found: FirstPlaces, known: Collection[str]) -> None:
    """Refuse a label of another set that the training set does not have."""
    for label, record in found.records.items():
        if label not in known:
            raise CorpusError(
                f"{record.file}:{record.line}: the label {label!r} of the {name} set is not in train"
                f"{did_you_mean(label, sorted(known)[:SHOWN])}"
            )


def shares(labels: dict[str, int]) -> str:
    """`2 labels: 0 (50.1%), 1 (49.9%)`, the most frequent first."""
    total = sum(labels.values())
    common = sorted(labels, key=lambda label: (-labels[label], label))
    shown = ", ".join(f"{label} ({labels[label] / total:.1%})" for label in common[:SHOWN])
    return f"{len(labels):,} labels: {shown}{' …' if len(labels) > SHOWN else ''}"


def listed(labels: list[str]) -> str:
    """`the label x`, `the labels x, y`, at most a line of them."""
    shown = ", ".join(labels[:SHOWN]) + (" …" if len(labels) > SHOWN else "")
    return f"the label{'s' if len(labels) > 1 else ''} {shown}"
