"""The check: run the real modules of `nungil.attention` on the numbers of a ledger, and measure how far it is off."""

from collections.abc import Iterable, Mapping

import numpy as np
import torch
from torch import Tensor, nn

from nungil.attention import (
    Additive,
    Attention,
    Concat,
    Coverage,
    Dot,
    General,
    LocalM,
    LocalP,
    Location,
    MultiHeadAttention,
    ScaledDot,
    Score,
    attend,
)
from nungil.inspection.ledger import LedgerStep
from nungil.inspection.numbers import PLACES, FeedForward, Numbers, Output
from nungil.model import blocks as layers
from nungil.model.blocks import BlockSettings, Residual
from nungil.model.embedding import sinusoids


def measure_residual(numbers: Numbers, steps: Iterable[LedgerStep]) -> tuple[float, str]:
    """The largest difference between any step the real module shows and the ledger's, and which module it was."""
    written = {(step.name, step.head): step.values for step in steps}
    with torch.no_grad():
        real, module = _multi_head(numbers) if numbers.mechanism == "multi-head" else _single(numbers)
        context = real["output" if numbers.mechanism == "multi-head" else "context", None]
        query, _ = _asking(numbers)
        if numbers.positions:
            real["placed", None] = query
            module += ", nungil.model.embedding.sinusoids"
        if numbers.feed_forward is not None:
            real["normed", None] = _block(numbers.feed_forward, query, context)
            module += ", nungil.model.blocks.FeedForward"
        if numbers.output is not None:
            real["probability", None] = _probabilities(numbers.output, context, query)
    differences = [np.ravel(np.subtract(written[place], found.numpy())) for place, found in real.items()]
    return float(np.max(np.abs(np.concatenate(differences)))), module


def _asking(numbers: Numbers) -> tuple[Tensor, Tensor]:
    """Query and keys as the module is given them, with the model's own positions where asked for."""
    query, keys = _row(numbers.query), _row(numbers.keys)
    if not numbers.positions:
        return query, keys
    own = sinusoids(numbers.position, 1, len(query), query)[0]
    return query + own, keys + sinusoids(0, len(keys), keys.shape[1], keys)


def _block(given: FeedForward, query: Tensor, looked: Tensor) -> Tensor:
    """What follows the attention of a block, by the modules of a model that norms after each part."""
    settings = BlockSettings(width=len(query), heads=1, feed_forward=len(given.W_1), dropout=0, norm="post")
    around, feed = Residual(settings).double(), layers.FeedForward(settings).double()
    for layer, weight, bias in ((feed.inner, given.W_1, given.b_1), (feed.outer, given.W_2, given.b_2)):
        layer.weight.copy_(_row(weight))
        if bias is not None:
            layer.bias.copy_(_row(bias))
    state = around(query[None, None], lambda _: looked[None, None])
    fed: Tensor = around(state, feed)[0, 0]
    return fed


def _single(numbers: Numbers) -> tuple[dict[tuple[str, int | None], Tensor], str]:
    score = _score(numbers)
    attention = Attention(score)
    query, keys = (given[None] for given in _asking(numbers))
    query, values = query[None], keys if numbers.values is None else _row(numbers.values)[None]
    keep = None if numbers.keep is None else torch.tensor([numbers.keep])
    coverage = None if numbers.coverage is None else _row(numbers.coverage)[None]
    context, weights = attention(query, keys, values, keep, position=numbers.position, coverage=coverage)
    weight = "local weight" if numbers.mechanism == "local-p" else "weight"
    real: dict[tuple[str, int | None], Tensor] = {("context", None): context[0, 0], (weight, None): weights[0, 0]}
    if numbers.temperatures:
        scores = score(query, score.prepare(keys, keep), numbers.position, coverage)
        cooled = [attend(scores / temperature, values, keep) for temperature in numbers.temperatures]
        real["cooled context", None] = torch.cat([look.context[0] for look in cooled])
        real["cooled weights", None] = torch.cat([look.weights[0] for look in cooled])
    return real, f"nungil.attention.Attention({_written(score)})"


def _multi_head(numbers: Numbers) -> tuple[dict[tuple[str, int | None], Tensor], str]:
    attention = MultiHeadAttention(len(numbers.query), numbers.heads).double()
    _fill(attention, numbers.parameters, PLACES["multi-head"])
    query, keys = (given[None] for given in _asking(numbers))
    query, values = query[None], keys if numbers.values is None else _row(numbers.values)[None]
    keep = None if numbers.keep is None else torch.tensor([numbers.keep])
    output, weights = attention(query, keys, values, keep)
    real: dict[tuple[str, int | None], Tensor] = {("output", None): output[0, 0]}
    real.update({("weight", head): weights[0, head, 0] for head in range(numbers.heads)})
    return real, f"nungil.attention.MultiHeadAttention({len(numbers.query)}, {numbers.heads})"


def _score(numbers: Numbers) -> Score:
    """The real score module, with the user's numbers in its matrices."""
    Q, K = len(numbers.query), len(numbers.keys[0])
    name, parameters = numbers.compared, numbers.parameters
    width = len(parameters.get("v", parameters.get("v_a", [0.0])))
    score: Score
    match name:
        case "general":
            score = General(Q, K)
        case "concat":
            score = Concat(Q, K, width)
        case "additive":
            score = Additive(Q, K, width)
        case "coverage":
            score = Coverage(Q, K, width)
        case "location":
            score = Location(Q, len(parameters["W_a"]))
        case "scaled-dot":
            score = ScaledDot()
        case _:
            score = Dot()
    _fill(score.double(), parameters, PLACES.get(name, {}))
    if numbers.mechanism == "local-m":
        return LocalM(score, numbers.reach)
    if numbers.mechanism == "local-p":
        window = LocalP(score, Q, numbers.reach).double()
        _fill(window, parameters, PLACES["local-p"])
        return window
    return score


def _fill(module: nn.Module, parameters: Mapping[str, object], places: Mapping[str, str]) -> None:
    named = dict(module.named_parameters())
    for symbol, place in places.items():
        if symbol in parameters:
            target = named[place]
            target.copy_(_row(parameters[symbol]).reshape(target.shape))


def _probabilities(output: Output, context: Tensor, query: Tensor) -> Tensor:
    state = torch.cat([context, query]) if output.reads == "both" else context
    if output.W_c is not None:
        state = torch.tanh(nn.functional.linear(state, _row(output.W_c)))
    return nn.functional.linear(state, _row(output.W_s), None if output.b_s is None else _row(output.b_s)).softmax(-1)


def _row(given: object) -> Tensor:
    return torch.tensor(given, dtype=torch.float64)


def _written(score: Score) -> str:
    """`LocalP(General, reach=2)`: the score as its constructor reads."""
    if isinstance(score, LocalM | LocalP):
        return f"{type(score).__name__}({type(score.score).__name__}, reach={score.reach})"
    return type(score).__name__
