"""The two sides of a score, what was made and what is right: one entry of each for every sentence."""

from collections.abc import Sequence

from nungil.errors import UsageError

FAULTS_SHOWN = 5


def check_sides(made_name: str, made: Sequence[str], right_name: str, right: Sequence[str]) -> None:
    """Refuse sides of unequal length, which would pair the wrong sentences."""
    for name, side in ((made_name, made), (right_name, right)):
        if isinstance(side, str):  # a string is a sequence of characters, and would be scored silently
            raise UsageError(f"{name}: one string where a list of strings is needed; for many lines, text.splitlines()")
    if len(made) != len(right):
        raise UsageError(
            f"{len(made):,} {made_name} for {len(right):,} {right_name}; there must be one for each, in the same order"
        )


def check_some(name: str, side: Sequence[str]) -> None:
    """Refuse to score nothing."""
    if not side:
        raise UsageError(f"there are no {name} to score; give at least one")


def first_few(faults: Sequence[str]) -> str:
    """The first faults, a line each, and the number of the others."""
    rest = len(faults) - FAULTS_SHOWN
    return "\n".join([*faults[:FAULTS_SHOWN], *([f"and {rest:,} more like these"] if rest > 0 else [])])
