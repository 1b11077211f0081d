"""The model folder: what goes out comes back byte by byte, and whatever does not fit is refused in a sentence."""

import errno
import hashlib
import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import zipfile

import pytest
import torch
from command import invoke
from model_folders import CLASSIFIER, LUONG, TRANSFORMER, change_config, classifier_folder, translator_folder
from safetensors.torch import load_file, save_file

from nungil.engines.export import export
from nungil.errors import CheckpointError, ResourceError, UsageError
from nungil.model.folder import load_model, read_config, write_weights

BAHDANAU = {**LUONG, "decoder": "bahdanau", "score": {"name": "coverage", "size": 5}}
BAG = {**CLASSIFIER, "encoder": "none", "ngrams": {"longest": 2, "buckets": 31}}


def refusal(folder, kind=CheckpointError):
    """What the user reads, without the folder of the test."""
    with pytest.raises(kind) as caught:
        load_model(folder)
    return str(caught.value).replace(f"{folder}/", "").replace(str(folder), "DIR")


@pytest.fixture
def folder(tmp_path):
    return translator_folder(tmp_path / "model")


# What goes out comes back


@pytest.mark.parametrize(
    "make",
    [
        lambda place: translator_folder(place),
        lambda place: translator_folder(place, BAHDANAU, marks="eos"),
        lambda place: translator_folder(place, TRANSFORMER),
        lambda place: translator_folder(place, TRANSFORMER, joint=True),
        lambda place: classifier_folder(place),
        lambda place: classifier_folder(place, BAG),
    ],
    ids=["luong", "bahdanau", "transformer", "joint transformer", "classifier", "bag"],
)
def test_a_model_comes_back_as_it_was(tmp_path, make):
    folder = make(tmp_path / "model")
    loaded = load_model(folder)
    stored = load_file(folder / "model.safetensors")
    parameters = dict(loaded.model.named_parameters())
    assert stored.keys() == parameters.keys()
    assert all(torch.equal(stored[name], value) for name, value in parameters.items())
    assert not loaded.model.training
    before = (folder / "model.safetensors").read_bytes()
    write_weights(folder, {name: value.detach() for name, value in parameters.items()})
    assert (folder / "model.safetensors").read_bytes() == before
    assert loaded.tokenizers.joint == (folder / "tokenizer.json").exists()
    assert sorted(path.name for path in folder.iterdir() if path.name.startswith(".")) == []


@pytest.mark.parametrize(
    ("make", "table"),
    [(translator_folder, "source_embedding"), (classifier_folder, "embedding")],
    ids=["luong", "classifier"],
)
def test_models_of_before_embeddings_were_scaled_read_them_as_they_did(make, table, tmp_path):
    folder = make(tmp_path / "model")
    config = json.loads((folder / "config.json").read_text())
    ids = torch.tensor([[5, 4]])
    for said, times in ((True, config["model"]["embedding"] ** 0.5), (False, 1.0), (None, 1.0)):
        config["model"].pop("scale_embedding", None)
        config["model"] |= {} if said is None else {"scale_embedding": said}
        (folder / "config.json").write_text(json.dumps(config))
        embedding = getattr(load_model(folder).model, table)
        assert torch.allclose(embedding(ids), times * embedding.table.weight[ids]), said


def test_a_link_that_stays_in_the_folder_is_followed(folder):
    (folder / "model.safetensors").rename(folder / "best.safetensors")
    (folder / "model.safetensors").symlink_to("best.safetensors")
    assert load_model(folder).config.source == "en"


# No model at all


def test_a_folder_that_does_not_exist(tmp_path):
    with pytest.raises(UsageError) as caught:
        load_model(tmp_path / "none")
    assert str(caught.value) == (
        f"{tmp_path}/none: there is no such folder; a model folder is what `nungil train` leaves"
    )


def test_a_folder_or_file_that_is_no_model_folder(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("text")
    assert refusal(tmp_path / "empty") == "DIR: not a model folder: there is no config.json in it"
    assert refusal(tmp_path / "file") == "DIR: not a model folder: there is no config.json in it"


def test_a_folder_of_another_tool_is_called_by_its_name(tmp_path):
    export(translator_folder(tmp_path / "model", TRANSFORMER), tmp_path / "exported")
    assert refusal(tmp_path / "exported") == (
        "DIR: not a nungil model folder: a model for CTranslate2, as `nungil export` writes; nungil runs the folder "
        "that it was exported from"
    )
    for name, content, what in (
        (
            "bert",
            {"architectures": ["BertModel"], "hidden_size": 7},
            "a model for Hugging Face's transformers; nungil ",
        ),
        (
            "marian",
            {"model_type": "marian"},
            "a model for Hugging Face's transformers; nungil runs what `nungil train`",
        ),
        ("other", {"width": 7, "layers": 2}, "config.json has neither task nor model"),
        ("nothing", {}, "config.json has neither task nor model"),
    ):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps(content))
        assert refusal(tmp_path / name).startswith(f"DIR: not a nungil model folder: {what}")


def test_weights_that_are_not_there_yet(folder):
    (folder / "model.safetensors").unlink()
    assert refusal(folder) == (
        "model.safetensors: there are no weights yet; training writes them at its first validation"
    )


# config.json

SENTENCES = {
    "an unknown key": (
        {"remote_code": "run.py"},
        "refused: config.json:\n- remote_code: no such setting; there is files, format, labels, longest, marks, model, "
        "source, stretch, target, task, tokenizer, vocabulary",
    ),
    "an unknown key of a section": (
        {"model__widht": 3},
        "refused: config.json:\n- [model] widht: no such setting; did you mean width?",
    ),
    "an unknown kind": (
        {"model__kind": "recurent"},
        "refused: config.json:\n- [model] kind: there is no 'recurent'; did you mean recurrent?",
    ),
    "a module path as kind": (
        {"model__kind": "os.system"},
        "refused: config.json:\n- [model] kind: there is no 'os.system'; there is classifier, recurrent, transformer",
    ),
    "another format": ({"format": 2}, "refused: config.json:\n- format: there is no '2'; there is 1"),
    "a size out of range": (
        {"model__width": 10**12},
        "refused: config.json:\n- [model] width: must be at most 8192",
    ),
    "a vocabulary out of range": (
        {"vocabulary__source": 10**9},
        "refused: config.json:\n- [vocabulary] source: must be at most 1000000",
    ),
    "a size below one": (
        {"model__embedding": 0},
        "refused: config.json:\n- [model] embedding: must be at least 1",
    ),
    "a task that is not the model's": (
        {"task": "classify"},
        "refused: config.json:\n- task classify does not go with a model of kind recurrent",
    ),
    "a score that does not exist": (
        {"model__score__name": "generall"},
        "refused: config.json:\n- [model.score] name: there is no 'generall'; did you mean general?",
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_a_config_with(folder, name):
    changes, sentence = SENTENCES[name]
    change_config(folder, **changes)
    assert refusal(folder).rstrip("?") == sentence.rstrip("?")


def test_several_mistakes_are_named_at_once(folder):
    change_config(folder, model__width=-3, longest=0, extra=1)
    assert refusal(folder).count("\n- ") == 3


def test_a_config_that_is_not_json(folder):
    (folder / "config.json").write_text("{'task': 'translate'}")
    assert refusal(folder).startswith("refused: config.json:\n- line 1, column 2: not JSON: ")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"[1, 2]", "refused: config.json:\n- holds a list where settings (`name: value`) are expected"),
        (b'{"longest": NaN}', "refused: config.json:\n- NaN is not a finite number"),
        (b'{"task": "translate", "task": "classify"}', "refused: config.json:\n- task: is given twice"),
        (b"[" * 100_000, "refused: config.json:\n- nested too deeply"),
        (b"\x80\x04\x95", "config.json: cannot be read: 'utf-8' codec can't decode byte 0x80"),
    ],
    ids=["a list", "not a number", "a key twice", "very deep", "not text"],
)
def test_a_config_of(folder, content, sentence):
    (folder / "config.json").write_bytes(content)
    assert refusal(folder).startswith(sentence)


def test_a_huge_config_is_not_even_read(folder):
    os.truncate(folder / "config.json", 10**12)  # a terabyte of nothing, which takes no disk
    assert refusal(folder) == "config.json: too large to be a config"


def test_labels_of_a_classifier_are_two_or_more_and_differ(tmp_path):
    folder = classifier_folder(tmp_path / "model")
    for labels in ([], ["snow"], ["snow", "snow", "eye"]):
        change_config(folder, labels=labels)
        assert refusal(folder) == "refused: config.json:\n- a classifier needs two labels or more, all different"


def test_a_tie_that_the_vocabulary_does_not_allow(tmp_path):
    folder = translator_folder(tmp_path / "model", TRANSFORMER)
    change_config(folder, model__tie="all")
    assert refusal(folder) == ("DIR: model:\n- tie: all needs one vocabulary for both sides (tokenizer joint: true)")


# The weights


def spoil(folder, change):
    weights = load_file(folder / "model.safetensors")
    change(weights)
    save_file(weights, folder / "model.safetensors")


def test_a_missing_tensor(folder):
    spoil(folder, lambda weights: weights.pop("output.bias"))
    assert refusal(folder) == (
        "model.safetensors: does not hold the model that config.json describes: output.bias is missing where (15,) is "
        "expected"
    )


def test_an_extra_tensor(folder):
    spoil(folder, lambda weights: weights.update(more=torch.zeros(2, 3)))
    assert refusal(folder) == (
        "model.safetensors: does not hold the model that config.json describes: more is (2, 3) where nothing is "
        "expected"
    )


def test_a_tensor_of_another_shape(folder):
    spoil(folder, lambda weights: weights.update({"output.bias": torch.zeros(1, 11)}))
    assert refusal(folder) == (
        "model.safetensors: does not hold the model that config.json describes: output.bias is (1, 11) where (15,) is "
        "expected"
    )


@pytest.mark.parametrize(("kind", "name"), [(torch.float64, "F64"), (torch.float16, "F16"), (torch.int64, "I64")])
def test_numbers_of_another_type(folder, kind, name):
    spoil(folder, lambda weights: weights.update({"output.bias": torch.zeros(11, dtype=kind)}))
    assert refusal(folder) == f"model.safetensors: holds numbers of type {name}; F32 is expected"


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_weight_that_is_not_finite(folder, value):
    spoil(folder, lambda weights: weights["output.bias"].__setitem__(3, value))
    assert refusal(folder) == "model.safetensors: output.bias holds numbers that are not finite"


PICKLED = (
    "model.safetensors: not a whole safetensors file: it holds pickled objects, as torch.save writes them; such "
    "files are never opened ("
)


class Trap:
    """What a hostile pickle would run."""

    def __reduce__(self):
        return (os.mkdir, ("trapped",))


def test_a_pickle_named_like_weights_is_refused_and_not_run(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (folder / "model.safetensors").write_bytes(pickle.dumps(Trap()))
    assert refusal(folder).startswith(PICKLED)
    assert not (tmp_path / "trapped").exists()


def test_a_zip_named_like_weights_is_refused(folder):
    torch.save({"output.bias": torch.zeros(11)}, folder / "model.safetensors")
    assert zipfile.is_zipfile(folder / "model.safetensors")
    assert refusal(folder).startswith(PICKLED)


def test_weights_that_cannot_be_read_are_named(folder, monkeypatch):
    def unreadable(*_, **__):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("nungil.model.folder.safe_open", unreadable)
    assert refusal(folder) == "model.safetensors: cannot be read: Permission denied"


def test_a_file_that_was_cut_off(folder):
    content = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(content[:-7])
    assert refusal(folder).startswith(
        "model.safetensors: not a whole safetensors file: it may have been cut off when it was copied; copy it again ("
    )


MODEST = """
import resource, sys, torch
from pathlib import Path
from nungil.errors import CheckpointError
from nungil.model.folder import load_model
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 300_000_000,) * 2)
try:
    load_model(Path(sys.argv[1]))
except CheckpointError as error:
    print(error)
"""


@pytest.mark.slow
def test_an_absurd_size_is_refused_before_memory_is_spent_on_it(folder):
    # Over 100 GB of weights, where the process may have 300 MB more.
    change_config(
        folder, model__width=8_192, model__embedding=8_192, model__decoder_layers=32, model__encoder_layers=32
    )
    found = subprocess.run([sys.executable, "-c", MODEST, str(folder)], capture_output=True, text=True, timeout=60)
    assert found.stdout.startswith(
        f"{folder}/model.safetensors: does not hold the model that config.json describes: "
    ), found.stderr


LIGHT = """
import sys
from pathlib import Path
from nungil.model.folder import load_model
for folder in sys.argv[1:]:
    before = len(sys.modules)
    load_model(Path(folder))
    print(len(sys.modules) - before)
"""


@pytest.mark.slow
def test_comparing_sizes_does_not_import_the_half_of_torch_that_compiles(tmp_path):
    learned = {**CLASSIFIER, "query": "learned"}
    folders = [
        translator_folder(tmp_path / "luong"),
        translator_folder(tmp_path / "transformer", TRANSFORMER),
        classifier_folder(tmp_path / "classifier", learned),
        classifier_folder(tmp_path / "bag", BAG),
    ]
    command = [sys.executable, "-c", LIGHT, *map(str, folders)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert all(int(count) < 50 for count in found.stdout.split()), "each took seconds before it did anything"
    assert len(found.stdout.split()) == len(folders), found.stderr


# The tokenizers


def test_a_tokenizer_with_another_hash(folder):
    text = (folder / "source.json").read_text()
    (folder / "source.json").write_text(text.replace("snow", "snoe"))
    assert refusal(folder) == ("source.json: not the tokenizer that the model was trained with (its SHA-256 differs)")


def test_a_tokenizer_of_another_size(folder):
    plain = json.loads((folder / "source.json").read_text())
    plain["known"].append("another")
    (folder / "source.json").write_text(json.dumps(plain))
    _rehash(folder, "source.json")
    assert refusal(folder) == "DIR: the tokenizers have 18 and 15 tokens, the model 17 and 15"


def _rehash(folder, name):
    plain = json.loads((folder / "config.json").read_text())
    plain["files"][name] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    (folder / "config.json").write_text(json.dumps(plain))


@pytest.mark.parametrize("content", [b"\x80\x04nonsense", b"[]", b'{"unit": "eval", "known": []}', b"[" * 100_000])
def test_a_tokenizer_that_is_none(folder, content):
    (folder / "source.json").write_bytes(content)
    _rehash(folder, "source.json")
    assert refusal(folder) == "DIR: this is not a word or character vocabulary of ours"


def test_a_sentencepiece_model_that_is_none(tmp_path):
    folder = translator_folder(tmp_path / "model", joint=True)
    (folder / "tokenizer.json").rename(folder / "tokenizer.spm")
    change_config(folder, files={})
    _rehash(folder, "tokenizer.spm")
    assert refusal(folder).startswith("DIR: not a SentencePiece model: ")


@pytest.mark.parametrize("name", ["../source.json", "..", "/etc/passwd", "sub/source.json", ".hidden", "a\0b", ""])
def test_a_file_name_that_is_not_a_tokenizers(folder, name):
    change_config(folder, files={name: "0" * 64})
    assert refusal(folder) == f"config.json: {name!r} is not the name of a tokenizer of ours"


def test_a_tokenizer_that_is_missing(folder):
    (folder / "target.json").unlink()
    assert refusal(folder) == "DIR: the tokenizer target.json is missing"


def test_a_tokenizer_that_the_config_does_not_name_is_not_read(folder):
    (folder / "tokenizer.json").write_bytes((folder / "source.json").read_bytes())
    assert refusal(folder) == "tokenizer.json: a tokenizer that config.json does not know"
    (folder / "tokenizer.json").unlink()
    change_config(folder, files={})
    assert refusal(folder) == "source.json: a tokenizer that config.json does not know"


def test_a_huge_tokenizer_is_not_even_read(folder):
    os.truncate(folder / "source.json", 10**12)
    assert refusal(folder) == "source.json: too large to be a tokenizer"


# Links


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "target.json"])
def test_a_link_that_leaves_the_folder(folder, tmp_path, name):
    (folder / name).rename(tmp_path / name)
    (folder / name).symlink_to(tmp_path / name)
    assert refusal(folder) == f"{name}: leads out of the folder"


def test_the_folder_itself_may_be_a_link(folder, tmp_path):
    (tmp_path / "link").symlink_to(folder)
    assert read_config(tmp_path / "link").task == "translate"


# How a command ends


def test_a_refused_model_ends_a_command_with_code_4_and_a_missing_one_with_2(folder, tmp_path):
    change_config(folder, model__width=0)
    found = invoke("look", str(folder), "I like snow")
    assert (found.returncode, found.stdout) == (4, "")
    assert found.stderr == (f"nungil: refused: {folder}/config.json:\n- [model] width: must be at least 1\n")
    assert invoke("translate", str(tmp_path / "none")).returncode == 2
    assert invoke("classify", str(tmp_path)).returncode == 4


def test_weights_that_cannot_be_written_leave_the_old_ones(folder):
    before = (folder / "model.safetensors").read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, hard))
    try:
        with pytest.raises(ResourceError) as caught:
            write_weights(folder, {"a": torch.zeros(10_007)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)
    assert str(caught.value) == f"{folder}/model.safetensors: cannot be written: File too large"
    assert (folder / "model.safetensors").read_bytes() == before
    assert sorted(path.name for path in folder.iterdir()) == [
        *("config.json", "model.safetensors", "source.json", "target.json")
    ]
