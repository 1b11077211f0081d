"""One step of a Transformer: its encoder, which classifiers share, and its decoder."""

import numpy as np

from nungil.inspection.ledger import Array, Axis
from nungil.inspection.sheet import Sheet
from nungil.inspection.worked.asked import Asked, Worked
from nungil.inspection.worked.blocks import Feeding, Looking, Shown
from nungil.inspection.worked.parameters import Parameters
from nungil.inspection.worked.vectors import norm, positions, write_norm
from nungil.model.blocks import BlockSettings
from nungil.model.transformer import TransformerSettings

Looks = dict[tuple[str, int], Array]


def work_out(weights: Parameters, settings: TransformerSettings, asked: Asked) -> Worked:
    """The encoder, then the decoder up to the step asked for.

    With kind `self`, a word of the source is asked about: the decoder runs too, so that its output can be compared, but
    is not written down.
    """
    sheet = Sheet()
    placed = settings.positions == "sinusoidal"
    sheet.open("encoder")
    embedded = embed(sheet, weights.rows("source_embedding.table.weight", asked.source), placed, asked.axis)
    seen, looks = encode(sheet, weights.under("encoder"), settings, embedded, asked)
    decoding, page = asked, sheet
    if asked.kind == "self":
        decoding, page = _last_step(asked), Sheet()
    probabilities, more = _decode(page, weights, settings, seen, decoding)
    return Worked(tuple(sheet.steps), looks | more, probabilities)


def embed(sheet: Sheet, vectors: Array, placed: bool, rows: Axis) -> Array:
    """Embeddings times √d, and where they stand; section 3.4 and 3.5."""
    width = vectors.shape[1]
    scaled = sheet.write("embedding", f"E[token]·√{width}", vectors * np.sqrt(width), rows)
    if not placed:
        return scaled
    where = sheet.write("position", "PE(p)", positions(len(vectors), width), rows)
    return sheet.write("placed", "x = E·√d + PE", scaled + where, rows)


def encode(
    sheet: Sheet, weights: Parameters, settings: BlockSettings, states: Array, asked: Asked
) -> tuple[Array, Looks]:
    """The encoder's states and where it looks; the block asked for is written down, the others by their lengths."""
    looks: Looks = {}
    before, lengths, number = settings.norm == "pre", [], 0
    while f"blocks.{number}.attention.query.weight" in weights:
        block = weights.under(f"blocks.{number}")
        shown = None
        if asked.kind == "self" and asked.layer == number:
            shown = Shown(sheet, asked.step - 1, asked.head)
            sheet.open("self", number)
        around = block.under("around_attention.norm")
        looking = Looking(block.under("attention"), around, settings.heads, before, asked.axis, reads="x")
        states, looks["self", number] = looking.run(states, shown=shown)
        if shown is not None:
            sheet.open("feed forward", number)
        states = Feeding(block.under("feed_forward"), block.under("around_feed_forward.norm"), before).run(
            states, shown
        )
        lengths.append(np.linalg.norm(states, axis=1))
        number += 1
    sheet.open("encoded" if asked.kind == "self" else "encoder")
    blocks = Axis("blocks", tuple(map(str, range(number))))
    sheet.write("length", "‖x‖", np.stack(lengths, axis=1), asked.axis, blocks)
    if before:
        states = norm(weights.under("norm"), states)
    sheet.write("hidden state", "h_s = norm(x)" if before else "h_s = x", states, asked.axis)
    return states, looks


def _last_step(asked: Asked) -> Asked:
    return Asked(asked.source, asked.source_tokens, asked.words, asked.written, asked.target_tokens, len(asked.written))


def _decode(
    sheet: Sheet, weights: Parameters, settings: TransformerSettings, seen: Array, asked: Asked
) -> tuple[Array, Looks]:
    """The probabilities at the step and where the decoder looks up to it; no word after it is read."""
    sheet.open("input")
    inputs = Axis("input", asked.tokens_put_in)
    vectors = weights.rows("target_embedding.table.weight", asked.put_in)
    states = embed(sheet, vectors, settings.positions == "sinusoidal", inputs)
    looks: Looks = {}
    row = len(states) - 1
    for number in range(settings.decoder_layers):
        block = weights.under(f"blocks.{number}")
        here = number == asked.layer
        shown = Shown(sheet, row, asked.head) if here else None
        trace = _Trace(sheet, number, here, row)
        before, own = settings.norm == "pre", (settings.heads, settings.norm == "pre")
        masked = Looking(block.under("masked"), block.under("around_masked.norm"), *own, inputs, True, "x")
        cross = Looking(block.under("cross"), block.under("around_cross.norm"), *own, asked.axis)
        feeding = Feeding(block.under("feed_forward"), block.under("around_feed_forward.norm"), before)
        trace.open("masked")
        states, looks["masked", number] = masked.run(states, shown=shown)
        trace.after("masked", states)
        trace.open("cross")
        states, looks["cross", number] = cross.run(states, seen, shown)
        trace.after("cross", states)
        trace.open("feed forward")
        states = feeding.run(states, shown)
        trace.after("feed forward", states)
    return _output(sheet, weights, settings, states[row], asked), looks


def _output(sheet: Sheet, weights: Parameters, settings: TransformerSettings, state: Array, asked: Asked) -> Array:
    sheet.open("output")
    symbol = "x"
    if settings.norm == "pre":
        state, symbol = write_norm(sheet, weights.under("norm"), state), "n"
    logits = sheet.write("logit", f"z = W_s {symbol} + b_s", weights.linear("output", state), asked.outputs)
    return sheet.softmax(logits, np.ones(len(logits)), asked.outputs, "probability")


class _Trace:
    """What is left of a block that is not written out: its state after each part, on one line each."""

    def __init__(self, sheet: Sheet, layer: int, written: bool, row: int) -> None:
        self.sheet, self.layer, self.written, self.row = sheet, layer, written, row

    def open(self, part: str) -> None:
        """Begin a part; a block that is not written out has only one."""
        self.sheet.open(part if self.written else "block", self.layer)

    def after(self, part: str, states: Array) -> None:
        """The state that the step has come to."""
        if not self.written:
            self.sheet.write(f"after {part}", "x", states[self.row])
