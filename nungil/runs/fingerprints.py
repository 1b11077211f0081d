"""Fingerprints: what a run must find again to go on as if it had not been stopped."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import torch

from nungil.model.folder import ModelConfig
from nungil.runs.prepare import Prepared

Fingerprints = dict[str, Any]
OF_DATA = ("training data", "validation data", "text of the validation set", "text of the test set", "vocabulary")


def fingerprints(prepared: Prepared, config: ModelConfig, processes: int) -> Fingerprints:
    """Of this run, as it is now."""
    return {
        "training data": prepared.train.fingerprint,
        "validation data": prepared.valid.fingerprint,
        "text of the validation set": _hash_of(prepared.valid_records),
        "text of the test set": _hash_of(prepared.test_records),
        "vocabulary": hashlib.sha256(" ".join(sorted(config.files.values())).encode()).hexdigest(),
        "processes": processes,
        "torch": str(torch.__version__),
    }


def changes(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What is not as it was, and would make another model or another score of it.

    What an older version has not noted down cannot be compared.
    """
    found = [f"the {name} was changed" for name in OF_DATA if name in before and before[name] != now[name]]
    if before.get("processes") != now["processes"]:
        found.append(f"it was trained by {_count(before.get('processes', 1))}, and now by {_count(now['processes'])}")
    return found


def other_torch(before: Mapping[str, Any], now: Mapping[str, Any]) -> str | None:
    """A word on another version of torch, which may compute the last bits otherwise."""
    if before.get("torch") == now["torch"]:
        return None
    return f"torch was {before.get('torch')} and is {now['torch']}: the result may differ in its last digits."


def _hash_of(records: Iterable[tuple[Any, ...]]) -> str:
    found = hashlib.sha256()
    for record in records:
        found.update(json.dumps(record).encode() + b"\n")
    return found.hexdigest()


def _count(processes: int) -> str:
    return "one process" if processes == 1 else f"{processes} processes"
