"""Lenses that ask the output: gradient × input, integrated gradients, leave-one-out. Any model has them.

All three are of log p of each token that was written, after what was written before it. Above 0 a word speaks for the
token, below 0 against it. The embeddings are the input; a second reader, of n-grams, has no gradient there.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from nungil.errors import UsageError
from nungil.inspection.example import Example
from nungil.inspection.lensmap import LensMap
from nungil.inspection.looked import lens_map
from nungil.text.tokenizers.base import UNK

# Sizes   N variants   S source steps   T target steps   E width of an embedding
Item = TypeVar("Item")
NODES = 32, 64, 128, 256  # points on the way from nothing to the input, as many as are needed
CLOSE = 0.01  # integrated gradients are close enough where their sums miss the change by less than this share of it
ROWS = 256  # variants that are computed together


def gradient_input(example: Example, layer: int | None = None, head: int | None = None) -> LensMap:
    """Σₑ xₑ ∂log p / ∂xₑ: how log p would change if a word's vector grew a little, to first order."""
    refuse_view("gradient-input", layer, head)
    measures = (
        f"the gradient of log p of {_answer(example)}, times the {example.unit}'s vector: above 0 for it, below 0 "
        "against it"
    )
    found = lens_map(example, "gradient-input", gradients_times_input(example), measures)
    return replace(found, signed=True, notes=_notes(example))


def gradients_times_input(example: Example) -> Float[Tensor, "T S"]:
    """A copy of the source for each step, so that one way back gives the gradients of all of them apart."""
    vectors = example.embedded().detach()
    return (_gradients(example, vectors.expand(example.steps, -1, -1), torch.arange(example.steps)) * vectors).sum(-1)


def _gradients(example: Example, vectors: Float[Tensor, "N S E"], steps: Tensor) -> Float[Tensor, "N S E"]:
    """∂log p / ∂x of each copy, of the step that is its own."""
    vectors = vectors.detach().clone().requires_grad_()
    with torch.enable_grad():
        log_probs = example.log_probs_at(example.read_vectors(vectors), steps)
        chosen = log_probs.gather(1, torch.tensor(example.written)[steps][:, None]).sum()
    (gradient,) = torch.autograd.grad(chosen, vectors)
    return gradient


def integrated_gradients(example: Example, layer: int | None = None, head: int | None = None) -> LensMap:
    """Sundararajan et al. (2017): gradients × input, averaged on the straight way from zero vectors to the input.

    Each row sums to log p minus the log p that vectors of zeros would give, up to `delta`: the integral is taken by
    Gauss and Legendre's rule, with twice as many points until the sums are close.
    """
    refuse_view("integrated-gradients", layer, head)
    change = change_from_nothing(example)
    largest = float(change.abs().max())
    for nodes in NODES:
        values = integrated(example, nodes)
        delta = float((values.sum(dim=-1) - change).abs().max())
        if delta <= CLOSE * largest:
            break
    measures = "gradient × vector, averaged on the way from vectors of zeros: each row sums to the change in log p"
    found = lens_map(example, "integrated-gradients", values, measures)
    sums = f"Sums: rows miss the change in log p by at most {delta:.1e}, with {nodes} points; changes are up to "
    unsettled = "" if delta <= CLOSE * largest else f" That is more than {CLOSE:.0%}: do not rely on these numbers."
    notes = (f"{sums}{largest:.2f}.{unsettled}", *_notes(example))
    return replace(found, signed=True, delta=delta, notes=notes)


def integrated(example: Example, nodes: int) -> Float[Tensor, "T S"]:
    """The integral with so many points."""
    places, shares = np.polynomial.legendre.leggauss(nodes)
    vectors = example.embedded().detach()
    total = torch.zeros(example.steps, *vectors.shape[1:], dtype=vectors.dtype)
    points = [
        (float(place), float(share), step)
        for place, share in zip((places + 1) / 2, shares / 2, strict=True)
        for step in range(example.steps)
    ]
    for part in parts_of(points, ROWS):
        scale = torch.tensor([place for place, _, _ in part], dtype=vectors.dtype)
        share = torch.tensor([share for _, share, _ in part], dtype=vectors.dtype)
        steps = torch.tensor([step for _, _, step in part])
        gradient = _gradients(example, vectors * scale[:, None, None], steps)
        total.index_add_(0, steps, gradient * share[:, None, None])
    return (total * vectors).sum(dim=-1)


def change_from_nothing(example: Example) -> Float[Tensor, " T"]:
    """Log p of each written token, minus what vectors of zeros would give."""
    vectors = example.embedded().detach()
    with torch.inference_mode():
        both = torch.cat([vectors, torch.zeros_like(vectors)])
        chosen = example.chosen(example.log_probs(example.read_vectors(both)))
        return chosen[0] - chosen[1]


def leave_one_out(example: Example, layer: int | None = None, head: int | None = None) -> LensMap:
    """Log p minus log p without the word, Li et al. (2016): each is taken out of the text, and all else moves up.

    Of a text of one token nothing would be left: there `<unk>` stands in its place.
    """
    refuse_view("leave-one-out", layer, head)
    measures = f"by how much log p of {_answer(example)} falls when this {example.unit} is taken out of the text"
    return replace(lens_map(example, "leave-one-out", drops_without_each(example), measures), signed=True)


@torch.inference_mode()
def drops_without_each(example: Example) -> Float[Tensor, "T S"]:
    """Log p minus log p without each token of the source, in batches."""
    source = example.source
    variants = [without(source, (place,)) for place in range(len(source))]
    own = example.chosen(example.log_probs(example.read()))
    return (own - torch.cat(list(chosen_in_parts(example, variants)))).T


def without(source: tuple[int, ...], places: tuple[int, ...]) -> list[int]:
    """The source without these places; `<unk>` if nothing is left."""
    return [one for place, one in enumerate(source) if place not in places] or [UNK]


def chosen_in_parts(example: Example, variants: list[list[int]]) -> Iterator[Float[Tensor, "N T"]]:
    """Log p of each written token after other sources, some of them at a time."""
    for part in parts_of(variants, example.rows_at_once):
        yield example.chosen(example.log_probs(example.read(part)))


def refuse_view(lens: str, layer: int | None, head: int | None) -> None:
    """A lens that asks the output is of no layer or head."""
    if layer is not None or head is not None:
        raise UsageError(f"{lens} is of the whole model: leave layer and head out")


def parts_of(items: list[Item], size: int) -> Iterator[list[Item]]:
    """The items, so many at a time."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _answer(example: Example) -> str:
    return f"the written {example.unit}" if example.translates else "the label"


def _notes(example: Example) -> tuple[str, ...]:
    """What a gradient of this model cannot know."""
    notes = []
    if getattr(example.model, "ngrams", None) is not None:
        notes.append(
            "Half of the verdict is a second reader's, of hashed n-grams: it has no gradient at the vectors of words."
        )
    score = getattr(example.model.settings, "score", None)
    if score is not None and score.window == "local-p":
        notes.append("The model has local-p attention: where its window jumps there is no gradient, so sums miss that.")
    return tuple(notes)
