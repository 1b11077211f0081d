"""A recurrent layer over whole sentences: equal to torch's own on packed sentences, states and gradients."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nungil.model.recurrence import walk

B, T, I, W = 5, 7, 3, 4  # noqa: E741  all different
LENGTHS = torch.tensor([7, 3, 1, 5, 2])


@pytest.fixture(params=[nn.LSTM, nn.GRU, nn.RNN])
def layer(request):
    return request.param(I, W, batch_first=True, bidirectional=True).double()


def theirs(layer, inputs):
    packed = pack_padded_sequence(inputs, LENGTHS, batch_first=True, enforce_sorted=False)
    states, last = layer(packed)
    states, _ = pad_packed_sequence(states, batch_first=True, total_length=T)
    hidden, memory = last if isinstance(last, tuple) else (last, torch.zeros_like(last))
    return [states, *hidden, *memory]


def ours(layer, inputs):
    keep = torch.arange(T)[None] < LENGTHS[:, None]
    first = torch.zeros(B, W, dtype=torch.float64)
    left, right = (walk(layer, inputs, first, None, keep, backwards=backwards) for backwards in (False, True))
    states = torch.cat([left.states, right.states], dim=-1) * keep[..., None]
    return [states, left.hidden, right.hidden, left.memory, right.memory]


def test_states_equal_torchs_on_packed_sentences(layer):
    inputs = torch.randn(B, T, I, dtype=torch.float64)
    for own, other in zip(ours(layer, inputs), theirs(layer, inputs), strict=True):
        assert torch.allclose(own, other, rtol=0, atol=1e-14)


def test_gradients_of_inputs_and_weights_equal_torchs(layer):
    inputs = torch.randn(B, T, I, dtype=torch.float64, requires_grad=True)
    factors = [torch.randn_like(part) for part in theirs(layer, inputs)]

    def gradients(parts):
        loss = sum((part * factor).sum() for part, factor in zip(parts, factors, strict=True))
        return torch.autograd.grad(loss, [inputs, *layer.parameters()])

    for own, other in zip(gradients(ours(layer, inputs)), gradients(theirs(layer, inputs)), strict=True):
        assert torch.allclose(own, other, rtol=0, atol=1e-13)


def test_the_first_state_is_read_and_has_a_gradient(layer):
    inputs = torch.randn(B, T, I, dtype=torch.float64)
    first, memory = (torch.randn(B, W, dtype=torch.float64, requires_grad=True) for _ in range(2))
    own = walk(layer, inputs, first, memory).states
    one_way = type(layer)(I, W, batch_first=True).double()
    one_way.load_state_dict({name: value for name, value in layer.state_dict().items() if "reverse" not in name})
    state = (first[None], memory[None]) if isinstance(layer, nn.LSTM) else first[None]
    other, _ = one_way(inputs, state)
    assert torch.allclose(own, other, rtol=0, atol=1e-14)
    needed = (first, memory) if isinstance(layer, nn.LSTM) else (first,)
    for mine, yours in zip(
        torch.autograd.grad(own.sin().sum(), needed), torch.autograd.grad(other.sin().sum(), needed), strict=True
    ):
        assert torch.allclose(mine, yours, rtol=0, atol=1e-13)
