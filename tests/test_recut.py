"""Words cut anew in every epoch: the text stays, cuts are drawn as Kudo (2018) says, and by known numbers alone."""

from collections import Counter
from itertools import islice
from math import exp

import pytest
from command import run as command
from hypothesis import given, settings
from hypothesis import strategies as st

from nungil.batches.order import Order
from nungil.batches.recut import Recut
from nungil.runs.begin import begin
from nungil.runs.progress import to_nobody
from nungil.runs.recipe import read_recipe
from nungil.runs.session import Session
from nungil.text.snow.corpus import snow_pairs
from nungil.text.tokenizers.othercuts import MOST, OtherCuts
from nungil.text.tokenizers.pieces import train_pieces
from nungil.training.course import BEGINNING
from nungil.training.ranks import ALONE, Ranks

PAIRS = list(snow_pairs(400, lengths=(3, 9)))
TOKENIZER = train_pieces([text for pair in PAIRS for text in (pair.english, pair.korean)], "unigram", 700, "jamo")
WORD = tuple(TOKENIZER.encode("좋아한다"))


@settings(max_examples=60)
@given(
    st.lists(st.sampled_from([*PAIRS[0].korean.split(), *PAIRS[1].english.split(), "", "雪", "snow▁ball", "눈ㅋㅋ"])),
    st.integers(0, 2**62),
)
def test_another_cut_is_of_the_same_text(words, seed):
    text = " ".join(words)
    ids = TOKENIZER.encode(text)
    assert TOKENIZER.decode(OtherCuts(TOKENIZER, 0.1).draw(ids, seed)) == TOKENIZER.decode(ids)


@pytest.mark.parametrize("evenness", [0.0, 0.3, 1.0])
def test_cuts_are_drawn_by_their_probability_to_that_power(evenness):
    cuts = dict(TOKENIZER.cuts(WORD, MOST))
    assert len(cuts) > 8
    assert max(cuts, key=cuts.get) == WORD, "the best one is what is stored"
    weights = {cut: exp(evenness * score) for cut, score in cuts.items()}
    other, draws = OtherCuts(TOKENIZER, evenness), 6_000
    seen = Counter(tuple(other.draw(WORD, seed)) for seed in range(draws))
    for cut, weight in weights.items():
        expected = draws * weight / sum(weights.values())
        assert abs(seen[cut] - expected) < 5 * expected**0.5 + 5


def test_characters_that_no_piece_has_are_left_as_they_are():
    ids = TOKENIZER.encode("雪雪")
    assert {tuple(OtherCuts(TOKENIZER, 0.0).draw(ids, seed)) for seed in range(50)} == {tuple(ids)}


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """A run that cuts anew and has not begun to train."""
    folder = tmp_path_factory.mktemp("recut")
    (folder / "data.tsv").write_text("".join(f"{pair.english}\t{pair.korean}\n" for pair in PAIRS[:150]))
    options = {
        "data": {"train": str(folder / "data.tsv"), "columns": ("1", "2"), "source": "en", "target": "ko"},
        "tokenizer": {"size": 400},
        "model": {"kind": "recurrent", "embedding": 8, "width": 12},
        "training": {"steps": 7, "batch_tokens": 300, "recut": 0.1},
    }
    begin(read_recipe(None, options), folder / "run", to_nobody)
    return Session.open(folder / "run", to_nobody)


def rows_of(groups):
    """What is to be written, row by row, without padding."""
    rows = [row for group in groups for batch in group.batches for row in batch.target_out.tolist()]
    return sorted([token for token in row if token] for row in rows)


def test_an_epoch_has_every_text_once_and_the_next_has_it_in_other_pieces(session):
    store, work = session.prepared.train, session.work
    order = Order(work.lengths(store), 300, 5)
    steps = len(order.epoch(0))
    recut = session._recut()
    groups = list(islice(work.groups(store, order, 1, BEGINNING, recut=recut), 2 * steps))
    first, second = (rows_of(groups[place : place + steps]) for place in (0, steps))
    decode = session.prepared.tokenizers.target.decode
    assert sorted(map(decode, first)) == sorted(map(decode, second))
    assert len(first) == store.rows
    assert sum(row in second for row in first) < 0.3 * store.rows


def test_several_processes_see_the_same_cuts_as_one_and_so_does_a_run_that_goes_on(session):
    store, work, recut = session.prepared.train, session.work, session._recut()
    order = Order(work.lengths(store), 300, 5)

    def groups(ranks=ALONE, start=BEGINNING, count=5):
        return list(islice(work.groups(store, order, 2, start, ranks, recut), count))

    alone, first, second = groups(), groups(Ranks(0, 2)), groups(Ranks(1, 2))
    for one, *both in zip(alone, first, second, strict=True):
        assert one.predictions == sum(int(batch.target_keep.sum()) for batch in one.batches)
        assert {group.predictions for group in both} == {one.predictions}
        assert rows_of([one]) == rows_of(both)
    assert rows_of(alone[3:]) == rows_of(groups(start=alone[2].after, count=2))


def test_a_row_that_would_become_too_long_keeps_its_cut(session):
    store, cuts = session.prepared.train, session._recut().cuts
    stored = [store.columns["source"].row(row).tolist() for row in range(store.rows)]
    free, bound = (
        [Recut(cuts, 7, longest).of(store, 0).columns["source"].row(row).tolist() for row in range(store.rows)]
        for longest in (10_000, 12)
    )
    assert any(len(row) > 12 for row in free)
    assert bound == [new if len(new) <= 12 else old for new, old in zip(free, stored, strict=True)]


def test_a_run_that_cuts_anew_and_was_stopped_ends_with_the_same_weights(tmp_path):
    (tmp_path / "data.tsv").write_text("".join(f"{pair.english}\t{pair.korean}\n" for pair in PAIRS[:200]))
    settings = [
        "tokenizer.size=400",
        "training.recut=0.2",
        "training.hide=0.2",
        "training.batch_tokens=300",
        "training.validate_every=5",
    ]
    arguments = [
        *("train", "--train", tmp_path / "data.tsv", "--columns", "1,2", "--from", "en", "--to", "ko"),
        *("--model", "luong"),
        *(part for one in [*settings, "training.threads=1", "model.width=16"] for part in ("--set", one)),
    ]
    assert command(*arguments, "--steps", "15", "--out", tmp_path / "whole").returncode == 0
    assert command(*arguments, "--steps", "15", "--out", tmp_path / "cut").returncode == 0
    for place in sorted((tmp_path / "cut" / "checkpoints").glob("step-*"))[1:]:
        for file in place.iterdir():
            file.unlink()
        place.rmdir()
    assert command("resume", tmp_path / "cut").returncode == 0
    first, second = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "cut"))
    assert first == second


def test_only_unigram_pieces_are_cut_anew():
    with pytest.raises(Exception, match="recut: needs \\[tokenizer\\] unit: unigram, not word"):
        read_recipe(None, {"data": {"train": "a.tsv"}, "tokenizer": {"unit": "word"}, "training": {"recut": 0.2}})
