"""Training: the rate, the losses, the course, the loop as an iterator, and when it is over."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some
from small_models import CLASSES, LENGTHS, SOURCE, TARGET, B, S, T, classifier, recurrent, source_batch, transformer
from torch.nn import functional

from nungil.attention import coverage_loss
from nungil.batches.batch import LabelledBatch, PairBatch
from nungil.batches.chance import seed_of
from nungil.batches.order import Order
from nungil.errors import DivergedError
from nungil.training.course import BEGINNING, Place, updates
from nungil.training.losses import Loss, classification_loss, cross_entropy, translation_loss
from nungil.training.optimizer import OptimizerSettings, make_optimizer
from nungil.training.schedule import ScheduleSettings, rate_at
from nungil.training.steps import PATIENCE, Group, Rules, train
from nungil.training.stopping import Stopper

N, V = 11, 7
TARGET_LENGTHS = [3, 1, 4]


def pair_batch_of(rows=range(B)) -> PairBatch:
    """Pairs of unequal lengths, the same ones each time; some of them, each cut from the same whole."""
    torch.manual_seed(11)
    source, keep = source_batch()
    target = torch.randint(4, TARGET, (B, T))
    target_keep = torch.arange(T)[None] < torch.tensor(TARGET_LENGTHS)[:, None]
    out = target.masked_fill(~target_keep, 0)
    shifted = torch.cat([torch.full((B, 1), 2), target[:, :-1]], dim=1).masked_fill(~target_keep, 0)
    chosen = torch.tensor(list(rows))
    return PairBatch(*(part[chosen] for part in (source, keep, shifted, out, target_keep)))


def group_of(*batches: PairBatch) -> Group:
    return Group(batches, sum(int(batch.target_keep.sum()) for batch in batches), 0, BEGINNING)


RULES = Rules(lambda update: 0.01 / update, clip=1.0, seed=5)


# The learning rate


def test_the_rate_rises_in_a_line_and_falls_as_the_inverse_root():
    settings = ScheduleSettings(shape="inverse-sqrt", rate=0.02, warmup=40)
    assert rate_at(1, settings, 1_000) == 0.02 / 40
    assert rate_at(10, settings, 1_000) == 0.02 / 4
    assert rate_at(40, settings, 1_000) == 0.02
    assert rate_at(160, settings, 1_000) == 0.01
    assert rate_at(1_000, settings, 1_000) == pytest.approx(0.02 * math.sqrt(40 / 1_000), abs=1e-18)


def test_a_cosine_ends_at_its_floor_and_stays_there():
    settings = ScheduleSettings(shape="cosine", rate=0.5, warmup=10, floor=0.2)
    assert rate_at(10, settings, 110) == 0.5
    assert rate_at(60, settings, 110) == pytest.approx(0.5 * 0.6)  # half way between all and a fifth
    assert rate_at(110, settings, 110) == 0.5 * 0.2
    assert rate_at(500, settings, 110) == 0.5 * 0.2


def test_a_constant_rate_is_constant_once_it_is_warm():
    settings = ScheduleSettings(shape="constant", rate=0.3, warmup=2)
    assert [rate_at(update, settings, 9) for update in (1, 2, 3, 9)] == [0.15, 0.3, 0.3, 0.3]


@pytest.mark.parametrize("shape", ["inverse-sqrt", "cosine", "constant"])
def test_without_warming_up_the_first_update_has_the_whole_rate(shape):
    found = rate_at(1, ScheduleSettings(shape=shape, rate=0.25, warmup=0, floor=0.0), 1_000_000)
    assert found == pytest.approx(0.25, rel=1e-9)


@given(
    some.sampled_from(["inverse-sqrt", "cosine", "constant"]),
    some.integers(0, 50),
    some.integers(1, 80),
    some.floats(0, 1),
)
def test_a_rate_is_never_below_zero_nor_above_the_highest_and_has_one_peak(shape, warmup, steps, floor):
    settings = ScheduleSettings(shape=shape, rate=0.7, warmup=warmup, floor=floor)
    rates = [rate_at(update, settings, steps) for update in range(1, steps + 1)]
    assert all(0 <= rate <= 0.7 for rate in rates)
    peak = rates.index(max(rates))
    assert rates[: peak + 1] == sorted(rates[: peak + 1])
    assert rates[peak:] == sorted(rates[peak:], reverse=True)


# The losses

COVERAGE = {"score": {"name": "coverage", "size": 8}, "coverage_loss": 3.0}


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.7])
def test_cross_entropy_and_its_gradient_are_those_of_torch(smoothing):
    ours = torch.randn(N, V, dtype=torch.float64, requires_grad=True)
    theirs = ours.detach().clone().requires_grad_()
    right = torch.randint(V, (N,))
    loss = cross_entropy(ours, right, smoothing)
    expected = functional.cross_entropy(theirs, right, label_smoothing=smoothing, reduction="sum")
    loss.total.backward()
    expected.backward()
    assert loss.total.item() == pytest.approx(expected.item(), rel=1e-13)
    assert torch.allclose(ours.grad, theirs.grad, rtol=0, atol=1e-13)
    plain = functional.cross_entropy(theirs, right, reduction="sum").item()
    assert loss.plain == pytest.approx(plain, rel=1e-13), "what is reported has no smoothing in it"
    assert (loss.right, loss.predictions) == (int((ours.argmax(-1) == right).sum()), N)


def test_half_precision_is_summed_in_single():
    logits = torch.randn(N, V).bfloat16()
    loss = cross_entropy(logits, torch.zeros(N, dtype=torch.int64), 0.1)
    assert loss.total.dtype == torch.float32


@pytest.mark.parametrize("make", [recurrent, transformer])
def test_padding_adds_nothing_to_the_loss_of_a_translator(make):
    model, batch = make(), pair_batch_of()
    whole = translation_loss(model, batch, 0.1)
    alone = [translation_loss(model, _narrow(pair_batch_of([row]), row), 0.1) for row in range(B)]
    assert whole.predictions == sum(TARGET_LENGTHS) == sum(one.predictions for one in alone)
    assert whole.total.item() == pytest.approx(sum(one.total.item() for one in alone), rel=1e-12)
    assert whole.right == sum(one.right for one in alone)
    scribbled = batch._replace(target_out=batch.target_out.masked_fill(~batch.target_keep, 9))
    assert torch.equal(translation_loss(model, scribbled, 0.1).total, whole.total)


def _narrow(batch: PairBatch, row: int) -> PairBatch:
    """A batch of one without any padding."""
    source, target = LENGTHS[row], TARGET_LENGTHS[row]
    return PairBatch(
        batch.source[:, :source],
        batch.source_keep[:, :source],
        batch.target_in[:, :target],
        batch.target_out[:, :target],
        batch.target_keep[:, :target],
    )


def test_the_coverage_loss_is_added_where_the_score_is_coverage_and_not_reported():
    batch = pair_batch_of()
    model = recurrent(**COVERAGE)
    loss = translation_loss(model, batch)
    weights = model(batch.source, batch.source_keep, batch.target_in).weights
    again = coverage_loss(weights)[batch.target_keep].sum().item()
    assert again > 0.01
    assert loss.total.item() == pytest.approx(loss.plain + 3.0 * again, rel=1e-12)
    without = translation_loss(recurrent(coverage_loss=3.0), batch)
    assert without.total.item() == without.plain


@pytest.mark.parametrize("make", [recurrent, transformer])
def test_who_reads_twice_alike_loses_as_much_as_who_reads_once(make):
    batch, model = pair_batch_of(), make(**COVERAGE if make is recurrent else {})
    once, twice = translation_loss(model, batch, 0.1), translation_loss(model, batch, 0.1, agreement=5.0)
    assert twice.total.item() == pytest.approx(once.total.item(), rel=1e-12)
    assert twice[1:] == pytest.approx(once[1:], rel=1e-12)


def test_what_was_dropped_in_one_reading_only_tells_them_apart():
    batch, model = pair_batch_of(), transformer(dropout=0.4).train()

    def loss(agreement):
        torch.manual_seed(7)
        return translation_loss(model, batch, 0.1, agreement)

    little, much = loss(1e-9), loss(2.0)
    torch.manual_seed(7)
    both = PairBatch(*(torch.cat([side, side]) for side in batch))
    features = model(both.source, both.source_keep, both.target_in).features[both.target_keep]
    first, second = model.logits(features).log_softmax(dim=-1).chunk(2)
    apart = ((first.exp() - second.exp()) * (first - second)).sum().item() / 2
    assert apart > 1.0
    assert much.total.item() - little.total.item() == pytest.approx(2.0 * apart / 2, rel=1e-6)
    assert (much.plain, much.right, much.predictions) == (little.plain, little.right, sum(TARGET_LENGTHS))


def test_the_loss_of_a_classifier_is_over_texts():
    model, (source, keep) = classifier(), source_batch()
    batch = LabelledBatch(source, keep, torch.tensor([4, 0, 2]))
    loss = classification_loss(model, batch, 0.2)
    expected = functional.cross_entropy(model(source, keep).logits, batch.label, label_smoothing=0.2, reduction="sum")
    assert loss.total.item() == pytest.approx(expected.item(), rel=1e-12)
    assert loss.predictions == B
    assert model(source, keep).logits.shape == (B, CLASSES)


def test_two_readers_learn_each_by_its_own_loss():
    model, (source, keep) = classifier(ngrams={"longest": 2, "buckets": 31}), source_batch()
    batch = LabelledBatch(source, keep, torch.tensor([4, 0, 2]))
    found, loss = model(source, keep), classification_loss(model, batch, 0.2)
    deep, wide, both = (
        functional.cross_entropy(one, batch.label, label_smoothing=0.2, reduction="sum")
        for one in (found.deep, found.wide, found.logits)
    )
    assert loss.total.item() == pytest.approx((deep + wide).item(), rel=1e-12)
    assert loss.plain == pytest.approx(functional.cross_entropy(found.logits, batch.label, reduction="sum").item())
    assert abs(both.item() - (deep + wide).item()) > 0.1, "the loss of their mean is another one"
    (alone,) = torch.autograd.grad(deep, model.dense.weight, retain_graph=True)
    loss.total.backward()
    assert torch.allclose(model.dense.weight.grad, alone, atol=1e-12, rtol=0)
    assert model.ngrams.ratios.grad is None, "what is counted is not learned"


# The optimizer


def test_matrices_decay_and_vectors_do_not():
    model = recurrent(tie=False)
    optimizer = make_optimizer(model, OptimizerSettings(weight_decay=0.03, beta1=0.8, beta2=0.95, epsilon=1e-7))
    decayed, others = optimizer.param_groups
    assert (decayed["weight_decay"], others["weight_decay"]) == (0.03, 0.0)
    assert {parameter.dim() for parameter in decayed["params"]} == {2}
    assert {parameter.dim() for parameter in others["params"]} == {1}
    assert len(decayed["params"]) + len(others["params"]) == len(list(model.parameters()))
    assert (decayed["betas"], decayed["eps"]) == ((0.8, 0.95), 1e-7)


def test_a_tied_matrix_is_updated_once():
    model = transformer(joint=True)
    optimizer = make_optimizer(model, OptimizerSettings())
    held = [id(parameter) for group in optimizer.param_groups for parameter in group["params"]]
    assert len(held) == len(set(held)) == len(list(model.parameters()))


# The course

LENGTHS_OF = some.lists(some.integers(1, 9), min_size=1, max_size=40)


@given(LENGTHS_OF, some.integers(1, 4), some.integers(0, 30), some.integers(0, 2**63 - 1))
def test_a_course_goes_on_from_any_place_as_if_it_had_never_stopped(lengths, accumulation, cut, seed):
    order = Order([np.array(lengths)], 16, seed)
    whole = list(itertools.islice(updates(order, accumulation), 40))
    after = whole[cut - 1].after if cut else BEGINNING
    rest = itertools.islice(updates(order, accumulation, after), 40 - cut)
    for old, new in itertools.zip_longest(whole[cut:], rest):
        assert (old.epoch, old.after) == (new.epoch, new.after)
        assert [rows.tolist() for rows in old.groups] == [rows.tolist() for rows in new.groups]


@given(LENGTHS_OF, some.integers(1, 4))
def test_every_row_is_seen_once_in_an_epoch(lengths, accumulation):
    course = updates(Order([np.array(lengths)], 16, 3), accumulation)
    for epoch in range(3):
        seen = []
        for update in course:
            assert update.epoch == epoch
            assert 1 <= len(update.groups) <= accumulation
            seen += [row for rows in update.groups for row in rows.tolist()]
            if update.after == Place(epoch + 1, 0):
                break
        assert sorted(seen) == list(range(len(lengths)))


# The loop


def trained(model, groups, rules=RULES, done=0, optimizer=None, smoothing=0.1):
    optimizer = optimizer or make_optimizer(model, OptimizerSettings())
    steps = list(train(model, groups, lambda batch: translation_loss(model, batch, smoothing), optimizer, rules, done))
    return steps, optimizer


def same_weights(first, second, tolerance=0.0):
    pairs = zip(first.parameters(), second.parameters(), strict=True)
    return all(torch.equal(a, b) if tolerance == 0 else torch.allclose(a, b, rtol=0, atol=tolerance) for a, b in pairs)


def twins(make, **chosen):
    first, second = make(**chosen), make(**chosen)
    second.load_state_dict(first.state_dict())
    return first, second


@pytest.mark.parametrize("make", [recurrent, transformer])
def test_micro_batches_give_the_weights_of_one_batch(make):
    whole, cut = twins(make)
    # A bias that all keys share has no gradient but rounding, and Adam would divide that by itself: hence the epsilon.
    calm = OptimizerSettings(epsilon=0.01)
    one, two = make_optimizer(whole, calm), make_optimizer(cut, calm)
    at_once, _ = trained(whole, [group_of(pair_batch_of())] * 4, optimizer=one)
    in_parts, _ = trained(cut, [group_of(pair_batch_of([1]), pair_batch_of([0, 2]))] * 4, optimizer=two)
    assert same_weights(whole, cut, 1e-12)
    for one, other in zip(at_once, in_parts, strict=True):
        assert one.loss == pytest.approx(other.loss, rel=1e-12)
        assert (one.accuracy, one.predictions) == (other.accuracy, other.predictions)


def test_a_step_tells_what_was_done():
    model, batch = recurrent(), pair_batch_of()
    before = translation_loss(model, batch)
    (step, second), _ = trained(model, [group_of(batch)] * 2, done=6, smoothing=0.0)
    assert (step.number, second.number) == (7, 8)
    assert step.loss == pytest.approx(before.plain / sum(TARGET_LENGTHS), rel=1e-12)
    assert step.accuracy == before.right / sum(TARGET_LENGTHS)
    assert step.predictions == sum(TARGET_LENGTHS)
    assert step.rate == 0.01 / 7
    assert step.after == BEGINNING
    assert not step.skipped
    assert second.loss < step.loss


def test_the_gradient_is_clipped_to_its_longest():
    model = recurrent()
    (step,), _ = trained(model, [group_of(pair_batch_of())], Rules(RULES.rate_of, clip=0.01, seed=5))
    length = torch.linalg.vector_norm(torch.cat([part.grad.flatten() for part in model.parameters()]))
    assert step.gradient > 0.01
    assert length.item() == pytest.approx(0.01, rel=1e-4)


@pytest.mark.parametrize("make", [recurrent, transformer])
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(make):
    first, second = twins(make, dropout=0.4)
    third, _ = twins(make, dropout=0.4)
    third.load_state_dict(first.state_dict())
    groups = [group_of(pair_batch_of())] * 3
    trained(first, groups)
    torch.rand(17)  # whatever else draws numbers
    trained(second, groups)
    trained(third, groups, Rules(RULES.rate_of, RULES.clip, seed=6))
    assert same_weights(first, second)
    assert not same_weights(first, third)


@pytest.mark.parametrize("make", [recurrent, transformer])
def test_the_randomness_of_a_step_depends_on_its_number_alone(make):
    whole, cut = twins(make, dropout=0.4)
    fresh, _ = twins(make, dropout=0.4)
    groups = [group_of(pair_batch_of([0, 1]), pair_batch_of([2])) for _ in range(6)]
    trained(whole, groups)
    _, optimizer = trained(cut, groups[:3])
    fresh.load_state_dict(cut.state_dict())
    again = make_optimizer(fresh, OptimizerSettings())
    again.load_state_dict(optimizer.state_dict())
    torch.manual_seed(1_234)
    steps, _ = trained(fresh, groups[3:], done=3, optimizer=again)
    assert [step.number for step in steps] == [4, 5, 6]
    assert same_weights(whole, fresh)
    assert not same_weights(whole, cut)


def test_micro_batches_and_ranks_draw_different_numbers():
    seeds = {seed_of(*numbers) for numbers in itertools.product(range(5), repeat=4)}
    assert len(seeds) == 5**4
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert seed_of(1, 23) != seed_of(12, 3)


# Infinity


def spoiled_at(numbers, model):
    """A loss that is infinite in these calls, and true in all others."""
    calls = itertools.count(1)

    def loss_of(batch) -> Loss:
        loss = translation_loss(model, batch)
        return loss._replace(total=loss.total * torch.inf) if next(calls) in numbers else loss

    return loss_of


def test_a_gradient_that_is_not_finite_makes_no_update_and_is_marked():
    model = recurrent()
    groups, optimizer = [group_of(pair_batch_of())] * 3, make_optimizer(model, OptimizerSettings())
    steps = train(model, groups, spoiled_at({2}, model), optimizer, RULES)
    first = next(steps)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    second = next(steps)
    assert (first.skipped, second.skipped) == (False, True)
    assert not math.isfinite(second.gradient)
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())
    assert not next(steps).skipped
    assert [int(state["step"]) for state in optimizer.state.values()] == [2] * len(optimizer.state)


def test_too_many_in_a_row_end_the_run_in_a_sentence():
    model = recurrent()
    before = {name: value.clone() for name, value in model.state_dict().items()}
    optimizer = make_optimizer(model, OptimizerSettings())
    steps = train(model, itertools.repeat(group_of(pair_batch_of())), spoiled_at(range(99), model), optimizer, RULES)
    seen = list(itertools.islice(steps, PATIENCE))
    assert all(step.skipped for step in seen)
    with pytest.raises(DivergedError) as caught:
        next(steps)
    assert caught.value.exit_code == 6
    assert str(caught.value) == (
        "training diverged: the gradient was not finite in 10 updates in a row, up to 10; "
        "lower the learning rate (--set training.schedule.rate=…) or warm up longer"
    )
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_nine_in_a_row_are_forgiven():
    model = recurrent()
    spoiled = {*range(1, PATIENCE), *range(PATIENCE + 1, 2 * PATIENCE)}
    groups = [group_of(pair_batch_of())] * 2 * PATIENCE
    steps = list(train(model, groups, spoiled_at(spoiled, model), make_optimizer(model, OptimizerSettings()), RULES))
    assert [step.number for step in steps if not step.skipped] == [PATIENCE, 2 * PATIENCE]


# When it is over


def stopper_after(metric, patience, *scores):
    stopper = Stopper(metric, patience)
    better = [stopper.add(100 * number, scored(metric, score)) for number, score in enumerate(scores, 1)]
    return stopper, better


def scored(metric, score, loss=1.0):
    """Scores of a validation; a metric that is the loss has no other."""
    return {"loss": loss, metric: score}


def test_of_equal_validations_the_first_is_the_best():
    stopper, better = stopper_after("bleu", 2, 3.0, 5.0, 5.0)
    assert better == [True, True, False]
    assert stopper.best == (200, 5.0, 1.0)
    assert stopper.ranked() == [200, 300, 100]
    assert not stopper.is_over
    stopper.add(400, scored("bleu", 5.0))
    assert stopper.is_over


def test_the_loss_settles_ties_so_that_a_falling_one_is_progress():
    stopper = Stopper("bleu", 2)
    better = [stopper.add(number, scored("bleu", 0.0, loss)) for number, loss in enumerate([5.0, 4.0, 4.5, 3.0])]
    assert better == [True, True, False, True]
    assert not stopper.is_over
    assert stopper.ranked() == [3, 1, 2, 0]
    assert stopper.is_better(scored("bleu", 0.1, 9.0), scored("bleu", 0.0, 1.0))
    assert not stopper.is_better(scored("bleu", 0.1, 1.0), scored("bleu", 0.1, 1.0))


def test_a_run_goes_on_while_its_loss_falls_though_its_score_does_not_rise():
    stopper = Stopper("bleu", 2)
    for update, (bleu, loss) in enumerate([(5.0, 3.0), (9.0, 2.5), (8.0, 2.4), (7.0, 2.3), (8.5, 2.6)]):
        stopper.add(update, scored("bleu", bleu, loss))
        assert not stopper.is_over, update
    stopper.add(5, scored("bleu", 8.0, math.nan))
    assert stopper.is_over
    assert stopper.best == (1, 9.0, 2.5)
    stopper.add(6, scored("bleu", 9.5, 2.9))
    assert not stopper.is_over, "a better score is progress, whatever the loss"


def test_a_loss_is_better_when_it_is_lower():
    stopper, better = stopper_after("loss", 1, 3.0, 2.0)
    assert better == [True, True]
    assert stopper.best == (200, 2.0, 2.0)
    assert stopper.is_better(scored("loss", 1.0), scored("loss", 2.0))
    assert not stopper.is_over
    stopper.add(300, scored("loss", 2.5))
    assert stopper.is_over


@pytest.mark.parametrize("metric", ["loss", "chrf"])
def test_what_is_not_a_number_is_never_better(metric):
    stopper, better = stopper_after(metric, 3, math.nan, 4.0, math.nan)
    assert better == [True, True, False], "the first is the best there is"
    assert stopper.best[:2] == (200, 4.0)
    assert stopper.ranked() == [200, 100, 300]
    assert not stopper.is_better(scored(metric, math.nan), scored(metric, 4.0))
    assert stopper.is_better(scored(metric, 4.0), scored(metric, math.nan))


def test_without_patience_it_is_never_over():
    stopper, _ = stopper_after("accuracy", 0, *range(50, 0, -1))
    assert not stopper.is_over
    assert Stopper("bleu", 3).best is None
    assert not Stopper("bleu", 3).is_over


def test_sizes_of_this_file_differ():
    assert len({B, S, T, SOURCE, TARGET, CLASSES, N, V}) == 8
