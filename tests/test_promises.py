"""What users may rely on when a run is stopped, killed, starved or fed with nonsense: ten promises, each shown."""

import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from command import invoke, run, run_with_little_room
from hypothesis import given
from hypothesis import strategies as st
from small_runs import EVERY, OFTEN, SMALL, UPDATES, arguments_of, left, newest_update, start, wait_for_update

from nungil.batches.order import Order, shares
from nungil.errors import ConfigError, StoppedError
from nungil.runs import begin as preparing
from nungil.runs import launch as launching
from nungil.runs import session as continuing
from nungil.runs import train as running
from nungil.runs.launch import launch
from nungil.runs.progress import to_nobody
from nungil.runs.recipe import Recipe
from nungil.runs.session import Session
from nungil.settings import read_settings
from nungil.text import atomic
from nungil.text.lock import locked
from nungil.training import checkpoint
from nungil.training.checkpoint import checkpoints, newest, read_tensors, write_checkpoint
from nungil.training.course import BEGINNING, updates
from nungil.training.ranks import MEETING

RANK = str(Path(__file__).with_name("rank.py"))
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--log-dir", os.devnull]
PROCESSES = [1, pytest.param(2, marks=pytest.mark.slow)]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Runs that nothing happened to, by family, number of processes and further settings; each is made once."""
    made = {}

    def get(family, processes=1, *settings):
        key = family, processes, settings
        if key not in made:
            folder = tmp_path_factory.mktemp(family)
            changes = [part for setting in settings for part in ("--set", setting)]
            arguments = [*arguments_of(family, folder), *changes, "--processes", str(processes)]
            found = (invoke if processes == 1 else run)(*arguments, "--out", str(folder / "run"))
            assert found.returncode == 0, found.stderr
            made[key] = arguments, folder / "run"
        return made[key]

    return get


@pytest.fixture
def begun(undisturbed, tmp_path):
    """The folder of a run that has read its data and made no update yet."""

    def get(family, processes=1, *settings):
        _, whole = undisturbed(family, processes, *settings)
        shutil.copytree(whole, tmp_path / "run")
        for name in ("checkpoints", "metrics.jsonl", "model.safetensors", "README.md", "result.json"):
            path = tmp_path / "run" / name
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return tmp_path / "run", whole

    return get


def stop_at(folder, update):
    """Go on in this process, and get a signal when the run says that it has made this update."""

    def hear(text):
        if text.startswith(f"update {update} of"):
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(StoppedError) as caught:
        Session.open(folder, hear).run()
    assert str(caught.value) == f"stopped after update {update}, which is saved; next: nungil resume {folder}"
    assert caught.value.exit_code == 143
    assert newest_update(folder) == update


def resumed(folder):
    found = run("resume", str(folder))
    assert found.returncode == 0, found.stderr
    return found.stderr


def happen(folder, what, update, processes=2):
    """Run processes of which the second has something happen to it."""
    code = (
        "import sys; from pathlib import Path; from nungil.errors import *; import nungil.runs.launch as ours\n"
        "ours.LINGERING = 2.0\n"
        "try: ours.launch(Path(sys.argv[1]), int(sys.argv[2]), 1, (), [sys.executable, *sys.argv[3:]])\n"
        "except NungilError as error: print('END', error, file=sys.stderr); sys.exit(error.exit_code)"
    )
    arguments = [sys.executable, "-c", code, folder, processes, RANK, what, 1, update]
    return subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=120)


def updates_of_epoch(folder):
    """How many updates the first epoch of a run has."""
    session = Session.open(folder, to_nobody)
    order = Order(session.work.lengths(session.prepared.train), session.settings.batch_tokens, session.recipe.seed)
    return -(-len(order.epoch(0)) // session.settings.accumulation)


# 1: stop anywhere, resume, and the bytes are the same


@pytest.mark.parametrize("family", SMALL)
@pytest.mark.parametrize("settings", [(), ("training.accumulation=3",)], ids=["", "accumulating"])
def test_promise_01_resume_is_exact_wherever_it_was_stopped(family, settings, begun, tmp_path):
    folder, whole = begun(family, 1, *settings)
    epoch = updates_of_epoch(folder)
    assert 1 < epoch < UPDATES / 2, "there is a middle of an epoch, and an epoch after it"
    for stops in sorted({(1,), (epoch // 2,), (epoch,), (epoch + 1, epoch + 2), (UPDATES - 1,)}):
        copy = tmp_path / "-".join(map(str, ("stopped", *stops)))
        shutil.copytree(folder, copy)
        for stop in stops:
            stop_at(copy, stop)
        assert invoke("resume", str(copy)).returncode == 0
        assert left(copy) == left(whole)


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("lstm", ()),
        ("lstm", ("training.precision=bf16", "model.decoder=bahdanau")),  # which uses its weights at every step
        ("transformer", ()),
        ("classifier", ()),
    ],
)
def test_promise_01_where_threads_learn_from_shares_of_a_batch_too(family, settings, begun, monkeypatch):
    monkeypatch.setattr(continuing, "shares_of", lambda *_: 2)  # as if the model and its batches were large
    folder, whole = begun(family, 1, "training.accumulation=2", "training.hide=0.1", *settings)
    stop_at(folder, 5)
    assert invoke("resume", str(folder)).returncode == 0
    assert left(folder) == left(whole)


def test_promise_01_threads_that_share_weights_share_no_shortened_copies_of_them(begun, monkeypatch):
    """torch has one cache of those for all threads: whether a copy is used twice would depend on who ends first."""
    seen = set()
    monkeypatch.setattr(continuing, "shares_of", lambda *_: 2)
    folder, _ = begun("lstm", 1, "training.precision=bf16")
    session = Session.open(folder, to_nobody)
    loss = type(session.work).loss

    def watched(*given):
        if torch.is_autocast_enabled("cpu"):  # validation has no gradients
            seen.add(torch.is_autocast_cache_enabled())
        return loss(*given)

    monkeypatch.setattr(type(session.work), "loss", watched)
    session.run()
    assert seen == {False}


def test_promise_08_a_signal_after_the_last_update_is_heard_too(begun, monkeypatch):
    folder, _ = begun("lstm")
    made = Session._make_updates

    def then_a_signal(*given):
        made(*given)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(Session, "_make_updates", then_a_signal)
    with pytest.raises(StoppedError) as caught:
        Session.open(folder, to_nobody).run()
    assert str(caught.value) == f"stopped after update {UPDATES}, which is saved; next: nungil resume {folder}"
    assert not (folder / "result.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("family", "settings", "stops"),
    [
        ("lstm", (), (1, "epoch", 9)),
        ("lstm", ("training.accumulation=3",), (5,)),
        ("transformer", (), (4,)),
        ("classifier", (), ("epoch",)),
    ],
)
def test_promise_01_with_two_processes_too(family, settings, stops, begun):
    folder, whole = begun(family, 2, *settings)
    epoch = updates_of_epoch(folder)
    for stop in (epoch if stop == "epoch" else stop for stop in stops):
        assert happen(folder, "signal", stop).returncode == 143
        assert newest_update(folder) == stop
    resumed(folder)
    assert left(folder) == left(whole)


@pytest.mark.slow
def test_promise_01_with_three_processes_too(begun):
    folder, whole = begun("lstm", 3)
    assert happen(folder, "signal", 7, processes=3).returncode == 143
    resumed(folder)
    assert left(folder) == left(whole)


def test_promise_01_metrics_are_cut_back_to_the_checkpoint(begun):
    folder, whole = begun("lstm")
    stop_at(folder, 7)
    with (folder / "metrics.jsonl").open("a") as file:  # a run that was killed has logged more than it has saved
        file.write('{"kind": "train", "update": 8, "loss": 1.0}\n{"kind": "train", "upd')
    assert invoke("resume", str(folder)).returncode == 0
    assert left(folder)[2] == left(whole)[2]


def _seconds(folder):
    return [json.loads(line)["seconds"] for line in (folder / "metrics.jsonl").read_text().splitlines()]


def test_a_finished_run_can_be_resumed_and_stays_what_it_is(undisturbed):
    _, whole = undisturbed("lstm")
    before, seconds = left(whole), _seconds(whole)
    found = invoke("resume", str(whole))
    assert found.returncode == 0, found.stderr
    assert json.loads((whole / "result.json").read_text())["seconds"] > max(seconds), "those before count too"
    assert f"Next: echo 'a sentence' | nungil translate {whole}\n" in found.stderr
    assert f"All {UPDATES} updates are done: choosing and scoring the model again." in found.stderr
    assert left(whole) == before


# 2: order and randomness are pure functions; any number of processes sees the same batches

lengths = st.lists(st.tuples(st.integers(1, 9), st.integers(1, 11)), min_size=1, max_size=60)


@given(lengths, st.integers(1, 4), st.integers(1, 5), st.integers(0, 30))
def test_promise_02_many_processes_see_the_same_batches_as_one(rows, accumulation, world, cut):
    order = Order([np.array(side) for side in zip(*rows, strict=True)], 24, seed=3)
    course = updates(order, accumulation, BEGINNING)
    place = BEGINNING
    for _ in range(cut):
        place = next(course).after
    for _, update in zip(range(3), updates(order, accumulation, place), strict=False):
        dealt = list(shares(update.groups, world))
        seen = sorted(int(row) for share in dealt for part in share for row in part)
        assert seen == sorted(int(row) for group in update.groups for row in group)
        sizes = [sum(len(share[rank]) for share in dealt) for rank in range(world)]
        if accumulation == 1:
            assert max(sizes) - min(sizes) <= 1, "none of them waits for another"


@pytest.mark.slow
@pytest.mark.parametrize("family", SMALL)
def test_promise_02_two_processes_learn_what_one_does(family, undisturbed):
    """Where nothing is dropped or hidden, only the order of a sum differs: in bfloat16 that would show too soon.

    So it would at a high learning rate: the gradient of a key's bias is nothing but rounding, and AdamW makes it walk.
    """
    settings = ("model.dropout=0", "training.hide=0", "training.accumulation=3", "training.precision=fp32")
    settings += ("training.schedule.rate=0.003",)
    one, two = (left(undisturbed(family, processes, *settings)[1])[2] for processes in (1, 2))
    assert len(one) == len(two) > UPDATES
    for line, other in zip(one, two, strict=True):
        names = ["loss", "gradient", "accuracy"] if line["kind"] == "train" else ["loss"]
        assert [other[name] for name in names] == pytest.approx([line[name] for name in names], rel=1e-3)


@pytest.mark.skipif(
    not Path("/proc/self/task").is_dir(), reason="threads that Python does not know of are read in /proc"
)
def test_processes_that_were_together_leave_no_thread_behind(tmp_path):
    """One that meets the end of Python would end the process with SIGABRT, though its run was finished."""
    code = (
        "import os; from pathlib import Path; from nungil.training.ranks import joined\n"
        "with joined() as ranks:\n"
        "    ranks.total(1.0)\n"
        "    import torch._dynamo  # which imports a module that holds on to the group of that moment\n"
        "for place in Path('/proc/self/task').iterdir(): print((place / 'comm').read_text().strip())"
    )
    told = os.environ | {"WORLD_SIZE": "2", MEETING: str(tmp_path / "meeting")}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", code], env=told | {"RANK": str(rank)}, stdout=subprocess.PIPE, text=True
        )
        for rank in range(2)
    ]
    names = [name for process in both for name in process.communicate(timeout=120)[0].split()]
    assert [process.returncode for process in both] == [0, 0]
    assert names
    assert not [name for name in names if "gloo" in name]


# 3: a checkpoint is whole or absent

FIFTHS = 5


def killed_and_resumed(folder, kills, seed):
    """Kill −9 at random moments and resume, again and again: the folders of the runs that came to their end so.

    A run is killed a few times and then let go on: its end takes longer than a kill waits, and would meet all the rest.
    """
    draw = random.Random(seed)
    while kills:
        out = folder.with_name(f"{folder.name}-{kills}")
        shutil.copytree(folder, out)
        for _ in range(min(kills, draw.randint(1, 2 * FIFTHS))):
            if begun_update(out) == UPDATES:
                break
            killed(out, draw)
            kills -= 1
        resumed(out)
        yield out


def begun_update(out):
    """The update that a run would go on after."""
    return newest_update(out) if checkpoints(out / "checkpoints") else 0


def killed(out, draw):
    """Go on with a run, and kill it, or one of its processes, somewhere in the fifth of it that comes then."""
    first = begun_update(out)
    with start("resume", out) as process:
        wait_for_update(process, min(UPDATES, first + draw.randint(1, UPDATES // FIFTHS)))
        try:
            process.communicate(timeout=draw.uniform(0, 0.05))
        except subprocess.TimeoutExpired:
            os.kill(draw.choice([process.pid, *children(process.pid)]), signal.SIGKILL)
            process.communicate(timeout=20)  # all of its processes let go of stderr
    for place in checkpoints(out / "checkpoints"):
        checkpoint.verify(place)


def children(pid):
    """The processes that a process has started."""
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("family", SMALL)
def test_promise_03_kill_at_random_moments(family, processes, begun, kills):
    folder, whole = begun(family, processes, OFTEN)
    runs = list(killed_and_resumed(folder, kills[processes], f"{family} {processes}"))
    assert runs
    for out in runs:
        assert left(out) == left(whole), out.name


def test_promise_03_a_broken_checkpoint_is_passed_over(begun):
    folder, whole = begun("lstm")
    stop_at(folder, EVERY + 5)
    last = checkpoints(folder / "checkpoints")[-1] / "model.safetensors"
    last.write_bytes(last.read_bytes()[:-1] + b"?")
    found = invoke("resume", str(folder))
    assert found.returncode == 0, found.stderr
    assert f"checkpoints/{last.parent.name} is broken and was passed over." in found.stderr
    assert f"Continuing after update {EVERY} of {UPDATES}." in found.stderr
    assert left(folder) == left(whole)


def test_a_run_whose_checkpoints_are_gone_begins_anew_and_says_so(begun):
    folder, whole = begun("lstm")
    said = "There is no checkpoint: starting over at the first update.\n"
    stop_at(folder, 7)
    shutil.rmtree(folder / "checkpoints")
    assert said in resumed(folder)
    assert left(folder) == left(whole)
    for name in ("checkpoints", "metrics.jsonl"):  # as a run is that has only read its data
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert said not in resumed(folder)


def test_promise_03_a_broken_checkpoint_never_becomes_the_model(undisturbed, tmp_path):
    _, whole = undisturbed("lstm")
    folder = shutil.copytree(whole, tmp_path / "run")
    *older, last = checkpoints(folder / "checkpoints")
    assert older
    for place in older:
        weights = place / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-1] + b"?")  # of the right size, and still to be read
    said = resumed(folder)
    assert all(f"checkpoints/{place.name} is broken and was passed over." in said for place in older)
    made, right = (read_tensors(place / "model.safetensors") for place in (folder, last))
    assert all(torch.equal(made[name], right[name]) for name in right)


# 4: the order of writing


def test_promise_04_everything_is_durable_before_it_is_named(tmp_path, monkeypatch):
    done = []

    def noted(name, function):
        def call(*arguments, **options):
            done.append((name, *(Path(str(one)).name for one in arguments if isinstance(one, str | Path))))
            return function(*arguments, **options)

        return call

    monkeypatch.setattr(os, "fsync", noted("sync", os.fsync))
    monkeypatch.setattr(checkpoint, "write_durably", noted("write", atomic.write_durably))
    monkeypatch.setattr(checkpoint, "sync", noted("folder", atomic.sync))
    monkeypatch.setattr(Path, "rename", noted("rename", Path.rename))
    write_checkpoint(tmp_path / "checkpoints", 7, {"a": torch.ones(2)}, {"a/step": torch.ones(1)}, {"update": 7})
    beside = next(name for kind, name, *_ in (one for one in done if one[0] == "rename"))
    written = ["model.safetensors", "optimizer.safetensors", "state.json", "manifest.json"]
    expected = [step for name in written for step in (("write", name), ("sync",))]
    expected += [
        ("folder", beside),
        ("sync",),
        ("rename", beside, "step-00000007"),
        ("folder", "checkpoints"),
        ("sync",),
    ]
    assert done == expected


# 5: rotation


def test_promise_05_rotation_never_takes_the_best_nor_the_last_finite_one(begun, monkeypatch):
    folder, _ = begun("transformer")
    stop_at(folder, EVERY + 3)
    best = checkpoints(folder / "checkpoints")[0].name
    assert best == f"step-{EVERY:08d}"

    def spoiled(session, batch):
        for parameter in session._model.parameters():
            parameter.data.fill_(torch.nan)
        return true_loss(session, batch)

    true_loss = Session._loss
    monkeypatch.setattr(Session, "_loss", spoiled)
    found = invoke("resume", str(folder))
    assert found.returncode == 6
    assert "training diverged" in found.stderr
    kept = [place.name for place in checkpoints(folder / "checkpoints")]
    assert kept == [best, f"step-{EVERY + 3:08d}"]
    for place in kept:
        tensors = read_tensors(folder / "checkpoints" / place / "model.safetensors")
        assert all(bool(tensor.isfinite().all()) for tensor in tensors.values())


# 6: a full disk


@pytest.mark.slow
@pytest.mark.parametrize("processes", PROCESSES)
def test_promise_06_a_full_disk_leaves_the_checkpoint_before(processes, begun):
    folder, whole = begun("lstm", processes)
    with start("resume", folder) as process:
        wait_for_update(process, 9)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    before = newest(folder / "checkpoints")
    most = (before / "model.safetensors").stat().st_size - 1
    found = run_with_little_room(most, "resume", str(folder))
    assert found.returncode == 5, found.stderr
    assert re.search(r"nungil: .*model\.safetensors: cannot be written: File too large", found.stderr)
    assert found.stderr.count("nungil:") == 1
    assert "Traceback" not in found.stderr
    assert newest(folder / "checkpoints") == before
    assert [path.name for path in (folder / "checkpoints").iterdir() if path.name.startswith(".")] == []
    resumed(folder)
    assert left(folder) == left(whole)


def test_promise_06_also_while_the_data_is_read(undisturbed, tmp_path):
    arguments, _ = undisturbed("lstm")
    found = run_with_little_room(500, *arguments, "--out", str(tmp_path / "runs" / "run"))
    assert found.returncode == 5, found.stderr
    assert "File too large" in found.stderr
    assert not (tmp_path / "runs").exists()


# 7: infinity


@pytest.mark.slow
def test_promise_07_infinity_on_one_process_is_left_out_by_both(begun):
    folder, _ = begun("lstm", 2)
    found = happen(folder, "infinity", 5)
    assert found.returncode == 0, found.stderr
    told = re.findall(r"update (\d+) was skipped: its gradient is not finite \((.*)\)", found.stderr)
    assert [number for number, _ in told] == ["5"]
    assert re.fullmatch(r"epoch 1; \d+ rows of data/train: (\d+, ){4}\d+ …", told[0][1])
    assert found.stderr.count("was skipped") == 1, "said once, though both skip it"
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    by_update = {line["update"]: line for line in lines if line["kind"] == "train"}
    assert by_update[5]["gradient"] is None
    assert by_update[6]["gradient"] > 0


def test_promise_07_too_many_in_a_row_have_an_exit_code_of_their_own(begun, monkeypatch):
    folder, _ = begun("classifier")
    true_loss = Session._loss

    def infinite(session, batch):
        loss = true_loss(session, batch)
        return loss._replace(total=loss.total * torch.inf)

    monkeypatch.setattr(Session, "_loss", infinite)
    found = invoke("resume", str(folder))
    assert found.returncode == 6
    assert found.stderr.strip().splitlines()[-1] == (
        "nungil: training diverged: the gradient was not finite in 10 updates in a row, up to 10; "
        "lower the learning rate (--set training.schedule.rate=…) or warm up longer"
    )


# 8: signals


@pytest.mark.slow
@pytest.mark.parametrize(
    ("processes", "number", "code"),
    [(1, signal.SIGINT, 130), (1, signal.SIGTERM, 143), (1, signal.SIGHUP, 129), (2, signal.SIGINT, 130)],
)
def test_promise_08_a_signal_ends_it_between_two_updates(processes, number, code, begun):
    folder, whole = begun("transformer", processes)
    with start("resume", folder) as process:
        wait_for_update(process, 5)
        process.send_signal(number)
        told = process.stderr.read()
    assert process.returncode == code
    assert told.strip().splitlines()[-1].endswith(f"which is saved; next: nungil resume {folder}")
    assert told.count("nungil: ") == 1
    assert "Traceback" not in told
    assert 5 <= newest_update(folder) < UPDATES
    resumed(folder)
    assert left(folder) == left(whole)


@pytest.mark.parametrize("when", [f"update {UPDATES} of", f"validation after {UPDATES} updates"])
def test_promise_08_a_signal_at_the_very_end_is_heard_too(when, begun):
    folder, whole = begun("lstm")

    def hear(text):
        if text.startswith(when):
            signal.raise_signal(signal.SIGTERM)

    with pytest.raises(StoppedError) as caught:
        Session.open(folder, hear).run()
    assert str(caught.value) == f"stopped after update {UPDATES}, which is saved; next: nungil resume {folder}"
    assert caught.value.exit_code == 143
    resumed(folder)
    assert left(folder) == left(whole)


SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_promise_08_while_the_data_is_read_nothing_is_left_whichever_signal_it_is(number, code, undisturbed, tmp_path):
    arguments, _ = undisturbed("lstm")
    with start(*arguments, "--out", tmp_path / "runs" / "run") as process:
        assert process.stderr.readline().startswith("Reading the data")
        process.send_signal(number)
        told = process.stderr.read()
    assert process.returncode == code
    assert told == "nungil: stopped while the data was read; nothing of this run is kept\n"
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(("number", "code"), SIGNALS)
def test_promise_08_after_the_last_update_the_way_on_is_named(number, code, begun, monkeypatch):
    folder, whole = begun("lstm")
    with monkeypatch.context() as disturbed:
        disturbed.setattr(Session, "_choose", lambda _: signal.raise_signal(number))
        found = invoke("resume", str(folder))
    assert found.returncode == code
    assert found.stderr.splitlines()[-1] == f"nungil: stopped; next: nungil resume {folder}"
    resumed(folder)
    assert left(folder) == left(whole)


@pytest.mark.slow
def test_promise_08_under_torchrun_a_signal_to_any_process_saves(undisturbed, tmp_path):
    arguments, whole = undisturbed("lstm", 2)
    asked = [RANK, "signal", "1", "11", *arguments[:-2], "--out", str(tmp_path / "run")]
    found = subprocess.run([*TORCHRUN, *asked], capture_output=True, text=True, timeout=120)
    assert found.returncode != 0
    assert "stopped after update 11, which is saved" in found.stderr
    assert newest_update(tmp_path / "run") == 11
    again = [*TORCHRUN, "-m", "nungil", "resume", str(tmp_path / "run")]
    found = subprocess.run(again, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    assert left(tmp_path / "run") == left(whole)


@pytest.mark.slow
@pytest.mark.parametrize("processes", [1, 2])
def test_promise_08_a_second_signal_ends_it_at_once(processes, begun):
    folder, _ = begun("lstm", processes)
    with start("resume", folder) as process:
        wait_for_update(process, 3)
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert process.returncode in (-signal.SIGTERM, 143)


# 9: nothing is written over


def test_promise_09_train_refuses_a_folder_that_holds_a_run(undisturbed):
    arguments, whole = undisturbed("lstm")
    before = left(whole)
    found = invoke(*arguments, "--out", str(whole))
    assert found.returncode == 2
    assert f"or go on with it: nungil resume {whole}" in found.stderr
    assert left(whole) == before


def test_promise_09_and_what_a_kill_left_while_the_data_was_read(undisturbed, tmp_path):
    arguments, _ = undisturbed("lstm")
    (tmp_path / "run" / "data").mkdir(parents=True)
    found = invoke(*arguments, "--out", str(tmp_path / "run"))
    assert found.returncode == 2
    assert "or was stopped while it read its data, too early to be gone on with" in found.stderr
    assert (tmp_path / "run" / "data").is_dir()


def test_promise_09_of_two_runs_that_begin_at_once_the_second_leaves_the_first_alone(
    undisturbed, tmp_path, monkeypatch
):
    arguments, _ = undisturbed("lstm")
    out, refused = tmp_path / "run", []

    def begin_another(*given):
        monkeypatch.setattr(preparing, "prepare", true_prepare)
        refused.append(invoke(*arguments, "--out", str(out)))
        return true_prepare(*given)

    true_prepare = preparing.prepare
    monkeypatch.setattr(preparing, "prepare", begin_another)
    first = invoke(*arguments, "--out", str(out))
    assert first.returncode == 0, first.stderr
    assert [found.returncode for found in refused] == [2]
    assert "another run is reading its data into it" in refused[0].stderr
    assert (out / "result.json").is_file()


def test_promise_09_two_processes_never_train_in_one_folder(begun, monkeypatch):
    folder, whole = begun("lstm")
    monkeypatch.setattr(running, "ENDING", 0.1)
    with locked(folder, "nobody has it yet"):
        found = invoke("resume", str(folder))
        assert found.returncode == 2
        assert f"{folder}: another process is training in it; wait until it has ended, or stop it" in found.stderr
        assert not (folder / "checkpoints").exists()
    resumed(folder)
    assert left(folder) == left(whole)


def test_promise_09_a_run_on_its_way_keeps_its_recipe(begun, monkeypatch):
    folder, _ = begun("lstm")
    recipe = (folder / "recipe.json").read_bytes()
    monkeypatch.setattr(running, "ENDING", 0.1)
    with locked(folder, "nobody has it yet"):
        found = invoke("resume", str(folder), "--processes", "2", "--accept-changes")
    assert found.returncode == 2
    assert "another process is training in it" in found.stderr
    assert (folder / "recipe.json").read_bytes() == recipe


@pytest.mark.parametrize("processes", [0, 5_000])
def test_a_number_of_processes_that_cannot_be_is_refused_and_not_kept(processes, begun):
    folder, _ = begun("lstm")
    recipe = (folder / "recipe.json").read_bytes()
    with pytest.raises(ConfigError, match=r"^recipe, training:\n- processes: must be at (least 1|most 1024)$"):
        running.resume(folder, processes=processes, accept_changes=True, quiet=True)
    assert (folder / "recipe.json").read_bytes() == recipe


def test_promise_09_one_that_is_ending_is_waited_for(tmp_path):
    def take():
        with locked(tmp_path, "the other has not let go", patience=60):
            return "taken"

    with ThreadPoolExecutor(1) as pool:
        with locked(tmp_path, "nobody has it yet"):
            waiting = pool.submit(take)
            with pytest.raises(TimeoutError):
                waiting.result(timeout=0.2)
        assert waiting.result(timeout=60) == "taken"


# 10: another run is not gone on with


def test_promise_10_changed_data_is_refused_unless_it_is_meant(begun):
    folder, _ = begun("lstm")
    stop_at(folder, 7)
    put_other_data(folder)
    found = invoke("resume", str(folder))
    assert found.returncode == 4
    assert found.stderr == (
        f"nungil: {folder}: not what step-00000007 was trained with: the training data was changed; restore it, "
        "train again in another folder, or continue with --accept-changes\n"
    )
    found = invoke("resume", str(folder), "--accept-changes")
    assert found.returncode == 0, found.stderr
    assert "Accepted: the training data was changed." in found.stderr


def put_other_data(folder):
    """Another training set, which is whole in itself, in the place of that of a run."""
    shutil.rmtree(folder / "data" / "train")
    shutil.copytree(folder / "data" / "valid", folder / "data" / "train")


@pytest.mark.parametrize(("name", "told"), [("validation", "validation set"), ("test", "test set")])
def test_promise_10_another_text_to_score_is_refused(name, told, begun):
    folder, _ = begun("lstm")
    stop_at(folder, 7)
    records = folder / "data" / f"{name}.jsonl"
    lines = records.read_text().splitlines(keepends=True)
    records.write_text("".join(lines[1:]))
    found = invoke("resume", str(folder))
    assert found.returncode == 4
    assert f"trained with: the text of the {told} was changed; restore it, " in found.stderr


def refused_until_accepted(folder, changed):
    """Resume a run that was stopped after update 7, of which this was changed."""
    found = invoke("resume", str(folder))
    assert found.returncode == 4
    assert f"step-00000007 was trained with: {'; '.join(changed)}; restore it, " in found.stderr
    found = invoke("resume", str(folder), "--accept-changes")
    assert found.returncode == 0, found.stderr
    for what in changed:
        assert f"Accepted: {what}.\n" in found.stderr


def test_promise_10_other_settings_are_refused_unless_they_are_meant(begun):
    folder, _ = begun("lstm")
    stop_at(folder, 7)
    recipe = json.loads((folder / "recipe.json").read_text())
    training = recipe["training"]
    steps, rate = training["steps"], training["schedule"]["rate"]
    training["log_every"], training["steps"], training["schedule"]["rate"] = 3, steps + 2, 0.0123
    (folder / "recipe.json").write_text(json.dumps(recipe))
    changed = [f"training.steps was {steps} and is {steps + 2}", f"training.schedule.rate was {rate} and is 0.0123"]
    refused_until_accepted(folder, changed)
    assert json.loads((folder / "metrics.jsonl").read_text().splitlines()[-1])["update"] == steps + 2


def test_promise_10_what_the_recipe_says_of_the_beginning_is_of_no_use_later_and_is_not_changed_in_silence(begun):
    folder, whole = begun("lstm")
    stop_at(folder, 7)
    recipe = json.loads((folder / "recipe.json").read_text())
    width, train = recipe["model"]["width"], recipe["data"]["train"]
    recipe["model"]["width"], recipe["cleaning"]["drop_copies"] = 2 * width, True
    recipe["data"]["train"] = [*train, "더.tsv"]
    (folder / "recipe.json").write_text(json.dumps(recipe))
    values = [
        f'data.train was {json.dumps(train)} and is ["{train[0]}", "더.tsv"]',
        "cleaning.drop_copies was false and is true",
        f"model.width was {width} and is {2 * width}",
    ]
    changed = [f"{one} in recipe.json, where that has no effect on a run that has begun" for one in values]
    refused_until_accepted(folder, changed)
    assert (folder / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_promise_10_another_model_is_refused_before_it_is_made(begun):
    folder, _ = begun("lstm")
    stop_at(folder, 7)
    config = json.loads((folder / "config.json").read_text())
    dropout, width = config["model"]["dropout"], config["model"]["width"]
    config["model"] |= {"dropout": 0.25, "width": 2 * width}
    (folder / "config.json").write_text(json.dumps({**config, "stretch": 7.5}))
    found = invoke("resume", str(folder))
    assert found.returncode == 4
    changed = [f"stretch was {config['stretch']} and is 7.5", f"model.width was {width} and is {2 * width}"]
    for what in (*changed, f"model.dropout was {dropout} and is 0.25"):
        assert what in found.stderr


def test_promise_10_settings_that_make_no_other_model_may_change(begun):
    folder, whole = begun("lstm")
    stop_at(folder, 7)
    recipe = json.loads((folder / "recipe.json").read_text())
    recipe["training"]["checkpoint_minutes"] = 7.5
    (folder / "recipe.json").write_text(json.dumps(recipe))
    resumed(folder)
    assert left(folder) == left(whole)


def test_promise_10_a_checkpoint_of_an_older_version_has_less_to_compare(begun):
    folder, whole = begun("lstm")
    stop_at(folder, 7)
    (place,) = checkpoints(folder / "checkpoints")
    state, manifest = (json.loads((place / name).read_text()) for name in ("state.json", "manifest.json"))
    known = {"training data", "validation data", "vocabulary", "processes", "torch"}
    state["fingerprints"] = {name: value for name, value in state["fingerprints"].items() if name in known}
    content = json.dumps(state).encode()
    (place / "state.json").write_bytes(content)
    (place / "manifest.json").write_text(json.dumps({**manifest, "state.json": hashlib.sha256(content).hexdigest()}))
    resumed(folder)
    assert left(folder) == left(whole)


@pytest.mark.parametrize("store", ["train", "valid"])
def test_promise_10_a_flipped_id_is_noticed(store, begun):
    folder, _ = begun("lstm")
    stop_at(folder, 7)
    ids = folder / "data" / store / "source.ids"
    content = bytearray(ids.read_bytes())
    content[4] ^= 1
    ids.write_bytes(content)
    found = invoke("resume", str(folder))
    assert found.returncode == 3
    assert "the stored ids were changed since they were written" in found.stderr


def test_promise_10_another_vocabulary_is_refused(begun):
    folder, _ = begun("lstm")
    stop_at(folder, 7)
    tokenizer = folder / "source.json"
    tokenizer.write_text(tokenizer.read_text() + "\n")
    found = invoke("resume", str(folder))
    assert found.returncode == 4
    assert "source.json" in found.stderr


@pytest.mark.slow
def test_promise_10_another_number_of_processes_is_refused_unless_it_is_meant(begun):
    folder, _ = begun("lstm", 2)
    assert happen(folder, "signal", 7).returncode == 143
    found = invoke("resume", str(folder), "--processes", "1")
    assert found.returncode == 2
    assert found.stderr.strip() == (
        f"nungil: {folder}: --processes 1, but it was started with 2, and another number sums in another order; "
        "continue as it was started, or add --accept-changes"
    )
    found = subprocess.run(
        [*TORCHRUN[:-3], "3", *TORCHRUN[-2:], "-m", "nungil", "resume", str(folder)], capture_output=True, text=True
    )
    assert found.returncode != 0
    assert "it was trained by 2 processes, and now by 3 processes" in found.stderr
    found = invoke("resume", str(folder), "--processes", "1", "--accept-changes")
    assert found.returncode == 0, found.stderr
    assert "Accepted: it was trained by 2 processes, and now by one process." in found.stderr
    assert read_settings(folder / "recipe.json", Recipe).training.processes == 1


def test_what_is_no_run_is_refused(tmp_path):
    (tmp_path / "empty").mkdir()
    assert "not a run that can be resumed" in invoke("resume", str(tmp_path / "empty")).stderr
    assert invoke("resume", str(tmp_path / "empty")).returncode == 4
    assert "there is no such folder" in invoke("resume", str(tmp_path / "nothing")).stderr


# A process that dies


@pytest.mark.slow
def test_one_that_is_killed_ends_all_and_the_way_on_is_named(begun):
    folder, whole = begun("lstm", 2)
    found = happen(folder, "death", 9)
    assert found.returncode == 137
    assert found.stderr.strip().splitlines()[-1] == (
        f"END process 1 of 2 was ended by SIGKILL, and the others with it; next: nungil resume {folder}"
    )
    assert "Traceback" not in found.stderr
    resumed(folder)
    assert left(folder) == left(whole)


def test_one_that_a_nameless_signal_ends_is_told_by_its_number(tmp_path):
    code = "import os, signal; os.kill(os.getpid(), signal.SIGRTMIN + 3)"
    with pytest.raises(StoppedError, match=rf"of 2 was ended by signal {signal.SIGRTMIN + 3}, and") as caught:
        launch(tmp_path, 2, 1, (), [sys.executable, "-c", code])
    assert caught.value.exit_code == 128 + signal.SIGRTMIN + 3


@pytest.mark.parametrize("started", [0, 1])
def test_a_signal_that_comes_before_all_are_started_is_heard_by_all(tmp_path, monkeypatch, started):
    ended, environment, watch = [], launching._environment, launching._watch

    def interrupted(rank, *given):
        if rank == started:
            signal.raise_signal(signal.SIGTERM)
        return environment(rank, *given)

    def watched(children):
        ended.extend(watch(children))
        return ended

    monkeypatch.setattr(launching, "_environment", interrupted)
    monkeypatch.setattr(launching, "_watch", watched)
    with pytest.raises(StoppedError, match="of 2 was ended by SIGTERM, and the others with it") as caught:
        launch(tmp_path, 2, 1, (), [sys.executable, "-c", "import time; time.sleep(20)"])
    assert caught.value.exit_code == 143
    assert sorted(ended) == [(0, -signal.SIGTERM), (1, -signal.SIGTERM)]


@pytest.mark.slow
def test_the_error_of_one_is_said_first_and_once_and_its_code_is_that_of_the_command(begun):
    folder, _ = begun("lstm", 2)
    found = happen(folder, "fault", 4)
    assert found.returncode == 5
    said = [line for line in found.stderr.splitlines() if not line.startswith(("update", "Going"))]
    assert said == ["nungil: the fault of process 1", "END process 1 of 2 ended with exit code 5, and said why"]


@pytest.mark.slow
def test_one_that_does_not_end_when_all_is_done_is_not_waited_for(begun):
    folder, whole = begun("lstm", 2)
    found = happen(folder, "staying", UPDATES)
    assert found.returncode == 0, found.stderr
    assert left(folder) == left(whole)
