"""Whole sentences through torch's own LSTM: equal to the walk, states and gradients, and as blind to padding."""

import math
import os

import pytest
import torch
from mechanisms import keep_first
from torch import nn

from nungil.model import reading
from nungil.model.encoders import RecurrentEncoder, RecurrentEncoderSettings
from nungil.model.reading import go_on, read, read_marked
from nungil.model.recurrence import walk

B, T, I, W = 5, 7, 3, 4  # noqa: E741  all different
LENGTHS = [7, 3, 1, 5, 2]
EXACT = {torch.float64: 1e-13, torch.float32: 2e-6}  # torch runs 32 bits by oneDNN and 64 by itself


@pytest.fixture(params=EXACT, ids=str)
def dtype(request):
    return request.param


@pytest.fixture(params=[True, False], ids=["both ways", "one way"])
def layer(request, dtype):
    return nn.LSTM(I, W, batch_first=True, bidirectional=request.param).to(dtype)


def gradients(walked, keep, inputs, layer):
    """Of a loss that reads every real state, the last hidden states and the last memories, each with its own weight."""
    torch.manual_seed(3)
    states = walked.states if keep is None else walked.states * keep[..., None]
    loss = sum(
        (part * torch.randn(part.shape, dtype=part.dtype)).sum() for part in (states, walked.hidden, walked.memory)
    )
    return torch.autograd.grad(loss, [inputs, *layer.parameters()])


@pytest.mark.parametrize("keep", [None, keep_first(LENGTHS, T)], ids=["full", "padded"])
def test_it_equals_the_walk_in_states_and_all_gradients(layer, dtype, keep):
    inputs = torch.randn(B, T, I, dtype=dtype, requires_grad=True)
    own, other = read_marked(layer, inputs, keep), walk(layer, inputs, keep=keep)
    real = slice(None) if keep is None else keep
    for mine, yours in (own.states[real], other.states[real]), (own.hidden, other.hidden), (own.memory, other.memory):
        assert torch.allclose(mine, yours, rtol=0, atol=EXACT[dtype])
    pairs = zip(gradients(own, keep, inputs, layer), gradients(other, keep, inputs, layer), strict=True)
    for mine, yours in pairs:
        assert torch.allclose(mine, yours, rtol=0, atol=10 * EXACT[dtype])


@pytest.mark.parametrize("filling", [9.0, -1e30, math.inf, math.nan])
def test_what_stands_in_padding_changes_no_number(layer, dtype, filling):
    keep = keep_first(LENGTHS, T)
    clean = torch.randn(B, T, I, dtype=dtype).masked_fill(~keep[..., None], 0.0).requires_grad_()
    dirty = clean.detach().masked_fill(~keep[..., None], filling).requires_grad_()
    own, other = read_marked(layer, dirty, keep), read_marked(layer, clean, keep)
    assert all(torch.equal(mine, yours) for mine, yours in zip(own, other, strict=True))
    pairs = zip(gradients(own, keep, dirty, layer), gradients(other, keep, clean, layer), strict=True)
    assert all(torch.equal(mine, yours) for mine, yours in pairs)
    assert (gradients(read_marked(layer, dirty, keep), keep, dirty, layer)[0][~keep] == 0).all()


def test_at_padding_the_memory_stands_still_to_the_last_bit(layer, dtype):
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.mul_(40)  # gates that are sure of themselves, and of the contrary
    inputs = torch.randn(1, 4, I, dtype=dtype)
    short = read_marked(layer, torch.cat([inputs, inputs.flip(1)], dim=1), keep_first([4], 8))
    longer = read_marked(layer, torch.cat([inputs, inputs.new_zeros(1, 90, I)], dim=1), keep_first([4], 94))
    assert torch.equal(short.memory, longer.memory)
    assert torch.equal(short.hidden, longer.hidden)


@pytest.fixture(params=[True, False], ids=["both ways", "one way"])
def short(request):
    """A layer whose products are shortened to bfloat16."""
    if not reading.has_short_kernel():
        pytest.skip("this processor has no products in bfloat16")
    with torch.autocast("cpu", dtype=torch.bfloat16):
        yield nn.LSTM(I, W, batch_first=True, bidirectional=request.param)


@pytest.mark.parametrize("keep", [None, keep_first(LENGTHS, T)], ids=["full", "padded"])
def test_with_short_products_it_is_as_near_to_the_walk_as_they_are_long(short, keep):
    inputs = torch.randn(B, T, I, requires_grad=True)
    own, other = read_marked(short, inputs, keep), walk(short, inputs, keep=keep)
    real = slice(None) if keep is None else keep
    for mine, yours in (own.states[real], other.states[real]), (own.hidden, other.hidden), (own.memory, other.memory):
        assert mine.dtype == torch.float32
        assert torch.allclose(mine, yours, rtol=0, atol=2**-7)
    pairs = zip(gradients(own, keep, inputs, short), gradients(other, keep, inputs, short), strict=True)
    for mine, yours in pairs:
        assert torch.allclose(mine, yours, rtol=0, atol=2**-5 * float(yours.abs().max()))


def test_with_short_products_what_stands_in_padding_changes_no_number(short):
    keep = keep_first(LENGTHS, T)
    clean = torch.randn(B, T, I).masked_fill(~keep[..., None], 0.0).requires_grad_()
    dirty = clean.detach().masked_fill(~keep[..., None], math.nan).requires_grad_()
    own, other = read_marked(short, dirty, keep), read_marked(short, clean, keep)
    assert all(torch.equal(mine, yours) for mine, yours in zip(own, other, strict=True))
    pairs = zip(gradients(own, keep, dirty, short), gradients(other, keep, clean, short), strict=True)
    assert all(torch.equal(mine, yours) for mine, yours in pairs)


def test_with_short_products_the_memory_stands_still_at_padding_and_is_not_short(short):
    inputs = torch.randn(1, 4, I)
    few = read_marked(short, torch.cat([inputs, inputs.flip(1)], dim=1), keep_first([4], 8))
    many = read_marked(short, torch.cat([inputs, inputs.new_zeros(1, 90, I)], dim=1), keep_first([4], 94))
    assert torch.equal(few.memory, many.memory)
    assert torch.equal(few.hidden, many.hidden)
    assert not torch.equal(few.memory, few.memory.bfloat16().float())


@pytest.mark.parametrize("short", [False], indirect=True)
def test_with_short_products_a_decoder_goes_on_from_a_given_state(short):
    inputs, hidden, memory = torch.randn(B, T, I), torch.randn(B, W), torch.randn(B, W)
    own, other = go_on(short, inputs, hidden, memory), walk(short, inputs, hidden, memory).states
    assert torch.allclose(own, other, rtol=0, atol=2**-7)
    assert not torch.allclose(own, walk(short, inputs).states, rtol=0, atol=2**-7)


def encoder(**chosen):
    return RecurrentEncoder(I, RecurrentEncoderSettings.model_validate({"width": 2 * W, "dropout": 0.0, **chosen}))


@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_an_encoder_gives_a_sentence_the_same_alone_and_in_any_batch(layers, bidirectional):
    model, keep = encoder(layers=layers, bidirectional=bidirectional), keep_first(LENGTHS, T)
    inputs = torch.randn(B, T, I).masked_fill(~keep[..., None], math.nan)
    together = model(inputs, keep)
    assert (together.states[~keep] == 0).all()
    for row, length in enumerate(LENGTHS):
        alone = model(inputs[row : row + 1, :length], keep[row : row + 1, :length])
        assert torch.allclose(together.states[row, :length], alone.states[0], rtol=0, atol=1e-6)
        assert torch.allclose(together.last[:, row], alone.last[:, 0], rtol=0, atol=1e-6)
        assert torch.allclose(together.cell[:, row], alone.cell[:, 0], rtol=0, atol=1e-6)


def ways_taken(monkeypatch):
    taken = []
    for name, run in (("read_marked", read_marked), ("walk", walk)):
        monkeypatch.setattr(
            reading, name, lambda *given, name=name, run=run, **named: taken.append(name) or run(*given, **named)
        )
    return taken


@pytest.mark.parametrize(
    ("cell", "dtype", "rows", "learns", "way"),
    [
        (nn.LSTM, torch.float32, reading.MANY, True, "read_marked"),
        (nn.LSTM, torch.float32, reading.MANY + 1, True, "walk"),
        (nn.LSTM, torch.float32, reading.MANY + 1, False, "read_marked"),
        (nn.LSTM, torch.float64, B, True, "walk"),
        (nn.GRU, torch.float32, B, False, "walk"),
    ],
)
def test_the_faster_way_is_taken(monkeypatch, cell, dtype, rows, learns, way):
    taken = ways_taken(monkeypatch)
    with torch.set_grad_enabled(learns):
        read(cell(I, W, batch_first=True).to(dtype), torch.randn(rows, T, I, dtype=dtype))
    assert taken == [way]


def test_where_the_processor_has_no_short_products_the_kernel_computes_in_full(monkeypatch):
    monkeypatch.setattr(reading, "has_short_kernel", lambda: False)
    layer, inputs = nn.LSTM(I, W, batch_first=True), torch.randn(B, T, I)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        own = read(layer, inputs).states
    assert torch.equal(own, layer(inputs)[0])


def test_without_the_kernel_every_cell_walks(monkeypatch):
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    assert not reading.has_kernel(torch.zeros(B, T, I))


def test_few_shapes_are_kept_unless_somebody_said_otherwise(monkeypatch):
    monkeypatch.delenv(reading.SHAPES_SETTING, raising=False)
    reading.keep_few_shapes()
    assert os.environ[reading.SHAPES_SETTING] == reading.SHAPES_KEPT
    monkeypatch.setenv(reading.SHAPES_SETTING, "7")
    reading.keep_few_shapes()
    assert os.environ[reading.SHAPES_SETTING] == "7"
