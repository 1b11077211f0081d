"""Recipes: YAML and --set laid over, every mistake at once; a plan fills in what is open and resets nothing."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from command import invoke

from nungil.errors import ConfigError, CorpusError, UsageError
from nungil.model.classifier import ClassifierSettings
from nungil.model.ngrams import NgramSettings
from nungil.model.recurrent import RecurrentSettings
from nungil.model.transformer import TransformerSettings
from nungil.records import Pair
from nungil.runs import plan
from nungil.runs.plan import DEAR, FEWEST, LARGE, MOST, SIZES, TEXTS, filled, make_plan
from nungil.runs.recipe import MODELS, Recipe, read_recipe
from nungil.text.languages import Languages
from nungil.text.outlook import outlook
from nungil.training.precision import Measured
from nungil.training.schedule import ScheduleSettings

DATA = {"data": {"train": "pairs.tsv"}}


def recipe_of(tmp_path, text, options=None, changes=()):
    path = tmp_path / "recipe.yaml"
    path.write_text(text, encoding="utf-8")
    return read_recipe(path, options or {}, changes)


def mistakes(tmp_path, text, options=None, changes=()):
    with pytest.raises(ConfigError) as caught:
        recipe_of(tmp_path, text, options, changes)
    assert str(caught.value).startswith(f"{tmp_path}/recipe.yaml:\n- ")
    return list(caught.value.mistakes)


# Reading


@pytest.mark.parametrize("path", sorted(Path(__file__).parents[1].glob("recipes/*")), ids=lambda path: path.stem)
def test_every_recipe_of_the_house_can_be_read_and_begins_with_its_command(path):
    assert read_recipe(path, {}).data.folder is None, "where the data lies is said on the command line"
    lines = [line.strip("# \n") for line in path.read_text().splitlines() if line.startswith("#")]
    assert any(line.startswith(f"nungil train recipes/{path.name} --data DATA --out runs/") for line in lines)


def test_files_are_looked_for_in_the_folder_that_is_named(tmp_path):
    (tmp_path / "corpus").mkdir()
    rows = "".join(f"snow {number}\t눈 {number}\n" for number in range(30))
    (tmp_path / "corpus" / "pairs.tsv").write_text(rows)
    (tmp_path / "recipe.yaml").write_text("data: {train: pairs.tsv, valid: pairs.tsv}\n")
    found = read_recipe(tmp_path / "recipe.yaml", {"data": {"folder": str(tmp_path / "corpus")}}).data.placed()
    assert found.train == found.valid == (str(tmp_path / "corpus" / "pairs.tsv"),)
    assert found.placed() == found
    checked = invoke("check", str(tmp_path / "recipe.yaml"), "--data", str(tmp_path / "corpus"))
    assert "30 pairs read" in checked.stdout
    missing = invoke("check", str(tmp_path / "recipe.yaml"), "--data", str(tmp_path / "nowhere"))
    assert missing.returncode == 3
    assert missing.stderr == f"nungil: {tmp_path}/nowhere: there is no such folder; expected in it: pairs.tsv\n"
    useless = invoke("check", str(tmp_path / "corpus" / "pairs.tsv"), "--data", str(tmp_path / "corpus"))
    assert (useless.returncode, useless.stderr) == (
        2,
        f"nungil: --data {tmp_path}/corpus is for recipes; name the files themselves\n",
    )


def test_options_go_over_the_file_and_changes_over_both(tmp_path):
    text = "data: {train: a.tsv, source: en}\nseed: 3\ntraining: {steps: 10, patience: 4}\nmodel: luong\n"
    options = {"data": {"train": ["b.tsv"]}, "training": {"steps": 20}}
    found = recipe_of(tmp_path, text, options, ["training.steps=30", "seed=5", "training.schedule.rate=0.5"])
    assert found.data.train == ("b.tsv",)
    assert found.data.source == "en"
    assert (found.training.steps, found.training.patience, found.seed) == (30, 4, 5)
    assert found.training.schedule.model_fields_set == {"rate"}
    assert found.model == RecurrentSettings(decoder="luong")


def test_nothing_but_files_is_needed():
    found = read_recipe(None, DATA)
    assert (found.model, found.seed, found.marks) == (None, 1, None)
    assert found.training.model_fields_set == set()


@pytest.mark.parametrize("name", MODELS)
def test_every_name_stands_for_a_model(name):
    found = read_recipe(None, {**DATA, "model": name}).model
    assert found.model_dump(include=found.model_fields_set) == {
        key: value for key, value in found.model_dump().items() if key in MODELS[name]
    }


def test_a_name_and_sizes_become_one_section(tmp_path):
    found = recipe_of(tmp_path, "data: {train: a}\nmodel: bahdanau", {}, ["model.width=34", "model.score.size=9"]).model
    assert (found.decoder, found.width, found.score.name, found.score.size) == ("bahdanau", 34, "additive", 9)
    assert found.model_fields_set == {"kind", "decoder", "score", "width"}
    assert "size" not in MODELS["bahdanau"]["score"], "the names themselves stay as they are"


def test_a_name_replaces_the_section_of_a_file(tmp_path):
    text = "data: {train: a}\nmodel: {kind: transformer, width: 64}"
    assert recipe_of(tmp_path, text, {"model": "gru"}).model == ClassifierSettings(encoder="gru")


# Mistakes


def test_five_mistakes_are_named_at_once(tmp_path):
    text = """
data: {train: pairs.tsv, sorce: en}
model: {kind: transformer, width: 0}
training: {steps: many, schedule: {shape: cosin}}
tokenizers: {size: 1000}
"""
    assert mistakes(tmp_path, text) == [
        "[data] sorce: no such setting; did you mean source?",
        "[model] width: must be at least 2",
        "[training] steps: a whole number is expected",
        "[training.schedule] shape: there is no 'cosin'; did you mean cosine?",
        "tokenizers: no such setting; did you mean tokenizer?",
    ]
    found = invoke("train", str(tmp_path / "recipe.yaml"), "--out", str(tmp_path / "out"))
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.count("\n- ") == 5
    assert not (tmp_path / "out").exists()


def test_an_unknown_name_of_a_model(tmp_path):
    assert mistakes(tmp_path, "data: {train: a}\nmodel: lunog") == [
        "model: there is no model 'lunog'; did you mean luong?"
    ]
    assert mistakes(tmp_path, "data: {train: a}\nmodel: gpt") == [
        "model: there is no model 'gpt'; there is bag, bahdanau, gru, lstm, luong, plain, transformer"
    ]


def test_sizes_without_a_kind_are_of_the_model_that_the_data_is_for(tmp_path):
    (tmp_path / "pairs.tsv").write_text("en\tko\nsnow\t눈\nroad\t길\n")
    (tmp_path / "texts.tsv").write_text("text\tlabel\nsnow falls\ta\nroads end\tb\nsnow melts\ta\n")
    for name, kind in (("pairs", "transformer"), ("texts", "classifier")):
        options = {"data": {"train": str(tmp_path / f"{name}.tsv")}}
        model = read_recipe(None, options, ["model.width=32"]).model
        assert (model.kind, model.width) == (kind, 32)
    assert mistakes(tmp_path, "data: {train: a}", {}, ["model.widht=32"]) == [
        "[model] widht: no such setting; did you mean width?"
    ]


@pytest.mark.parametrize(("section", "kind"), [("500", "a number"), ("[a]", "a list"), ("fast", "text")])
def test_what_stands_in_the_place_of_a_section_is_not_passed_over(tmp_path, section, kind):
    expected = [f"training: holds {kind} where settings (`name: value`) are expected"]
    text = f"data: {{train: a}}\ntraining: {section}"
    assert mistakes(tmp_path, text) == expected
    assert mistakes(tmp_path, text, {"training": {}}) == expected
    assert mistakes(tmp_path, text, {}, ["training.steps=3"]) == expected


def test_an_empty_section_is_none(tmp_path):
    found = recipe_of(tmp_path, "data: {train: a}\ntraining: {schedule: null}", {}, ["training.schedule.warmup=7"])
    assert found.training.schedule.warmup == 7


@pytest.mark.parametrize("change", ["nonsense", "=3", "training.=3", ".steps=3", "training..steps=3"])
def test_a_change_that_is_none(change):
    with pytest.raises(UsageError) as caught:
        read_recipe(None, DATA, [change])
    assert str(caught.value) == (f"--set {change}: write it as section.key=value, such as --set training.steps=500")


@pytest.mark.parametrize("value", ["[1", "2020-99-99", "9" * 5_000, "[" * 1_000])
def test_a_value_that_cannot_be_read(value):
    with pytest.raises(UsageError) as caught:
        read_recipe(None, DATA, [f"seed={value}"])
    assert str(caught.value) == f"--set seed={value}: {value!r} cannot be read as a value"


def test_a_recipe_that_is_not_there_or_holds_no_settings(tmp_path):
    with pytest.raises(CorpusError, match=r"none\.yaml: there is no such file"):
        read_recipe(tmp_path / "none.yaml", {})
    assert mistakes(tmp_path, "- a\n- b") == ["holds a list where settings (`name: value`) are expected"]
    assert mistakes(tmp_path, "") == ["data: is missing"]
    assert mistakes(tmp_path, "data: {train: a}\ndata: {train: b}") == [
        "line 2, column 1: not YAML: data is given twice"
    ]


# The plan


class Rows:
    def __init__(self, rows):
        self.rows = rows


class Column:
    def __init__(self, *lengths):
        self._lengths = np.array(lengths)

    def lengths(self):
        return self._lengths


class Data:
    """What the plan asks of the data."""

    def __init__(self, rows, task="translate", labels=2, valid=(7, 3)):
        self.train, self.task, self.labels = Rows(rows), task, tuple(map(str, range(labels)))
        self.languages = Languages("en", "de")
        self.valid_records = [Pair("I like snow today", "Ich mag heute Schnee")] * 12
        self.valid = SimpleNamespace(columns={"target": Column(*valid)} if task == "translate" else {})


def plan_of(rows=100, task="translate", positions=5_000, longest=30, labels=2, valid=(7, 3), **sections):
    return make_plan(Recipe.model_validate({**DATA, **sections}), Data(rows, task, labels, valid), positions, longest)


def ladder():
    below = 0
    for size in (*SIZES, LARGE):
        yield size, below + 1, min(size.records, below + 10**9)
        below = size.records


@pytest.mark.parametrize(("size", "first", "last"), list(ladder()))
@pytest.mark.parametrize(
    ("task", "model", "kind"),
    [
        ("translate", None, "transformer"),
        ("translate", "luong", "recurrent"),
        ("translate", "plain", "recurrent"),
        ("classify", None, "classifier"),
        ("classify", "bag", "classifier"),
        ("classify", "transformer", "classifier"),
    ],
)
def test_each_step_of_the_ladder_gives_its_sizes(size, first, last, task, model, kind):
    for rows in (first, last):
        found = plan_of(rows, task, positions=9 * rows, model=model)
        sizes = getattr(size, kind)
        assert found.model.kind == kind
        assert {name: getattr(found.model, name) for name in sizes} == sizes
        assert found.training.batch_tokens == size.batch_tokens


def test_what_is_said_of_the_model_stays_and_the_rest_is_filled_in():
    smallest = SIZES[0].transformer
    found = plan_of(model={"kind": "transformer", "dropout": 0.7, "decoder_layers": 9}).model
    assert found == TransformerSettings(**{**smallest, "dropout": 0.7, "decoder_layers": 9})
    scored = plan_of(model={"kind": "recurrent", "score": {"window": "local-m", "reach": 3}}).model
    assert (scored.score.window, scored.score.reach) == ("local-m", 3)
    assert scored.width == SIZES[0].recurrent["width"]
    default = plan_of(model={"kind": "transformer", "width": TransformerSettings().width}).model
    assert default.width == TransformerSettings().width, "said is said, even if it is the default"


def test_what_is_said_of_the_schedule_stays_and_the_rest_is_filled_in():
    worked_out = plan_of(training={"steps": 1_000}).training.schedule
    found = plan_of(training={"steps": 1_000, "schedule": {"warmup": 77}}).training.schedule
    assert found == worked_out.model_copy(update={"warmup": 77})
    assert found.rate != ScheduleSettings().rate


def test_what_is_said_of_training_stays():
    said = {"steps": 123, "batch_tokens": 456, "validate_every": 7, "label_smoothing": 0.0, "metric": "chrf"}
    found = plan_of(training={**said, "accumulation": 3}).training
    assert found.model_dump(include=set(said)) == said
    assert found.accumulation == 3


def test_tasks_differ_in_metric_and_smoothing_and_what_is_hidden():
    translating, classifying = plan_of().training, plan_of(task="classify").training
    assert (translating.metric, translating.label_smoothing, translating.hide) == ("bleu", 0.1, 0.0)
    assert (classifying.metric, classifying.label_smoothing, classifying.hide) == ("accuracy", 0.0, 0.2)
    assert plan_of(task="classify", training={"hide": 0.0}).training.hide == 0.0


@pytest.mark.parametrize(
    ("positions", "labels", "buckets"),
    [(9, 2, FEWEST), (20_000, 2, 2**15), (2**15, 2, 2**15), (10**9, 2, MOST // 2), (10**9, 77, MOST // 77)],
)
def test_ngrams_have_about_as_many_places_as_there_are_tokens(positions, labels, buckets):
    found = plan_of(task="classify", positions=positions, labels=labels).model.ngrams
    assert found == NgramSettings(longest=3, buckets=buckets)


@pytest.mark.parametrize(("unit", "longest"), [("unigram", 3), ("word", 3), ("character", 5)])
def test_ngrams_of_characters_are_longer(unit, longest):
    assert plan_of(task="classify", tokenizer={"unit": unit}).model.ngrams.longest == longest


def test_a_classifier_reads_ngrams_unless_that_is_said():
    assert plan_of(task="classify", model="bag").model.ngrams is not None
    assert plan_of(task="classify", model={"kind": "classifier", "ngrams": None}).model.ngrams is None
    said = plan_of(task="classify", model={"kind": "classifier", "ngrams": {"longest": 2, "buckets": 99}})
    assert said.model.ngrams == NgramSettings(longest=2, buckets=99)


def test_a_batch_has_room_for_the_longest_row_there_may_be():
    assert plan_of(longest=5_000).training.batch_tokens == 5_000


def test_a_batch_of_long_texts_has_many_all_the_same():
    assert plan_of(rows=100, task="classify", positions=40_000).training.batch_tokens == TEXTS * 400
    assert plan_of(rows=100, task="translate", positions=40_000).training.batch_tokens == SIZES[0].batch_tokens
    said = plan_of(rows=100, task="classify", positions=40_000, training={"batch_tokens": 900})
    assert said.training.batch_tokens == 900


def test_updates_are_epochs_and_said():
    found = plan_of(rows=100, positions=50 * SIZES[0].batch_tokens)
    epochs = SIZES[0].epochs
    assert found.training.steps == epochs * 50
    assert found.decisions[0] == (f"{epochs * 50:,} updates: {epochs} epochs of 50; fewer if nothing improves.")
    accumulated = plan_of(rows=100, positions=50 * SIZES[0].batch_tokens, training={"accumulation": 2})
    assert accumulated.training.steps == epochs * 25
    few = plan_of(rows=100, positions=10 * SIZES[0].batch_tokens)
    assert few.training.steps == 1_000
    assert few.decisions[0] == "1,000 updates: 100 epochs of 10; fewer if nothing improves."
    given = plan_of(training={"steps": 9, "precision": "fp32"}).decisions  # else what the processor is good at is said
    assert len(given) == 1


def test_what_to_expect_is_quoted_where_nungil_chose_for_itself():
    told = outlook(4_870)
    assert told is not None
    for plain in ({}, {"model": "transformer"}, {"training": {"precision": "fp32"}}):
        assert plan_of(rows=4_870, **plain).decisions[-1] == told
    for other in ({"model": "luong"}, {"model": {"kind": "transformer", "width": 64}}, {"training": {"steps": 99}}):
        assert told not in plan_of(rows=4_870, **other).decisions
    assert told not in plan_of(rows=4_870, start_from="runs/other").decisions
    assert told not in plan_of(rows=4_870, task="classify").decisions


def test_recurrent_translators_get_half_as_many_epochs():
    many = {"rows": 10_000, "positions": 100 * SIZES[1].batch_tokens}
    epochs = SIZES[1].epochs
    assert [plan_of(**many, model=model).training.steps for model in (None, "luong", "plain")] == [
        100 * epochs,
        50 * epochs,
        50 * epochs,
    ]


def test_long_sentences_get_no_more_updates_than_the_ladder_allows():
    found = plan_of(rows=10_000, positions=800 * SIZES[1].batch_tokens)
    assert found.training.steps == SIZES[1].updates < 800 * SIZES[1].epochs
    assert found.decisions[0].startswith(f"{SIZES[1].updates:,} updates: {SIZES[1].updates // 800} epochs of 800;")
    recurrent = plan_of(rows=10_000, positions=800 * SIZES[1].batch_tokens, model="luong")
    assert recurrent.training.steps == SIZES[1].recurrent_updates < SIZES[1].updates


def test_validations_are_an_epoch_apart_or_a_fortieth_of_the_run():
    assert plan_of(training={"steps": 8_000}).training.validate_every == 200
    assert plan_of(positions=300 * SIZES[0].batch_tokens, training={"steps": 8_000}).training.validate_every == 300
    assert plan_of(training={"steps": 30}).training.validate_every == 30


def test_where_validations_are_dear_there_are_fewer():
    training = {"steps": 8_000, "batch_tokens": 1_000}
    assert [
        plan_of(training=training, valid=(tokens - 9, 9)).training.validate_every
        for tokens in (8_000_000 // (DEAR * 40), 8_000_000 // (DEAR * 25), 8_000_000)
    ] == [200, 320, 800]
    odd = plan_of(training={**training, "steps": 6_010}).training
    assert odd.validate_every == 151, "or there would be one more, right after the last"
    longer = {**training, "accumulation": 2}
    assert plan_of(training=longer, valid=(8_000_000 // (DEAR * 20),)).training.validate_every == 200
    texts = plan_of(task="classify", training=training)
    assert texts.training.validate_every == 200, "to choose a label costs next to nothing"


@pytest.mark.parametrize(("model", "most"), [(None, 2_000), ("luong", 400)])
def test_the_rate_rises_in_a_tenth_of_the_run_and_falls_to_its_end(model, most):
    for steps in (9, 700, 100_000):
        found = plan_of(model=model, training={"steps": steps}).training.schedule
        assert (found.shape, found.warmup) == ("cosine", max(1, min(most, steps // 10)))


@pytest.mark.parametrize(("width", "rate"), [(16, 0.005), (128, 0.005), (256, 0.0015), (512, 0.00075)])
def test_narrow_transformers_learn_at_a_higher_rate(width, rate):
    found = plan_of(model={"kind": "transformer", "width": width, "heads": 4})
    assert found.training.schedule.rate == rate


@pytest.mark.parametrize(("ratio", "chosen", "said"), [(2.04, "bf16", 1), (1.2, "fp32", 0)])
def test_the_precision_that_is_faster_here_is_chosen_and_said(ratio, chosen, said, monkeypatch):
    monkeypatch.setattr(plan, "measure", lambda: Measured("bf16" if ratio >= 1.3 else "fp32", ratio))
    found = plan_of(training={"steps": 9})
    assert found.training.precision == chosen
    line = "Products in bf16: on this processor they are faster than in fp32."
    assert found.decisions.count(line) == said


def test_sizes_that_contradict_the_ladder_are_named():
    with pytest.raises(ConfigError) as caught:
        plan_of(rows=10**7, model={"kind": "transformer", "width": 36})
    assert str(caught.value) == "recipe:\n- width 36 cannot be shared by 8 heads; choose a multiple"


def test_models_for_the_other_task_are_refused():
    with pytest.raises(ConfigError) as caught:
        plan_of(model="lstm")
    assert caught.value.mistakes == ("model: classifier does not translate, but the data is to translate",)
    with pytest.raises(ConfigError) as caught:
        plan_of(task="classify", model="luong")
    assert caught.value.mistakes == ("model: recurrent translates, but the data is to classify",)


def test_a_metric_for_the_other_task_is_refused_with_the_model():
    with pytest.raises(ConfigError) as caught:
        plan_of(model="lstm", training={"metric": "accuracy"})
    assert caught.value.mistakes == (
        "model: classifier does not translate, but the data is to translate",
        "[training] metric: accuracy is not for data to translate; there is bleu, chrf, loss",
    )
    with pytest.raises(ConfigError) as caught:
        plan_of(task="classify", training={"metric": "chrf"})
    assert caught.value.mistakes == ("[training] metric: chrf is not for data to classify; there is accuracy, loss",)
    with pytest.raises(ConfigError) as caught:
        plan_of(task="classify", training={"agreement": 5})
    assert caught.value.mistakes == (
        "[training] agreement: is for translators, but the data is to classify; leave it out",
    )
    assert plan_of(task="classify", training={"metric": "loss"}).training.metric == "loss"


def test_transformer_is_a_name_for_both_tasks_with_sizes_too():
    found = plan_of(task="classify", model={"kind": "transformer", "width": 36, "heads": 3}).model
    assert (found.kind, found.encoder, found.width, found.heads) == ("classifier", "transformer", 36, 3)
    with pytest.raises(ConfigError) as caught:
        plan_of(task="classify", model={"kind": "transformer", "encoder_layers": 3})
    assert caught.value.mistakes[0].startswith("encoder_layers: no such setting")


def test_filling_in_touches_only_what_is_open():
    found = filled(ScheduleSettings(warmup=5), {"warmup": 6, "rate": 0.25})
    assert found == ScheduleSettings(warmup=5, rate=0.25)


def test_a_recipe_goes_through_json_unchanged():
    recipe = Recipe.model_validate({**DATA, "model": "bahdanau", "training": {"schedule": {"rate": 0.1}}, "seed": 9})
    again = Recipe.model_validate(json.loads(json.dumps(recipe.model_dump(mode="json"))))
    assert again == recipe
