"""From clean records to a store of ids: tokenized in several processes, written in order. Knows no torch."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nungil.batches.store import Store, StoreWriter
from nungil.batches.workers import cores, map_in_order
from nungil.errors import CorpusError
from nungil.records import Labelled, Pair
from nungil.text.counts import counted
from nungil.text.tokenizers.base import Ids, Tokenizer
from nungil.text.tokenizers.train import Tokenizers

CHUNK = 4_096  # records sent to a process at once
SMALL = 4 * CHUNK  # records; for fewer, starting processes takes longer than they save
LONGEST = 1_024  # tokens of a side; a longer row is left out and counted

Chunk = tuple[list[str], list[str]]
Columns = dict[str, Ids]


class Built(NamedTuple):
    """A finished store, and how many records were left out because they have too many tokens."""

    store: Store
    too_long: int


class PairCutter:
    """Tokenizes pairs; is sent to other processes."""

    def __init__(self, tokenizers: Tokenizers) -> None:
        self.tokenizers = tokenizers

    def __call__(self, chunk: Chunk) -> Columns:
        """Ids of both sides."""
        sources, targets = chunk
        return {
            "source": self.tokenizers.source.encode_many(sources),
            "target": self.tokenizers.target.encode_many(targets),
        }


class LabelledCutter:
    """Tokenizes labelled texts and numbers their labels; is sent to other processes."""

    def __init__(self, tokenizer: Tokenizer, labels: tuple[str, ...], longest: int) -> None:
        self.tokenizer, self.longest = tokenizer, longest
        self.number = {label: [number] for number, label in enumerate(labels)}

    def __call__(self, chunk: Chunk) -> Columns:
        """Ids of the texts, and one id per label."""
        texts, labels = chunk
        unknown = next((label for label in labels if label not in self.number), None)
        if unknown is not None:
            raise CorpusError(f"label {unknown!r} is not one of {', '.join(self.number)}")
        return {
            "source": self.tokenizer.encode_many(texts).cut(self.longest),
            "label": Ids.join([self.number[label] for label in labels]),
        }


def build_pair_store(
    pairs: Iterable[Pair], tokenizers: Tokenizers, folder: Path, *, processes: int | None = None, longest: int = LONGEST
) -> Built:
    """Tokenize clean pairs and store the ids. `processes` is by default one per core."""
    sizes = {"source": tokenizers.source.size, "target": tokenizers.target.size}
    return _build(pairs, PairCutter(tokenizers), StoreWriter(folder, sizes), processes, longest)


def build_labelled_store(
    texts: Iterable[Labelled],
    tokenizer: Tokenizer,
    labels: tuple[str, ...],
    folder: Path,
    *,
    processes: int | None = None,
    longest: int = LONGEST,
) -> Built:
    """Tokenize clean labelled texts and store the ids with the number of their label.

    Longer texts are stored as their first `longest` tokens.
    """
    sizes = {"source": tokenizer.size, "label": len(labels)}
    return _build(texts, LabelledCutter(tokenizer, labels, longest), StoreWriter(folder, sizes), processes, longest)


def _build(
    records: Iterable[Pair] | Iterable[Labelled],
    cutter: Callable[[Chunk], Columns],
    writer: StoreWriter,
    processes: int | None,
    longest: int,
) -> Built:
    too_long = 0
    with writer:
        for columns in _cut(_chunks(records), cutter, processes or cores()):
            rows = _short_enough(columns, longest)
            if not rows.all():
                too_long += int((~rows).sum())
                columns = {name: ids.keep(rows) for name, ids in columns.items()}
            writer.append(columns)
        if writer.rows == 0:
            raise CorpusError(f"nothing is left to train on: {_why_empty(too_long, longest)}")
    return Built(Store(writer.folder), too_long)


def _why_empty(too_long: int, longest: int) -> str:
    return (
        f"every record has more than {counted(longest, 'token')}" if too_long else "no record is clean and short enough"
    )


def _short_enough(columns: Mapping[str, Ids], longest: int) -> NDArray[np.bool_]:
    first, second = (ids.lengths for ids in columns.values())
    return (first <= longest) & (second <= longest)


def _chunks(records: Iterable[Pair] | Iterable[Labelled]) -> Iterator[Chunk]:
    """Texts only: file and line need not be sent to other processes."""
    stream: Iterator[Pair | Labelled] = iter(records)
    while chunk := list(islice(stream, CHUNK)):
        yield [record[0] for record in chunk], [record[1] for record in chunk]


def _cut(chunks: Iterator[Chunk], cutter: Callable[[Chunk], Columns], processes: int) -> Iterator[Columns]:
    """Each chunk as ids, in order; in this process if there are few."""
    beginning = list(islice(chunks, SMALL // CHUNK))
    everything = chain(beginning, chunks)
    if processes == 1 or len(beginning) < SMALL // CHUNK:
        return map(cutter, everything)
    return map_in_order(cutter, everything, processes)
