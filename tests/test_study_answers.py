"""Made-up runs with a known answer, study by study: the answer that comes out is the one that was put in."""

import pytest
from made_up import aer, around, bleu, runs, share

from nungil.studies.gradient import BINS, times
from nungil.studies.job import tally
from nungil.studies.parallel import BATCHES, LENGTHS
from nungil.studies.statistics import Results
from nungil.studies.study import study_named


def answer(name, records):
    return study_named(name).answer(Results(records))


def translated(arm, score, error=None, step=0.5, **figures):
    """Runs of a translator with this BLEU, chrF++ and, where it attends, alignment error."""
    tallies = {"BLEU": around(bleu, score, step), "chrF++": around(share, score)}
    if error is not None:
        tallies["AER"] = around(aer, error)
    known = {"tokens per second": 1000.0, "sentences per second": 50.0, **figures}
    return runs(arm, tallies=tallies, figures=known, parameters=1234)


@pytest.mark.parametrize(
    ("scores", "verdict", "said"),
    [
        ((50, 50, 60, 60, 50), "holds", "4 heads and 8 heads translate better than one: 50.0 BLEU with 1 head, 60.0"),
        ((50, 50, 60, 50, 40), "holds in part", "4 heads translate better than one, 16 heads worse"),
        ((50, 50, 50, 40, 40), "does not hold", "no number of heads translates better than one, and 8 heads and 16"),
        ((50, 50, 50, 50, 50), "cannot be told", "no number of heads can be told from one"),
    ],
)
def test_heads(scores, verdict, said):
    names = ("1 head", "2 heads", "4 heads", "8 heads", "16 heads")
    # Each arm's seeds differ in their own way, so that no difference is the same for every seed.
    records = [
        one
        for place, (name, score) in enumerate(zip(names, scores, strict=True))
        for one in translated(name, score, 20, step=0.3 + 0.1 * place)
    ]
    found = answer("heads", records)
    assert found.verdict == verdict
    assert said in found.answer
    assert found.charts[0].series[0].points[2][:2] == (4.0, pytest.approx(scores[2]))
    assert len(found.charts) == 2


@pytest.mark.parametrize(
    ("frozen", "narrow", "verdict", "said"),
    [
        (40, 45, "holds", "costs quality: freezing random embeddings and narrowing them (60.0 BLEU with trained"),
        (60, 45, "holds in part", "costs quality: narrowing them"),
        (70, 60, "does not hold", "costs no quality that can be told"),
        (60, 60, "cannot be told", "costs no quality that can be told"),
    ],
)
def test_embedding(frozen, narrow, verdict, said):
    scores = {
        "trained, 64": 60,
        "random and frozen, 64": frozen,
        "trained, narrow: 8": narrow,
        "trained, wide: 256": 61,
    }
    records = []
    for place, (name, score) in enumerate(scores.items()):
        records += translated(name, score, step=0.3 + 0.1 * place)
    found = answer("embedding", records)
    assert found.verdict == verdict
    assert said in found.answer


def looked(arm, error, aopc, random):
    known = {
        **{"score kept with even attention, %": 40.0, "AOPC": lambda seed: aopc + seed / 1000},
        **{"AOPC at random": random, "τ with gradient × input": 0.3, "points": float(aopc > random)},
    }
    records = translated(arm, 60, error, **known)
    diagonal = {"AER of the diagonal": aer(50)}
    return [one.model_copy(update={"tallies": {**one.tallies, **diagonal}}) for one in records]


def test_looking_holds_where_links_are_right_and_matter():
    found = answer("looking", [*looked("dot", 20, 0.3, 0.1), *looked("general", 30, 0.4, 0.1)])
    assert found.verdict == "holds"
    assert found.answer == (
        "In dot and general the words looked at are the right ones more often than along the diagonal, and matter to "
        "the output (alignment error from 20.0%, dot, to 30.0%, general; the diagonal has 50.0%)."
    )
    assert found.charts[0].rule == ("diagonal", pytest.approx(50))


def test_looking_says_plainly_where_it_does_not():
    found = answer("looking", [*looked("dot", 20, 0.3, 0.1), *looked("general", 70, 0.4, 0.1)])
    assert found.verdict == "holds in part"
    assert "of general that cannot be said" in found.answer
    found = answer("looking", [*looked("dot", 80, 0.1, 0.3), *looked("general", 70, 0.1, 0.3)])
    assert found.verdict == "does not hold"
    assert found.answer.startswith("Of no mechanism it can be said that the words looked at are the right ones more")


def test_looking_says_nothing_of_right_words_where_there_is_no_gold():
    def blind(arm, aopc):
        records = looked(arm, 20, aopc, 0.1)
        kept = [{name: found for name, found in one.tallies.items() if "AER" not in name} for one in records]
        return [one.model_copy(update={"tallies": left}) for one, left in zip(records, kept, strict=True)]

    found = answer("looking", [*blind("dot", 0.3), *blind("general", 0.4)])
    assert found.verdict == "holds"
    assert found.answer == "In dot and general the words looked at matter to the output."


def homonym_runs(plain, attention, transformer, guess=60):
    records = []
    for arm, right in (("plain seq2seq", plain), ("with attention", attention), ("Transformer", transformer)):
        tallies = {"BLEU": around(bleu, 50), "right sense": around(share, right, 0.2 + right / 300)}
        tallies |= {f"right sense/{name}": around(share, right) for name in ("1", "2", "3 or more")}
        tallies["right by guessing the commonest"] = lambda _: share(guess)
        records += runs(arm, tallies=tallies)
    return records


@pytest.mark.parametrize(
    ("scores", "verdict", "said"),
    [
        (
            (50, 70, 90),
            "holds",
            "2 of 3 models tell homonyms apart better than a guess does (with attention and Transformer): right",
        ),
        (
            (50, 70, 40),
            "does not hold",
            "1 of 3 models tell homonyms apart better than a guess does (with attention): right sense plain",
        ),
        (
            (50, 50, 60),
            "cannot be told",
            "Of no model it can be said that it tells homonyms apart better than a guess does: right sense plain",
        ),
    ],
)
def test_homonyms(scores, verdict, said):
    found = answer("homonyms", homonym_runs(*scores))
    assert found.verdict == verdict
    assert said in found.answer
    assert found.answer.endswith("against 60.0% by guessing the commonest sense.")
    assert [point.x for point in found.charts[0].series[0].points] == ["1", "2", "3 or more"]


def test_homonyms_that_are_told_apart_by_some_seeds_only_are_not_told_apart():
    uneven = around(share, 66, 8)  # six points above the guess, but 50 to 82 by seed
    records = [
        one.model_copy(update={"tallies": {**one.tallies, "right sense": uneven(one.job.seed)}})
        for one in homonym_runs(50, 50, 60)
    ]
    found = answer("homonyms", records)
    assert found.verdict == "cannot be told"
    assert found.answer.startswith("Of no model it can be said that it tells homonyms apart better than a guess does")


NEARLY = "nearly the same as the dot score"


def mechanism_runs(**steps):
    """Scores around 50 BLEU; `additive` is 10 more, `location` 2 less; seeds differ by the steps."""
    arms = {"plain": 10, "dot": 50, "general": 50, "additive": 60, "location": 48, "Transformer": 40}
    records = []
    for place, (arm, score) in enumerate(arms.items()):
        step = steps.get(arm, 0.3 + 0.1 * place)
        records += translated(arm, score, None if arm == "plain" else 30, step=step)
    return records


@pytest.mark.parametrize(
    ("left_out", "steps", "verdict", "said"),
    [
        ((), {}, "holds in part", f"{NEARLY}: general and location; other than the dot score: additive."),
        (("additive",), {}, "holds", f"{NEARLY}: general and location."),
        (("general", "location"), {}, "does not hold", "without attention; other than the dot score: additive."),
        (("additive",), {"general": 9.0}, "cannot be told", f"of general it cannot be told whether it is {NEARLY}."),
        ((), {"additive": 9.0}, "cannot be told", f"location; of additive it cannot be told whether it is {NEARLY}."),
    ],
)
def test_mechanisms_are_the_same_only_where_a_difference_can_be_excluded(left_out, steps, verdict, said):
    found = answer("mechanisms", [one for one in mechanism_runs(**steps) if one.job.arm not in left_out])
    assert found.verdict == verdict
    assert found.answer.endswith(said)
    assert "not make mechanisms the same" in found.details[0]


def test_mechanisms_shows_every_arm_with_its_links_and_parameters():
    found = answer("mechanisms", mechanism_runs())
    assert found.answer.startswith("From 60.0 BLEU (additive) to 40.0 (Transformer), and 10.0 without attention; ")
    rows = {row[0]: row for row in found.tables[0].rows}
    assert rows["plain"][4:6] == ("–", "–")
    assert rows["dot"][4] == "30.0"
    assert rows["dot"][-1] == "1,234"


def gradient_runs(falls):
    """Runs whose log₁₀ falls by so much from the nearest bin to the farthest, on a straight line."""
    records = []
    for arm, fall in falls.items():

        def make(place, fall=fall):
            step = fall / (len(BINS) - 1)
            return lambda seed: tally("mean", [((-step * place * (1 + seed / 100)) * 4, 4)] * 9)

        tallies = {f"{when}/{name}": make(place) for when in ("before", "after") for place, name in enumerate(BINS)}
        records += runs(arm, tallies=tallies)
    return records


@pytest.mark.parametrize(
    ("attending", "verdict", "count"), [(1, "holds", 4), (6, "does not hold", 0), (3, "cannot be told", 0)]
)
def test_gradient(attending, verdict, count):
    falls = {"plain RNN": 3, "plain LSTM": 3, "attending RNN": attending, "attending LSTM": attending, "Transformer": 0}
    found = answer("gradient", gradient_runs(falls))
    assert found.verdict == verdict
    assert f"attention makes it fall less in {count} of 4 comparisons" in found.answer
    fall = 3 * 1.03  # the mean of the five seeds
    assert f"plain RNN {10**fall:,.0f} times" in found.answer
    assert found.charts[1].series[0].points[-1].y == pytest.approx(-fall)


def test_large_ratios_are_powers_of_ten():
    assert [times(powers) for powers in (-1, 0.3, 1.6, 5.25, 22.79)] == [
        *("0.1 times", "2.0 times", "40 times", "177,828 times", "10²³ times")
    ]


def speed_runs(speeds):
    """Tokens a second in training and in search, the same at every size; seeds differ a little."""
    records = []
    for place, (arm, pair) in enumerate(speeds.items()):
        figures = {}
        for work, speed in zip(("training", "search"), pair, strict=True):
            for side, sizes in (("length", LENGTHS), ("batch", BATCHES)):
                for size in sizes:
                    name = f"{work}/{side}/{size}"
                    figures[name] = float(speed)
                    figures[f"log/{name}"] = lambda seed, speed=speed, place=place: (
                        (speed.bit_length() - 1) + (0.01 * (place + 1) * (seed - 3))
                    )
        records += runs(arm, figures=figures)
    return records


@pytest.mark.parametrize(
    ("transformer", "verdict", "said"),
    [
        ((4096, 2048), "holds", "trains 4.0 times as fast as a GRU with Luong's attention and 8.0 times"),
        ((4096, 256), "holds in part", "searches 0.2 times and 0.5 times as fast"),
        ((256, 256), "does not hold", "trains 0.2 times as fast"),
    ],
)
def test_parallel(transformer, verdict, said):
    found = answer(
        "parallel", speed_runs({"GRU, Luong": (1024, 1024), "GRU, Bahdanau": (512, 512), "Transformer": transformer})
    )
    assert found.verdict == verdict
    assert said in found.answer
    assert len(found.charts) == 4


@pytest.mark.parametrize(
    ("others", "verdict", "said"),
    [
        ((80, 80, 70, 85), "holds", "is better than mean, max, last and TF-IDF + logistic regression (accuracy:"),
        (
            (80, 90, 70, 95),
            "holds in part",
            "better than mean and last, is worse than TF-IDF + logistic regression and",
        ),
        ((90, 90, 90, 95), "does not hold", "is worse than TF-IDF + logistic regression and cannot be told from mean"),
        ((90, 90, 90, 90), "cannot be told", "Attention pooling cannot be told from mean, max, last and TF-IDF"),
    ],
)
def test_classifier(others, verdict, said):
    arms = ("attention", "mean", "max", "last", "TF-IDF + logistic regression")
    records = []
    for place, (arm, right) in enumerate(zip(arms, (90, *others), strict=True)):
        records += runs(arm, tallies={"accuracy": around(share, right, 0.3 + 0.1 * place)}, parameters=5)
    found = answer("classifier", records)
    assert found.verdict == verdict
    assert said in found.answer
    assert "attention 90.0%" in found.answer
