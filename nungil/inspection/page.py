"""The page: of a record or of any pictures as one HTML file that works offline, or as a server shows it. No torch.

`page.html` is built from `web/` by `make page`: script and style are in it, and a policy that names their hashes. Here
the numbers are put into it.
"""

import base64
import html
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from nungil.inspection.colours import SIGNED, WEIGHTS
from nungil.inspection.layout import visible
from nungil.inspection.picture import Picture
from nungil.inspection.record import Array, AttentionMap, AttentionRecord

LEAST = np.float32(1e-38)  # a weight above 0 stays above 0 in single precision
MARKER = re.compile(r"@@(TITLE|POLICY|DATA)@@")
ASKS = "; connect-src 'self'"  # what the page of a server may do, and a file may not: ask where it came from
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


def to_page(record: AttentionRecord, labels: Mapping[str, float] | None = None) -> str:
    """The whole page of a record as text: every head of every map, one of them on show."""
    words = record.without_marks().merged()  # what stands for a text that nobody handed in
    source, target = record.source or " ".join(words.source_tokens), record.target or " ".join(words.target_tokens)
    order = {kind: place for place, kind in enumerate(record.kinds)}
    maps = sorted(record.maps, key=lambda one: (order[one.kind], one.layer))
    plain = {name: value for name, value in record.to_json().items() if name not in ("maps", "coverage")}
    plain |= {"source": source, "target": target, "maps": [_plain_map(one) for one in maps]}
    return _page(f"{source} · nungil", {"record": plain, **_plain_beside(record, labels)})


def _plain_beside(record: AttentionRecord, labels: Mapping[str, float] | None) -> dict[str, Any]:
    """How far one of its maps can be trusted, where that was measured, and what a classifier says of each label."""
    plain: dict[str, Any] = {}
    if record.honesty:
        strip = record.honesty[0]
        plain["strip"] = {**strip.to_json(), "at": {"layer": strip.layer, "head": strip.head}}
    if labels is not None:
        plain["labels"] = [{"label": label, "probability": float(value)} for label, value in labels.items()]
    return plain


def pictures_page(pictures: Sequence[Picture], source: str = "", target: str = "") -> str:
    """The whole page of some pictures; one of them is on show."""
    source = source or pictures[0].title
    inside = {"source": source, "target": target, "pictures": [_plain_picture(one) for one in pictures]}
    return _page(f"{source} · nungil", inside)


def served_page() -> str:
    """The page as a server shows it: the same, with nothing inside, and allowed to ask the server for models."""
    return _page("nungil · 눈길", {}, ASKS)


def policy_of(page: str) -> str:
    """What a page may do, as a server says it in a header: script and style by their hashes, and no more."""
    found = re.search('http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    return found[1] if found else "default-src 'none'"


def frame(page: str, height: int = 720) -> str:
    """A page inside another one, as a notebook shows it: a frame that holds all of it."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{height}" '
        'style="border:0;border-radius:12px" title="nungil"></iframe>'
    )


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


def _page(title: str, inside: dict[str, Any], policy: str = "") -> str:
    parts = {"TITLE": html.escape(visible(title)), "POLICY": policy, "DATA": _embedded(inside)}
    template = files("nungil.inspection").joinpath("page.html").read_text(encoding="utf-8")
    # One pass over the template: a token that looks like a marker is never taken for one.
    return MARKER.sub(lambda found: parts[found[1]], template)


def _plain_map(one: AttentionMap) -> dict[str, Any]:
    return {"kind": one.kind, "layer": one.layer, "heads": [packed(head) for head in one.weights]}


def _plain_picture(one: Picture) -> dict[str, Any]:
    return {
        "title": one.title,
        "rows": list(one.rows),
        "columns": list(one.columns),
        "packed": packed(one.cells),
        "high": one.high,
        "notes": list(one.notes),
        "signed": one.signed,
        "bars": one.bars,
    }


def packed(cells: Array) -> str:
    """Single precision, row by row, little end first, in base64: a tenth of the time and half the size of digits."""
    small = cells.astype("<f4")
    small[(cells > 0) & (small < LEAST)] = LEAST
    return base64.b64encode(small.tobytes()).decode("ascii")


def _embedded(plain: dict[str, Any]) -> str:
    """JSON that can stand inside `<script>`: nothing in it can end the script or begin a tag."""
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return re.sub("[<>&\\u2028\\u2029]", lambda found: f"\\u{ord(found[0]):04x}", text)
