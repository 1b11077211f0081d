"""A recurrent layer over whole sentences: torch's own arithmetic, without what makes it slow, and blind to padding.

torch walks a sentence through autograd one step at a time: a product for the weights' gradient at every step, and a
tensor of zeros for every slice. Here the walk is one function. Going back, only what truly depends on the next step is
done step by step; the gradients of all weights are one product over all steps together.

At a padded step a state stays as it was. So the last state is that of the last real word, whatever stands after it, and
from the right a sentence begins with its own last word: no packing, no sorting.

Products may be shortened to bfloat16; the states, and what is added to them, are not.
"""

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from nungil.model.products import product_type

# Sizes   B batch   T steps   I width of an input   W width of a state   G width of all gates together


class Walked(NamedTuple):
    """The states of all steps, and the last hidden state and memory."""

    states: Float[Tensor, "B T W"]
    hidden: Float[Tensor, "B W"]
    memory: Float[Tensor, "B W"]


class Kernel(ABC):
    """The arithmetic of one step of a cell, and of its gradient. `memory` is an LSTM's cell; the others carry zeros."""

    gates: ClassVar[int]
    split_bias: ClassVar[bool] = False  # whether the recurrent part is used by itself, and not only in a sum

    @abstractmethod
    def forward(self, inputs: Tensor, recurrent: Tensor, hidden: Tensor, memory: Tensor) -> tuple[Tensor, ...]:
        """From W x + b and U h + b (B, G) and the state before: new hidden, new memory, and what going back needs."""

    @abstractmethod
    def backward(
        self, saved: tuple[Tensor, ...], hidden: Tensor, memory: Tensor, grad_hidden: Tensor, grad_memory: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Gradients of both parts of the gates, of the hidden state (beside the gates), and of the memory before."""


class LstmKernel(Kernel):
    """Hochreiter and Schmidhuber (1997), with a forget gate: i, f, g, o as torch orders them."""

    gates = 4

    def forward(self, inputs: Tensor, recurrent: Tensor, hidden: Tensor, memory: Tensor) -> tuple[Tensor, ...]:
        """c' = f c + i g, h' = o tanh(c')."""
        W = hidden.shape[1]
        gates = inputs + recurrent
        gates[:, : 2 * W].sigmoid_()
        gates[:, 2 * W : 3 * W].tanh_()
        gates[:, 3 * W :].sigmoid_()
        enters, stays, new, out = gates.chunk(4, dim=1)
        after = torch.addcmul(enters * new, stays, memory)
        shown = after.tanh()
        return out * shown, after, gates, shown

    def backward(
        self, saved: tuple[Tensor, ...], hidden: Tensor, memory: Tensor, grad_hidden: Tensor, grad_memory: Tensor
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Through the output gate and the memory."""
        gates, shown = saved
        enters, stays, new, out = gates.chunk(4, dim=1)
        through = torch.addcmul(grad_memory, grad_hidden * out, 1 - shown * shown)
        W = hidden.shape[1]
        grad = torch.empty_like(gates)
        torch.mul(through * new, enters * (1 - enters), out=grad[:, :W])
        torch.mul(through * memory, stays * (1 - stays), out=grad[:, W : 2 * W])
        torch.mul(through * enters, 1 - new * new, out=grad[:, 2 * W : 3 * W])
        torch.mul(grad_hidden * shown, out * (1 - out), out=grad[:, 3 * W :])
        return grad, grad, torch.zeros_like(grad_hidden), through * stays


class GruKernel(Kernel):
    """Cho et al. (2014), as torch has it: r, z, n, and the reset gate multiplies U h + b."""

    gates = 3
    split_bias = True

    def forward(self, inputs: Tensor, recurrent: Tensor, hidden: Tensor, memory: Tensor) -> tuple[Tensor, ...]:
        """h' = (1 − z) n + z h, n = tanh(W x + b + r (U h + b))."""
        W = hidden.shape[1]
        both = (inputs[:, : 2 * W] + recurrent[:, : 2 * W]).sigmoid_()
        reset, stays = both.chunk(2, dim=1)
        own = recurrent[:, 2 * W :]
        new = torch.addcmul(inputs[:, 2 * W :], reset, own).tanh_()
        return torch.lerp(new, hidden, stays), memory, both, new, own

    def backward(
        self,
        saved: tuple[Tensor, ...],
        hidden: Tensor,
        memory: Tensor,  # noqa: ARG002  a GRU has none
        grad_hidden: Tensor,
        grad_memory: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Through the update gate, the new state and the reset gate."""
        both, new, own = saved
        W = hidden.shape[1]
        reset, stays = both.chunk(2, dim=1)
        grad_inputs = torch.empty(len(hidden), 3 * W, dtype=hidden.dtype, device=hidden.device)
        grad_new = torch.mul(grad_hidden * (1 - stays), 1 - new * new, out=grad_inputs[:, 2 * W :])
        torch.mul(grad_new * own, reset * (1 - reset), out=grad_inputs[:, :W])
        torch.mul(grad_hidden * (hidden - new), stays * (1 - stays), out=grad_inputs[:, W : 2 * W])
        grad_recurrent = grad_inputs.clone()
        grad_recurrent[:, 2 * W :] *= reset
        return grad_inputs, grad_recurrent, grad_hidden * stays, grad_memory


class RnnKernel(Kernel):
    """Elman (1990): h' = tanh(W x + b + U h + b)."""

    gates = 1

    def forward(
        self,
        inputs: Tensor,
        recurrent: Tensor,
        hidden: Tensor,  # noqa: ARG002  all that is needed of it is in `recurrent`
        memory: Tensor,
    ) -> tuple[Tensor, ...]:
        """One tanh."""
        after = (inputs + recurrent).tanh_()
        return after, memory, after

    def backward(
        self,
        saved: tuple[Tensor, ...],
        hidden: Tensor,
        memory: Tensor,  # noqa: ARG002  an RNN has none
        grad_hidden: Tensor,
        grad_memory: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Through the tanh."""
        (after,) = saved
        grad = grad_hidden * (1 - after * after)
        return grad, grad, torch.zeros_like(hidden), grad_memory


KERNELS: dict[type[nn.RNNBase], Kernel] = {nn.LSTM: LstmKernel(), nn.GRU: GruKernel(), nn.RNN: RnnKernel()}


def walk(
    layer: nn.RNNBase,
    inputs: Float[Tensor, "B T I"],
    hidden: Float[Tensor, "B W"],
    memory: Float[Tensor, "B W"] | None = None,
    keep: Bool[Tensor, "B T"] | None = None,
    *,
    backwards: bool = False,
) -> Walked:
    """One direction of a layer. Padding must stand on the right; states there are of no meaning."""
    ending = "_l0_reverse" if backwards else "_l0"
    weights = [getattr(layer, name + ending) for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    before = torch.zeros_like(hidden) if memory is None else memory
    plan = keep, KERNELS[type(layer)], backwards, product_type(inputs.dtype)
    return Walked(*_Walk.apply(inputs, hidden, before, *weights, plan))  # type: ignore[no-untyped-call]


class _Walk(torch.autograd.Function):
    """One direction of one layer, over all steps."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> tuple[Tensor, Tensor, Tensor]:
        inputs, hidden, memory, weight_in, weight_back, bias_in, bias_back, plan = given
        keep, kernel, backwards, kind = plan
        T, full = inputs.shape[1], inputs.dtype
        order = range(T - 1, -1, -1) if backwards else range(T)
        bias = bias_in if kernel.split_bias else bias_in + bias_back
        inputs, weight_in, weight_back = inputs.to(kind), weight_in.to(kind), weight_back.to(kind)
        projected_TBG = nn.functional.linear(inputs.transpose(0, 1), weight_in, bias.to(kind)).to(full)
        states_TBW = torch.empty(T, *hidden.shape, dtype=full, device=inputs.device)
        before_TBW = torch.empty_like(states_TBW)
        steps, turned = [], weight_back.t()
        for t in order:
            recurrent = (hidden.to(kind) @ turned).to(full)
            if kernel.split_bias:
                recurrent += bias_back
            after, memory_after, *activations = kernel.forward(projected_TBG[t], recurrent, hidden, memory)
            steps.append((tuple(activations), memory))
            before_TBW[t] = hidden
            if keep is not None:
                real = keep[:, t, None]
                after, memory_after = torch.where(real, after, hidden), torch.where(real, memory_after, memory)
            states_TBW[t] = hidden = after
            memory = memory_after
        ctx.save_for_backward(inputs, weight_in, weight_back, before_TBW)
        ctx.steps, ctx.order, ctx.keep, ctx.kernel = steps, order, keep, kernel
        return states_TBW.transpose(0, 1), hidden, memory

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad_states: Tensor, grad_hidden: Tensor, grad_memory: Tensor) -> tuple[Tensor | None, ...]:
        inputs, weight_in, weight_back, before_TBW = ctx.saved_tensors
        grads_in, grads_back = _go_back(ctx, weight_back, before_TBW, grad_states, (grad_hidden, grad_memory))
        kind, full = inputs.dtype, before_TBW.dtype
        flat_in, flat_back = grads_in.gates.flatten(0, 1), grads_back.flatten(0, 1)
        grad_bias = flat_in.sum(dim=0)
        grad_bias_back = flat_back.sum(dim=0) if ctx.kernel.split_bias else grad_bias
        flat_in = flat_in.to(kind)
        flat_back = flat_back.to(kind) if ctx.kernel.split_bias else flat_in
        return (
            (flat_in @ weight_in).to(full).view(*grads_in.gates.shape[:2], -1).transpose(0, 1),
            grads_in.hidden,
            grads_in.memory,
            (flat_in.t() @ inputs.transpose(0, 1).flatten(0, 1)).to(full),
            (flat_back.t() @ before_TBW.to(kind).flatten(0, 1)).to(full),
            grad_bias,
            grad_bias_back,
            None,
        )


class _GoneBack(NamedTuple):
    """Gradients of the gates of all steps, and of the state before the first."""

    gates: Float[Tensor, "T B G"]
    hidden: Float[Tensor, "B W"]
    memory: Float[Tensor, "B W"]


def _go_back(
    ctx: Any, weight_back: Tensor, before_TBW: Tensor, grad_states: Tensor, grads: tuple[Tensor, Tensor]
) -> tuple[_GoneBack, Float[Tensor, "T B G"]]:
    """Step by step, what truly depends on the step after. The second is the gradient of the recurrent part."""
    grad_hidden, grad_memory = grads
    T, B, W = before_TBW.shape
    in_TBG = before_TBW.new_empty(T, B, ctx.kernel.gates * W)
    back_TBG = torch.empty_like(in_TBG) if ctx.kernel.split_bias else in_TBG
    for t, (activations, memory) in zip(reversed(ctx.order), reversed(ctx.steps), strict=True):
        grad_hidden = grad_hidden + grad_states[:, t]
        through_hidden, through_memory, real = grad_hidden, grad_memory, None
        if ctx.keep is not None:  # at a padded step the gradient goes past the cell, as the state did
            real = ctx.keep[:, t, None].to(grad_hidden.dtype)
            through_hidden, through_memory = grad_hidden * real, grad_memory * real
        parts = ctx.kernel.backward(activations, before_TBW[t], memory, through_hidden, through_memory)
        in_TBG[t], back_TBG[t] = parts[0], parts[1]
        passed_hidden, passed_memory = parts[2] + parts[1].to(weight_back.dtype) @ weight_back, parts[3]
        if real is not None:
            passed_hidden = torch.addcmul(passed_hidden, grad_hidden, 1 - real)
            passed_memory = torch.addcmul(passed_memory, grad_memory, 1 - real)
        grad_hidden, grad_memory = passed_hidden, passed_memory
    return _GoneBack(in_TBG, grad_hidden, grad_memory), back_TBG
