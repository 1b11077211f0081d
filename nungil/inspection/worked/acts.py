"""The act of attention that a model's settings and weights make of a query and its keys."""

from nungil.errors import UsageError
from nungil.inspection.arithmetic import Act
from nungil.inspection.ledger import Array
from nungil.inspection.worked.parameters import Parameters
from nungil.model.scores import ScoreSettings


def act_of(weights: Parameters, score: ScoreSettings, query: Array, keys: Array, labels: tuple[str, ...]) -> Act:
    """`weights` are those of an `Attention`; a window holds the score that it is laid over."""
    if score.own is not None:
        raise UsageError(f"the score {score.own} is of another package: its arithmetic is not known here")
    own = weights.under("score")
    if score.window == "none":
        return Act(score.name, query, keys, labels, own.symbols(score.name))
    parameters = own.under("score").symbols(score.name) | own.symbols(score.window)
    return Act(score.name, query, keys, labels, parameters, score.window, score.reach)
