"""QuickTransformer: the Transformer translator for searching. Its states are those of its reference."""

from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from nungil.attention import Eye
from nungil.attention.attend import Keep, hidden, refuse_empty_rows
from nungil.model.blocks import DecoderBlock, EncoderBlock
from nungil.model.embedding import Embedding, sinusoids
from nungil.model.quick.blocks import Places, QuickDecoderBlock, QuickEncoderBlock
from nungil.model.quick.stepping import Stepping
from nungil.model.results import Stepped
from nungil.model.transformer import TransformerState, TransformerTranslator

# Sizes   B sentences   S source steps   K hypotheses of a beam   N rows, B × K   P past steps   M width   V vocabulary
Block = TypeVar("Block", bound=nn.Module)
PLACES = 512  # positions whose sinusoids are kept; later ones are computed when needed


class QuickTransformer(Stepping[TransformerState]):
    """Built from the weights as they are now."""

    def __init__(self, model: TransformerTranslator, kind: torch.dtype | None = None) -> None:
        super().__init__(model.output, kind)
        self.model = model
        self.readers = [QuickEncoderBlock(block, kind) for block in _blocks(model.encoder.blocks, EncoderBlock)]
        self.writers = [QuickDecoderBlock(block, kind) for block in _blocks(model.blocks, DecoderBlock)]
        self.waves = sinusoids(0, PLACES, model.settings.width, model.output.weight)

    def start(self, source: Int[Tensor, "B S"], keep: Bool[Tensor, "B S"], eye: Eye | None = None) -> TransformerState:
        """Read the source."""
        if eye is not None:
            return self.model.start(source, keep, eye)
        refuse_empty_rows(keep)
        places = Places(keep)
        embedded = self._placed(self.model.source_embedding, source, 0, source.shape[1])
        mask, states = _mask(keep, embedded), places.gather(embedded.flatten(0, 1))
        for block in self.readers:
            states = block(states, places, mask)
        states = self.model.encoder.norm(states)
        return TransformerState(tuple(block.prepare(states, places) for block in self.writers), keep)

    def _advance(
        self, last: Int[Tensor, " N"], state: TransformerState
    ) -> tuple[Float[Tensor, "N M"], TransformerState]:
        ids = last.view(len(state.keep), -1)
        seen = state.seen_next()
        states = self._placed(self.model.target_embedding, ids, state.position, 1).flatten(0, 1)
        source_mask, own_mask = _mask(state.keep, states), _mask(seen, states)
        past = []
        for number, block in enumerate(self.writers):
            before = state.past[number] if state.past else None
            states, after = block(states, state.source[number], source_mask, before, own_mask)
            past.append(after)
        following = state._replace(past=tuple(past), position=state.position + 1, seen=seen)
        feature: Tensor = self.model.norm(states)
        return feature, following

    def _watched(self, last: Int[Tensor, " N"], state: TransformerState, eye: Eye) -> Stepped[TransformerState]:
        return self.model.step(last, state, eye)

    def _placed(self, embedding: Embedding, ids: Int[Tensor, "B S"], first: int, steps: int) -> Float[Tensor, "B S M"]:
        """Embedded tokens with their positions."""
        vectors = embedding.table.weight.detach()[ids]
        if self.model.settings.positions != "sinusoidal":
            return vectors * embedding.scale
        known = first + steps <= PLACES
        waves = self.waves[first : first + steps] if known else sinusoids(first, steps, vectors.shape[2], vectors)
        return torch.add(waves, vectors, alpha=embedding.scale)


def _mask(keep: Keep | None, like: Tensor) -> Float[Tensor, "B 1 #T S"] | None:
    """0 where a step is kept and −∞ where it is hidden, for all heads; None where nothing is hidden."""
    return None if keep is None or bool(keep.all()) else hidden(keep, like.new_empty(1, 1, 1, 1))


def _blocks(blocks: nn.ModuleList, kind: type[Block]) -> list[Block]:
    return [block for block in blocks if isinstance(block, kind)]
