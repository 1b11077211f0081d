"""From records to a store: the same bytes in any number of processes, nothing half-written, errors in a sentence."""

import contextlib
import errno
import gc
import multiprocessing
import os
import signal
import struct
import subprocess
import sys
from multiprocessing.connection import Connection

import pytest

from nungil.batches import build, workers
from nungil.batches.build import build_labelled_store, build_pair_store
from nungil.batches.workers import map_in_order
from nungil.errors import CorpusError, ResourceError
from nungil.records import Labelled, Pair
from nungil.text.tokenizers import Sample, Tokenizers, TokenizerSettings, train_tokenizer

SENTENCES = [f"I like snow number {n} and the snowy road {n % 7}" for n in range(900)]


@pytest.fixture(scope="module")
def tokenizers():
    sample = Sample()
    for text in SENTENCES:
        sample.add(text)
    tokenizer = train_tokenizer(sample, TokenizerSettings(unit="bpe", size=400))
    return Tokenizers(tokenizer, tokenizer)


def pairs():
    return (Pair(text, text[::-1], "made.tsv", line) for line, text in enumerate(SENTENCES, start=1))


def test_a_store_holds_every_pair_in_order(tmp_path, tokenizers):
    built = build_pair_store(pairs(), tokenizers, tmp_path / "ids")
    assert (len(built.store), built.too_long) == (900, 0)
    for row in (0, 1, 899):
        assert tokenizers.source.decode(built.store.columns["source"].row(row).tolist()) == SENTENCES[row]
        assert tokenizers.target.decode(built.store.columns["target"].row(row).tolist()) == SENTENCES[row][::-1]


def test_any_number_of_processes_writes_the_same_bytes(tmp_path, tokenizers, monkeypatch):
    monkeypatch.setattr(build, "CHUNK", 64)
    monkeypatch.setattr(build, "SMALL", 128)
    alone = build_pair_store(pairs(), tokenizers, tmp_path / "alone", processes=1)
    together = build_pair_store(pairs(), tokenizers, tmp_path / "together", processes=2)
    assert alone.store.fingerprint == together.store.fingerprint
    together.store.verify()


def test_rows_of_too_many_tokens_are_left_out_and_counted(tmp_path, tokenizers):
    longest = max(len(tokenizers.source.encode(text)) for text in SENTENCES)
    source_and_target = [(text, text) for text in SENTENCES]
    short = sum(len(tokenizers.source.encode(text)) < longest for text in SENTENCES)
    built = build_pair_store(
        [Pair(*pair) for pair in source_and_target], tokenizers, tmp_path / "ids", longest=longest - 1
    )
    assert (len(built.store), built.too_long) == (short, 900 - short)


def test_labels_are_numbered(tmp_path, tokenizers):
    texts = [Labelled("I like snow", "good"), Labelled("the road", "bad"), Labelled("snowy road", "good")]
    store = build_labelled_store(texts, tokenizers.source, ("bad", "good"), tmp_path / "ids").store
    assert [store.columns["label"].row(row).tolist() for row in range(3)] == [[1], [0], [1]]
    with pytest.raises(CorpusError, match="label 'ugly' is not one of bad, good"):
        build_labelled_store([Labelled("x", "ugly")], tokenizers.source, ("bad", "good"), tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_an_error_while_reading_leaves_nothing_behind(tmp_path, tokenizers):
    def broken():
        yield from pairs()
        raise CorpusError("made.tsv:901: not UTF-8")

    with pytest.raises(CorpusError, match=r"made\.tsv:901"):
        build_pair_store(broken(), tokenizers, tmp_path / "ids")
    assert list(tmp_path.iterdir()) == []


def test_an_error_in_another_process_arrives_as_it_was(tmp_path, tokenizers, monkeypatch):
    monkeypatch.setattr(build, "CHUNK", 64)
    monkeypatch.setattr(build, "SMALL", 128)
    texts = [Labelled(text, "good") for text in SENTENCES] + [Labelled("x", "ugly")]
    with pytest.raises(CorpusError, match="label 'ugly' is not one of good"):
        build_labelled_store(texts, tokenizers.source, ("good",), tmp_path / "ids", processes=2)
    assert list(tmp_path.iterdir()) == []


def _square(number):
    if number == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


@pytest.mark.parametrize("count", [0, 1, 2, 3, 17])
def test_several_processes_answer_in_order(count):
    assert list(map_in_order(_square, range(count), 3)) == [number * number for number in range(count)]


@pytest.mark.parametrize("after", [0, 1, 5])
def test_a_process_that_is_killed_ends_the_work_and_does_not_hang(after):
    with pytest.raises(ResourceError, match="a process that worked for this one was killed"):
        list(map_in_order(_square, [*range(after), "die", *range(9)], 2))


def test_an_answer_that_breaks_off_ends_the_work():
    with pytest.raises(ResourceError, match="a process that worked for this one was killed"):
        list(map_in_order(_break_off, range(3), 2))


def _break_off(_):
    """Announce a hundred bytes to whoever reads, give three, and be gone."""
    (pipe,) = (one for one in gc.get_objects() if isinstance(one, Connection) and not one.closed)
    os.write(pipe.fileno(), struct.pack("!i", 100) + b"abc")
    os.kill(os.getpid(), signal.SIGKILL)


def test_where_a_process_cannot_be_started_those_before_it_are_ended(monkeypatch):
    context, started = multiprocessing.get_context("fork"), []
    start = context.Process.start

    def scarce(process):
        if len(started) == 2:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        started.append(process)
        start(process)

    monkeypatch.setattr(context.Process, "start", scarce)
    monkeypatch.setattr(workers, "_context", lambda: context)
    message = "process 3 of 4 could not be started: Resource temporarily unavailable"
    with pytest.raises(ResourceError, match=message):
        list(map_in_order(abs, range(9), 4))
    # One that finds its pipe closed before it is killed ends by itself; either way none is left.
    assert len(started) == 2
    assert all(process.exitcode in (0, -signal.SIGKILL) for process in started)


def test_only_a_few_items_are_under_way():
    taken = []

    def items():
        for number in range(50):
            taken.append(number)
            yield number

    answers = map_in_order(_square, items(), 2)
    for number in range(10):
        assert next(answers) == number * number
        assert len(taken) <= number + 4
    answers.close()
    assert not multiprocessing.active_children()


def test_processes_end_when_the_one_they_work_for_is_killed():
    """None of them is left behind: whoever reads what they could still say is told that it is over."""
    script = (
        "import os, signal; from nungil.batches.workers import map_in_order\n"
        "answers = map_in_order(abs, range(9), 3)\n"
        "print(next(answers), flush=True); os.kill(os.getpid(), signal.SIGKILL)"
    )
    command = [sys.executable, "-c", script]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert process.communicate(timeout=30)[0] == "0\n"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def test_processes_are_ended_also_where_sigterm_is_not_heard():
    """They are copies of a process that may have a handler of its own, and hold each other's pipes."""
    script = (
        "import signal; from nungil.batches.workers import map_in_order\n"
        "signal.signal(signal.SIGTERM, lambda *_: None)\n"
        "answers = map_in_order(abs, range(9), 3)\n"
        "print(next(answers)); answers.close(); print('closed')"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert found.stdout == "0\nclosed\n"


def test_nothing_to_store_is_an_error(tmp_path, tokenizers):
    with pytest.raises(CorpusError, match="nothing is left to train on: no record is clean and short enough"):
        build_pair_store([], tokenizers, tmp_path / "ids")
    assert list(tmp_path.iterdir()) == []


def test_building_imports_no_torch():
    script = "import nungil.batches.build, sys; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "False\n"
