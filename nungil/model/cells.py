"""Recurrent layers, one above the other: RNN, GRU or LSTM, a whole sentence at once or one step at a time."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nungil.attention.dropout import Dropout
from nungil.model.products import in_full
from nungil.model.reading import go_on

# Sizes   B batch   T steps   I width of an input   W width of a state   L layers
Cell = Literal["lstm", "gru", "rnn"]
CELLS: dict[Cell, Callable[..., nn.RNNBase]] = {"lstm": nn.LSTM, "gru": nn.GRU, "rnn": nn.RNN}


def width_mistake(width: int, bidirectional: bool) -> str | None:
    """Why two directions cannot share this width, or None if they can."""
    if bidirectional and width % 2:
        return f"width {width} is odd, but two directions share it; choose an even one"
    return None


class CellState(NamedTuple):
    """The state of each layer; `memory` is an LSTM's cell, the others have none."""

    hidden: Float[Tensor, "L B W"]
    memory: Float[Tensor, "L B W"] | None = None

    def select(self, rows: Int[Tensor, " N"]) -> "CellState":
        """The state of some sentences of the batch, in the order given."""
        return CellState(self.hidden[:, rows], None if self.memory is None else self.memory[:, rows])

    def to(self, kind: torch.dtype) -> "CellState":
        """The same state in another dtype."""
        return CellState(self.hidden.to(kind), None if self.memory is None else self.memory.to(kind))


class Layers(nn.Module):
    """Stacked layers that read from left to right. `forward` and `step` give the same states."""

    def __init__(self, cell: Cell, input_size: int, width: int, layers: int, dropout: float) -> None:
        super().__init__()
        self.cell: Cell = cell
        sizes = [input_size] + [width] * (layers - 1)
        self.layers = nn.ModuleList(make_layer(cell, size, width) for size in sizes)
        self.dropout = Dropout(dropout)

    @property
    def kind(self) -> torch.dtype:
        """The dtype of its weights."""
        return next(self.parameters()).dtype

    def forward(self, inputs: Float[Tensor, "B T I"], state: CellState) -> Float[Tensor, "B T W"]:
        """The states of the top layer for a whole sentence."""
        outputs, state = inputs.to(self.kind), state.to(self.kind)
        for number, layer in enumerate(layer for layer in self.layers if isinstance(layer, nn.RNNBase)):
            outputs = outputs if number == 0 else self.dropout(outputs)
            memory = None if state.memory is None else state.memory[number]
            outputs = go_on(layer, outputs, state.hidden[number], memory)
        return outputs

    def step(self, inputs: Float[Tensor, "B I"], state: CellState) -> tuple[Float[Tensor, "B W"], CellState]:
        """The state of the top layer one step later, and those of all layers."""
        outputs, state = inputs.to(self.kind), state.to(self.kind)
        hidden, memory = [], []
        with in_full():
            for number, layer in enumerate(self.layers):
                outputs = outputs if number == 0 else self.dropout(outputs)
                weights: Any = (layer.weight_ih_l0, layer.weight_hh_l0, layer.bias_ih_l0, layer.bias_hh_l0)
                if state.memory is not None:
                    outputs, kept = torch.lstm_cell(outputs, (state.hidden[number], state.memory[number]), *weights)
                    memory.append(kept)
                else:
                    step = torch.gru_cell if self.cell == "gru" else torch.rnn_tanh_cell
                    outputs = step(outputs, state.hidden[number], *weights)
                hidden.append(outputs)
        return outputs, CellState(torch.stack(hidden), torch.stack(memory) if memory else None)


def make_layer(cell: Cell, input_size: int, width: int, bidirectional: bool = False) -> nn.RNNBase:
    """One recurrent layer. An LSTM begins by remembering: its forget gates have a bias of 1 (Jozefowicz 2015)."""
    layer = CELLS[cell](input_size, width, batch_first=True, bidirectional=bidirectional)
    for name, parameter in layer.named_parameters():
        if name.startswith("weight_hh"):
            for gate in parameter.data.chunk(len(parameter) // width):
                nn.init.orthogonal_(gate)
        elif name.startswith("weight_ih"):
            nn.init.xavier_uniform_(parameter.data)
        else:
            nn.init.zeros_(parameter.data)
            if cell == "lstm" and name.startswith("bias_ih"):
                parameter.data[width : 2 * width] = 1.0
    return layer
