"""The recorder over real attention: at once, step by step and after a prefix it makes the same record."""

import numpy as np
import pytest
import torch

from nungil.attention import Attention, Coverage, Eye, General, Look, MultiHeadAttention
from nungil.errors import ShapeError, UsageError
from nungil.inspection.recorder import Recorder

B, T, S, Q, K, M, H = 4, 3, 5, 7, 11, 12, 2  # all different: a swapped axis cannot pass
SOURCE = ["<sos>", "I", "like", "snow", "<eos>"]
TARGET = ["나는", "눈을", "<eos>"]


def keep_of(lengths, longest):
    return torch.arange(longest)[None] < torch.tensor(lengths)[:, None]


def test_a_recorder_is_an_eye_and_changes_nothing():
    recorder, attention = Recorder(), Attention(General(Q, K))
    query, keys = torch.randn(B, T, Q), torch.randn(B, S, K)
    assert isinstance(recorder, Eye)
    assert torch.equal(attention(query, keys, eye=recorder).weights, attention(query, keys).weights)


def test_padding_is_cut_off_and_the_right_sentence_is_taken():
    recorder, attention = Recorder(), Attention(General(Q, K))
    keep = keep_of([5, 2, 4, 3], S)
    seen = attention(torch.randn(B, T, Q), torch.randn(B, S, K), keep=keep, eye=recorder).weights
    one = recorder.record(2, ["a", "b", "c", "<eos>"], ["x", "<eos>"], source="a b c", target="x", score=-1.5)
    assert np.array_equal(one.weights, seen[2, :2, :4].detach().double().numpy())
    assert (one.source, one.target, one.score, one.input_tokens) == ("a b c", "x", -1.5, ())


@pytest.mark.parametrize("score", [General, lambda q, k: Coverage(q, k, 13)])
def test_a_recurrent_decoder_step_by_step_gives_the_same_record(score):
    at_once, by_step, attention = Recorder(), Recorder(), Attention(score(Q, K)).double()
    query, keys = torch.randn(B, T, Q).double(), torch.randn(B, S, K).double()
    attention(query, keys, eye=at_once)
    memory, coverage = attention.prepare(keys), None
    for t in range(T):
        weights = attention(query[:, t, None], memory, position=t, coverage=coverage, eye=by_step).weights
        coverage = weights[:, 0] if coverage is None else coverage + weights[:, 0]
    first, second = (recorder.record(1, SOURCE, TARGET) for recorder in (at_once, by_step))
    np.testing.assert_allclose(first.weights, second.weights, atol=1e-14)


def test_a_transformer_step_by_step_gives_the_same_record():
    masked = MultiHeadAttention(M, H, kind="masked", layer=1).double()
    cross = MultiHeadAttention(M, H, kind="cross", layer=1).double()
    words, memory = torch.randn(B, T, M).double(), torch.randn(B, S, M).double()
    at_once, by_step, by_prefix = Recorder(), Recorder(), Recorder()
    for recorder, ends in ((at_once, [T]), (by_step, [1, 2, 3]), (by_prefix, [2, 3])):
        start = 0
        for end in ends:
            masked(words[:, start:end], words[:, :end], words[:, :end], causal=True, eye=recorder)
            cross(words[:, start:end], memory, memory, eye=recorder)
            start = end
    records = [recorder.record(3, SOURCE, TARGET) for recorder in (at_once, by_step, by_prefix)]
    assert records[0].input_tokens == ("<sos>", "나는", "눈을")
    assert records[0].map_of("masked").weights.shape == (H, T, T)
    assert np.array_equal(np.triu(records[1].select("masked", 1, 0), 1), np.zeros((T, T)))
    for other in records[1:]:
        assert (other.kinds, other.layers, other.heads) == (("cross", "masked"), (1,), H)
        for one, two in zip(records[0].maps, other.maps, strict=True):
            np.testing.assert_allclose(one.weights, two.weights, atol=1e-14)


def test_an_encoder_looks_at_itself():
    recorder, attention = Recorder(), MultiHeadAttention(M, H)
    states = torch.randn(B, S + 1, M)
    seen = attention(states, states, states, keep_of([6, 5, 3, 2], S + 1), eye=recorder).weights
    one = recorder.record(1, SOURCE, ["label"])
    assert np.array_equal(one.select("self", 0, 1), seen[1, 1, :S, :S].detach().double().numpy())
    assert one.reading_of(one.map_of("self")) == "row t is the source word that looks"


def test_what_a_recorder_cannot_know_it_refuses():
    with pytest.raises(UsageError, match="seen no attention; hand it to the model as eye=recorder"):
        Recorder().record(0, SOURCE, TARGET)
    recorder, attention = Recorder(), Attention(General(Q, K))
    attention(torch.randn(B, T, Q), torch.randn(B, S, K), eye=recorder)
    with pytest.raises(ShapeError, match=r"looks with 0\.\d\d of its weight at steps after the 4 source tokens.*<sos>"):
        recorder.record(0, SOURCE[:-1], TARGET)
    with pytest.raises(ShapeError, match="seen over 3 × 5 steps, fewer than the 4 target and 5 source"):
        recorder.record(0, SOURCE, [*TARGET, "more"])
    for row in (B, -1):
        with pytest.raises(UsageError, match=rf"no sentence {row} \(from 0\) in a batch of 4"):
            recorder.record(row, SOURCE, TARGET)
    other = Recorder()
    Attention(General(Q, K), kind="sideways")(torch.randn(B, T, Q), torch.randn(B, S, K), eye=other)
    with pytest.raises(UsageError, match="cannot hold attention of kind 'sideways'"):
        other.record(0, SOURCE, TARGET)


def test_a_batch_that_shrinks_on_the_way_is_refused():
    recorder, attention = Recorder(), Attention(General(Q, K))
    for rows in (B, B - 1):
        attention(torch.randn(rows, 1, Q), torch.randn(rows, S, K), eye=recorder)
    with pytest.raises(UsageError, match=r"from 4 to 3 sentences.*whole batch"):
        recorder.record(0, SOURCE, TARGET[:2])


@pytest.mark.parametrize(("kind", "causal"), [("self", False), ("masked", True)])
def test_two_runs_are_not_taken_for_one(kind, causal):
    recorder, attention = Recorder(), MultiHeadAttention(M, H, kind=kind)
    states = torch.randn(B, T, M)
    for _ in range(2):
        attention(states, states, states, causal=causal, eye=recorder)
    with pytest.raises(UsageError, match="make a new one for each"):
        recorder.record(0, TARGET, TARGET)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_weights_of_any_precision_are_recorded(dtype):
    recorder, weights = Recorder(), torch.tensor([[[0.25, 0.75]]], dtype=dtype)
    recorder(Look("cross", 0, weights, weights, weights, weights, weights))
    record = recorder.record(0, ["a", "b"], ["c"])
    assert record.weights.tolist() == [[0.25, 0.75]]
    assert record.weights.dtype == np.float64
