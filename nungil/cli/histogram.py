"""Bars of block characters."""

from collections.abc import Sequence
from unicodedata import east_asian_width

EIGHTHS = " ▏▎▍▌▋▊▉"


def bars(rows: Sequence[tuple[str, int]], width: int) -> list[str]:
    """A line per row: name, bar, count. The longest bar fills the width that names and counts leave."""
    if not rows:
        return []
    counts = [f"{count:,}" for _, count in rows]
    names = max(columns_of(name) for name, _ in rows)
    room = max(8, width - names - max(map(len, counts)) - 6)
    most = max(count for _, count in rows) or 1
    lines = []
    for (name, count), shown in zip(rows, counts, strict=True):
        bar = _bar(count / most * room)
        if count and not bar:
            bar = EIGHTHS[1]  # a count above 0 is always visible
        lines.append(f"  {' ' * (names - columns_of(name))}{name}  {bar} {shown}".rstrip())
    return lines


def columns_of(text: str) -> int:
    """How many columns of a terminal a text takes: Korean and Chinese characters take two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _bar(length: float) -> str:
    whole, eighths = divmod(round(length * 8), 8)
    return "█" * whole + EIGHTHS[eighths].strip()
