"""`nungil export`: a folder that CTranslate2 loads by itself, whole or absent, whose README is true."""

import contextlib
import json
import re
import subprocess
import sys

import ctranslate2
import pytest
import torch
from command import invoke
from model_folders import ENGLISH, KOREAN, LUONG, TRANSFORMER, _write, classifier_folder, translator_folder

from nungil.pipeline import load
from nungil.text.tokenizers.pieces import train_pieces
from nungil.text.tokenizers.train import Tokenizers

SENTENCE = "We saw a ship"


def piece_folder(folder, joint):
    """A translator of pieces, of Korean jamo."""
    if joint:
        both = train_pieces(ENGLISH * 3 + KOREAN * 3, "bpe", 370, "jamo")
        tokenizers = Tokenizers(both, both)
    else:
        tokenizers = Tokenizers(*(train_pieces(side * 3, "bpe", 320, "jamo") for side in (ENGLISH, KOREAN)))
    chosen = {"tokenizer": {"unit": "bpe", "korean": "jamo"}, "source": "en", "target": "ko"}
    return _write(folder, tokenizers, TRANSFORMER, task="translate", **chosen)


FOLDERS = {
    "words, two vocabularies": lambda place: translator_folder(place, TRANSFORMER, marks="eos"),
    "words, joint": lambda place: translator_folder(place, {**TRANSFORMER, "norm": "post"}, joint=True, marks="none"),
    "pieces, joint": lambda place: piece_folder(place, joint=True),
    "pieces, two vocabularies": lambda place: piece_folder(place, joint=False),
}


@pytest.mark.parametrize("kind", FOLDERS)
def test_the_program_in_its_readme_translates_as_we_do(kind, tmp_path):
    folder, out = FOLDERS[kind](tmp_path / "model"), tmp_path / "exported"
    found = invoke("export", str(folder), "--to", "ctranslate2", "--out", str(out))
    assert found.returncode == 0, found.stderr
    assert found.stderr.startswith(f"The model is in {out}, and how to use it in {out / 'README.md'}\nNext: ")
    (program,) = re.findall(r"^```python\n(.*?)^```", (out / "README.md").read_text(), flags=re.M | re.S)
    greedy = program.replace("beam_size=5", "beam_size=1, max_decoding_length=7")
    assert greedy != program
    printed = subprocess.run(
        [sys.executable, "-c", greedy], cwd=out, input=f"{SENTENCE}\n", capture_output=True, text=True, timeout=60
    )
    assert printed.returncode == 0, printed.stderr
    (expected,) = load(folder).translate(SENTENCE, beam=1, longest=7)
    assert printed.stdout.strip() == expected.text.strip()
    assert expected.text.strip(), "the test must see words"


def test_the_folder_has_all_that_is_needed(tmp_path):
    folder = piece_folder(tmp_path / "model", joint=True)
    assert invoke("export", str(folder), "--to", "ctranslate2").returncode == 0
    names = ["README.md", "config.json", "model.bin", "shared_vocabulary.json", "tokenizer.spm"]
    assert sorted(path.name for path in (folder / "ctranslate2").iterdir()) == names
    assert (folder / "ctranslate2" / "tokenizer.spm").read_bytes() == (folder / "tokenizer.spm").read_bytes()
    settings = json.loads((folder / "ctranslate2" / "config.json").read_text())
    assert (settings["bos_token"], settings["eos_token"], settings["decoder_start_token"]) == (
        "<sos>",
        "<eos>",
        "<sos>",
    )
    assert (settings["add_source_bos"], settings["add_source_eos"]) == (True, True)
    words = json.loads((folder / "ctranslate2" / "shared_vocabulary.json").read_text())
    assert words == load(folder).tokenizers.source.vocabulary
    assert len(set(words)) == len(words)
    load(folder).translate(SENTENCE)  # the model folder is still one


@pytest.mark.parametrize("compute", ["int8", "int16", "bfloat16", "int8_float32"])
def test_weights_are_written_in_the_type_asked_for(compute, tmp_path):
    folder = translator_folder(tmp_path / "model", {**TRANSFORMER, "width": 96, "feed_forward": 192})
    for chosen in ("float32", compute):
        assert invoke("export", str(folder), "--to", "ctranslate2", "--compute", chosen).returncode == 0
    exact, short = folder / "ctranslate2", folder / f"ctranslate2-{compute}"
    assert short.joinpath("model.bin").stat().st_size < 0.75 * exact.joinpath("model.bin").stat().st_size
    found = ctranslate2.Translator(str(short)).translate_batch([["We", "saw"]], max_decoding_length=5, beam_size=1)
    assert len(found[0].hypotheses[0]) <= 5


def test_nothing_is_written_over_and_nothing_is_left_half(tmp_path, monkeypatch):
    folder, out = translator_folder(tmp_path / "model", TRANSFORMER), tmp_path / "made" / "exported"

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("nungil.engines.export.save_tokenizers", full)
        found = invoke("export", str(folder), "--to", "ctranslate2", "--out", str(out))
    assert (found.returncode, found.stderr) == (5, f"nungil: {out}: cannot be written: No space left on device\n")
    assert list(out.parent.iterdir()) == []
    assert invoke("export", str(folder), "--to", "ctranslate2", "--out", str(out)).returncode == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    found = invoke("export", str(folder), "--to", "ctranslate2", "--out", str(out), "--compute", "int8")
    assert found.returncode == 2
    assert found.stderr == (f"nungil: {out}: exists already, and is not overwritten; choose another --out\n")
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert [path.name for path in out.parent.iterdir()] == ["exported"]


def test_what_cannot_be_exported_is_named_with_what_to_do_instead(tmp_path, monkeypatch):
    recurrent, labels = translator_folder(tmp_path / "luong", LUONG), classifier_folder(tmp_path / "labels")
    found = invoke("export", str(recurrent), "--to", "ctranslate2")
    assert found.returncode == 2
    assert found.stderr == (
        f"nungil: {recurrent} holds a recurrent translator, and CTranslate2 runs only Transformers that translate; "
        f"nungil translate {recurrent} runs it; to have a Transformer, nungil train --model transformer\n"
    )
    assert "holds a classifier" in invoke("export", str(labels), "--to", "ctranslate2").stderr
    assert invoke("export", str(recurrent), "--to", "onnx").returncode == 2
    found = invoke("export", str(recurrent), "--to", "ctranslate2", "--compute", "int4")
    assert (found.returncode, found.stderr) == (2, "nungil: compute: there is no 'int4'; did you mean int8?\n")
    assert invoke("export", str(tmp_path / "nothing"), "--to", "ctranslate2").returncode == 2
    monkeypatch.setitem(sys.modules, "ctranslate2", None)
    found = invoke("export", str(recurrent), "--to", "ctranslate2")
    assert (found.returncode, found.stderr) == (2, "nungil: CTranslate2 is not installed; pip install 'nungil[ct2]'\n")
    assert not (recurrent / "ctranslate2").exists()


def test_exporting_leaves_the_model_as_it_is(tmp_path):
    folder = translator_folder(tmp_path / "model", TRANSFORMER)
    before = (folder / "model.safetensors").read_bytes()
    model = load(folder)
    weights = {name: value.clone() for name, value in model.model.state_dict().items()}
    with contextlib.chdir(tmp_path):
        assert invoke("export", "model", "--to", "ctranslate2", "--compute", "int8").returncode == 0
    assert (folder / "model.safetensors").read_bytes() == before
    assert all(torch.equal(value, weights[name]) for name, value in model.model.state_dict().items())
