"""What `prepare` made, on disk: a resumed run reads this instead of the user's files.

data/train/  data/valid/   the stores of ids
data/validation.jsonl      the records that are scored, as texts
data/test.jsonl
data/prepared.json         the rest: decisions and counts
"""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nungil.batches.store import Store
from nungil.errors import CheckpointError, ConfigError, CorpusError
from nungil.records import Labelled, Pair
from nungil.runs.prepare import Prepared
from nungil.settings import parse_json, read_text
from nungil.text.atomic import whole_file
from nungil.text.cleaning import Tally
from nungil.text.languages import Languages
from nungil.text.source import Task
from nungil.text.tokenizers.train import Tokenizers


def save_prepared(prepared: Prepared, folder: Path) -> None:
    """Write everything but the stores and the tokenizers, which have files of their own."""
    for name, records in (("validation", prepared.valid_records), ("test", prepared.test_records)):
        with whole_file(folder / f"{name}.jsonl") as file:
            file.writelines(json.dumps(_keyed(record), ensure_ascii=False) + "\n" for record in records)
    plain = {
        "task": prepared.task,
        "languages": list(prepared.languages),
        "labels": list(prepared.labels),
        "tally": prepared.tally.to_json(),
        "too_long": prepared.too_long,
        "decisions": list(prepared.decisions),
    }
    with whole_file(folder / "prepared.json") as file:
        file.write(json.dumps(plain, ensure_ascii=False, indent=1) + "\n")


def load_prepared(folder: Path, tokenizers: Tokenizers) -> Prepared:
    """What `save_prepared` wrote there, with the stores beside it."""
    try:
        plain: dict[str, Any] = parse_json(read_text(folder / "prepared.json"), str(folder / "prepared.json"))
        task: Task = plain["task"]
        tally = plain["tally"]
        return Prepared(
            task=task,
            languages=Languages(*plain["languages"]),
            tokenizers=tokenizers,
            labels=tuple(plain["labels"]),
            train=Store(folder / "train"),
            valid=Store(folder / "valid"),
            valid_records=read_records(folder / "validation.jsonl", task),
            test_records=read_records(folder / "test.jsonl", task),
            tally=Tally(tally["read"], tally["kept"], Counter(tally["dropped"]), Counter(tally["changed"])),
            too_long=dict(plain["too_long"]),
            decisions=tuple(plain["decisions"]),
        )
    except (ConfigError, CorpusError, KeyError, TypeError) as error:
        raise CheckpointError(f"{folder}: the data of this run cannot be read: {error}") from None


def _keyed(record: Pair | Labelled) -> dict[str, str | int]:
    """As an object, so that `--data` of other commands can read it."""
    return {key: value for key, value in record._asdict().items() if key != "withheld"}


def read_records(path: Path, task: Task) -> Any:
    """The records of a file: pairs or labelled texts, each an object or, from earlier versions, a list."""
    kind = Pair if task == "translate" else Labelled
    found = (parse_json(line, str(path)) for line in _lines(read_text(path)))
    return [kind(**one) if isinstance(one, dict) else kind(*one) for one in found]


def _lines(text: str) -> Iterable[str]:
    return (line for line in text.split("\n") if line)
