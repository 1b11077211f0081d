"""The strip and the badge: every figure on models whose answers are known, and the sentences made of them."""

import math
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from examples import SOURCE, example_of, spelled
from hypothesis import given
from hypothesis import strategies as st
from small_models import CLASSIFIERS, TRANSLATORS, classifier, recurrent, transformer
from test_lenses import LOOKING

from nungil.errors import UsageError
from nungil.inspection.badge import Badge, Spread
from nungil.inspection.changing import Changing
from nungil.inspection.example import Example
from nungil.inspection.felt import drops_without_each, without
from nungil.inspection.honesty import RowFigures, Strip, WrittenStrip, entropy_share, lost
from nungil.inspection.intervention import place_of
from nungil.inspection.judging import Metric, erasing_curve, judge
from nungil.inspection.lenses import through
from nungil.inspection.measuring import divergences, is_cheap, measure
from nungil.inspection.othermap import DIFFERENT, jensen_shannon, search_other_map
from nungil.inspection.ranks import kendall
from nungil.inspection.rows import permuted, seeded
from nungil.inspection.wordplaces import is_idle

ROOT = Path(__file__).parent.parent
each_looking = pytest.mark.parametrize("make", LOOKING.values(), ids=list(LOOKING))


@each_looking
def test_the_figures_of_a_strip_are_those_of_the_lenses(make):
    example = example_of(make())
    strip = measure(example)
    lenses = {lens: through(example, lens).values for lens in ("raw", "value-norm", "gradient-input", "leave-one-out")}
    raw, erased = lenses["raw"], lenses["leave-one-out"]
    for place, row in enumerate(strip.rows):
        assert row.token == example.written_tokens[place]
        assert row.tau_gradient == kendall(raw[place], abs(lenses["gradient-input"][place]))
        assert row.tau_erasing == kendall(raw[place], abs(erased[place]))
        assert row.tau_ceiling == kendall(abs(lenses["gradient-input"][place]), abs(erased[place]))
        assert row.tau_norm == kendall(raw[place], lenses["value-norm"][place])
        top = int(raw[place].argmax())
        assert row.top == example.source_tokens[top]
        assert row.drop_top == pytest.approx(erased[place, top])
        assert row.drop_random == pytest.approx((erased[place].sum() - erased[place, top]) / (len(SOURCE) - 1))
        assert row.idle == 0
        assert row.percentile is None
    assert strip.residual < 1e-14


@each_looking
def test_rows_are_made_even_one_at_a_time(make):
    example = example_of(make())
    strip, place = measure(example), place_of(example)
    own = example.log_probs(example.read())[0].detach()
    for step, row in enumerate(strip.rows):
        eye = Changing(
            lambda rows, seen: torch.where(seen, rows.sum(-1, keepdim=True) / seen.sum(-1, keepdim=True), 0.0),
            place.at(step),
        )
        even = example.log_probs(example.read(), eye)[0, step].detach()
        chosen = example.written[step]
        assert row.delta_p == pytest.approx(float(even[chosen].exp() - own[step, chosen].exp()), abs=1e-12)
        expected = float((own[step].exp() * (own[step] - even)).sum())
        assert row.kl == pytest.approx(expected, abs=1e-12)


def test_percentiles_are_exact_and_repeatable():
    """Each permutation is made once more by hand; the same seed draws the same ones."""
    example = example_of(TRANSLATORS["luong, fed"]())
    strip = measure(example, permutations=30, seed=4)
    assert strip.rows == measure(example, permutations=30, seed=4).rows
    assert strip.rows != measure(example, permutations=30, seed=5).rows
    step, place = 2, place_of(example)
    row = torch.tensor(through(example, "raw").values[step])
    shuffled = permuted(row.expand(30, 1, 5), torch.ones(30, 1, 5, dtype=torch.bool), seeded(4 + step))
    own = example.log_probs(example.read())[0, step].detach()
    found = torch.stack(
        [
            example.log_probs(example.read(), Changing(lambda *_, one=one: one[None], place.at(step)))[0, step]
            for one in shuffled
        ]
    ).detach()
    kl = [float((own.exp() * (own - one)).sum()) for one in found]
    figures = strip.rows[step]
    assert figures.percentile == pytest.approx(100 * sum(one < figures.kl for one in kl) / 30)
    chosen = example.written[step]
    assert figures.own_percentile == pytest.approx(100 * sum(one[chosen] < own[chosen] for one in found) / 30)


def test_all_permutations_of_an_even_row_are_alike():
    model = recurrent()
    with torch.no_grad():
        model.decoder.attention.score.bridge.weight.zero_()
    strip = measure(example_of(model), permutations=11)
    for row in strip.rows:
        assert (row.entropy, row.percentile, row.own_percentile) == (pytest.approx(1), 50, 50)
        assert row.tau_gradient is None  # a row without an order agrees with none
    assert strip.agreement is None
    assert not strip.needed
    assert not strip.points
    assert strip.verdict.startswith("Do not read it as the reason")
    assert "τ – with" in strip.first()[2]


def test_weight_on_marks_and_punctuation_is_idle():
    assert [is_idle(token) for token in ("<eos>", "<sos>", "￭.", "▁,", "▁", "…", "눈", "▁a", "<unk>", "B2")] == [
        *[True] * 6,
        *[False] * 4,
    ]


def test_marks_are_not_among_the_words_that_are_ranked_or_erased():
    names = {2: "<sos>", 3: "<eos>"}
    model = TRANSLATORS["luong"]()
    example = Example(model, (2, 5, 7, 9, 3), (5, 8, 3), lambda ids: [names.get(i, f"w{i}") for i in ids], spelled)
    raw, erased = through(example, "raw").values, drops_without_each(example).numpy()
    for place, row in enumerate(measure(example).rows):
        assert row.top == f"w{(5, 7, 9)[int(raw[place, 1:4].argmax())]}"
        assert row.idle == pytest.approx(raw[place, 0] + raw[place, 4])
        assert row.tau_erasing == kendall(raw[place, 1:4], abs(erased[place, 1:4]))


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=9))
def test_entropy_is_a_share(row):
    assert 0 <= entropy_share(row) <= 1 + 1e-12
    assert entropy_share([1.0] * len(row)) == pytest.approx(1)
    assert entropy_share([1.0, *[0.0] * len(row)]) == 0
    assert entropy_share([2 * one for one in row]) == pytest.approx(entropy_share(row))


def figures(**given):
    usual = {"tau_gradient": 0.6, "tau_erasing": 0.6, "tau_ceiling": 0.7, "tau_norm": 0.9}
    effects = {"delta_p": -0.5, "kl": 1.0, "flips": True, "drop_top": 4.0, "drop_random": 0.5}
    return RowFigures(
        **({"step": 1, "token": "눈", "top": "snow", "entropy": 0.2, "idle": 0.1} | usual | effects | given)
    )


def strip_of(*rows):
    return Strip("cross attention · layer 0", "row t is the word being output", rows, 1e-9)


@pytest.mark.parametrize(
    ("given", "begins"),
    [
        ({}, "It can be read as where the output comes from"),
        ({"delta_p": -0.099, "flips": False}, "Read it as a hint"),
        ({"delta_p": -0.1, "flips": False}, "It can be read"),
        ({"delta_p": 0.0, "flips": True}, "It can be read"),
        ({"drop_top": 0.9}, "Read it as where the model looks, not as why"),
        ({"drop_top": 0.04, "drop_random": 0.0}, "Read it as where the model looks, not as why"),
        ({"tau_gradient": 0.1, "tau_erasing": 0.1}, "Read it as where the model looks, not as why"),
        ({"tau_gradient": 0.1, "tau_erasing": 0.1, "tau_ceiling": 0.2}, "It can be read"),
        ({"tau_gradient": 0.25, "tau_erasing": 0.25, "tau_ceiling": 0.9}, "It can be read"),
        ({"tau_gradient": None, "tau_erasing": None}, "Read it as where the model looks, not as why"),
        ({"delta_p": 0.01, "flips": False, "drop_top": -1.0}, "Do not read it as the reason"),
    ],
)
def test_the_verdict_follows_from_the_figures(given, begins):
    assert strip_of(figures(**given)).verdict.startswith(begins)


def test_a_map_of_one_layer_of_several_says_so():
    calm = replace(strip_of(figures(delta_p=0.0, flips=False)), layers=3)
    assert calm.verdict.endswith("hardly needs this map to find them (other layers looked on as before).")
    assert replace(strip_of(figures()), layers=3).verdict == "It can be read as where the output comes from."


def test_what_is_said_of_a_classifier_is_of_its_label():
    strip = strip_of(figures(percentile=80.0, own_percentile=90.0))
    strip = replace(strip, kind="pooling", reading="the one row is the whole text", permutations=100)
    said = " ".join((*strip.first(), *strip.rest()))
    assert strip.verdict == "It can be read as where the label comes from."
    assert "makes its label more probable than 90% of them do" in said
    assert "Of the words it looks most at “snow”." in said
    for word in ("written", "output", "step", "another word", "each row"):
        assert word not in said


def test_pieces_and_letters_are_not_called_words():
    strip = replace(strip_of(figures(drop_top=0.9, percentile=80.0, own_percentile=90.0)), unit="token")
    strip = replace(strip, permutations=100)
    said = " ".join((*strip.first(), *strip.rest()))
    assert "without the token looked at most" in said
    assert "1 of 1 step would write another token" in said
    assert "the tokens it looks at most are not those that matter most" in said
    assert "word" not in said.replace(strip.reading, "")
    assert Strip.from_written(WrittenStrip(**strip.to_json())) == strip


@pytest.mark.parametrize(
    ("tokens", "unit"),
    [
        (("<sos>", "I", "like", "<eos>"), "word"),
        (("▁I", "▁like"), "word"),
        (("▁l", "ike"), "token"),
        ("눈▁이", "token"),
    ],
)
def test_a_token_is_called_what_it_is(tokens, unit):
    example = Example(classifier(), (5,) * len(tokens), (1,), spelled, spelled, shown=(tokens, ()))
    assert example.unit == unit
    assert measure(example).unit == unit
    assert f"when this {unit} is taken out" in through(example, "leave-one-out").measures


def test_a_quarter_of_the_steps_is_enough():
    calm = figures(delta_p=0.0, flips=False)
    assert strip_of(figures(delta_p=0.0), calm, calm, calm).needed
    assert not strip_of(figures(delta_p=0.0), calm, calm, calm, calm).needed


def test_three_figures_and_a_verdict_come_first():
    strip = strip_of(figures(), figures(flips=False, delta_p=-0.1))
    assert strip.first() == (
        "Made even: p of what was written changes by −0.30, and 1 of 2 steps would write another word.",
        "Erased: without the word looked at most log p falls by 4.00; without another one it falls by 0.50.",
        "Order: τ 0.60 with what gradients and erasing find (they agree with each other by 0.70).",
        "Verdict: It can be read as where the output comes from.",
    )
    labelled = replace(strip_of(figures(drop_random=-0.25)), kind="pooling")
    assert labelled.first()[:2] == (
        "Made even: p of the label changes by −0.50, and another label wins.",
        "Erased: without the word looked at most log p of the label falls by 4.00; without another one it rises by "
        "0.25.",
    )
    assert (lost(-0.004), lost(-0.006), lost(None)) == ("falls by 0.00", "rises by 0.01", "falls by 0.00")
    assert strip.rest()[3] == "Recomputed in NumPy from queries and keys, no weight is off by more than 1.0e-09."
    plain = strip.to_json()
    assert plain["means"]["kl"] == 1.0
    assert plain["rows"][0]["top"] == "snow"
    assert plain["flips"] == 1


def test_a_large_model_on_a_long_text_is_not_cheap():
    example = example_of(transformer())
    assert is_cheap(example)
    assert not is_cheap(Example(example.model, SOURCE * 300, (5,) * 900, spelled, spelled))


def test_a_map_of_a_model_without_one_is_refused():
    with pytest.raises(UsageError, match=r"no attention between what is written and what is read: the pooling is by"):
        measure(example_of(CLASSIFIERS["transformer, last"]()))


def test_divergences_in_nats():
    own, other = torch.tensor([0.5, 0.5]).log(), torch.tensor([[0.9, 0.1], [0.5, 0.5]]).log()
    expected = 0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.1)
    assert divergences(own, other).tolist() == [pytest.approx(expected, rel=1e-6), pytest.approx(0, abs=1e-7)]


# ---- the search for another map


def test_jensen_and_shannon_between_nothing_in_common_and_the_same():
    own = torch.tensor([1.0, 0.0, 0.0])
    found = jensen_shannon(own, torch.tensor([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0]]))
    expected = 0.5 * math.log(1 / 0.75) + 0.5 * (0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25))
    assert found.tolist() == pytest.approx([math.log(2), 0, expected], abs=1e-6)


def one_for_all():
    """Every state is the same, so that attention is of no consequence."""
    model = classifier(encoder="none")
    with torch.no_grad():
        model.embedding.table.weight[:] = model.embedding.table.weight[0]
    return model


def decided_by_attention():
    """What is looked at is the answer: a state of its own for each word, and an output that tells them apart."""
    model = classifier(encoder="none", embedding=7, scale_embedding=False, dense=11)
    with torch.no_grad():
        model.embedding.table.weight[list(SOURCE)] = 3 * torch.eye(7, dtype=torch.float64)[:5]
        model.dense.weight.zero_()
        model.dense.weight[:7] = torch.eye(7)
        model.dense.bias.zero_()
        model.output.weight.zero_()
        model.output.weight[:, :5] = 3 * torch.eye(5)
        model.output.bias.zero_()
    return model


def test_what_no_map_changes_is_computed_once_and_not_in_every_round():
    """A server computes for one client at a time: a search must not work out 300 times what stays the same."""
    model, counts = classifier(ngrams={"longest": 2, "buckets": 31}), Counter()
    for name in ("encoder", "pooling", "ngrams"):
        part = getattr(model, name)
        part.register_forward_hook(lambda *_, name=name: counts.update([name]))
    found = search_other_map(example_of(model), seconds=60)
    assert found.tried == 24 * 300
    assert max(counts.values()) <= 3, counts
    assert set(counts) == {"encoder", "pooling", "ngrams"}


def test_a_search_does_not_wait_for_the_compiler_of_torch():
    """Loading it takes seconds, and torch's own optimizers load it at their first step."""
    code = (
        "import sys, torch; sys.path.insert(0, 'tests'); from small_models import classifier\n"
        "from nungil.inspection.example import Example; from nungil.inspection.othermap import search_other_map\n"
        "search_other_map(Example(classifier().float().eval(), (4, 5, 6), (1,), list, lambda ids: ['a']))\n"
        "print('torch._dynamo' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert found.stdout == "False\n"


def test_another_map_is_found_where_attention_is_of_no_consequence():
    found = search_other_map(example_of(one_for_all()))
    assert found.found
    assert DIFFERENT < found.jsd <= math.log(2)
    assert found.tvd <= 1e-12
    assert sum(found.other) == pytest.approx(1)
    assert found.verdict.startswith("A very different map gives the same answer")


def test_none_is_found_where_attention_decides():
    found = search_other_map(example_of(decided_by_attention()))
    assert not found.found
    assert found.jsd < 0.05
    assert found.tvd <= found.allowed
    assert found.verdict.startswith("No very different map with the same answer was found")


def test_weight_can_move_between_twins_only():
    """The same word twice: what one of the two has, the other may have; all else would be another answer."""
    found = search_other_map(example_of(decided_by_attention(), (5, 7, 5, 4)))
    own, other = np.array(found.own), np.array(found.other)
    assert own[0] == pytest.approx(own[2])
    assert other[[0, 2]].sum() == pytest.approx(own[[0, 2]].sum(), abs=0.02)
    assert other[[1, 3]] == pytest.approx(own[[1, 3]], abs=0.02)
    assert min(other[0], other[2]) < 0.05 * own[0]


def test_the_search_is_repeatable_and_its_answer_checked():
    example = example_of(CLASSIFIERS["GRU, learned query"]())
    found = search_other_map(example, allowed=0.05, seed=3)
    assert found == search_other_map(example, allowed=0.05, seed=3)
    assert 0 < found.tvd <= 0.05
    own = example.log_probs(example.read())[0, 0].exp().detach()
    other = torch.tensor(found.other, dtype=torch.float64)
    moved = example.log_probs(example.read(), lambda look: other.expand_as(look.weights))[0, 0].exp().detach()
    assert float((own - moved).abs().sum() / 2) == pytest.approx(found.tvd, abs=1e-6)
    assert float(jensen_shannon(torch.tensor(found.own, dtype=torch.float64), other[None])[0]) == pytest.approx(
        found.jsd, abs=1e-6
    )
    assert found.picture().cells.shape == (2, 5)
    assert found.to_json()["found"] == found.found


def test_the_search_is_for_classifiers():
    with pytest.raises(UsageError, match=r"the search for another map is for classifiers"):
        search_other_map(example_of(TRANSLATORS["luong"]()))


# ---- the badge


def test_erasing_costs_what_it_costs():
    example = example_of(TRANSLATORS["luong"]())
    orders = np.array([[1, 3, 0, 2, 4]] * 4)
    own = example.chosen(example.log_probs(example.read()))[0].exp()
    lost = []
    for count in range(1, 3):  # half of five words
        shorter = example_of(example.model, without(SOURCE, tuple(orders[0][:count])))
        lost.append(own - shorter.chosen(shorter.log_probs(shorter.read()))[0].exp())
    assert erasing_curve(example, orders) == pytest.approx(float(torch.stack(lost).detach().mean()))


def test_words_looked_at_most_are_erased_first():
    example = example_of(TRANSLATORS["luong, direct"]())
    found = judge([example], Metric("chrF", lambda _: 50.0))
    raw = through(example, "raw").values
    assert found.aopc == pytest.approx(erasing_curve(example, np.argsort(-raw, axis=1)))
    assert found.aopc != pytest.approx(erasing_curve(example, np.argsort(raw, axis=1)))


@pytest.mark.parametrize("make", [TRANSLATORS["luong"], TRANSLATORS["transformer"], CLASSIFIERS["post 001"]])
def test_a_badge_has_attention_spoiled_everywhere(make):
    model = make()
    examples = [example_of(model), example_of(model, (8, 6, 5))]
    seen = []

    def under(make_eye):
        eye = make_eye()
        if eye is None:
            return 80.0
        shown = []

        def spy(look):
            changed = eye(look)
            if look.kind in ("cross", "pooling"):
                shown.append((look.weights, changed))
            return changed

        example = examples[0]
        example.log_probs(example.read(), spy)
        seen.append(shown)
        return 40.0

    found = judge(examples, Metric("chrF", under), seed=3)
    even, shuffled, random = seen
    for own, changed in even:
        assert torch.allclose(changed, torch.full_like(own, 1 / 5))
    for own, changed in shuffled:
        assert torch.allclose(own.sort(-1).values, changed.sort(-1).values)
    for own, changed in random:
        assert torch.allclose(changed.sum(-1), own.sum(-1))
        assert not torch.allclose(changed, own)
    assert len(even) == (3 if "Transformer" in type(model).__name__ else 1)
    assert (found.own, found.even, found.kept, found.sentences) == (80, 40, 0.5, 2)
    again = judge(examples, Metric("chrF", under), seed=3)
    assert (found.aopc, found.aopc_random, found.tau_erasing) == (again.aopc, again.aopc_random, again.tau_erasing)


def badge(**given):
    usual = {"sentences": 100, "metric": "chrF", "own": 80.0, "even": 20.0, "permuted": 15.0, "random": 18.0}
    more = {"aopc": 0.6, "aopc_random": 0.2, "tau_gradient": 0.5, "tau_erasing": 0.4, "tau_ceiling": 0.7}
    return Badge(**(usual | more | {"seed": 1, "seconds": 3.0} | given))


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        ({}, "This model needs its attention, and the words it looks at are those that matter: its maps are worth"),
        ({"even": 60.0}, "This model partly needs its attention, and the words it looks at are those that matter"),
        (
            {"even": 79.0},
            "This model hardly needs its attention, and the words it looks at are those that matter: take",
        ),
        (
            {"aopc": 0.29},
            "This model needs its attention, and the words it looks at matter little more than others: do",
        ),
        ({"own": 0.0, "even": 0.0, "aopc": 0.0, "aopc_random": 0.0}, "This model hardly needs its attention, and the"),
    ],
)
def test_the_verdict_on_a_model(given, verdict):
    assert badge(**given).verdict.startswith(verdict)


def test_a_badge_in_words_and_as_json():
    lines = badge().lines()
    assert lines[0].startswith(
        "chrF 80.0 with its own attention, 20.0 with even attention (25% is left), 15.0 permuted"
    )
    assert lines[2] == "τ 0.50 with gradient × input, 0.40 with leave-one-out (these have 0.70 with each other)."
    assert badge().to_json()["kept"] == 0.25


def test_the_spread_of_several_seeds():
    spread = Spread((badge(), badge(own=70.0, tau_erasing=None), badge(own=75.0)), 0.1)
    assert spread.of("own") == (70, 75, 80)
    assert spread.of("tau_erasing") == (0.4, 0.4, 0.4)
    assert "chrF, own attention: 70, 75, 80" in spread.lines()
    assert spread.lines()[-1] == "Their maps of the same output differ by JSD 0.10 on average, of at most 0.69."
