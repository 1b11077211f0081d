"""Each formula against numbers worked out by hand, and against itself written out plainly."""

import math

import pytest
import torch
from mechanisms import MECHANISMS, A, B, K, Q, S, T, build, inputs, keep_first
from torch import Tensor, tensor

from nungil.attention import (
    Additive,
    Attention,
    Concat,
    Coverage,
    Dot,
    General,
    LocalM,
    LocalP,
    Location,
    ScaledDot,
    attend,
    coverage_loss,
)

QUERY = tensor([[[1.0, 2.0]]])
KEYS = tensor([[[3.0, 1.0], [0.0, -1.0], [2.0, 2.0]]])


def set_weight(layer: torch.nn.Linear, rows: list[list[float]]) -> None:
    with torch.no_grad():
        layer.weight.copy_(tensor(rows))


def close(found: Tensor, expected: object) -> bool:
    return torch.allclose(found, tensor(expected), atol=1e-6)


def test_dot_by_hand():
    assert Dot()(QUERY, KEYS).tolist() == [[[5.0, -2.0, 6.0]]]


def test_scaled_dot_by_hand():
    assert close(ScaledDot()(QUERY, KEYS), [[[5 / math.sqrt(2), -2 / math.sqrt(2), 6 / math.sqrt(2)]]])


def test_general_by_hand():
    score = General(2, 3)
    set_weight(score.bridge, [[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]])  # W_a, 2 × 3
    keys = tensor([[[1.0, 1.0, 1.0], [0.0, 2.0, 1.0]]])
    # W_a h is (3, 0) and (2, 1); times the query (1, 2): 3 and 4
    assert score(QUERY, keys).tolist() == [[[3.0, 4.0]]]


def test_concat_by_hand():
    score = Concat(2, 1, 2)
    set_weight(score.join, [[1.0, 0.0, 1.0], [0.0, 0.5, -1.0]])
    set_weight(score.vector, [[2.0, -1.0]])
    # [h_t; h_s] is (1, 2, 0) and (1, 2, 1); W_a of it (1, 1) and (2, 0)
    expected = [2 * math.tanh(1) - math.tanh(1), 2 * math.tanh(2) - math.tanh(0)]
    assert close(score(QUERY, tensor([[[0.0], [1.0]]])), [[expected]])


def test_additive_by_hand():
    score = Additive(2, 1, 2)
    set_weight(score.query, [[1.0, -1.0], [0.0, 1.0]])  # W s = (-1, 2)
    set_weight(score.key, [[1.0], [-2.0]])  # U h = (0, 0) and (1, -2)
    set_weight(score.vector, [[1.0, 3.0]])
    expected = [math.tanh(-1) + 3 * math.tanh(2), math.tanh(0) + 3 * math.tanh(0)]
    assert close(score(QUERY, tensor([[[0.0], [1.0]]])), [[expected]])


def test_location_by_hand_uses_the_first_rows():
    score = Location(2, 4)
    set_weight(score.rows, [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [9.0, 9.0]])
    assert score(QUERY, KEYS).tolist() == [[[1.0, 2.0, 3.0]]]


def test_coverage_by_hand():
    score = Coverage(2, 1, 1)
    set_weight(score.query, [[1.0, 0.0]])
    set_weight(score.key, [[1.0]])
    set_weight(score.vector, [[2.0]])
    set_weight(score.cover, [[-4.0]])
    found = score(QUERY, tensor([[[0.0], [1.0]]]), coverage=tensor([[0.25, 1.0]]))
    assert close(found, [[[2 * math.tanh(1 + 0 - 1), 2 * math.tanh(1 + 1 - 4)]]])


def test_coverage_loss_by_hand():
    weights = tensor([[[0.5, 0.5, 0.0], [0.25, 0.0, 0.75], [1.0, 0.0, 0.0]]])
    # before the steps: nothing; (.5, .5, 0); (.75, .5, .75)
    assert coverage_loss(weights).tolist() == [[0.0, 0.25, 0.75]]
    assert coverage_loss(weights[:, 2:], weights[:, :2].sum(1)).tolist() == [[0.75]]


def test_local_m_by_hand():
    score = LocalM(Dot(), reach=1)
    keys = torch.ones(1, 6, 2)
    _, weights = Attention(score)(torch.ones(1, 5, 2), keys, keep=keep_first([4], 6))
    half, third = 1 / 2, 1 / 3
    expected = [
        [half, half, 0, 0, 0, 0],
        [third, third, third, 0, 0, 0],
        [0, third, third, third, 0, 0],
        [0, 0, half, half, 0, 0],
        [0, 0, half, half, 0, 0],  # step 4 is beyond the last real word: the centre stays there
    ]
    assert close(weights[0], expected)


def test_local_p_by_hand():
    score = LocalP(Dot(), 2, reach=2)
    set_weight(score.inner, [[1.0, 0.0], [0.0, 0.0]])
    set_weight(score.outer, [[0.0, 0.0]])  # σ(0) = ½: the centre is the middle of the real words, 6 · ½ = 3
    _, weights = Attention(score)(torch.zeros(1, 1, 2), torch.ones(1, 8, 2), keep=keep_first([6], 8))
    bell = [math.exp(-(distance**2) / 2) / 5 for distance in (-2, -1, 0, 1, 2)]  # σ = D/2 = 1; softmax over five equal
    assert close(weights[0, 0], [0, *bell, 0, 0])
    assert weights.sum() < 1


def test_local_p_centre_moves_with_the_query():
    score = LocalP(Dot(), 2, reach=1)
    set_weight(score.inner, [[1.0, 0.0], [0.0, 1.0]])
    set_weight(score.outer, [[2.0, 0.0]])
    memory = score.prepare(torch.ones(1, 10, 2))
    expected = 10 / (1 + math.exp(-2 * math.tanh(0.5)))
    assert close(score.centre(tensor([[[0.5, 9.0]]]), memory, 0), [[expected]])


def test_attend_by_hand():
    scores = tensor([[[0.0, math.log(3.0), 99.0]]])
    values = tensor([[[4.0, 0.0], [0.0, 8.0], [7.0, 7.0]]])
    context, weights = attend(scores, values, tensor([[True, True, False]]))
    assert close(weights, [[[0.25, 0.75, 0.0]]])
    assert close(context, [[[1.0, 6.0]]])


@pytest.mark.parametrize("name", MECHANISMS)
def test_preparing_first_changes_nothing(name):
    score, (query, keys, _) = build(name), inputs(name)
    memory = score.prepare(keys)
    assert torch.equal(score(query, memory), score(query, keys))
    assert score(query, memory).shape == (B, T, S)


@pytest.mark.parametrize("name", MECHANISMS)
def test_memory_selects_sentences(name):
    score, (query, keys, _) = build(name), inputs(name)
    rows = tensor([1, 0, 1, 1])
    whole = score.prepare(keys, keep_first([3, 5], S))
    memory = whole.select(rows)
    assert torch.allclose(score(query[rows], memory), score(query, whole)[rows])
    assert memory.keep is not None
    assert memory.keep.sum(-1).tolist() == [5, 3, 5, 5]


def test_concat_equals_the_formula_written_out():
    score, (query, keys, _) = build("concat"), inputs("concat")
    pairs = torch.cat([query[:, :, None].expand(B, T, S, Q), keys[:, None].expand(B, T, S, K)], dim=-1)
    assert torch.allclose(score(query, keys), score.vector(torch.tanh(score.join(pairs))).squeeze(-1), atol=1e-12)


def test_additive_equals_the_formula_written_out():
    score, (query, keys, _) = build("additive"), inputs("additive")
    sums = score.query(query)[:, :, None] + score.key(keys)[:, None]
    assert sums.shape == (B, T, S, A)
    assert torch.allclose(score(query, keys), score.vector(torch.tanh(sums)).squeeze(-1), atol=1e-12)
