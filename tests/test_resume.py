"""Stop anywhere, resume: weights, optimizer and metrics are the same, to the byte, as if nothing had happened."""

import json
import signal
import subprocess

import pytest
from command import NUNGIL, invoke, run

from nungil.runs.data import DataSettings
from nungil.runs.recipe import read_recipe
from nungil.runs.train import resume
from nungil.runs.train import run as run_recipe
from nungil.text.snow.corpus import snow_pairs
from nungil.text.snow.senses import sense_examples
from nungil.training.checkpoint import checkpoints

UPDATES = 60
SMALL = {
    "lstm": ["--model", "luong", "--set", "model.embedding=16", "--set", "model.width=24"],
    "transformer": ["--model", "transformer", "--set", "model.width=16", "--set", "model.feed_forward=24"],
    "classifier": ["--model", "lstm", "--set", "model.embedding=16", "--set", "model.width=24"],
}


@pytest.fixture(scope="module", params=SMALL)
def family(request, tmp_path_factory):
    """The arguments of a tiny run of each family, its data, and the folder of a run that nothing disturbed."""
    folder = tmp_path_factory.mktemp(request.param)
    if request.param == "classifier":
        lines = [f"{one.text}\t{one.label}" for one in sense_examples(300, lengths=(3, 6))]
        reading = ["--task", "classify", "--columns", "1,2"]
    else:
        lines = [f"{pair.english}\t{pair.korean}" for pair in snow_pairs(300, lengths=(3, 6))]
        reading = ["--task", "translate", "--columns", "1,2", "--from", "en", "--to", "ko"]
    (folder / "data.tsv").write_text("\n".join(lines) + "\n")
    small = ["--steps", str(UPDATES), "--set", "training.validate_every=20", "--set", "training.log_every=5"]
    small += ["--set", "training.threads=1", "--set", "tokenizer.unit=word"]
    small += ["--set", "training.batch_tokens=300", "--set", "training.average=2"]
    arguments = ["train", "--train", str(folder / "data.tsv"), *reading, *SMALL[request.param], *small]
    whole = folder / "whole"
    assert invoke(*arguments, "--out", str(whole)).returncode == 0
    return arguments, whole


def left(folder):
    """What must not depend on what happened on the way."""
    last = checkpoints(folder / "checkpoints")[-1]
    names = [folder / "model.safetensors", *(last / name for name in ("model.safetensors", "optimizer.safetensors"))]
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        line.pop("per_second", None)
    kept = [place.name for place in checkpoints(folder / "checkpoints")]
    return [path.read_bytes() for path in names], (last / "state.json").read_text(), lines, kept


def start(arguments, out):
    return subprocess.Popen([*NUNGIL, *arguments, "--out", str(out)], stderr=subprocess.PIPE, text=True)


def wait_for_update(process, number):
    """Read what the run says until it has made so many updates."""
    for line in process.stderr:
        if line.startswith("update ") and int(line.split()[1]) >= number:
            return
    raise AssertionError("the run ended before")


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_it_between_two_updates_and_names_the_way_on(family, tmp_path, number, code):
    arguments, whole = family
    with start(arguments, tmp_path / "run") as process:
        wait_for_update(process, 5)
        process.send_signal(number)
        told = process.stderr.read()
    assert process.returncode == code
    assert told.strip().endswith(f"which is saved; next: nungil resume {tmp_path / 'run'}")
    assert "Traceback" not in told
    assert 5 <= int(checkpoints(tmp_path / "run" / "checkpoints")[-1].name.removeprefix("step-")) < UPDATES
    found = run("resume", str(tmp_path / "run"))
    assert found.returncode == 0, found.stderr
    assert left(tmp_path / "run") == left(whole)


@pytest.mark.slow
@pytest.mark.parametrize("number", [5, 25, 45])
def test_a_run_that_was_killed_goes_on_as_if_it_had_not_been(family, tmp_path, number):
    arguments, whole = family
    with start(arguments, tmp_path / "run") as process:
        wait_for_update(process, number)
        process.kill()
    found = run("resume", str(tmp_path / "run"))
    assert found.returncode == 0, found.stderr
    assert left(tmp_path / "run") == left(whole)


def test_a_finished_run_can_be_resumed_and_stays_what_it_is(family):
    _, whole = family
    before = left(whole)
    found = invoke("resume", str(whole))
    assert found.returncode == 0, found.stderr
    assert f"Going on after update {UPDATES} of {UPDATES}." in found.stderr
    assert left(whole) == before


def test_a_broken_checkpoint_is_passed_over(family, tmp_path):
    arguments, whole = family
    out = tmp_path / "run"
    assert invoke(*arguments, "--out", str(out)).returncode == 0
    last = checkpoints(out / "checkpoints")[-1] / "model.safetensors"
    last.write_bytes(last.read_bytes()[:-1] + b"?")
    found = invoke("resume", str(out))
    assert found.returncode == 0, found.stderr
    assert f"checkpoints/{last.parent.name} is broken and was passed over." in found.stderr
    assert f"Going on after update {UPDATES - 20} of {UPDATES}." in found.stderr
    assert left(out) == left(whole)


def test_other_data_is_refused(family, tmp_path):
    arguments, _ = family
    out = tmp_path / "run"
    assert invoke(*arguments, "--out", str(out)).returncode == 0
    store = out / "data" / "train" / "store.json"
    store.write_text(store.read_text().replace('"fingerprint": "', '"fingerprint": "00'))
    found = invoke("resume", str(out))
    assert found.returncode == 4
    assert "the data is not that which step-00000060 was trained on" in found.stderr


def test_what_is_no_run_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "not a run that can be gone on with" in invoke("resume", str(tmp_path / "empty")).stderr
    assert invoke("resume", str(tmp_path / "empty")).returncode == 4
    assert "there is no such folder" in invoke("resume", str(tmp_path / "nothing")).stderr


def test_a_checkpoint_is_written_when_the_time_is_up_and_the_last_one_stays(tmp_path):
    (tmp_path / "data.tsv").write_text("".join(f"{p.english}\t{p.korean}\n" for p in snow_pairs(200, lengths=(3, 5))))
    options = {
        "data": DataSettings(train=str(tmp_path / "data.tsv"), columns=("1", "2"), source="en", target="ko"),
        "model": {"kind": "recurrent", "embedding": 8, "width": 12},
        "training": {"steps": 7, "validate_every": 4, "checkpoint_minutes": 1e-9, "average": 1},
    }
    heard = []
    run_recipe(read_recipe(None, options), tmp_path / "run", heard.append)
    kept = [place.name for place in checkpoints(tmp_path / "run" / "checkpoints")]
    assert "step-00000007" in kept
    assert set(kept) <= {"step-00000004", "step-00000007"}
    assert resume(tmp_path / "run", quiet=True).updates == 7
