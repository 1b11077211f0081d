"""JSON Lines: one object per line, columns by key; `translation.en` reaches into an object inside."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nungil.errors import CorpusError
from nungil.records import LACKS
from nungil.text.files import read_lines
from nungil.text.source import Rows, Source


def read_jsonl(source: Source) -> Rows:
    """Rows of a JSONL file: text as it is, numbers and true or false as JSON writes them.

    An object without one of the keys, or with null for it, is a row that says so, for cleaning to count.
    """
    (path,) = source.files
    name = str(path)
    for line, record in json_records(path, source.encoding):
        if record is None:
            yield "", "", name, line
            continue
        first, second = (_text(record, key, name, line) for key in source.names)
        if first is not None and second is not None:
            yield first, second, name, line
        else:
            lacking = source.names[0 if first is None else 1]
            yield first or "", second or "", name, line, f'{LACKS}{lacking}"'


def json_records(path: Path, encoding: str) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """The object of each line; None where the line is empty."""
    for line, text in enumerate(read_lines(path, encoding), 1):
        yield line, parse_record(text, f"{path}:{line}") if text.strip() else None


def parse_record(text: str, where: str) -> dict[str, Any]:
    """One line as an object, or a sentence that says where it is not."""
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise CorpusError(f"{where}: not JSON at column {error.colno}: {error.msg}") from None
    except RecursionError:
        raise CorpusError(f"{where}: JSON nested too deeply") from None
    except ValueError:  # a number of thousands of digits
        raise CorpusError(f"{where}: a number too long to be meant") from None
    if not isinstance(record, dict):
        raise CorpusError(f'{where}: one object per line is expected, as in {{"source": "…", "target": "…"}}')
    return record


def flat_keys(record: dict[str, Any]) -> list[str]:
    """The keys that can be columns: those of the object, and those of objects in it with a dot."""
    keys: list[str] = []
    for key, value in record.items():
        keys += [f"{key}.{inner}" for inner in value] if isinstance(value, dict) else [key]
    return keys


def value_of(record: dict[str, Any], key: str) -> Any:
    """What an object has for a key, or for one with a dot an object in it; None where it has nothing."""
    if key in record:
        return record[key]
    outer, _, inner = key.partition(".")
    within = record.get(outer)
    return within.get(inner) if isinstance(within, dict) else None


def _text(record: dict[str, Any], key: str, name: str, line: int) -> str | None:
    value = value_of(record, key)
    if value is None or (isinstance(value, str) and value.isascii()):
        return value
    if isinstance(value, list | dict):
        raise CorpusError(
            f'{name}:{line}: "{key}" holds {"a list" if isinstance(value, list) else "an object"}, not text'
        )
    text = value if isinstance(value, str) else json.dumps(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise CorpusError(f'{name}:{line}: "{key}" holds half a character, a lone \\ud800 to \\udfff') from None
    return text
