"""The page as a file: nothing asked of anybody, tokens as text, the numbers of the record, built of its sources."""

import base64
import gzip
import hashlib
import html
import json
import math
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from nungil.inspection.page import pictures_page, policy_of, served_page, spread, to_page
from nungil.inspection.picture import Picture
from nungil.inspection.record import AttentionMap, AttentionRecord
from nungil.serving.refusal import Code, Unit

ROOT = Path(__file__).parent.parent
BUILT = ROOT / "nungil/inspection/page.html"
HOSTILE = ["</script><img src=x onerror=alert(1)>", "@@DATA@@", "<!--", "\u2028", "a&b", "'\"\\", "\x1b\n"]


def hostile():
    weights = np.random.default_rng(3).dirichlet(np.ones(len(HOSTILE)), size=2)
    return AttentionRecord.from_matrix(weights, HOSTILE, ["<b>눈길</b>", "@@TITLE@@"])


def embedded(page):
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, flags=re.DOTALL)
    return json.loads(text)


def unpacked(packed, rows):
    return np.frombuffer(base64.b64decode(packed), dtype="<f4").reshape(rows, -1)


def without_data(page):
    return re.sub(r'(<script type="application/json" id="data">).*?(</script>)', r"\1\2", page, flags=re.DOTALL)


def hash_of(text):
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_page_may_ask_nobody_for_anything():
    page = to_page(AttentionRecord.from_matrix([[1.0]], ["snow"], ["눈"]))
    [style] = re.findall("<style>(.*?)</style>", page, flags=re.DOTALL)
    [script] = re.findall("<script>(.*?)</script>", page, flags=re.DOTALL)
    allowed = f"style-src 'sha256-{hash_of(style)}'; script-src 'sha256-{hash_of(script)}'"
    assert policy_of(page) == f"default-src 'none'; img-src data:; {allowed}"
    for request in ("https:", "url(", "src=", "@import", "XMLHttpRequest", "import(", "innerHTML", "eval("):
        assert request not in page, request
    names = re.findall(r"http:[^\"'\s)]+", page)
    assert set(names) == {"http://www.w3.org/2000/svg"}  # the name of SVG, which nobody is asked for
    assert policy_of(served_page()) == f"{policy_of(page)}; connect-src 'self'"
    assert embedded(served_page()) == {}


def test_hostile_tokens_are_text():
    page = to_page(hostile())
    assert "<img" not in page
    assert "<b>눈길" not in page
    assert "\u2028" not in page
    assert page.count("</script>") == 2
    assert embedded(page)["record"]["source_tokens"] == HOSTILE
    assert f"<title>{html.escape(HOSTILE[0])} @@DATA@@" in page
    assert "@@" not in without_data(page).replace(re.findall("<title>.*?</title>", page, flags=re.DOTALL)[0], "")


def test_the_numbers_are_those_of_the_record():
    random = np.random.default_rng(5)
    maps = [
        AttentionMap("self", 0, random.dirichlet(np.ones(4), size=(3, 4))),
        AttentionMap("cross", 1, random.dirichlet(np.ones(4), size=(3, 2))),
        AttentionMap("cross", 0, random.dirichlet(np.ones(4), size=(3, 2)) * 0.5),
    ]
    record = AttentionRecord(["<sos>", "▁sn", "ow", "<eos>"], ["▁눈", "<eos>"], maps, score=-1.25)
    plain = embedded(to_page(record))["record"]
    assert [(one["kind"], one["layer"]) for one in plain["maps"]] == [("cross", 0), ("cross", 1), ("self", 0)]
    assert (plain["source"], plain["target"], plain["score"]) == ("snow", "눈", -1.25)
    for one in plain["maps"]:
        assert len(one["heads"]) == 3
        for head, packed in enumerate(one["heads"]):
            weights = record.select(one["kind"], one["layer"], head)
            np.testing.assert_allclose(unpacked(packed, len(weights)), weights, rtol=1e-6)


def test_a_weight_above_nothing_stays_above_nothing():
    plain = embedded(to_page(AttentionRecord.from_matrix([[1 - 1e-12, 1e-12, 0.0]], ["a", "b", "c"], ["d"])))
    [packed] = plain["record"]["maps"][0]["heads"]
    assert unpacked(packed, 1)[0] == pytest.approx([1.0, 1e-12, 0.0], rel=1e-6)
    least = embedded(to_page(AttentionRecord.from_matrix([[1.0, 1e-300]], ["a", "b"], ["d"])))
    assert unpacked(least["record"]["maps"][0]["heads"][0], 1)[0, 1] > 0


def test_what_is_known_beside_a_record_is_in_its_page():
    record = AttentionRecord.from_matrix([[0.25, 0.75]], ["a", "b"], ["d"])
    assert set(embedded(to_page(record))) == {"record"}
    plain = embedded(to_page(record, {"eye": 0.25, "snow": 0.75}))
    assert plain["labels"] == [{"label": "eye", "probability": 0.25}, {"label": "snow", "probability": 0.75}]


def test_spread_is_entropy_over_ln_n():
    rows = np.array([[0.25, 0.25, 0.25, 0.25], [1.0, 0.0, 0.0, 0.0], [0.5, 0.5, 0.0, 0.0], [0.1, 0.3, 0.0, 0.0]])
    quarter = -(0.25 * math.log(0.25) + 0.75 * math.log(0.75)) / math.log(2)
    assert spread(rows) == pytest.approx([1.0, None, 1.0, quarter])


def test_saved_it_is_the_same(tmp_path):
    hostile().save(tmp_path / "snow.HTML")
    assert (tmp_path / "snow.HTML").read_text(encoding="utf-8") == to_page(hostile())


def test_in_a_notebook_a_record_shows_its_page_in_a_frame():
    [page] = re.findall('srcdoc="([^"]*)"', hostile()._repr_html_())
    assert html.unescape(page) == to_page(hostile())
    assert "<script" not in hostile()._repr_html_()


def test_pictures_of_any_kind_become_a_page():
    signed = Picture("difference", ("<b>",), ("x", "y"), np.array([[-0.5, 0.25]]), ("Lens: raw.",), signed=True)
    plain = embedded(pictures_page([signed, Picture("other", ("a",), ("b",), np.ones((1, 1)))]))
    first, second = plain["pictures"]
    assert (first["title"], first["signed"], second["signed"]) == ("difference", True, False)
    assert (first["rows"], first["columns"], first["notes"]) == (["<b>"], ["x", "y"], ["Lens: raw."])
    assert unpacked(first["packed"], 1).tolist() == [[-0.5, 0.25]]
    assert (first["high"], second["high"]) == (0.5, 1.0)


def test_a_record_of_merged_words_says_so():
    record = replace(AttentionRecord.from_matrix([[1.0]], ["▁sn"], ["눈"])).merged()
    assert embedded(to_page(record))["record"]["merge"].startswith("words: columns summed")


def test_the_bundle_is_small():
    assert len(gzip.compress(BUILT.read_bytes(), 9)) < 60_000


def sources():
    """What the bundle is made of, hashed as web/build.mjs does."""
    web = ROOT / "web"
    names = [path.relative_to(web).as_posix() for path in (web / "src").rglob("*") if path.is_file()]
    whole = hashlib.sha256()
    for name in sorted([*names, "page.html"]):
        whole.update(f"{name}\0{(web / name).read_text(encoding='utf-8')}\0".encode())
    return whole.hexdigest()


def test_the_bundle_was_built_of_the_sources_that_are_there():
    assert f'<meta name="nungil-sources" content="{sources()}">' in BUILT.read_text(encoding="utf-8"), "run: make page"


@pytest.mark.skipif(
    not (shutil.which("node") and (ROOT / "web/node_modules/esbuild").is_dir()), reason="needs Node: make page"
)
def test_the_sources_build_the_bundle(tmp_path):
    subprocess.run(["node", ROOT / "web/build.mjs", tmp_path / "page.html"], check=True, timeout=60)
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == BUILT.read_text(encoding="utf-8")


def test_nothing_names_where_packages_come_from():
    lock = json.loads((ROOT / "web/package-lock.json").read_text(encoding="utf-8"))
    assert not any("resolved" in package for package in lock["packages"].values())
    assert set(lock["packages"]["node_modules/esbuild"]) >= {"version", "integrity"}


def test_the_page_has_words_for_each_refusal_that_a_visitor_can_meet():
    said = (ROOT / "web/src/say.ts").read_text("utf-8")
    programs = {"invalid", "unreadable", "method", "origin", "host"}  # only those who write requests by hand meet these
    for code in {*get_args(Code)} - programs - {"too_much"} | {*get_args(Unit)}:
        assert f'"refused {code}": [' in said, code
