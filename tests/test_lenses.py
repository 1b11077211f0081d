"""Every lens against numbers worked out by hand or by finite differences; which models have which."""

import math

import numpy as np
import pytest
import torch
from examples import SOURCE, WRITTEN, example_of, spelled
from small_models import CLASSIFIERS, HEADS, MODELS, TRANSLATORS, classifier, recurrent, transformer

from nungil.attention import Look
from nungil.errors import ShapeError, UsageError
from nungil.inspection import felt
from nungil.inspection.example import Example
from nungil.inspection.lenses import LENSES, missing_lenses, through
from nungil.inspection.lensmap import LensMap
from nungil.inspection.looked import half_kept, norm_shares, rolled_decoder, rolled_encoder
from nungil.inspection.recomputing import residual_of
from nungil.inspection.record import UNMERGED
from nungil.inspection.watching import Watcher, view_of, watch
from nungil.model.build import build_classifier
from nungil.model.classifier import ClassifierSettings

each_model = pytest.mark.parametrize("make", MODELS.values(), ids=list(MODELS))
LOOKING = {
    name: make for name, make in MODELS.items() if not any(part in name for part in ("plain", "last", "max", "mean"))
}
each_looking = pytest.mark.parametrize("make", LOOKING.values(), ids=list(LOOKING))
ROLLED = {"transformer", "transformer, post-norm", "transformer, joint", "classifier: transformer"}


def test_which_lenses_a_model_has():
    for name, make in MODELS.items():
        missing = set(missing_lenses(example_of(make())))
        looks, rolls = name in LOOKING, name in ROLLED
        assert missing == (set() if looks else {"raw", "value-norm"}) | (set() if rolls else {"rollout"}), name


def test_a_lens_that_a_model_does_not_have_is_refused_with_a_reason():
    with pytest.raises(UsageError, match=r"no lens raw: a plain decoder does not look .* it has gradient-input"):
        through(example_of(TRANSLATORS["plain"]()), "raw")
    with pytest.raises(UsageError, match=r"no lens value-norm: it pools by max"):
        through(example_of(CLASSIFIERS["LSTM, max"]()), "value-norm")
    with pytest.raises(UsageError, match=r"no lens rollout: its encoder does not attend"):
        through(example_of(TRANSLATORS["luong"]()), "rollout")
    with pytest.raises(UsageError, match=r"there is no lens 'gradients'; did you mean gradient-input\?"):
        through(example_of(TRANSLATORS["luong"]()), "gradients")


def test_layer_and_head_are_refused_where_they_mean_nothing():
    example = example_of(transformer())
    for lens in ("rollout", "gradient-input", "integrated-gradients", "leave-one-out"):
        with pytest.raises(UsageError, match=r"leave layer and head out"):
            through(example, lens, layer=0)
    with pytest.raises(UsageError, match=r"no cross attention of layer 3; its layers, from 0: 0, 1, 2"):
        through(example, "raw", layer=3)
    with pytest.raises(UsageError, match=r"has no head 2; its heads, from 0: 0 to 1"):
        through(example, "value-norm", head=2)


@each_looking
def test_raw_is_what_an_eye_sees(make):
    example = example_of(make())
    found = through(example, "raw")
    watcher = watch(example)
    view = view_of(watcher)
    assert np.array_equal(found.values, watcher.weights(view.kind, view.layer).mean(dim=0).numpy())
    assert found.rows == example.written_tokens
    assert found.columns == example.source_tokens
    assert found.where == str(view)


@each_looking
def test_weights_recomputed_in_numpy_are_those_of_the_model(make):
    example = example_of(make())
    watcher = watch(example)
    for layer in watcher.layers(view_of(watcher).kind):
        assert residual_of(example, watcher, view_of(watcher, layer)) < 1e-14


def test_a_weight_that_is_off_is_seen_in_the_residual():
    example = example_of(TRANSLATORS["luong, coverage"]())
    watcher = watch(example)
    watcher.looks["cross", 0][2].weights[0, 0, 1] += 0.25
    assert residual_of(example, watcher, view_of(watcher)) == pytest.approx(0.25)


def test_value_norms_of_a_recurrent_model_by_hand():
    example = example_of(TRANSLATORS["luong, direct"]())
    states = example.read().encoded.states[0].detach().numpy()
    weights = through(example, "raw").values
    expected = weights * np.sqrt((states**2).sum(axis=1))
    assert through(example, "value-norm").values == pytest.approx(expected / expected.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("head", [None, 1])
def test_value_norms_of_a_transformer_word_by_word(head):
    model = transformer()
    example = example_of(model)
    watcher = watch(example)
    look, cross = watcher.looks["cross", 1][0], model.blocks[1].cross
    width = look.values.shape[-1]
    expected = np.zeros((len(WRITTEN), len(SOURCE)))
    for t in range(len(WRITTEN)):
        for s in range(len(SOURCE)):
            spoken = torch.zeros(cross.d_model, dtype=torch.float64)
            for h in range(HEADS) if head is None else [head]:
                matrix = cross.output.weight.detach()[:, h * width : (h + 1) * width]
                spoken = spoken + look.weights[0, h, t, s] * (matrix @ look.values[0, h, s])
            expected[t, s] = spoken.norm().item()
    found = through(example, "value-norm", layer=1, head=head)
    assert found.values == pytest.approx(expected / expected.sum(axis=1, keepdims=True))
    over = "sum over 2 heads" if head is None else "head 1"  # their vectors are added up, not averaged
    assert found.where == f"cross attention · layer 1 · {over}"


def test_half_of_a_state_stays_where_it_was():
    weights = torch.tensor([[0.2, 0.8], [0.5, 0.5]])
    assert half_kept(weights).tolist() == [[pytest.approx(0.6), pytest.approx(0.4)], [0.25, 0.75]]


def test_rollout_of_a_transformer_written_out():
    example = example_of(transformer())
    watcher = watch(example)
    T, S = len(WRITTEN), len(SOURCE)
    read = np.eye(S)
    for layer in range(2):
        read = (0.5 * watcher.weights("self", layer).mean(0).numpy() + 0.5 * np.eye(S)) @ read
    both = np.concatenate([np.eye(T), np.zeros((T, S))], axis=1)  # what is of the words written, and of the source
    for layer in range(3):
        both = 0.5 * watcher.weights("masked", layer).mean(0).numpy() @ both + 0.5 * both
        cross = watcher.weights("cross", layer).mean(0).numpy() @ read
        both = 0.5 * both + 0.5 * np.concatenate([np.zeros((T, T)), cross], axis=1)
    assert both.sum(axis=1) == pytest.approx(1)
    assert through(example, "rollout").values == pytest.approx(both[:, T:])


def test_rollout_of_a_classifier_written_out():
    example = example_of(CLASSIFIERS["transformer"]())
    watcher = watch(example)
    rolled = np.eye(len(SOURCE))
    for layer in range(2):
        rolled = (watcher.weights("self", layer).mean(0).numpy() + np.eye(len(SOURCE))) / 2 @ rolled
    found = through(example, "rollout").values
    assert found == pytest.approx(watcher.weights("pooling", 0)[0].numpy() @ rolled)
    assert found.sum() == pytest.approx(1)


@each_model
def test_gradient_times_input_is_what_a_little_more_of_a_word_does(make):
    example = example_of(make())
    found = through(example, "gradient-input")
    vectors, little = example.embedded().detach(), 1e-6
    for s in range(len(SOURCE)):
        more, less = vectors.clone(), vectors.clone()
        more[0, s] *= 1 + little
        less[0, s] *= 1 - little
        high, low = example.chosen(example.log_probs(example.read_vectors(torch.cat([more, less])))).detach()
        assert found.values[:, s] == pytest.approx(((high - low) / (2 * little)).numpy(), abs=1e-6)
    assert found.signed


@each_model
def test_integrated_gradients_sum_to_the_change_in_output(make):
    example = example_of(make())
    found = through(example, "integrated-gradients")
    change = felt.change_from_nothing(example).numpy()
    missed = np.abs(found.values.sum(axis=1) - change).max()
    if "local-p" in repr(getattr(example.model.settings, "score", "")):  # its window jumps: there is no exact integral
        assert "its window jumps" in found.notes[-1]
    else:
        assert missed <= 0.01 * np.abs(change).max()
    assert found.delta == pytest.approx(missed, abs=1e-12)
    assert f"miss the change in log p by at most {found.delta:.1e}" in found.notes[0]


def test_the_integral_is_that_of_many_small_steps():
    example = example_of(recurrent(decoder="plain"))
    fine, coarse = felt.integrated(example, 64), felt.integrated(example, 32)
    assert torch.allclose(fine, coarse, atol=1e-6)
    by_midpoints = torch.zeros_like(fine)
    vectors = example.embedded().detach()
    for place in (torch.arange(400) + 0.5) / 400:
        gradient = felt._gradients(example, vectors.expand(4, -1, -1) * place, torch.arange(4))
        by_midpoints += (gradient * vectors).sum(-1) / 400
    assert torch.allclose(fine, by_midpoints, atol=1e-5)


def of_two_words():
    """Words (1, 2) and (4, 2), whose mean (2.5, 2) is the score of either class: p₁ = 1 / (1 + √e)."""
    settings = ClassifierSettings(
        encoder="none", embedding=2, scale_embedding=False, dense=2, pooling="mean", dropout=0.0
    )
    model = build_classifier(settings, 7, 2).double()
    with torch.no_grad():
        model.embedding.table.weight[5:7] = torch.tensor([[1.0, 2.0], [4.0, 2.0]])
        for layer in (model.dense, model.output):
            layer.weight[:] = torch.eye(2)
            layer.bias.zero_()
    return Example(model, (5, 6), (0,), spelled, spelled)


def test_lenses_of_two_words_by_hand():
    example = of_two_words()
    other = 1 / (1 + math.exp(0.5))
    # log p₀ = −ln(1 + exp(m₁ − m₀)): its gradient at the mean m is (p₁, −p₁), and each word is half of the mean.
    assert through(example, "gradient-input").values[0] == pytest.approx([-other / 2, other])
    # On the way from zeros p₁ is σ(−a/2): its mean over a from 0 to 1 is 2 (ln 2 − ln(1 + e^−½)).
    mean = 2 * (math.log(2) - math.log(1 + math.exp(-0.5)))
    found = through(example, "integrated-gradients")
    assert found.values[0] == pytest.approx([-mean / 2, mean])
    assert found.values.sum() == pytest.approx(math.log(2) - math.log(1 + math.exp(-0.5)))
    # Without the first word the scores are (4, 2), without the second (1, 2).
    own, first, second = (-math.log(1 + math.exp(gap)) for gap in (-0.5, -2, 1))
    assert through(example, "leave-one-out").values[0] == pytest.approx([own - first, own - second])


def seen(kind, weights, values=None):
    weights = torch.tensor(weights)
    values = torch.zeros(*weights.shape[:-2], weights.shape[-1], 2) if values is None else torch.tensor(values)
    return Look(kind, 0, weights, values, values, torch.zeros_like(weights), weights)


def test_rollout_of_two_words_by_hand():
    watcher = Watcher()
    watcher(seen("self", [[[[0.0, 1.0], [0.5, 0.5]]]]))
    watcher(seen("masked", [[[[1.0, 0.0], [0.5, 0.5]]]]))
    watcher(seen("cross", [[[[1.0, 0.0], [0.0, 1.0]]]]))
    read = rolled_encoder(watcher, 2)
    assert read.tolist() == [[0.5, 0.5], [0.25, 0.75]]
    assert rolled_decoder(watcher, read, 2).tolist() == [[0.25, 0.25], [0.125, 0.375]]


def test_value_norms_of_two_words_by_hand():
    """Weights ½ and ½, of states (3, 4) and (0, 1): lengths 5 and 1."""
    watcher = Watcher()
    watcher(seen("pooling", [[[0.5, 0.5]]], [[[3.0, 4.0], [0.0, 1.0]]]))
    shares = norm_shares(example_of(classifier()), watcher, view_of(watcher))
    assert shares.tolist() == [[pytest.approx(5 / 6), pytest.approx(1 / 6)]]


@each_model
def test_leave_one_out_is_the_model_without_the_word(make):
    example = example_of(make())
    found = through(example, "leave-one-out").values
    own = example.chosen(example.log_probs(example.read()))[0].detach()
    for s in range(len(SOURCE)):
        shorter = example_of(example.model, SOURCE[:s] + SOURCE[s + 1 :])
        without = shorter.chosen(shorter.log_probs(shorter.read()))[0].detach()
        assert found[:, s] == pytest.approx((own - without).numpy(), abs=1e-12)


def test_a_text_of_one_token_is_left_an_unknown_word():
    model = classifier()
    example, unknown = example_of(model, (5,)), example_of(model, (1,))
    change = example.chosen(example.log_probs(example.read())) - unknown.chosen(unknown.log_probs(unknown.read()))
    assert through(example, "leave-one-out").values == pytest.approx(change.detach().numpy())


@each_model
def test_a_sentence_alone_and_in_a_padded_batch_is_seen_alike(make):
    """Leave-one-out pads nothing it compares; here a longer source stands beside, and the shorter one is the same."""
    example = example_of(make())
    longer = (*SOURCE, 8, 10)
    together = example.chosen(example.log_probs(example.read([SOURCE, longer])))
    alone = example.chosen(example.log_probs(example.read()))
    assert torch.allclose(together[0], alone[0], atol=1e-12)
    rows = [felt.without(SOURCE, (0,)), list(longer), felt.without(SOURCE, (1, 2))]
    found = torch.cat(list(felt.chosen_in_parts(example, rows)))
    apart = torch.cat([torch.cat(list(felt.chosen_in_parts(example, [row]))) for row in rows])
    assert torch.allclose(found, apart, atol=1e-12)


def test_parts_do_not_change_what_is_found(monkeypatch):
    example = example_of(TRANSLATORS["bahdanau"]())
    whole = {lens: through(example, lens).values for lens in ("leave-one-out", "integrated-gradients")}
    monkeypatch.setattr("nungil.inspection.example.AT_ONCE", 1)
    monkeypatch.setattr(felt, "ROWS", 3)
    for lens, values in whole.items():
        assert through(example, lens).values == pytest.approx(values, abs=1e-12)


def test_nothing_is_left_on_a_model():
    model = transformer()
    for lens in LENSES:
        through(example_of(model), lens)
    assert all(parameter.grad is None for parameter in model.parameters())


def test_a_lens_map_says_what_it_is():
    found = through(example_of(transformer()), "value-norm", layer=0, head=1)
    picture = found.picture()
    assert picture.title == "value-norm · cross attention · layer 0 · head 1"
    assert picture.notes[1] == "Reading: row t is the word being output."
    assert picture.notes[2] == f"Merging: {UNMERGED}."
    assert found.to_json()["values"] == found.values.tolist()
    assert through(example_of(classifier()), "gradient-input").reading == "the one row is the whole text"


def test_pieces_of_a_lens_map_merge_as_those_of_a_record():
    found = LensMap("raw", ("▁a", "b"), ("▁c", "▁d", "e"), [[1, 2, 3], [3, 4, 5]], "a number").merged()
    assert (found.rows, found.columns) == (("ab",), ("c", "de"))
    assert found.values.tolist() == [[2, 7]]
    assert found.merged() is found


def test_values_of_another_shape_are_refused():
    with pytest.raises(ShapeError, match=r"raw: values \(2, 1\) do not fit 1 rows and 2 columns"):
        LensMap("raw", ("a",), ("b", "c"), [[1], [2]], "a number")


def test_hashed_ngrams_are_owned_up_to():
    found = through(example_of(CLASSIFIERS["LSTM, max"]()), "gradient-input")
    assert "hashed n-grams" in found.notes[-1]
    assert math.isfinite(found.values.sum())


def test_lenses_of_a_classifier_speak_of_its_label():
    example = example_of(CLASSIFIERS["post 001"]())
    for lens in ("gradient-input", "leave-one-out"):
        measures = through(example, lens).measures
        assert "log p of the label" in measures
        assert "written" not in measures
    assert "log p of the written word" in through(example_of(transformer()), "leave-one-out").measures


def test_integrated_gradients_that_do_not_settle_say_so():
    """With weights so large the way from nothing to the input is all steps and walls."""
    model = TRANSLATORS["bahdanau"]()
    assert "do not rely" not in through(example_of(model), "integrated-gradients").notes[0]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(6)
    found = through(example_of(model), "integrated-gradients")
    assert found.delta > 0.01
    assert found.notes[0].endswith("That is more than 1%: do not rely on these numbers.")
