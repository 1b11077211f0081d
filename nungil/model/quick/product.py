"""Product: a linear layer whose weights are laid out once for many products, as a search or a loss needs."""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int8
from torch import Tensor, nn

# Sizes   N rows   I width of an input   O width of an output
Multiply = Callable[[Float[Tensor, "N I"], bool], Float[Tensor, "N O"]]
LARGEST = 127  # largest magnitude of an eight-bit integer here
LESS = 63  # the same of a weight, where (without VNNI) two products are summed in sixteen bits
ZERO = 128  # the zero point of inputs stored as 0 to 255
OF_RESULTS: tuple[Any, ...] = (None, 1.0, 0, torch.float32, "none", [], "")  # no bias, float32, no activation
LEAST = 1e-30  # smallest scale, for a row of zeros


class Product:
    """W x + b, of any rows. W may be that of several layers; their results then stand side by side.

    oneDNN, where there is one, lays the weights out once; torch would do so again for each product. With `kind`
    bfloat16 or int8 the factors are converted to it; results have the type of the inputs.
    """

    def __init__(
        self, weight: Float[Tensor, "O I"], bias: Float[Tensor, " O"] | None, kind: torch.dtype | None = None
    ) -> None:
        self.multiply = _made_ready(weight.detach(), None if bias is None else bias.detach(), kind)

    @classmethod
    def of(cls, *layers: nn.Linear, kind: torch.dtype | None = None) -> "Product":
        """One product in place of several layers with the same inputs."""
        if len(layers) == 1:
            return cls(layers[0].weight, layers[0].bias, kind)
        biases = [layer.bias.detach() for layer in layers if layer.bias is not None]
        bias = torch.cat(biases) if biases else None
        return cls(torch.cat([layer.weight.detach() for layer in layers]), bias, kind)

    def __call__(self, inputs: Float[Tensor, "N I"], relu: bool = False) -> Float[Tensor, "N O"]:
        """W x + b of every row; with `relu`, nothing below 0."""
        return self.multiply(inputs, relu)

    def plus(self, inputs: Float[Tensor, "N I"], others: Float[Tensor, "N O"]) -> Float[Tensor, "N O"]:
        """W x + b of every row, plus the row of `others`."""
        return self(inputs).add_(others)


def _made_ready(weight: Tensor, bias: Tensor | None, kind: torch.dtype | None) -> Multiply:
    """The fastest way to multiply by these weights in this type. Without oneDNN int8 falls back to full precision."""
    kind = kind if kind is not None and weight.dtype == torch.float32 else weight.dtype
    known = lays_out(weight, kind)
    if kind == torch.int8:
        return WholeProduct(weight, bias) if known else _made_ready(weight, bias, None)
    return _LaidOut(weight, bias, kind) if known else _AsItIs(weight, bias, kind)


def lays_out(weight: Tensor, kind: torch.dtype) -> bool:
    """Whether oneDNN can multiply by these weights in this type; not every processor has bfloat16."""
    if weight.device.type != "cpu" or weight.dtype != torch.float32:
        return False
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    if kind == torch.bfloat16:
        return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
    return kind in (torch.float32, torch.int8)


@cache
def has_wide_sums() -> bool:
    """Whether oneDNN sums integer products in 32 bits (VNNI). Its settings may forbid that, so it is tried out."""
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
    """oneDNN's product, of weights in its own layout."""

    def __init__(self, weight: Tensor, bias: Tensor | None, kind: torch.dtype) -> None:
        super().__init__(weight, bias, kind)
        self.weight = torch.ops.mkldnn._reorder_linear_weight(self.weight.contiguous())

    def __call__(self, inputs: Tensor, relu: bool) -> Tensor:
        after = "relu" if relu else "none"
        given = inputs.to(self.kind)
        made: Tensor = torch.ops.mkldnn._linear_pointwise(given, self.weight, self.bias, after, [], "")
        return made.to(inputs.dtype)


class Whole(NamedTuple):
    """Rows as eight-bit integers, each with a scale of its own."""

    numbers: Int8[Tensor, "N I"]
    measure: Float[Tensor, "N 1"]  # the scale: what 1 stands for

    @classmethod
    def of(cls, rows: Float[Tensor, "N I"], largest: int = LARGEST) -> "Whole":
        """The rows, rounded."""
        measure = rows.abs().amax(dim=1, keepdim=True).clamp_(min=LEAST) / largest
        return cls((rows / measure).round_().to(torch.int8), measure)

    @property
    def rows(self) -> Float[Tensor, "N I"]:
        """The rounded rows as floats."""
        return self.numbers * self.measure


class WholeProduct:
    """oneDNN's product of eight-bit integers."""

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
        """W x + b of every row. Overwrites the numbers of the inputs."""
        counted_NI = inputs.numbers.view(torch.uint8).bitwise_xor_(ZERO)  # flipping the highest bit adds 128
        of_inputs, of_weights = (counted_NI, 1.0, ZERO), (self.weight, self.measure_O, self.zeros_O)
        made_NO: Tensor = torch.ops.onednn.qlinear_pointwise(*of_inputs, *of_weights, *OF_RESULTS)
        return torch.addcmul(self.bias, made_NO, inputs.measure, out=made_NO)
