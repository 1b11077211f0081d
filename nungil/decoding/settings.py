"""How a translation is searched for."""

from pydantic import Field, model_validator

from nungil.model.products import SearchPrecision
from nungil.settings import Settings

MOST = 100_000  # tokens; the upper limit of `shortest` and `longest`
DRAWING = {"temperature", "top_k", "top_p", "seed"}
SEARCHING = {"beam", "length_penalty", "coverage_penalty", "exhaustive"}


class SearchSettings(Settings):
    """How the translation of a sentence is searched for."""

    beam: int = Field(5, ge=1, le=100, description="Hypotheses kept at each step; 1 is greedy search.")
    n_best: int = Field(1, ge=1, le=100, description="Translations of each sentence, the best first.")
    length_penalty: float = Field(1.0, ge=0, le=10, description="α of Wu et al. (2016); 0 favours short translations.")
    coverage_penalty: float = Field(
        0.0, ge=0, le=10, description="β of Wu et al. (2016): the cost of leaving source words unread."
    )
    exhaustive: bool = Field(False, description="Search until no hypothesis can become better than what has ended.")
    sample: bool = Field(False, description="Sample each token instead of searching for the best.")
    temperature: float = Field(
        1.0, ge=1e-6, le=100, description="Of sampling: below 1 favours probable tokens more, above 1 less."
    )
    top_k: int = Field(0, ge=0, description="Sample only from this many of the most probable tokens; 0: from all.")
    top_p: float = Field(
        1.0, gt=0, le=1, description="Sample only from the most probable tokens whose probabilities sum to this."
    )
    seed: int = Field(1, ge=0, lt=2**63, description="Seed of sampling.")
    shortest: int = Field(0, ge=0, le=MOST, description="Fewest tokens of a translation.")
    longest: int | None = Field(
        None, ge=1, le=MOST, description="Most tokens of a translation; by default from the length of the source."
    )
    no_repeat: int = Field(0, ge=0, le=100, description="Write no run of this many tokens twice; 0: allowed.")
    scores: bool = Field(True, description="Compute the probability of a translation; greedy search is faster without.")
    precision: SearchPrecision = Field(
        "fp32", description="Precision of products; bf16 and int8 are faster, but may decide near-ties differently."
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
