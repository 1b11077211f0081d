"""A recurrent layer over padded sentences, in all its directions, in whichever of two ways is faster.

`walk` goes step by step, for every cell. `read_marked` gives an LSTM to torch's own kernel, which is one call for all
steps, in fp32 or with products in bfloat16, but knows nothing of padding. So padding is marked in its inputs: one more
feature is 1 at padding, with weights that close the input gate and open the forget gate completely. There
c' = 1·c + 0·g: the memory does not change, and no gradient flows. Read from the right, where padding comes first,
h = o·tanh(0) = 0 is the initial state. Nothing needs to be packed, sorted or reversed.
"""

import os
from collections.abc import Sequence
from typing import NamedTuple, TypeGuard

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from nungil.model.products import in_full, product_type
from nungil.model.recurrence import Walked, walk

# Sizes   B batch   T steps   I width of an input   D directions   W width of a state, all directions joined
SHUT = 1e6  # far beyond what the other inputs of a gate add up to, so the sigmoid is exactly 0 or 1
MANY = 128  # sentences of a training batch; in larger ones `walk` has the faster backward pass
LSTM = 2  # the mode's number in oneDNN

SHAPES_SETTING, SHAPES_KEPT = "ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64"


def read(layer: nn.RNNBase, inputs: Float[Tensor, "B T I"], keep: Bool[Tensor, "B T"] | None = None) -> Walked:
    """The states of every step and the last ones. Padding must stand on the right; states there are meaningless."""
    return read_marked(layer, inputs, keep) if _suits(layer, inputs) else walk(layer, inputs, keep=keep)


def go_on(
    layer: nn.RNNBase,
    inputs: Float[Tensor, "B T I"],
    hidden: Float[Tensor, "B W"],
    memory: Float[Tensor, "B W"] | None = None,
) -> Float[Tensor, "B T W"]:
    """The states of every step, left to right, from a given state. Padding, on the right, is read like any token."""
    if memory is None or not _suits(layer, inputs):
        return walk(layer, inputs, hidden, memory).states
    return _kernel(layer, inputs, (hidden[None], memory[None]), _weights(layer, marked=False)).states


def _suits(layer: nn.RNNBase, inputs: Float[Tensor, "B T I"]) -> TypeGuard[nn.LSTM]:
    """Whether torch's own kernel is faster here."""
    few = len(inputs) <= MANY or not torch.is_grad_enabled()
    return isinstance(layer, nn.LSTM) and has_kernel(inputs) and few


def has_kernel(inputs: Float[Tensor, "B T I"]) -> bool:
    """Whether torch has a fused LSTM for this device and dtype; without oneDNN its LSTM is a slower loop."""
    if inputs.device.type != "cpu" or inputs.dtype != torch.float32:
        return False
    return bool(torch.backends.mkldnn.is_available())  # type: ignore[no-untyped-call]


def keep_few_shapes() -> None:
    """Limit oneDNN's cache of primitives. oneDNN reads the limit once, at its first computation.

    By default it holds 1,024 shapes, and fragments the memory. A run on long texts, where most batches have a shape of
    their own, would grow to 3 GB instead of 0.7 GB, and be no faster.
    """
    os.environ.setdefault(SHAPES_SETTING, SHAPES_KEPT)


def read_marked(layer: nn.LSTM, inputs: Float[Tensor, "B T I"], keep: Bool[Tensor, "B T"] | None = None) -> Walked:
    """The same in one call, for an LSTM of one layer."""
    if keep is not None:
        padding = ~keep[..., None]
        inputs = torch.cat([inputs.masked_fill(padding, 0.0), padding.to(inputs.dtype)], dim=-1)
    first = inputs.new_zeros(1 + layer.bidirectional, len(inputs), layer.hidden_size)
    states, hidden, memory = _kernel(layer, inputs, (first, first), _weights(layer, marked=keep is not None))
    last = list(hidden)
    if keep is not None:  # left to right, the kernel's last step is padding
        ends = keep.sum(dim=1) - 1
        last[0] = states[torch.arange(len(states), device=states.device), ends, : layer.hidden_size]
    return Walked(states, torch.cat(last, dim=-1), torch.cat(list(memory), dim=-1))


class _Ended(NamedTuple):
    """The states of every step, and the last hidden state and memory of each direction."""

    states: Float[Tensor, "B T W"]
    hidden: Sequence[Float[Tensor, "B w"]]
    memory: Sequence[Float[Tensor, "B w"]]


def _kernel(layer: nn.LSTM, inputs: Tensor, first: tuple[Tensor, Tensor], weights: list[Tensor]) -> _Ended:
    """torch's own LSTM, from the given hidden state and memory of each direction."""
    if product_type(inputs.dtype) != inputs.dtype and has_short_kernel():
        return _short_kernel(layer, inputs, first, weights)
    with in_full():
        states, hidden, memory = torch.lstm(
            inputs,
            (first[0].contiguous(), first[1].contiguous()),
            weights,
            has_biases=True,
            num_layers=1,
            dropout=0.0,
            train=torch.is_grad_enabled(),  # whether to save what backward needs
            bidirectional=layer.bidirectional,
            batch_first=True,
        )
    return _Ended(states, list(hidden), list(memory))


def has_short_kernel() -> bool:
    """Whether oneDNN has bfloat16 products on this processor."""
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _short_kernel(layer: nn.LSTM, inputs: Tensor, first: tuple[Tensor, Tensor], weights: list[Tensor]) -> _Ended:
    """The same with bfloat16 products, which `torch.lstm` cannot be asked for. The memory stays in full precision."""
    kind, full = product_type(inputs.dtype), inputs.dtype
    inputs_TBI = inputs.to(kind).transpose(0, 1).contiguous()
    found = []
    with in_full():
        for direction, (hidden, memory) in enumerate(zip(*first, strict=True)):
            weight_in, weight_back, bias_in, bias_back = weights[4 * direction : 4 * direction + 4]
            states_TBW, *last, _ = torch.mkldnn_rnn_layer(
                inputs_TBI,
                weight_in.to(kind),
                weight_back.to(kind),
                bias_in,
                bias_back,
                hidden[None].to(kind).contiguous(),
                memory[None].contiguous(),
                reverse=direction == 1,
                batch_sizes=[],
                mode=LSTM,
                hidden_size=layer.hidden_size,
                num_layers=1,
                has_biases=True,
                bidirectional=False,
                batch_first=False,
                train=torch.is_grad_enabled(),
            )
            found.append((states_TBW, *(part[0].to(full) for part in last)))
    states, hidden_last, memory_last = zip(*found, strict=True)
    return _Ended(torch.cat(states, dim=-1).transpose(0, 1).to(full), hidden_last, memory_last)


def _weights(layer: nn.LSTM, marked: bool) -> list[Tensor]:
    """The weights of each direction in torch's order; if `marked`, with a column for the mark of padding."""
    weights: list[Tensor] = [parameter for direction in layer.all_weights for parameter in direction]
    if marked:
        effect = weights[0].new_tensor([-SHUT, SHUT, 0.0, 0.0]).repeat_interleave(layer.hidden_size)
        for place in range(0, len(weights), 4):
            weights[place] = torch.cat([weights[place], effect[:, None]], dim=1)
    return weights
