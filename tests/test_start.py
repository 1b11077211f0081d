"""`--start-from`: a run that begins with another model's weights and tokenizers, and what is refused then."""

import shutil
from typing import get_args

import pytest
import torch
from command import invoke

import nungil
from nungil.batches.store import Store
from nungil.errors import ConfigError, CorpusError
from nungil.model.build import ModelSettings
from nungil.model.folder import load_model
from nungil.runs.begin import begin
from nungil.runs.progress import to_nobody
from nungil.runs.recipe import read_recipe
from nungil.runs.session import Session
from nungil.runs.start import FREE
from nungil.text.snow.corpus import snow_pairs
from nungil.text.snow.senses import sense_examples
from nungil.training.checkpoint import weights_of

SMALL = {"kind": "recurrent", "embedding": 24, "width": 32, "dropout": 0.1}
TRAINING = {"threads": 1, "batch_tokens": 300, "validate_every": 20, "average": 1}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with a trained model, and with data that it has not seen."""
    folder = tmp_path_factory.mktemp("start")
    for name, seed, count in (("old", 1, 500), ("new", 2, 120)):
        rows = [f"{pair.english}\t{pair.korean}\n" for pair in snow_pairs(count, seed=seed, lengths=(3, 5))]
        (folder / f"{name}.tsv").write_text("en\tko\n" + "".join(rows))
    options = {
        "model": SMALL,
        "tokenizer": {"unit": "word"},
        "training": {**TRAINING, "steps": 250, "schedule": {"rate": 0.01}},
    }
    nungil.train(folder / "old.tsv", out=folder / "first", quiet=True, **options)
    return folder


def read_texts(folder, tokenizer):
    """The sources of a store, as they were."""
    column = Store(folder).columns["source"]
    return [tokenizer.decode(column.row(row).tolist()) for row in range(len(column.lengths()))]


def asked(place, **more):
    return read_recipe(None, {"data": {"train": str(place / "new.tsv")}, "start_from": str(place / "first"), **more})


def test_it_begins_with_the_weights_tokenizers_and_sizes_of_the_other(place, tmp_path):
    said = []
    begin(
        asked(place, training={**TRAINING, "steps": 3}, model={"kind": "recurrent", "dropout": 0.3}),
        tmp_path / "run",
        said.append,
    )
    session, first = Session.open(tmp_path / "run", to_nobody), load_model(place / "first")
    own = weights_of(session._model)
    assert all(torch.equal(own[name], tensor) for name, tensor in weights_of(first.model).items())
    config = session.work.loaded.config
    assert config.files == first.config.files
    assert config.model == first.config.model.model_copy(update={"dropout": 0.3})
    assert (config.source, config.target) == ("en", "ko")
    assert any(
        line.startswith(f"It starts from the weights and tokenizers of {place / 'first'}. Model:") for line in said
    )


def test_it_has_learned_already_and_learns_the_rest_at_a_lower_rate(place, tmp_path):
    arguments = ["--train", str(place / "new.tsv"), "--steps", "20", "--set", "training.threads=1"]
    options = [*arguments, "--set", "training.batch_tokens=300", "--set", "training.average=1"]
    found = invoke("train", *options, "--start-from", str(place / "first"), "--out", str(tmp_path / "run"))
    assert found.returncode == 0, found.stderr
    assert "learning rate up to 0.0005 after 2 updates" in found.stderr, "a quarter of what it would be"
    before = float(found.stderr.split("As it starts: loss ")[1].split(",")[0])
    after = nungil.load(tmp_path / "run")
    scratch = nungil.train(
        place / "new.tsv", out=tmp_path / "alone", quiet=True, model=SMALL, tokenizer={"unit": "word"},
        training={**TRAINING, "steps": 20},
    )  # fmt: skip
    run = nungil.runs.result.Run.read(tmp_path / "run")
    assert after.translate(["I like snow"])[0].text
    assert run.validation.scores["loss"] < before
    assert before < scratch.validation.scores["loss"] - 0.5, "the first model knew most of it before it began"


def test_what_it_is_scored_on_but_the_other_model_has_learned_is_counted(place, tmp_path):
    learned, new = ((place / name).read_text().splitlines(keepends=True)[1:] for name in ("old.tsv", "new.tsv"))
    first = set(read_texts(place / "first" / "data" / "train", load_model(place / "first").tokenizers.source))
    known = [line for line in learned if line.split("\t")[0] in first]
    fresh = [line for line in new if line.split("\t")[0] not in first]
    sets = {"train": [*fresh[:40]], "valid": [*known[:3], *fresh[40:50]], "test": [*known[3:8], *fresh[50:57]]}
    for name, lines in sets.items():
        (tmp_path / f"{name}.tsv").write_text("en\tko\n" + "".join(lines))
    files = [part for name in sets for part in (f"--{name}", str(tmp_path / f"{name}.tsv"))]
    options = ["--start-from", str(place / "first"), "--steps", "2", "--out", str(tmp_path / "run")]
    found = invoke("train", *files, *options)
    assert found.returncode == 0, found.stderr
    told = f"are in the training set of {place / 'first'}, which it starts from: scores on them are too good.\n"
    assert f"3 of the 13 of the validation set {told}" in found.stderr
    assert f"5 of the 12 of the test set {told}" in found.stderr
    assert f"- 5 of the 12 of the test set {told}" in (tmp_path / "run" / "README.md").read_text()
    assert "Test, not in its own training set: BLEU " in found.stderr


def test_it_goes_on_from_update_0_when_the_other_model_is_gone(place, tmp_path):
    shutil.copytree(place / "first", tmp_path / "first")
    data, training = {"train": str(place / "new.tsv")}, {**TRAINING, "steps": 4, "validate_every": 2}
    for name in ("whole", "left"):
        recipe = read_recipe(None, {"data": data, "start_from": str(tmp_path / "first"), "training": training})
        begin(recipe, tmp_path / name, to_nobody)
    Session.open(tmp_path / "whole", to_nobody).run()
    shutil.rmtree(tmp_path / "first")
    assert invoke("resume", str(tmp_path / "left")).returncode == 0
    first, second = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "left"))
    assert first == second


def test_what_contradicts_the_other_model_is_named_at_once(place, tmp_path):
    recipe = asked(place, tokenizer={"unit": "character"}, marks="none", model={"kind": "recurrent", "width": 48})
    with pytest.raises(ConfigError) as caught:
        begin(recipe, tmp_path / "run", to_nobody)
    first = place / "first"
    assert list(caught.value.mistakes) == [
        f"tokenizer: it starts from {first} and goes on with its tokenizer; leave it out",
        f"marks: it starts from {first}, where they are both; leave them out",
        f"[model] width: it starts from {first}, where it is 32; leave it out",
    ]
    assert not (tmp_path / "run").exists()


def test_what_may_differ_can_be_said_without_the_kind_of_model(place):
    read = asked(place, model={"dropout": 0.3})
    assert (read.model.kind, read.model.dropout) == ("recurrent", 0.3)
    assert read.model.model_fields_set == {"kind", "dropout"}


def test_words_of_a_tokenizer_that_is_taken_over_are_cut_anew_only_where_it_is_unigram(place, tmp_path):
    with pytest.raises(ConfigError) as caught:
        begin(asked(place, training={"recut": 0.2}), tmp_path / "run", to_nobody)
    assert list(caught.value.mistakes) == [
        f"[training] recut: needs unigram pieces, but it starts from {place / 'first'}, whose tokenizer is of unit "
        "word; leave it out"
    ]
    assert not (tmp_path / "run").exists()


def test_every_dropout_may_differ():
    dropouts = {
        name for kind in get_args(get_args(ModelSettings)[0]) for name in kind.model_fields if "dropout" in name
    }
    assert dropouts
    assert dropouts <= FREE


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": "ko", "target": "en"}, "translates from en to ko, but the data is from ko to en"),
        ({"task": "classify"}, "is a model to translate, but the data is to classify"),
    ],
)
def test_data_for_something_else_is_refused(place, tmp_path, change, message):
    recipe = asked(place)
    with pytest.raises(CorpusError) as caught:
        begin(recipe.model_copy(update={"data": recipe.data.model_copy(update=change)}), tmp_path / "run", to_nobody)
    assert str(caught.value) == f"{place / 'first'} {message}"


def test_a_folder_that_is_none_is_refused(place, tmp_path):
    found = invoke(
        "train", "--train", str(place / "new.tsv"), "--start-from", "nowhere", "--out", str(tmp_path / "run")
    )
    assert found.returncode == 2
    assert found.stderr == "nungil: nowhere: there is no such folder; a model folder is what `nungil train` leaves\n"


def test_a_classifier_keeps_its_labels_and_learns_no_new_ones(tmp_path):
    examples = list(sense_examples(400, lengths=(3, 5)))
    labels = sorted({one.label for one in examples})
    kept = {"all": labels, "some": labels[1:4], "new": [*labels[1:4], "other"]}
    for name, wanted in kept.items():
        rows = [f"{one.text}\t{one.label}\n" for one in examples if one.label in wanted]
        rows += [f"{one.text}\tother\n" for one in examples[:30]] if "other" in wanted else []
        (tmp_path / f"{name}.tsv").write_text("text\tlabel\n" + "".join(rows))
    model = {"kind": "classifier", "embedding": 8, "width": 8}
    nungil.train(
        tmp_path / "all.tsv", out=tmp_path / "first", quiet=True, model=model, training={**TRAINING, "steps": 2}
    )
    options = {"quiet": True, "start_from": str(tmp_path / "first"), "training": {**TRAINING, "steps": 2}}
    second = nungil.train(tmp_path / "some.tsv", out=tmp_path / "second", **options)
    assert second.config.labels == tuple(labels)
    with pytest.raises(CorpusError) as caught:
        nungil.train(tmp_path / "new.tsv", out=tmp_path / "third", **options)
    assert str(caught.value).startswith("the model to start from does not have the label other; it has the labels ")
