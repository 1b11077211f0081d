"""Checkpoints: whole or absent, verified, rotated, averaged; nothing is left where writing fails."""

import json
import subprocess
import sys

import pytest
import torch
from small_models import recurrent, transformer

from nungil.errors import CheckpointError, ResourceError
from nungil.model.build import set_weights
from nungil.training.checkpoint import (
    average,
    checkpoint_name,
    checkpoints,
    optimizer_tensors,
    read_tensors,
    rotate,
    verify,
    weights_of,
    write_checkpoint,
)
from nungil.training.optimizer import OptimizerSettings, make_optimizer

FILES = ["manifest.json", "model.safetensors", "optimizer.safetensors", "state.json"]


def write(folder, update=400, value=1.5):
    return write_checkpoint(
        folder, update, {"a": torch.full((2, 3), value)}, {"a/step": torch.tensor(5.0)}, {"update": update}
    )


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_checkpoint_has_weights_optimizer_state_and_a_manifest(tmp_path):
    place = write(tmp_path / "checkpoints")
    assert place == tmp_path / "checkpoints" / "step-00000400"
    assert names_in(place) == FILES
    verify(place)
    assert torch.equal(read_tensors(place / "model.safetensors")["a"], torch.full((2, 3), 1.5))
    assert json.loads((place / "state.json").read_text()) == {"update": 400}
    assert names_in(place.parent) == [place.name], "nothing stays beside it"


@pytest.mark.parametrize("name", FILES[1:])
def test_a_flipped_bit_is_refused(tmp_path, name):
    place = write(tmp_path)
    content = bytearray((place / name).read_bytes())
    content[-2] ^= 1
    (place / name).write_bytes(content)
    with pytest.raises(CheckpointError) as caught:
        verify(place)
    assert str(caught.value) == f"{place}: {name} is not what was written; use an older checkpoint"


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_refused(tmp_path, name):
    place = write(tmp_path)
    (place / name).unlink()
    with pytest.raises(CheckpointError) as caught:
        verify(place)
    assert str(caught.value) == f"{place}: not a whole checkpoint; use an older one"


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"model.safetensors": 3}'])
def test_a_manifest_that_is_none_is_refused(tmp_path, text):
    place = write(tmp_path)
    (place / "manifest.json").write_text(text)
    with pytest.raises(CheckpointError, match="not "):
        verify(place)


def test_rotation_keeps_what_it_is_told_and_touches_nothing_else(tmp_path):
    places = [write(tmp_path, update) for update in (100, 3, 20, 123_456_789)]
    (tmp_path / "notes.txt").write_text("mine")
    assert [place.name for place in checkpoints(tmp_path)] == [
        *("step-00000003", "step-00000020", "step-00000100", "step-123456789")
    ]
    rotate(tmp_path, [places[0], places[3]])
    assert names_in(tmp_path) == ["notes.txt", "step-00000100", "step-123456789"]
    assert checkpoints(tmp_path / "none") == []


def test_the_average_is_the_exact_mean(tmp_path):
    # In single precision 2²⁴ + 1 + 1 + 1 is 2²⁴: only a sum in double precision gives this mean.
    places = [write(tmp_path, update, value) for update, value in enumerate((2.0**24, 1.0, 1.0, 6.0), 1)]
    mean = average(places)["a"]
    assert mean.dtype == torch.float32
    assert mean.unique().tolist() == [(2**24 + 8) / 4]
    with pytest.raises(CheckpointError, match="there is no checkpoint to average"):
        average([])


def test_what_is_no_safetensors_file_is_refused(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"\x80\x04nonsense")
    with pytest.raises(CheckpointError, match=r"model\.safetensors: cannot be read as safetensors"):
        read_tensors(tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match="cannot be read as safetensors"):
        read_tensors(tmp_path / "none.safetensors")


@pytest.mark.parametrize("make", [recurrent, lambda: transformer(joint=True)])
def test_weights_go_out_and_in_again_a_tied_one_once(make):
    first, second = make(), make()
    weights = weights_of(first)
    assert sum(tensor.numel() for tensor in weights.values()) == sum(part.numel() for part in first.parameters())
    set_weights(second, weights)
    assert all(torch.equal(value, second.state_dict()[name]) for name, value in first.state_dict().items())


def test_the_averages_of_the_optimizer_go_by_the_name_of_their_parameter():
    model = recurrent()
    optimizer = make_optimizer(model, OptimizerSettings())
    assert optimizer_tensors(model, optimizer) == {}
    model(torch.tensor([[4]]), torch.tensor([[True]]), torch.tensor([[2]])).features.sum().backward()
    optimizer.step()
    found = optimizer_tensors(model, optimizer)
    moved = {name for name, part in model.named_parameters() if part.grad is not None}
    assert {name.rsplit("/", 1)[0] for name in found} == moved
    assert {name.rsplit("/", 1)[1] for name in found} == {"step", "exp_avg", "exp_avg_sq"}


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
import torch
from nungil.errors import ResourceError
from nungil.training.checkpoint import write_checkpoint
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = Path(sys.argv[1])
write_checkpoint(folder, 1, {"a": torch.zeros(3)}, {}, {})
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
try:
    write_checkpoint(folder, 2, {"a": torch.zeros(10_007)}, {}, {})
except ResourceError as error:
    print(error.exit_code, error)
"""


@pytest.mark.slow
def test_a_full_disk_leaves_the_checkpoint_before_and_nothing_of_the_new_one(tmp_path):
    found = subprocess.run([sys.executable, "-c", FULL_DISK, str(tmp_path)], capture_output=True, text=True, timeout=60)
    assert found.stdout == (f"5 {tmp_path}/step-00000002: the checkpoint could not be written: File too large\n"), (
        found.stderr
    )
    assert names_in(tmp_path) == ["step-00000001"]
    verify(tmp_path / "step-00000001")


def test_a_place_that_cannot_be_written_to_is_named(tmp_path):
    (tmp_path / "checkpoints").write_text("a file where the folder should be")
    with pytest.raises(ResourceError) as caught:
        write(tmp_path / "checkpoints")
    assert str(caught.value) == (
        f"{tmp_path}/checkpoints/step-00000400: the checkpoint could not be written: Not a directory"
    )
    assert names_in(tmp_path) == ["checkpoints"]


def test_a_checkpoint_is_never_written_over(tmp_path):
    place = write(tmp_path, 7, 1.0)
    with pytest.raises(ResourceError, match="step-00000007: the checkpoint could not be written: Directory not empty"):
        write(tmp_path, 7, 2.0)
    verify(place)
    assert read_tensors(place / "model.safetensors")["a"].unique().tolist() == [1.0]
    assert names_in(tmp_path) == [checkpoint_name(7)]
