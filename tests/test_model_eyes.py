"""An eye sees every look of every model exactly once, and a model goes on with what the eye returns."""

import pytest
import references
import torch
from small_models import (
    CLASSIFIERS,
    HEADS,
    TRANSLATORS,
    B,
    S,
    T,
    answer,
    sentences,
    source_batch,
    target_batch,
    weights_of,
)

from nungil.attention import Look

EXACT = 1e-12
each_translator = pytest.mark.parametrize("make", TRANSLATORS.values(), ids=list(TRANSLATORS))
each_classifier = pytest.mark.parametrize("make", CLASSIFIERS.values(), ids=list(CLASSIFIERS))
each_model = pytest.mark.parametrize(
    "make",
    [*TRANSLATORS.values(), *CLASSIFIERS.values()],
    ids=[*TRANSLATORS, *(f"classifier: {c}" for c in CLASSIFIERS)],
)


def watch(run) -> list[Look]:
    """Every look that a run shows."""
    looks: list[Look] = []

    def eye(look: Look):
        looks.append(look)
        return look.weights

    run(eye)
    return looks


def seen(looks):
    return [(look.kind, look.layer, tuple(look.weights.shape)) for look in looks]


CROSS_AT_ONCE, CROSS_STEPS = [("cross", 0, (B, T, S))], [("cross", 0, (B, 1, S))] * T
BLOCKS = [("self", layer, (B, HEADS, S, S)) for layer in range(2)] + [
    look for layer in range(3) for look in (("masked", layer, (B, HEADS, T, T)), ("cross", layer, (B, HEADS, T, S)))
]
SEEN = {
    "plain": [],
    "luong": CROSS_AT_ONCE,
    "luong, fed": CROSS_STEPS,
    "luong, direct": CROSS_AT_ONCE,
    "luong, coverage": CROSS_STEPS,
    "luong, local-m": CROSS_AT_ONCE,
    "luong, local-p": CROSS_AT_ONCE,
    "luong, location": CROSS_AT_ONCE,
    "bahdanau": CROSS_STEPS,
    "bahdanau, coverage": CROSS_STEPS,
    "transformer": BLOCKS,
    "transformer, post-norm": BLOCKS,
    "transformer, joint": BLOCKS,
}
POOLING = ("pooling", 0, (B, 1, S))
SEEN_BY_CLASSIFIERS = {
    "post 001": [POOLING],
    "post 001, local-p": [POOLING],
    "GRU, learned query": [POOLING],
    "RNN, last": [],
    "LSTM, max": [],
    "transformer": [*BLOCKS[:2], POOLING],
    "transformer, last": BLOCKS[:1],
    "embeddings": [POOLING],
    "embeddings, mean": [],
}


@pytest.mark.parametrize("name", TRANSLATORS)
def test_an_eye_sees_every_look_of_a_translator_once(name):
    model, (source, keep), target = TRANSLATORS[name](), source_batch(), target_batch()
    looks = watch(lambda eye: model(source, keep, target, eye))
    assert seen(looks) == SEEN[name]
    for look in looks:
        if look.kind == "masked":
            assert (look.weights.triu(1) == 0).all()
        else:
            assert (look.weights.masked_select(~keep.view(B, *[1] * (look.weights.dim() - 2), S)) == 0).all()
    weights = model(source, keep, target).weights
    if weights is not None:
        assert torch.equal(torch.cat([look.weights for look in looks], dim=1), weights)


@pytest.mark.parametrize("name", TRANSLATORS)
def test_an_eye_sees_every_look_of_each_step_once(name):
    model, (source, keep), target = TRANSLATORS[name](), source_batch(), target_batch()
    looks = watch(lambda eye: model.start(source, keep, eye))
    assert seen(looks) == [look for look in SEEN[name] if look[0] == "self"]
    state = model.start(source, keep)
    for t in range(T):
        looks = watch(lambda eye, state=state, t=t: model.step(target[:, t], state, eye))
        if name == "plain":
            expected = []
        elif name.startswith("transformer"):
            shapes = {"masked": (B, HEADS, 1, t + 1), "cross": (B, HEADS, 1, S)}
            expected = [(kind, layer, shapes[kind]) for layer in range(3) for kind in ("masked", "cross")]
        else:
            expected = CROSS_STEPS[:1]
        assert seen(looks) == expected
        state = model.step(target[:, t], state).state


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_an_eye_sees_every_look_of_a_classifier_once(name):
    model, (source, keep) = CLASSIFIERS[name](), source_batch()
    looks = watch(lambda eye: model(source, keep, eye))
    assert seen(looks) == SEEN_BY_CLASSIFIERS[name]
    weights = model(source, keep).weights
    assert (weights is None) == (POOLING not in SEEN_BY_CLASSIFIERS[name])
    if weights is not None:
        assert torch.equal(looks[-1].weights[:, 0], weights)


def evenly(look: Look):
    """Look at every step that may be seen alike."""
    keep = torch.ones_like(look.weights[:, 0, 0] if look.weights.dim() == 4 else look.weights[:, 0])
    if look.keep is not None:
        keep = look.keep.to(look.weights.dtype)
    keep = keep[:, None] if keep.dim() == 2 else keep
    keep = keep[:, None] if look.weights.dim() == 4 else keep
    return (keep / keep.sum(-1, keepdim=True)).expand_as(look.weights)


@each_translator
def test_a_translator_goes_on_with_what_the_eye_returns(make):
    model, (source, keep), target = make(), source_batch(), target_batch()
    found = answer(model, source, keep, target, evenly)
    state = model.start(source, keep, evenly)
    steps = []
    for t in range(T):
        stepped = model.step(target[:, t], state, evenly)
        state = stepped.state
        steps.append(stepped.log_probs)
    written_out = references.transformer if "Transformer" in type(model).__name__ else references.recurrent
    for row, words in enumerate(sentences(source, keep)):
        parts = weights_of(model), model.settings.model_dump(), words, target[row].tolist(), references.uniform
        expected = written_out(*parts)
        expected = expected if isinstance(expected, torch.Tensor) else expected[0]
        assert torch.allclose(found[row], expected, atol=EXACT, rtol=0)
        assert torch.allclose(torch.stack(steps, dim=1)[row], expected.log_softmax(-1), atol=EXACT, rtol=0)


@each_classifier
def test_a_classifier_goes_on_with_what_the_eye_returns(make):
    model, (source, keep) = make(), source_batch()
    found = model(source, keep, evenly)
    chosen = {**model.settings.model_dump(), "query": model.settings.asked_by}
    for row, words in enumerate(sentences(source, keep)):
        expected, looks = references.classifier(weights_of(model), chosen, words, references.uniform)
        assert torch.allclose(found.logits[row], expected, atol=EXACT, rtol=0)
        if looks is not None:
            assert torch.allclose(found.weights[row, : len(words)], looks, atol=EXACT, rtol=0)
