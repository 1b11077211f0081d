"""What a model is told before its first update, and what is counted in its batches."""

from itertools import islice

import numpy as np
import pytest
import torch

from nungil.batches.order import Order
from nungil.runs.begin import begin
from nungil.runs.progress import to_nobody
from nungil.runs.recipe import read_recipe
from nungil.runs.session import Session
from nungil.text.snow.corpus import snow_pairs
from nungil.training.course import BEGINNING
from nungil.training.ranks import Ranks


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """A run that has not begun to train."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "data.tsv").write_text("".join(f"{p.english}\t{p.korean}\n" for p in snow_pairs(150, lengths=(3, 6))))
    options = {
        "data": {"train": str(folder / "data.tsv"), "columns": ("1", "2"), "source": "en", "target": "ko"},
        "tokenizer": {"unit": "word"},
        "model": {"kind": "recurrent", "embedding": 8, "width": 12},
        "training": {"steps": 7, "batch_tokens": 130},
    }
    begin(read_recipe(None, options), folder / "run", to_nobody)
    return Session.open(folder / "run", to_nobody)


def test_a_translator_begins_by_guessing_each_token_as_often_as_it_occurs(session):
    store = session.prepared.train
    targets = [[*store.columns["target"].row(row).tolist(), 3] for row in range(store.rows)]
    seen = np.bincount(np.concatenate(targets), minlength=session.work.loaded.config.vocabulary.target) + 1
    bias = session.work.translator.model.output.bias.detach()
    assert torch.allclose(bias.exp().double(), torch.from_numpy(seen / seen.sum()), rtol=1e-4)
    batch = session.work.batch(store, np.arange(20))
    loss = session.work.loss(batch, 0.0)
    guessed = -sum(float(bias[token]) for row in targets[:20] for token in row) / loss.predictions
    assert loss.plain / loss.predictions == pytest.approx(guessed, rel=0.05), "the rest of the model has no say yet"


@pytest.mark.parametrize("accumulation", [1, 3])
def test_the_processes_of_a_run_share_its_batches_out_and_count_all_of_them(session, accumulation):
    store, work = session.prepared.train, session.work
    order = Order(work.lengths(store), 130, 5)
    alone, first, second = (
        list(islice(work.groups(store, order, accumulation, BEGINNING, ranks), 5))
        for ranks in (Ranks(), Ranks(0, 2), Ranks(1, 2))
    )
    for one, *both in zip(alone, first, second, strict=True):
        assert one.predictions == sum(int(batch.target_keep.sum()) for batch in one.batches)
        assert {group.predictions for group in both} == {one.predictions}
        parts = [int(batch.target_keep.sum()) for group in both for batch in group.batches]
        assert sum(parts) == one.predictions
        assert {group.after for group in both} == {one.after}
