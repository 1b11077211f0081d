"""The cells of recurrent layers, written out: one step of an LSTM, a GRU and an RNN, and its gradient."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nungil.attention.energy import tanh_

# Sizes   D directions, side by side   B batch   W width of a state   G width of all gates together


class Kernel(ABC):
    """One step of a cell and its gradient. `memory` is an LSTM's cell state; other cells carry zeros there."""

    gates: ClassVar[int]
    split: ClassVar[bool] = False  # whether U h + b is used by itself, and not only in a sum with W x + b

    @abstractmethod
    def forward(
        self,
        inputs: Float[Tensor, "D B G"],
        gates: Float[Tensor, "D B G"],
        hidden: Float[Tensor, "D B W"],
        memory: Float[Tensor, "D B W"],
    ) -> tuple[Tensor, ...]:
        """The new hidden state and memory, and what `backward` needs.

        `inputs` are W x + b. `gates` are U h + b, or, where the two are not split, their sum; they may be overwritten.
        """

    @abstractmethod
    def backward(
        self, saved: tuple[Tensor, ...], grad_hidden: Float[Tensor, "D B W"], grad_memory: Float[Tensor, "D B W"]
    ) -> "Felt":
        """From the gradients of the new hidden state and memory to those of the gates and of the state before."""


class Felt(NamedTuple):
    """Gradients of W x + b, of U h + b, of the memory before, and of the hidden state other than through the gates."""

    inputs: Float[Tensor, "D B G"]
    gates: Float[Tensor, "D B G"]
    hidden: Float[Tensor, "D B W"] | None
    memory: Float[Tensor, "D B W"]


class LstmKernel(Kernel):
    """Hochreiter and Schmidhuber (1997), with a forget gate: i, f, g, o as torch orders them."""

    gates = 4

    def forward(self, inputs: Tensor, gates: Tensor, hidden: Tensor, memory: Tensor) -> tuple[Tensor, ...]:
        """c' = f c + i g, h' = o tanh(c')."""
        del inputs, hidden
        enters, stays, new, out = gates.chunk(4, dim=-1)
        new.mul_(2)
        gates.sigmoid_()  # all of them in one pass: tanh(x) = 2 σ(2x) − 1
        new.mul_(2).sub_(1)
        after = torch.addcmul(enters * new, stays, memory)
        shown = tanh_(after.clone())
        return out * shown, after, gates, shown, memory

    def backward(self, saved: tuple[Tensor, ...], grad_hidden: Tensor, grad_memory: Tensor) -> Felt:
        """Through the output gate and the memory."""
        gates, shown, memory = saved
        enters, stays, new, out = gates.chunk(4, dim=-1)
        through = torch.addcmul(grad_memory, grad_hidden * out, 1 - shown * shown)
        slopes = torch.addcmul(gates, gates, gates, value=-1)  # σ' = σ (1 − σ)
        slopes.chunk(4, dim=-1)[2].copy_(1 - new * new)
        grad = torch.empty_like(gates)
        left, right = (through, through, through, grad_hidden), (new, memory, enters, shown)
        for one, other, place in zip(left, right, grad.chunk(4, dim=-1), strict=True):
            torch.mul(one, other, out=place)
        grad *= slopes
        return Felt(grad, grad, None, through * stays)


class GruKernel(Kernel):
    """Cho et al. (2014), as torch has it: r, z, n, and the reset gate multiplies U h + b."""

    gates = 3
    split = True

    def forward(self, inputs: Tensor, gates: Tensor, hidden: Tensor, memory: Tensor) -> tuple[Tensor, ...]:
        """h' = (1 − z) n + z h, n = tanh(W x + b + r (U h + b))."""
        W = hidden.shape[-1]
        both = gates[..., : 2 * W].add_(inputs[..., : 2 * W]).sigmoid_()
        reset, stays = both.chunk(2, dim=-1)
        own = gates[..., 2 * W :]
        new = tanh_(torch.addcmul(inputs[..., 2 * W :], reset, own))
        return torch.lerp(new, hidden, stays), memory, both, new, own, hidden

    def backward(self, saved: tuple[Tensor, ...], grad_hidden: Tensor, grad_memory: Tensor) -> Felt:
        """Through the update gate, the new state and the reset gate."""
        both, new, own, hidden = saved
        reset, stays = both.chunk(2, dim=-1)
        grad = hidden.new_empty(*hidden.shape[:-1], 3 * hidden.shape[-1])
        of_reset, of_stays, of_new = grad.chunk(3, dim=-1)
        torch.mul(grad_hidden * (1 - stays), 1 - new * new, out=of_new)
        torch.mul(of_new * own, reset * (1 - reset), out=of_reset)
        torch.mul(grad_hidden * (hidden - new), stays * (1 - stays), out=of_stays)
        grad_gates = grad.clone()
        grad_gates[..., 2 * hidden.shape[-1] :] *= reset
        return Felt(grad, grad_gates, grad_hidden * stays, grad_memory)


class RnnKernel(Kernel):
    """Elman (1990): h' = tanh(W x + b + U h + b)."""

    gates = 1

    def forward(self, inputs: Tensor, gates: Tensor, hidden: Tensor, memory: Tensor) -> tuple[Tensor, ...]:
        """One tanh."""
        del inputs, hidden
        after = tanh_(gates)
        return after, memory, after

    def backward(self, saved: tuple[Tensor, ...], grad_hidden: Tensor, grad_memory: Tensor) -> Felt:
        """Through the tanh."""
        (after,) = saved
        grad = grad_hidden * (1 - after * after)
        return Felt(grad, grad, None, grad_memory)


KERNELS: dict[type[nn.RNNBase], Kernel] = {nn.LSTM: LstmKernel(), nn.GRU: GruKernel(), nn.RNN: RnnKernel()}
