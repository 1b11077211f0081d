"""Product: a linear layer whose weights are made ready once for the products of a whole search."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

# Sizes   N rows   I width of an input   O width of an output


class Product:
    """W x + b, of any rows. W may be that of several layers, below each other, whose results stand side by side.

    Where oneDNN is there, it lays the weights out as its products read them: otherwise each product does that again.
    With `kind` bfloat16, products are shortened to it and what they give is not.
    """

    def __init__(
        self, weight: Float[Tensor, "O I"], bias: Float[Tensor, " O"] | None, kind: torch.dtype | None = None
    ) -> None:
        self.kind = kind if kind is not None and weight.dtype == torch.float32 else weight.dtype
        self.packed = lays_out(weight, self.kind)
        weight = weight.detach().to(self.kind)
        self.weight = torch.ops.mkldnn._reorder_linear_weight(weight.contiguous()) if self.packed else weight
        self.bias = None if bias is None else bias.detach().to(self.kind)

    @classmethod
    def of(cls, *layers: nn.Linear, kind: torch.dtype | None = None) -> "Product":
        """One product in place of several of the same inputs."""
        biases = [layer.bias.detach() for layer in layers if layer.bias is not None]
        bias = torch.cat(biases) if biases else None
        return cls(torch.cat([layer.weight.detach() for layer in layers]), bias, kind)

    def __call__(self, inputs: Float[Tensor, "N I"], relu: bool = False) -> Float[Tensor, "N O"]:
        """W x + b of every row; with `relu`, nothing below 0."""
        given, full = inputs.to(self.kind), inputs.dtype
        if self.packed:
            after = "relu" if relu else "none"
            made: Tensor = torch.ops.mkldnn._linear_pointwise(given, self.weight, self.bias, after, [], "")
            return made.to(full)
        made = nn.functional.linear(given, self.weight, self.bias)
        return (made.relu_() if relu else made).to(full)

    def plus(self, inputs: Float[Tensor, "N I"], others: Float[Tensor, "N O"]) -> Float[Tensor, "N O"]:
        """W x + b of every row, and another row added to it."""
        return self(inputs).add_(others)


def lays_out(weight: Tensor, kind: torch.dtype) -> bool:
    """Whether oneDNN can be asked for products of these weights in this type; not every processor has bfloat16."""
    if weight.device.type != "cpu" or weight.dtype != torch.float32:
        return False
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    return kind != torch.bfloat16 or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
