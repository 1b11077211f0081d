"""Drawings: files are parsed and compared with the picture cell by cell; figures are probed pixel by pixel."""

import csv
import io
import itertools
import shutil
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from PIL import Image

from nungil.errors import ResourceError, ShapeError, UsageError
from nungil.inspection.colours import SIGNED, WEIGHTS, colours_of, luminance
from nungil.inspection.drawings.chart import chart, number_in
from nungil.inspection.drawings.drawing import shortened, width_of, wrapped
from nungil.inspection.drawings.fonts import Font, fonts_for, installed, signs_without_font, writable
from nungil.inspection.drawings.plot import to_figure
from nungil.inspection.drawings.svg import to_svg
from nungil.inspection.picture import Picture
from nungil.inspection.record import AttentionRecord
from nungil.inspection.saving import picture_to_csv, save_picture, size_of, to_csv, to_json_text

R, C = 3, 5
ROWS, COLUMNS = ("나는", "눈을", "<eos>"), ("I", "<script>alert(1)</script>", 'a"b&c', "like,\nsnow", "extraordinarily")
LATIN = Font("DejaVu Sans", lambda: range(32, 0x3000))
KOREAN = Font("NanumGothic", lambda: [*range(32, 127), *range(0xAC00, 0xD7A4)])


def picture(signed=False, rows=ROWS, columns=COLUMNS):
    cells = np.random.default_rng(3).dirichlet(np.full(len(columns), 0.3), size=len(rows))
    cells = cells - np.roll(cells, 2, axis=1) if signed else cells
    return Picture("cross attention · layer 0", rows, columns, cells, ("Reading: row t.", "Merging: none."), signed)


def latin(signed=False):
    return picture(signed, ("one", "two", "three"), ("a", "bb", "ccc", "dddd", "eeeee"))


# Pictures


def test_what_cannot_be_drawn_is_refused_by_name():
    with pytest.raises(
        UsageError, match=r"t: the cell of row 0, column 1 \(from 0\) is nan; only numbers can be drawn"
    ):
        Picture("t", ("a",), ("b", "c"), np.array([[1.0, np.nan]]))
    with pytest.raises(ShapeError, match=r"t: cells \(2, 1\) do not fit 1 rows and 2 columns"):
        Picture("t", ("a",), ("b", "c"), np.ones((2, 1)))
    with pytest.raises(ShapeError, match="bars are for one row, not for 2"):
        Picture("t", ("a", "b"), ("c",), np.ones((2, 1)), bars=True)


@pytest.mark.parametrize(
    ("largest", "signed", "high"),
    [
        (1.0, False, 1.0),
        (0.5, False, 1.0),
        (0.3, False, 0.5),
        (0.011, False, 0.02),
        (3.5, False, 5.0),
        (0.0, True, 1.0),
        (-0.7, True, 1.0),
        (0.2, True, 0.2),
        (-12.0, True, 20.0),
    ],
)
def test_the_scale_ends_at_a_round_number(largest, signed, high):
    assert Picture("t", ("a",), ("b",), np.array([[largest]]), signed=signed).high == pytest.approx(high)


def test_colours_are_the_anchors_at_their_places_and_only_get_darker():
    steps = np.linspace(0, 1, len(WEIGHTS))
    assert colours_of(steps, 1.0, signed=False).tolist() == [list(colour) for colour in WEIGHTS]
    assert colours_of(np.linspace(-3, 3, len(SIGNED)), 3.0, signed=True).tolist() == [list(one) for one in SIGNED]
    fine = luminance(colours_of(np.linspace(0, 1, 500), 1.0, signed=False))
    assert (np.diff(fine) <= 1e-3).all(), "a print in grey must tell the order"
    assert fine[0] - fine[-1] > 0.75
    assert colours_of(np.array([7.0, -7.0]), 1.0, signed=False).tolist() == [list(WEIGHTS[-1]), list(WEIGHTS[0])]


# SVG


def cells_of(svg, group="map"):
    root = ElementTree.fromstring(svg)
    [found] = [part for part in root.iter() if part.get("class") == group]
    return list(found)


@pytest.mark.parametrize("signed", [False, True])
def test_every_cell_of_an_svg_is_that_of_the_picture(signed):
    shown = picture(signed)
    cells = cells_of(to_svg(chart(shown)))
    assert len(cells) == R * C
    colours = colours_of(shown.cells, shown.high, signed)
    for cell in cells:
        row, column = int(cell.get("data-row")), int(cell.get("data-column"))
        assert float(cell.get("data-value")) == shown.cells[row, column]
        assert cell.get("fill") == "#" + bytes(colours[row, column].tolist()).hex()
        # columns go to the right and rows down: a turned matrix cannot pass
        first = cells[0]
        assert float(cell.get("x")) - float(first.get("x")) == pytest.approx(
            column * float(first.get("width")), abs=0.02
        )
        assert float(cell.get("y")) - float(first.get("y")) == pytest.approx(row * float(first.get("height")), abs=0.02)
    title = cells[1][0].text
    assert title == f"나는 → <script>alert(1)</script>: {shown.cells[0, 1]:.4g}"


def test_an_emoji_made_of_several_stays_one_in_an_svg():
    svg = to_svg(chart(picture(rows=("👩\u200d💻", "a\u200db", "c"))))
    assert ">👩\u200d💻</text>" in svg
    assert ">a\\u200db</text>" in svg, "a joiner that joins nothing that can be seen is written out"


def test_an_svg_has_its_words_as_text_its_scale_and_its_notes():
    svg = to_svg(chart(picture()))
    assert "<script" not in svg
    texts = ["".join(part.itertext()) for part in ElementTree.fromstring(svg).iter() if part.tag.endswith("text")]
    for expected in (
        *ROWS,
        "cross attention · layer 0",
        "Reading: row t.",
        "0",
        "0.25",
        "0.5",
        "1",
        'a"b&c',
        "like,\\nsnow",
    ):
        assert expected in texts, expected
    scale = [float(cell.get("data-value")) for cell in cells_of(svg, "scale")]
    assert scale == sorted(scale, reverse=True)
    assert (scale[0], scale[-1]) == (1.0, 0.0)
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")


@pytest.mark.parametrize("size", [4, 16, 60, 200])
def test_labels_stand_on_nothing_and_inside_the_drawing(size):
    words = tuple(f"{'extraordinarily눈길'[: 3 + place % 14]}{place}" for place in range(size))
    drawn = chart(picture(rows=words, columns=words))
    matrix = drawn.cells[0]
    down = [text for text in drawn.texts if text.anchor == "end"]
    across = [text for text in drawn.texts if text.turned]
    for one, other in itertools.pairwise(down):
        assert other.y - one.y >= 10.9
    for one, other in itertools.pairwise(across):
        assert (other.x - one.x) * np.sin(np.radians(60)) >= 9.4  # the distance of parallel lines of letters
    for text in down:
        assert text.x - width_of(text.text, text.size) >= 0
    for text in across:
        assert text.y - width_of(text.text, text.size) * np.sin(np.radians(60)) > 24, "below the title"
        assert text.x + width_of(text.text, text.size) * np.cos(np.radians(60)) <= drawn.cells[1].x, "left of the scale"
    assert matrix.x + size * matrix.size[0] < drawn.width
    assert all(text.y < drawn.height for text in drawn.texts)


def test_text_is_measured_cut_and_wrapped():
    assert width_of("ab눈", 10) == pytest.approx(22)
    assert shortened("abcdef", 10, 36) == "abcdef"
    assert shortened("abcdefg", 10, 36) == "abcd…"
    assert wrapped("aa bb cccccccc d", 10, 30) == ["aa bb", "ccccc", "ccc d"]


@pytest.mark.parametrize(
    ("value", "high", "text"),
    [
        (0.0, 1, ""),
        (0.001, 1, "·"),
        (0.31, 1, ".31"),
        (0.999, 1, "1"),
        (-0.05, 1, "−.05"),
        (12.345, 20, "12.3"),
        (0.04, 20, "·"),
        (-4.8, 5, "−4.80"),
        (-0.0004, 0.001, "−.40"),
        (-4e-6, 0.001, "·"),
        (-1e-09, 1.0, "·"),
    ],
)
def test_numbers_in_cells_are_short(value, high, text):
    assert number_in(value, high) == text


def test_labels_beside_each_other_have_a_gap():
    def heading(word):
        columns = ("a", word, word)
        drawn = chart(Picture("map", ("row",), columns, np.full((1, 3), 1 / 3)))
        return next(text for text in drawn.texts if text.text == word)

    assert heading("woman").turned == 0
    assert heading("bought").turned == 60  # as wide as its column, to a hair


@pytest.mark.parametrize("largest", [7.1e-6, 0.0071, 0.8, 4.81, 48.1, 7.3e4])
def test_numbers_stay_in_their_cells_whatever_their_size(largest):
    """Also where others of them are far smaller than the largest."""
    cells = largest * np.array([[1.0, -1.0, 0.5, -0.011, -1.2345e-4] * 6])
    tokens = tuple("abcdefghijklmnopqrstuvwxyzABCD")
    drawn = chart(Picture("difference", ("row",), tokens, cells, (), signed=True))
    matrix = drawn.cells[0]
    inside = [text for text in drawn.texts if text.y == matrix.y + matrix.size[1] / 2 and text.x > matrix.x]
    inside = [text for text in inside if text.size == 8.5]
    assert len(inside) == 30
    assert max(width_of(text.text, text.size) for text in inside) <= matrix.size[0]
    assert all("e" not in text.text for text in inside)
    unit = next((text.text for text in drawn.texts if text.text.startswith("Numbers in the cells")), None)
    assert unit == {
        7.1e-6: "Numbers in the cells: × 1e-05.",
        0.0071: "Numbers in the cells: × 0.01.",
        7.3e4: "Numbers in the cells: × 100000.",
    }.get(largest)
    factor = {7.1e-6: 1e-5, 0.0071: 1e-2, 7.3e4: 1e5}.get(largest, 1)
    assert float(inside[0].text) * factor == pytest.approx(largest, rel=0.01)


# PNG and PDF


def pixel(image, drawn, row, column):
    """A pixel near the upper left corner of a cell, where no number stands."""
    matrix = drawn.cells[0]
    scale = image.width / drawn.width
    x, y = matrix.x + (column + 0.15) * matrix.size[0], matrix.y + (row + 0.15) * matrix.size[1]
    return image.getpixel((int(x * scale), int(y * scale)))


@pytest.mark.parametrize("signed", [False, True])
def test_the_pixels_of_a_png_are_the_cells_of_the_picture(signed):
    shown = latin(signed)
    drawn = chart(shown)
    image = Image.open(io.BytesIO(to_figure(drawn, "png"))).convert("RGB")
    assert image.width == pytest.approx(2 * drawn.width, abs=2)
    colours = colours_of(shown.cells, shown.high, signed)
    for row in range(R):
        for column in range(C):
            assert pixel(image, drawn, row, column) == pytest.approx(tuple(colours[row, column]), abs=1), (row, column)


def test_the_same_picture_is_the_same_bytes():
    for form in ("png", "pdf"):
        assert to_figure(chart(latin()), form) == to_figure(chart(latin()), form)
    assert to_figure(chart(latin()), "pdf").startswith(b"%PDF-")


def test_a_missing_font_is_named_and_nothing_is_drawn():
    with pytest.raises(ResourceError) as caught:
        to_figure(chart(picture()), "png", [LATIN])
    said = str(caught.value)
    assert said.startswith(
        "no installed font has the letters 나 눈 는 을: a font for Korean (NanumGothic, Noto Sans CJK KR"
    )
    assert "apt-get install fonts-nanum" in said
    assert "--svg or --html" in said


def test_fonts_are_chosen_by_the_letters_they_have():
    assert fonts_for("snow", [KOREAN, LATIN]) == ["DejaVu Sans"]
    assert fonts_for("snow 눈", [KOREAN, LATIN]) == ["DejaVu Sans", "NanumGothic"]
    other = Font("Zapf", lambda: range(0xAC00, 0xD7A4))
    assert fonts_for("눈", [other, KOREAN, LATIN]) == ["DejaVu Sans", "NanumGothic"], "a known one before any other"
    assert fonts_for("눈", [other, LATIN]) == ["DejaVu Sans", "Zapf"]
    signs = signs_without_font("눈 ❄ 😀 漢", [KOREAN, LATIN])
    assert signs == {"😀"}, "a letter is never replaced: its font is asked for"
    assert writable("눈 😀", signs) == "눈 \\U0001f600"
    assert writable("눈 ￭.", signs_without_font("눈 ￭.", [KOREAN, LATIN])) == "눈 ▪.", "a sign that looks the same"


def test_a_font_that_only_draws_boxes_has_no_letters():
    assert not [font.name for font in installed() if font.name.startswith("Last Resort")]
    assert not [font.name for font in installed() if 0x10FFFD in font.letters()], "a letter of nobody's"


def test_a_font_that_was_installed_since_the_first_figure_is_found(tmp_path, monkeypatch):
    from matplotlib import font_manager

    new, broken = tmp_path / "new.ttf", tmp_path / "broken.ttf"
    shutil.copy(font_manager.findfont("DejaVu Sans"), new)
    broken.write_bytes(b"no font")
    monkeypatch.setattr(font_manager, "findSystemFonts", lambda: [str(new), str(broken)])
    monkeypatch.setattr(font_manager.fontManager, "ttflist", list(font_manager.fontManager.ttflist))
    before = len(installed.__wrapped__())
    assert [entry.fname for entry in font_manager.fontManager.ttflist][-1] == str(new)
    assert len(installed.__wrapped__()) == before, "once"


def test_signs_that_no_font_has_are_given_the_room_that_their_numbers_need(tmp_path):
    emoji = picture(rows=("a", "👩\u200d👩\u200d👧\U0001f3fd", "b"), columns=("a", "bb", "ccc", "dddd", "👍🏽"))
    save_picture(emoji, tmp_path / "emoji.png")
    image = np.asarray(Image.open(tmp_path / "emoji.png").convert("L"))
    assert image[:, :20].min() == 255, "the longest name of a row begins inside the figure, not left of it"
    assert image[:20].min() == 255, "and so does that of a column"


def test_without_matplotlib_the_way_to_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(
        ResourceError, match=r"a \.png needs matplotlib.*pip install 'nungil\[plot\]'; --svg needs nothing"
    ):
        to_figure(chart(latin()), "png")


# CSV, JSON, sizes


def test_a_csv_of_a_picture_has_a_line_for_each_cell():
    shown = picture(signed=True)
    rows = list(csv.DictReader(io.StringIO(picture_to_csv(shown), newline="")))
    assert len(rows) == R * C
    for line in rows:
        row, column = int(line["row"]), int(line["column"])
        assert float(line["value"]) == shown.cells[row, column]
        assert (line["row_token"], line["column_token"]) == (ROWS[row], COLUMNS[column])


def test_a_picture_is_saved_by_its_ending(tmp_path):
    for ending in ("svg", "png", "pdf", "csv", "html"):
        save_picture(latin(), tmp_path / "new" / f"p.{ending}")
        assert (tmp_path / "new" / f"p.{ending}").stat().st_size > 100
    assert (tmp_path / "new" / "p.svg").read_text() == to_svg(chart(latin()))
    with pytest.raises(UsageError, match=r"a picture cannot be saved with the ending \.gif; there is \.svg, \.png"):
        save_picture(latin(), tmp_path / "p.gif")


def test_sizes_are_known_before_anything_is_written():
    size = 60
    words = [f"word{place}" for place in range(size)]
    record = AttentionRecord.from_matrix(np.random.default_rng(1).dirichlet(np.ones(size), (4, size)), words, words)
    for ending, text in (
        (".csv", to_csv(record)),
        (".json", to_json_text(record)),
        (".svg", to_svg(chart(record.picture()))),
    ):
        assert size_of(record, ending) == pytest.approx(len(text.encode()), rel=0.3), ending
    from nungil.inspection.page import to_page

    empty = len(to_page(AttentionRecord.from_matrix([[1.0]], ["a"], ["b"])))
    assert size_of(record, ".html") == pytest.approx(len(to_page(record)) - empty, rel=0.3)
