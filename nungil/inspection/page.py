"""A record, or any pictures, as one HTML file that works offline: style, script and numbers are in it. No torch.

Every number on the page is worked out here; the script of the page only shows them.
"""

import base64
import html
import json
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from nungil.inspection.colours import SIGNED, WEIGHTS
from nungil.inspection.layout import visible
from nungil.inspection.picture import Picture
from nungil.inspection.record import READING, Array, AttentionMap, AttentionRecord

DIGITS = 6  # significant ones, of what is not packed
LEAST = np.float32(1e-38)  # a weight above 0 stays above 0 in single precision
MARKER = re.compile(r"@@(TITLE|RECORD)@@")
NAMES = {
    "cross": "Cross-attention",
    "pooling": "Pooling",
    "self": "Encoder self-attention",
    "masked": "Decoder self-attention",
}
# On a dark page the colours go the other way: nothing is as dark as the page, and the largest is the lightest.
NIGHT = ((30, 38, 48), (33, 64, 98), (40, 98, 150), (70, 140, 196), (130, 190, 228), (214, 240, 252))
SIGNED_NIGHT = (
    (255, 190, 170),
    (222, 110, 90),
    (120, 58, 54),
    (30, 38, 48),
    (38, 84, 130),
    (84, 150, 208),
    (190, 226, 250),
)
RAMPS = {"weights": WEIGHTS, "signed": SIGNED, "weights at night": NIGHT, "signed at night": SIGNED_NIGHT}


def to_page(record: AttentionRecord) -> str:
    """The whole page of a record as text: every head of every map, one of them on show."""
    words = record.without_marks().merged()  # what stands for a text that nobody handed in
    order = {kind: place for place, kind in enumerate(record.kinds)}
    maps = sorted(record.maps, key=lambda one: (order[one.kind], one.layer))
    return _page(
        {
            "source": visible(record.source or " ".join(words.source_tokens)),
            "target": visible(record.target or " ".join(words.target_tokens)),
            "score": record.score,
            "tokens": {
                side: [visible(token) for token in record.tokens_of(side)] for side in ("source", "target", "input")
            },
            "steps": [step.model_dump(mode="json") for step in record.steps],
            "maps": [_plain_map(record, one) for one in maps],
        }
    )


def pictures_page(pictures: Sequence[Picture], source: str = "", target: str = "") -> str:
    """The whole page of some pictures; one of them is on show."""
    tokens = {f"rows {place}": list(map(visible, one.rows)) for place, one in enumerate(pictures)}
    tokens |= {f"columns {place}": list(map(visible, one.columns)) for place, one in enumerate(pictures)}
    maps = [
        {
            "kind": str(place),
            "name": visible(one.title),
            "layer": 0,
            "rows": f"rows {place}",
            "columns": f"columns {place}",
            "signed": one.signed,
            "bars": one.bars,
            "steps": False,
            "views": [_view(one)],
        }
        for place, one in enumerate(pictures)
    ]
    plain = {"source": visible(source or pictures[0].title), "target": visible(target), "score": None}
    return _page({**plain, "tokens": tokens, "steps": [], "maps": maps})


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


def _page(plain: dict[str, Any]) -> str:
    parts = {"TITLE": html.escape(plain["source"]), "RECORD": _embedded({**plain, "ramps": RAMPS})}
    template = files("nungil.inspection").joinpath("page.html").read_text(encoding="utf-8")
    # One pass over the template: a token that looks like a marker is never taken for one.
    return MARKER.sub(lambda found: parts[found[1]], template)


def _plain_map(record: AttentionRecord, one: AttentionMap) -> dict[str, Any]:
    """A map, with a view for each head, and before them one for their mean."""
    heads: list[int | None] = [*range(one.heads)]
    views = [_view(record.picture(one.kind, one.layer, head)) for head in ([None, *heads] if one.heads > 1 else [None])]
    has_steps = one.kind == "cross" and record.reading == READING and len(record.steps) == len(record.target_tokens)
    return {
        "kind": one.kind,
        "name": NAMES[one.kind],
        "layer": one.layer,
        "rows": one.rows,
        "columns": one.columns,
        "signed": False,
        "bars": one.kind == "pooling",
        "steps": has_steps,
        "views": views,
    }


def _view(picture: Picture) -> dict[str, Any]:
    cells = picture.cells
    view = {"packed": _packed(cells), "high": picture.high, "notes": [visible(note) for note in picture.notes]}
    if not picture.signed:
        view["sums"] = [_rounded(one) for one in cells.sum(axis=-1).tolist()]
        view["spread"] = [None if one is None else _rounded(one) for one in spread(cells)]
    return view


def _packed(cells: Array) -> str:
    """Single precision, row by row, little end first, in base64: a tenth of the time and half the size of digits."""
    small = cells.astype("<f4")
    small[(cells > 0) & (small < LEAST)] = LEAST
    return base64.b64encode(small.tobytes()).decode("ascii")


def _rounded(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")


def _embedded(plain: dict[str, Any]) -> str:
    """JSON that can stand inside `<script>`: nothing in it can end the script or begin a tag."""
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\\u2028\\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)
