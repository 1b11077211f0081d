"""QuickRecurrent: the recurrent translator for searching."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from nungil.attention import Attention, Eye, LocalM, Memory
from nungil.attention.energy import tanh_
from nungil.model.cells import CellState
from nungil.model.decoders import BahdanauDecoder, DecoderState, LuongDecoder, PlainDecoder, Readout
from nungil.model.products import computing_in
from nungil.model.quick.cells import QuickLayers, worth_a_table
from nungil.model.quick.product import Product, lays_out
from nungil.model.quick.stepping import Stepping
from nungil.model.recurrent import RecurrentTranslator
from nungil.model.results import Stepped

# Sizes   A sentences   K hypotheses of each   N rows, A × K   S source steps   W width of a state   F of a feature


class QuickState(NamedTuple):
    """What the decoder remembers: cells of each hypothesis, memory of each sentence, which its hypotheses share."""

    cells: CellState
    memory: Memory | None
    fed: Float[Tensor, "N F"] | None
    position: int = 0

    def select(self, rows: Int[Tensor, " M"]) -> "QuickState":
        """The state of some sentences of the batch, in the order given, with one hypothesis each."""
        return self.regroup(rows, rows)

    def spread(self, beam: int) -> "QuickState":
        """The state of each sentence so many times, side by side."""
        return self.regroup(torch.arange(self.cells.hidden.shape[1]).repeat_interleave(beam))

    def regroup(self, rows: Int[Tensor, " M"], sentences: Int[Tensor, " A"] | None = None) -> "QuickState":
        """The state of some rows, and of the sentences they belong to."""
        memory = self.memory if self.memory is None or sentences is None else self.memory.select(sentences)
        fed = None if self.fed is None else self.fed[rows]
        return self._replace(cells=self.cells.select(rows), memory=memory, fed=fed)


class QuickRecurrent(Stepping[QuickState]):
    """Built from the weights as they are now, if the model `suits`. `lookup`: see `Words`."""

    def __init__(self, model: RecurrentTranslator, kind: torch.dtype | None = None, lookup: bool = False) -> None:
        super().__init__(model.output, kind)
        self.model, self.decoder = model, model.decoder
        self.short = kind is not None and lays_out(model.output.weight, torch.bfloat16)
        self.layers = QuickLayers(model.decoder.layers, model.target_embedding.every(), kind, lookup)
        readout = getattr(model.decoder, "readout", None)
        combine = readout.combine if isinstance(readout, Readout) else None
        self.combine = None if combine is None else Product.of(combine, kind=kind)

    @staticmethod
    def suits(model: RecurrentTranslator) -> bool:
        """Whether its attention depends neither on the position of a step nor on what was read before."""
        attention = getattr(model.decoder, "attention", None)
        if not isinstance(attention, Attention):
            return True
        return not attention.score.needs_coverage and not isinstance(attention.score, LocalM)

    @staticmethod
    def looks_up(model: RecurrentTranslator, tokens: int) -> bool:
        """Whether decoding this many tokens justifies a table of the whole vocabulary."""
        return worth_a_table(model.decoder.layers, model.target_embedding.table.weight, tokens)

    def start(self, source: Int[Tensor, "A S"], keep: Bool[Tensor, "A S"], eye: Eye | None = None) -> QuickState:
        """Read the source, as the reference does. The encoder may run in bfloat16; the states it leaves are float32."""
        with computing_in("bf16" if self.short and eye is None else "fp32"):
            encoded = self.model.encoder(self.model.source_embedding(source), keep, eye)
        state = self.model.begin(encoded)
        return QuickState(state.cells, state.memory, state.fed)

    def _advance(self, last: Int[Tensor, " N"], state: QuickState) -> tuple[Float[Tensor, "N F"], QuickState]:
        if isinstance(self.decoder, PlainDecoder):
            top, cells = self.layers.step(last, None, state.cells)
            return top, state._replace(cells=cells, position=state.position + 1)
        if isinstance(self.decoder, BahdanauDecoder):
            context = self._look(state.cells.hidden[-1], state)
            top, cells = self.layers.step(last, context, state.cells)
        else:
            top, cells = self.layers.step(last, state.fed, state.cells)
            context = self._look(top, state)
        feature = torch.cat([context, top], dim=1)
        if self.combine is not None:
            feature = tanh_(self.combine(feature))
        fed = None if state.fed is None else feature
        return feature, QuickState(cells, state.memory, fed, state.position + 1)

    def _look(self, query: Float[Tensor, "N W"], state: QuickState) -> Float[Tensor, "N C"]:
        """The context of every hypothesis; those of one sentence are queries to the same memory."""
        if not isinstance(self.decoder, LuongDecoder | BahdanauDecoder) or state.memory is None:
            raise TypeError("a plain decoder does not look")
        queries = query.view(len(state.memory.keys), -1, query.shape[1])
        context: Tensor = self.decoder.attention(queries, state.memory, position=state.position).context
        return context.flatten(0, 1)

    def _watched(self, last: Int[Tensor, " N"], state: QuickState, eye: Eye) -> Stepped[QuickState]:
        """One step of the reference, to which each hypothesis is a sentence of its own."""
        memory = state.memory
        if memory is not None:
            sentences = torch.arange(len(memory.keys)).repeat_interleave(len(last) // len(memory.keys))
            memory = memory.select(sentences)
        stepped = self.model.step(last, DecoderState(state.cells, memory, state.fed, None, state.position), eye)
        after = stepped.state
        following = QuickState(after.cells, state.memory, after.fed, after.position)
        return Stepped(stepped.logits, following, stepped.weights)
