"""The page of a server, in a real browser with real models: each part used as a visitor does, its numbers checked."""

import numpy as np
import pytest
from browser import NEEDS_BROWSER, cells_by_keys, texts, until, values
from small_server import KEY, running, small_shelf

import nungil
from nungil.inspection.changes import Flatten
from nungil.inspection.edits import Delete, Insert, Swap

pytestmark = NEEDS_BROWSER
GRID = "#map [role=grid]"
AFTER = "p => Math.abs(Number(document.querySelector('.p-after').value) - p) < 1e-5"
LAST = "all => all.map(one => [one.dataset.name, Number([...one.querySelectorAll('data')].at(-1).value)])"


@pytest.fixture(scope="module")
def shelf_and_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    return small_shelf(folder, "luong", "transformer", "labels"), folder


@pytest.fixture(scope="module")
def folder(shelf_and_folder):
    return shelf_and_folder[1]


@pytest.fixture(scope="module")
def server(shelf_and_folder):
    with running(shelf_and_folder[0]) as found:
        yield found


@pytest.fixture
def visit(visits, server):
    """The page at this model and text."""

    def go(model="luong", text="I like snow", **options):
        return visits.open_map(f"{server.address.url}/#model={model}&text={text}", **options)

    return go


@pytest.fixture(scope="module")
def luong(folder):
    return nungil.load(folder / "luong")


@pytest.fixture(scope="module")
def transformer(folder):
    return nungil.load(folder / "transformer")


@pytest.fixture(scope="module")
def classifier(folder):
    return nungil.load(folder / "labels")


def column(page, part, step):
    """The numbers of one column of the arithmetic."""
    return np.array(values(page, f"[data-part='{part}'] tbody [data-step='{step}'] data"))


def test_a_visitor_finds_an_example_that_is_already_read(visits, server, luong):
    page = visits.open(server.address.url)
    page.wait_for_selector(GRID)
    example = server.get("/v1/models").json()["models"][0]["examples"][0]
    assert page.input_value("#text") == example
    record = luong.look(example)
    np.testing.assert_allclose(cells_by_keys(page), record.weights, atol=1e-5)
    assert texts(page, ".stage .target .word") == record.target.split()
    for part in ("compose", "gaze", "map", "trust", "edit", "move", "take"):
        assert len(page.inner_text(f"#{part} .told >> nth=0")) > 30, part


def test_what_is_typed_is_translated_by_and_by(visit, luong):
    page = visit()
    page.fill("#text", "snow fell")
    until(page, "document.querySelector('.stage .source').textContent.includes('fell')")
    assert texts(page, ".stage .target .word") == luong.translate(["snow fell"])[0].text.split()
    assert "text=snow+fell" in page.url
    page.fill("#text", "")
    page.wait_for_selector("#map", state="hidden")
    assert page.inner_text(".below") == "Write something, and the model looks at it."


def test_the_arithmetic_of_a_cell_holds_in_numpy(visit, luong):
    page = visit()
    page.focus(GRID)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector(".ledger-part")
    score, exp, weight = (column(page, "cross", step) for step in ("score", "exp", "weight"))
    np.testing.assert_allclose(np.exp(score), exp, rtol=1e-5)
    np.testing.assert_allclose(exp / exp.sum(), weight, atol=1e-5)
    np.testing.assert_allclose(weight, luong.look("I like snow").weights[1], atol=1e-5)
    [total] = values(page, "[data-part='cross'] tfoot [data-total='exp'] data")
    assert total == pytest.approx(exp.sum(), rel=1e-5)
    for vector in page.query_selector_all("[data-part='cross'] details.long"):
        vector.evaluate("one => { one.open = true; }")
    until(page, "document.querySelector(\"[data-part='cross'] .vector.all\")")
    states = np.array(rows_of(page, "keys"))
    np.testing.assert_allclose(weight @ states, rows_of(page, "context")[0], atol=1e-5)
    logit, probability = column(page, "output", "logit"), column(page, "output", "probability")
    [below] = values(page, "[data-part='output'] tfoot [data-total='exp logit'] data")
    np.testing.assert_allclose(np.exp(logit) / below, probability, atol=1e-5)
    best = luong.look("I like snow").steps[1].candidates[0]
    assert probability[0] == pytest.approx(best.probability, abs=1e-5)
    way = values(page, ".way data")
    assert way == pytest.approx([score[1], exp[1], total, weight[1]], rel=1e-6)
    assert values(page, ".residual data")[0] < 1e-5
    assert page.inner_text("tr.marked th >> nth=0") == "I"


def rows_of(page, step):
    """Whole vectors: those that are written out."""
    found = page.evaluate(
        """step => [...document.querySelectorAll(`[data-part=cross] tbody [data-step='${step}']`)].map(cell => {
          const vector = cell.querySelector(".vector.all") ?? cell.querySelector(".vector");
          return [...vector.querySelectorAll(":scope > data")].map(one => Number(one.value));
        })""",
        step,
    )
    return [np.array(row) for row in found]


def test_a_written_word_opens_its_arithmetic(visit, luong):
    page, record = visit(), luong.look("I like snow").without_marks()
    page.click(".stage .target .word >> nth=0")
    page.wait_for_selector(".way")
    assert page.inner_text(".way .token") == record.source_tokens[int(record.weights[0].argmax())]


def test_a_journey_without_a_mouse(visit):
    page = visit()

    def tab_to(selector):
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate("selector => document.activeElement.matches(selector)", selector):
                return
        raise AssertionError(f"{selector} cannot be reached by Tab")

    page.evaluate("document.activeElement.blur()")
    tab_to("#text")
    page.keyboard.press("Control+A")
    page.keyboard.type("snow fell")
    page.keyboard.press("Enter")
    until(page, "document.querySelectorAll('.stage .source .word').length === 2")
    tab_to(".stage .word")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.side") == "target"
    tab_to(GRID)
    page.keyboard.press("End")
    assert "<eos>" in page.inner_text("#map .says")
    page.keyboard.press("Enter")
    page.wait_for_selector(".ledger-part")
    assert page.evaluate("document.activeElement.id") == "ledger-title"
    tab_to("#ledger .close")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('role')") == "grid"
    assert not page.is_visible("#ledger")
    tab_to("#edit-word")
    page.keyboard.type("pear")
    page.keyboard.press("Enter")
    page.wait_for_selector("#edit .cells")
    tab_to("#move input")
    page.keyboard.press("End")
    page.wait_for_selector("#move .effect")
    assert page.get_attribute("#move input >> nth=0", "aria-valuetext") == "1.0000"
    tab_to("[data-take=json]")


def test_layer_head_lens_and_kind_of_a_transformer(visit, transformer):
    page, record = visit("transformer"), transformer.look("I like snow")
    np.testing.assert_allclose(cells_by_keys(page), record.weights, atol=1e-5)
    page.click("[data-choice='layer 0']")
    page.wait_for_selector("[data-shown='cross 0 mean raw']")
    page.click("[data-choice='head 2']")
    page.wait_for_selector("[data-shown='cross 0 2 raw']")
    np.testing.assert_allclose(cells_by_keys(page), record.select("cross", 0, 2), atol=1e-5)
    page.select_option("[data-choice=lens]", "gradient-input")
    page.wait_for_selector("[data-shown='cross 0 2 gradient-input']")
    assert "∂log p" in page.inner_text("#map .notes")
    lens = transformer.lens("I like snow", "gradient-input")
    np.testing.assert_allclose(cells_by_keys(page), lens.values, atol=1e-5)
    page.select_option("[data-choice=lens]", "raw")
    page.select_option("[data-choice=attention]", "masked")
    page.wait_for_selector("[data-shown^=masked]")
    np.testing.assert_allclose(cells_by_keys(page), record.select("masked"), atol=1e-5)
    assert "attention between what is written" in page.inner_text("#trust")


def test_a_new_text_has_its_own_gaze_whatever_map_is_on_show(visit, transformer):
    """Lines and bars are of attention across, also where the map is of another kind: of this text, not the last."""
    page = visit("transformer")
    page.click("[data-choice='layer 0']")
    page.wait_for_selector("[data-shown='cross 0 mean raw']")
    page.select_option("[data-choice=attention]", "self")
    page.wait_for_selector("[data-shown^=self]")
    assert values(page, "#move .sliders data") == pytest.approx(transformer.look("I like snow").weights[0], abs=1e-5)
    page.fill("#text", "We saw a ship")
    record = transformer.look("We saw a ship")
    until(page, "count => document.querySelectorAll('#move .slider').length === count", len(record.source_tokens))
    assert values(page, "#move .sliders data") == pytest.approx(record.weights[0], abs=1e-5)


def test_the_strip_has_its_figures_and_more_on_request(visit, luong):
    page, strip = visit(), luong.honesty("I like snow")
    page.wait_for_selector(".figures")
    shown = values(page, ".figures .large data")
    assert shown == pytest.approx([strip.mean("delta_p"), strip.mean("drop_top"), strip.agreement], abs=1e-5)
    verdict = page.query_selector("#trust .verdict")
    assert [verdict.get_attribute(f"data-{name}") for name in ("needed", "points")] == [
        str(strip.needed).lower(),
        str(strip.points).lower(),
    ]
    page.click("#trust-full")
    page.wait_for_selector(".rest")
    full = values(page, ".rest .wide data")
    assert full[0] == pytest.approx(strip.mean("entropy"), abs=1e-5)
    assert full[5] == pytest.approx(strip.mean("kl"), abs=1e-5)
    assert full[6] == pytest.approx(strip.mean("percentile"), abs=1e-4)
    assert not page.query_selector("#trust-full")


@pytest.mark.parametrize(
    ("button", "edit"), [("swap", Swap("like", "ate")), ("delete", Delete("like")), ("insert", Insert("like", "ate"))]
)
def test_a_word_is_changed_and_the_difference_drawn(visit, luong, button, edit):
    page, difference = visit(), luong.compare("I like snow", edit)
    page.click("#edit .picker .word >> nth=1")
    page.fill("#edit-word", "ate")
    page.click(f"#edit-{button}")
    page.wait_for_selector("#edit .cells")
    np.testing.assert_allclose(cells_by_keys(page, "#edit [role=grid]"), difference.cells(), atol=1e-5)
    assert texts(page, "#edit .columns span") == list(difference.picture().columns)
    assert texts(page, "#edit .outputs dd") == [difference.before.output, difference.after.output]


def test_the_search_is_shown_and_a_click_goes_another_way(visit, luong):
    page = visit()
    own = luong.look("I like snow")
    assert own.beam is not None
    path = own.beam.path(own.beam.best)
    taken = values(page, "#search .fork > data")
    assert taken == pytest.approx([np.exp(own.beam.nodes[place].log_probability) for place in path], abs=1e-5)
    leaves = set(range(len(own.beam.nodes))) - {node.parent for node in own.beam.nodes}
    assert page.locator("#search .hypothesis").count() == len(leaves - set(path))

    assert page.locator("#search [tabindex='0']").count() == 1, "Tab stops here once, however many words there are"
    page.focus("#search [tabindex='0']")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.closest('.hypothesis') !== null")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search .forced")
    (label,) = page.eval_on_selector_all("#search .hypothesis button.word", "all => [all[0].ariaLabel]")
    begun = label.removeprefix("go on from «").removesuffix("»")
    forced = luong.translate(["I like snow"], prefix=begun)[0].text or begun
    assert forced != own.target
    assert forced.startswith(begun.removesuffix(" <eos>"))
    assert forced in page.text_content("#search .forced")
    weights = luong.look("I like snow", forced).weights
    assert np.allclose(cells_by_keys(page), weights, atol=1e-5), "the map is of what was forced"
    assert values(page, "#search .fork > data") == taken, "the search is still that of its own translation"

    page.click("#search .forced button")
    page.wait_for_selector("#search .forced", state="detached")
    assert np.allclose(cells_by_keys(page), own.weights, atol=1e-5)


def test_attention_is_dragged_and_the_output_follows(visit, server, luong):
    page = visit()
    own = luong.look("I like snow").weights[0]
    assert values(page, "#move .slider data") == pytest.approx(own.tolist(), abs=1e-5)
    page.locator("#move input >> nth=3").scroll_into_view_if_needed()
    box = page.locator("#move input >> nth=3").bounding_box()
    page.mouse.move(box["x"] + 8, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.7, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    page.wait_for_selector("#move .effect")
    row = values(page, "#move .slider data")
    assert sum(row) == pytest.approx(1, abs=1e-6)
    assert row[3] > 0.5
    others = [place for place in range(5) if place != 3]
    shares = [row[place] / own[place] for place in others]
    assert shares == pytest.approx([shares[0]] * 4, rel=1e-3)
    asked = {"model": "luong", "text": "I like snow", "changes": [{"do": "set", "step": 1, "weights": row}]}
    effect = server.post("/v1/intervene", asked).json()
    until(page, AFTER, effect["steps"][0]["after"])
    assert values(page, ".p-before") == pytest.approx([effect["steps"][0]["before"]], abs=1e-5)
    assert page.inner_text("#move .output") == effect["output_after"]
    page.click("#move-even")
    even = luong.intervene("I like snow", Flatten(1))
    until(page, AFTER, even.effects[0].after)
    page.click("#move-back")
    until(page, "document.querySelector('#move .result').textContent.includes('Nothing is moved')")


def test_words_of_a_classifier_are_erased_with_a_click(visit, classifier):
    page = visit("labels", "snow fell yesterday")
    record = classifier.look("snow fell yesterday")
    assert values(page, "#map [role=gridcell] data") == pytest.approx(record.weights.ravel().tolist(), abs=1e-5)
    [whole], [without] = classifier.classify("snow fell yesterday"), classifier.classify("snow yesterday")
    named = dict(zip(texts(page, ".erase .probability .name"), values(page, ".erase .probability data"), strict=True))
    assert named == pytest.approx(whole.probabilities, abs=1e-5)
    page.click(".erase .word >> nth=1")
    page.wait_for_selector(".erase .before")
    assert page.get_attribute(".erase .word >> nth=1", "aria-pressed") == "true"
    now = page.eval_on_selector_all(".erase .probability", LAST)
    assert dict(now) == pytest.approx(without.probabilities, abs=1e-5)
    page.click("text=Put all words back")
    page.wait_for_selector(".erase .before", state="detached")
    page.click("#other-map")
    page.wait_for_selector(".two")
    own = values(page, ".two td:nth-child(2) data")
    assert own == pytest.approx(record.weights.ravel().tolist(), abs=1e-5)
    assert sum(values(page, ".two td:nth-child(3) data")) == pytest.approx(1, abs=1e-5)
    page.click("#map .bar >> nth=0")
    page.wait_for_selector(".ledger-part")
    np.testing.assert_allclose(column(page, "pooling", "weight"), record.weights[0], atol=1e-5)


def test_words_that_were_never_seen_are_marked_and_others_offered(visit):
    page = visit(text="I like shipp")
    page.wait_for_selector(".unknown")
    assert page.inner_text(".unknown mark") == "shipp"
    offers = texts(page, ".unknown .chip")
    assert "ship" in offers
    page.click(f".unknown .chip:has-text('{offers[0]}') >> nth=0")
    page.wait_for_selector(".unknown", state="detached")
    assert page.input_value("#text") == f"I like {offers[0]}"
    assert "shipp" not in texts(page, "#map .columns span")


def test_hostile_text_is_letters(visit):
    page = visit(text="I%20%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E%20%3C/script%3E%20snow")
    page.wait_for_selector(".unknown")
    assert page.eval_on_selector_all("img", "all => all.length") == 0
    assert {"<", "img"} <= set(texts(page, ".unknown mark"))


def test_a_model_is_chosen_and_the_language(visit, transformer):
    page = visit()
    page.select_option("#model", "transformer")
    page.wait_for_selector("[data-choice='head 2']")
    np.testing.assert_allclose(cells_by_keys(page), transformer.look(page.input_value("#text")).weights, atol=1e-5)
    page.click("#map .cells", position={"x": 5, "y": 5})
    page.wait_for_selector(".ledger-part")
    page.click("[data-switch=language-ko]")
    until(page, "document.querySelector('#ledger').textContent.includes('어텐션 스코어')")
    for part in ("compose", "gaze", "map", "trust", "edit", "move", "take"):
        assert any("가" <= letter <= "힣" for letter in page.inner_text(f"#{part} h2")), part


@pytest.mark.parametrize("width", [360, 900, 1600])
@pytest.mark.parametrize("model", ["transformer", "labels"])
def test_every_part_fits_every_width(visit, model, width):
    page = visit(model, width=width)
    if model == "labels":
        page.click("#map .bar >> nth=0")
    else:
        page.click("#map .cells", position={"x": 5, "y": 5})
    page.wait_for_selector(".ledger-part")
    page.click("#edit-delete")
    page.wait_for_selector("#edit .cells")
    assert page.evaluate("document.documentElement.scrollWidth") == width


def test_a_page_that_is_taken_away_works_without_the_server(visit, visits, luong, tmp_path):
    page = visit()
    page.wait_for_selector(".figures")
    with page.expect_download() as download:
        page.click("[data-take=html]")
    download.value.save_as(tmp_path / "taken.html")
    copy = visits.open((tmp_path / "taken.html").as_uri())
    copy.wait_for_selector(GRID)
    np.testing.assert_allclose(cells_by_keys(copy), luong.look("I like snow").weights, atol=1e-5)
    assert values(copy, ".figures .large data") == values(page, ".figures .large data")
    assert "connect-src" not in (tmp_path / "taken.html").read_text("utf-8").split("<style>")[0]


def test_a_server_with_a_key_is_asked_for_it(visits, tmp_path):
    with running(small_shelf(tmp_path, "luong"), keys=[KEY]) as locked:
        page = visits.open(locked.address.url, refused=True)
        page.wait_for_selector("[type=password]")
        page.fill("[type=password]", "wrong")
        page.keyboard.press("Enter")
        page.wait_for_selector(".problem")
        assert page.inner_text(".problem") == "A key is needed for this server."
        page.fill("[type=password]", KEY)
        page.keyboard.press("Enter")
        page.wait_for_selector(GRID)


def test_what_a_server_refuses_is_told(visits, server):
    page = visits.open(f"{server.address.url}/#model=luong&text=I", refused=True)
    page.wait_for_selector(GRID)
    page.click("#edit-delete")
    until(page, "document.querySelector('#edit .says').textContent.length > 5")
    assert page.eval_on_selector("#edit .says", "one => one.textContent") != ""


def test_what_will_be_refused_again_is_told_in_both_languages_and_not_offered_again(visits, shelf_and_folder):
    with running(shelf_and_folder[0], looked=4) as short:
        address = f"{short.address.url}/#model=luong&text=I like snow I like"
        page = visits.open(address, refused=True, locale="ko-KR")
        page.wait_for_selector("#compose .problem")
        assert page.inner_text("#compose .problem") == "너무 깁니다. 토큰이 5개인데, 이 서버는 4개까지 읽습니다."
        assert page.query_selector("#again") is None
        page.fill("#text", "I like snow " * 300)
        until(page, "document.querySelector('#compose .problem')?.textContent.includes('900')")
        assert page.locator("#compose .problem").bounding_box()["y"] < 900, "a long text hides what is said of it"
        page.fill("#text", "I like snow I like")
        until(page, "document.querySelector('#compose .problem')?.textContent.includes('5')")
        page.click("[data-switch=language-en]")
        told = "This is too long: 5 tokens, and this server reads 4 at most."
        assert page.inner_text("#compose .problem") == told
        page.fill("#text", "I")
        page.wait_for_selector(GRID)
        assert page.query_selector("#compose .problem") is None
        page.click("[data-switch=language-ko]")
        page.click("#edit-delete")
        until(page, "document.querySelector('#edit .problem')")
        assert page.inner_text("#edit .says") == "읽을 단어가 없습니다."


def test_what_may_be_answered_later_can_be_asked_again(visits, shelf_and_folder):
    with running(None) as loading:
        page = visits.open(f"{loading.address.url}/#model=luong&text=I like snow", refused=True, locale="ko-KR")
        page.wait_for_selector("#again")
        assert page.inner_text("#compose .problem") == "모델을 불러오고 있습니다. 잠시 뒤에 다시 시도해 보세요."
        loading.desk.open(shelf_and_folder[0])
        page.click("#again")
        page.wait_for_selector(GRID)
        assert page.query_selector("#compose .problem") is None


def test_a_server_that_has_gone_is_told_when_another_map_is_chosen(visits, server):
    page = visits.open(f"{server.address.url}/#model=transformer&text=I like snow", refused=True)
    page.wait_for_selector(GRID)
    page.context.route("**/v1/look", lambda route: route.abort())
    # What is told first may be of another request; one that still waits when the route is taken away is never answered.
    with page.expect_event("requestfailed", lambda request: '"layer":0' in (request.post_data or "")):
        page.click("[data-choice='layer 0']")
    page.wait_for_selector("#compose .problem")
    assert "nungil serve" in page.eval_on_selector("#compose .problem", "one => one.textContent")
    page.context.unroute("**/v1/look")
    page.click("[data-choice='layer 1']")
    page.click("[data-choice='layer 0']")
    page.wait_for_selector("[data-shown='cross 0 mean raw']")
    assert page.query_selector("#compose .problem") is None, (
        "what was told is taken back when the server is there again"
    )
