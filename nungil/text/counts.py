"""Counts as people read them: `1 pair`, `1,000 pairs`. Knows no torch."""


def counted(number: int, noun: str) -> str:
    """The number and its noun, which is given as it is of one and has a plural in s."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
