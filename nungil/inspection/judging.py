"""Judging: the figures of a badge, from many examples and a way to score the model under an eye."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from nungil.attention import Eye
from nungil.inspection.badge import Badge
from nungil.inspection.changing import Changing, Where
from nungil.inspection.example import Example
from nungil.inspection.felt import drops_without_each, gradients_times_input, parts_of, without
from nungil.inspection.ranks import kendall, mean_of
from nungil.inspection.record import Array
from nungil.inspection.rows import Rewrite, drawn, flattened, permuted, seeded
from nungil.inspection.watching import view_of, watch
from nungil.inspection.wordplaces import words_in

ERASED = 5  # words, at most
MakeEye = Callable[[], Eye | None]  # a new eye for each batch: it counts steps
Tell = Callable[[int, int], None]  # how many sentences are done, of how many


class Metric(NamedTuple):
    """A score, its name, and how it is measured under an eye."""

    name: str
    under: Callable[[MakeEye], float]


def judge(examples: Sequence[Example], metric: Metric, seed: int = 1, tell: Tell | None = None) -> Badge:
    """The badge of a model. Spoiled attention is spoiled in every layer and head, at every step."""
    start = time.monotonic()
    kind = view_of(watch(examples[0])).kind
    randomness = seeded(seed)
    spoils: dict[str, Rewrite] = {
        "even": flattened,
        "permuted": lambda rows, seen: permuted(rows, seen, randomness),
        "random": lambda rows, seen: drawn(rows, seen, randomness),
    }
    scores = {"own": metric.under(lambda: None)}
    for name, rewrite in spoils.items():
        scores[name] = metric.under(lambda rewrite=rewrite: Changing(rewrite, Where(kind)))  # type: ignore[misc]
    judged = []
    for number, example in enumerate(examples):
        judged.append(_judged(example, np.random.default_rng([seed, number])))
        if tell is not None:
            tell(number + 1, len(examples))
    return Badge(
        sentences=len(examples),
        metric=metric.name,
        **scores,
        aopc=float(np.mean([one.aopc for one in judged])),
        aopc_random=float(np.mean([one.aopc_random for one in judged])),
        tau_gradient=mean_of(one.tau_gradient for one in judged),
        tau_erasing=mean_of(one.tau_erasing for one in judged),
        tau_ceiling=mean_of(one.tau_ceiling for one in judged),
        seed=seed,
        seconds=time.monotonic() - start,
    )


class _Judged(NamedTuple):
    aopc: float
    aopc_random: float
    tau_gradient: float | None
    tau_erasing: float | None
    tau_ceiling: float | None


def _judged(example: Example, randomness: np.random.Generator) -> _Judged:
    watcher = watch(example)
    view = view_of(watcher)
    words = words_in(example.source_tokens)
    rows = view.of(watcher.weights(view.kind, view.layer)).double().numpy()[:, words]
    felt = np.abs(gradients_times_input(example).double().numpy())[:, words]
    erased = np.abs(drops_without_each(example).double().numpy())[:, words]
    by_attention = np.argsort(-rows, axis=1, kind="stable")
    by_chance = randomness.permuted(np.tile(np.arange(len(words)), (len(rows), 1)), axis=1)
    return _Judged(
        erasing_curve(example, np.array(words)[by_attention]),
        erasing_curve(example, np.array(words)[by_chance]),
        mean_of(kendall(row, other) for row, other in zip(rows, felt, strict=True)),
        mean_of(kendall(row, other) for row, other in zip(rows, erased, strict=True)),
        mean_of(kendall(row, other) for row, other in zip(felt, erased, strict=True)),
    )


@torch.inference_mode()
def erasing_curve(example: Example, orders: Array) -> float:
    """AOPC, Samek et al. (2017): the probability lost without the first k places of each row's order, mean over k.

    k goes from 1 up to half of the words, and to 5: of a short text, any five words are nearly all of it.
    """
    most = max(1, min(ERASED, orders.shape[1] // 2))
    variants = [
        (step, without(example.source, tuple(int(place) for place in orders[step][:count])))
        for step in range(example.steps)
        for count in range(1, most + 1)
    ]
    own = example.chosen(example.log_probs(example.read()))[0].exp()
    lost = []
    for part in parts_of(variants, example.rows_at_once):
        steps = torch.tensor([step for step, _ in part])
        log_probs = example.log_probs_at(example.read([source for _, source in part]), steps)
        lost.append(own[steps] - _chosen(log_probs, example, steps).exp())
    return float(torch.cat(lost).mean())


def _chosen(log_probs: Tensor, example: Example, steps: Int[Tensor, " N"]) -> Tensor:
    return log_probs.gather(1, torch.tensor(example.written)[steps][:, None])[:, 0]
