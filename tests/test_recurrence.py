"""A recurrent layer over whole sentences: equal to torch's own on packed sentences, states and gradients."""

import pytest
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from nungil.model.recurrence import walk

B, T, I, W = 5, 7, 3, 4  # noqa: E741  all different
LENGTHS = torch.tensor([7, 3, 1, 5, 2])


@pytest.fixture(params=[(cell, both) for cell in (nn.LSTM, nn.GRU, nn.RNN) for both in (True, False)], ids=str)
def layer(request):
    cell, both = request.param
    return cell(I, W, batch_first=True, bidirectional=both).double()


def theirs(layer, inputs, first=None):
    packed = pack_padded_sequence(inputs, LENGTHS, batch_first=True, enforce_sorted=False)
    states, last = layer(packed, first)
    states, _ = pad_packed_sequence(states, batch_first=True, total_length=T)
    hidden, memory = last if isinstance(last, tuple) else (last, torch.zeros_like(last))
    return [states, torch.cat(list(hidden), dim=-1), torch.cat(list(memory), dim=-1)]


def ours(layer, inputs, hidden=None, memory=None):
    keep = torch.arange(T)[None] < LENGTHS[:, None]
    walked = walk(layer, inputs, hidden, memory, keep)
    return [walked.states * keep[..., None], walked.hidden, walked.memory]


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
    first = [torch.randn(B, (1 + layer.bidirectional) * W, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    given = [torch.stack(state.chunk(1 + layer.bidirectional, dim=-1)) for state in first]
    lstm = isinstance(layer, nn.LSTM)
    own, other = ours(layer, inputs, *first), theirs(layer, inputs, tuple(given) if lstm else given[0])
    for mine, yours in zip(own[: 2 + lstm], other, strict=False):
        assert torch.allclose(mine, yours, rtol=0, atol=1e-14)
    pairs = zip(*(torch.autograd.grad(parts[0].sin().sum(), first[: 1 + lstm]) for parts in (own, other)), strict=True)
    for mine, yours in pairs:
        assert torch.allclose(mine, yours, rtol=0, atol=1e-13)


def test_no_two_gradients_share_their_memory(layer):
    walk(layer, torch.randn(B, T, I, dtype=torch.float64)).states.sum().backward()
    places = [parameter.grad.data_ptr() for parameter in layer.parameters()]
    assert len(set(places)) == len(places)


def test_what_stands_in_padding_changes_no_gradient(layer):
    keep = torch.arange(T)[None] < LENGTHS[:, None]
    clean = torch.randn(B, T, I, dtype=torch.float64)
    found = []
    for filling in (0.0, 9.0):
        inputs = clean.masked_fill(~keep[..., None], filling).requires_grad_()
        loss = sum(part.sin().sum() for part in ours(layer, inputs))
        found.append(torch.autograd.grad(loss, [inputs, *layer.parameters()]))
    assert all(torch.equal(mine, yours) for mine, yours in zip(*found, strict=True))
    assert (found[0][0][~keep] == 0).all()


def test_products_shortened_to_bfloat16_stay_near(layer):
    layer, inputs = layer.float(), torch.randn(B, T, I, requires_grad=True)
    found = []
    for shortened in (False, True):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=shortened):
            parts = ours(layer, inputs)
        assert all(part.dtype == torch.float32 for part in parts)
        found.append(
            [*parts, *torch.autograd.grad(sum(part.sin().sum() for part in parts), [inputs, *layer.parameters()])]
        )
    for full, short in zip(*found, strict=True):
        assert torch.allclose(full, short, rtol=0.05, atol=0.05 * float(full.detach().abs().max()))
        assert float(full.detach().abs().max()) == 0 or not torch.equal(full, short)
