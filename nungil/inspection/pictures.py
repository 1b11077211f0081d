"""From a record to a picture: one map of it, with what is to be said beside it. No torch."""

from nungil.inspection.coverage import coverage_of
from nungil.inspection.layout import visible
from nungil.inspection.picture import Picture
from nungil.inspection.record import Array, AttentionMap, AttentionRecord

UNTRUSTED = "Trust: not measured; its figures are of attention between what is written and what is read."
EVEN = 5e-3  # how far from 1 a sum may be and still be called 1


def picture_of(
    record: AttentionRecord, kind: str | None = None, layer: int | None = None, head: int | None = None
) -> Picture:
    """One map, by default the main one, the mean over its heads."""
    one, cells = record.map_of(kind, layer), record.select(kind, layer, head)
    coverage = coverage_of(record, layer, head) if one.kind == "cross" else None
    strip = record.strip_of(kind, layer, head)
    return Picture(
        title=describe_map(one, head),
        rows=tuple(visible(token) for token in record.tokens_of(one.rows)),
        columns=tuple(visible(token) for token in record.tokens_of(one.columns)),
        cells=cells,
        notes=(
            *((_label(record),) if one.kind == "pooling" else ()),
            *((f"Readers: {record.readers}",) if record.readers else ()),
            f"Reading: {record.reading_of(one)}; {describe_sums(cells)}.",
            f"Merging: {record.merge}.",
            *(coverage.notes() if coverage is not None else ()),
            *(strip.first() if strip is not None else ()),
            *((UNTRUSTED,) if one.kind in ("self", "masked") else ()),
        ),
        bars=one.kind == "pooling",
    )


def _label(record: AttentionRecord) -> str:
    """The answer of a classifier, which its bars do not show."""
    sure = "" if record.score is None else f", with a probability of {record.score:.2f}"
    return f"Label: {visible(record.target_tokens[0])}{sure}."


def describe_map(one: AttentionMap, head: int | None) -> str:
    """Which map it is: `cross attention · layer 0 · mean over 8 heads`. One without heads says nothing of them."""
    which = f"head {head}" if head is not None else f"mean over {one.heads} heads"
    return f"{one.kind} attention · layer {one.layer}" + (f" · {which}" if one.heads > 1 else "")


def describe_sums(weights: Array) -> str:
    """`each row sums to 1`, or the truth."""
    sums = weights.sum(axis=-1)
    if abs(sums - 1).max() < EVEN:
        return "each row sums to 1"
    low, high = f"{sums.min():.2f}", f"{sums.max():.2f}"
    return f"rows do not sum to 1, but to {low if low == high else f'{low} … {high}'}"
