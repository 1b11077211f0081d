"""Measuring a strip: the map of an example against what its output does when rows are changed and words erased."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from nungil.inspection.changing import Changing
from nungil.inspection.example import Example, Read
from nungil.inspection.felt import drops_without_each, gradients_times_input
from nungil.inspection.honesty import RowFigures, Strip, entropy_share
from nungil.inspection.intervention import Place, writable
from nungil.inspection.lensmap import POOLED
from nungil.inspection.looked import norm_shares
from nungil.inspection.ranks import kendall, percentile_of
from nungil.inspection.recomputing import residual_of
from nungil.inspection.record import READING, Array
from nungil.inspection.rows import flattened, permuted, seeded
from nungil.inspection.watching import Watcher, view_of, watch
from nungil.inspection.wordplaces import is_idle, words_in

# Sizes   N permutations   T target steps   S source steps   V target vocabulary, or classes
PERMUTATIONS = 100
SAME = 1e-7  # KL that rounding alone can make
CHEAP = 2e10  # products; a second or so of one core


class Wanted(NamedTuple):
    """Of which map a strip is wanted: by default the main one; and whether it may take longer than a second or so."""

    layer: int | None = None
    head: int | None = None
    permutations: int = 0
    seed: int = 1
    patient: bool = False


def measured(example: Example, wanted: Wanted) -> Strip | None:
    """The strip, if it is cheap or worth the time."""
    if not (wanted.patient or is_cheap(example)):
        return None
    return measure(example, wanted.layer, wanted.head, wanted.permutations, wanted.seed)


def measure(
    example: Example, layer: int | None = None, head: int | None = None, permutations: int = 0, seed: int = 1
) -> Strip:
    """The strip of one map: by default that of the last layer, the mean over its heads.

    A row is made even, or permuted, in that layer and in those heads; all others go on as they are.
    """
    watcher = watch(example)
    view = view_of(watcher, layer, head)
    place = Place(view)
    weights = _array(view.of(watcher.weights(view.kind, view.layer)))
    seen = _array(_seen(watcher, view.kind, view.layer)) > 0
    felt, erased = _array(gradients_times_input(example)), _array(drops_without_each(example))
    norms = _array(norm_shares(example, watcher, view))
    rows = []
    with torch.inference_mode():
        read = example.read()
        own = example.log_probs(read)[0]
        for step in range(example.steps):
            even, shuffled = _changed(example, read, place, step, permutations, seed + step)
            rows.append(
                _figures(
                    example,
                    step,
                    weights[step],
                    seen[step],
                    (felt[step], erased[step], norms[step]),
                    (own[step], even, shuffled),
                )
            )
    reading = READING if example.translates else POOLED
    residual = residual_of(example, watcher, view)
    layers = len(watcher.layers(view.kind))
    which = view.kind, view.layer, view.head
    return Strip(str(view), reading, tuple(rows), residual, permutations, seed, layers, *which, example.unit)


def is_cheap(example: Example) -> bool:
    """Whether three figures and a verdict take no more than a second or so: one run for each word, there and back."""
    runs = len(example.source) + 3 * example.steps
    products = runs * (len(example.source) + example.steps) * sum(one.numel() for one in example.model.parameters())
    return products <= CHEAP


def _seen(watcher: Watcher, kind: str, layer: int) -> Float[Tensor, "T S"]:
    """1 where a step may see, in any head."""
    looks = [torch.isfinite(look.scores[0]) for look in watcher.looks[kind, layer]]
    return torch.cat([seen.any(dim=0) if seen.dim() == 3 else seen for seen in looks]).double()


def _changed(
    example: Example, read: Read, place: Place, step: int, permutations: int, seed: int
) -> tuple[Float[Tensor, " V"], Float[Tensor, "N V"]]:
    """What may be written at one step if its row is even, and under each of some permutations."""
    generator = seeded(seed)

    def rewrite(rows: Tensor, seen: Tensor) -> Tensor:
        if len(rows) == 1:
            return flattened(rows, seen)
        return torch.cat([flattened(rows[:1], seen[:1]), permuted(rows[1:], seen[1:], generator)])

    eye = Changing(rewrite, place.at(step))
    steps = torch.full((1 + permutations,), step)
    found = example.log_probs_at(read.times(1 + permutations), steps, eye)
    return found[0], found[1:]


def _figures(
    example: Example,
    step: int,
    row: Array,
    seen: Array,
    lenses: tuple[Array, Array, Array],
    answers: tuple[Tensor, Tensor, Tensor],
) -> RowFigures:
    words = words_in(example.source_tokens)
    looked, (felt, erased, norms) = row[words], (lens[words] for lens in lenses)
    own, even, shuffled = answers
    chosen, top = example.written[step], int(looked.argmax())
    others = np.delete(erased, top)
    kl = float(divergences(own, even[None])[0])
    return RowFigures(
        step=step + 1,
        token=example.written_tokens[step],
        top=example.source_tokens[words[top]],
        entropy=entropy_share(row[seen].tolist()),
        idle=float(row[[is_idle(token) for token in example.source_tokens]].sum()),
        tau_gradient=kendall(looked, np.abs(felt)),
        tau_erasing=kendall(looked, np.abs(erased)),
        tau_ceiling=kendall(np.abs(felt), np.abs(erased)),
        tau_norm=kendall(looked, norms),
        delta_p=float(even[chosen].exp() - own[chosen].exp()),
        kl=kl,
        flips=int(writable(example, own).argmax()) != int(writable(example, even).argmax()),
        drop_top=float(erased[top]),
        drop_random=float(others.mean()) if len(others) else 0.0,
        percentile=percentile_of(kl, divergences(own, shuffled).tolist(), SAME) if len(shuffled) else None,
        own_percentile=percentile_of(float(own[chosen].exp()), shuffled[:, chosen].exp().tolist(), SAME)
        if len(shuffled)
        else None,
    )


def divergences(own: Float[Tensor, " V"], others: Float[Tensor, "N V"]) -> Float[Tensor, " N"]:
    """KL(own ‖ other) of log-probabilities, in nats, in double precision; rounding does not take it below 0."""
    own, others = own.double(), others.double()
    return (own.exp() * (own - others)).sum(dim=-1).clamp(min=0)


def _array(tensor: Tensor) -> Array:
    return np.asarray(tensor.double().numpy())
