"""A record as one HTML file that works offline: style, script and numbers are all in it. No torch.

Every number on the page is worked out here; the script of the page only shows them.
"""

import html
import json
import re
from importlib.resources import files
from typing import Any

import numpy as np

from nungil.inspection.heatmap import describe_sums
from nungil.inspection.layout import visible
from nungil.inspection.record import Array, AttentionMap, AttentionRecord, Side

DIGITS = 6  # significant ones, so that a weight above 0 never becomes 0
SIDE_NAMES: tuple[Side, ...] = ("source", "target", "input")
MARKER = re.compile(r"@@(TITLE|RECORD)@@")
NAMES = {
    "cross": "Cross-attention",
    "pooling": "Pooling",
    "self": "Encoder self-attention",
    "masked": "Decoder self-attention",
}


def to_page(record: AttentionRecord) -> str:
    """The whole page as text."""
    plain = _plain(record)
    parts = {"TITLE": html.escape(plain["source"]), "RECORD": _embedded(plain)}
    template = files("nungil.inspection").joinpath("page.html").read_text(encoding="utf-8")
    # One pass over the template: a token that looks like a marker is never taken for one.
    return MARKER.sub(lambda found: parts[found[1]], template)


def spread(weights: Array) -> list[float | None]:
    """Entropy / ln n of each row, n the columns it gave any weight: 0 looks at one word, 1 at all alike.

    A row that does not sum to 1 is divided by its sum for this. None where there was nothing to choose from.
    """
    return [_spread(row[row > 0]) for row in weights]


def _spread(row: Array) -> float | None:
    if len(row) < 2:
        return None
    shares = row / row.sum()
    return float(-(shares * np.log(shares)).sum() / np.log(len(row)))


def _plain(record: AttentionRecord) -> dict[str, Any]:
    words = record.without_marks().merged()  # what stands for a text that nobody handed in
    order = {kind: place for place, kind in enumerate(record.kinds)}
    maps = sorted(record.maps, key=lambda one: (order[one.kind], one.layer))
    return {
        "source": visible(record.source or " ".join(words.source_tokens)),
        "target": visible(record.target or " ".join(words.target_tokens)),
        "score": record.score,
        "merge": record.merge,
        "tokens": {
            side: [visible(token) for token in record.tokens_of(side)] for side in ("source", "target", "input")
        },
        "maps": [_plain_map(record, one) for one in maps],
    }


def _plain_map(record: AttentionRecord, one: AttentionMap) -> dict[str, Any]:
    """A map, with a view for each head, and before them one for their mean."""
    heads = [_view(matrix) for matrix in one.weights]
    mean = [_view(one.weights.mean(axis=0))] if one.heads > 1 else []
    return {
        "kind": one.kind,
        "name": NAMES[one.kind],
        "layer": one.layer,
        "rows": one.rows,
        "columns": one.columns,
        "reading": record.reading_of(one),
        "views": mean + heads,
    }


def _view(weights: Array) -> dict[str, Any]:
    return {
        "weights": _rounded(weights.tolist()),
        "sums": _rounded(weights.sum(axis=-1).tolist()),
        "spread": [None if one is None else _rounded(one) for one in spread(weights)],
        "about": describe_sums(weights),
    }


def _rounded(numbers: Any) -> Any:
    """The same numbers in as many digits as a page needs."""
    if isinstance(numbers, float):
        return float(f"{numbers:.{DIGITS}g}")
    return [_rounded(one) for one in numbers]


def _embedded(plain: dict[str, Any]) -> str:
    """JSON that can stand inside `<script>`: nothing in it can end the script or begin a tag."""
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\u2028\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)
