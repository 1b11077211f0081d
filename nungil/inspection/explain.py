"""Explain one attention step: the arithmetic line by line, checked against the modules that models are made of."""

from nungil.inspection.arithmetic import work_out
from nungil.inspection.ledger import Ledger
from nungil.inspection.numbers import Numbers, check_numbers
from nungil.inspection.residual import measure_residual


def explain(numbers: Numbers) -> Ledger:
    """Work the numbers out, run the real module on them, and say how far the two are apart."""
    numbers = check_numbers(numbers, "numbers")
    steps = work_out(numbers)
    residual, against = measure_residual(numbers, steps)
    return Ledger(numbers.mechanism, steps, residual, against, numbers.model_dump(exclude_defaults=True))
