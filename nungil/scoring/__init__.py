"""Scores: BLEU and chrF, accuracy and F1, alignment error rate. Knows no torch.

Importing this loads neither sacreBLEU nor NumPy. What needs NumPy is in other modules: reports with intervals and
comparisons in `translators` and `classifiers`, word links from attention in `words`.
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
from nungil.scoring.classification import ClassificationScores, LabelScores, score_labels
from nungil.scoring.translation import TranslationScores, bleu_tokenizer, score_translations

__all__ = [
    "AlignmentScores",
    "ClassificationScores",
    "LabelScores",
    "Link",
    "Links",
    "TranslationScores",
    "aer",
    "bleu_tokenizer",
    "diagonal_links",
    "format_links",
    "parse_links",
    "score_labels",
    "score_links",
    "score_translations",
]
