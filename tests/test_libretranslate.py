"""The surface of LibreTranslate: each known client's request, as its code sends it, to a real server."""

import html
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from libretranslatepy import LibreTranslateAPI
from model_folders import LUONG, change_config, translator_folder
from small_server import KEY, running, small_shelf

from nungil.pipeline import load
from nungil.serving.markup import joined, parts_of, prose_of
from nungil.serving.shelf import Served, Shelf

TEXT = "We saw a ship"
ENDLESS = b'{"q": "snow", "source": "en", "target": "ko", "alternatives": 1e999}'


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """English to Korean twice, and a model that says it is of Korean to German."""
    folder = tmp_path_factory.mktemp("models")
    small = small_shelf(folder, "luong", "transformer", "labels")
    german = translator_folder(folder / "german", LUONG)
    change_config(german, source="ko", target="de")
    return Shelf([*small.served.values(), Served("german", german, load(german))])


@pytest.fixture(scope="module")
def server(shelf):
    with running(shelf) as found:
        yield found


@pytest.fixture(scope="module")
def own(shelf):
    """What the model itself writes."""
    model = shelf.find("luong").model
    return lambda text: model.translate([text])[0].text


def test_libretranslatepy_works_unchanged(server, own):
    client = LibreTranslateAPI(server.address.url)
    assert client.translate(TEXT, "en", "ko") == own(TEXT)
    assert client.translate(TEXT, source="auto", target="ko") == own(TEXT)
    assert client.detect(TEXT)[0]["language"] == "en"
    assert client.detect("눈이 내렸다")[0]["language"] == "ko"
    assert client.languages() == [
        {"code": "en", "name": "English", "targets": ["ko"]},
        {"code": "ko", "name": "Korean", "targets": ["de"]},
        {"code": "de", "name": "German", "targets": []},
    ]


def test_libretranslatepy_with_a_key(shelf, own):
    with running(shelf, keys=[KEY]) as server:
        assert LibreTranslateAPI(server.address.url, KEY).translate(TEXT, "en", "ko") == own(TEXT)
        assert LibreTranslateAPI(server.address.url, KEY).languages()[0]["code"] == "en"
        for body, error in [
            ({"q": TEXT, "source": "en", "target": "ko"}, "Please contact the server operator to get an API key"),
            ({"q": TEXT, "source": "en", "target": "ko", "api_key": "wrong"}, "Invalid API key"),
        ]:
            found = server.post("/translate", body)
            assert (found.status_code, found.json()) == (403, {"error": error})
        allowed = server.post("/detect", {"q": TEXT}, headers={"Authorization": f"Bearer {KEY}"})
        assert allowed.status_code == 200


def test_weblate_sends_a_form_with_one_text(server, own):
    assert [one["code"] for one in server.get("/languages").json()] == ["en", "ko", "de"]
    data = {"api_key": "", "q": TEXT, "source": "en", "target": "ko"}
    found = server.client.post("/translate", data=data)
    assert found.json()["translatedText"] == own(TEXT)


def test_weblate_sends_json_with_a_list(server, own):
    texts = [TEXT, "snow fell"]
    body = {"api_key": "", "q": texts, "source": "en", "target": "ko"}
    assert server.post("/translate", body).json() == {"translatedText": [own(text) for text in texts]}


def test_mastodon_sends_html_and_knows_no_source(server, own):
    texts = ['<p>We saw a ship</p><p>snow fell<br />I like snow <span translate="no">:snow:</span></p>', "snow fell"]
    body = {"q": texts, "source": "auto", "target": "ko", "format": "html", "api_key": None}
    found = server.post("/translate", body).json()
    ours = [html.escape(own(text), quote=False) for text in (TEXT, "snow fell", "I like snow")]
    assert found["translatedText"] == [
        f'<p>{ours[0]}</p><p>{ours[1]}<br />{ours[2]} <span translate="no">:snow:</span></p>',
        ours[1],
    ]
    assert [one["language"] for one in found["detectedLanguage"]] == ["en", "en"]
    languages = {one["code"]: one["targets"] for one in server.get("/languages").json()}
    assert languages["en"] == ["ko"]


def test_alternatives_and_what_is_unknown_is_ignored(server, shelf):
    body = {"q": TEXT, "source": "en", "target": "ko", "alternatives": 2, "made_up": True, "format": "text"}
    found = server.post("/translate", body).json()
    best = shelf.find("luong").model.translate([TEXT], n_best=3)[0].n_best
    assert [found["translatedText"], *found["alternatives"]] == [one.text for one in best]


def test_several_texts_of_a_form(server, own):
    found = server.client.post("/translate", data={"q": [TEXT, "snow fell"], "source": "en", "target": "ko"})
    assert found.json()["translatedText"] == [own(TEXT), own("snow fell")]
    parts = {"q": (None, TEXT), "source": (None, "en"), "target": (None, "ko")}
    assert server.client.post("/translate", files=parts).json()["translatedText"] == own(TEXT)


def test_a_text_in_the_target_language_stays_as_it_is(server):
    found = server.post("/translate", {"q": "눈이 내렸다", "source": "auto", "target": "ko"}).json()
    assert found["translatedText"] == "눈이 내렸다"
    assert found["detectedLanguage"]["language"] == "ko"


def test_the_settings_of_a_frontend(server):
    found = server.get("/frontend/settings").json()
    assert found["charLimit"] == 10_000
    assert (found["apiKeys"], found["keyRequired"], found["suggestions"]) == (False, False, False)
    assert found["language"] == {
        "source": {"code": "en", "name": "English"},
        "target": {"code": "ko", "name": "Korean"},
    }


@pytest.mark.parametrize(
    ("body", "error"),
    [
        ({"source": "en", "target": "ko"}, "Invalid request: missing q parameter"),
        ({"q": "", "source": "en", "target": "ko"}, "Invalid request: missing q parameter"),
        ({"q": [], "source": "en", "target": "ko"}, "Invalid request: missing q parameter"),
        ({"q": [7], "source": "en", "target": "ko"}, "Invalid request: missing q parameter"),
        ({"q": TEXT, "target": "ko"}, "Invalid request: missing source parameter"),
        ({"q": TEXT, "source": "en"}, "Invalid request: missing target parameter"),
        ({"q": TEXT, "source": "xx", "target": "ko"}, "xx is not supported"),
        ({"q": TEXT, "source": "en", "target": "de"}, "de is not supported as a translation of en"),
        ({"q": TEXT, "source": "auto", "target": "xx"}, "xx is not supported"),
        ({"q": TEXT, "source": "en", "target": "ko", "format": "pdf"}, "pdf format is not supported"),
        (
            {"q": TEXT, "source": "en", "target": "ko", "alternatives": "x"},
            "Invalid request: alternatives",
        ),
        ({"q": TEXT, "source": "en", "target": "\ud800"}, "? is not supported as a translation of en"),
        ({"q": TEXT, "source": "en", "target": "ko", "format": "\udfff"}, "? format is not supported"),
        ({"q": "a" * 10_001, "source": "en", "target": "ko"}, "q: 10,001 characters; this server takes 10,000 at most"),
        ([TEXT], "Invalid request: a JSON object is expected"),
    ],
)
def test_bad_requests_answer_400_in_its_form(server, body, error):
    found = server.post("/translate", body)
    assert found.status_code == 400
    assert found.json()["error"].startswith(error)


def test_a_form_may_hold_letters_as_they_are(server):
    """As `curl -d q=눈이` sends them: not percent-encoded, in UTF-8."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    for content in ("q=눈이 내렸다", "q=%EB%88%88%EC%9D%B4+%EB%82%B4%EB%A0%B8%EB%8B%A4"):
        found = server.client.post("/detect", content=content.encode(), headers=form)
        assert found.json() == server.post("/detect", {"q": "눈이 내렸다"}).json()


def test_bodies_that_are_neither(server):
    for content, kind in [
        (b"{", "application/json"),
        (b"\xff" * 9, "application/json"),
        (b"q=%ff", "x/y"),
        (b"", ""),
        (ENDLESS, "application/json"),
    ]:
        found = server.client.post("/translate", content=content, headers={"Content-Type": kind})
        assert found.status_code == 400
        assert found.json()["error"].startswith("Invalid request")
    broken = server.client.post("/translate", content=b"--x\r\n", headers={"Content-Type": "multipart/form-data"})
    assert broken.status_code == 400
    assert broken.json()["error"].startswith("Invalid request")


def test_a_language_that_is_only_written_is_told_too(shelf):
    with running(Shelf([shelf.find("luong")])) as server:
        assert [one["language"] for one in server.post("/detect", {"q": "눈이 내렸다"}).json()] == ["ko"]


# HTML.


def test_hostile_html_is_data():
    text = '<script>alert("We saw a ship")</script><b onclick="x>y">snow</b> & <i>fell &lt;b&gt;</i> <!-- a <b> -->'
    parts = parts_of(text)
    assert "".join(part.text for part in parts) == text
    assert prose_of(parts) == ["snow", "fell <b>"]
    made = joined(parts, ["<script>1</script>", "a & b"])
    assert made == (
        '<script>alert("We saw a ship")</script><b onclick="x>y">&lt;script&gt;1&lt;/script&gt;</b>'
        " & <i>a &amp; b</i> <!-- a <b> -->"
    )


def test_what_is_no_tag_is_text():
    assert prose_of(parts_of("1 < 2 and 3 > 2")) == ["1 < 2 and 3 > 2"]
    assert prose_of(parts_of("a <b")) == ["a <b"]
    assert prose_of(parts_of("<!-- open snow")) == ["<!-- open snow"]
    assert prose_of(parts_of("<p translate=no>keep <p>this</p> too</p>snow")) == ["snow"]


@given(st.text(alphabet="<>!-/\"' abscripttranslate=no&;", max_size=60))
def test_any_text_is_cut_and_put_together_again(text):
    parts = parts_of(text)
    assert "".join(part.text for part in parts) == text
    assert joined(parts, prose_of(parts)).count("<") <= text.count("<")


@pytest.mark.parametrize("bad", ["<!--", "<!", "<a ", '<a "', "<a '\"", "<", "</", "<a b='", "&#", "<p translate=no>"])
def test_no_text_takes_long_to_cut(bad):
    began = time.perf_counter()
    parts_of(bad * (1_000_000 // len(bad)))
    assert time.perf_counter() - began < 20
