"""The page in a file, in a real browser: numbers, colours, keys, sizes, hostile tokens, files made of it."""

import csv
import io
import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest
from browser import NEEDS_BROWSER, cells_by_keys, colour_at, texts, values

from nungil.inspection.colours import colours_of
from nungil.inspection.links import links_of
from nungil.inspection.page import RAMPS, pictures_page, to_page
from nungil.inspection.picture import Picture
from nungil.inspection.record import AttentionMap, AttentionRecord
from nungil.inspection.saving import to_csv
from nungil.inspection.steps import Candidate, Step
from nungil.pipeline.classifier import told_by_both

pytestmark = NEEDS_BROWSER
HOSTILE = ["</script><img src=x onerror=alert(1)>", "@@DATA@@", "<!--", "\u2028", "a&b", "'\"\\", "\x1b\n"]
SHOWN = ["</script><img src=x onerror=alert(1)>", "@@DATA@@", "<!--", "\\u2028", "a&b", "'\"\\", "\\x1b\\n"]


@pytest.fixture
def shown(visits, tmp_path):
    """A page of this text, opened from a file."""

    def show(text, name="page.html", **options):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return visits.open_map((tmp_path / name).as_uri(), **options)

    return show


def hostile():
    weights = np.random.default_rng(3).dirichlet(np.ones(len(HOSTILE)), size=2)
    return AttentionRecord.from_matrix(weights, HOSTILE, ["<b>눈길</b>", "@@TITLE@@"])


def heads():
    """Two layers of three heads, and self-attention; pieces of words."""
    random = np.random.default_rng(5)
    maps = [AttentionMap("cross", layer, random.dirichlet(np.ones(5), size=(3, 4))) for layer in (0, 1)]
    maps.append(AttentionMap("self", 0, random.dirichlet(np.ones(5), size=(2, 5))))
    return AttentionRecord(["<sos>", "▁I", "▁sn", "ow", "<eos>"], ["▁나는", "▁눈", "을", "<eos>"], maps, score=-1.25)


def test_each_number_and_its_colour_cell_by_cell(shown):
    page, record = shown(to_page(hostile())), hostile().picture()
    np.testing.assert_allclose(cells_by_keys(page), record.cells, atol=1e-6)
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    assert values(page, "#map [role=gridcell] data") == pytest.approx([record.cells[1, -1]], abs=1e-6)
    assert page.get_attribute("#map [role=row]", "aria-rowindex") == "2"
    expected = colours_of(record.cells, record.high, signed=False)
    for row, column in np.ndindex(record.cells.shape):
        assert colour_at(page, row, column) == pytest.approx(expected[row, column].tolist(), abs=1), (row, column)


def test_hostile_tokens_are_letters(shown):
    page = shown(to_page(hostile()))
    assert texts(page, "#map .columns span") == SHOWN
    assert texts(page, "#map .rows span") == ["<b>눈길</b>", "@@TITLE@@"]
    assert page.eval_on_selector_all("img, b b, iframe", "all => all.length") == 0
    assert page.title() == f"{' '.join(SHOWN)} · nungil"
    page.hover("#map .cells", position={"x": 3, "y": 3})
    assert page.inner_text("#map .says").startswith(f"<b>눈길</b> looks at {SHOWN[0]}: ")


def test_a_matrix_that_is_not_symmetric_is_not_turned(shown):
    weights = np.zeros((3, 5))
    weights[0, 4], weights[1, 0], weights[2, 2] = 1.0, 0.5, 0.25
    page = shown(to_page(AttentionRecord.from_matrix(weights, list("abcde"), list("xyz"))))
    dark = {(row, column): sum(colour_at(page, row, column)) for row, column in np.ndindex(3, 5)}
    assert sorted(dark, key=dark.get)[:3] == [(0, 4), (1, 0), (2, 2)]
    assert page.eval_on_selector_all("#map .columns span", "all => all.map(one => one.textContent).join('')") == "abcde"


@pytest.mark.parametrize(("scheme", "ramp"), [("light", "signed"), ("dark", "signed at night")])
def test_both_signs_have_their_colours_by_day_and_by_night(shown, scheme, ramp):
    picture = Picture("difference", ("a",), ("x", "y", "z"), np.array([[-0.5, 0.0, 0.5]]), ("Lens: raw.",), signed=True)
    page = shown(pictures_page([picture]), color_scheme=scheme)
    colours = RAMPS[ramp]
    assert [colour_at(page, 0, column) for column in range(3)] == [list(colours[place]) for place in (0, 3, -1)]
    assert texts(page, "#map .notes dt") == ["Colours", "Lens"]
    assert "−0.5" in page.inner_text("#map .scale")


def test_what_is_said_of_a_cell(shown):
    step = Step(token="눈", probability=0.5, candidates=(Candidate(token="<i>", probability=0.25),))
    record = replace(AttentionRecord.from_matrix([[0.25, 0.75]], ["a", "b"], ["눈"]), steps=(step,))
    page = shown(to_page(record))
    page.focus("#map [role=grid]")
    said = "눈 looks at a: 0.2500 · row sum 1.000 · entropy 0.81 of ln n · p 0.5000, else <i> 0.2500"
    assert page.inner_text("#map .says") == said
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#map .says").startswith("눈 looks at b: 0.7500")
    assert page.get_attribute("#map .says", "aria-live") == "polite"


def test_layer_head_reading_and_words(shown):
    record, page = heads(), shown(to_page(heads()))
    np.testing.assert_allclose(cells_by_keys(page), record.select("cross", 1), atol=1e-6)
    page.click("[data-choice='layer 0']")
    page.click("[data-choice='head 2']")
    np.testing.assert_allclose(cells_by_keys(page), record.select("cross", 0, 2), atol=1e-6)
    page.click("[data-choice='reading input']")
    assert texts(page, "#map .rows span") == ["<sos>", "▁나는", "▁눈", "을"]
    assert "row t is the word just put in" in page.inner_text("#map .notes")
    page.click("[data-choice='reading output']")
    page.click("[data-choice='unit words']")
    assert texts(page, "#map .rows span") == ["나는", "눈을", "<eos>"]
    np.testing.assert_allclose(cells_by_keys(page), record.merged().select("cross", 0, 2), atol=1e-6)
    page.click("[data-choice='unit ']")
    page.select_option("[data-choice=attention]", "self")
    np.testing.assert_allclose(cells_by_keys(page), record.select("self", 0), atol=1e-6)
    assert "self-attention" in page.inner_text("#map .told")


@pytest.mark.parametrize(
    "tokens",
    [["[CLS]", "snow", "##ing", "##", "[SEP]"], ["<s>", "Snow", "ing", "Ġheav", "ily", "</s>"], ["▁ro", "ad", "</s>"]],
)
def test_pieces_of_other_peoples_tokenizers_become_the_same_words(shown, tokens):
    record = AttentionRecord.from_matrix([[1 / len(tokens)] * len(tokens)], tokens, ["눈"])
    page = shown(to_page(record))
    page.click("[data-choice='unit words']")
    assert texts(page, "#map .columns span") == list(record.merged().source_tokens)
    np.testing.assert_allclose(cells_by_keys(page), record.merged().select("cross", 0), atol=1e-6)


def test_words_are_linked_by_pointing_at_them(shown):
    record, page = heads(), shown(to_page(heads()))
    assert texts(page, ".stage .source .word") == ["I", "snow"]
    assert texts(page, ".stage .target .word") == ["나는", "눈을"]
    page.hover(".stage .target .word >> nth=1")
    words = record.without_marks().merged().select("cross", 1)
    width = "all => all.map(one => Number(one.getAttribute('stroke-width')))"
    active = page.eval_on_selector_all(".links .active", width)
    assert active == pytest.approx([1 + 4 * weight for weight in words[1] if weight >= 0.06], abs=0.01)
    assert page.eval_on_selector(".stage .target .word >> nth=1", "one => one.classList.contains('lit')")
    assert page.eval_on_selector("#map .cells", "one => one.classList.contains('row-hint')")
    page.hover(".stage .source .word >> nth=0")
    assert page.eval_on_selector("#map .cells", "one => one.classList.contains('column-hint')")


@pytest.mark.parametrize("size", [10, 100, 512])
def test_maps_of_many_words_stay_usable(shown, size):
    weights = np.random.default_rng(size).dirichlet(np.ones(size), size=size)
    words = [f"word{place}" for place in range(size)]
    page = shown(to_page(AttentionRecord.from_matrix(weights, words, words)))
    took = page.evaluate("""async () => {
      const cells = document.querySelector("#map .cells"), box = cells.getBoundingClientRect(), times = [];
      for (let place = 1; place <= 12; place++) {
        const at = { clientX: box.left + box.width * place / 13, clientY: box.top + box.height * place / 13 };
        const begun = performance.now();
        cells.dispatchEvent(new MouseEvent("mousemove", { ...at, bubbles: true }));
        document.body.getBoundingClientRect();
        times.push(performance.now() - begun);
        await new Promise(requestAnimationFrame);
      }
      return times.sort((one, other) => one - other)[6];
    }""")
    assert took < 50
    page.focus("#map [role=grid]")
    page.keyboard.press("Control+End")
    assert values(page, "#map [role=gridcell] data")[0] == pytest.approx(weights[-1, -1], abs=1e-6)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("width", [360, 900, 1600])
def test_no_width_is_too_small(shown, width):
    page = shown(to_page(heads()), width=width)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.get_attribute(".stage", "data-shape") == "lines"


def test_files_taken_away_are_the_record(shown, tmp_path):
    record, page = heads(), shown(to_page(heads()))

    def take(ending):
        with page.expect_download() as download:
            page.click(f"[data-take='{ending}']")
        assert download.value.suggested_filename == f"nungil-i-snow.{ending}"
        download.value.save_as(tmp_path / f"taken.{ending}")
        return tmp_path / f"taken.{ending}"

    again = AttentionRecord.load(take("json"))
    for one, other in zip(sorted(again.maps, key=str), sorted(record.maps, key=str), strict=True):
        np.testing.assert_allclose(one.weights, other.weights, rtol=1e-6)
    assert replace(again, maps=record.maps, source="", target="") == record
    both = to_csv(record), take("csv").read_text("utf-8")
    mine, theirs = (list(csv.DictReader(io.StringIO(text))) for text in both)
    found = {tuple(line.values())[:-1]: float(line["weight"]) for line in theirs}
    assert found == pytest.approx({tuple(line.values())[:-1]: float(line["weight"]) for line in mine}, rel=1e-6)
    assert take("links.txt").read_text("utf-8") == f"{links_of(record)}\n"
    drawn = ElementTree.parse(take("svg")).getroot().iter("{http://www.w3.org/2000/svg}rect")
    cells = [float(one.get("data-value")) for one in drawn if one.get("data-value")]
    np.testing.assert_allclose(np.reshape(cells, (4, 5)), record.select("cross", 1), atol=1e-6)
    assert take("png").read_bytes().startswith(b"\x89PNG")
    copy = shown(take("html").read_text("utf-8"), "copy.html")
    np.testing.assert_allclose(cells_by_keys(copy), record.select("cross", 1), atol=1e-6)


def test_a_classifier_in_a_file_shows_weights_and_labels(shown):
    weights = np.array([[[0.125, 0.5, 0.375]]])
    record = AttentionRecord(["눈이", "내렸다", "."], ["snow"], [AttentionMap("pooling", 0, weights)])
    page = shown(to_page(record, {"eye": 0.25, "snow": 0.75}))
    assert values(page, "#map [role=gridcell] data") == pytest.approx(weights.ravel().tolist())
    assert texts(page, ".probability .name") == ["snow", "eye"]
    assert values(page, ".probability data") == [0.75, 0.25]
    assert page.eval_on_selector_all("#erase button", "all => all.length") == 0
    page.focus("#map [role=gridcell] >> nth=0")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#map .says").startswith("내렸다: 0.5000")


def test_a_second_reader_that_no_map_is_of_is_owned_up_to(shown):
    weights = np.array([[[0.5, 0.5]]])
    told = "the label is by the mean of two; <b>n-grams</b>, which no map shows, 0.25."
    record = AttentionRecord(["눈이", "내렸다"], ["snow"], [AttentionMap("pooling", 0, weights)], readers=told)
    page = shown(to_page(record))
    assert told in page.inner_text("#map .notes")
    alone = shown(to_page(replace(record, readers="")))
    assert "Readers" not in alone.inner_text("#map .notes")


def test_who_decided_is_told_in_korean_too(shown):
    told = told_by_both(0.25, 0.75)
    record = AttentionRecord(["눈이"], ["snow"], [AttentionMap("pooling", 0, np.array([[[1.0]]]))], readers=told)
    page = shown(to_page(record))
    assert told in page.inner_text("#map .notes")
    page.click("[data-switch=language-ko]")
    assert "이 맵의 어텐션이 준 확률은 0.25, 맵에 나타나지 않는 n-그램이 준 확률은 0.75입니다." in page.inner_text(
        "#map .notes"
    )


def test_parts_that_need_a_model_are_not_there_or_say_so(shown):
    page = shown(to_page(heads()))
    for part in ("edit", "move", "ledger", "trust", "erase"):
        assert not page.is_visible(f"#{part}"), part
    assert "nungil serve" in page.inner_text(".heading")
    page.click("#map .cells", position={"x": 3, "y": 3})
    assert "needs the model" in page.inner_text("#ledger")


def test_a_notebook_shows_it_in_a_frame(visits, tmp_path):
    (tmp_path / "notebook.html").write_text(f"<!doctype html><body>{heads()._repr_html_()}</body>", encoding="utf-8")
    page = visits.open((tmp_path / "notebook.html").as_uri())
    frame = page.frame_locator("iframe")
    frame.locator("#map [role=grid]").focus()
    assert re.match("▁나는 looks at <sos>: ", frame.locator("#map .says").inner_text())


def test_korean_and_dark(shown):
    page = shown(to_page(heads()), locale="ko-KR", color_scheme="dark")
    assert page.get_attribute("html", "lang") == "ko"
    assert page.inner_text("#map h2") == "어텐션 맵"
    assert page.get_attribute("html", "data-theme") == "dark"
    page.click("[data-switch=language-en]")
    page.click("[data-switch=theme-light]")
    assert page.inner_text("#map h2") == "The map"
    assert page.get_attribute("html", "data-theme") == "light"
    assert page.evaluate("Object.keys(localStorage).sort()") == ["nungil language", "nungil theme"]


def test_words_are_spelt_as_the_text_has_them(shown):
    """A letter that was cut into bytes is one letter again, however its bytes are named; jamo are syllables."""
    named = [
        "▁a",
        "▁",
        "雪‹1/3›",
        "雪‹2/3›",
        "雪‹3/3›",
        "▁",
        "<0xE9>",
        "<0x9B>",
        "<0xAA>",
        "▁",
        "<0xE9>",
        "▁내",
        "ᄅ",
        "ᅵ",
        "ᆫ다",
    ]
    weights = np.full((1, len(named)), 1 / len(named))
    page = shown(to_page(AttentionRecord.from_matrix(weights, named, ["눈"])))
    assert texts(page, "#gaze .source .word") == ["a", "雪", "雪", "<0xE9>", "내린다"]
