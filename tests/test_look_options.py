"""`nungil look` with lenses, honesty, changes, edits and badges, as users type and read it."""

import json

import pytest
from command import invoke
from model_folders import CLASSIFIER, ENGLISH, KOREAN, TRANSFORMER, classifier_folder, translator_folder

import nungil
from nungil.inspection.measuring import Wanted
from nungil.inspection.record import AttentionRecord

TEXT = "I like snow"


@pytest.fixture
def folder(tmp_path):
    return str(translator_folder(tmp_path / "model"))


@pytest.fixture
def labelling(tmp_path):
    return str(classifier_folder(tmp_path / "classifier"))


def look(*arguments):
    found = invoke("look", *arguments)
    assert found.returncode == 0, found.stderr
    return found.stdout


def refused(*arguments):
    found = invoke("look", *arguments)
    assert (found.returncode, found.stdout) == (2, "")
    return found.stderr


def test_three_figures_and_a_verdict_stand_below_a_map(folder, labelling):
    for model in (folder, labelling):
        shown = look(model, TEXT)
        for begins in ("Made even: ", "Erased: ", "Order: τ ", "Verdict: "):
            assert sum(line.startswith(begins) for line in shown.splitlines()) == 1
        assert "Recomputed" not in shown
        assert "Verdict" not in look(model, TEXT, "--honesty", "none")


def test_honesty_in_full(folder):
    shown = look(folder, TEXT, "--honesty", "full")
    assert "Among 100 permutations of each row (seed 1)" in shown
    assert "Recomputed in NumPy from queries and keys" in shown
    assert "Row by row:" in shown
    plain = json.loads(look(folder, TEXT, "--honesty", "full", "--json"))
    (strip,) = plain["honesty"]
    assert strip["permutations"] == 100
    assert len(strip["rows"]) == strip["steps"] == len(plain["target_tokens"])
    (found,) = AttentionRecord.from_json(plain).honesty
    assert found == nungil.load(folder).honesty(TEXT)


def test_drawings_and_pages_carry_the_strip(folder, labelling, tmp_path):
    """As the terminal does: where it is cheap, and unless it is not wanted."""
    for model in (folder, labelling):
        for ending in ("svg", "html", "json"):
            path = tmp_path / f"map.{ending}"
            into = ["--json"] if ending == "json" else [f"--{ending}", str(path)]
            shown = look(model, TEXT, *into) or path.read_text()
            for figure in ("Made even: p of", "Erased: without", "Order: τ", "Verdict: "):
                assert figure in shown
            assert "Verdict: " not in (look(model, TEXT, *into, "--honesty", "none") or path.read_text())
    record = nungil.load(folder).look(TEXT, honesty=True)
    record.save(tmp_path / "saved.svg")
    assert "Verdict: " in (tmp_path / "saved.svg").read_text()
    assert nungil.load(folder).look(TEXT).honesty == ()


def test_a_strip_is_of_the_map_that_is_chosen(tmp_path):
    model = nungil.load(translator_folder(tmp_path / "transformer", TRANSFORMER))
    record = model.look(TEXT, honesty=Wanted(layer=1, head=2))
    assert record.strip_of(layer=1, head=2).where == "cross attention · layer 1 · head 2"
    assert record.strip_of(layer=1) is None
    assert record.strip_of() is None
    assert "Verdict" in " ".join(record.picture(layer=1, head=2).notes)
    assert "Verdict" not in " ".join(record.picture(layer=1, head=1).notes)
    assert record.merged().read_as("input").honesty == record.honesty
    assert AttentionRecord.from_json(record.to_json()) == record


def test_a_map_of_self_attention_has_no_strip(tmp_path):
    model = str(translator_folder(tmp_path / "transformer", TRANSFORMER))
    assert "Verdict" in look(model, TEXT)
    for kind in ("self", "masked"):
        shown = look(model, TEXT, "--kind", kind)
        assert "Verdict" not in shown
        assert "Trust: not measured; its figures are of attention between what is written and what is read." in shown
    assert "--honesty is of the attention between" in refused(model, TEXT, "--kind", "self", "--honesty", "full")


def test_a_lens(folder):
    shown = look(folder, TEXT, "--lens", "leave-one-out")
    assert shown.startswith("leave-one-out · the whole model")
    assert "Lens: by how much log p of the written word falls when this word is taken out of the text." in shown
    plain = json.loads(look(folder, TEXT, "--lens", "integrated-gradients", "--json"))
    assert plain["delta"] < 0.01
    assert "no lens rollout: its encoder does not attend" in refused(folder, TEXT, "--lens", "rollout")
    assert "there is no lens 'gradient-imput'; did you mean gradient-input?" in refused(
        folder, TEXT, "--lens", "gradient-imput"
    )


def test_what_is_said_of_a_classifier_is_of_its_label(labelling):
    for options in (["--lens", "leave-one-out"], ["--flatten", "1"], ["--swap", "snow=ship"], ["--honesty", "full"]):
        shown = look(labelling, TEXT, *options)
        for word in ("written", "Output", "output", "greedily"):
            assert word not in shown
    assert "Label before: " in look(labelling, TEXT, "--swap", "snow=ship")


def test_a_lens_in_files(folder, tmp_path):
    found = invoke("look", folder, TEXT, "--lens", "gradient-input", "--svg", str(tmp_path / "a.svg"))
    assert (found.returncode, found.stdout) == (0, "")
    assert "gradient-input" in (tmp_path / "a.svg").read_text()


def test_a_model_without_attention_has_lenses(tmp_path):
    plain = str(translator_folder(tmp_path / "plain", {"kind": "recurrent", "width": 10, "decoder": "plain"}))
    assert look(plain, TEXT, "--lens", "gradient-input").startswith("gradient-input")
    assert "plain decoder" in refused(plain, TEXT)


@pytest.mark.parametrize(
    ("option", "given", "said"),
    [
        ("--force", "1:snow", "step 1: all weight on “snow”"),
        ("--force", "1:4", "step 1: all weight on word 4"),
        ("--move", "1:snow>like", "step 1: the weight of “snow” moved to “like”"),
        ("--zero", "1:snow", "step 1: no weight on “snow”"),
        ("--flatten", "1", "step 1: the same weight everywhere"),
        ("--permute", "1", "step 1: the weights in another order (seed 1)"),
    ],
)
def test_changes_of_attention(folder, option, given, said):
    shown = look(folder, TEXT, option, given)
    assert f"Changed: {said}." in shown
    assert "Output before: " in shown
    assert "Output after:  " in shown
    plain = json.loads(look(folder, TEXT, option, given, "--json"))
    assert plain["changes"] == [said]
    assert plain["where"] == "cross attention · layer 0"


def test_a_change_in_every_layer(tmp_path):
    model = str(translator_folder(tmp_path / "transformer", TRANSFORMER))
    plain = json.loads(look(model, TEXT, "--flatten", "1", "--everywhere", "--json"))
    assert plain["where"] == "cross attention · every layer and head"
    assert "--everywhere goes with --force" in refused(model, TEXT, "--everywhere")


def test_edits_of_the_text(folder):
    shown = look(folder, TEXT, "--swap", "snow=ship", "--insert", "like=a", "--delete", "I")
    assert "Edited: “snow” swapped for “ship”; “a” inserted after “like”; “I” deleted." in shown
    edits = ["--swap", "snow=ship", "--insert", "like=a", "--delete", "I", "--json"]
    assert json.loads(look(folder, TEXT, *edits))["columns"] == ["<sos>", "−I", "like", "+a", "snow→ship", "<eos>"]
    plain = json.loads(look(folder, TEXT, "--swap", "snow=ship", "--lens", "leave-one-out", "--json"))
    assert plain["before"]["lens"] == "leave-one-out"


def test_changes_are_made_in_the_order_they_are_typed(folder):
    asked = ["--zero", "1:snow", "--force", "1:4", "--flatten", "2", "--zero=1:like", "--json"]
    assert json.loads(look(folder, TEXT, *asked))["changes"] == [
        "step 1: no weight on “snow”",
        "step 1: all weight on word 4",
        "step 2: the same weight everywhere",
        "step 1: no weight on “like”",
    ]
    edits = ["--delete", "snow", "--insert", "like=ship", "--swap", "ship=pear", "--delete", "pear", "--json"]
    assert json.loads(look(folder, TEXT, *edits))["edits"] == [
        "“snow” deleted",
        "“ship” inserted after “like”",
        "“ship” swapped for “pear”",
        "“pear” deleted",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--force", "snow"], "--force snow: a step, from 1, and a word, with a colon between them, are expected"),
        (["--force", "0:snow"], "steps count from 1; there is no step 0"),
        (["--force", "1:rain"], "“rain” is not in the source"),
        (["--move", "1:snow"], "as in --move '3:snow>rain'"),
        (["--swap", "snow"], "--swap snow: two words with = between them are expected, as in --swap snow=rain"),
        (["--swap", "snow=ship", "--target", "눈이"], "--target does not go with an edited text"),
        (["--flatten", "99"], "there is no step 99"),
        (["--flatten", "1", "--delete", "snow"], "are two questions; ask one at a time"),
        (["--lens", "raw", "--flatten", "1"], "--lens and changes of attention are two questions"),
        (["--other-map"], "--other-map is for classifiers"),
        (["--flatten", "1", "--kind", "cross"], "--kind: only for maps of attention, not with changes of attention;"),
        (["--lens", "raw", "--reading", "input"], "--reading: only for maps of attention, not with --lens;"),
    ],
)
def test_what_cannot_be_meant_is_refused(folder, arguments, said):
    assert said in refused(folder, TEXT, *arguments)


def test_another_map_of_a_classifier(labelling, tmp_path):
    shown = look(labelling, TEXT, "--other-map")
    assert "Other map: " in shown
    assert json.loads(look(labelling, TEXT, "--other-map", "--json"))["tvd"] <= 0.01
    pooled = str(classifier_folder(tmp_path / "mean", {**CLASSIFIER, "pooling": "mean"}))
    assert "it pools by mean" in refused(pooled, TEXT, "--other-map")


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("".join(f"{one}\t{other}\tx\n" for one, other in zip(ENGLISH, KOREAN, strict=True)))
    return str(path)


def test_a_badge(folder, pairs):
    found = invoke("look", folder, "--badge", "--data", pairs, "--columns", "1,2", "--limit", "3")
    assert found.returncode == 0, found.stderr
    assert "3 texts with attention as it is, even, permuted and random" in found.stderr
    assert found.stdout.startswith("chrF ")
    assert "Verdict: This model" in found.stdout
    plain = json.loads(look(folder, "--badge", "--data", pairs, "--columns", "1,2", "--json"))
    assert plain["sentences"] == 4


def test_what_would_have_no_effect_is_refused(folder, tmp_path):
    page = str(tmp_path / "a.html")
    assert "--badge measures the model as a whole; leave out the text 'I like snow', --html, --lens" in refused(
        folder, TEXT, "--badge", "--html", page, "--lens", "raw"
    )
    assert "--limit, --also: only with --badge" in refused(folder, TEXT, "--limit", "3", "--also", folder)
    assert "--candidates, --honesty: only for maps of attention, not with --lens" in refused(
        folder, TEXT, "--lens", "raw", "--candidates", "--honesty", "full"
    )


def test_changed_rows_and_other_maps_have_whole_words_too(labelling):
    for asked in (["--flatten", "1"], ["--other-map"]):
        pieces, words = (look(labelling, "We saw.", *asked, *more).splitlines() for more in ([], ["--words"]))
        assert pieces[2].split() == ["We", "saw", "￭<unk:.>"]
        assert words[2].split() == ["We", "<unk:saw.>"]
        assert "Merging: words: columns summed over their pieces." in words
    even = look(labelling, "We saw.", "--flatten", "1", "--words").splitlines()[4]
    assert even.split() == ["changed", "▒▒33", "▓▓67"]


def test_the_badges_of_two_seeds(folder, pairs, tmp_path):
    other = str(translator_folder(tmp_path / "other"))
    asked = ["--badge", "--also", other, "--data", pairs, "--columns", "1,2"]
    shown = look(folder, *asked)
    assert "Spread over 2 models: lowest, mean, highest." in shown
    assert "Their maps of the same output differ by JSD" in shown
    assert len(json.loads(look(folder, *asked, "--json"))["badges"]) == 2


def test_a_badge_needs_texts_of_the_right_kind(folder, labelling, pairs):
    assert "has kept no validation set; name texts with --data FILE" in refused(folder, "--badge")
    assert "have different tasks" in refused(
        folder, "--badge", "--also", labelling, "--data", pairs, "--columns", "1,2"
    )


def test_help_stands_in_sections():
    shown = invoke("look", "--help").stdout
    for heading in ("Arguments:", "Options:", "How far to trust it:", "Change what it reads:"):
        assert f"\n{heading}\n" in shown
    assert shown.rindex("--force") > shown.index("Change what it looks at")
