"""Scores equal sacreBLEU's and scikit-learn's; intervals, differences and tests those worked out otherwise."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU, CHRF, TER
from scipy import stats
from sklearn import metrics

from nungil.errors import CorpusError, UsageError
from nungil.scoring.calibration import calibration
from nungil.scoring.classifiers import report_labels
from nungil.scoring.measures import Way, bleu_of, chrf_of, measure
from nungil.scoring.nearest import nearest, runs_of
from nungil.scoring.parts import by_place, reference_quarters, source_quarters
from nungil.scoring.resampling import Difference, difference, interval, resample, resample_cells
from nungil.scoring.significance import mcnemar, mcnemar_counts, tell
from nungil.scoring.translators import NEAREST, Given, report_translations
from nungil.text.snow.corpus import snow_pairs

words = st.sampled_from(["The", "snow", "falls", "(now)", "눈이", "내린다.", "1,000", "雪", "it's", "—"])
sentences = st.lists(words, max_size=7).map(" ".join)
corpora = st.lists(st.tuples(sentences, sentences), min_size=1, max_size=5)


def sacrebleu_scores(hypotheses, references, tokenizer, lowercase=False):
    found = {
        "bleu": BLEU(tokenize=tokenizer, lowercase=lowercase, force=True),
        "chrf++": CHRF(word_order=2, lowercase=lowercase),
        "chrf": CHRF(lowercase=lowercase),
        "ter": TER(),
    }
    scores = {name: one.corpus_score(hypotheses, [references]).score for name, one in found.items()}
    return scores, {name: str(one.get_signature()) for name, one in found.items()}


@given(corpora, st.booleans())
def test_every_measure_is_what_sacrebleu_says(pairs, lowercase):
    hypotheses, references = map(list, zip(*pairs, strict=True))
    scores, signatures = sacrebleu_scores(hypotheses, references, "13a", lowercase)
    found = measure(hypotheses, references, Way("en", lowercase))
    assert list(found) == ["bleu", "chrf++", "chrf", "ter"]
    for name, one in found.items():
        assert one.score() == pytest.approx(scores[name], abs=1e-9), name
        assert one.signature == signatures[name]


@given(corpora)
def test_chinese_and_japanese_are_cut_by_the_character(pairs):
    hypotheses, references = map(list, zip(*pairs, strict=True))
    for language, tokenizer in (("zh", "zh"), ("ja", "char")):
        found = measure(hypotheses, references, Way(language))
        bleu = BLEU(tokenize=tokenizer, force=True).corpus_score(hypotheses, [references]).score
        assert found["bleu"].score() == pytest.approx(bleu, abs=1e-9)
        ter = TER(normalized=True, asian_support=True).corpus_score(hypotheses, [references]).score
        assert found["ter"].score() == pytest.approx(ter)


def test_korean_is_read_by_characters_first_and_bleu_counted_both_ways():
    hypotheses, references = ["나는 눈이 정말 좋다"], ["나는 눈을 정말 좋아한다"]
    found = measure(hypotheses, references, Way("ko-KR", ter=False))
    assert list(found) == ["chrf++", "chrf", "bleu", "bleu-char"]
    by_character = BLEU(tokenize="char", force=True).corpus_score(hypotheses, [references]).score
    assert found["bleu-char"].score() == pytest.approx(by_character)
    assert "|tok:char|" in found["bleu-char"].signature
    assert found["bleu"].score() < found["bleu-char"].score()
    assert list(measure(hypotheses, references, Way("ko", tokenizer="intl", ter=False))) == ["chrf++", "chrf", "bleu"]


def test_a_tokenizer_that_is_not_installed_is_named():
    with pytest.raises(UsageError) as raised:
        measure(["눈"], ["눈"], Way("ko", tokenizer="ko-mecab"))
    assert str(raised.value) == (
        "--tokenize ko-mecab needs a package that is not installed: pip install 'sacrebleu[ko]'"
    )


def test_a_part_of_a_corpus_scores_as_if_it_were_alone():
    hypotheses, references = ["a b c d", "x", "a b c e"], ["a b c d", "y", "a b c d"]
    rows = np.array([True, False, True])
    for name, one in measure(hypotheses, references).items():
        alone = measure(["a b c d", "a b c e"], ["a b c d", "a b c d"])[name]
        assert one.score(rows) == pytest.approx(alone.score())


def test_sums_of_nothing_score_nothing():
    assert bleu_of(np.zeros((2, 10))).tolist() == [0, 0]
    assert chrf_of(np.zeros((3, 24))).tolist() == [0, 0, 0]


def test_resamples_are_of_the_right_size_and_the_same_for_a_seed():
    counts = np.array([[1.0, 2.0], [1.0, 5.0], [1.0, 11.0]])
    sums = resample(counts, 400, seed=3)
    assert (sums[:, 0] == 3).all()
    assert np.array_equal(sums, resample(counts, 400, seed=3))
    assert not np.array_equal(sums, resample(counts, 400, seed=4))
    assert sums[:, 1].mean() == pytest.approx(18, abs=1)
    # Of 27 equally likely draws, one is three times the first sentence.
    assert np.mean(sums[:, 1] == 6) == pytest.approx(1 / 27, abs=0.03)


def test_resamples_do_not_depend_on_how_many_are_drawn_at_once(monkeypatch):
    counts = np.arange(14.0).reshape(7, 2)
    together = resample(counts, 60)
    monkeypatch.setattr("nungil.scoring.resampling.AT_ONCE", 15)
    assert np.array_equal(resample(counts, 60), together)


def test_an_interval_of_an_accuracy_is_that_of_the_binomial():
    right = np.array([[1.0]] * 700 + [[0.0]] * 300)
    for sums in (resample(right, 4_000)[:, 0], np.concatenate(list(resample_cells(np.array([700, 300]), 4_000)))[:, 0]):
        found = interval(0.7, sums / 1_000)
        assert (found.low, found.high) == pytest.approx(
            stats.binom.interval(0.95, 1_000, 0.7) / np.array(1_000), abs=0.004
        )


def test_a_difference_counts_the_resamples_against_it():
    second = np.zeros(199)
    first = np.array([-1.0] * 3 + [0.0] * 1 + [2.0] * 195)
    found = difference(5, 3, first, second, sentences=20)
    assert found.difference == 2
    assert found.p == pytest.approx(2 * (4 + 1) / 200)
    assert difference(3, 5, second, first, sentences=20).p == found.p
    assert difference(1, 1, second, second, sentences=20) == (0, 0, 0, 1)


def test_a_handful_of_sentences_proves_nothing():
    """One sentence is drawn again and again, and always says the same; so do a few that all say the same."""
    for count, p in ((1, 1), (2, 0.5), (5, 0.0625), (7, 1 / 64)):
        report = report_translations({"one": ["a b c d"] * count, "two": ["x"] * count}, ["a b c d"] * count)
        assert report.comparisons[0].differences["bleu"].p == p
        assert report.comparisons[0].told.startswith("one is better" if p < 0.05 else "No difference")
        labels = report_labels({"one": ["a"] * count, "two": ["b"] * count}, ["a"] * count)
        assert labels.comparisons[0].differences["accuracy"].p == labels.comparisons[0].mcnemar.p == p


@given(st.integers(0, 600), st.integers(0, 600))
def test_mcnemar_is_the_binomial_or_the_chi_squared_of_scipy(first, second):
    found = mcnemar_counts(first, second)
    if first + second <= 1_000:
        assert found.test == "exact"
        expected = stats.binomtest(first, first + second).pvalue if first + second else 1
    else:
        assert found.test == "chi-squared"
        expected = stats.chi2.sf(max(0, abs(first - second) - 1) ** 2 / (first + second), 1)
    assert found.p == pytest.approx(expected, rel=1e-9)


def test_mcnemar_counts_texts_that_only_one_gets_right():
    found = mcnemar(["a", "b", "b", "a", "b"], ["a", "a", "a", "b", "b"], ["a", "b", "b", "b", "a"])
    assert found == (2, 1, 1.0, "exact")


@pytest.mark.parametrize(
    ("found", "lower", "sentence"),
    [
        (
            Difference(1.3, 0.4, 2.2, 0.004),
            False,
            "A is better than B by 1.3 BLEU (95% interval 0.4 to 2.2, p = 0.004).",
        ),
        (
            Difference(-1.3, -2.2, -0.4, 0.004),
            False,
            "A is worse than B by 1.3 BLEU (95% interval 0.4 to 2.2, p = 0.004).",
        ),
        (
            Difference(-1.3, -2.2, -0.4, 0.004),
            True,
            "A is better than B by 1.3 BLEU (95% interval 0.4 to 2.2, p = 0.004).",
        ),
        (
            Difference(0.3, -0.9, 1.5, 0.614),
            False,
            "No difference between A and B can be told: +0.3 BLEU (95% interval -0.9 to +1.5, p = 0.61).",
        ),
    ],
)
def test_a_difference_is_told_in_a_sentence(found, lower, sentence):
    assert tell("A", "B", "BLEU", found, lower) == sentence


def test_a_better_system_is_told_from_a_worse_one_and_from_itself():
    pairs = [pair.korean for pair in snow_pairs(120, lengths=(4, 9))]
    worse = [" ".join(text.split()[::-1]) if number % 3 == 0 else text for number, text in enumerate(pairs)]
    report = report_translations({"good": pairs, "worse": worse, "good again": pairs}, pairs, Way("ko", ter=False))
    first, second = report.comparisons
    assert first.told.startswith("good is better than worse by ")
    assert first.differences["bleu"].low > 0
    assert second.told == "good and good again gave the same answers."
    assert second.differences["bleu"].p == 1
    turned = report_translations({"worse": worse, "good": pairs}, pairs, Way("ko", ter=False))
    assert turned.comparisons[0].told == first.told.replace("good is better than worse", "worse is worse than good")
    assert (
        report.scores["worse"]["bleu"].low
        <= report.scores["worse"]["bleu"].score
        <= report.scores["worse"]["bleu"].high
    )


def test_chance_is_not_taken_for_a_difference():
    """Of systems that make the same number of faults in random places, about one pair in twenty is told apart."""
    references = [pair.english for pair in snow_pairs(100, lengths=(4, 9))]
    told = 0
    for seed in range(40):
        draw = random.Random(seed)
        systems = {
            name: [text if draw.random() < 0.6 else "snow falls" for text in references] for name in ("one", "two")
        }
        report = report_translations(systems, references, Way("en", ter=False), samples=200, seed=seed)
        told += report.comparisons[0].told.startswith("one is ")
    assert told <= 6


def test_a_system_that_does_not_beat_the_nearest_sentence_is_said_not_to():
    pairs = [pair.korean for pair in snow_pairs(40, lengths=(4, 9))]
    poor = ["나는 눈을"] * len(pairs)
    report = report_translations({"poor": poor, NEAREST: pairs}, pairs, Way("ko", ter=False))
    assert report.comparisons[0].told.startswith(
        "poor does not beat the nearest training sentence. poor is worse than the nearest training sentence by "
    )
    fine = report_translations({"fine": pairs, NEAREST: poor}, pairs, Way("ko", ter=False))
    assert fine.comparisons[0].told.startswith("fine is better than the nearest training sentence by ")


def test_scores_by_length_are_of_sentences_of_that_length():
    sources = ["a b c", "a b c d e", "a b c d e f", "a " * 70]
    hypotheses, references = ["a b c d"] * 4, ["a b c d", "a b c d", "x y z u", "a b c d"]
    report = report_translations({"one": hypotheses}, references, Way(ter=False), Given(sources))
    assert (report.length_of, report.length_unit) == ("source", "words")
    assert [one[:3] for one in report.lengths] == [(1, 5, 2), (6, 10, 1), (61, 70, 1)]
    assert [one.scores["one"]["bleu"] for one in report.lengths] == [100, 0, 100]
    chinese = report_translations({"one": hypotheses}, references, Way(ter=False), Given(["今天下雪"] * 4, "zh"))
    assert (chinese.length_unit, chinese.lengths[0][:3]) == ("characters", (1, 10, 4))
    assert report_translations({"one": hypotheses}, references, Way(ter=False)).length_of == "reference"


def test_words_are_found_by_their_quarter():
    references = ["a b c d e f g a"]
    report = report_translations({"one": ["b a d"]}, references, Way(ter=False))
    # `a` stands twice in the reference and once in the translation: half of it is found in each place.
    assert [(one.quarter, one.words, one.found["one"]) for one in report.places] == [
        ("first", 2, 0.75),
        ("second", 2, 0.5),
        ("third", 2, 0),
        ("last", 2, 0.25),
    ]
    assert report.place_in == "reference"


def test_links_say_which_part_of_the_source_a_word_comes_from():
    sources, references = ["one two three four"], ["넷 셋 둘 하나. 덤"]
    links = ["3-0 2-1 1p2 0-3"]
    report = report_translations({"one": ["하나 ."]}, references, Way("ko", ter=False), Given(sources, "en", links))
    assert report.place_in == "source"
    assert [(one.quarter, one.words, one.found["one"]) for one in report.places] == [
        ("first", 2, 1),  # `하나` and its full stop
        ("second", 1, 0),
        ("third", 1, 0),
        ("last", 1, 0),
    ]
    assert source_quarters(["0-0 3-0"], ["x"], ["a b c d"]) == [[2]]
    for line, message in (
        (
            "4-0",
            "links, line 1: 4-0 is beyond a source of 4 and a reference of 1 words; words are counted from 0, the "
            "source first",
        ),
        (
            "x",
            "links, line 1: 'x' is no link; write source-target, words counted from 0: 0-1, or 0p1 if it is only "
            "possible",
        ),
    ):
        with pytest.raises(CorpusError) as raised:
            source_quarters([line], ["x"], ["a b c d"])
        assert str(raised.value) == message


@given(st.lists(sentences, min_size=1, max_size=4))
def test_what_is_the_same_is_found_everywhere(texts):
    places = by_place(texts, {"one": texts}, reference_quarters(texts), str)
    assert all(one.found["one"] == pytest.approx(1) for one in places)
    assert sum(one.words for one in places) == sum(len(text.split()) for text in texts)


labels = st.sampled_from(["bad", "good", "so-so"])


@given(st.lists(st.tuples(labels, labels), min_size=1, max_size=30))
def test_label_scores_are_what_scikit_learn_says(pairs):
    gold, predicted = zip(*pairs, strict=True)
    names = ["good", "bad", "so-so"]
    report = report_labels({"one": predicted}, gold, names, samples=100)
    scores = {name: one.score for name, one in report.scores["one"].items()}
    assert scores["accuracy"] == pytest.approx(100 * metrics.accuracy_score(gold, predicted))
    expected = metrics.precision_recall_fscore_support(gold, predicted, average="macro", zero_division=0)
    assert (scores["macro_precision"], scores["macro_recall"], scores["macro_f1"]) == pytest.approx(
        tuple(100 * value for value in expected[:3])
    )
    matrix = metrics.confusion_matrix(gold, predicted, labels=names)
    assert [list(row.values()) for row in report.details["one"].confusion.values()] == matrix.tolist()


def test_resampled_label_scores_are_what_scikit_learn_says_of_the_resample():
    """Every sentence drawn as often as it is there gives the score itself: the formulas agree."""
    from nungil.scoring.classifiers import _scores

    gold, predicted = np.array([0, 0, 1, 2, 2, 2]), np.array([0, 1, 1, 2, 0, 1])
    times = np.array([[1, 1, 1, 1, 1, 1], [3, 0, 2, 1, 0, 0]])
    found = _scores(times, gold, predicted, 4)
    for row, drawn in enumerate(times):
        right, made = np.repeat(gold, drawn), np.repeat(predicted, drawn)
        expected = metrics.precision_recall_fscore_support(right, made, average="macro", zero_division=0)
        got = [found[name][row] for name in ("macro_precision", "macro_recall", "macro_f1")]
        assert got == pytest.approx([100 * value for value in expected[:3]])
        assert found["accuracy"][row] == pytest.approx(100 * metrics.accuracy_score(right, made))


def test_a_classifier_stands_beside_the_commonest_label():
    gold = ["good"] * 60 + ["bad"] * 40
    always, better = ["good"] * 100, ["good"] * 58 + ["bad"] * 42
    report = report_labels({"always": always, "better": better}, gold)
    assert list(report.scores) == ["always", "better", "always saying 'good'"]
    assert report.comparisons[0].told.startswith(
        "always is worse than better by 38.0 points of accuracy (95% interval "
    )
    assert report.comparisons[0].mcnemar[:2] == (2, 40)
    assert report.comparisons[1].told == (
        "always does not beat always saying 'good'. always and always saying 'good' gave the same answers."
    )
    assert list(report.details) == ["always", "better"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"labels": ["x", "y"]}, "labels: gold 2 is 'z', which is none of them; there is x, y"),
        ({"labels": ["x", "z"]}, "labels: predicted 2 is 'y', which is none of them; there is x, z"),
        (
            {"probabilities": {"deep": [0.9, 0.8], "wide": [0.5, 0.6]}},
            "probabilities: there is no system 'wide' among those to score; there is deep",
        ),
    ],
)
def test_labels_and_probabilities_that_nobody_knows_are_refused_in_a_sentence(options, message):
    with pytest.raises(UsageError) as found:
        report_labels({"deep": ["x", "y"]}, ["x", "z"], **options)
    assert str(found.value) == message


def test_the_calibration_error_worked_out_by_hand():
    # Two answers of 0.9 of which one is right, and one of 1.0 that is right.
    found = calibration([0.9, 0.9, 1.0], [True, False, True], bins=10)
    assert found.error == pytest.approx((2 * abs(0.9 - 0.5) + 0) / 3)
    assert found.bins == (
        (0.8, 0.9, 2, pytest.approx(0.9), 0.5),
        (0.9, 1.0, 1, 1.0, 1.0),
    )
    assert calibration([0.0, 0.0], [False, True]).error == 0.5


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40))
def test_the_calibration_error_is_that_of_its_definition(answers):
    sure, right = map(np.array, zip(*answers, strict=True))
    edges = np.arange(16) / 15
    expected = 0.0
    for k in range(15):
        inside = (sure * 15 > k) & (sure * 15 <= k + 1) if k else sure * 15 <= 1
        if inside.any():
            expected += inside.mean() * abs(sure[inside].mean() - right[inside].mean())
    found = calibration(list(sure), list(right))
    assert found.error == pytest.approx(expected)
    assert sum(one.texts for one in found.bins) == len(answers)
    assert all(one.low in edges for one in found.bins)


@pytest.mark.parametrize(
    ("sure", "right", "message"),
    [
        ([0.5], [True, False], "probabilities 1, answers 2; there must be one for each"),
        ([], [], "there are no answers to score; give at least one"),
        ([0.5, 1.5], [True, True], "probability 2 is 1.5; it must be between 0 and 1"),
        ([math.nan], [True], "probability 1 is nan; it must be between 0 and 1"),
    ],
)
def test_probabilities_that_cannot_be_are_refused(sure, right, message):
    with pytest.raises(UsageError) as raised:
        calibration(sure, right)
    assert str(raised.value) == message


def brute_force(texts, training):
    """The same likeness, sentence by sentence, with sets."""

    def runs(text):
        found = runs_of([text])
        return set(found.flat.tolist())

    known = [runs(text) for text in training]
    weight = lambda run: math.log((len(known) + 1) / (sum(run in one for one in known) + 1)) ** 2  # noqa: E731
    weights = {run: weight(run) for run in set().union(*known, *map(runs, texts))}
    length = lambda one: math.sqrt(sum(weights[run] for run in one))  # noqa: E731
    for text in texts:
        ours = runs(text)
        likeness = [
            sum(weights[run] for run in ours & one) / (length(ours) * length(one)) if length(ours) * length(one) else 0
            for one in known
        ]
        yield max(likeness)


@pytest.mark.parametrize("at_once", [7, 1_000])
def test_the_nearest_sentence_is_the_nearest(monkeypatch, at_once):
    monkeypatch.setattr("nungil.scoring.nearest.AT_ONCE", at_once)
    pairs = list(snow_pairs(70, lengths=(3, 9)))
    for side in ("english", "korean"):
        training = [getattr(pair, side) for pair in pairs[:60]]
        texts = [getattr(pair, side) for pair in pairs[60:]]
        found = nearest(texts, training)
        assert [one.likeness for one in found] == pytest.approx(list(brute_force(texts, training)))
        assert [one.number for one in nearest(training, training)] == [training.index(text) for text in training]


def test_what_is_like_nothing_has_no_nearest():
    assert nearest(["ㅋㅋㅋ", ""], ["snow falls", "snow"]) == [(-1, 0.0), (-1, 0.0)]
    with pytest.raises(UsageError, match="there are no training sentences to be near to"):
        nearest(["snow"], [])


def test_the_rarest_words_find_what_common_ones_do_not(monkeypatch):
    monkeypatch.setattr("nungil.scoring.nearest.BUDGET", 5)
    monkeypatch.setattr("nungil.scoring.nearest.CANDIDATES", 3)
    training = [f"the man {number} walks in the street" for number in range(50)] + [
        "the man sees a zebra in the street"
    ]
    assert nearest(["a zebra walks"], training)[0].number == 50


@pytest.mark.parametrize(
    ("text", "language", "first"),
    [
        ("Datei speichern", "de", "chrf++"),
        ("Datei jetzt hier speichern", "de", "bleu"),
        ("保存文件", "zh", "bleu"),
    ],
)
def test_where_bleu_has_nothing_to_count_characters_come_first(text, language, first):
    texts = [f"{text} {number}" if language == "de" and first == "bleu" else text for number in range(12)]
    found = measure(texts, texts, Way(language))
    assert next(iter(found)) == first
    assert found[first].score() == pytest.approx(100)
    assert next(iter(measure(texts[:9], texts[:9], Way(language)))) == "bleu", "of so few texts it is not known"
