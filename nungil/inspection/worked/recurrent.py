"""One step of a recurrent translator: plain, Luong's or Bahdanau's decoder, with any score."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from nungil.inspection.arithmetic import Looked, look
from nungil.inspection.ledger import Array
from nungil.inspection.sheet import Sheet
from nungil.inspection.worked.acts import act_of
from nungil.inspection.worked.asked import Asked, Worked
from nungil.inspection.worked.cells import NAMES, State, read, step_cell
from nungil.inspection.worked.parameters import Parameters, times
from nungil.model.recurrent import RecurrentSettings


class Before(NamedTuple):
    """What one step leaves to the next: the state of each layer, the last feature, the weight each token has had."""

    cells: tuple[State, ...]
    fed: Array
    coverage: Array


class Stepped(NamedTuple):
    """What a step comes to; a plain decoder looks nowhere."""

    feature: Array
    symbol: str
    weights: Array | None
    before: Before


def work_out(weights: Parameters, settings: RecurrentSettings, asked: Asked) -> Worked:
    """Every step up to the one asked for, and that one written down."""
    sheet = Sheet()
    keys, cells = _read(sheet, weights, settings, asked)
    decoder = _Decoder(weights, settings, asked, keys)
    before = Before(cells, np.zeros(weights["output.weight"].shape[1]), np.zeros(len(keys)))
    rows = []
    embedded = weights.embedded("target_embedding", asked.put_in, settings.scale_embedding)
    for place, word in enumerate(embedded):
        here = sheet if place == asked.step - 1 else Sheet()
        stepped = decoder.step(here, word, before, place)
        before = stepped.before
        if stepped.weights is not None:
            rows.append(stepped.weights)
    sheet.open("output")
    logits = sheet.write(
        "logit", f"z = W_s {stepped.symbol} + b_s", weights.linear("output", stepped.feature), asked.outputs
    )
    probabilities = sheet.softmax(logits, np.ones(len(logits)), asked.outputs, "probability")
    looks = {("cross", 0): np.stack(rows)[None]} if rows else {}
    return Worked(tuple(sheet.steps), looks, probabilities)


def _read(
    sheet: Sheet, weights: Parameters, settings: RecurrentSettings, asked: Asked
) -> tuple[Array, tuple[State, ...]]:
    """The encoder's states, and the first states of the decoder's layers."""
    sheet.open("encoder")
    embedded = weights.embedded("source_embedding", asked.source, settings.scale_embedding)
    sheet.write("embedding", f"x = E[token]{times(embedded, settings.scale_embedding)}", embedded, asked.axis)
    layers, both = settings.encoder_layers, settings.bidirectional
    found = read(settings.cell, embedded, weights.under("encoder"), layers, both)
    sheet.write("hidden state", f"h_s = {'[→; ←]' if both else NAMES[settings.cell]}", found.states, asked.axis)
    last = sheet.write("last state", "h_n = [→; ←]" if both else "h_n", found.last.hidden)
    bridge = weights.under("bridge")
    hidden = sheet.write("first state", "h₀ = tanh(W h_n + b)", np.tanh(bridge.linear("hidden", last)))
    memory = np.zeros_like(hidden)
    if settings.cell == "lstm":
        memory = np.tanh(bridge.linear("memory", found.last.memory))
        memory = sheet.write("first memory", "m₀ = tanh(W′ m_n + b′)", memory)
    cut = settings.decoder_layers
    first = zip(np.split(hidden, cut), np.split(memory, cut), strict=True)
    return found.states, tuple(State(*both) for both in first)


@dataclass(frozen=True)
class _Decoder:
    """A decoder before one sentence."""

    weights: Parameters
    settings: RecurrentSettings
    asked: Asked
    keys: Array

    def step(self, sheet: Sheet, word: Array, before: Before, place: int) -> Stepped:
        """One word in, one feature out."""
        sheet.open("input")
        alone = self.settings.decoder != "bahdanau" and not self.settings.input_feeding  # else x has more in it
        formula = f"{'x = y' if alone else 'y'} = E[word]{times(word, self.settings.scale_embedding)}"
        inputs = sheet.write("embedding", formula, word)
        if self.settings.decoder == "bahdanau":
            looked = self._look(sheet, "h_d₋₁", before.cells[-1].hidden, before, place)
            sheet.open("cell")
            inputs = sheet.write("cell input", "x = [y; c]", np.concatenate([inputs, looked.context]))
            cells = self._advance(sheet, inputs, before)
            return self._join(sheet, looked, cells, before)
        if self.settings.input_feeding:
            fed = sheet.write("fed", "h̃₋₁", before.fed)
            inputs = sheet.write("cell input", "x = [y; h̃₋₁]", np.concatenate([inputs, fed]))
        sheet.open("cell")
        cells = self._advance(sheet, inputs, before)
        if self.settings.decoder == "plain":
            return Stepped(cells[-1].hidden, "h_d", None, before._replace(cells=cells))
        return self._join(sheet, self._look(sheet, "h_d", cells[-1].hidden, before, place), cells, before)

    def _advance(self, sheet: Sheet, inputs: Array, before: Before) -> tuple[State, ...]:
        """Every layer one step on; a layer reads the state of the one below."""
        layers, cells = self.weights.under("decoder.layers"), []
        for number, state in enumerate(before.cells):
            sheet.layer = number if len(before.cells) > 1 else None
            sheet.write("previous state", "h_d₋₁", state.hidden)
            if self.settings.cell == "lstm":
                sheet.write("previous memory", "m₋₁", state.memory)
            state = step_cell(sheet, self.settings.cell, inputs, state, layers.under(f"layers.{number}"))
            inputs = state.hidden
            cells.append(state)
        return tuple(cells)

    def _look(self, sheet: Sheet, symbol: str, query: Array, before: Before, place: int) -> Looked:
        sheet.open("cross")
        attention = self.weights.under("decoder.attention")
        act = act_of(attention, self.settings.score, query, self.keys, self.asked.source_tokens)
        return look(sheet, replace(act, position=place, coverage=before.coverage, asks=symbol))

    def _join(self, sheet: Sheet, looked: Looked, cells: tuple[State, ...], before: Before) -> Stepped:
        """[c; h_d], and Luong's tanh layer where there is one."""
        sheet.open("output")
        feature = sheet.write("concat", "[c; h_d]", np.concatenate([looked.context, cells[-1].hidden]))
        symbol = "[c; h_d]"
        if self.settings.output == "tanh":
            combined = np.tanh(self.weights.linear("decoder.readout.combine", feature))
            feature = sheet.write("attentional state", "h̃ = tanh(W_c [c; h_d])", combined)
            symbol = "h̃"
        return Stepped(feature, symbol, looked.weights, Before(cells, feature, before.coverage + looked.weights))
