"""Atlas: every head of one kind of attention as small multiples, layers down and heads across. No torch."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nungil.errors import UsageError
from nungil.inspection.drawings.chart import GAP, MARGIN, NARROWEST, NOTE, SOFT, TITLE, below, colour_scale
from nungil.inspection.drawings.drawing import Cells, Drawing, Text, shortened, width_of
from nungil.inspection.heads import HeadScores, mean_facts
from nungil.inspection.picture import Picture
from nungil.inspection.pictures import picture_of
from nungil.inspection.record import AttentionRecord

SIDE = 112.0  # of the matrix of a panel, its longer side
STRIP = 5.0  # the coloured line above it
LEAST = 2.0  # width or height of a matrix's cell
NAMED = 80  # words of a side that are named; of many more, the rest is counted


@dataclass(frozen=True, eq=False)
class Panel:
    """One head: its map, and the facts that stand above it."""

    layer: int
    head: int
    picture: Picture
    entropy: float
    eos: float
    scores: HeadScores | None = None

    @property
    def fact(self) -> float:
        """What its strip is coloured by: the alignment error where gold is known, else the entropy. 0 is the best."""
        return self.entropy if self.scores is None else self.scores.aer

    def lines(self) -> tuple[str, str]:
        """Which head it is, and its facts."""
        facts = f"entropy {self.entropy:.2f} · <eos> {self.eos:.2f}"
        if self.scores is None:
            return f"layer {self.layer} · head {self.head}", facts
        error = f"AER {100 * self.scores.aer:.0f}% ({self.scores.reading})"
        return f"layer {self.layer} · head {self.head} · {error}", facts


@dataclass(frozen=True)
class Atlas:
    """Panels in the order of layers and heads."""

    title: str
    panels: tuple[Panel, ...]
    notes: tuple[str, ...]


def atlas_of(
    record: AttentionRecord, kind: str | None = None, scores: Mapping[tuple[int, int], HeadScores] | None = None
) -> Atlas:
    """Every head of one kind; `scores` are of cross-attention, by layer and head."""
    chosen = record.map_of(kind).kind
    if chosen == "pooling":
        raise UsageError("an atlas is of many maps of many words; a classifier's pooling has one row")
    panels = []
    for one in sorted((one for one in record.maps if one.kind == chosen), key=lambda one: one.layer):
        for head in range(one.heads):
            entropy, eos = mean_facts(record, chosen, one.layer, head)
            found = scores.get((one.layer, head)) if scores is not None and chosen == "cross" else None
            panels.append(Panel(one.layer, head, picture_of(record, chosen, one.layer, head), entropy, eos, found))
    what = "alignment error (AER) of its better reading" if panels[0].scores else "entropy / ln n of its rows"
    return Atlas(
        title=f"{chosen} attention, every head: {record.source or ' '.join(record.source_tokens)}",
        panels=tuple(panels),
        notes=(
            f"Rows: {record.reading_of(record.map_of(chosen))}, downwards; columns are the words looked at.",
            f"The line above each map is coloured by the {what}, 0 to 1.",
            "entropy: of a row, divided by ln n; <eos>: the weight on it; both on average over the rows.",
            f"Down: {_named(panels[0].picture.rows)}",
            f"Across: {_named(panels[0].picture.columns)}",
        ),
    )


def _named(tokens: Sequence[str]) -> str:
    """The words along a side, which small maps have no room for."""
    left = len(tokens) - NAMED
    return " · ".join(tokens[:NAMED]) + (f" · … ({left} more)" if left > 0 else "")


def draw_atlas(atlas: Atlas) -> Drawing:
    """The panels as a figure: layers below each other, heads beside each other."""
    layers = sorted({panel.layer for panel in atlas.panels})
    R, C = atlas.panels[0].picture.cells.shape
    size = max(LEAST, SIDE / max(R, C))
    room = max(C * size, max(width_of(line, NOTE) for panel in atlas.panels for line in panel.lines())) + 3 * GAP
    tall = R * size + 2 * (NOTE + 4) + STRIP + 4 * GAP
    top = MARGIN + TITLE + 2 * GAP
    cells: list[Cells] = []
    heads = max(panel.head for panel in atlas.panels) + 1
    title = shortened(atlas.title, TITLE, max(heads * room, NARROWEST))
    texts = [Text(MARGIN, MARGIN + TITLE / 2, title, TITLE, bold=True, full=atlas.title)]
    for panel in atlas.panels:
        x, y = MARGIN + panel.head * room, top + layers.index(panel.layer) * tall
        cells += _panel(panel, x, y, size)
        texts += _lines(panel, x, y)
    scale, ticks = colour_scale(MARGIN + heads * room, top + 2 * (NOTE + 4), 90.0, _unit())
    width = max(scale.x + 60.0, 2 * MARGIN + width_of(title, TITLE))
    notes = list(below(atlas.notes, top + len(layers) * tall, width))
    return Drawing(width, notes[-1].y + NOTE + GAP, atlas.title, (*cells, scale), (*texts, *ticks, *notes))


def _lines(panel: Panel, x: float, y: float) -> Iterator[Text]:
    first, second = panel.lines()
    yield Text(x, y + NOTE / 2, first, NOTE, bold=True)
    yield Text(x, y + 1.5 * NOTE + 4, second, NOTE, colour=SOFT)


def _panel(panel: Panel, x: float, y: float, size: float) -> Iterator[Cells]:
    """The line that is coloured by a fact, and the map below it."""
    y += 2 * (NOTE + 4) + 2
    C = panel.picture.cells.shape[1]
    name = f"layer-{panel.layer}-head-{panel.head}"
    fact = np.array([[panel.fact]])
    yield Cells(x, y, (C * size, STRIP), fact, 1.0, False, (name,), ("",), f"{name} fact")
    picture = panel.picture
    yield Cells(x, y + STRIP + 2, (size, size), picture.cells, 1.0, False, picture.rows, picture.columns, name)


def _unit() -> Picture:
    """Weights and facts share one scale, from 0 to 1."""
    return Picture("", ("",), ("",), np.ones((1, 1)))
