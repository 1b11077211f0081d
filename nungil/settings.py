"""Reads settings: YAML or JSON in, a frozen class out, with all mistakes reported at once."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar, get_args

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from nungil.errors import ConfigError, CorpusError, did_you_mean, unreadable

S = TypeVar("S", bound="Settings")
IN_WORDS = {  # by the beginning of pydantic's error type
    "int_": "a whole number is expected",
    "float_": "a number is expected",
    "bool_": "true or false is expected",
    "finite_number": "a finite number is expected",
    "string_type": "text is expected",
    "string_too_short": "text of a length of at least {min_length} is expected",
    "string_too_long": "text of a length of at most {max_length} is expected",
    "list_type": "a list is expected",
    "too_short": "{actual_length} of them, where at least {min_length} is expected",
    "too_long": "{actual_length} of them, where at most {max_length} is expected",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
    "model_attributes_type": "an object with names and values is expected",
    "dict_type": "an object with names and values is expected",
}


class Settings(BaseModel):
    """Frozen settings that refuse unknown keys. Subclasses stand in the module that they configure."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def read_settings(path: Path, kind: type[S]) -> S:
    """Read a YAML or JSON file (told by its ending) into settings of this kind."""
    return build_settings(read_plain(path), kind, str(path))


def read_plain(path: Path) -> Any:
    """The plain values of a YAML or JSON file, told by its ending."""
    text = read_text(path)
    return parse_json(text, str(path)) if path.suffix == ".json" else parse_yaml(text, str(path))


def build_settings(loaded: object, kind: type[S], where: str) -> S:
    """Check what was loaded against the settings class, and name every mistake at once."""
    if loaded is None:
        loaded = {}
    if not isinstance(loaded, Mapping):
        raise ConfigError(where, [f"holds {_kind_of(loaded)} where settings (`name: value`) are expected"])
    try:
        return kind.model_validate(dict(loaded))
    except ValidationError as error:
        raise ConfigError(where, [_mistake(detail, kind) for detail in error.errors(include_url=False)]) from None


def parse_json(text: str, where: str) -> Any:
    """JSON to plain values; a mistake is named with its line and column."""
    try:
        return json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_refuse_twice)
    except json.JSONDecodeError as error:
        raise ConfigError(where, [f"line {error.lineno}, column {error.colno}: not JSON: {error.msg}"]) from None
    except _RefusedError as error:
        raise ConfigError(where, [str(error)]) from None
    except ValueError:  # Python refuses to read an integer of thousands of digits
        raise ConfigError(where, ["a number has too many digits"]) from None
    except RecursionError:
        raise ConfigError(where, ["nested too deeply"]) from None


def parse_yaml(text: str, where: str) -> Any:
    """YAML to plain values, through the safe loader; a mistake is named with its line and column."""
    try:
        return _EachKeyOnce(text).get_single_data()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        raise ConfigError(where, [f"{place}not YAML: {error.problem}"]) from None
    except yaml.YAMLError as error:
        raise ConfigError(where, [f"not YAML: {error}"]) from None
    except ValueError:
        raise ConfigError(where, ["a number or date cannot be read"]) from None
    except RecursionError:
        raise ConfigError(where, ["nested too deeply"]) from None


class _RefusedError(ValueError):
    """JSON that Python's reader would accept."""


def _refuse_constant(name: str) -> float:
    raise _RefusedError(f"{name} is not a finite number")


def _refuse_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _RefusedError(f"{twice}: is given twice")
    return found


class _EachKeyOnce(yaml.SafeLoader):
    """The safe loader, but a repeated key is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """A mapping whose keys all differ."""
        names = set()
        for key, _ in node.value:
            if key.value in names:
                raise yaml.MarkedYAMLError(problem=f"{key.value} is given twice", problem_mark=key.start_mark)
            names.add(str(key.value))
        return super().construct_mapping(node, deep)


def read_text(path: Path) -> str:
    """The text of a UTF-8 file; otherwise a CorpusError."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path}: not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise unreadable(path, error) from None


def _mistake(detail: ErrorDetails, kind: type[BaseModel]) -> str:
    """One pydantic complaint as a line: `[section] field: what is wrong`."""
    path, owners = _place(detail["loc"], kind)
    what, about = detail["type"], detail.get("ctx", {})
    if what.startswith("union_tag"):
        path.append(about["discriminator"].strip("'"))
    *sections, name = path or [""]
    label = f"[{'.'.join(sections)}] {name}" if sections else name
    if what == "extra_forbidden":
        return f"{label}: no such setting{did_you_mean(name, owners[0].model_fields)}"
    if what == "missing":
        return f"{label}: is missing"
    if what == "union_tag_not_found":
        return f"{label}: is missing{did_you_mean('', set().union(*map(_tags, owners)))}"
    if what in ("literal_error", "union_tag_invalid"):
        given, known = (detail["input"], "expected") if what == "literal_error" else (about["tag"], "expected_tags")
        choices = about[known].replace("'", "").replace(" or ", ", ").split(", ")
        return f"{label}: there is no {str(given)!r}{did_you_mean(str(given), choices)}"
    if what in ("model_type", "model_attributes_type"):
        return f"{label}: holds {_kind_of(detail['input'])} where settings (`name: value`) are expected"
    told = in_words(what, about, detail["msg"])
    return f"{label}: {told}" if label else told


def in_words(what: str, about: Mapping[str, Any], message: str) -> str:
    """An error of pydantic in plain words, by its type and context."""
    known = next((words for start, words in IN_WORDS.items() if what.startswith(start)), None)
    if known is not None:
        return known.format(
            **{name: f"{value:.12g}" if isinstance(value, float) else value for name, value in about.items()}
        )
    message = message.removeprefix("Value error, ")
    return message[:1].lower() + message[1:]


def _place(loc: tuple[int | str, ...], kind: type[BaseModel]) -> tuple[list[str], list[type[BaseModel]]]:
    """The path as users write it, and the settings classes it leads to.

    Where `kind: …` selects one of several classes, pydantic's path contains the selection, which users did not write.
    """
    path, owners = [], [kind]
    for part in loc:
        chosen = [owner for owner in owners if part in _tags(owner)]
        if len(owners) > 1 and chosen:
            owners = chosen
            continue
        path.append(str(part + 1 if isinstance(part, int) else part))
        field = owners[0].model_fields.get(str(part))
        owners = _classes_in(field.annotation) or owners if field else owners
    return path, owners


def _tags(kind: type[BaseModel]) -> set[str]:
    """The values that select this class: that of its `kind: Literal["…"]`."""
    choices = [get_args(field.annotation) for field in kind.model_fields.values()]
    return {values[0] for values in choices if len(values) == 1 and isinstance(values[0], str)}


def _classes_in(annotation: object) -> list[type[BaseModel]]:
    """All settings classes in an annotation, at any depth."""
    parts = get_args(annotation)
    if not parts:
        return [annotation] if isinstance(annotation, type) and issubclass(annotation, BaseModel) else []
    return [found for part in parts for found in _classes_in(part)]


def _kind_of(value: object) -> str:
    known = {list: "a list", str: "text", bool: "true or false", type(None): "nothing"}
    return known.get(type(value), "a number")
