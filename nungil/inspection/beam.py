"""BeamTree: every hypothesis that a beam search went on with or let go of. No torch."""

from typing import Literal

from pydantic import ConfigDict, Field, model_validator

from nungil.settings import Settings

Fate = Literal["kept", "pruned", "ended", "cut"]


class BeamNode(Settings):
    """One token after a hypothesis: what it cost, and what became of it.

    `kept`: gone on with. `pruned`: others were better. `ended`: `<eos>`, a translation. `cut`: as long as may be.
    """

    model_config = ConfigDict(strict=True)

    parent: int | None = Field(ge=0)  # its place in the tree, before this one; None: the beginning of the sentence
    token: str
    log_probability: float = Field(allow_inf_nan=False)
    fate: Fate
    score: float | None = Field(None, allow_inf_nan=False)  # what translations are ranked by; of those only


class BeamTree(Settings):
    """A beam search over one sentence, step by step, the pruned hypotheses too."""

    model_config = ConfigDict(strict=True)

    width: int = Field(ge=1)
    nodes: tuple[BeamNode, ...] = Field(strict=False)

    @model_validator(mode="after")
    def _parents_stand_before(self) -> "BeamTree":
        for place, node in enumerate(self.nodes):
            if node.parent is not None and node.parent >= place:
                raise ValueError(f"node {place} (from 0) has the parent {node.parent}, which does not stand before it")
        return self

    @property
    def best(self) -> int | None:
        """The place of the translation that was taken: one that ended before one that was cut off."""
        ranked = [place for place, node in enumerate(self.nodes) if node.score is not None]
        return max(ranked, key=lambda place: self._rank(place), default=None)

    def _rank(self, place: int) -> tuple[bool, float, int]:
        node = self.nodes[place]
        return node.fate == "ended", node.score or 0.0, -place

    def path(self, place: int) -> list[int]:
        """The places from the beginning of the sentence to this node."""
        places = [place]
        while (parent := self.nodes[places[-1]].parent) is not None:
            places.append(parent)
        return places[::-1]

    def tokens(self, place: int) -> list[str]:
        """The hypothesis that ends at this node."""
        return [self.nodes[one].token for one in self.path(place)]

    def log_probability(self, place: int) -> float:
        """Of the whole hypothesis."""
        return sum(self.nodes[one].log_probability for one in self.path(place))
