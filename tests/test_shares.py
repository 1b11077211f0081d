"""Shares: threads that learn from parts of a batch add up to one that learns from all of it, the same in every run."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from small_models import CLASSES, B, classifier, recurrent, source_batch, target_batch, transformer

from nungil.attention.draws import generator, own_draws
from nungil.attention.dropout import Dropout
from nungil.batches.batch import LabelledBatch, PairBatch
from nungil.training.hiding import with_hidden_words
from nungil.training.losses import classification_loss, translation_loss
from nungil.training.shares import Shares, dealt, shares_of, sharing

WAIT = 60.0  # seconds that are never waited for, unless something is wrong


def pairs():
    torch.manual_seed(7)
    source, keep = source_batch()
    target = target_batch()
    return PairBatch(source, keep, target, target.roll(1, dims=1), torch.ones_like(target, dtype=torch.bool))


def labelled():
    torch.manual_seed(7)
    return LabelledBatch(*source_batch(), torch.arange(B) % CLASSES)


def translating(**chosen):
    model = recurrent(**chosen)
    return model, pairs(), lambda batch: translation_loss(model, batch, 0.1)


FAMILIES = {
    "lstm": translating,
    "coverage": lambda: translating(score={"name": "coverage"}, coverage_loss=0.5),
    "transformer": lambda: (
        (model := transformer()),
        pairs(),
        lambda batch: translation_loss(model, batch, 0.1, agreement=2.0),
    ),
    "classifier": lambda: ((model := classifier()), labelled(), lambda batch: classification_loss(model, batch)),
}


def gradients_of(model):
    return {name: parameter.grad for name, parameter in model.named_parameters() if parameter.grad is not None}


def learned_by(count, model, batches, loss_of, seed=5):
    """The losses and gradients of a few batches, learned from one after the other."""
    model.zero_grad(set_to_none=True)
    parameters = list(model.parameters())
    with sharing(count) as shares:
        losses = [
            loss
            for place, batch in enumerate(batches)
            for loss in shares.learn(loss_of, batch, 17, parameters, seed + place)
        ]
    return losses, gradients_of(model)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_shares_of_a_batch_add_up_to_all_of_it(family):
    torch.manual_seed(3)
    model, batch, loss_of = FAMILIES[family]()
    (whole,), expected = learned_by(1, model, [batch], loss_of)
    shared, found = learned_by(2, model, [batch], loss_of)
    assert [one.predictions for one in shared] != [whole.predictions, 0]
    assert len(shared) == 2
    assert sum(one.plain for one in shared) == pytest.approx(whole.plain, rel=1e-12)
    assert sum(one.right for one in shared) == whole.right
    assert sum(one.predictions for one in shared) == whole.predictions
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        assert torch.allclose(found[name], gradient, rtol=1e-9, atol=1e-12), name


def test_gradients_are_added_in_the_order_of_the_shares_whichever_is_ready_first():
    model, batch, loss_of = FAMILIES["lstm"]()
    model.float()
    first_rows = [share.source[0].tolist() for share in dealt(batch, 3)]

    def learned(order):
        """The shares go on one after another in this order."""
        ready = [threading.Event() for _ in range(4)]
        ready[0].set()

        def in_turn(share):
            turn = order.index(first_rows.index(share.source[0].tolist()))
            assert ready[turn].wait(WAIT)
            loss = loss_of(share)
            ready[turn + 1].set()
            return loss

        return learned_by(3, model, [batch], in_turn)[1]

    expected = learned([0, 1, 2])
    for order in ([2, 1, 0], [1, 2, 0]):
        found = learned(order)
        assert all(torch.equal(found[name], gradient) for name, gradient in expected.items())


def test_dropped_and_hidden_numbers_depend_on_the_seed_and_on_nothing_else():
    model, batch, _ = FAMILIES["lstm"]()
    model = recurrent(dropout=0.4)

    def loss_of(share):
        return translation_loss(model, with_hidden_words(share, 0.3))

    _, first = learned_by(2, model, [batch, batch], loss_of)
    torch.manual_seed(12_345)  # what torch itself would draw is of no importance
    _, again = learned_by(2, model, [batch, batch], loss_of)
    _, other = learned_by(2, model, [batch, batch], loss_of, seed=6)
    assert all(torch.equal(again[name], gradient) for name, gradient in first.items())
    assert not all(torch.equal(other[name], gradient) for name, gradient in first.items())


def test_each_share_has_draws_of_its_own():
    layer, numbers = Dropout(0.5), torch.ones(50, 51, requires_grad=True)
    seen = []

    def loss_of(share):
        dropped = layer(numbers)
        seen.append(dropped.detach())
        return translation_loss(model, share)._replace(total=dropped.sum())

    model, batch, _ = FAMILIES["lstm"]()
    before = torch.get_rng_state()
    with sharing(2) as shares:
        shares.learn(loss_of, batch, 1, [numbers], seed=9)
    first, second = seen
    assert not torch.equal(first, second)
    assert torch.equal(torch.get_rng_state(), before)  # torch's own generator was left alone
    assert torch.equal(numbers.grad, first + second)  # of ones, what is left of a number is its gradient too


def test_a_thread_draws_from_its_own_generator_only_while_it_asks_to():
    with own_draws(4):
        inside = torch.rand(3, generator=generator())
        with ThreadPoolExecutor(1) as other:
            assert other.submit(generator).result() is None
    assert generator() is None
    assert torch.equal(inside, torch.rand(3, generator=torch.Generator().manual_seed(4)))


def test_threads_are_divided_among_the_shares_and_come_back():
    before = torch.get_num_threads()
    torch.set_num_threads(4)
    seen = []
    try:
        with sharing(2) as shares:
            assert torch.get_num_threads() == 4  # of the thread that asks
            model, batch, loss_of = FAMILIES["lstm"]()

            def watched(share):
                seen.append((threading.current_thread().name, torch.get_num_threads()))
                return loss_of(share)

            shares.learn(watched, batch, 1, list(model.parameters()), seed=1)
        assert torch.get_num_threads() == 4
    finally:
        torch.set_num_threads(before)
    assert [threads for _, threads in seen] == [2, 2]
    assert len({name for name, _ in seen} - {threading.current_thread().name}) >= 1


@pytest.mark.parametrize(
    ("threads", "parameters", "positions", "shares"),
    [
        (2, 10_000_000, 4_000, 2),
        (16, 10_000_000, 4_000, 2),
        (1, 10_000_000, 4_000, 1),
        (3, 10_000_000, 4_000, 1),  # one thread would have nothing to do
        (2, 2_000_000, 4_000, 1),
        (2, 10_000_000, 2_000, 1),
    ],
)
def test_large_updates_are_shared_where_every_share_has_as_many_threads(threads, parameters, positions, shares):
    assert shares_of(threads, parameters, positions) == shares


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_every_row_is_in_one_share_and_none_is_empty(count):
    batch = pairs()
    shares = dealt(batch, count)
    assert len(shares) == min(count, B)
    for side, parts in zip(batch, zip(*shares, strict=True), strict=True):
        assert sorted(torch.cat(parts).tolist()) == sorted(side.tolist())
    sizes = [len(share.source) for share in shares]
    assert max(sizes) - min(sizes) <= 1


def test_a_thread_that_cannot_start_is_not_waited_for(monkeypatch):
    start, started = threading.Thread.start, []

    def only_one(thread):
        started.append(thread)
        if len(started) > 1:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", only_one)
    with pytest.raises(RuntimeError, match="can't start new thread"), sharing(2):
        pass
    started[0].join(WAIT)
    assert not started[0].is_alive()


def test_what_goes_wrong_in_a_share_reaches_whoever_asked():
    model, batch, _ = FAMILIES["lstm"]()

    def fails(share):
        raise RuntimeError(f"{len(share.source)} rows")

    with sharing(2) as shares, pytest.raises(RuntimeError, match=r"^[12] rows$"):
        shares.learn(fails, batch, 1, list(model.parameters()), seed=1)


def test_a_parameter_that_only_a_later_share_uses_gets_its_gradient():
    unused, weight = (torch.ones(3, requires_grad=True) for _ in range(2))
    model, batch, _ = FAMILIES["lstm"]()
    row = dealt(batch, 2)[1].source[0]

    def loss_of(share):
        later = torch.equal(share.source[0], row)
        total = (weight * 2).sum() + ((unused * 5).sum() if later else 0.0)
        return translation_loss(model, share)._replace(total=total)

    with sharing(2) as shares:
        assert isinstance(shares, Shares)
        shares.learn(loss_of, batch, 1, [unused, weight], seed=1)
    assert unused.grad.tolist() == [5.0, 5.0, 5.0]
    assert weight.grad.tolist() == [4.0, 4.0, 4.0]
