"""Beam search: the few best hypotheses for each sentence, step by step. Wu et al. (2016), section 7."""

from typing import Generic, NamedTuple, TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from nungil.attention.eye import Look
from nungil.decoding.constraints import Constraints
from nungil.decoding.found import Found
from nungil.decoding.settings import SearchSettings
from nungil.decoding.stepper import Stepper
from nungil.decoding.top import log_probabilities_, top, top_sums
from nungil.decoding.tree import Considered, Trees
from nungil.model.results import State
from nungil.text.tokenizers.base import EOS, SOS

# Sizes   A sentences still searched for   K hypotheses for each   t tokens written so far   V vocabulary   S source
S = TypeVar("S", bound=State)


def length_penalty(length: Tensor | int, alpha: float) -> Tensor | float:
    """((5 + |Y|) / 6)^α. The end counts as a token."""
    return ((5 + length) / 6) ** alpha


class Hypotheses(NamedTuple):
    """The unfinished hypotheses for each sentence, the best first."""

    written: Int[Tensor, "A K t"]
    paid: Float[Tensor, "A K t"]  # the log-probability of each token
    total: Float[Tensor, "A K"]  # the sum of these; −∞ where there is no such hypothesis
    read: Float[Tensor, "A K S"] | None  # the attention that each source step has had, where that counts

    def select(self, sentences: Int[Tensor, " N"]) -> "Hypotheses":
        """The hypotheses for some sentences."""
        return Hypotheses(*(None if part is None else part[sentences] for part in self))  # type: ignore[arg-type]

    def grown(
        self, parents: Int[Tensor, "A K"], tokens: Int[Tensor, "A K"], total: Float[Tensor, "A K"]
    ) -> "Hypotheses":
        """Each parent with one more token."""
        rows = torch.arange(len(parents))[:, None]
        cost = total - self.total[rows, parents]
        return Hypotheses(
            torch.cat([self.written[rows, parents], tokens[..., None]], dim=2),
            torch.cat([self.paid[rows, parents], cost[..., None]], dim=2),
            total,
            None if self.read is None else self.read[rows, parents],
        )


@torch.inference_mode()
def beam_search(
    model: Stepper[S],
    source: Int[Tensor, "B S"],
    keep: Bool[Tensor, "B S"],
    constraints: Constraints,
    settings: SearchSettings,
    trees: Trees | None = None,
) -> list[list[Found]]:
    """The best translations of each sentence of a batch, the best first. `trees` records what was kept and pruned."""
    search = _Search(model, source, keep, constraints, settings)
    search.trees = trees
    for length in range(int(constraints.longest.max()) + 1):
        if search.is_over:
            break
        search.step(length)
    return search.best()


class _Search(Generic[S]):
    """A beam search under way. Sentences whose translations are found leave the batch."""

    def __init__(
        self,
        model: Stepper[S],
        source: Int[Tensor, "B S"],
        keep: Bool[Tensor, "B S"],
        constraints: Constraints,
        settings: SearchSettings,
    ) -> None:
        self.model, self.settings, self.constraints = model, settings, constraints
        self.trees: Trees | None = None
        B = len(source)
        self.ended: list[list[Found]] = [[] for _ in range(B)]
        self.sentences, self.keep = torch.arange(B), keep
        self.state = model.start(source, keep)  # with one hypothesis for each sentence: the empty one
        read = torch.zeros(B, 1, source.shape[1]) if settings.coverage_penalty else None
        written = torch.empty(B, 1, 0, dtype=torch.int64)
        self.hypotheses = Hypotheses(written, written.double(), torch.zeros(B, 1, dtype=torch.float64), read)

    @property
    def is_over(self) -> bool:
        """Whether every sentence has its translations."""
        return len(self.sentences) == 0

    def best(self) -> list[list[Found]]:
        """What was found, the best first; finished translations before those that were cut off."""
        ranked = (sorted(found, key=lambda one: (not one.finished, -one.score)) for found in self.ended)
        return [found[: self.settings.n_best] for found in ranked]

    def step(self, length: int) -> None:
        """One more token for every hypothesis."""
        scores = self._ask(length)
        (A, K), V, beam = self.hypotheses.total.shape, scores.shape[1], self.settings.beam
        whose = torch.arange(A).repeat_interleave(K)
        self.constraints.hide(scores, self.hypotheses.written.flatten(0, 1), whose)
        full = length >= self.constraints.longest
        self._end_full(full, scores.view(A, K, V))
        count = min(2 * beam, K * V)  # half of them may be `<eos>`
        best, parents, chosen = top_sums(scores.view(A, K, V), self.hypotheses.total, count)
        self._end(best, parents, chosen, full)
        going, order = best.masked_fill(chosen == EOS, -torch.inf).topk(min(beam, best.shape[1]), dim=-1)
        if self.trees is not None:
            goes = (~full).nonzero()[:, 0]
            considered = Considered(best[goes], parents[goes], chosen[goes])
            self.trees.grow(self.sentences[goes].tolist(), considered, order[goes])
        missing = (0, beam - going.shape[1])  # where the vocabulary is smaller than the beam
        parents, chosen = (pad(part.gather(1, order), missing) for part in (parents, chosen))
        self._go_on(parents, chosen, pad(going, missing, value=-torch.inf), full)

    def _ask(self, length: int) -> Float[Tensor, "N V"]:
        """The log-probability of every next token, after every hypothesis."""
        written = self.hypotheses.written.flatten(0, 1)
        last = written[:, -1] if length else torch.full((len(written),), SOS)
        eye = _Watch() if self.hypotheses.read is not None else None
        stepped = self.model.step(last, self.state, eye)
        self.state = stepped.state
        if eye is not None and self.hypotheses.read is not None:
            self.hypotheses = self.hypotheses._replace(read=self.hypotheses.read + eye.looked(self.hypotheses.read))
        return log_probabilities_(stepped.logits)

    def _end_full(self, full: Bool[Tensor, " A"], scores: Float[Tensor, "A K V"]) -> None:
        """End hypotheses of full length: finished if `<eos>` is their best next token, else cut off."""
        if not bool(full.any()):
            return
        costs, tokens = (best.view(scores.shape[:2]) for best in top(scores.flatten(0, 1), 1))
        here, ends = full[:, None] & (self.hypotheses.total > -torch.inf), tokens == EOS
        self._keep(here & ends, self.hypotheses.total + costs)
        self._keep(here & ~ends)

    def _end(self, best: Tensor, parents: Tensor, chosen: Tensor, full: Bool[Tensor, " A"]) -> None:
        """End the hypotheses whose `<eos>` is among the best."""
        ends = (chosen == EOS) & (best > -torch.inf) & ~full[:, None]
        ends[:, self.settings.beam :] = False
        if not bool(ends.any()):
            return
        here = torch.zeros_like(self.hypotheses.total, dtype=torch.bool)
        totals = self.hypotheses.total.clone()
        rows, places = ends.nonzero(as_tuple=True)
        parents_of = parents[rows, places]
        here[rows, parents_of], totals[rows, parents_of] = True, best[rows, places]
        self._keep(here, totals)

    def _keep(self, which: Bool[Tensor, "A K"], totals: Float[Tensor, "A K"] | None = None) -> None:
        """Note hypotheses as translations: finished, with totals that include `<eos>`, or, without totals, cut off."""
        before, paid = self.hypotheses.total[which], self.hypotheses.paid[which]
        total = before if totals is None else totals[which]
        if totals is not None:
            paid = torch.cat([paid, (total - before)[:, None]], dim=1)
        scores = total / length_penalty(paid.shape[1], self.settings.length_penalty)
        rows, places = which.nonzero(as_tuple=True)
        if self.hypotheses.read is not None:
            read = self.hypotheses.read[which].clamp(1e-9, 1.0).log()
            scores += self.settings.coverage_penalty * read.masked_fill(~self.keep[rows], 0.0).sum(dim=1)
        parts = (self.sentences[rows], places, self.hypotheses.written[which], paid, scores)
        for sentence, place, ids, costs, score in zip(*(part.tolist() for part in parts), strict=True):
            self.ended[sentence].append(Found(ids, costs, totals is not None, score))
            if self.trees is not None:
                self.trees.end(sentence, place, costs[-1] if totals is not None else None, score)

    def _go_on(self, parents: Tensor, tokens: Tensor, going: Tensor, full: Bool[Tensor, " A"]) -> None:
        """Grow the chosen hypotheses, and drop the sentences that are done."""
        A, K = self.hypotheses.total.shape
        rows = torch.arange(A)[:, None] * K + parents
        first = self.hypotheses.written.shape[2] == 0
        self.hypotheses = self.hypotheses.grown(parents, tokens, going)
        done = torch.tensor(
            [self._is_done(*one) for one in zip(self.sentences.tolist(), going[:, 0].tolist(), strict=True)]
        )
        left = (~(done | full)).nonzero()[:, 0]
        some = len(left) < A
        if some:
            self.sentences, self.keep = self.sentences[left], self.keep[left]
            self.constraints, self.hypotheses = self.constraints.select(left), self.hypotheses.select(left)
        if first:
            self.state = (self.state.select(left) if some else self.state).spread(self.settings.beam)
        elif len(left):
            self.state = self.state.regroup(rows[left].flatten(), left if some else None)

    def _is_done(self, sentence: int, total: float) -> bool:
        """Whether no hypothesis can still become better than what has ended, or, if not `exhaustive`, is likely to."""
        ended, settings = self.ended[sentence], self.settings
        if total == -torch.inf:
            return True
        if len(ended) < settings.n_best:
            return False
        if not settings.exhaustive and len(ended) >= settings.beam:
            return True
        length = self.hypotheses.written.shape[2] if not settings.exhaustive else int(self.constraints.longest.max())
        worst = sorted((one.score for one in ended), reverse=True)[settings.n_best - 1]
        return worst >= total / float(length_penalty(length + 1, settings.length_penalty))


class _Watch:
    """An eye that adds up where the last cross-attention looked."""

    def __init__(self) -> None:
        self.weights: Tensor | None = None

    def __call__(self, look: Look) -> Tensor:
        if look.kind == "cross":
            self.weights = look.weights
        return look.weights

    def looked(self, like: Float[Tensor, "A K S"]) -> Float[Tensor, "A K S"]:
        """The mean over heads for each hypothesis; ones, which cost nothing, where the model has no attention."""
        if self.weights is None:
            return torch.ones_like(like)
        weights = self.weights.mean(dim=1) if self.weights.dim() == 4 else self.weights
        return weights.reshape(like.shape)
