"""Recurrent cells, step by step: Elman's RNN, the GRU of Cho (2014), the LSTM with forget gates of Gers (2000)."""

from typing import NamedTuple

import numpy as np

from nungil.inspection.ledger import Array
from nungil.inspection.sheet import Sheet
from nungil.inspection.worked.parameters import Parameters

NAMES = {"rnn": "RNN", "gru": "GRU", "lstm": "LSTM"}


class State(NamedTuple):
    """What a cell hands on; only an LSTM has a memory cell."""

    hidden: Array
    memory: Array


class Read(NamedTuple):
    """A sentence as an encoder leaves it: a state for each token, and the last one, both directions joined."""

    states: Array
    last: State


def sigmoid(values: Array) -> Array:
    """Between 0 and 1; written so that no exp can overflow."""
    return np.asarray(0.5 * (1 + np.tanh(values / 2)))


def step_cell(sheet: Sheet, cell: str, inputs: Array, before: State, weights: Parameters, end: str = "l0") -> State:
    """One step, every gate of it."""
    from_input = weights[f"weight_ih_{end}"] @ inputs + weights[f"bias_ih_{end}"]
    from_state = weights[f"weight_hh_{end}"] @ before.hidden + weights[f"bias_hh_{end}"]
    if cell == "rnn":
        state = sheet.write("state", "h_d = tanh(W x + U h_d₋₁ + b)", np.tanh(from_input + from_state))
        return State(state, before.memory)
    return (_gru if cell == "gru" else _lstm)(sheet, from_input, from_state, before)


def _gru(sheet: Sheet, from_input: Array, from_state: Array, before: State) -> State:
    (r_x, z_x, n_x), (r_h, z_h, n_h) = np.split(from_input, 3), np.split(from_state, 3)
    reset = sheet.write("reset gate", "r = σ(W_r x + U_r h_d₋₁ + b_r)", sigmoid(r_x + r_h))
    update = sheet.write("update gate", "z = σ(W_z x + U_z h_d₋₁ + b_z)", sigmoid(z_x + z_h))
    candidate = np.tanh(n_x + reset * n_h)
    candidate = sheet.write("candidate", "n = tanh(W_n x + b_n + r⊙(U_n h_d₋₁ + b′_n))", candidate)
    state = (1 - update) * candidate + update * before.hidden
    return State(sheet.write("state", "h_d = (1 − z)⊙n + z⊙h_d₋₁", state), before.memory)


def _lstm(sheet: Sheet, from_input: Array, from_state: Array, before: State) -> State:
    i, f, g, o = np.split(from_input + from_state, 4)
    entry = sheet.write("input gate", "i = σ(W_i x + U_i h_d₋₁ + b_i)", sigmoid(i))
    forget = sheet.write("forget gate", "f = σ(W_f x + U_f h_d₋₁ + b_f)", sigmoid(f))
    candidate = sheet.write("candidate", "g = tanh(W_g x + U_g h_d₋₁ + b_g)", np.tanh(g))
    leave = sheet.write("output gate", "o = σ(W_o x + U_o h_d₋₁ + b_o)", sigmoid(o))
    memory = sheet.write("memory cell", "m = f⊙m₋₁ + i⊙g", forget * before.memory + entry * candidate)
    return State(sheet.write("state", "h_d = o⊙tanh(m)", leave * np.tanh(memory)), memory)


def read(cell: str, embedded: Array, weights: Parameters, layers: int, bidirectional: bool) -> Read:
    """A whole sentence, layer by layer, from one end or from both; nothing of it is written down."""
    states, last = embedded, State(np.zeros(0), np.zeros(0))
    for number in range(layers):
        layer = weights.under(f"layers.{number}")
        ahead, last = _walk(cell, states, layer, "l0")
        if bidirectional:
            back, last_back = _walk(cell, states[::-1], layer, "l0_reverse")
            ahead = np.concatenate([ahead, back[::-1]], axis=1)
            last = State(*(np.concatenate(both) for both in zip(last, last_back, strict=True)))
        states = ahead
    return Read(states, last)


def _walk(cell: str, inputs: Array, weights: Parameters, end: str) -> tuple[Array, State]:
    nothing = np.zeros(weights[f"weight_hh_{end}"].shape[1])
    state, states = State(nothing, nothing), []
    for vector in inputs:
        state = step_cell(Sheet(), cell, vector, state, weights, end)
        states.append(state.hidden)
    return np.stack(states), state
