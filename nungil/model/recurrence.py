"""A recurrent layer over whole padded sentences, as one autograd function that is faster than torch's.

torch runs a sentence through autograd step by step, with a product for the weights' gradient and a tensor of zeros for
every slice at each step. Here the backward pass does step by step only what depends on the next step; the gradients of
the weights are one product over all steps. A bidirectional layer takes a step of both directions at once: half as many
operations, each twice as large.

At a padded step the state stays as it was. So the last state is that of the last real word, and from the right a
sentence begins with its own last word. Nothing is packed or sorted.

Products may be in bfloat16; states and sums are not.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from nungil.model.kernels import KERNELS, Felt
from nungil.model.products import product_type

# Sizes   D directions   B batch   T steps   I width of an input   W width of a state of one direction
#         G width of all gates together   V width of a state, all directions joined


class Walked(NamedTuple):
    """The states of all steps, and the last hidden state and memory."""

    states: Float[Tensor, "B T V"]
    hidden: Float[Tensor, "B V"]
    memory: Float[Tensor, "B V"]


def walk(
    layer: nn.RNNBase,
    inputs: Float[Tensor, "B T I"],
    hidden: Float[Tensor, "B V"] | None = None,
    memory: Float[Tensor, "B V"] | None = None,
    keep: Bool[Tensor, "B T"] | None = None,
) -> Walked:
    """One layer in all its directions, from the state given or from zeros.

    Padding must stand on the right; states there are meaningless.
    """
    directions = 1 + layer.bidirectional
    nothing = inputs.new_zeros(len(inputs), directions * layer.hidden_size)
    first = [nothing if state is None else state for state in (hidden, memory)]
    plan = KERNELS[type(layer)], directions, product_type(inputs.dtype), _real_steps(keep, directions)
    weights = [weight for direction in layer.all_weights for weight in direction]
    return Walked(*_Walk.apply(inputs, *first, plan, *weights))  # type: ignore[no-untyped-call]


def _real_steps(keep: Bool[Tensor, "B T"] | None, directions: int) -> list[Bool[Tensor, "D B 1"] | None]:
    """For each step, which rows are real words; None where all are. Empty without `keep`.

    The first direction runs from the left, the second from the right.
    """
    if keep is None:
        return []
    real_TDB = torch.stack([keep.t(), keep.t().flip(0)][:directions], dim=1)
    everywhere = real_TDB.all(dim=-1).all(dim=-1).tolist()
    return [None if all_real else real_TDB[step, :, :, None] for step, all_real in enumerate(everywhere)]


class _Walk(torch.autograd.Function):
    """One layer over all steps. Tensors with an axis T have it in the order of each direction's own steps."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[Tensor, Tensor, Tensor]:
        inputs, hidden, memory, plan, *weights = given
        kernel, D, kind, real = plan
        T, full = inputs.shape[1], inputs.dtype
        weights_in, weights_back, biases_in, biases_back = (torch.stack(weights[place::4]) for place in range(4))
        biases = biases_in if kernel.split else biases_in + biases_back
        inputs_DTBI = _in_order(inputs.to(kind), D)
        turned_DWG, bias_back_D1G = weights_back.to(kind).transpose(1, 2), biases_back[:, None].to(kind)
        projected_DTBG = _projected(inputs_DTBI, weights_in.to(kind), biases.to(kind))
        hidden, memory = _by_direction(hidden, D), _by_direction(memory, D)
        before_DTBW = inputs.new_empty(D, T, *hidden.shape[1:], dtype=kind)
        states_DTBW, steps = torch.empty_like(before_DTBW, dtype=full), []
        for t in range(T):
            before, projected = before_DTBW[:, t].copy_(hidden), projected_DTBG[:, t]
            gates = torch.baddbmm(bias_back_D1G if kernel.split else projected, before, turned_DWG).to(full)
            after, memory_after, *saved = kernel.forward(
                projected.to(full) if kernel.split else gates, gates, hidden, memory
            )
            steps.append(tuple(saved))
            if real and real[t] is not None:
                after, memory_after = torch.where(real[t], after, hidden), torch.where(real[t], memory_after, memory)
            states_DTBW[:, t] = hidden = after
            memory = memory_after
        ctx.save_for_backward(inputs_DTBI, before_DTBW, weights_in, weights_back)
        ctx.steps, ctx.plan = steps, plan
        return _joined(states_DTBW), torch.cat(list(hidden), dim=-1), torch.cat(list(memory), dim=-1)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor, grad_hidden: Tensor, grad_memory: Tensor) -> tuple[Tensor | None, ...]:
        inputs_DTBI, before_DTBW, weights_in, weights_back = ctx.saved_tensors
        kernel, D, kind, _ = ctx.plan
        full = weights_in.dtype
        last = _by_direction(grad_hidden, D), _by_direction(grad_memory, D)
        felt = _go_back(ctx, weights_back.to(kind), _cut(grad_states, D), last)
        flat_in, flat_back = felt.inputs.flatten(1, 2), felt.gates.flatten(1, 2)  # D, T × B, G
        grad_inputs = torch.bmm(flat_in, weights_in.to(kind)).to(full).view(*inputs_DTBI.shape)
        grads_in = torch.bmm(flat_in.transpose(1, 2), inputs_DTBI.flatten(1, 2)).to(full)
        grads_back = torch.bmm(flat_back.transpose(1, 2), before_DTBW.flatten(1, 2)).to(full)
        ones_D1N = flat_in.new_ones(D, 1, flat_in.shape[1])  # a product sums in full precision, and fast
        bias_in = torch.bmm(ones_D1N, flat_in)[:, 0].to(full)
        bias_back = torch.bmm(ones_D1N, flat_back)[:, 0].to(full) if kernel.split else bias_in.clone()  # not shared
        weights = [part[d] for d in range(D) for part in (grads_in, grads_back, bias_in, bias_back)]
        return _summed(grad_inputs), torch.cat(list(felt.hidden), -1), torch.cat(list(felt.memory), -1), None, *weights


class _GoneBack(NamedTuple):
    """Gradients of both parts of all steps' gates, and of the initial state."""

    inputs: Float[Tensor, "D T B G"]
    gates: Float[Tensor, "D T B G"]
    hidden: Float[Tensor, "D B W"]
    memory: Float[Tensor, "D B W"]


def _go_back(
    ctx: Any, weights_back: Float[Tensor, "D G W"], grad_states: Float[Tensor, "D T B W"], last: tuple[Tensor, Tensor]
) -> _GoneBack:
    """The part of the backward pass that has to go step by step. Gradients of gates are in the products' dtype."""
    kernel, _, kind, real = ctx.plan
    grad_hidden, grad_memory = last
    D, T, B, W = grad_states.shape
    inputs_DTBG = grad_states.new_empty(D, T, B, kernel.gates * W, dtype=kind)
    gates_DTBG = torch.empty_like(inputs_DTBG) if kernel.split else inputs_DTBG
    for t in range(T - 1, -1, -1):
        here = real[t] if real else None
        grad_hidden = grad_hidden + grad_states[:, t]
        felt = kernel.backward(ctx.steps[t], grad_hidden, grad_memory)
        if here is not None:  # at padding the gradient bypasses the cell, as the state did
            felt = _past_padding(felt, here, grad_hidden, grad_memory)
        short = gates_DTBG[:, t].copy_(felt.gates)
        if kernel.split:
            inputs_DTBG[:, t] = felt.inputs
        grad_hidden, grad_memory = torch.bmm(short, weights_back).to(grad_hidden.dtype), felt.memory
        if felt.hidden is not None:
            grad_hidden += felt.hidden
    return _GoneBack(inputs_DTBG, gates_DTBG, grad_hidden, grad_memory)


def _past_padding(felt: Felt, real: Bool[Tensor, "D B 1"], grad_hidden: Tensor, grad_memory: Tensor) -> Felt:
    """At padding the gates get no gradient, and the state before gets all of it."""
    return Felt(
        felt.inputs.masked_fill(~real, 0.0),
        felt.gates.masked_fill(~real, 0.0),
        torch.where(real, 0.0 if felt.hidden is None else felt.hidden, grad_hidden),
        torch.where(real, felt.memory, grad_memory),
    )


def _projected(
    inputs: Float[Tensor, "D T B I"], weights: Float[Tensor, "D G I"], biases: Float[Tensor, "D G"]
) -> Float[Tensor, "D T B G"]:
    """W x + b of all steps and directions."""
    D, T, B, _ = inputs.shape
    products = torch.bmm(inputs.flatten(1, 2), weights.transpose(1, 2)).add_(biases[:, None])  # baddbmm is slower
    return products.view(D, T, B, -1)


def _by_direction(state: Float[Tensor, "B V"], directions: int) -> Float[Tensor, "D B W"]:
    return torch.stack(state.chunk(directions, dim=-1))


def _in_order(inputs: Float[Tensor, "B T I"], directions: int) -> Float[Tensor, "D T B I"]:
    """The steps for each direction, in its own order: the second runs from the right."""
    forth_TBI = inputs.transpose(0, 1)
    return torch.stack([forth_TBI, forth_TBI.flip(0)][:directions])


def _cut(states: Float[Tensor, "B T V"], directions: int) -> Float[Tensor, "D T B W"]:
    """The part of each direction, in its own order."""
    forth, *back = states.transpose(0, 1).chunk(directions, dim=-1)
    return torch.stack([forth, *(part.flip(0) for part in back)])


def _joined(states: Float[Tensor, "D T B W"]) -> Float[Tensor, "B T V"]:
    """The states of all directions, joined at each step, left to right."""
    forth, *back = states
    return torch.cat([forth, *(part.flip(0) for part in back)], dim=-1).transpose(0, 1)


def _summed(numbers: Float[Tensor, "D T B I"]) -> Float[Tensor, "B T I"]:
    """The sum over directions, left to right."""
    forth, *back = numbers
    return torch.stack([forth, *(part.flip(0) for part in back)]).sum(dim=0).transpose(0, 1)
