"""What every model keeps: causality, padding that does nothing, honest states, gradients everywhere."""

import pytest
import torch
from small_models import (
    MODELS,
    SOURCE,
    TARGET,
    TRANSLATORS,
    B,
    S,
    T,
    answer,
    classifier,
    recurrent,
    sentences,
    source_batch,
    target_batch,
    transformer,
)

from nungil.errors import ShapeError

EXACT = 1e-12
each_translator = pytest.mark.parametrize("make", TRANSLATORS.values(), ids=list(TRANSLATORS))
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=list(MODELS))


@each_translator
def test_translators_answer_in_shape(make):
    model, (source, keep), target = make(), source_batch(), target_batch()
    decoded = model(source, keep, target)
    assert model.logits(decoded.features).shape == (B, T, TARGET)
    assert decoded.weights is None or decoded.weights.shape == (B, T, S)
    stepped = model.step(target[:, 0], model.start(source, keep))
    assert stepped.log_probs.shape == (B, TARGET)
    assert torch.allclose(stepped.log_probs.exp().sum(-1), torch.ones(B, dtype=torch.float64))
    assert (stepped.weights is None) == (decoded.weights is None)


@each_translator
def test_a_word_changes_nothing_before_it_and_something_after(make):
    model, (source, keep), target = make(), source_batch(), target_batch()
    before = model(source, keep, target).features
    for t in range(T):
        other = target.clone()
        other[:, t] = (target[:, t] + 1) % TARGET
        after = model(source, keep, other).features
        assert torch.allclose(after[:, :t], before[:, :t], atol=EXACT, rtol=0)
        for later in range(t, T):
            assert ((after - before)[:, later].abs().amax(-1) > 1e-9).all()


@each_model
@pytest.mark.parametrize(("dtype", "atol"), [(torch.float64, EXACT), (torch.float32, 1e-5)], ids=["float64", "float32"])
def test_a_sentence_alone_equals_itself_in_any_batch(make, dtype, atol):
    model, (source, keep), target = make().to(dtype), source_batch(), target_batch()
    together = answer(model, source, keep, target)
    garbage = source.where(keep, torch.randint(4, SOURCE, source.shape))
    assert not torch.equal(garbage, source)
    assert torch.allclose(answer(model, garbage, keep, target), together, atol=atol, rtol=0)
    wider = torch.nn.functional.pad(garbage, (0, 3), value=5), torch.nn.functional.pad(keep, (0, 3))
    assert torch.allclose(answer(model, *wider, target), together, atol=atol, rtol=0)
    for row, words in enumerate(sentences(source, keep)):
        alone = torch.tensor([words])
        found = answer(model, alone, torch.ones_like(alone, dtype=torch.bool), target[row, None])
        assert torch.allclose(found[0], together[row], atol=atol, rtol=0)


@each_model
def test_gradients_reach_every_parameter(make):
    model, (source, keep), target = make(), source_batch(), target_batch()
    answers = answer(model, source, keep, target)
    (answers * torch.randn_like(answers)).sum().backward()
    for name, parameter in model.named_parameters():
        assert (parameter.grad is None) == (name == "ngrams.ratios"), name  # which are counted, not learned
        if parameter.grad is None:
            continue
        largest = float(parameter.grad.abs().max())
        # q·(k + b) is q·k plus one number for all keys alike, and softmax does not see what is added to all alike.
        unseen = name.endswith(("attention.key.bias", "masked.key.bias", "cross.key.bias"))
        assert largest < 1e-12 if unseen else largest > 1e-9, f"{name}: {largest}"


@each_translator
def test_a_state_of_chosen_rows_equals_starting_over_with_them(make):
    model, (source, keep), target = make(), source_batch(), target_batch()
    rows = torch.tensor([2, 0, 0, 1, 2])
    for chosen_after in (0, 2):
        state, over = model.start(source, keep), model.start(source[rows], keep[rows])
        for t in range(chosen_after):
            state = model.step(target[:, t], state).state
            over = model.step(target[rows, t], over).state
        state = state.select(rows)
        for t in range(chosen_after, T):
            one, two = model.step(target[rows, t], state), model.step(target[rows, t], over)
            assert torch.allclose(one.log_probs, two.log_probs, atol=EXACT, rtol=0)
            state, over = one.state, two.state


@each_translator
def test_a_state_can_be_gone_on_from_twice(make):
    model, (source, keep), target = make(), source_batch(), target_batch()
    state = model.step(target[:, 0], model.start(source, keep)).state
    once = model.step(target[:, 1], state).log_probs
    model.step(target[:, 2], state)
    assert torch.equal(model.step(target[:, 1], state).log_probs, once)


@pytest.mark.parametrize(
    "make",
    [
        lambda dropout: recurrent(dropout=dropout),
        lambda dropout: recurrent(decoder="plain", dropout=dropout),
        lambda dropout: recurrent(decoder="bahdanau", dropout=dropout),
        lambda dropout: transformer(dropout=dropout),
        lambda dropout: classifier(dropout=dropout),
    ],
    ids=["luong", "plain", "bahdanau", "transformer", "classifier"],
)
def test_dropout_is_for_training_only(make):
    (source, keep), target = source_batch(), target_batch()
    model, without = make(0.5), make(0.0)
    without.load_state_dict(model.state_dict())
    assert not torch.equal(answer(model, source, keep, target), answer(model, source, keep, target))
    assert torch.equal(answer(model.eval(), source, keep, target), answer(without, source, keep, target))


@each_model
def test_a_sentence_without_a_real_token_is_refused(make):
    model, (source, keep) = make(), source_batch()
    keep[1] = False
    with pytest.raises(
        ShapeError, match=r"keep \(3, 6\) has a row with nothing to keep \(sentence 1, counted from 0\)"
    ):
        answer(model, source, keep, target_batch())
