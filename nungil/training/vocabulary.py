"""The loss over a whole vocabulary, in pieces: the scores of all words are never in memory together.

Written out it is cross_entropy(features @ weight.T + bias), which holds the scores, their log-softmax and the gradient
of both, 130 MB each for 4,000 words and 8,000 tokens. Here a few hundred words at a time are multiplied, and a few of
those at a time taken as far as their gradient while their scores are still in the cache of a core. `backward` only has
to multiply by the upstream scalar.
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
PIECE = 2**23  # scores computed by one product
BLOCK = 2**18  # scores per thread that are turned into gradients at a time, small enough for the cache of a core


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
    found = [weight.new_empty(len(features)) for _ in range(3)]
    apart = weight.new_zeros(())
    grads = [torch.empty_like(features), torch.zeros_like(weight), torch.zeros_like(bias)] if learns else []
    room = weight.new_empty(_step(BLOCK * torch.get_num_threads(), weight), len(weight))
    for rows in _cut(len(features), _step(PIECE, weight)):
        scores_nV = score(short_features[rows])
        for block in _cut(len(scores_nV), len(room)):
            words = slice(rows.start + block.start, rows.start + block.stop)
            seen = _Seen(scores_nV[block], room, right[words], *(one[words] for one in found))
            apart += _to_gradient(seen, asked, grads[2] if learns else None)
        if learns:
            grads[0][rows] = give_back(scores_nV)
            _add_product(grads[1], scores_nV.t(), short_features[rows])
    log_mass, wanted, top = found
    total = log_mass.sum() - (1 - smoothing) * wanted.sum() + agreement * apart
    if smoothing:
        total -= smoothing * (features @ weight.mean(dim=0) + bias.mean()).sum()  # each word's mean score
        if learns:
            _subtract_even_share(grads, features, weight, smoothing / len(weight))
    return Summed(total, (log_mass - wanted).sum(), (wanted == top).sum()), grads


class _Seen(NamedTuple):
    """A block of words: their scores, which are overwritten, a buffer, and where the results for each word go."""

    scores: Float[Tensor, "n V"]
    room: Float[Tensor, "n V"]
    right: Int[Tensor, " n"]
    log_mass: Float[Tensor, " n"]  # log Σ exp(score)
    wanted: Float[Tensor, " n"]  # the score of the right token
    top: Float[Tensor, " n"]  # the highest score


def _to_gradient(seen: _Seen, asked: _Asked, bias_grad: Float[Tensor, " V"] | None) -> Tensor | float:
    """Overwrite scores with their gradient, and add it to the bias's. Returns how far two readings disagree."""
    in_place = seen.scores.dtype == seen.room.dtype and not asked.agreement
    shares_nV = seen.scores if in_place else seen.room[: len(seen.scores)].copy_(seen.scores)
    right_n1 = seen.right[:, None]
    seen.wanted.copy_(shares_nV.gather(1, right_n1)[:, 0])
    torch.amax(shares_nV, dim=-1, out=seen.top)
    torch.softmax(shares_nV, dim=-1, out=shares_nV)  # in place: passing a dtype would allocate
    torch.sub(seen.top, shares_nV.amax(dim=-1).log_(), out=seen.log_mass)  # the top share is exp(top) / Σ exp
    apart: Tensor | float = 0.0
    if asked.agreement:
        apart = _disagreement(seen.scores, shares_nV, seen.log_mass, asked.agreement if asked.learns else 0.0)
    if bias_grad is not None:
        shares_nV.scatter_add_(1, right_n1, shares_nV.new_full((1, 1), asked.smoothing - 1).expand(len(right_n1), 1))
        bias_grad += shares_nV.sum(dim=0)
        if not in_place:
            seen.scores.copy_(shares_nV)
    return apart


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


def _cut(words: int, step: int) -> Iterator[slice]:
    """Consecutive slices of `step` words."""
    for first in range(0, words, step):
        yield slice(first, min(first + step, words))


def _step(scores: int, weight: Tensor) -> int:
    """How many words make about so many scores; an even number, because the readings of a word are adjacent."""
    return max(2, scores // len(weight) // 2 * 2)
