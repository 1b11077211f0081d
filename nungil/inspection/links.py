"""From a record to word links: for each word written, the word looked at most. No torch."""

from nungil.inspection.merging import merge, words_without_marks
from nungil.inspection.record import Array, AttentionRecord, Reading
from nungil.scoring.alignment import format_links
from nungil.scoring.words import links_from_weights


def links_of(
    record: AttentionRecord, reading: Reading = "output", layer: int | None = None, head: int | None = None
) -> str:
    """Which word was looked at for which, in Pharaoh's format: source-target, counted from 0."""
    weights = between_words(record, record.select("cross", layer, head), reading)
    return "" if weights is None else format_links(links_from_weights(weights))


def between_words(record: AttentionRecord, weights: Array, reading: Reading = "output") -> Array | None:
    """Cross-attention (…, target, source) between words instead of tokens, marks left out; None where no word is left.

    The columns of a word's pieces are summed and its rows averaged.
    """
    rows, columns = words_without_marks(record.rows_read_as(reading)), words_without_marks(record.source_tokens)
    return merge(weights, rows, columns) if rows and columns else None
