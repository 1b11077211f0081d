"""Scores of what a model made: the alignment error rate. Knows no torch.

Importing this does not load NumPy. Attention to word links, which needs NumPy, is in
`nungil.scoring.words`.
"""

from nungil.scoring.alignment import (
    AlignmentScores,
    Link,
    Links,
    aer,
    diagonal_links,
    format_links,
    parse_links,
    score_links,
)

__all__ = [
    "AlignmentScores",
    "Link",
    "Links",
    "aer",
    "diagonal_links",
    "format_links",
    "parse_links",
    "score_links",
]
