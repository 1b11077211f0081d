"""The store: what goes in comes out, complete or absent; batches made of it."""

import json

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from nungil.batches.batch import labelled_batch, marked_lengths, pad, pair_batch, pair_batches
from nungil.batches.store import Store, StoreWriter
from nungil.errors import CorpusError, ResourceError
from nungil.text.tokenizers import Ids

rows_of_ids = st.lists(st.lists(st.integers(0, 70_000), min_size=1, max_size=9), min_size=1, max_size=30)


def write(folder, source, target, size=70_001, chunk=7):
    with StoreWriter(folder, {"source": size, "target": size}) as writer:
        for start in range(0, len(source), chunk):
            part = slice(start, start + chunk)
            writer.append({"source": Ids.join(source[part]), "target": Ids.join(target[part])})
    return Store(folder)


@given(rows_of_ids)
def test_what_goes_in_comes_out(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("store") / "ids"
    store = write(folder, rows, rows[::-1])
    assert len(store) == len(rows)
    assert [store.columns["source"].row(n).tolist() for n in range(len(rows))] == rows
    assert [store.columns["target"].row(n).tolist() for n in range(len(rows))] == rows[::-1]
    assert store.columns["source"].lengths().tolist() == [len(row) for row in rows]
    store.verify()
    assert [path.name for path in folder.parent.iterdir()] == ["ids"], "nothing is left beside it"


def test_the_fingerprint_is_of_the_content_not_of_the_chunks(tmp_path):
    rows = [[5, 6, 7], [8], [9, 10]]
    one = write(tmp_path / "one", rows, rows, chunk=1)
    other = write(tmp_path / "other", rows, rows, chunk=3)
    different = write(tmp_path / "different", rows, [[5, 6, 7], [8, 9], [10]])
    assert one.fingerprint == other.fingerprint != different.fingerprint


def test_small_vocabularies_take_two_bytes_an_id(tmp_path):
    write(tmp_path / "small", [[65_535]], [[1]], size=65_536)
    write(tmp_path / "large", [[65_536]], [[1]], size=65_537)
    assert (tmp_path / "small" / "source.ids").stat().st_size == 2
    assert Store(tmp_path / "large").columns["source"].row(0).tolist() == [65_536]


def test_a_store_that_fails_half_way_is_not_there(tmp_path):
    def fail():
        with StoreWriter(tmp_path / "ids", {"source": 9}) as writer:
            writer.append({"source": Ids.join([[1, 2]])})
            raise KeyError("stopped")

    with pytest.raises(KeyError, match="stopped"):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_store_is_never_written_over(tmp_path):
    write(tmp_path / "ids", [[1]], [[2]])
    with pytest.raises(CorpusError, match="ids: exists already; a store is never overwritten"):
        write(tmp_path / "ids", [[3]], [[4]])


def test_a_changed_byte_is_noticed(tmp_path):
    store = write(tmp_path / "ids", [[1, 2, 3]], [[2]])
    path = tmp_path / "ids" / "source.ids"
    path.write_bytes(path.read_bytes()[:-1] + b"\x09")
    with pytest.raises(CorpusError, match="the stored ids were changed since they were written"):
        store.verify()


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "store.json").unlink(), "there is no store (store.json is missing)"),
        (lambda folder: (folder / "store.json").write_text("{"), "store.json cannot be read; make the store again"),
        (
            lambda folder: (folder / "store.json").write_text("{}"),
            "store.json is not of a store of format 1; make the store again",
        ),
        (
            lambda folder: (folder / "store.json").write_text(
                json.dumps({"format": 1, "rows": 1, "columns": {"../x": "<u2"}, "fingerprint": ""})
            ),
            "store.json is not of a store of format 1; make the store again",
        ),
        (
            lambda folder: (folder / "store.json").write_text(json.dumps({"format": 1, "columns": {"source": "<u2"}})),
            "store.json is not of a store of format 1; make the store again",
        ),
        (lambda folder: (folder / "source.ids").unlink(), "source.ids is missing or cut off; make the store again"),
        (
            lambda folder: (folder / "source.ids").write_bytes(b"\x01\x00\x00\x00"),
            "source.ids does not hold what store.json says; make the store again",
        ),
        (
            lambda folder: (folder / "target.ends").write_bytes(b"\x01"),
            "target.ends is missing or cut off; make the store again",
        ),
    ],
)
def test_spoiled_stores_are_refused(tmp_path, spoil, message):
    folder = tmp_path / "ids"
    write(folder, [[1, 2, 3]], [[2]])
    spoil(folder)
    with pytest.raises(CorpusError) as error:
        Store(folder)
    assert str(error.value) == f"{folder}: {message}"


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        ("both", [[2, 7, 8, 9, 3], [2, 5, 3, 0, 0]]),
        ("eos", [[7, 8, 9, 3], [5, 3, 0, 0]]),
        ("none", [[7, 8, 9], [5, 0, 0]]),
    ],
)
def test_a_batch_of_pairs_by_hand(tmp_path, marks, expected):
    store = write(tmp_path / "ids", [[4], [5], [7, 8, 9]], [[4], [6, 7], [8]])
    batch = pair_batch(store, np.array([2, 1]), marks)
    assert batch.source.tolist() == expected
    assert torch.equal(batch.source_keep, batch.source != 0)
    assert batch.target_in.tolist() == [[2, 8, 0], [2, 6, 7]]
    assert batch.target_out.tolist() == [[8, 3, 0], [6, 7, 3]]
    assert batch.target_keep.tolist() == [[True, True, False], [True, True, True]]
    assert marked_lengths(np.array([3]), marks).tolist() == [len(expected[0])]


def test_a_batch_of_labelled_texts_by_hand(tmp_path):
    with StoreWriter(tmp_path / "ids", {"source": 10, "label": 2}) as writer:
        writer.append({"source": Ids.join([[4, 5], [6]]), "label": Ids.join([[1], [0]])})
    batch = labelled_batch(Store(tmp_path / "ids"), np.array([1, 0]))
    assert batch.source.tolist() == [[6, 0], [4, 5]]
    assert batch.label.tolist() == [0, 1]


def test_an_empty_sentence_is_refused_where_batches_are_made():
    with pytest.raises(CorpusError, match="an empty sentence cannot be attended to"):
        pad([np.array([1, 2]), np.array([], dtype=np.int64)])


def test_a_place_that_cannot_be_written_to_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError, match="the store could not be written: Not a directory"):
        write(tmp_path / "file" / "ids", [[1]], [[2]])


def test_many_batches_are_the_same_while_pages_are_let_go(tmp_path):
    rows = [[4 + number % 5] * (1 + number % 3) for number in range(11)]
    store = write(tmp_path / "ids", rows, rows[::-1])
    groups = [np.array([number, 10 - number]) for number in range(5)]
    for batch, group in zip(pair_batches(store, groups), groups, strict=True):
        expected = pair_batch(store, group)
        assert all(torch.equal(one, other) for one, other in zip(batch, expected, strict=True))
    store.verify()
