"""JSON Lines: one object per line, columns by key; `translation.en` reaches into an object inside."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nungil.errors import CorpusError, did_you_mean
from nungil.text.files import read_lines
from nungil.text.source import Rows, Source


def read_jsonl(source: Source) -> Rows:
    """Rows of a JSONL file: text as it is, numbers and true or false as JSON writes them, null as empty."""
    (path,) = source.files
    name, (first, second) = str(path), source.names
    for line, record in json_records(path, source.encoding):
        if record is None:
            yield "", "", name, line
        else:
            yield _text(record, first, name, line), _text(record, second, name, line), name, line


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
        raise CorpusError(f"{where}: JSON nested too deeply to be meant") from None
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


def _text(record: dict[str, Any], key: str, name: str, line: int) -> str:
    value = record.get(key)
    if isinstance(value, str) and value.isascii():
        return value
    if value is None and key not in record:
        value = _inside(record, key, f"{name}:{line}")
    if value is None:
        return ""
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


def _inside(record: dict[str, Any], key: str, where: str) -> Any:
    outer, _, inner = key.partition(".")
    within = record.get(outer)
    if inner and isinstance(within, dict) and inner in within:
        return within[inner]
    raise CorpusError(f'{where}: no key "{key}"{did_you_mean(key, flat_keys(record))}')
