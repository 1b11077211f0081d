"""The interface of a server: what it answers, and how it refuses."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from command import invoke
from model_folders import ENGLISH, LABELS
from small_server import FOLDERS, KEY, running, small_shelf

from nungil.inspection.changes import Flatten, Move
from nungil.serving.plain import plain_side

TEXT = "We saw a ship"
TARGET = "우리는 어제 배를 봤다"  # a model that was never trained may write nothing


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    return small_shelf(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def server(shelf):
    with running(shelf) as found:
        yield found


def answer(server, path, **body):
    found = server.post(f"/v1/{path}", body)
    assert found.status_code == 200, found.text
    return found.json()


def refused(server, path, body, status=422):
    found = server.post(f"/v1/{path}", body)
    assert found.status_code == status, found.text
    error = found.json()["error"]
    assert error["status"] == status
    return error


def test_the_models_are_told_with_what_they_can_do(server):
    told = {one["name"]: one for one in server.get("/v1/models").json()["models"]}
    assert list(told) == list(FOLDERS)
    assert told["luong"]["task"] == "translate"
    assert (told["luong"]["source"], told["luong"]["target"]) == ("en", "ko")
    assert told["luong"]["maps"] == [{"kind": "cross", "layer": 0, "heads": 1}]
    assert {(one["kind"], one["heads"]) for one in told["transformer"]["maps"]} == {
        ("self", 3),
        ("cross", 3),
        ("masked", 3),
    }
    assert told["labels"]["labels"] == list(LABELS)
    assert not told["plain"]["attends"]
    assert "raw" not in told["plain"]["lenses"]
    assert told["plain"]["lenses_missing"]["raw"] == "a plain decoder does not look at the source"
    assert told["luong"]["examples"][0] == "I like snow"


def test_a_score_that_is_not_told_is_null(server):
    asked = {"model": "luong", "texts": list(ENGLISH), "beam": 1}
    told, untold = (answer(server, "translate", **asked, scores=scores)["translations"] for scores in (True, False))
    assert [one["text"] for one in untold] == [one["text"] for one in told]
    assert {one["score"] for one in untold} == {None}
    assert all(one["score"] < 0 for one in told)


def test_a_translation_is_that_of_the_model(server, shelf):
    own = shelf.find("luong").model.translate(list(ENGLISH), beam=3, n_best=2, align=True)
    found = answer(server, "translate", model="luong", texts=list(ENGLISH), beam=3, n_best=2, align=True)
    assert [one["text"] for one in found["translations"]] == [one.text for one in own]
    for one, translation in zip(found["translations"], own, strict=True):
        assert one["score"] == pytest.approx(translation.score, abs=1e-5)
        assert one["tokens"] == list(translation.tokens)
        assert " ".join(f"{left}-{right}" for left, right in one["links"]) == translation.links
        assert [other["text"] for other in one["n_best"]] == [other.text for other in translation.n_best]


def test_an_empty_text_stays_empty_and_unknown_words_are_named(server):
    found = answer(server, "translate", texts=["", "I like zebras"])["translations"]
    assert found[0]["text"] == ""
    assert found[1]["unknown"] == ["zebras"]


def test_the_first_model_that_can_is_taken(server):
    assert answer(server, "translate", texts=[TEXT])["model"] == "luong"
    assert answer(server, "classify", texts=[TEXT])["model"] == "labels"


def test_a_classification_is_that_of_the_model(server, shelf):
    own = shelf.find("labels").model.classify(list(ENGLISH))
    found = answer(server, "classify", texts=list(ENGLISH))["classifications"]
    assert [one["label"] for one in found] == [one.label for one in own]
    for one, classification in zip(found, own, strict=True):
        assert one["probabilities"] == pytest.approx(classification.probabilities, abs=1e-5)


def test_many_at_once_have_the_same_answers_as_apart(server):
    """Texts of many clients are computed together, and nobody's answer depends on whose text was beside it."""
    bodies = [{"model": "luong", "texts": [text], "beam": beam} for text in ENGLISH for beam in (1, 2, 4)] * 3
    apart = [answer(server, "translate", **body)["translations"][0] for body in bodies]
    batches = server.desk.metrics.registry.get_sample_value("nungil_batch_texts_count")
    with ThreadPoolExecutor(len(bodies)) as pool:
        together = list(pool.map(lambda body: answer(server, "translate", **body)["translations"][0], bodies))
    assert [one["text"] for one in together] == [one["text"] for one in apart]
    assert [one["score"] for one in together] == pytest.approx([one["score"] for one in apart], abs=1e-5)
    more = server.desk.metrics.registry.get_sample_value("nungil_batch_texts_count") - batches
    assert more < len(bodies)  # some were computed together


def test_what_is_drawn_depends_on_the_seed_and_on_nobody_else(server):
    body = {"model": "luong", "texts": [TEXT, "snow fell"], "sample": True, "seed": 5}
    alone = answer(server, "translate", **body)["translations"]
    others = [{"model": "luong", "texts": [text], "sample": True, "seed": seed} for text in ENGLISH for seed in (1, 2)]
    with ThreadPoolExecutor(9) as pool:
        found = [pool.submit(answer, server, "translate", **one) for one in (*others, body)]
        assert found[-1].result()["translations"] == alone
    assert answer(server, "translate", **{**body, "seed": 6})["translations"] != alone


def test_a_prefix_for_each_text_or_for_all(server):
    found = answer(server, "translate", texts=[TEXT, "snow fell"], prefix=["눈이", None])["translations"]
    assert found[0]["text"].startswith("눈이")
    error = refused(server, "translate", {"texts": [TEXT], "prefix": "얼룩말"})
    assert error["message"] == "prefix: not in the model's vocabulary, so that it cannot be written: 얼룩말"
    error = refused(server, "translate", {"texts": [TEXT], "prefix": ["눈이", "눈이"]})
    assert "2 given for 1 text" in error["message"]


@pytest.mark.parametrize("name", ["luong", "transformer"])
def test_a_look_has_the_numbers_of_the_record(server, shelf, name):
    record = shelf.find(name).model.look(TEXT)
    found = answer(server, "look", model=name, text=TEXT)
    assert found["output"] == record.target
    assert found["source"]["tokens"] == list(record.source_tokens)
    assert found["target"]["tokens"] == list(record.target_tokens)
    assert np.allclose(found["map"]["values"], record.weights, atol=1e-5)
    assert found["map"]["kind"] == "cross"
    assert found["map"]["sums"] == pytest.approx([1.0] * len(record.target_tokens), abs=1e-5)
    assert [step["token"] for step in found["steps"]] == list(record.target_tokens)
    assert [step["probability"] for step in found["steps"]] == pytest.approx(
        [step.probability for step in record.steps], abs=1e-5
    )


def test_every_map_of_a_transformer_can_be_had_one_at_a_time(server, shelf):
    record = shelf.find("transformer").model.look(TEXT)
    for one in answer(server, "look", model="transformer", text=TEXT)["maps"]:
        for head in (None, 2):
            body = {"kind": one["kind"], "layer": one["layer"], "head": head}
            found = answer(server, "look", model="transformer", text=TEXT, **body)["map"]
            assert np.allclose(found["values"], record.select(**body), atol=1e-5)
            assert (found["layer"], found["head"], found["heads"]) == (one["layer"], head, one["heads"])


def test_both_readings_name_the_rows_otherwise(server):
    output = answer(server, "look", text=TEXT)["map"]
    put_in = answer(server, "look", text=TEXT, reading="input")["map"]
    assert put_in["rows"] == ["<sos>", *output["rows"][:-1]]
    assert put_in["values"] == output["values"]
    assert put_in["reads"] == "row t is the word just put in"


def test_words_of_a_look_say_which_tokens_they_are(server):
    found = answer(server, "look", text="We saw a ship.", words=True)
    assert found["map"]["merged"]
    assert len(found["map"]["column_places"]) == len(found["map"]["columns"])
    assert sorted(at for places in found["map"]["column_places"] for at in places) == list(range(7))
    assert [word["text"] for word in found["source"]["words"]] == ["We", "saw", "a", "ship."]


def test_words_of_bytes_have_their_letters():
    tokens = ["<sos>", "▁a", "<0x3C>", "b", "▁", "<0xF0>", "<0x9F>", "<0x98>", "<0x80>", "<eos>"]
    found = plain_side("a<b 😀", tokens, tokens, tokens)
    assert [word["text"] for word in found["words"]] == ["a<b", "😀"]
    assert found["names"][2:6] == ["<", "b", "▁", "😀‹1/4›"]
    assert found["tokens"] == tokens


def test_links_are_between_the_words_that_are_listed(server, shelf):
    found = answer(server, "look", text=TEXT)
    (own,) = shelf.find("luong").model.translate([TEXT], align=True)
    assert " ".join(f"{left}-{right}" for left, right in found["links"]) == own.links
    assert all(left < len(found["source"]["words"]) for left, _ in found["links"])
    assert all(right < len(found["target"]["words"]) for _, right in found["links"])


def test_a_text_is_tidied_before_it_is_looked_at(server):
    found = answer(server, "look", text="  We   saw\u00ad a\tship\n")
    assert found["source"]["text"] == TEXT
    assert found["source"]["names"] == ["<sos>", "We", "saw", "a", "ship", "<eos>"]
    assert found["map"] == answer(server, "look", text=TEXT)["map"]


def test_unknown_words_have_known_ones_offered(server):
    found = answer(server, "look", text="I liked snow")
    assert found["unknown"][0]["word"] == "liked"
    assert found["unknown"][0]["offers"][0] == "like"
    assert found["source"]["tokens"][2] == "<unk>"
    assert found["source"]["names"][2] == "liked"


@pytest.mark.parametrize("lens", ["value-norm", "rollout", "gradient-input", "integrated-gradients", "leave-one-out"])
def test_lenses_are_those_of_the_model(server, shelf, lens):
    own = shelf.find("transformer").model.lens(TEXT, lens)
    found = answer(server, "look", model="transformer", text=TEXT, lens=lens)["map"]
    assert np.allclose(found["values"], own.values, atol=1e-4)
    assert found["signed"] == own.signed
    assert found["measures"] == own.measures


def test_a_model_without_attention_shows_its_gradients(server):
    found = answer(server, "look", model="plain", text=TEXT)
    assert found["map"]["lens"] == "gradient-input"
    assert (
        found["output"]
        == server.post("/v1/translate", {"model": "plain", "texts": [TEXT]}).json()["translations"][0]["text"]
    )
    assert found["links"] is None
    error = refused(server, "look", {"model": "plain", "text": TEXT, "lens": "raw"})
    assert "a plain decoder does not look at the source" in error["message"]


def test_honesty_is_quick_or_full_or_left_out(server, shelf):
    assert answer(server, "look", text=TEXT)["honesty"] is None
    quick = answer(server, "look", text=TEXT, honesty="quick")["honesty"]
    own = shelf.find("luong").model.quick_honesty(TEXT)
    assert quick["lines"] == list(own.first())
    assert quick["permutations"] == 0
    full = answer(server, "look", text=TEXT, honesty="full", seed=3)["honesty"]
    assert (full["permutations"], full["seed"]) == (100, 3)
    assert full["means"]["percentile"] is not None
    other = answer(server, "look", model="transformer", text=TEXT, kind="self", honesty="quick")
    assert other["honesty"] is None
    assert other["honesty_missing"] == "it is of raw attention between what is written and what is read"


def test_a_look_has_the_search_of_the_models_own_translation(server, shelf):
    record = shelf.find("luong").model.look(TEXT)
    beam = answer(server, "look", model="luong", text=TEXT)["beam"]
    assert beam["width"] == record.beam.width
    assert [node["token"] for node in beam["nodes"]] == [node.token for node in record.beam.nodes]
    assert len(beam["nodes"]) > record.beam.width
    given = answer(server, "look", model="luong", text=TEXT, target=record.target)
    assert given["beam"] is None, "nothing was searched for"


def test_a_classifiers_look_has_its_labels(server, shelf):
    found = answer(server, "look", model="labels", text=TEXT)
    (own,) = shelf.find("labels").model.classify([TEXT])
    assert found["classification"]["probabilities"] == pytest.approx(own.probabilities, abs=1e-5)
    assert found["map"]["bars"]
    assert found["map"]["rows"] == [own.label]
    assert found["links"] is None
    assert found["readers"] == shelf.find("labels").model.look(TEXT).readers
    error = refused(server, "look", {"model": "labels", "text": TEXT, "target": "shipp", "lens": "leave-one-out"})
    assert error["message"] == "target: there is no label 'shipp'; did you mean ship?"


def test_an_explanation_is_what_the_command_prints(server, shelf):
    found = answer(server, "explain", text=TEXT, step=2, target=TARGET)
    folder = str(shelf.find("luong").folder)
    printed = json.loads(invoke("explain", folder, TEXT, "--step", "2", "--target", TARGET, "--json").stdout)
    assert found["residual"] < 1e-5
    assert [step["name"] for step in found["steps"]] == [step["name"] for step in printed["steps"]]
    for ours, theirs in zip(found["steps"], printed["steps"], strict=True):
        assert np.allclose(ours["values"], theirs["values"], atol=1e-6)
    assert found["numbers"] == printed["numbers"]


def test_an_explanation_is_told_step_by_step_in_two_languages(server):
    english = answer(server, "explain", text=TEXT, step=1)
    korean = answer(server, "explain", text=TEXT, step=1, lang="ko")
    assert english["page"]["title"] != korean["page"]["title"]
    assert len(english["page"]["names"]) == len(english["steps"])
    assert "어텐션 스코어" in korean["page"]["names"]
    shown = [place for block in english["page"]["blocks"] for place in block["steps"]]
    assert shown == sorted(shown)
    totals = {place for place, step in enumerate(english["steps"]) if "total_of" in step and step["name"] != "context"}
    assert set(shown) == set(range(len(english["steps"]))) - totals


def test_changed_rows_are_those_of_the_model(server, shelf):
    own = shelf.find("luong").model.intervene(TEXT, Move(1, "ship", "saw", 0.5), Flatten(2), target=TARGET)
    changes = [{"do": "move", "step": 1, "word": "ship", "to": "saw", "share": 0.5}, {"do": "flatten", "step": 2}]
    found = answer(server, "intervene", text=TEXT, changes=changes, target=TARGET)
    assert found["question"] == "changes"
    assert found["output_after"] == own.output_after
    assert found["changes"][0] == "step 1: 50% of the weight of “ship” moved to “saw”"
    assert found["steps"][0]["row_after"] == pytest.approx(own.effects[0].row_after, abs=1e-5)
    assert len(found["picture"]["rows"]) == 4


def test_a_row_of_ones_own(server):
    weights = [0, 3, 1, 0, 0, 0]
    found = answer(server, "intervene", text=TEXT, changes=[{"do": "set", "step": 1, "weights": weights}])
    assert found["steps"][0]["row_after"] == pytest.approx([0, 0.75, 0.25, 0, 0, 0], abs=1e-6)
    error = refused(server, "intervene", {"text": TEXT, "changes": [{"do": "set", "step": 1, "weights": [1, 2]}]})
    assert error["message"] == "step 1: weights of your own: 2 weights for 6 words; give one for each"


def test_an_edited_text_has_a_difference_and_new_probabilities(server, shelf):
    edits = [{"do": "delete", "word": "saw"}]
    found = answer(server, "intervene", model="labels", text=TEXT, edits=edits)
    before, after = shelf.find("labels").model.classify([TEXT, "We a ship"])
    assert found["classification_before"]["probabilities"] == pytest.approx(before.probabilities, abs=1e-5)
    assert found["classification_after"]["probabilities"] == pytest.approx(after.probabilities, abs=1e-5)
    assert found["columns"] == ["We", "−saw", "a", "ship"]
    translated = answer(server, "intervene", text=TEXT, edits=[{"do": "swap", "word": "ship", "other": "pear"}])
    assert "ship→pear" in translated["columns"]
    assert translated["classification_after"] is None


def test_another_map_with_the_same_answer_is_searched_for_classifiers(server):
    found = answer(server, "intervene", model="labels", text=TEXT, other_map=True)
    assert len(found["own"]) == len(found["other"]) == 4
    assert found["tvd"] <= found["allowed"]
    error = refused(server, "intervene", {"model": "luong", "text": TEXT, "other_map": True})
    assert error["message"] == "other_map is for classifiers; a translator's rows depend on each other"


WRONG = {
    "an unknown field": ("translate", {"texts": [TEXT], "beams": 3}, "beams: no such field; did you mean beam?"),
    "a text that is missing": ("look", {}, "text: is missing"),
    "a change that does nothing": (
        "intervene",
        {"text": TEXT, "changes": [{"step": 2}]},
        "changes[0].do: is missing; there is force, move, zero, flatten, permute, set",
    ),
    "an edit that nobody knows": (
        "intervene",
        {"text": TEXT, "edits": [{"do": "delete", "word": "a"}, {"do": "<b>"}]},
        "edits[1].do: no such thing can be done; there is swap, delete, insert",
    ),
    "neither of two kinds": (
        "translate",
        {"texts": [TEXT], "prefix": 5},
        "prefix: text is expected, or a list is expected",
    ),
    "nothing at all": ("look", {"text": ""}, "text: text of a length of at least 1 is expected"),
    "no object": (
        "intervene",
        {"text": TEXT, "changes": ["force"]},
        "changes[0]: an object with names and values is expected",
    ),
    "a number for a text": ("translate", {"texts": [7]}, "texts[0]: text is expected"),
    "a text for a number": ("translate", {"texts": [TEXT], "beam": "5"}, "beam: a whole number is expected"),
    "no texts": ("translate", {"texts": []}, "texts: 0 of them, where at least 1 is expected"),
    "two ways of searching": (
        "translate",
        {"texts": [TEXT], "top_k": 3},
        "the body: top_k: only for drawing; add sample",
    ),
    "a beam beyond the limit": (
        "translate",
        {"texts": [TEXT], "beam": 17},
        "beam: 17 beginnings; this server takes 16 at most",
    ),
    "a step that is not there": ("explain", {"text": TEXT, "step": 99}, "there is no step 99"),
    "a layer that is not there": ("look", {"text": TEXT, "layer": 5}, "this record has no cross attention of layer 5"),
    "a head that is not there": ("look", {"text": TEXT, "head": 5}, "cross attention of layer 0 has no head 5"),
    "a lens that is not there": ("look", {"text": TEXT, "lens": "roll"}, "lens: input should be 'raw', 'value-norm'"),
    "white space": ("look", {"text": "  "}, "the text is empty; there is nothing to look at"),
    "two questions": (
        *("intervene", {"text": TEXT, "changes": [{"do": "flatten", "step": 1}], "other_map": True}),
        "the body: changes and other_map are two questions; ask one at a time",
    ),
    "no question": ("intervene", {"text": TEXT}, "the body: ask one question: changes, edits or other_map"),
    "a change that is none": (
        *("intervene", {"text": TEXT, "changes": [{"do": "push", "step": 1}]}),
        "changes[0].do: no such thing can be done; there is force, move, zero, flatten, permute, set",
    ),
    "a step below one": (
        *("intervene", {"text": TEXT, "changes": [{"do": "flatten", "step": 0}]}),
        "changes[0].step: must be at least 1",
    ),
    "a row of one's own at a step below one": (
        *("intervene", {"text": TEXT, "changes": [{"do": "set", "step": 0, "weights": [1.0]}]}),
        "changes[0].step: must be at least 1",
    ),
    "a word that is not there": (
        *("intervene", {"text": TEXT, "edits": [{"do": "delete", "word": "shop"}]}),
        "“shop” is not in the source: did you mean “ship”?",
    ),
    "the wrong task": ("classify", {"model": "luong", "texts": [TEXT]}, "model: luong is there to translate"),
}


@pytest.mark.parametrize("case", WRONG, ids=str)
def test_what_is_wrong_is_said_with_its_place(server, case):
    path, body, message = WRONG[case]
    assert refused(server, path, body)["message"].startswith(message)


def test_every_mistake_is_named_at_once(server):
    error = refused(server, "look", {"txt": "x", "layer": -1})
    assert {one["where"] for one in error["mistakes"]} == {"text", "txt", "layer"}


def test_a_model_that_is_not_there(server):
    error = refused(server, "translate", {"model": "luon", "texts": [TEXT]}, 404)
    assert error["message"] == "model: there is no such model; did you mean luong?"


@pytest.mark.parametrize(
    ("content", "kind", "message"),
    [
        (b"{", "application/json", "the body: not JSON: "),
        (
            b'{"texts": ["a"], "texts": ["b"]}',
            "text/plain",
            "the body: a JSON object is expected, sent as application/json",
        ),
        (b"[1]", "application/json", "the body: a JSON object is expected, sent as application/json"),
        (b"", "application/json", "the body: a JSON object is expected, sent as application/json"),
        (b'{"texts": ["\\ud800"]}', "application/json", "texts[0]: "),
        (b"[" * 100_000, "application/json", ""),
        (b"\xff\xfe", "application/json", ""),
        (b'{"texts": ["a"], "length_penalty": NaN}', "application/json", "length_penalty: "),
    ],
)
def test_bodies_that_are_no_requests(server, content, kind, message):
    found = server.client.post("/v1/translate", content=content, headers={"Content-Type": kind})
    assert found.status_code in (400, 422)
    assert found.json()["error"]["message"].startswith(message)


def test_paths_and_methods_that_are_not_there(server):
    assert server.get("/v1/nothing").status_code == 404
    assert server.get("/v1/translate").status_code == 405
    assert server.get("/../pyproject.toml").status_code == 404
    assert server.get("/%2e%2e/%2e%2e/pyproject.toml").status_code == 404


def test_the_page_and_its_headers(server):
    found = server.get("/")
    assert found.status_code == 200
    assert found.headers["content-type"].startswith("text/html")
    assert found.headers["content-security-policy"].startswith("default-src 'none'")
    assert "connect-src 'self'" in found.headers["content-security-policy"]
    for path in ("/", "/v1/models", "/nothing"):
        headers = server.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers
        assert "server" not in headers


def test_the_openapi_document_is_there_and_asks_for_no_cdn(server):
    told = server.get("/openapi.json").json()
    assert {"/v1/translate", "/v1/look", "/v1/models", "/readyz"} <= set(told["paths"])
    assert server.get("/docs").status_code == 404


def test_health_and_metrics(server):
    assert server.get("/livez").json() == {"status": "alive"}
    assert server.get("/readyz").json() == {"status": "ready"}
    answer(server, "translate", texts=["snow fell"])
    text = server.get("/metrics").text
    assert 'nungil_requests_total{path="/v1/translate",status="200"}' in text
    assert "snow" not in text
    server.get("/v1/made-up")
    assert "made-up" not in server.get("/metrics").text


def test_two_models_of_one_name(shelf):
    folder = str(shelf.find("luong").folder)
    found = invoke("serve", folder, folder, "--port", "0")
    assert found.returncode == 2
    assert found.stderr == f"nungil: two models would be called luong; give one another name: other={folder}\n"


def test_keys_are_asked_for_everywhere_but_where_they_are_not(shelf):
    with running(shelf, keys=[KEY, "another-key-of-some-length"]) as server:
        for path in ("/", "/livez", "/readyz", "/languages", "/frontend/settings"):
            assert server.get(path).status_code == 200, path
        for path in ("/v1/models", "/metrics", "/openapi.json"):
            found = server.get(path)
            assert found.status_code == 401
            assert found.headers["www-authenticate"] == "Bearer"
            assert found.json()["error"]["message"] == "a key is needed: Authorization: Bearer KEY"
            for key in (KEY, "another-key-of-some-length"):
                assert server.get(path, headers={"Authorization": f"Bearer {key}"}).status_code == 200
            for wrong in ("Bearer", f"Bearer {KEY}x", f"Basic {KEY}", f"Bearer {KEY[:-1]}"):
                assert server.get(path, headers={"Authorization": wrong}).status_code == 401
