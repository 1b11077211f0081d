"""Translator and Classifier: text in, records out; the names that `import nungil` promises."""

import math
import subprocess
import sys

import numpy as np
import pytest
import torch
from model_folders import CLASSIFIER, ENGLISH, LABELS, LUONG, TRANSFORMER, classifier_folder, translator_folder

import nungil
from nungil.decoding import native
from nungil.decoding.native import batch_size, batches_of
from nungil.decoding.settings import SearchSettings
from nungil.engines import load
from nungil.errors import UsageError
from nungil.inspection.record import AttentionRecord
from nungil.pipeline import Classifier, Translator
from nungil.pipeline.translator import EMPTY
from nungil.records import Classification, Translation
from nungil.text.tokenizers.base import EOS, SOS

TEXTS = ["I like snow", "", "snow", "The child ate a pear and we saw a ship yesterday", "   ", "We saw a ship", "zebra"]
MODELS = {
    "luong": LUONG,
    "bahdanau": {**LUONG, "decoder": "bahdanau", "cell": "gru"},
    "plain": {**LUONG, "decoder": "plain"},
    "transformer": TRANSFORMER,
}


@pytest.fixture(params=MODELS)
def translator(request, tmp_path):
    return load(translator_folder(tmp_path / "model", MODELS[request.param]))


@pytest.fixture
def luong(tmp_path):
    return load(translator_folder(tmp_path / "model"))


@pytest.fixture
def classifier(tmp_path):
    return load(classifier_folder(tmp_path / "model"))


def without_last_digits(translation):
    """A translation whose score can be compared: batches of another size add up in another order."""
    return translation._replace(
        score=pytest.approx(translation.score, abs=1e-5),
        probabilities=pytest.approx(translation.probabilities, abs=1e-5),
    )


# Translating


def test_translations_come_in_the_order_of_the_texts_and_empty_ones_stay_empty(translator):
    found = translator.translate(TEXTS)
    assert [one.source for one in found] == [" ".join(text.split()) for text in TEXTS]
    for place in (1, 4):
        assert found[place] == EMPTY
    for text, one in zip(TEXTS, found, strict=True):
        if text.strip():
            assert one == without_last_digits(translator.translate(text)[0])
            assert one.text == translator.tokenizers.target.decode(
                [translator.tokenizers.target._number[token] for token in one.tokens]
            )


def test_batches_do_not_change_a_translation(translator, monkeypatch):
    at_once = translator.translate(TEXTS)
    monkeypatch.setattr(native, "POSITIONS", 12)
    for one, other in zip(at_once, translator.translate(TEXTS), strict=True):
        assert one == without_last_digits(other)


def test_batches_hold_each_wanted_text_once_the_longest_first(monkeypatch):
    monkeypatch.setattr(native, "POSITIONS", 12)
    assert list(batches_of([3, 5, 13, 6, 1], 9)) == [[2], [3, 1], [0, 4]]
    assert list(batches_of([3, 5, 13, 6, 1], 1)) == [[2], [3], [1], [0], [4]], "no more than so many rows"
    assert list(batches_of([], 9)) == []


def test_all_threads_have_work_until_the_end(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    greedy, beam = SearchSettings(beam=1), SearchSettings(beam=5)
    assert [batch_size(sentences, greedy) for sentences in (0, 1, 7, 768, 769, 1_000)] == [1, 1, 3, 256, 129, 167]
    assert [batch_size(sentences, beam) for sentences in (7, 300, 301)] == [3, 100, 51], "five rows for each sentence"
    drawn = SearchSettings(sample=True)
    assert [batch_size(sentences, drawn) for sentences in (7, 385)] == [128, 128], "what is drawn is the same anywhere"


def test_a_long_text_is_cut_and_said_to_be(luong):
    nine, ten = (" ".join(["snow"] * words) for words in (9, 10))
    whole, cut = luong.translate([nine, ten])
    assert (whole.cut, cut.cut) == (False, True)
    assert cut.source == ten
    assert cut.source_tokens == whole.source_tokens == ("<sos>", *["snow"] * 9, "<eos>")
    assert whole._replace(cut=True, source=ten) == without_last_digits(cut)


def test_a_translation_that_does_not_end_is_said_to_be_cut_off(luong):
    with torch.no_grad():
        luong.model.output.bias[EOS] -= 1e6
    (found,) = luong.translate("I like snow")
    assert not found.finished
    assert len(found.tokens) == 2 * (3 + 2) + 20


@pytest.mark.parametrize("marks", ["both", "eos", "none"])
def test_a_source_has_the_marks_of_the_config(tmp_path, marks):
    model = load(translator_folder(tmp_path / "model", marks=marks))
    before, after = {"both": (["<sos>"], ["<eos>"]), "eos": ([], ["<eos>"]), "none": ([], [])}[marks]
    assert model.translate("I like snow")[0].source_tokens == (*before, "I", "like", "snow", *after)


def test_a_text_is_tidied_as_training_does(luong):
    assert luong.translate("I \u200b like\tsnow ") == luong.translate("I like snow")


@pytest.mark.parametrize("name", ["luong", "bahdanau", "transformer"])
@pytest.mark.parametrize("ends", [False, True])
def test_the_score_is_the_mean_log_probability(tmp_path, name, ends):
    model = load(translator_folder(tmp_path / "model", MODELS[name]))
    with torch.no_grad():
        model.model.output.bias[EOS] += 1.5 if ends else -1e6
    (found,) = model.translate("We saw a ship yesterday")
    assert found.finished == ends
    assert model.look("We saw a ship yesterday").score == pytest.approx(found.score, abs=1e-5)


def test_a_model_in_training_goes_on_with_its_dropout_and_answers_without(luong):
    expected, looked = luong.translate(ENGLISH), luong.look("I like snow")
    luong.model.train()
    assert luong.translate(ENGLISH) == expected
    again = luong.look("I like snow")
    assert again.target_tokens == looked.target_tokens
    assert np.array_equal(again.weights, looked.weights)
    assert luong.model.training
    with pytest.raises(UsageError):
        luong.look("I like snow", target="  ")
    assert luong.model.training


# Looking


def test_the_rows_of_a_look_are_what_it_writes_and_the_columns_what_it_reads(tmp_path):
    for name in ("luong", "bahdanau", "transformer"):
        model = load(translator_folder(tmp_path / name, MODELS[name]))
        (written,) = model.translate("The child ate a pear")
        record = model.look("The child ate a pear")
        rows = (*written.tokens, "<eos>") if written.finished else written.tokens
        assert record.source_tokens == ("<sos>", "The", "child", "ate", "a", "pear", "<eos>")
        assert record.target_tokens == rows
        assert (record.source, record.target) == ("The child ate a pear", written.text)
        assert record.weights.shape == (len(rows), 7)
        assert np.allclose(record.weights.sum(axis=-1), 1, atol=1e-5)


@pytest.mark.parametrize("name", ["luong", "bahdanau", "transformer"])
def test_a_given_target_is_read_and_not_written(tmp_path, name):
    translator = load(translator_folder(tmp_path / "model", MODELS[name]))
    record = translator.look("I like snow", target="눈이 내렸다")
    assert record.target_tokens == ("눈이", "내렸다", "<eos>")
    assert record.target == "눈이 내렸다"
    ids = [*translator.tokenizers.target.encode("눈이 내렸다"), EOS]
    source = torch.tensor([[SOS, *translator.tokenizers.source.encode("I like snow"), EOS]])
    with torch.inference_mode():
        features = translator.model(source, source != 0, torch.tensor([[SOS, *ids[:-1]]])).features
        log_probs = translator.model.logits(features).log_softmax(dim=-1)[0]
    forced = [log_probs[place, token].item() for place, token in enumerate(ids)]
    assert record.score == pytest.approx(sum(forced) / 3, abs=1e-5)


def test_a_translator_without_attention_says_so(tmp_path):
    model = load(translator_folder(tmp_path / "model", MODELS["plain"]))
    with pytest.raises(UsageError) as caught:
        model.look("I like snow")
    assert str(caught.value) == "this translator has a plain decoder: it has no attention to look at"


def test_nothing_cannot_be_looked_at(luong):
    for arguments in (("",), (" \t",), ("I like snow", " ")):
        with pytest.raises(UsageError) as caught:
            luong.look(*arguments)
        assert str(caught.value) == "the text is empty; there is nothing to look at"


# Classifying


def test_probabilities_sum_to_one_and_the_label_is_the_most_probable(classifier):
    for text, found in zip(ENGLISH, classifier.classify(ENGLISH), strict=True):
        assert found.source == text
        assert tuple(found.probabilities) == LABELS
        assert math.fsum(found.probabilities.values()) == pytest.approx(1, abs=1e-6)
        assert found.probability == max(found.probabilities.values()) == found.probabilities[found.label]


def test_batches_do_not_change_a_label(classifier, monkeypatch):
    texts = [text for text in TEXTS if text.strip()]
    at_once = classifier.classify(texts)
    monkeypatch.setattr(native, "POSITIONS", 7)
    for one, other, text in zip(at_once, classifier.classify(texts), texts, strict=True):
        assert (one.label, one.source, one.cut) == (other.label, text, len(text.split()) > 9)
        assert list(one.probabilities.values()) == pytest.approx(list(other.probabilities.values()), abs=1e-6)


def test_an_empty_text_cannot_be_classified(classifier):
    with pytest.raises(UsageError) as caught:
        classifier.classify(["snow", " \u200b"])
    assert str(caught.value) == "text 2 is empty; there is nothing to classify in it"
    assert classifier.classify([]) == []


def test_a_look_at_a_classifier_has_one_row_the_label(classifier):
    record = classifier.look("I like snow")
    (found,) = classifier.classify("I like snow")
    assert record.source_tokens == ("I", "like", "snow")
    assert record.target_tokens == (found.label,)
    assert record.score == pytest.approx(found.probability, abs=1e-6)
    assert record.weights.shape == (1, 3)
    assert record.weights.sum() == pytest.approx(1, abs=1e-6)


def test_a_look_says_what_part_of_the_verdict_no_map_is_of(tmp_path, classifier):
    settings = {**CLASSIFIER, "ngrams": {"longest": 2, "buckets": 31}}
    model = load(classifier_folder(tmp_path / "two readers", settings))
    record = model.look("I like snow")
    ids = torch.tensor([model.tokenizer.encode("I like snow")])
    with torch.inference_mode():
        found = model.model(ids, torch.ones_like(ids, dtype=torch.bool))
    number = model.config.labels.index(record.target)
    deep, wide = (float(one.softmax(dim=-1)[0, number]) for one in (found.deep, found.wide))
    assert record.readers == (
        f"the label is by the mean of two. Attention, of which this map is, gives it a probability of {deep:.2f}; "
        f"n-grams, which no map shows, {wide:.2f}."
    )
    assert f"Readers: {record.readers}" in record.picture().notes
    assert AttentionRecord.from_json(record.to_json()) == record
    alone = classifier.look("I like snow")
    assert alone.readers == ""
    assert not any(note.startswith("Readers") for note in alone.picture().notes)


@pytest.mark.parametrize("pooling", ["mean", "max", "last"])
def test_a_classifier_without_attention_says_so(tmp_path, pooling):
    model = load(classifier_folder(tmp_path / "model", {**CLASSIFIER, "pooling": pooling}))
    with pytest.raises(UsageError) as caught:
        model.look("I like snow")
    assert str(caught.value) == f"this classifier pools by {pooling}: it has no attention to look at"


def test_a_transformer_that_pools_by_its_mean_has_attention_all_the_same(tmp_path):
    settings = {"kind": "classifier", "encoder": "transformer", "width": 12, "heads": 3, "pooling": "mean"}
    record = load(classifier_folder(tmp_path / "model", settings)).look("I like snow")
    assert [(one.kind, one.weights.shape) for one in record.maps] == [("self", (3, 3, 3))]


# The public door


@pytest.mark.slow
def test_importing_nungil_imports_no_torch_until_a_name_is_used():
    script = (
        "import nungil, sys\n"
        "assert 'load' in dir(nungil) and 'train' in dir(nungil)\n"
        "assert 'torch' not in sys.modules and 'numpy' not in sys.modules\n"
        "nungil.AttentionRecord.from_matrix\n"
        "assert 'torch' not in sys.modules\n"
        "nungil.load\n"
        "assert 'torch' in sys.modules\n"
        "print('light')"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert found.stdout == "light\n", found.stderr


def test_the_names_of_the_door():
    assert {*nungil.__all__} <= {*dir(nungil)}
    assert nungil.load is load
    assert nungil.Translator is Translator
    assert nungil.Classifier is Classifier
    assert nungil.train.__module__ == "nungil.runs.train"
    assert nungil.AttentionRecord.from_matrix
    with pytest.raises(AttributeError, match="module 'nungil' has no attribute 'trian'"):
        _ = nungil.trian
    assert nungil.resume.__module__ == "nungil.runs.train"


def test_the_packages_of_the_door_need_no_import_of_their_own():
    script = "import nungil, sys; print(nungil.scoring.alignment.aer(['0-0'], ['0-0']), 'torch' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert found.stdout == "0.0 False\n", found.stderr
    assert nungil.attention.Dot
    assert nungil.errors.NungilError


@pytest.mark.parametrize("given", [None, 3, b"model", ["model"]], ids=str)
def test_what_is_no_path_is_refused(luong, given):
    name = type(given).__name__
    record = luong.look("I like snow")
    for ask, what in (
        (load, "a model folder"),
        (lambda path: load("nowhere", others=[path]), "a model folder"),
        (record.save, "the file of a record"),
        (nungil.AttentionRecord.load, "the file of a record"),
        (lambda path: nungil.train("pairs.tsv", out=path), "out, the new model folder,"),
        (nungil.resume, "the folder of a run"),
    ):
        with pytest.raises(UsageError) as caught:
            ask(given)
        assert str(caught.value) == f"{what} is named by a text or a path, not {name}"
    with pytest.raises(UsageError, match="a model folder has to have a name, and it is empty"):
        load("")


@pytest.mark.parametrize("others", [None, 3], ids=str)
def test_other_models_are_named_by_folders(tmp_path, others):
    folder = translator_folder(tmp_path / "model")
    with pytest.raises(UsageError) as caught:
        load(folder, others=others)
    assert str(caught.value) == f"others: a folder or several are expected, not {type(others).__name__}"


def test_an_engine_that_is_no_name_is_refused(tmp_path):
    with pytest.raises(UsageError, match="there is no engine None; there is ctranslate2, nungil"):
        load(tmp_path, engine=None)


def test_models_and_answers_show_themselves_in_a_line(tmp_path, classifier):
    luong = load(translator_folder(tmp_path / "shown"))
    count = sum(one.numel() for one in luong.model.parameters())
    assert repr(luong) == f"<Translator en → ko: recurrent, {count:,} parameters>"
    assert repr(classifier).startswith("<Classifier of en, 3 labels: classifier, ")
    answer = Translation("눈", -0.25, ("눈",), "snow", ("snow",), probabilities=(0.5,))
    assert repr(answer) == "<Translation 'snow' → '눈', score -0.250>"
    odd = answer._replace(finished=False, cut=True, unknown=("a", "b"), n_best=(answer, answer))
    assert repr(odd) == (
        "<Translation 'snow' → '눈', score -0.250, best of 2, source cut, not finished, unknown: a, b>"
    )
    label = Classification("snow", 0.5, {"snow": 0.5, "eye": 0.5}, "I like snow", True, ("a",))
    assert repr(label) == "<Classification 'I like snow' → 'snow', probability 0.500, source cut, unknown: a>"
