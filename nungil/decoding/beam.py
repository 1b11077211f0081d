"""Beam search: the few best beginnings of each sentence, step by step. Wu et al. (2016), section 7."""

from typing import Generic, NamedTuple, TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from nungil.attention.eye import Look
from nungil.decoding.constraints import Constraints
from nungil.decoding.found import Found
from nungil.decoding.settings import SearchSettings
from nungil.decoding.stepper import Stepper
from nungil.decoding.top import top
from nungil.model.results import State
from nungil.text.tokenizers.base import EOS, SOS

# Sizes   A sentences that are searched for   K beginnings of each   t tokens written so far   V vocabulary   S source
S = TypeVar("S", bound=State)


def length_penalty(length: Tensor | int, alpha: float) -> Tensor | float:
    """((5 + |Y|) / 6)^α. The end counts as a token."""
    return ((5 + length) / 6) ** alpha


class Beginnings(NamedTuple):
    """The best beginnings of each sentence, the best first."""

    written: Int[Tensor, "A K t"]
    paid: Float[Tensor, "A K t"]  # the log-probability of each token
    total: Float[Tensor, "A K"]  # of all of them; −∞ where there is no such beginning
    read: Float[Tensor, "A K S"] | None  # the attention that each source step has had, where that counts

    def select(self, sentences: Int[Tensor, " N"]) -> "Beginnings":
        """Those of some sentences."""
        return Beginnings(*(None if part is None else part[sentences] for part in self))  # type: ignore[arg-type]

    def grown(
        self, parents: Int[Tensor, "A K"], tokens: Int[Tensor, "A K"], total: Float[Tensor, "A K"]
    ) -> "Beginnings":
        """Each parent with one more token."""
        rows = torch.arange(len(parents))[:, None]
        cost = total - self.total[rows, parents]
        return Beginnings(
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
) -> list[list[Found]]:
    """The best translations of each sentence of a batch, the best first."""
    search = _Search(model, source, keep, constraints, settings)
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
        B, K = len(source), settings.beam
        self.ended: list[list[Found]] = [[] for _ in range(B)]
        self.sentences, self.keep = torch.arange(B), keep
        self.state = model.start(source, keep).spread(K)
        total = torch.full((B, K), -torch.inf, dtype=torch.float64)
        total[:, 0] = 0.0  # they are all alike as yet
        read = torch.zeros(B, K, source.shape[1]) if settings.coverage_penalty else None
        self.beginnings = Beginnings(
            torch.empty(B, K, 0, dtype=torch.int64), torch.empty(B, K, 0, dtype=torch.float64), total, read
        )

    @property
    def is_over(self) -> bool:
        """Whether every sentence has its translations."""
        return len(self.sentences) == 0

    def best(self) -> list[list[Found]]:
        """What was found, the best first; what came to its end before what did not."""
        ranked = (sorted(found, key=lambda one: (not one.finished, -one.score)) for found in self.ended)
        return [found[: self.settings.n_best] for found in ranked]

    def step(self, length: int) -> None:
        """One more token for every beginning."""
        logits = self._ask(length)
        (A, K), V = self.beginnings.total.shape, logits.shape[1]
        mass = logits.logsumexp(dim=-1)
        whose = torch.arange(A).repeat_interleave(K)
        self.constraints.hide(logits, self.beginnings.written.flatten(0, 1), whose)
        count = min(2 * K, V)  # K of them may be ends
        values, tokens = top(logits, count)
        totals = (values - mass[:, None]).view(A, K, count) + self.beginnings.total[..., None]
        full = length >= self.constraints.longest
        self._end_full(full, totals, tokens.view(A, K, count))
        best, flat = totals.flatten(1).topk(min(2 * K, K * count), dim=-1)
        parents, chosen = flat // count, tokens.view(A, -1).gather(1, flat)
        self._end(best, parents, chosen, full)
        going, order = best.masked_fill(chosen == EOS, -torch.inf).topk(K, dim=-1)
        self._go_on(parents.gather(1, order), chosen.gather(1, order), going, full)

    def _ask(self, length: int) -> Float[Tensor, "N V"]:
        """What the model gives for the next token of every beginning."""
        written = self.beginnings.written.flatten(0, 1)
        last = written[:, -1] if length else torch.full((len(written),), SOS)
        eye = _Watch() if self.beginnings.read is not None else None
        stepped = self.model.step(last, self.state, eye)
        self.state = stepped.state
        if eye is not None and self.beginnings.read is not None:
            self.beginnings = self.beginnings._replace(read=self.beginnings.read + eye.looked(self.beginnings.read))
        return stepped.logits

    def _end_full(self, full: Bool[Tensor, " A"], totals: Tensor, tokens: Int[Tensor, "A K C"]) -> None:
        """Beginnings that may not grow any more are what they are; one that would have ended has ended."""
        for row in full.nonzero()[:, 0].tolist():
            for place in range(self.settings.beam):
                if self.beginnings.total[row, place] > -torch.inf:
                    ends = bool(tokens[row, place, 0] == EOS)
                    self._keep(row, place, float(totals[row, place, 0]) if ends else None)

    def _end(self, best: Tensor, parents: Tensor, chosen: Tensor, full: Bool[Tensor, " A"]) -> None:
        """The ends among the best."""
        ends = (chosen == EOS) & (best > -torch.inf) & ~full[:, None]
        ends[:, self.settings.beam :] = False
        for row, place in ends.nonzero().tolist():
            self._keep(row, int(parents[row, place]), float(best[row, place]))

    def _keep(self, row: int, place: int, total: float | None) -> None:
        """A beginning has become a translation: with its end, if the total has that in it, or cut off."""
        before = float(self.beginnings.total[row, place])
        paid = self.beginnings.paid[row, place].tolist()
        finished = total is not None
        if total is not None:
            paid.append(total - before)
        score = (before if total is None else total) / length_penalty(len(paid), self.settings.length_penalty)
        if self.beginnings.read is not None:
            read = self.beginnings.read[row, place][self.keep[row]]
            score += self.settings.coverage_penalty * float(read.clamp(1e-9, 1.0).log().sum())
        ids = self.beginnings.written[row, place].tolist()
        self.ended[int(self.sentences[row])].append(Found(ids, paid, finished, float(score)))

    def _go_on(self, parents: Tensor, tokens: Tensor, going: Tensor, full: Bool[Tensor, " A"]) -> None:
        """Grow the chosen beginnings, and let go of the sentences that are done."""
        A, K = going.shape
        rows = torch.arange(A)[:, None] * K + parents
        self.beginnings = self.beginnings.grown(parents, tokens, going)
        done = torch.tensor(
            [self._is_done(*one) for one in zip(self.sentences.tolist(), going[:, 0].tolist(), strict=True)]
        )
        left = (~(done | full)).nonzero()[:, 0]
        if len(left) == A:
            self.state = self.state.regroup(rows.flatten())
            return
        self.sentences, self.keep = self.sentences[left], self.keep[left]
        self.constraints, self.beginnings = self.constraints.select(left), self.beginnings.select(left)
        if len(left):
            self.state = self.state.regroup(rows[left].flatten(), left)

    def _is_done(self, sentence: int, total: float) -> bool:
        """Whether no beginning can, or is likely to, become better than what has ended."""
        ended, settings = self.ended[sentence], self.settings
        if total == -torch.inf:
            return True
        if len(ended) < settings.n_best:
            return False
        if not settings.exhaustive and len(ended) >= settings.beam:
            return True
        length = self.beginnings.written.shape[2] if not settings.exhaustive else int(self.constraints.longest.max())
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
        """The mean over heads, beside each beginning; nothing where the model has no attention."""
        if self.weights is None:
            return torch.ones_like(like)
        weights = self.weights.mean(dim=1) if self.weights.dim() == 4 else self.weights
        return weights.reshape(like.shape)
