"""The page: one file, nothing asked of anybody, tokens as text, and the very numbers of the record."""

import html
import json
import math
import re
import shutil
import subprocess

import numpy as np
import pytest

from nungil.inspection.page import spread, to_page
from nungil.inspection.record import AttentionMap, AttentionRecord

HOSTILE = ["</script><img src=x onerror=alert(1)>", "@@RECORD@@", "<!--", "\u2028", "a&b", "'\"\\", "\x1b\n"]
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


def hostile():
    weights = np.random.default_rng(3).dirichlet(np.ones(len(HOSTILE)), size=2)
    return AttentionRecord.from_matrix(weights, HOSTILE, ["<b>눈길</b>", "@@TITLE@@"])


def embedded(page):
    [text] = re.findall(r'<script type="application/json" id="record">(.*?)</script>', page, flags=re.DOTALL)
    return json.loads(text)


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
            np.testing.assert_allclose(view["weights"], weights, rtol=1e-5)
            np.testing.assert_allclose(view["sums"], weights.sum(axis=-1), rtol=1e-5)
    assert plain["maps"][0]["views"][0]["about"] == "rows do not sum to 1, but to 0.50"
    assert plain["maps"][0]["reading"] == "row t is the word being output"


def test_a_weight_above_nothing_stays_above_nothing():
    plain = embedded(to_page(AttentionRecord.from_matrix([[1 - 1e-12, 1e-12, 0.0]], ["a", "b", "c"], ["d"])))
    assert plain["maps"][0]["views"][0]["weights"] == [[1.0, 1e-12, 0.0]]
    assert len(plain["maps"][0]["views"]) == 1


def test_spread_is_entropy_over_ln_n():
    rows = np.array([[0.25, 0.25, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.1, 0.3, 0.0, 0.0]])
    quarter = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75)) / math.log(2)
    assert spread(rows) == pytest.approx([1.0, None, 1.0, quarter])


def test_saved_it_is_the_same(tmp_path):
    hostile().save(tmp_path / "snow.HTML")
    assert (tmp_path / "snow.HTML").read_text(encoding="utf-8") == to_page(hostile())


# What the script of the page makes of it, in a real browser; a key is pressed as a person would.
PRESS = """<script>
const press = key => document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
window.onerror = message => document.body.setAttribute("data-error", message);
document.querySelector('[tabindex="0"]').focus();
["ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowRight"].forEach(press);
</script></body>"""


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs a browser that nungil does not: apt-get install chromium")
def test_a_browser_shows_the_numbers_and_follows_the_keys(tmp_path):
    path = tmp_path / "page.html"
    path.write_text(to_page(hostile()).replace("</body>", PRESS), encoding="utf-8")
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    seen = subprocess.run([*command, "--dump-dom", path.as_uri()], capture_output=True, timeout=60, text=True).stdout
    assert "data-error=" not in seen
    assert "<img" not in without_data(seen)
    labels = [html.unescape(label) for label in re.findall('aria-label="([^"]* looks at [^"]*)"', seen)]
    assert len(labels) == 2 * len(HOSTILE)
    for label, weight in zip(labels, hostile().weights.ravel(), strict=True):
        assert float(label.rsplit(": ", 1)[1]) == pytest.approx(weight, abs=6e-5)
    said = re.findall('id="says"[^>]*>(.*?)</p>', seen)[0]
    assert html.unescape(re.sub("<[^>]*>", "", said)) == f"@@TITLE@@ looks at @@RECORD@@: {hostile().weights[1, 1]:.4f}"
