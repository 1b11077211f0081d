"""Fingerprints: what a run must find again to go on as if it had not been stopped."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch

from nungil.model.folder import ModelConfig
from nungil.runs.prepare import Prepared
from nungil.runs.recipe import Recipe

Fingerprints = dict[str, Any]
FREE = {"checkpoint_minutes", "log_every", "processes", "tensorboard"}  # settings that make no other model
GOES_ON = {"training", "seed"}  # sections of a kept recipe that a run goes on by; the others were for its beginning
ELSEWHERE = {"format", "files"}  # of config.json: files are the vocabulary
OF_DATA = ("training data", "validation data", "text of the validation set", "text of the test set", "vocabulary")


def fingerprints(prepared: Prepared, config: ModelConfig, recipe: Recipe, processes: int) -> Fingerprints:
    """Of this run, as it is now."""
    return {
        "training data": prepared.train.fingerprint,
        "validation data": prepared.valid.fingerprint,
        "text of the validation set": _hash_of(prepared.valid_records),
        "text of the test set": _hash_of(prepared.test_records),
        "vocabulary": hashlib.sha256(" ".join(sorted(config.files.values())).encode()).hexdigest(),
        "settings": {
            "seed": recipe.seed,
            **_flat("training", recipe.training.model_dump(mode="json", exclude=FREE)),
            **_flat("", config.model_dump(mode="json", exclude=ELSEWHERE)),
        },
        "beginning": _flat("", recipe.model_dump(mode="json", exclude=GOES_ON)),
        "processes": processes,
        "torch": str(torch.__version__),
    }


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What is not as it was, and would make another model or another score of it.

    What an older version has not noted down cannot be compared.
    """
    found = [f"the {name} was changed" for name in OF_DATA if name in before and before[name] != now[name]]
    found += _other_values(before.get("settings", {}), now["settings"])
    found += [
        f"{change} in recipe.json, where that has no effect on a run that has begun"
        for change in _other_values(before.get("beginning", {}), now["beginning"])
    ]
    if before.get("processes") != now["processes"]:
        found.append(f"it was trained by {_count(before.get('processes', 1))}, and now by {_count(now['processes'])}")
    return found


def _other_values(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name, value in now.items():
        if name in before and before[name] != value:
            yield f"{name} was {_spelled(before[name])} and is {_spelled(value)}"


def _spelled(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def other_torch(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """A word on another version of torch, which may compute the last bits otherwise."""
    if before.get("torch") == now["torch"]:
        return None
    return f"torch was {before.get('torch')} and is {now['torch']}: the result may differ in its last digits."


def _flat(name: str, value: Any) -> dict[str, Any]:
    """`training.schedule.rate`, `model.score.name` and so on, as --set names them."""
    if not isinstance(value, dict):
        return {name: value}
    parts = (_flat(f"{name}.{key}".lstrip("."), one) for key, one in value.items())
    return {key: one for part in parts for key, one in part.items()}


def _hash_of(records: Iterable[tuple[Any, ...]]) -> str:
    found = hashlib.sha256()
    for record in records:
        found.update(json.dumps(record).encode() + b"\n")
    return found.hexdigest()


def _count(processes: int) -> str:
    return "one process" if processes == 1 else f"{processes} processes"
