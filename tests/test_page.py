"""The page: one file, nothing asked of anybody, tokens as text, and the very numbers of the record."""

import base64
import html
import json
import math
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from nungil.inspection.colours import colours_of
from nungil.inspection.page import pictures_page, spread, to_page
from nungil.inspection.picture import Picture
from nungil.inspection.record import AttentionMap, AttentionRecord
from nungil.inspection.steps import Candidate, Step

HOSTILE = ["</script><img src=x onerror=alert(1)>", "@@RECORD@@", "<!--", "\u2028", "a&b", "'\"\\", "\x1b\n"]
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


def hostile():
    weights = np.random.default_rng(3).dirichlet(np.ones(len(HOSTILE)), size=2)
    return AttentionRecord.from_matrix(weights, HOSTILE, ["<b>눈길</b>", "@@TITLE@@"])


def embedded(page):
    [text] = re.findall(r'<script type="application/json" id="record">(.*?)</script>', page, flags=re.DOTALL)
    return json.loads(text)


def unpacked(view, rows):
    return np.frombuffer(base64.b64decode(view["packed"]), dtype="<f4").reshape(rows, -1)


def without_data(page):
    return re.sub(r'(<script type="application/json" id="record">).*?(</script>)', r"\1\2", page, flags=re.DOTALL)


def test_the_page_asks_nobody_for_anything():
    page = to_page(AttentionRecord.from_matrix([[1.0]], ["snow"], ["눈"]))
    for request in ("http:", "https:", "url(", "src=", "@import", "href", "fetch(", "XMLHttpRequest", "import("):
        assert request not in page, request
    policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    assert f'<meta http-equiv="Content-Security-Policy" content="{policy}">' in page
    assert "innerHTML" not in page


def test_hostile_tokens_are_text():
    page = to_page(hostile())
    assert "<img" not in page
    assert "<b>눈길" not in page
    assert "\u2028" not in page
    assert page.count("</script>") == 2
    assert embedded(page)["tokens"]["source"] == [*HOSTILE[:3], "\\u2028", *HOSTILE[4:6], "\\x1b\\n"]
    assert f"<title>{html.escape(HOSTILE[0])} @@RECORD@@" in page
    assert "@@" not in without_data(page).replace(re.findall("<title>.*</title>", page)[0], "")


def test_the_numbers_are_those_of_the_record():
    random = np.random.default_rng(5)
    maps = [
        AttentionMap("self", 0, random.dirichlet(np.ones(4), size=(3, 4))),
        AttentionMap("cross", 1, random.dirichlet(np.ones(4), size=(3, 2))),
        AttentionMap("cross", 0, random.dirichlet(np.ones(4), size=(3, 2)) * 0.5),
    ]
    record = AttentionRecord(["<sos>", "▁sn", "ow", "<eos>"], ["▁눈", "<eos>"], maps, score=-1.25)
    plain = embedded(to_page(record))
    assert [(one["kind"], one["layer"]) for one in plain["maps"]] == [("cross", 0), ("cross", 1), ("self", 0)]
    assert (plain["source"], plain["target"], plain["score"]) == ("snow", "눈", -1.25)
    for one in plain["maps"]:
        views = [record.select(one["kind"], one["layer"], head) for head in (None, 0, 1, 2)]
        for view, weights in zip(one["views"], views, strict=True):
            np.testing.assert_allclose(unpacked(view, len(weights)), weights, rtol=1e-6)
            np.testing.assert_allclose(view["sums"], weights.sum(axis=-1), rtol=1e-5)
    said = "Reading: row t is the word being output; rows do not sum to 1, but to 0.50."
    assert plain["maps"][0]["views"][0]["notes"][0] == said


def test_a_weight_above_nothing_stays_above_nothing():
    plain = embedded(to_page(AttentionRecord.from_matrix([[1 - 1e-12, 1e-12, 0.0]], ["a", "b", "c"], ["d"])))
    assert unpacked(plain["maps"][0]["views"][0], 1)[0] == pytest.approx([1.0, 1e-12, 0.0], rel=1e-6)
    least = embedded(to_page(AttentionRecord.from_matrix([[1.0, 1e-300]], ["a", "b"], ["d"])))
    assert unpacked(least["maps"][0]["views"][0], 1)[0, 1] > 0
    assert len(plain["maps"][0]["views"]) == 1


def test_spread_is_entropy_over_ln_n():
    rows = np.array([[0.25, 0.25, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.1, 0.3, 0.0, 0.0]])
    quarter = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75)) / math.log(2)
    assert spread(rows) == pytest.approx([1.0, None, 1.0, quarter])


def test_saved_it_is_the_same(tmp_path):
    hostile().save(tmp_path / "snow.HTML")
    assert (tmp_path / "snow.HTML").read_text(encoding="utf-8") == to_page(hostile())


def test_pictures_of_any_kind_become_a_page():
    signed = Picture("difference", ("<b>",), ("x", "y"), np.array([[-0.5, 0.25]]), ("Lens: raw.",), signed=True)
    plain = embedded(pictures_page([signed, Picture("other", ("a",), ("b",), np.ones((1, 1)))]))
    first, second = plain["maps"]
    assert (first["name"], first["signed"], second["signed"]) == ("difference", True, False)
    assert plain["tokens"][first["rows"]] == ["<b>"]
    assert unpacked(first["views"][0], 1).tolist() == [[-0.5, 0.25]]
    assert "sums" not in first["views"][0]
    assert second["views"][0]["sums"] == [1.0]


# What the script of the page makes of it, in a real browser; a key is pressed as a person would, and the colours of the
# canvas are read back. What was seen is written into the page.
PRESS = """<script>
window.onerror = message => document.body.setAttribute("data-error", message);
const seen = [], cells = document.querySelector(".cells"), canvas = cells.querySelector("canvas");
const press = key => cells.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
cells.focus();
const sharp = canvas.width / parseFloat(canvas.style.width), pen = canvas.getContext("2d");
for (let row = 0; row < grid.rows; row++) {
  for (let column = 0; column < grid.columns; column++) {
    const at = [(column + 0.15) * grid.width, (row + 0.15) * grid.height].map(place => Math.floor(place * sharp));
    seen.push([document.getElementById("says").textContent, [...pen.getImageData(...at, 1, 1).data].slice(0, 3)]);
    press("ArrowRight");
  }
  press("Home");
  press("ArrowDown");
}
document.body.setAttribute("data-seen", JSON.stringify(seen));
</script></body>"""


def browse(page, folder):
    path = folder / "page.html"
    path.write_text(page.replace("</body>", PRESS), encoding="utf-8")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    seen = subprocess.run([*command, "--dump-dom", path.as_uri()], capture_output=True, timeout=60, text=True).stdout
    assert "data-error=" not in seen
    assert "<img" not in without_data(re.sub('data-seen="[^"]*"', "", seen))
    return json.loads(html.unescape(re.findall('data-seen="([^"]*)"', seen)[0]))


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser that nungil does not: apt-get install chromium")
def test_a_browser_shows_each_number_and_its_colour_and_follows_the_keys(tmp_path):
    record = hostile()
    seen = browse(to_page(record), tmp_path)
    shown = record.picture()
    colours = colours_of(shown.cells, shown.high, signed=False).reshape(-1, 3).tolist()
    tokens = [(row, column) for row in shown.rows for column in shown.columns]
    assert len(seen) == 2 * len(HOSTILE)
    for (said, colour), weight, expected, (row, column) in zip(seen, shown.cells.ravel(), colours, tokens, strict=True):
        assert said.startswith(f"{row} looks at {column}: {weight:.4f} · row sum 1.000")
        assert colour == pytest.approx(expected, abs=1)


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser that nungil does not: apt-get install chromium")
def test_a_browser_says_what_else_could_have_been_written(tmp_path):
    step = Step(token="눈", probability=0.5, candidates=(Candidate(token="<i>", probability=0.25),))
    record = replace(AttentionRecord.from_matrix([[0.25, 0.75]], ["a", "b"], ["눈"]), steps=(step,))
    [(first, _), (second, _)] = browse(to_page(record), tmp_path)
    assert first == "눈 looks at a: 0.2500 · row sum 1.000 · entropy 0.81 of ln n · p 0.5000, else <i> 0.2500"
    assert second.startswith("눈 looks at b: 0.7500")
