"""Product: a linear layer whose weights are made ready once for many products: of a search, or of a loss in pieces."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int8
from torch import Tensor, nn

# Sizes   N rows   I width of an input   O width of an output
Multiply = Callable[[Float[Tensor, "N I"], bool], Float[Tensor, "N O"]]
LARGEST = 127  # of a whole number of eight bits, either way
LESS = 63  # of a weight, where two products are added up in sixteen bits, as they are without VNNI
ZERO = 128  # what stands for nothing where inputs are counted from 0 to 255
OF_RESULTS: tuple[Any, ...] = (None, 1.0, 0, torch.float32, "none", [], "")  # no bias, in full, and no more
LEAST = 1e-30  # a row of nothing has no largest number to be measured by


class Product:
    """W x + b, of any rows. W may be that of several layers, below each other, whose results stand side by side.

    Where oneDNN is there, it lays the weights out as its products read them: otherwise each product does that again.
    With `kind` bfloat16 products are shortened to it, with int8 they are of whole numbers; what they give is not.
    """

    def __init__(
        self, weight: Float[Tensor, "O I"], bias: Float[Tensor, " O"] | None, kind: torch.dtype | None = None
    ) -> None:
        self.multiply = _made_ready(weight.detach(), None if bias is None else bias.detach(), kind)

    @classmethod
    def of(cls, *layers: nn.Linear, kind: torch.dtype | None = None) -> "Product":
        """One product in place of several of the same inputs."""
        if len(layers) == 1:
            return cls(layers[0].weight, layers[0].bias, kind)
        biases = [layer.bias.detach() for layer in layers if layer.bias is not None]
        bias = torch.cat(biases) if biases else None
        return cls(torch.cat([layer.weight.detach() for layer in layers]), bias, kind)

    def __call__(self, inputs: Float[Tensor, "N I"], relu: bool = False) -> Float[Tensor, "N O"]:
        """W x + b of every row; with `relu`, nothing below 0."""
        return self.multiply(inputs, relu)

    def plus(self, inputs: Float[Tensor, "N I"], others: Float[Tensor, "N O"]) -> Float[Tensor, "N O"]:
        """W x + b of every row, and another row added to it."""
        return self(inputs).add_(others)


def _made_ready(weight: Tensor, bias: Tensor | None, kind: torch.dtype | None) -> Multiply:
    """The quickest way to multiply by these weights in this type. Without oneDNN there are no whole numbers."""
    kind = kind if kind is not None and weight.dtype == torch.float32 else weight.dtype
    known = lays_out(weight, kind)
    if kind == torch.int8:
        return WholeProduct(weight, bias) if known else _made_ready(weight, bias, None)
    return _LaidOut(weight, bias, kind) if known else _AsItIs(weight, bias, kind)


def lays_out(weight: Tensor, kind: torch.dtype) -> bool:
    """Whether oneDNN can be asked for products of these weights in this type; not every processor has bfloat16."""
    if weight.device.type != "cpu" or weight.dtype != torch.float32:
        return False
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    if kind == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return kind in (torch.float32, torch.int8)


@cache
def has_wide_sums() -> bool:
    """Whether oneDNN adds up products of whole numbers in 32 bits (VNNI). It may be told not to, so that is tried."""
    count, most = 64, torch.full((1, 64), 255, dtype=torch.uint8)
    weight = torch.ops.onednn.qlinear_prepack(torch.full((1, count), LARGEST, dtype=torch.int8), None)
    nothing = torch.zeros(1, dtype=torch.int8)
    found = torch.ops.onednn.qlinear_pointwise(most, 1.0, 0, weight, torch.ones(1), nothing, *OF_RESULTS)
    return int(found) == count * 255 * LARGEST


class _AsItIs:
    """torch's own product."""

    def __init__(self, weight: Tensor, bias: Tensor | None, kind: torch.dtype) -> None:
        self.kind, self.weight, self.bias = kind, weight.to(kind), None if bias is None else bias.to(kind)

    def __call__(self, inputs: Tensor, relu: bool) -> Tensor:
        made = nn.functional.linear(inputs.to(self.kind), self.weight, self.bias)
        return (made.relu_() if relu else made).to(inputs.dtype)


class _LaidOut(_AsItIs):
    """oneDNN's, of weights that lie as it reads them."""

    def __init__(self, weight: Tensor, bias: Tensor | None, kind: torch.dtype) -> None:
        super().__init__(weight, bias, kind)
        self.weight = torch.ops.mkldnn._reorder_linear_weight(self.weight.contiguous())

    def __call__(self, inputs: Tensor, relu: bool) -> Tensor:
        after = "relu" if relu else "none"
        given = inputs.to(self.kind)
        made: Tensor = torch.ops.mkldnn._linear_pointwise(given, self.weight, self.bias, after, [], "")
        return made.to(inputs.dtype)


class Whole(NamedTuple):
    """Rows as whole numbers of eight bits. Each is measured by its own largest number."""

    numbers: Int8[Tensor, "N I"]
    measure: Float[Tensor, "N 1"]  # what one of them stands for

    @classmethod
    def of(cls, rows: Float[Tensor, "N I"], largest: int = LARGEST) -> "Whole":
        """As near to the rows as whole numbers are."""
        measure = rows.abs().amax(dim=1, keepdim=True).clamp_(min=LEAST) / largest
        return cls((rows / measure).round_().to(torch.int8), measure)

    @property
    def rows(self) -> Float[Tensor, "N I"]:
        """What they stand for."""
        return self.numbers * self.measure


class WholeProduct:
    """oneDNN's, of whole numbers of eight bits."""

    def __init__(self, weight: Tensor, bias: Tensor | None) -> None:
        whole = Whole.of(weight, LARGEST if has_wide_sums() else LESS)
        self.weight, self.measure_O = torch.ops.onednn.qlinear_prepack(whole.numbers, None), whole.measure[:, 0]
        self.zeros_O = torch.zeros(len(weight), dtype=torch.int8)
        self.bias = weight.new_zeros(len(weight)) if bias is None else bias

    def __call__(self, inputs: Tensor, relu: bool) -> Tensor:
        """W x + b of every row; with `relu`, nothing below 0."""
        made_NO = self.of(Whole.of(inputs))
        return made_NO.relu_() if relu else made_NO

    def of(self, inputs: Whole) -> Float[Tensor, "N O"]:
        """W x + b of every row. The numbers of the inputs are used up."""
        counted_NI = inputs.numbers.view(torch.uint8).bitwise_xor_(ZERO)  # the highest bit turned over is 128 added
        of_inputs, of_weights = (counted_NI, 1.0, ZERO), (self.weight, self.measure_O, self.zeros_O)
        made_NO: Tensor = torch.ops.onednn.qlinear_pointwise(*of_inputs, *of_weights, *OF_RESULTS)
        return torch.addcmul(self.bias, made_NO, inputs.measure, out=made_NO)
