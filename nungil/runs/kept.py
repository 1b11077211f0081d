"""What a run kept of its data: records to score on, and the training pairs. Knows no torch."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nungil.batches.store import Store
from nungil.errors import CheckpointError, ConfigError, CorpusError
from nungil.records import Labelled, Pair
from nungil.runs.saved import read_records
from nungil.text.source import Task
from nungil.text.tokenizers.base import Tokenizer
from nungil.text.tokenizers.train import Tokenizers

DATA = "data"


class Kept(NamedTuple):
    """The test set of a run, or, if it had none, the validation set, which its model was chosen by."""

    name: str  # "test" or "validation"
    records: list[Pair] | list[Labelled]


def kept_records(folder: Path, task: Task) -> Kept | None:
    """The records that a run was scored on; None if its folder has none."""
    for name in ("test", "validation"):
        path = folder / DATA / f"{name}.jsonl"
        if not path.is_file():
            continue
        try:
            records = read_records(path, task)
        except (ConfigError, CorpusError, TypeError) as error:
            raise CheckpointError(f"{path}: the data of this run cannot be read: {error}") from None
        if records:
            return Kept(name, records)
    return None


def count_seen(folder: Path, tokenizer: Tokenizer, texts: Sequence[str], longest: int) -> int:
    """How many of these texts have the same tokens as a training text of the model in a folder."""
    if not texts or not (folder / DATA / "train" / "store.json").is_file():
        return 0
    store = Store(folder / DATA / "train")
    column = store.columns["source"]
    ids = tokenizer.encode_many(list(texts)).cut(longest)
    sought = [part.astype(column.ids.dtype).tobytes() for part in np.split(ids.flat, np.cumsum(ids.lengths)[:-1])]
    known = set(sought)
    seen = {row for row in (column.row(number).tobytes() for number in range(store.rows)) if row in known}
    store.release()
    return sum(one in seen for one in sought)


def kept_training(folder: Path, tokenizers: Tokenizers) -> list[Pair]:
    """The training pairs of a translator, decoded from their ids; none if its folder no longer has them.

    Words outside the vocabulary are lost in them.
    """
    if not (folder / DATA / "train" / "store.json").is_file():
        return []
    store = Store(folder / DATA / "train")
    source, target = store.columns["source"], store.columns["target"]
    pairs = [
        Pair(tokenizers.source.decode(source.row(row).tolist()), tokenizers.target.decode(target.row(row).tolist()))
        for row in range(store.rows)
    ]
    store.release()
    return pairs
