"""Whole runs, tiny ones, as a user starts them: what they leave, what they say, and what they refuse."""

import itertools
import json
import math
import os
import re
import shlex
import shutil
import subprocess
from types import SimpleNamespace

import pytest
import torch
from command import NUNGIL, invoke, run, run_with_little_room
from references import ngram_buckets
from safetensors.torch import load_file

import nungil
from nungil.batches.store import Store
from nungil.errors import ConfigError, DivergedError, ResourceError, StoppedError, UsageError
from nungil.model.folder import read_config
from nungil.runs import begin as beginning
from nungil.runs import memory, progress
from nungil.runs.begin import refuse_existing
from nungil.runs.data import DataSettings
from nungil.runs.memory import free_memory, refuse_too_large
from nungil.runs.progress import Metrics, Pace, Watch, to_nobody
from nungil.runs.recipe import Recipe
from nungil.runs.session import Session, _refuse_infinite, spelled
from nungil.settings import read_settings
from nungil.text.snow.corpus import snow_pairs
from nungil.text.snow.senses import SENSE_HEADER, sense_examples, sense_line
from nungil.training.checkpoint import average, checkpoint_name, checkpoints, read_state, verify, write_checkpoint
from nungil.training.course import BEGINNING
from nungil.training.losses import classification_loss
from nungil.training.steps import Step

PAIRS = [(pair.english, pair.korean) for pair in snow_pairs(240, seed=3, lengths=(3, 6))]
SENSES = list(sense_examples(200, seed=5, lengths=(4, 9)))
TRANSLATE = ["--from", "en", "--to", "ko", "--model", "luong", "--set", "model.width=14", "--set", "model.embedding=11"]
CLASSIFY = ["--model", "gru", "--set", "model.width=14", "--set", "model.embedding=11", "--set", "model.dense=9"]


def table(path, rows):
    path.write_text("".join("\t".join(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def settings(**chosen):
    """`--set` for each; a name is written with __ for a dot."""
    return [part for name, value in chosen.items() for part in ("--set", f"{name.replace('__', '.')}={value}")]


def quick(steps=20, **chosen):
    """A run of some updates with a validation half way."""
    quickly = {"tokenizer__unit": "word", "training__validate_every": steps // 2, "training__log_every": 5}
    return ["--steps", str(steps), *settings(**{**quickly, **chosen})]


def step_of(number, loss, predictions):
    """An update; one whose loss is infinite was left out."""
    return Step(number, 0, loss, 0.5, predictions, 1.0, 0.1, BEGINNING, skipped=loss == math.inf)


def bytes_in(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Corpora, good and bad."""
    folder = tmp_path_factory.mktemp("data")
    table(folder / "pairs.tsv", PAIRS)
    (folder / "senses.tsv").write_text("\n".join([SENSE_HEADER, *map(sense_line, SENSES)]) + "\n", encoding="utf-8")
    table(folder / "empty.tsv", [])
    table(folder / "five.tsv", PAIRS[:5])
    table(folder / "one-label.tsv", [("text", "label"), *((text, "snow") for text, _ in PAIRS)])
    table(folder / "foreign.tsv", [(text, f"ただの日本語{number}") for number, (text, _) in enumerate(PAIRS[:30])])
    table(folder / "long-line.tsv", [*PAIRS[:30], ("a" * 1_000_001, "b")])
    table(folder / "long-sentences.tsv", [(f"{source} " * 60, f"{target} " * 60) for source, target in PAIRS[:9]])
    return folder


@pytest.fixture(scope="module")
def translator(tmp_path_factory, data):
    """A run that translates, and how it ended."""
    out = tmp_path_factory.mktemp("runs") / "new" / "translator"
    found = invoke("train", "--train", str(data / "pairs.tsv"), *TRANSLATE, *quick(), "--out", str(out))
    assert found.returncode == 0, found.stderr
    return out, found


def test_who_is_to_agree_with_himself_learns_otherwise(data, tmp_path):
    weights = []
    for agreement in (0, 5):
        out = tmp_path / str(agreement)
        chosen = quick(2, training__agreement=agreement, training__precision="fp32")
        found = invoke("train", "--train", str(data / "pairs.tsv"), *TRANSLATE, *chosen, "--out", str(out))
        assert found.returncode == 0, found.stderr
        weights.append((out / "model.safetensors").read_bytes())
    assert weights[0] != weights[1]


@pytest.fixture(scope="module")
def classifier(tmp_path_factory, data):
    """A run that classifies, and how it ended."""
    out = tmp_path_factory.mktemp("runs") / "classifier"
    chosen = quick(training__average=3, training__average_of="last", training__validate_every=5)
    found = invoke("train", "--train", str(data / "senses.tsv"), *CLASSIFY, *chosen, "--out", str(out))
    assert found.returncode == 0, found.stderr
    return out, found


# What a run leaves


def test_a_folder_has_all_that_belongs_to_a_model(translator):
    out, _ = translator
    assert sorted(path.name for path in out.iterdir()) == [
        *("README.md", "checkpoints", "config.json", "data", "metrics.jsonl", "model.safetensors", "recipe.json"),
        *("result.json", "source.json", "target.json"),
    ]
    places = checkpoints(out / "checkpoints")
    assert [place.name for place in places] == ["step-00000010", "step-00000020"]
    for place in places:
        verify(place)
    state = json.loads((places[0] / "state.json").read_text())
    assert state["update"] == 10
    assert [mark[0] for mark in state["history"]] == [10]
    model = nungil.load(out)
    assert isinstance(model, nungil.Translator)
    assert (model.config.source, model.config.target, model.config.model.width) == ("en", "ko", 14)


def test_metrics_are_json_lines_with_update_and_loss(translator):
    lines = [json.loads(line) for line in (translator[0] / "metrics.jsonl").read_text().splitlines()]
    trained = [line for line in lines if line["kind"] == "train"]
    validated = [line for line in lines if line["kind"] == "validation"]
    assert [line["update"] for line in trained] == [5, 10, 15, 20]
    assert [line["update"] for line in validated] == [10, 20]
    assert all(0 < line["loss"] < 10 for line in lines)
    assert all({"accuracy", "gradient", "rate", "epoch", "per_second"} <= line.keys() for line in trained)
    assert sorted(line["seconds"] for line in lines) == [line["seconds"] for line in lines]
    assert all({"bleu", "chrf"} <= line.keys() for line in validated)


def test_the_card_tells_what_it_is_how_good_and_how_to_use_it(translator):
    out, _ = translator
    card = (out / "README.md").read_text(encoding="utf-8")
    assert card.startswith("# A translator from en to ko\n\nMade by nungil ")
    assert "kind `recurrent`" in card
    assert " 20 updates in " in card
    assert re.search(r"\| validation \| 12 \| \d+\.\d\d \| \d+\.\d\d \|\n\| test \| 12 \|", card)
    assert "- bleu: `nrefs:1|" in card
    assert "In words: with BLEU " in card
    assert f"echo 'I like snow' | nungil translate {out}\nnungil look {out} 'I like snow'\n" in card
    assert "- Cleaning left all 240 pairs." in card
    assert "- It reads the first 256 tokens of a text" in card
    assert "- Its validation set is small" in card


@pytest.mark.parametrize("name", ["translator", "classifier"])
def test_what_a_run_keeps_to_be_scored_on_is_data_like_any_other(name, request):
    folder = str(request.getfixturevalue(name)[0])
    for kept in ("test", "validation"):
        found = invoke("score", folder, "--data", f"{folder}/data/{kept}.jsonl", "--json")
        assert found.returncode == 0, found.stderr
        told = json.loads(found.stdout)
        assert told["sentences" if name == "translator" else "texts"] > 0
        if kept == "test":
            by_itself = json.loads(invoke("score", folder, "--json").stdout)
            assert told["scores"] == by_itself["scores"]


def test_decisions_and_progress_are_talk_and_nothing_is_data(translator):
    out, found = translator
    assert found.stdout == ""
    for sentence in (
        "Cleaning left all 240 pairs.",
        "No validation set was given: 12 pairs of train set aside, and 12 more as a test set",
        "Model: LSTM encoder-decoder of width 14, luong attention (general), dropout ",
        "validation by bleu every 10 updates.",
        "(best)\n  ",
        "Test, not seen in training: BLEU ",
        f"The model and its card (README.md) are in {out}\nNext: echo 'a sentence' | nungil translate {out}\n"
        f"      nungil score {out}\n",
    ):
        assert sentence in found.stderr
    pattern = r"^update (\d+) of 20  epoch \d+  loss \d+\.\d{3}  [\d,]+ tokens/s  \d+ s left$"
    assert re.findall(pattern, found.stderr, re.MULTILINE) == ["5", "10", "15", "20"]
    assert len(re.findall(r"^validation after \d+ updates: loss ", found.stderr, re.MULTILINE)) == 2


def test_the_loss_that_is_shown_is_the_mean_of_the_updates_since_the_last_line():
    said = []
    watch = Watch(said.append, Pace(0, 6, every=6), every=3, noun="tokens")
    made = [(1.0, 10), (math.inf, 7), (4.0, 30), (2.0, 20), (5.0, 40), (8.0, 60)]
    for number, (loss, predictions) in enumerate(made, 1):
        watch.show(step_of(number, loss, predictions))
    assert [line.split("  ")[2] for line in said] == ["loss 3.250", "loss 6.000"]  # (1·10 + 4·30) / 40, 720 / 120


def test_the_time_left_counts_the_validations_that_are_to_come(monkeypatch):
    clock = iter([0.0, 1.0, 2.0, 3.0, 3.0, 13.0, 14.0])  # three updates of a second each, a validation of ten
    monkeypatch.setattr(progress, "time", SimpleNamespace(perf_counter=clock.__next__))
    pace = Pace(0, 8, every=3)
    pace.start()
    told = []
    for number in (1, 2, 3):
        pace.add(step_of(number, 1.0, 10))
        told.append(pace.left(number))
    pace.pause()
    pace.start()
    pace.add(step_of(4, 1.0, 10))
    told.append(pace.left(4))
    assert told == ["7 s", "6 s", "5 s", "24 s"]  # as long as none is over nobody knows; then 4 updates and 2 of ten
    assert pace.per_second == 10


@pytest.mark.parametrize(
    ("rows", "stretch"),
    [
        ([("Stop", " ".join(f"멈춰{number}{word}" for word in range(9))) for number in range(12)], 1.5),
        ([(" ".join([f"s{number}"] * 20), " ".join([f"t{number}"] * 60)) for number in range(12)], 2.5),
    ],
    ids=["one word became nine", "twenty became sixty"],
)
def test_what_a_translation_may_be_longer_than_its_source_is_no_matter_of_short_texts(rows, stretch, tmp_path):
    data, out = table(tmp_path / "pairs.tsv", [*PAIRS, *rows]), tmp_path / "out"
    found = invoke("train", "--train", data, *TRANSLATE, *quick(2), "--out", str(out))
    assert found.returncode == 0, found.stderr
    assert read_config(out).stretch == stretch  # 1.25 · (60 - 20) / 20


def test_the_recipe_that_a_run_writes_gives_the_same_weights_again(translator, data, tmp_path):
    out, _ = translator
    again, fresh = tmp_path / "again", tmp_path / "fresh"
    assert invoke("train", str(out / "recipe.json"), "--out", str(again)).returncode == 0
    assert (again / "recipe.json").read_bytes() == (out / "recipe.json").read_bytes()
    assert (again / "model.safetensors").read_bytes() == (out / "model.safetensors").read_bytes()
    other = ["--train", str(data / "pairs.tsv"), *TRANSLATE, *quick(), "--seed", "2", "--out", str(fresh)]
    assert invoke("train", *other).returncode == 0
    assert (fresh / "model.safetensors").read_bytes() != (out / "model.safetensors").read_bytes()


@pytest.mark.slow
def test_a_process_of_its_own_gives_the_same_bytes(translator, data, tmp_path):
    out, _ = translator
    options = ["--train", str(data / "pairs.tsv"), *TRANSLATE, *quick(), "--out", str(tmp_path / "out")]
    found = run("train", *options, env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "5"})
    assert (found.returncode, found.stdout) == (0, "")
    ours, theirs = bytes_in(out), bytes_in(tmp_path / "out")
    assert ours.keys() == theirs.keys()
    differ = {name for name in ours if ours[name] != theirs[name]}
    assert differ <= {"README.md", "metrics.jsonl", "result.json"}, "all but times and paths"
    results = [json.loads(place["result.json"]) for place in (ours, theirs)]
    assert [{**one, "seconds": 0} for one in results] == [{**results[0], "seconds": 0}] * 2


def test_without_a_terminal_there_are_no_colours(translator):
    assert "\x1b" not in translator[1].stderr


# Choosing the model


def test_the_last_checkpoints_are_kept_for_their_mean_and_the_better_is_the_model(classifier):
    out, found = classifier
    places = checkpoints(out / "checkpoints")
    kept = {int(place.name.removeprefix("step-")) for place in places}
    assert {10, 15, 20} <= kept <= {5, 10, 15, 20}
    mean = average([place for place in places if not place.name.endswith("05")])
    weights = load_file(out / "model.safetensors")
    singles = [load_file(place / "model.safetensors") for place in places]
    is_mean = all(torch.equal(weights[name], mean[name]) for name in weights)
    is_single = any(all(torch.equal(weights[name], single[name]) for name in weights) for single in singles)
    said_mean = "The mean of 3 checkpoints is better than the best one: it is the model.\n" in found.stderr
    said_single = "The mean of 3 checkpoints is no better than the best one, of update " in found.stderr
    assert (is_mean, is_single) == (said_mean, said_single)
    assert said_mean != said_single


def test_a_mean_that_is_better_is_the_model(data, tmp_path):
    # Two checkpoints on either side of a trained model: both are bad, and their mean is the model itself.
    out = tmp_path / "out"
    chosen = [*quick(40, training__metric="loss", training__schedule__rate=0.02), "--set", "training.average=2"]
    assert invoke("train", "--train", str(data / "senses.tsv"), *CLASSIFY, *chosen, "--out", str(out)).returncode == 0
    trained, heard = load_file(out / "model.safetensors"), []
    away = {name: torch.randn_like(weight) for name, weight in trained.items()}
    for update, sign in ((20, 1), (40, -1)):
        moved = {name: weight + sign * away[name] for name, weight in trained.items()}
        state = {"update": update, "place": [0, 0], "history": [[20, 9.0, 9.0], [40, 9.1, 9.1]], "fingerprints": {}}
        state["fingerprints"] = read_state(checkpoints(out / "checkpoints")[0])["fingerprints"]
        shutil.rmtree(out / "checkpoints" / checkpoint_name(update))
        write_checkpoint(out / "checkpoints", update, moved, {}, state)
    done = Session.open(out, heard.append).run()
    assert "The mean of 2 checkpoints is better than the best one: it is the model." in heard
    weights, mean = load_file(out / "model.safetensors"), average(checkpoints(out / "checkpoints"))
    assert all(torch.equal(weights[name], mean[name]) for name in weights)
    assert all(torch.allclose(weights[name], trained[name], atol=1e-6) for name in weights)
    assert done.validation.scores["loss"] < 3


def test_it_stops_when_nothing_improves(data, tmp_path):
    # A rate of almost nothing: BLEU stays as it is.
    chosen = quick(200, training__validate_every=1, training__patience=3, training__schedule__rate=1e-12)
    out = tmp_path / "out"
    small = [*chosen, "--set", "training.average=2"]
    found = invoke("train", "--train", str(data / "pairs.tsv"), *TRANSLATE, *small, "--out", str(out))
    assert found.returncode == 0
    assert "4 updates: neither score nor loss improved in the last 3 validations.\n" in found.stderr
    assert [place.name for place in checkpoints(out / "checkpoints")] == [
        *("step-00000001", "step-00000002", "step-00000004")
    ], "the two best, of equals the first, and the last"


def test_numbers_for_tensorboard_on_request(data, tmp_path):
    pytest.importorskip("tensorboard")
    chosen = quick(4, training__tensorboard="true", training__average=1)
    out = tmp_path / "out"
    assert invoke("train", "--train", str(data / "senses.tsv"), *CLASSIFY, *chosen, "--out", str(out)).returncode == 0
    (events,) = (out / "tensorboard").iterdir()
    assert events.name.startswith("events.out.tfevents.")
    assert b"validation/accuracy" in events.read_bytes()


def test_gradients_of_several_batches_make_one_update(data, tmp_path):
    chosen = quick(4, training__accumulation=3, training__batch_tokens=64, training__log_every=1)
    out = tmp_path / "out"
    assert invoke("train", "--train", str(data / "pairs.tsv"), *TRANSLATE, *chosen, "--out", str(out)).returncode == 0
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert [line["update"] for line in lines if line["kind"] == "train"] == [1, 2, 3, 4]


def test_training_from_python_is_the_same_run(translator, data, tmp_path, capsys):
    out, _ = translator
    done = nungil.train(
        str(data / "pairs.tsv"),
        source="en",
        target="ko",
        model="luong",
        steps=20,
        out=tmp_path / "out",
        changes=("model.width=14", "model.embedding=11", *quick()[3::2]),
        quiet=True,
    )
    assert capsys.readouterr() == ("", "")
    assert (done.folder / "model.safetensors").read_bytes() == (out / "model.safetensors").read_bytes()
    assert done.updates == 20
    assert done.load().translate("")[0].text == ""
    with pytest.raises(ConfigError, match=r"\[data\] trian: no such setting; did you mean train\?"):
        nungil.train(trian="pairs.tsv", out=tmp_path / "other")


def test_training_from_python_leaves_torch_as_it_was(data, tmp_path):
    before, drawn, seed = torch.get_num_threads(), torch.get_rng_state(), torch.initial_seed()
    nungil.train(
        data / "pairs.tsv", source="en", target="ko", out=tmp_path / "out", training={"threads": before + 1}, steps=2,
        changes=("model.width=16", "model.feed_forward=16"), quiet=True,
    )  # fmt: skip
    assert read_settings(tmp_path / "out" / "recipe.json", Recipe).training.threads == before + 1
    assert torch.get_num_threads() == before
    assert torch.equal(torch.get_rng_state(), drawn)
    assert torch.initial_seed() == seed


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"data": "pairs.tsv", "valid": "some.tsv"}, r"'pairs.tsv' as data, .*: data=\{'name': value, …\}$"),
        ({"steps": 5, "training": 3}, r"3 as training, a section of settings: "),
    ],
)
def test_a_section_from_python_that_is_none_is_refused(options, told, tmp_path):
    with pytest.raises(UsageError, match=r"^train\(\) was given " + told):
        nungil.train("pairs.tsv", out=tmp_path / "out", **options)


def test_a_link_to_what_is_not_there_is_told_as_that(data, tmp_path):
    (tmp_path / "out").symlink_to(tmp_path / "gone")
    with pytest.raises(UsageError, match=r"out: is a link to .*gone, which is not there; choose another --out$"):
        nungil.train(data / "pairs.tsv", out=tmp_path / "out", quiet=True)


def test_weights_that_are_not_finite_are_never_kept():
    with pytest.raises(DivergedError) as caught:
        _refuse_infinite({"a": torch.ones(3), "b": torch.tensor([1.0, torch.inf])}, 1_200)
    assert str(caught.value) == (
        "training diverged: after update 1,200 the weights are not finite; "
        "lower the learning rate (--set training.schedule.rate=…) or warm up longer"
    )
    _refuse_infinite({"a": torch.ones(3)}, 1)


def spoil_updates(monkeypatch, numbers):
    """Make the loss of these updates infinite; validations are left alone."""
    calls = itertools.count(1)

    def spoiled(model, batch, smoothing=0.0):
        loss = classification_loss(model, batch, smoothing)
        bad = torch.is_grad_enabled() and next(calls) in numbers
        return loss._replace(total=loss.total * torch.inf, plain=math.inf) if bad else loss

    monkeypatch.setattr("nungil.runs.work.classification_loss", spoiled)


def test_ngrams_are_counted_in_the_training_texts_before_the_first_update(data, tmp_path):
    out = tmp_path / "counted"
    chosen = [*quick(2), "--set", "model.ngrams={longest: 2, buckets: 97}"]
    assert invoke("train", "--train", str(data / "senses.tsv"), *CLASSIFY, *chosen, "--out", str(out)).returncode == 0
    store, labels = Store(out / "data" / "train"), len(nungil.load(out).config.labels)
    counts = torch.zeros(97, labels)
    for row in range(store.rows):
        places = ngram_buckets(store.columns["source"].row(row).tolist(), 2, 97)
        counts[places, int(store.columns["label"].ids[row])] += 1
    others = counts.sum(dim=1, keepdim=True) - counts
    shares = [(table + 1) / (table + 1).sum(dim=0) for table in (counts, others)]
    assert torch.allclose(
        load_file(out / "model.safetensors")["ngrams.ratios"], (shares[0] / shares[1]).log(), atol=1e-5
    )


def test_an_update_that_is_left_out_is_said_and_logged(data, tmp_path, monkeypatch):
    spoil_updates(monkeypatch, {3})
    out = tmp_path / "out"
    found = invoke("train", "--train", str(data / "senses.tsv"), *CLASSIFY, *quick(4), "--out", str(out))
    assert found.returncode == 0
    told = re.search(r"update 3 was skipped: its gradient is not finite \((.*)\)\n", found.stderr)
    assert re.fullmatch(r"epoch 2; \d+ rows of data/train: (\d+, ){4}\d+ …", told[1])
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    (left_out,) = (line for line in lines if line["kind"] == "train")
    assert (left_out["update"], left_out["loss"], left_out["gradient"]) == (3, None, None)
    assert nungil.load(out).classify("밤")


def test_a_run_that_diverges_ends_with_6_and_leaves_its_last_good_weights(data, tmp_path, monkeypatch):
    spoil_updates(monkeypatch, range(6, 99))
    out = tmp_path / "out"
    chosen = quick(40, training__validate_every=5)
    found = invoke("train", "--train", str(data / "senses.tsv"), *CLASSIFY, *chosen, "--out", str(out))
    assert (found.returncode, found.stdout) == (6, "")
    assert found.stderr.splitlines()[-1] == (
        "nungil: training diverged: the gradient was not finite in 10 updates in a row, up to 15; lower the learning "
        "rate (--set training.schedule.rate=…) or warm up longer"
    )
    assert nungil.load(out).classify("밤"), "what was good before is still there"
    assert (out / "checkpoints" / "step-00000005").is_dir()


def test_metrics_stay_json_when_a_number_is_none(tmp_path):
    metrics = Metrics(tmp_path, tensorboard=False)
    metrics.add("train", 3, {"loss": math.nan, "gradient": math.inf, "rate": 0.5})
    metrics.close()
    (line,) = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert line == '{"kind": "train", "update": 3, "loss": null, "gradient": null, "rate": 0.5, "seconds": 0.0}'


def test_the_seconds_of_a_run_go_on_where_it_was_left(tmp_path):
    lines = [{"kind": "train", "update": update, "seconds": seconds} for update, seconds in ((5, 40.5), (10, 81.0))]
    (tmp_path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    metrics = Metrics(tmp_path, tensorboard=False, done=7)
    metrics.add("train", 10, {})
    metrics.close()
    seconds = [json.loads(line)["seconds"] for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert seconds == [40.5, pytest.approx(40.5, abs=5)], "those after update 7 were lost with it"


@pytest.mark.slow
def test_a_full_disk_ends_a_run_in_a_sentence(data, tmp_path):
    options = ["--train", str(data / "pairs.tsv"), *TRANSLATE, *quick(4), "--out", str(tmp_path / "out")]
    found = run_with_little_room(30_000, "train", *options)
    assert (found.returncode, found.stdout) == (5, "")
    place = tmp_path / "out" / "checkpoints"
    assert found.stderr.splitlines()[-1] == (
        f"nungil: {tmp_path}/out/model.safetensors: cannot be written: File too large"
    )
    assert checkpoints(place) == []
    assert invoke("translate", str(tmp_path / "out")).stderr == (
        f"nungil: {tmp_path}/out/model.safetensors: there are no weights yet; training writes them at its first "
        "validation\n"
    )


def test_scores_are_spelled_as_people_write_them():
    scores = {"loss": 1.23456, "bleu": 31.25, "chrf": 55.0, "accuracy": 100.0, "macro_f1": 0.04}
    assert spelled(scores) == "loss 1.235, BLEU 31.2, chrF 55.0, accuracy 100.0, macro F1 0.0"


# The verbs that use what it leaves


def test_a_line_out_for_each_line_in(translator, tmp_path):
    out, _ = translator
    (tmp_path / "first.txt").write_text("I like snow\n\n  \nThe child ate a pear\r\n", encoding="utf-8")
    (tmp_path / "second.txt").write_text("a\u2028b\x0cc\n눈", encoding="utf-8")
    files = [str(tmp_path / name) for name in ("first.txt", "second.txt")]
    found = invoke("translate", str(out), *files)
    assert (found.returncode, found.stdout.count("\n")) == (0, 6)
    assert found.stdout.split("\n")[1:3] == ["", ""]
    assert f"Next: nungil look {out} 'I like snow'\n" in found.stderr
    rows = [json.loads(line) for line in invoke("translate", str(out), "--json", *files).stdout.splitlines()]
    assert [row["text"] for row in rows] == found.stdout.split("\n")[:-1]
    assert [row["source"] for row in rows[:4]] == ["I like snow", "", "", "The child ate a pear"]
    assert rows[0]["source_tokens"] == ["<sos>", "I", "like", "snow", "<eos>"]
    assert all(row["score"] <= 0 for row in rows)


@pytest.mark.slow
def test_standard_input_is_utf8_lines_whatever_the_locale(translator):
    out, _ = translator
    given = "\ufeffI like\rsnow\r\n\n눈 don't"
    found = run("translate", str(out), "--json", input=given, env={**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0"})
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    assert [row["source"] for row in rows] == ["I like snow", "", "눈 don't"]


@pytest.mark.slow
def test_standard_input_that_is_not_utf8_is_named_by_its_line(translator):
    out, _ = translator
    found = subprocess.run([*NUNGIL, "translate", str(out)], input=b"snow\nI \xff\n", capture_output=True, timeout=60)
    assert found.returncode == 3
    assert found.stderr.decode() == (
        "nungil: standard input:2: not UTF-8, nor anything else that can be told; if you know the encoding, "
        "give --encoding\n"
    )


def test_a_quote_in_the_next_command_is_quoted(translator, tmp_path):
    (tmp_path / "texts.txt").write_text("I don't like snow\n")
    found = invoke("translate", str(translator[0]), str(tmp_path / "texts.txt"))
    assert f"""Next: nungil look {translator[0]} 'I don'"'"'t like snow'\n""" in found.stderr


def test_commands_are_quoted_where_a_folder_needs_it(data, tmp_path):
    out = tmp_path / "a b #1"
    found = invoke("train", "--train", str(data / "pairs.tsv"), *TRANSLATE, *quick(2), "--out", str(out))
    assert found.returncode == 0, found.stderr
    assert found.stderr.endswith(f"Next: echo 'a sentence' | nungil translate '{out}'\n      nungil score '{out}'\n")
    block = (out / "README.md").read_text(encoding="utf-8").split("```sh\n")[1].split("```")[0]
    assert [shlex.split(line, comments=True) for line in block.splitlines()] == [
        ["echo", "I like snow", "|", "nungil", "translate", str(out)],
        ["nungil", "look", str(out), "I like snow"],
    ]


def test_labels_with_their_probability(classifier, tmp_path):
    out, _ = classifier
    (tmp_path / "texts.txt").write_text("조용한 밤이 왔다\n사과를 먹었다\n", encoding="utf-8")
    found = invoke("classify", str(out), str(tmp_path / "texts.txt"))
    assert found.returncode == 0
    labels = set(nungil.load(out).config.labels)
    for line in found.stdout.splitlines():
        label, probability = line.split("\t")
        assert label in labels
        assert re.fullmatch(r"0\.\d{4}|1\.0000", probability)
    assert found.stdout.count("\n") == 2
    rows = [
        json.loads(line)
        for line in invoke("classify", str(out), str(tmp_path / "texts.txt"), "--json").stdout.splitlines()
    ]
    assert [sum(row["probabilities"].values()) for row in rows] == pytest.approx([1, 1], abs=1e-5)
    (tmp_path / "texts.txt").write_text("밤\n\n", encoding="utf-8")
    found = invoke("classify", str(out), str(tmp_path / "texts.txt"))
    assert (found.returncode, found.stdout.count("\n")) == (0, 2), "a line out for each line in"
    assert found.stdout.endswith("\n\n")
    found = invoke("classify", str(out), str(tmp_path / "texts.txt"), "--json")
    assert found.stdout.endswith("\nnull\n")


def test_a_map_in_the_terminal(translator, classifier):
    found = invoke("look", str(translator[0]), "I like snow", "--target", "나는 눈을 좋아한다")
    assert found.returncode == 0
    assert found.stdout.startswith("cross attention · layer 0\n")
    for token in ("<sos>", "like", "나는", "좋아한다", "each row sums to 1"):
        assert token in found.stdout
    assert found.stderr == f"Next: nungil look {translator[0]} 'I like snow' --html look.html\n"
    pooled = invoke("look", str(classifier[0]), "조용한 밤이 왔다")
    assert pooled.stdout.startswith("pooling attention · layer 0\n")


def test_a_map_as_page_table_and_json(translator, tmp_path):
    out, page, sheet = str(translator[0]), tmp_path / "look.html", tmp_path / "look.csv"
    found = invoke("look", out, "I like snow", "--html", str(page), "--csv", str(sheet))
    assert (found.returncode, found.stdout) == (0, "")
    assert found.stderr == f"Wrote {page}\nWrote {sheet}\nNext: open {page} in a browser\n"
    assert "I like snow" in page.read_text(encoding="utf-8")
    assert "snow" in sheet.read_text(encoding="utf-8")
    record = json.loads(invoke("look", out, "I like snow", "--json").stdout)
    assert record["source_tokens"] == ["<sos>", "I", "like", "snow", "<eos>"]


def test_a_verb_for_another_kind_of_model_names_the_right_one(translator, classifier):
    for verb, other, folder, kind in (
        ("translate", "classify", classifier[0], "classifier"),
        ("classify", "translate", translator[0], "translator"),
    ):
        found = invoke(verb, str(folder))
        assert (found.returncode, found.stdout) == (2, "")
        assert found.stderr == f"nungil: {folder} holds a {kind}; use: nungil {other} {folder}\n"
    found = invoke("look", str(classifier[0]), "밤", "--target", "night")
    assert (found.returncode, found.stderr) == (2, "nungil: --target is for translators; a classifier has labels\n")


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        ([""], 2, "the text is empty; there is nothing to look at"),
        (["snow", "--html", "look.htm"], 2, "--html look.htm: the name should end in .html"),
        (["snow", "--layer", "3"], 2, "layer"),
        (["snow", "--head", "3"], 2, "head"),
        (["snow", "--kind", "corss"], 2, "corss"),
    ],
)
def test_what_cannot_be_looked_at(translator, arguments, code, sentence):
    found = invoke("look", str(translator[0]), *arguments)
    assert (found.returncode, found.stdout) == (code, "")
    assert sentence in found.stderr
    assert "bug of ours" not in found.stderr


# What a run refuses: a code, a sentence, and nothing left behind

REFUSED = {
    "an empty corpus": (["--train", "empty.tsv"], 3, "empty.tsv: the file is empty"),
    "five lines": (
        ["--train", "five.tsv"],
        3,
        "five.tsv: 5 pairs are too few to set some aside for validation, which takes 20 or more; add to them, or give "
        "a validation set with --valid",
    ),
    "one label": (
        ["--train", "one-label.tsv"],
        3,
        "one-label.tsv: all texts have the same label, 'snow'; classifying needs two or more",
    ),
    "a line without an end": (
        ["--train", "long-line.tsv"],
        3,
        "long-line.tsv:31: a line of more than 1,000,000 characters; does the file have line ends?",
    ),
    "sentences that are all too long": (
        ["--train", "pairs.tsv", "--valid", "long-sentences.tsv", "--set", "tokenizer.unit=character"],
        3,
        "nothing is left of the validation set: every record has more than 256 tokens",
    ),
    "batches that are too small": (
        ["--train", "pairs.tsv", "--set", "training.batch_tokens=16", "--set", "tokenizer.unit=character"],
        2,
        "recipe:\n- [training] batch_tokens: 16 is too few: the longest sentence has 46 tokens, marks included; allow "
        "more, or leave long ones out (--set data.longest=…)",
    ),
    "a validation target in other words": (
        ["--train", "pairs.tsv", "--valid", "foreign.tsv", "--set", "tokenizer.unit=word"],
        3,
        "100% of the tokens of the target side of the validation set are unknown to the tokenizer that was learned "
        "from train; are the columns swapped there (--columns), is it in another language, or is train too small?",
    ),
    "an unknown language": (
        ["--train", "pairs.tsv", "--to", "koreen"],
        2,
        "there is no language 'koreen'; did you mean korean?",
    ),
    "an unknown model": (
        ["--train", "pairs.tsv", "--model", "lunog"],
        2,
        "command line:\n- model: there is no model 'lunog'; did you mean luong?",
    ),
    "a classifier on pairs": (
        ["--train", "pairs.tsv", "--model", "lstm"],
        2,
        "recipe:\n- model: classifier does not translate, but the data is to translate",
    ),
    "a translator on labels": (
        ["--train", "senses.tsv", "--model", "luong"],
        2,
        "recipe:\n- model: recurrent translates, but the data is to classify",
    ),
    "a metric of the other task": (
        ["--train", "pairs.tsv", "--set", "training.metric=accuracy"],
        2,
        "recipe:\n- [training] metric: accuracy is not for data to translate; there is bleu, chrf, loss",
    ),
    "too few positions": (
        ["--train", "pairs.tsv", "--model", "luong", *settings(model__score__name="location", model__score__longest=9)],
        2,
        "recipe:\n- [model.score] longest: 9 positions are too few for 256 tokens and two marks",
    ),
    "nonsense": (
        ["--train", "pairs.tsv", "--set", "nonsense"],
        2,
        "--set nonsense: write it as section.key=value, such as --set training.steps=500",
    ),
    "no steps": (
        ["--train", "pairs.tsv", "--steps", "0"],
        2,
        "command line:\n- [training] steps: must be at least 1",
    ),
    "no such recipe": (["none.yaml"], 3, "none.yaml: there is no such file"),
    "data in the place of a recipe": (
        ["pairs.tsv"],
        2,
        "pairs.tsv is not a recipe (.yaml); give files to train on with --train pairs.tsv",
    ),
    "no such corpus": (["--train", "none.tsv"], 3, "none.tsv: there is no such file"),
    "one column": (
        ["--train", "pairs.tsv", "--columns", "en"],
        2,
        "--columns takes two, by name or by number: --columns en,ko or --columns 2,3",
    ),
    "nothing": ([], 2, "give a recipe, or files: nungil train --train pairs.tsv --out runs/mine"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_run_refuses(data, tmp_path, monkeypatch, name):
    arguments, code, sentence = REFUSED[name]
    monkeypatch.chdir(data)
    found = invoke("train", *arguments, "--out", str(tmp_path / "runs" / "out"))
    assert (found.returncode, found.stdout) == (code, "")
    talk, _, message = found.stderr.rpartition("nungil: ")
    assert message == f"{sentence}\n"
    assert talk in ("", "Reading the data and learning how to cut it into tokens …\n") or name.startswith("batches")
    assert list(tmp_path.iterdir()) == [], "not even the folder around it"


def test_an_empty_folder_stays_an_empty_folder(data, tmp_path):
    found = invoke("train", "--train", str(data / "five.tsv"), "--out", str(tmp_path))
    assert found.returncode == 3
    assert list(tmp_path.iterdir()) == []


def test_a_run_never_writes_over_anything(translator, data, tmp_path):
    out, _ = translator
    before = bytes_in(out)
    found = invoke("train", "--train", str(data / "pairs.tsv"), "--out", str(out))
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == (
        f"nungil: {out}: holds a model already, and training never writes over anything; choose another --out, "
        f"or go on with it: nungil resume {out}\n"
    )
    assert bytes_in(out) == before
    (tmp_path / "mine.txt").write_text("mine")
    found = invoke("train", "--train", str(data / "pairs.tsv"), "--out", str(tmp_path))
    assert found.returncode == 2
    assert found.stderr == (
        f"nungil: {tmp_path}: is not empty, and training never writes over anything; choose another --out\n"
    )
    assert bytes_in(tmp_path) == {"mine.txt": b"mine"}


def test_a_folder_is_said_to_be_of_a_stopped_run_only_if_nothing_else_is_in_it(data, tmp_path, monkeypatch):
    """The advice is to delete it."""
    out = tmp_path / "out"

    def advice():
        with pytest.raises(UsageError) as caught:
            refuse_existing(out)
        return "delete" if str(caught.value).endswith("if no run is under way there, delete it") else str(caught.value)

    def killed(*_):
        (out / ".recipe.json.123.part").write_text("{")
        raise KeyboardInterrupt

    monkeypatch.setattr(beginning, "write_recipe", killed)
    monkeypatch.setattr(beginning, "_empty", lambda *_: None)  # as after kill -9
    with pytest.raises(StoppedError):
        beginning.begin(Recipe(data=DataSettings(train=(str(data / "pairs.tsv"),))), out, to_nobody)
    assert {path.name for path in (out / "data").iterdir()} > {"train", "valid", "prepared.json", "test.jsonl"}
    assert advice() == "delete"
    mine = f"{out}: is not empty, and training never writes over anything; choose another --out"
    for name in ("mine.txt", "data/mine.txt", "data/.mine.txt.1.part"):
        (out / name).write_text("mine")
        assert advice() == mine.replace("is not empty", "holds a model already")
        (out / name).unlink()
    assert advice() == "delete"
    shutil.rmtree(out)
    for name in ("data/pairs.tsv", "data/train/pairs.tsv", "data/test.jsonl"):
        (out / name).parent.mkdir(parents=True)
        (out / name).write_text("mine")
        assert advice() == mine
        shutil.rmtree(out)
    (out / "data" / ".valid.part-123").mkdir(parents=True)
    assert advice() == "delete"


def test_a_file_is_no_place_for_a_model(data, tmp_path):
    (tmp_path / "file").write_text("mine")
    for out, sentence in (
        (tmp_path / "file", "this is a file; --out takes a folder"),
        (tmp_path / "file" / "deep", "the folder cannot be made: Not a directory"),
    ):
        found = invoke("train", "--train", str(data / "pairs.tsv"), "--out", str(out))
        assert (found.returncode, found.stderr) == (2, f"nungil: {out}: {sentence}\n")
    assert bytes_in(tmp_path) == {"file": b"mine"}


def test_a_place_for_the_model_is_asked_for(data):
    found = invoke("train", "--train", str(data / "pairs.tsv"))
    assert found.returncode == 2
    assert found.stderr == (
        "nungil: --out DIR is missing: the folder that the model goes to, such as --out runs/mine\n"
    )


def test_texts_of_which_bleu_counts_nothing_are_gone_by_chrf(tmp_path):
    rows = [f"save file {number}\tDatei {number} sichern\n" for number in range(100)]
    (tmp_path / "menus.tsv").write_text("".join(rows[:88]))
    (tmp_path / "held-out.tsv").write_text("".join(rows[88:]))
    out, sizes = tmp_path / "run", ("--set=model.width=8", "--set=model.embedding=6", "--steps", "2")
    files = ("--train", str(tmp_path / "menus.tsv"), "--valid", str(tmp_path / "held-out.tsv"), "--out", str(out))
    found = invoke("train", *files, "--from", "en", "--to", "de", "--model", "luong", *sizes)
    assert found.returncode == 0, found.stderr
    assert "Hardly any text has the 4 words that BLEU needs: validation by chrF." in found.stderr
    assert "validation by chrf" in found.stderr
    word = "hardly any text of its validation set has the 4 words that BLEU needs; use chrF, "
    assert f"In words: {word}" in (out / "README.md").read_text()


def test_of_a_handful_of_texts_no_verdict_is_given(tmp_path, data):
    few = table(tmp_path / "few.tsv", PAIRS[:9])
    for files, asked, told in (
        (("--train", table(tmp_path / "a.tsv", PAIRS[9:])), TRANSLATE, "validation by chrf"),
        (("--train", str(data / "senses.tsv"), "--set", "data.valid_size=9"), CLASSIFY, "validation by accuracy"),
    ):
        translates, out = asked is TRANSLATE, tmp_path / told
        held_out = ("--valid", few) if translates else ("--set", "data.test_size=0")
        found = invoke("train", *files, *held_out, *asked, *quick(4), "--out", str(out))
        assert found.returncode == 0, found.stderr
        why = "The validation set has 9 texts: validation by chrF, because BLEU of so few is often 0."
        assert (why in found.stderr) == translates
        assert told in found.stderr
        card = (out / "README.md").read_text()
        told = "No verdict: its validation set has 9 texts, and fewer than 10 are too few to judge a model by."
        assert f"\n\n{told}\n\n" in card


# Memory


def machine(root, available, *limits):
    """A root folder as Linux has it: so many kB of memory are left, and there are limits in bytes, by file."""
    for name, text in {
        "proc/meminfo": f"MemTotal:       9999999 kB\nMemAvailable:   {available} kB\nSwapFree:       {100} kB\n",
        "proc/self/cgroup": "4:cpu,memory:/old/inner\n3:cpuset:/sets\n0::/new/inner\n",
        **dict(limits),
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_what_a_machine_has_left_is_the_least_of_its_memory_and_its_limits(tmp_path):
    assert free_memory(tmp_path) is None, "another system than Linux"
    assert free_memory(machine(tmp_path, 900)) == 1_000 * 1024
    machine(tmp_path, 900, ("sys/fs/cgroup/new/inner/memory.max", "max\n"), ("sys/fs/cgroup/sets/memory.max", "7\n"))
    assert free_memory(tmp_path) == 1_000 * 1024, "max is none, and the limit of another group is another's"
    for place, limit in (
        ("sys/fs/cgroup/memory.max", 5_000),
        ("sys/fs/cgroup/new/memory.max", 4_000),
        ("sys/fs/cgroup/memory/old/inner/memory.limit_in_bytes", 3_000),
    ):
        assert free_memory(machine(tmp_path, 900, (place, f"{limit}\n"))) == limit


def test_a_model_that_surely_does_not_fit_is_refused_before_it_is_made(data, tmp_path, monkeypatch):
    wide = ["--from", "en", "--to", "ko", "--model", "transformer", *settings(model__width=8192)]
    monkeypatch.setattr(memory, "free_memory", lambda _: 16_000_000_000)
    found = invoke("train", "--train", str(data / "pairs.tsv"), *wide, *quick(), "--out", str(tmp_path / "new" / "run"))
    assert found.returncode == 5
    assert found.stderr.splitlines()[-1] == (
        "nungil: a model of 1,633,789,293 parameters needs 26.1 GB of memory or more to be trained (weights, "
        "gradients, two moments of each), and this machine has 16.0 GB left; make it smaller: --set model.width=…, "
        "fewer layers, or --set tokenizer.size=…"
    )
    assert not (tmp_path / "new").exists()


def test_what_a_run_needs_is_counted_to_the_byte(data, tmp_path, monkeypatch):
    out = tmp_path / "run"
    asked = ("--train", str(data / "senses.tsv"), *CLASSIFY, *quick(4))
    assert invoke("train", *asked, "--out", str(out)).returncode == 0
    weights = load_file(out / "model.safetensors")
    counted = weights.pop("ngrams.ratios").numel()  # beforehand, and not learned
    needed = 4 * counted + 16 * sum(weight.numel() for weight in weights.values())
    config = read_config(out)
    monkeypatch.setattr(memory, "free_memory", lambda _: needed)
    refuse_too_large(config, 1)
    with pytest.raises(
        ResourceError, match=r"needs 0\.\d GB of memory or more to be trained in 2 processes \(weights, "
    ):
        refuse_too_large(config, 2)
    monkeypatch.setattr(memory, "free_memory", lambda _: needed - 1)
    found = invoke("resume", str(out))
    assert found.returncode == 5
    assert " or more to be trained (weights, gradients, two moments of each), and this machine has " in found.stderr
