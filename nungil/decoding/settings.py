"""How a translation is searched for."""

from pydantic import Field, model_validator

from nungil.model.products import SearchPrecision
from nungil.settings import Settings

MOST = 100_000  # tokens that anybody may ask for
DRAWING = {"temperature", "top_k", "top_p", "seed"}
SEARCHING = {"beam", "length_penalty", "coverage_penalty", "exhaustive"}


class SearchSettings(Settings):
    """Which of all sentences that a model could write is taken for its translation."""

    beam: int = Field(5, ge=1, le=100, description="Beginnings that are kept at each step; 1: greedy.")
    n_best: int = Field(1, ge=1, le=100, description="Translations of each sentence, the best first.")
    length_penalty: float = Field(
        1.0, ge=0, le=10, description="α of Wu et al. (2016): 0 compares plain probabilities, which favours short ones."
    )
    coverage_penalty: float = Field(
        0.0, ge=0, le=10, description="β of Wu et al. (2016): how much leaving source words unread costs."
    )
    exhaustive: bool = Field(False, description="Go on until no beginning can become better than what has ended.")
    sample: bool = Field(False, description="Draw each token instead of searching for the best.")
    temperature: float = Field(1.0, ge=1e-6, le=100, description="Of drawing: below 1 it is bolder, above 1 more even.")
    top_k: int = Field(0, ge=0, description="Draw only from this many of the most probable tokens; 0: from all.")
    top_p: float = Field(
        1.0, gt=0, le=1, description="Draw only from the most probable tokens that come to this share."
    )
    seed: int = Field(1, ge=0, lt=2**63, description="Of drawing.")
    shortest: int = Field(0, ge=0, le=MOST, description="Tokens that a translation has at least.")
    longest: int | None = Field(
        None, ge=1, le=MOST, description="Tokens at most; by default by the length of the source."
    )
    no_repeat: int = Field(0, ge=0, le=100, description="No run of so many tokens is written twice; 0: it may be.")
    scores: bool = Field(
        True, description="Tell how probable a translation is; a greedy search that need not tell is faster."
    )
    precision: SearchPrecision = Field(
        "fp32", description="Of products; bf16 and int8 are faster, and near-ties may fall otherwise."
    )

    @model_validator(mode="after")
    def _one_way_of_searching(self) -> "SearchSettings":
        mistakes = []
        if not self.sample and self.n_best > self.beam:
            mistakes.append(
                f"n_best {self.n_best} is more than the beam of {self.beam} can give; make the beam as large"
            )
        drawing, searching = self.model_fields_set & DRAWING, self.model_fields_set & SEARCHING
        if drawing and not self.sample:
            mistakes.append(f"{', '.join(sorted(drawing))}: only for drawing; add sample")
        if searching and self.sample:
            mistakes.append(f"{', '.join(sorted(searching))}: only for searching; leave out sample")
        if self.longest is not None and self.longest < self.shortest:
            mistakes.append(f"longest {self.longest} is less than shortest {self.shortest}")
        if mistakes:
            raise ValueError("; ".join(mistakes))
        return self
