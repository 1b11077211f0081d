"""Checkpoints: folders that are complete or absent. Weights and optimizer as safetensors, the rest as JSON.

checkpoints/step-00000400/
    model.safetensors       the weights
    optimizer.safetensors   AdamW's two averages per parameter, and its count of steps
    state.json              the update, the place in the data, the validations so far
    manifest.json           the SHA-256 of each, written last
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from nungil.errors import CheckpointError, ResourceError
from nungil.text.atomic import sync, write_durably

NAME = re.compile(r"step-(\d{8,})")
Tensors = dict[str, Tensor]


def checkpoint_name(update: int) -> str:
    """`step-00000400`."""
    return f"step-{update:08d}"


def write_checkpoint(folder: Path, update: int, model: Tensors, optimizer: Tensors, state: Mapping[str, Any]) -> Path:
    """Write to a temporary folder, sync, rename: even after a power cut a checkpoint is complete or absent."""
    files = {
        "model.safetensors": save(model),
        "optimizer.safetensors": save(optimizer),
        "state.json": (json.dumps(state, indent=1) + "\n").encode(),
    }
    manifest = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    place = folder / checkpoint_name(update)
    beside = folder / f".{place.name}.part-{os.getpid()}"
    try:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        for name, content in [*files.items(), ("manifest.json", (json.dumps(manifest, indent=1) + "\n").encode())]:
            write_durably(beside / name, content)
        sync(beside)
        beside.rename(place)
        sync(folder)
    except OSError as error:
        raise ResourceError(f"{place}: the checkpoint could not be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return place


def checkpoints(folder: Path) -> list[Path]:
    """The checkpoints in a folder, oldest first."""
    found = [path for path in folder.iterdir() if NAME.fullmatch(path.name)] if folder.is_dir() else []
    return sorted(found, key=lambda path: int(path.name.removeprefix("step-")))


def verify(place: Path) -> None:
    """Refuse a checkpoint whose files do not have the hashes of its manifest."""
    try:
        manifest = json.loads((place / "manifest.json").read_text())
        for name in ("model.safetensors", "optimizer.safetensors", "state.json"):
            if hashlib.sha256((place / name).read_bytes()).hexdigest() != manifest[name]:
                raise CheckpointError(f"{place}: {name} is not what was written; use an older checkpoint")
    except (OSError, ValueError, KeyError, TypeError):
        raise CheckpointError(f"{place}: not a whole checkpoint; use an older one") from None


def rotate(folder: Path, keep: Iterable[Path]) -> None:
    """Delete all checkpoints but those to keep."""
    kept = set(keep)
    for place in checkpoints(folder):
        if place not in kept:
            _delete(place)


def _delete(place: Path) -> None:
    """Rename it first, so that a process killed while deleting leaves no half of a checkpoint."""
    gone = place.with_name(f".{place.name}.gone-{os.getpid()}")
    try:
        place.rename(gone)
    except OSError:
        return  # it may stay
    shutil.rmtree(gone, ignore_errors=True)


def read_tensors(path: Path) -> Tensors:
    """The tensors of a safetensors file."""
    try:
        return load_file(path)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"{path}: cannot be read as safetensors: {error}") from None


def weights_of(model: nn.Module) -> Tensors:
    """The weights by name; a tied matrix once, under its first name."""
    return {name: parameter.detach().cpu().contiguous() for name, parameter in model.named_parameters()}


def optimizer_tensors(model: nn.Module, optimizer: torch.optim.Optimizer) -> Tensors:
    """AdamW's averages, by the name of their parameter."""
    named: dict[Tensor, str] = {parameter: name for name, parameter in model.named_parameters()}
    return {
        f"{named[parameter]}/{kind}": value.detach().cpu().contiguous()
        for parameter, state in optimizer.state.items()
        for kind, value in state.items()
    }


def set_optimizer(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: Tensors) -> None:
    """Give AdamW its averages back."""
    for name, parameter in model.named_parameters():
        state = {key.rpartition("/")[2]: value for key, value in tensors.items() if key.rpartition("/")[0] == name}
        if state:
            optimizer.state[parameter] = state


def newest(folder: Path) -> Path | None:
    """The newest checkpoint that `verify` accepts."""
    for place in reversed(checkpoints(folder)):
        try:
            verify(place)
        except CheckpointError:
            continue
        return place
    return None


def drop_after(folder: Path, update: int) -> list[str]:
    """Delete the checkpoints after an update and return their names. They are broken: `newest` passed them over.

    Remains of a run that was killed while it wrote or deleted a checkpoint are deleted, too.
    """
    broken = [place for place in checkpoints(folder) if int(place.name.removeprefix("step-")) > update]
    for place in broken:
        _delete(place)
    for remains in folder.glob(".step-*"):
        shutil.rmtree(remains, ignore_errors=True)
    return [place.name for place in broken]


def read_state(place: Path) -> dict[str, Any]:
    """The state.json of a checkpoint."""
    state: dict[str, Any] = json.loads((place / "state.json").read_text())
    return state


def average(places: Iterable[Path]) -> Tensors:
    """The mean of several checkpoints' weights, summed in float64."""
    total: Tensors = {}
    count = 0
    kinds: dict[str, torch.dtype] = {}
    for place in places:
        count += 1
        for name, tensor in read_tensors(place / "model.safetensors").items():
            kinds[name] = tensor.dtype
            total[name] = total[name] + tensor if name in total else tensor.double()
    if not count:
        raise CheckpointError("there is no checkpoint to average")
    return {name: (tensor / count).to(kinds[name]) for name, tensor in total.items()}
