"""Cost: estimates the work of a request in advance, so that one request cannot block all others."""

from nungil.inspection.example import Example
from nungil.inspection.ledger import Ledger
from nungil.inspection.measuring import PERMUTATIONS
from nungil.serving.limits import Limits
from nungil.serving.refusal import Fact, Mistake, RefusedError, too_much
from nungil.serving.shelf import Served
from nungil.text.counts import counted

POINTS = 32  # least steps of integrated gradients
FORTH_AND_BACK = 3  # a gradient costs about three forward passes


def runs_of(what: str, source: int, written: int) -> int:
    """About how many forward passes this takes."""
    return {
        "raw": 1,
        "value-norm": 1,
        "rollout": 1,
        "gradient-input": FORTH_AND_BACK * written,
        "integrated-gradients": FORTH_AND_BACK * POINTS * written,
        "leave-one-out": source,
        "honesty": source + (FORTH_AND_BACK + PERMUTATIONS) * written,
    }[what]


def refuse_costly(served: Served, example: Example, limits: Limits, what: str) -> None:
    """Refuse work above the limit of a request."""
    source, written = len(example.source), example.steps
    parameters = int(served.description["parameters"])
    products = runs_of(what, source, written) * (source + written) * parameters
    if products > limits.products:
        name = "every figure of honesty" if what == "honesty" else f"the lens {what}"
        message = (
            f"{name} of a text of {counted(source, 'token')} and {written} written ones takes too long to be served "
            f"(about {products / limits.products:.1f} times what is allowed); take a shorter text, or the command line"
        )
        facts: dict[str, Fact] = {"tokens": source, "written": written, "times": round(products / limits.products, 1)}
        mistake = Mistake(where="text", what="too long for this question")
        raise RefusedError(422, message, [mistake], code="costly", facts=facts)


def refuse_long(ledger: Ledger, limits: Limits) -> None:
    """Refuse a ledger with more numbers than an answer may contain."""
    count = sum(step.values.size for step in ledger.steps)
    if count > limits.numbers:
        raise too_much("text", count, limits.numbers, "numbers", " to explain it, fewer of a shorter one")
