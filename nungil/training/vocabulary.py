"""The loss over a whole vocabulary, in pieces: the scores of all words are never in memory together.

Written out it is cross_entropy(features @ weight.T + bias), which holds the scores, their log-softmax and the gradient
of both, 130 MB each for 4,000 words and 8,000 tokens. Here a few hundred words at a time are taken as far as their
gradient while their scores are still in the processor's cache. `backward` only has to multiply by the upstream scalar.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from nungil.model.products import in_full, product_type
from nungil.model.quick.product import Product

# Sizes   N words   F width of a feature   V vocabulary   n words of a piece
PIECE = 2**22  # scores in a piece; half as many and twice as many are slower


class Summed(NamedTuple):
    """The loss and the plain cross-entropy, summed over the words, and how many words were predicted right."""

    total: Float[Tensor, ""]
    plain: Float[Tensor, ""]
    right: Int[Tensor, ""]


def vocabulary_loss(
    features: Float[Tensor, "N F"],
    weight: Float[Tensor, "V F"],
    bias: Float[Tensor, " V"],
    right: Int[Tensor, " N"],
    smoothing: float = 0.0,
    agreement: float = 0.0,
) -> Summed:
    """−Σ q log softmax(W f + b), with q = 1 − ε on the right token and ε spread over all.

    With `agreement` α, rows come in pairs, two readings of the same word; α · ½ (KL(p₁‖p₂) + KL(p₂‖p₁)) is added for
    each pair. Liang et al. (2021), R-Drop, equations 2 and 3.
    """
    asked = (features, weight, bias, right, smoothing, agreement)
    return Summed(*_VocabularyLoss.apply(*asked))  # type: ignore[no-untyped-call]


class _VocabularyLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, *given: Any) -> tuple[Tensor, Tensor, Tensor]:
        right, smoothing, agreement = given
        learns = any(ctx.needs_input_grad[:3])
        asked = _Asked(right, smoothing, agreement, product_type(weight.dtype), learns)
        with in_full():  # `kind` alone decides which products are in bfloat16
            summed, grads = _through_pieces(features, weight, bias, asked)
        ctx.save_for_backward(*grads)
        ctx.mark_non_differentiable(summed.plain, summed.right)
        return summed

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor, *_: Tensor) -> tuple[Tensor | None, ...]:
        return *(grad * upstream for grad in ctx.saved_tensors), None, None, None


class _Asked(NamedTuple):
    right: Int[Tensor, " N"]
    smoothing: float
    agreement: float
    kind: torch.dtype  # of products
    learns: bool


def _through_pieces(features: Tensor, weight: Tensor, bias: Tensor, asked: _Asked) -> tuple[Summed, list[Tensor]]:
    """The loss and, if asked for, its gradients by features, weight and bias; piece by piece."""
    right, smoothing, agreement, kind, learns = asked
    score, short_features = Product(weight, bias, kind), features.to(kind)
    give_back = Product(weight.t(), None, kind) if learns else score
    features = features.to(weight.dtype)
    total, plain, hits = (weight.new_zeros(()) for _ in range(3))
    mean = features @ weight.mean(dim=0) + bias.mean() if smoothing else total  # each word's mean score
    grads = [torch.empty_like(features), torch.zeros_like(weight), torch.zeros_like(bias)] if learns else []
    room = _room(features, weight)
    for rows in _pieces(len(features), len(weight)):
        scores_nV = score(short_features[rows])
        shares_nV = room[: len(scores_nV)].copy_(scores_nV)
        wanted, top = shares_nV.gather(1, right[rows, None])[:, 0], shares_nV.amax(dim=-1)
        torch.softmax(shares_nV, dim=-1, out=shares_nV)  # in place: passing a dtype would allocate
        log_mass = top - shares_nV.amax(dim=-1).log()  # log Σ exp, since the top share is exp(top) / Σ exp
        plain += (log_mass - wanted).sum()
        total += (log_mass - (1 - smoothing) * wanted).sum()
        hits += (wanted == top).sum()
        if agreement:
            total += agreement * _disagreement(scores_nV, shares_nV, log_mass, agreement if learns else 0.0)
        if learns:
            shares_nV[torch.arange(len(top)), right[rows]] -= 1 - smoothing
            grads[2].add_(shares_nV.sum(dim=0))
            short_shares = shares_nV if kind == weight.dtype else scores_nV.copy_(shares_nV)
            grads[0][rows] = give_back(short_shares)
            _add_product(grads[1], short_shares.t(), short_features[rows])
    total -= smoothing * mean.sum()
    if learns and smoothing:
        _subtract_even_share(grads, features, weight, smoothing / len(weight))
    return Summed(total, plain, hits), grads


def _disagreement(scores_nV: Tensor, shares_nV: Tensor, log_mass: Tensor, weight: float) -> Tensor:
    """½ (KL(p‖q) + KL(q‖p)) of each pair of rows, summed; adds `weight` times its gradient to the shares p and q.

    With d = log p − log q it is ½ Σ (p − q) d, and its gradient by the scores of p ½ (p (1 + d − KL(p‖q)) − q).
    """
    scores, shares = (part.view(-1, 2, part.shape[-1]) for part in (scores_nV, shares_nV))
    shift = log_mass.view(-1, 2)
    p, q = shares[:, 0], shares[:, 1]
    apart = (scores[:, 0] - scores[:, 1].to(p.dtype)).sub_((shift[:, 0] - shift[:, 1])[:, None])
    first, second = (torch.linalg.vecdot(side, apart)[:, None] for side in (p, q))  # KL(p‖q) and −KL(q‖p)
    if weight:
        half = weight / 2
        between = p - q
        p.addcmul_(p, apart - first, value=half).add_(between, alpha=half)
        q.addcmul_(q, apart - second, value=-half).sub_(between, alpha=half)
    apart_by: Tensor = (first - second).sum() / 2
    return apart_by


def _add_product(total: Tensor, left: Tensor, right: Tensor) -> None:
    """Add a product, in bfloat16 perhaps, to a sum in full precision."""
    if left.dtype == total.dtype:
        total.addmm_(left, right)
    else:
        total += left @ right


def _subtract_even_share(grads: list[Tensor], features: Tensor, weight: Tensor, share: float) -> None:
    """The gradient of the smoothing term that is the same for all tokens: of rank one, without the scores."""
    grads[0] -= share * weight.sum(dim=0)
    grads[1] -= share * features.sum(dim=0)
    grads[2] -= share * len(features)


def _room(features: Tensor, weight: Tensor) -> Tensor:
    """A buffer for the shares of each piece in turn: allocating anew would be slow."""
    return weight.new_empty(min(len(features), _step(len(weight))), len(weight))


def _pieces(words: int, vocabulary: int) -> Iterator[slice]:
    step = _step(vocabulary)
    for first in range(0, words, step):
        yield slice(first, first + step)


def _step(vocabulary: int) -> int:
    """Words of a piece; an even number, since rows may come in pairs."""
    return max(2, PIECE // vocabulary // 2 * 2)
