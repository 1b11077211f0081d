"""Translations and labels scored: hand-made values, what holds for any of them, and messages as users read them."""

import math
import subprocess
import sys
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nungil.errors import UsageError
from nungil.scoring import bleu_tokenizer, score_labels, score_translations

words = st.text(st.sampled_from("abc눈이다é"), min_size=1, max_size=3)
sentences = st.lists(words, min_size=4, max_size=8).map(" ".join)
labels = st.sampled_from(["bad", "good", "so-so"])
pairs_of_labels = st.lists(st.tuples(labels, labels), min_size=1, max_size=12)


def test_bleu_worked_out_by_hand():
    # Of 6 words 5 are right (one `the` is one too many), of 5 pairs 3, of 4 triples 2, of 3 fours 1.
    scores = score_translations(["the cat sat on the mat"], ["the cat sat on a mat"])
    assert scores.bleu == pytest.approx(100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** (1 / 4))


def test_bleu_counts_over_the_whole_corpus():
    scores = score_translations(["the cat sat on the mat", "it snows"], ["the cat sat on a mat", "it snows"])
    assert scores.bleu == pytest.approx(100 * (7 / 8 * 4 / 6 * 2 / 4 * 1 / 3) ** (1 / 4))


def test_short_translations_pay_for_it():
    assert score_translations(["a b c d"], ["a b c d e"]).bleu == pytest.approx(100 * math.exp(1 - 5 / 4))


def test_chrf_worked_out_by_hand():
    # Precision and recall of characters are both 1/2, of pairs of characters both 0; there are no longer ones.
    assert score_translations(["ab"], ["ac"]).chrf == pytest.approx(25)


def test_chrf_counts_characters_and_no_words():
    assert score_translations(["눈이 내린다"], ["눈 이내린다"]).chrf == 100


def test_signatures_say_how_it_was_counted():
    scores = score_translations(["눈이 내린다"], ["눈이 내린다"], "ko", lowercase=True)
    version = scores.bleu_signature.rpartition("version:")[2]
    assert scores.bleu_signature == f"nrefs:1|case:lc|eff:no|tok:13a|smooth:exp|version:{version}"
    assert scores.chrf_signature == f"nrefs:1|case:lc|eff:yes|nc:6|nw:0|space:no|version:{version}"
    assert "case:mixed" in score_translations(["눈"], ["눈"]).bleu_signature


def test_capitals_count_unless_told_otherwise():
    hypotheses, references = ["The Snow Falls Today"], ["the snow falls today"]
    assert score_translations(hypotheses, references).bleu == 0
    assert score_translations(hypotheses, references).chrf < 100
    assert score_translations(hypotheses, references, lowercase=True)[:2] == (100, 100)


@pytest.mark.parametrize(
    ("language", "tokenizer"),
    [
        ("", "13a"),
        ("en", "13a"),
        ("ko", "13a"),
        ("ko-KR", "13a"),
        ("zh", "zh"),
        ("ZH_cn", "zh"),
        (" zh-Hans ", "zh"),
        ("zho", "zh"),
        ("ja", "char"),
        ("th-TH", "char"),
    ],
)
def test_the_target_language_chooses_the_tokenizer(language, tokenizer):
    assert bleu_tokenizer(language) == tokenizer
    assert f"|tok:{tokenizer}|" in score_translations(["a"], ["a"], language).bleu_signature


@pytest.mark.parametrize(("language", "text"), [("zh", "今天下雪"), ("ja", "雪が降る")])
def test_languages_without_spaces_are_not_taken_for_one_long_word(language, text):
    assert score_translations([text], [text], language).bleu == 100
    assert score_translations([text], [text]).bleu == 0


def test_punctuation_is_split_off_korean_words():
    assert score_translations(["오늘 눈이 내렸다."], ["오늘 눈이 내렸다 ."], "ko").bleu == 100


@given(st.lists(sentences, min_size=1, max_size=4), st.sampled_from(["", "ko", "zh", "ja"]))
def test_what_is_the_same_scores_a_hundred(texts, language):
    scores = score_translations(texts, texts, language)
    assert (scores.bleu, scores.chrf) == (pytest.approx(100), pytest.approx(100))


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), min_size=1, max_size=4))
def test_any_text_scores_between_nothing_and_a_hundred(pairs):
    hypotheses, references = zip(*pairs, strict=True)
    assert all(0 <= score <= 100 for score in score_translations(hypotheses, references)[:2])


def test_empty_translations_are_scored_as_wrong():
    assert score_translations(["", ""], ["눈이 내린다", "snow falls"])[:2] == (0, 0)


@pytest.mark.parametrize(
    ("hypotheses", "references", "message"),
    [
        (["a"] * 1207, ["a"], "1,207 hypotheses for 1 references; there must be one for each, in the same order"),
        ([], ["a"], "0 hypotheses for 1 references; there must be one for each, in the same order"),
        ([], [], "there are no hypotheses to score; give at least one"),
        (
            "snow",
            ["snow"],
            "hypotheses: one string where a list of strings is needed; for many lines, text.splitlines()",
        ),
        (
            ["snow"],
            "snow",
            "references: one string where a list of strings is needed; for many lines, text.splitlines()",
        ),
    ],
)
def test_translations_that_cannot_be_scored_are_refused_in_a_sentence(hypotheses, references, message):
    with pytest.raises(UsageError) as raised:
        score_translations(hypotheses, references)
    assert str(raised.value) == message


def test_label_scores_worked_out_by_hand():
    gold = ["bad", "bad", "bad", "good", "good", "so-so"]
    predicted = ["bad", "bad", "good", "good", "so-so", "so-so"]
    scores = score_labels(predicted, gold, ["bad", "good", "so-so", "unseen"])
    assert scores.accuracy == 4 / 6
    assert scores.labels["bad"] == pytest.approx((1, 2 / 3, 4 / 5, 3))
    assert scores.labels["good"] == pytest.approx((1 / 2, 1 / 2, 1 / 2, 2))
    assert scores.labels["so-so"] == pytest.approx((1 / 2, 1, 2 / 3, 1))
    assert scores.labels["unseen"] == (0, 0, 0, 0)
    assert scores.macro_f1 == pytest.approx((4 / 5 + 1 / 2 + 2 / 3) / 3)
    assert scores.confusion == {
        "bad": {"bad": 2, "good": 1, "so-so": 0, "unseen": 0},
        "good": {"bad": 0, "good": 1, "so-so": 1, "unseen": 0},
        "so-so": {"bad": 0, "good": 0, "so-so": 1, "unseen": 0},
        "unseen": {"bad": 0, "good": 0, "so-so": 0, "unseen": 0},
    }


@pytest.mark.parametrize(
    ("predicted", "gold", "macro"),
    [
        (["bad", "bad"], ["bad", "good"], (2 / 3 + 0) / 2),  # `good` is never predicted, and counts
        (["bad", "good"], ["bad", "bad"], (2 / 3 + 0) / 2),  # `good` is never gold, and counts
        (["bad", "bad"], ["bad", "bad"], 1),  # `good` is neither
    ],
)
def test_only_a_label_with_no_gold_and_no_prediction_is_left_out_of_the_mean(predicted, gold, macro):
    assert score_labels(predicted, gold, ["bad", "good"]).macro_f1 == pytest.approx(macro)


def test_the_mean_over_labels_is_added_up_in_their_order_whatever_process_it_is():
    labels = list("abcdefghij")
    gold = [label for place, label in enumerate(labels) for _ in range(place + 2)]
    predicted = ["a" if place % 3 == 0 else label for place, label in enumerate(gold)]
    scores = score_labels(predicted, gold, labels)
    assert scores.macro_f1 == sum(scores.labels[label].f1 for label in labels) / len(labels)
    assert len({sum(scores.labels[label].f1 for label in other) for other in permutations(labels[:7])}) > 1


@given(pairs_of_labels)
def test_every_text_is_in_one_cell_of_the_confusion(pairs):
    predicted, gold = zip(*pairs, strict=True)
    scores = score_labels(predicted, gold, ["so-so", "good", "bad"])
    assert sum(sum(row.values()) for row in scores.confusion.values()) == len(pairs)
    for label, row in scores.confusion.items():
        assert sum(row.values()) == scores.labels[label].support == gold.count(label)
        assert sum(other[label] for other in scores.confusion.values()) == predicted.count(label)
    assert list(scores.labels) == list(scores.confusion) == ["so-so", "good", "bad"]


@given(pairs_of_labels)
def test_label_scores_are_shares_and_turned_round_precision_is_recall(pairs):
    predicted, gold = zip(*pairs, strict=True)
    scores = score_labels(predicted, gold, ["bad", "good", "so-so"])
    turned = score_labels(gold, predicted, ["bad", "good", "so-so"])
    assert 0 <= scores.macro_f1 <= 1
    assert (scores.accuracy, scores.macro_f1) == pytest.approx((turned.accuracy, turned.macro_f1))
    for label, (precision, recall, f1, _) in scores.labels.items():
        assert (precision, recall, f1) == (
            turned.labels[label].recall,
            turned.labels[label].precision,
            turned.labels[label].f1,
        )
        assert min(precision, recall) <= f1 + 1e-12 <= max(precision, recall) + 2e-12 or f1 == 0


@given(st.lists(labels, min_size=1))
def test_what_is_all_right_scores_one(gold):
    assert score_labels(gold, gold, ["bad", "good", "so-so"])[:2] == (1, 1)


@pytest.mark.parametrize(
    ("predicted", "gold", "known", "message"),
    [
        (
            ["bad"],
            ["bad", "good"],
            ["bad", "good"],
            "1 predicted labels for 2 gold labels; there must be one for each, in the same order",
        ),
        ([], [], ["bad"], "there are no gold labels to score; give at least one"),
        (["bad"], ["bad"], [], "labels: none are given; list every label that there is"),
        (["bad"], ["bad"], ["bad", "good", "bad"], "labels: 'bad' is listed twice"),
        (
            ["bad", "god"],
            ["bad", "3"],
            ["bad", "good"],
            "labels: predicted 2 is 'god', which is none of them; did you mean good?\n"
            "labels: gold 2 is '3', which is none of them; there is bad, good",
        ),
    ],
)
def test_labels_that_cannot_be_scored_are_refused_in_a_sentence(predicted, gold, known, message):
    with pytest.raises(UsageError) as raised:
        score_labels(predicted, gold, known)
    assert str(raised.value) == message


def test_texts_given_as_labels_do_not_fill_the_screen():
    with pytest.raises(UsageError) as raised:
        score_labels([f"text {number}" for number in range(40)], ["bad"] * 40, ["bad"])
    assert str(raised.value).endswith("\nand 35 more like these")


def test_importing_the_scores_loads_nothing_heavy():
    code = (
        "import sys, nungil.scoring; print([name for name in ('torch', 'numpy', 'sacrebleu') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
