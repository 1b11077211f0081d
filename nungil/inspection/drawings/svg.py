"""A drawing as SVG: plain text, no fonts and nothing asked of anybody; every cell has its exact number. No torch."""

from collections.abc import Iterator
from html import escape

from nungil.inspection.colours import Colour, colours_of, hex_of
from nungil.inspection.drawings.drawing import Cells, Drawing, Rule, Text
from nungil.inspection.layout import visible

FONTS = (
    "system-ui, -apple-system, 'Segoe UI', 'Apple SD Gothic Neo', 'Malgun Gothic', 'Noto Sans KR', "
    "'Noto Sans CJK KR', NanumGothic, sans-serif"
)


def to_svg(drawing: Drawing) -> str:
    """The whole file. `data-value` of a cell has every digit; pointing at it shows who looks at whom, and how much."""
    width, height = _number(drawing.width), _number(drawing.height)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'font-family="{FONTS}" role="img">',
        f"<title>{_text(drawing.about)}</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for cells in drawing.cells:
        lines += _cells(cells)
    lines += [_rule(rule) for rule in drawing.rules]
    lines += [_letters(text) for text in drawing.texts]
    return "\n".join([*lines, "</svg>"]) + "\n"


def _cells(cells: Cells) -> Iterator[str]:
    """A rectangle for each. They overlap by a hair, so that no paper shines through between them."""
    yield f'<g class="{_text(cells.name)}" shape-rendering="crispEdges">'
    across, down = cells.size
    size = f'width="{_number(across)}" height="{_number(down)}"'
    colours = colours_of(cells.values, cells.high, cells.signed).astype(int) @ (65536, 256, 1)
    names = [_text(column) for column in cells.columns]
    places = [_number(cells.x + column * across) for column in range(len(names))]
    for row, (values, shades) in enumerate(zip(cells.values.tolist(), colours.tolist(), strict=True)):
        y, name = _number(cells.y + row * down), _text(cells.rows[row])
        for column, (value, shade) in enumerate(zip(values, shades, strict=True)):
            yield (
                f'<rect x="{places[column]}" y="{y}" {size} fill="#{shade:06x}" data-row="{row}" '
                f'data-column="{column}" data-value="{value!r}">'
                f"<title>{name} → {names[column]}: {value:.4g}</title></rect>"
            )
    yield "</g>"


def _letters(text: Text) -> str:
    x, y = _number(text.x), _number(text.y)
    turn = f' transform="rotate({-text.turned:g} {x} {y})"' if text.turned else ""
    anchor = f' text-anchor="{text.anchor}"' if text.anchor != "start" else ""
    bold = ' font-weight="bold"' if text.bold else ""
    whole = f"<title>{_text(text.full)}</title>" if text.full not in ("", text.text) else ""
    return (
        f'<text x="{x}" y="{y}" font-size="{text.size:g}" dominant-baseline="central"{anchor}{bold}'
        f'{_fill(text.colour)}{turn} xml:space="preserve">{_text(text.text)}{whole}</text>'
    )


def _rule(rule: Rule) -> str:
    ends = f'x1="{_number(rule.x)}" y1="{_number(rule.y)}" x2="{_number(rule.to_x)}" y2="{_number(rule.to_y)}"'
    return f'<line {ends} stroke="{hex_of(rule.colour)}" stroke-width="{rule.width:g}"/>'


def _fill(colour: Colour) -> str:
    return f' fill="{hex_of(colour)}"'


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _text(text: str) -> str:
    """Text that is text to any reader of XML, whatever is in it."""
    return escape(visible(text))
