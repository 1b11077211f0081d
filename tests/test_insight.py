"""Lenses, honesty, interventions, differences and badges of translators and classifiers: text in, records out."""

from math import prod

import numpy as np
import pytest
import torch
from model_folders import CLASSIFIER, ENGLISH, KOREAN, LABELS, TRANSFORMER, classifier_folder, translator_folder

import nungil
from nungil.errors import UsageError
from nungil.inspection.changes import Flatten, Force, Permute, Set
from nungil.inspection.edits import Delete, Insert, Swap
from nungil.inspection.lenses import LENSES
from nungil.pipeline.seeds import maps_apart

TEXT = "I like snow"
PAIRS = list(zip(ENGLISH, KOREAN, strict=True))
LABELLED = list(zip(ENGLISH, ("snow", "eye", "ship", "snow"), strict=True))


@pytest.fixture
def translator(tmp_path):
    return nungil.load(translator_folder(tmp_path / "luong"))


@pytest.fixture
def transformer(tmp_path):
    return nungil.load(translator_folder(tmp_path / "transformer", {**TRANSFORMER, "decoder_layers": 2}))


@pytest.fixture
def classifier(tmp_path):
    return nungil.load(classifier_folder(tmp_path / "classifier"))


def test_raw_is_the_map_of_look(translator, transformer, classifier):
    for model in (translator, transformer, classifier):
        record, found = model.look(TEXT), model.lens(TEXT)
        assert (found.rows, found.columns) == (record.target_tokens, record.source_tokens)
        assert found.values == pytest.approx(record.weights)
        assert found.output == record.target


def test_every_lens_of_a_transformer_is_of_the_same_words(transformer):
    record = transformer.look(TEXT, "눈이 내렸다")
    for lens in LENSES:
        found = transformer.lens(TEXT, lens, "눈이 내렸다")
        assert (found.rows, found.columns) == (("눈이", "내렸다", "<eos>"), record.source_tokens)
        assert np.isfinite(found.values).all()
    one = transformer.lens(TEXT, "raw", "눈이 내렸다", layer=0, head=2)
    assert one.values == pytest.approx(record.select("cross", 0, 2))


def test_a_label_can_be_asked_about_that_was_not_given(classifier):
    own = classifier.classify(TEXT)[0].label
    other = next(label for label in LABELS if label != own)
    assert classifier.lens(TEXT, "leave-one-out").rows == (own,)
    assert classifier.lens(TEXT, "leave-one-out", other).rows == (other,)
    with pytest.raises(UsageError, match=r"there is no label 'snwo'; did you mean snow\?"):
        classifier.lens(TEXT, "raw", "snwo")


def test_a_model_in_training_is_seen_without_dropout_and_goes_on_training(translator):
    quiet = translator.lens(TEXT, "gradient-input", "눈이 내렸다").values
    translator.model.train()
    assert translator.lens(TEXT, "gradient-input", "눈이 내렸다").values == pytest.approx(quiet)
    assert translator.model.training
    assert all(parameter.grad is None for parameter in translator.model.parameters())


def test_honesty_of_a_text(translator, transformer):
    strip = translator.honesty(TEXT, permutations=7)
    assert tuple(row.token for row in strip.rows) == translator.look(TEXT).target_tokens
    assert (strip.permutations, strip.where) == (7, "cross attention · layer 0")
    assert strip.residual < 1e-5
    quick = translator.quick_honesty(TEXT)
    assert quick.first() == strip.first()
    assert transformer.honesty(TEXT, layer=0, head=1, permutations=2).where == "cross attention · layer 0 · head 1"


def test_a_model_without_attention_has_lenses_but_no_strip(tmp_path):
    plain = nungil.load(translator_folder(tmp_path / "plain", {"kind": "recurrent", "width": 10, "decoder": "plain"}))
    assert plain.lens(TEXT, "leave-one-out").values.shape[1] == 5
    for ask in (plain.honesty, plain.quick_honesty, lambda text: plain.intervene(text, Flatten(1))):
        with pytest.raises(UsageError, match=r"no map to trust or to change: a plain decoder does not look"):
            ask(TEXT)
    with pytest.raises(UsageError, match=r"no map to trust"):
        plain.badge(PAIRS)


def test_an_intervention_by_name_and_by_number(translator):
    named = translator.intervene(TEXT, Force(1, "snow"))
    numbered = translator.intervene(TEXT, Force(1, 4))  # <sos> I like snow
    assert named.effects == numbered.effects
    assert named.effects[0].row_after == pytest.approx([0, 0, 0, 1, 0])
    assert named.changes == ("step 1: all weight on “snow”",)
    with pytest.raises(UsageError, match=r"“rain” is not in the source"):
        translator.intervene(TEXT, Force(1, "rain"))


def test_the_new_output_is_that_of_a_search_under_the_eye(translator):
    own = translator.translate(TEXT, beam=1)[0].text
    found = translator.intervene(TEXT, Permute(1, 3))
    assert found.output_before == own
    assert found.lines()[-3:-1] == (f"Output before: {own}", f"Output after:  {found.output_after}")


def test_an_intervention_on_a_classifier(classifier):
    found = classifier.intervene(TEXT, Force(1, "snow"))
    probabilities = classifier.classify(TEXT)[0].probabilities
    (effect,) = found.effects
    assert effect.token == found.output_before
    assert {one.token: one.probability for one in effect.candidates_before} == pytest.approx(probabilities)
    assert effect.row_after == pytest.approx([0, 0, 1])


def test_words_swapped_deleted_and_inserted(translator, classifier):
    swapped = translator.compare(TEXT, Swap("snow", "ship"))
    assert swapped.before.columns == ("<sos>", "I", "like", "snow", "<eos>")
    assert swapped.after.columns == ("<sos>", "I", "like", "ship", "<eos>")
    assert swapped.after.values == pytest.approx(translator.look("I like ship").weights)
    assert "snow→ship" in swapped.picture().columns
    longer = translator.compare(TEXT, Insert("like", "a"), Delete("I"), lens="leave-one-out")
    assert longer.after.columns == ("<sos>", "like", "a", "snow", "<eos>")
    assert longer.edits == ("“a” inserted after “like”", "“I” deleted")
    assert classifier.compare(TEXT, Delete(1)).picture().columns[0] == "−I"
    with pytest.raises(UsageError, match=r"no edits were given"):
        translator.compare(TEXT)


def test_a_badge_of_each_family(translator, transformer, classifier):
    for model, records, metric in (
        (translator, PAIRS, "chrF"),
        (transformer, PAIRS, "chrF"),
        (classifier, LABELLED, "accuracy"),
    ):
        told = []
        found = model.badge(records, seed=2, tell=lambda *both, told=told: told.append(both))
        assert (found.sentences, found.metric) == (4, metric)
        assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
        again = model.badge(records, seed=2)
        for figure in ("own", "even", "permuted", "random", "aopc", "aopc_random", "tau_gradient"):
            assert getattr(found, figure) == pytest.approx(getattr(again, figure))
    right = sum(classifier.classify(text)[0].label == label for text, label in LABELLED)
    assert found.own == pytest.approx(100 * right / 4)
    with pytest.raises(UsageError, match=r"a badge needs some texts"):
        translator.badge([])


def test_one_text_is_no_pair_and_a_list_is_no_text(translator):
    with pytest.raises(UsageError, match=r"pair 1 is not two texts but 'I like snow'"):
        translator.badge([TEXT])
    for look in (translator.look, translator.lens, translator.honesty):
        with pytest.raises(UsageError, match=r"one text is expected, not list"):
            look([TEXT])


def test_a_difference_tells_how_probable_both_outputs_are(translator, classifier):
    for model in (translator, classifier):
        found = model.compare(TEXT, Swap("snow", "ship"))
        for text, probability in zip((TEXT, "I like ship"), found.probabilities, strict=True):
            assert probability == pytest.approx(prod(step.probability for step in model.look(text).steps), rel=1e-4)
        assert found.lines()[0].endswith(f" before: {found.before.output} (p {found.probabilities[0]:.3f})")
        assert found.to_json()["probabilities"] == list(found.probabilities)


def test_words_are_left_to_read(translator, classifier):
    for model in (translator, classifier):
        with pytest.raises(UsageError, match="“snow” deleted: nothing is left to read"):
            model.compare(TEXT, Delete("I"), Delete("like"), Delete("snow"))


def test_weights_of_ones_own_are_weights(translator):
    size = len(translator.example(TEXT).source)
    for wrong, said in ((float("nan"), "nan is no weight"), (-0.5, "-0.5 is no weight"), (0.0, "all are 0")):
        with pytest.raises(UsageError, match=f"step 2: weights of your own: {said}"):
            translator.intervene(TEXT, Set(2, (wrong, *[0.0] * (size - 1))))


def test_a_badge_of_attention_that_is_even_already_loses_nothing(translator):
    with torch.no_grad():
        translator.model.decoder.attention.score.bridge.weight.zero_()
    found = translator.badge(PAIRS)
    assert found.own == found.even == found.permuted
    assert found.tau_gradient is None
    assert found.verdict.startswith("This model hardly needs its attention")


def test_another_map_of_a_classifier(classifier, tmp_path):
    found = classifier.other_map(TEXT)
    assert found.label == classifier.classify(TEXT)[0].label
    assert found.source_tokens == ("I", "like", "snow")
    assert found.tvd <= found.allowed
    pooled = nungil.load(classifier_folder(tmp_path / "mean", {**CLASSIFIER, "pooling": "mean"}))
    with pytest.raises(UsageError, match=r"it pools by mean, not by attention"):
        pooled.other_map(TEXT)


def test_maps_of_the_same_model_are_not_apart(translator, transformer):
    assert maps_apart([translator, translator], PAIRS) == pytest.approx(0, abs=1e-6)
    assert 0 < maps_apart([translator, transformer], PAIRS) < np.log(2)
