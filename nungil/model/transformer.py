"""The Transformer translator: an encoder and a decoder of attention blocks. Vaswani et al. (2017), post 003."""

from typing import Literal, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor, nn

from nungil.attention import Eye, Heads
from nungil.errors import ConfigError
from nungil.model.blocks import BlockSettings, DecoderBlock
from nungil.model.embedding import Embedding, sinusoids
from nungil.model.encoders import Positions, TransformerEncoder
from nungil.model.past import Past
from nungil.model.products import in_full
from nungil.model.results import Decoded, Encoded, Stepped
from nungil.model.vocabulary import Vocabulary

# Sizes   B batch   S source steps   T target steps   K hypotheses   P past steps of all   M width   V vocabulary


class TransformerSettings(BlockSettings):
    """A Transformer encoder-decoder."""

    kind: Literal["transformer"] = "transformer"
    encoder_layers: int = Field(3, ge=1, le=64, description="Blocks of the encoder.")
    decoder_layers: int = Field(3, ge=1, le=64, description="Blocks of the decoder.")
    positions: Positions = Field("sinusoidal", description="sinusoidal, or none: then it knows no order of words.")
    tie: Literal["all", "target", "none"] | None = Field(
        None,
        description="Which matrices are one: target embedding and output (target), the source embedding too (all), "
        "or none; by default all where the vocabulary is joint, else target.",
    )


class TransformerState(NamedTuple):
    """Keys and values of the source and of the target so far, of every block.

    After `spread`, the hypotheses of a sentence are queries to one source and one past, which holds the steps that any
    of them has written; `seen` says which steps belong to which. So a change of the beam copies no keys or values, and
    the products of all hypotheses are one.
    """

    source: tuple[Heads, ...]
    keep: Bool[Tensor, "B S"]
    past: tuple[Past, ...] = ()
    position: int = 0
    seen: Bool[Tensor, "B K P"] | None = None

    def select(self, rows: Int[Tensor, " N"]) -> "TransformerState":
        """The state of some sentences of the batch, in the order given."""
        return self._replace(
            source=tuple(heads.select(rows) for heads in self.source),
            keep=self.keep[rows],
            past=tuple(past.select(rows) for past in self.past),
            seen=None if self.seen is None else self.seen[rows],
        )

    def spread(self, beam: int) -> "TransformerState":
        """The state of each sentence `beam` times, side by side."""
        return self._replace(seen=self.keep.new_ones(len(self.keep), beam, self.position))

    def regroup(self, rows: Int[Tensor, " N"], sentences: Int[Tensor, " A"] | None = None) -> "TransformerState":
        """The state of some rows, and of the sentences they belong to."""
        if self.seen is None:
            return self.select(rows)
        state = self if sentences is None else self.select(sentences)
        seen = self.seen.flatten(0, 1)[rows]
        return state._replace(seen=seen.view(len(state.keep), -1, seen.shape[1]))

    def seen_next(self) -> Bool[Tensor, "B K Q"] | None:
        """`seen` after one more step of every hypothesis: of the steps that are new, each sees only its own."""
        if self.seen is None:
            return None
        own = torch.eye(self.seen.shape[1], dtype=torch.bool, device=self.seen.device)
        return torch.cat([self.seen, own.expand(len(self.seen), -1, -1)], dim=2)


class TransformerTranslator(nn.Module):
    """Encoder and decoder, each of its own depth; matrices are tied as the settings say."""

    def __init__(self, settings: TransformerSettings, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.settings = settings
        width, dropout = settings.width, settings.dropout
        self.source_embedding = Embedding(vocabulary.source, width, dropout)
        tie = settings.tie or ("all" if vocabulary.joint else "target")
        if tie == "all":
            _refuse_two_vocabularies(vocabulary)
            self.target_embedding = self.source_embedding
        else:
            self.target_embedding = Embedding(vocabulary.target, width, dropout)
        self.encoder = TransformerEncoder(settings, settings.encoder_layers, settings.positions)
        self.blocks = nn.ModuleList(DecoderBlock(settings, layer) for layer in range(settings.decoder_layers))
        self.norm = nn.LayerNorm(width) if settings.norm == "pre" else nn.Identity()
        self.output = nn.Linear(width, vocabulary.target)
        nn.init.xavier_uniform_(self.output.weight)
        nn.init.zeros_(self.output.bias)
        if tie != "none":
            self.output.weight = self.target_embedding.table.weight

    def forward(
        self,
        source: Int[Tensor, "B S"],
        source_keep: Bool[Tensor, "B S"],
        target_in: Int[Tensor, "B T"],
        eye: Eye | None = None,
    ) -> Decoded:
        """A feature for each target step, reading only what stands before it."""
        return self.decode(target_in, self.start(source, source_keep, eye), eye)

    def decode(self, target_in: Int[Tensor, "B T"], state: TransformerState, eye: Eye | None = None) -> Decoded:
        """The same from a state that `start` or `begin` gave."""
        return Decoded(self._decode(target_in, state, eye)[0])

    def logits(self, features: Float[Tensor, "*B M"]) -> Float[Tensor, "*B V"]:
        """A score per token of the vocabulary, never in bfloat16: near-ties should not be rounded to ties."""
        with in_full():
            scored: Tensor = self.output(features.to(self.output.weight.dtype))
        return scored

    def start(self, source: Int[Tensor, "B S"], keep: Bool[Tensor, "B S"], eye: Eye | None = None) -> TransformerState:
        """Read the source; its keys and values are computed once for every block."""
        return self.begin(self.encoder(self.source_embedding(source), keep, eye))

    def begin(self, encoded: Encoded) -> TransformerState:
        """The same from encoder states, which need not come from the embeddings of words."""
        blocks = (block for block in self.blocks if isinstance(block, DecoderBlock))
        heads = (block.cross.prepare(encoded.states, encoded.states) for block in blocks)
        return TransformerState(tuple(one.contiguous() for one in heads), encoded.keep)

    def step(
        self, last: Int[Tensor, " N"], state: TransformerState, eye: Eye | None = None
    ) -> Stepped[TransformerState]:
        """The token after the last one."""
        features, state = self._decode(last.view(len(state.keep), -1), state, eye)
        return Stepped(self.logits(features.flatten(0, 1)), state)

    def _decode(
        self, target_in: Int[Tensor, "B T"], state: TransformerState, eye: Eye | None
    ) -> tuple[Float[Tensor, "B T M"], TransformerState]:
        """The next target steps, one or many, after those in the state; or one step of every hypothesis of a beam."""
        seen = state.seen_next()
        steps = target_in.shape[1] if seen is None else 1
        states = self.target_embedding(target_in)
        if self.settings.positions == "sinusoidal":
            states = states + sinusoids(state.position, steps, states.shape[2], states)
        keep = None if bool(state.keep.all()) else state.keep
        past = []
        for number, block in enumerate(self.blocks):
            before = state.past[number] if state.past else None
            states, after = block(states, state.source[number], keep, before, seen, eye)
            past.append(after)
        return self.norm(states), state._replace(past=tuple(past), position=state.position + steps, seen=seen)


def _refuse_two_vocabularies(vocabulary: Vocabulary) -> None:
    if not vocabulary.joint:
        raise ConfigError("model", ["tie: all needs one vocabulary for both sides (tokenizer joint: true)"])
