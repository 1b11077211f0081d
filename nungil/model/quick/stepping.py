"""Stepping: what both quick translators share. A step yields a feature, and from it every score or the best token."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Generic, TypeVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nungil.attention import Eye
from nungil.model.quick.likeliest import Hide, Likeliest
from nungil.model.quick.product import Product
from nungil.model.results import State, Stepped

# Sizes   N rows   F of a feature
S = TypeVar("S", bound=State)


class Stepping(ABC, Generic[S]):
    """A decoder whose scores are one linear layer of its features. With an eye, the reference model takes the step."""

    def __init__(self, output: nn.Linear, kind: torch.dtype | None) -> None:
        self._layer, self.output = output, Product.of(output, kind=kind)
        self.picks = kind is None and Likeliest.suits(output)

    def step(self, last: Int[Tensor, " N"], state: S, eye: Eye | None = None) -> Stepped[S]:
        """The token after the last one."""
        if eye is not None:
            return self._watched(last, state, eye)
        feature, following = self._advance(last, state)
        return Stepped(self.output(feature), following)

    def pick(self, last: Int[Tensor, " N"], state: S, hide: Hide) -> tuple[Int[Tensor, " N"], S]:
        """The most probable token after the last one, of those that are not hidden."""
        feature, following = self._advance(last, state)
        return self._likeliest(feature, hide), following

    @abstractmethod
    def _advance(self, last: Int[Tensor, " N"], state: S) -> tuple[Float[Tensor, "N F"], S]:
        """The feature that the next token is predicted from, and the state after the last one."""

    @abstractmethod
    def _watched(self, last: Int[Tensor, " N"], state: S, eye: Eye) -> Stepped[S]:
        """The same step by the reference model, whose attention the eye sees."""

    @cached_property
    def _likeliest(self) -> Likeliest:  # made only where it is used: it holds the weights once more
        return Likeliest(self._layer, self.output)
