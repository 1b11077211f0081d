"""The ledger: every number of a step, by hand, by property, and against the real modules."""

import io
import json
import math
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from nungil.errors import ConfigError, UsageError
from nungil.inspection import residual
from nungil.inspection.arithmetic import work_out
from nungil.inspection.examples import EXAMPLES
from nungil.inspection.explain import explain
from nungil.inspection.layout import format_numbers, visible
from nungil.inspection.ledger import Axis, Ledger, LedgerStep
from nungil.inspection.markdown import to_markdown
from nungil.inspection.numbers import BIASES, PARAMETERS, Numbers, Output, check_numbers
from nungil.inspection.terminal import print_ledger

numbers_of = st.floats(-3, 3, allow_nan=False).map(lambda number: round(number, 3))


def vector(size):
    return st.lists(numbers_of, min_size=size, max_size=size)


def matrix(rows, size):
    return st.lists(vector(size), min_size=rows, max_size=rows)


@st.composite
def any_numbers(draw):
    """Numbers for any mechanism, with a mask, values and output layers as they come."""
    mechanism = draw(st.sampled_from(sorted(PARAMETERS)))
    score = draw(st.sampled_from(["dot", "scaled-dot", "general", "concat", "additive", "location", "coverage"]))
    compared = score if mechanism.startswith("local") else mechanism
    S, Q, K, A, V, W = 5, 6, 4, 3, 2, 7
    K, V = (Q if compared in ("dot", "scaled-dot", "multi-head") else K), (Q if mechanism == "multi-head" else V)
    sizes = {"Q": Q, "K": K, "A": A, "L": S + 1, "Q+K": Q + K}
    needed = {**PARAMETERS[compared], **PARAMETERS[mechanism]}
    shapes = {name: [sizes[side] for side in sides] for name, sides in needed.items()}
    if mechanism == "multi-head":
        shapes |= {name: [Q] for name in BIASES if draw(st.booleans())}
    parameters = {name: draw(matrix(*s) if len(s) == 2 else vector(*s)) for name, s in shapes.items()}
    real = draw(st.integers(1, S))
    own = {"coverage": [abs(number) for number in draw(vector(S))]} if compared == "coverage" else {}
    if mechanism.startswith("local"):
        own |= {"score": score, "reach": draw(st.integers(1, 3))}
    if mechanism == "local-m":
        own |= {"position": draw(st.integers(0, 7))}
    if mechanism == "multi-head":
        own |= {"heads": draw(st.sampled_from([1, 2, 3]))}
    output = Output(W_c=draw(matrix(A, V + Q)), W_s=draw(matrix(W, A)), b_s=draw(vector(W)))
    return Numbers(
        mechanism=mechanism,
        query=draw(vector(Q)),
        keys=draw(matrix(S, K)),
        values=draw(matrix(S, V)),
        keep=[place < real for place in range(S)],
        parameters=parameters,
        output=draw(st.sampled_from([None, output])),
        **own,
    )


@given(any_numbers())
def test_the_residual_is_rounding_and_nothing_else(numbers):
    ledger = explain(numbers)
    assert ledger.residual < 1e-12
    assert Ledger.from_json(json.loads(json.dumps(ledger.to_json()))).to_json() == ledger.to_json()


@given(any_numbers())
def test_totals_are_the_sums_they_say(numbers):
    ledger = explain(numbers)
    for step in ledger.steps:
        if step.total_of is not None:
            assert np.allclose(step.values, ledger.step(step.total_of, step.head).values.sum(axis=0))


def test_the_first_example_by_hand():
    ledger = explain(EXAMPLES["attention"].numbers)
    scores = [0.2, 2.1, 0.5, 0.6, 0.5]
    assert np.allclose(ledger.step("score").values, scores)
    exps = [math.exp(score) for score in scores]
    assert np.allclose(ledger.step("exp").values, exps)
    assert ledger.step("sum of exp").values == pytest.approx(sum(exps))
    weights = [e / sum(exps) for e in exps]
    assert np.allclose(ledger.step("weight").values, weights)
    first = 0.1 * weights[0] + 1.0 * weights[1] + 0.3 * weights[3] + 0.2 * weights[4]
    assert ledger.step("context").values[0] == pytest.approx(first)
    assert ledger.step("concat").values[3:].tolist() == [2.0, 0.5, 0.0]
    assert ledger.step("logit").values[0] == pytest.approx(2 * first + 2.0)
    assert ledger.step("probability").values.sum() == pytest.approx(1)


def test_the_dictionary_ends_at_the_exact_entry():
    ledger = explain(EXAMPLES["dictionary"].numbers)
    answers = ledger.step("cooled context").values[:, 0]
    assert (np.diff(answers) < 0).all(), "each lower temperature comes nearer"
    assert answers[-1] == pytest.approx(-3, abs=1e-9)
    assert np.allclose(ledger.step("cooled weights").values[0], ledger.step("weight").values)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_is_sound(name):
    assert explain(EXAMPLES[name].numbers).residual < 1e-12


def test_every_mechanism_has_an_example():
    assert {example.numbers.mechanism for example in EXAMPLES.values()} == set(PARAMETERS)


def test_a_word_still_to_come_gets_exactly_nothing_in_every_head():
    """Post 003: to predict word n, the words from n on are hidden."""
    ledger = explain(EXAMPLES["masked"].numbers)
    for head in (0, 1):
        seen, hidden = np.split(ledger.step("weight", head).values, 2)
        assert seen.sum() == pytest.approx(1)
        assert (seen > 0).all()
        assert hidden.tolist() == [0, 0]


def test_only_its_position_tells_a_word_from_the_same_word():
    numbers = EXAMPLES["positions"].numbers
    ledger = explain(numbers)
    waves = [[f(3 / 10_000 ** (2 * i / 4)) for i in (0, 1) for f in (math.sin, math.cos)]]
    rows = next(step for step in ledger.steps if step.name == "position")
    assert rows.values[3].tolist() == pytest.approx(*waves)
    assert ledger.step("placed").values.tolist() == pytest.approx(np.add(numbers.query, waves[0]).tolist())
    first, second = ledger.step("weight").values[[0, 3]]
    assert second > 2 * first
    without = explain(Numbers(**numbers.model_dump(include={"mechanism", "tokens", "query", "keys"})))
    assert without.step("weight").values[0] == without.step("weight").values[3]


@given(st.data())
def test_positions_are_those_of_the_models(data):
    Q, S = 5, 3
    given = {"query": data.draw(vector(Q)), "keys": data.draw(matrix(S, Q)), "temperatures": [2.0]}
    place = data.draw(st.integers(0, 999))
    assert explain(Numbers(**given, positions=True, position=place)).residual < 1e-9
    heads = {**EXAMPLES["multi-head"].numbers.model_dump(exclude_unset=True), "positions": True, "position": place}
    assert explain(Numbers(**heads)).residual < 1e-9


def test_the_rest_of_a_block_by_hand():
    numbers = EXAMPLES["feed-forward"].numbers
    ledger = explain(numbers)

    def normed(vector):
        return (vector - vector.mean()) / np.sqrt(vector.var() + 1e-5)

    given = numbers.feed_forward
    state = normed(np.array(numbers.query) + ledger.step("output").values)
    inner = np.maximum(np.array(given.W_1) @ state + given.b_1, 0)
    assert (inner == 0).any(), "relu has something to do"
    assert ledger.step("inner").values == pytest.approx(inner)
    assert ledger.step("normed").values == pytest.approx(normed(state + np.array(given.W_2) @ inner + given.b_2))
    assert ledger.against == "nungil.attention.MultiHeadAttention(4, 2), nungil.model.blocks.FeedForward"


@pytest.mark.parametrize(("name", "part"), [("positions", "sinusoids"), ("feed-forward", "Residual")])
def test_other_positions_or_another_block_show_in_the_residual(name, part, monkeypatch):
    real = getattr(residual, part)
    wrong = {
        "sinusoids": lambda first, *sizes: real(first + 1, *sizes),
        "Residual": lambda settings: real(settings.model_copy(update={"norm": "pre"})),
    }
    monkeypatch.setattr(residual, part, wrong[part])
    assert explain(EXAMPLES[name].numbers).residual > 0.1


def test_a_wrong_module_shows_in_the_residual(monkeypatch):
    """The check can fail: let the real module be another one, and the residual says so."""
    monkeypatch.setattr(residual, "Dot", residual.ScaledDot)
    assert explain(EXAMPLES["attention"].numbers).residual > 0.1


def test_huge_scores_do_not_overflow():
    numbers = Numbers(query=[100.0], keys=[[20.0], [20.01], [-20.0]])
    ledger = explain(numbers)
    assert ledger.step("shifted").values.tolist() == pytest.approx([-1.0, 0.0, -4001.0])
    assert ledger.step("weight").values.tolist() == pytest.approx([1 / (1 + math.e), math.e / (1 + math.e), 0.0])
    assert ledger.residual < 1e-12


def test_very_negative_scores_do_not_vanish():
    ledger = explain(Numbers(query=[-1000.0], keys=[[1.0], [1.001]]))
    assert ledger.step("exp").formula == "exp(e − max e)"
    assert ledger.step("weight").values.tolist() == pytest.approx([math.e / (1 + math.e), 1 / (1 + math.e)])
    assert ledger.residual < 1e-12


def test_numbers_too_large_to_calculate_with_are_refused():
    with pytest.raises(UsageError, match=r"score, e = h_d · h_s, is not a finite number: these numbers are too large"):
        explain(Numbers(query=[1e200], keys=[[1e200], [1.0]]))


@pytest.mark.parametrize(
    ("change", "mistake"),
    [
        ({"score": "general"}, "score: dot has none; it belongs to local-m and local-p"),
        ({"position": 1}, "position: dot has none; it belongs to local-m, or to positions"),
        ({"heads": 2}, "heads: dot has none; it belongs to multi-head"),
        (
            {"feed_forward": {"W_1": [[1.0]], "W_2": [[1.0]]}},
            "feed_forward: dot has none; it belongs to multi-head",
        ),
        (
            {"positions": True, "values": [[1.0]]},
            "values: with positions, the keys are what is read; leave the values out",
        ),
        ({"coverage": [1.0]}, "coverage: dot does not read it; the mechanism coverage does"),
    ],
)
def test_what_the_mechanism_has_no_use_for_is_refused(change, mistake):
    with pytest.raises(ConfigError) as error:
        explain(Numbers(query=[1.0], keys=[[2.0]], **change))
    assert error.value.mistakes == (mistake,)


def test_the_formulas_say_what_was_calculated():
    local, heads = explain(EXAMPLES["local-p"].numbers), EXAMPLES["multi-head"].numbers
    assert local.step("weighted").formula == "α′·h_s"
    biased = heads.model_copy(update={"parameters": {**heads.parameters, "b_q": [1, 1, 1, 1]}})
    assert explain(biased).step("projected query", 1).formula == "Q = W_q q + b_q"
    assert explain(heads).step("projected query", 1).formula == "Q = W_q q"


def test_what_makes_one_emoji_of_two_is_no_sign_of_its_own():
    assert visible("👩‍👩‍👧") == "👩‍👩‍👧"
    assert visible("❤️‍🔥") == "❤️‍🔥"
    assert visible("a\u200db") == "a\\u200db"
    assert visible("👩\u200d") == "👩\\u200d"
    assert visible("👩\u200d\x1b") == "👩\\u200d\\x1b"


def test_nasty_tokens_are_text_in_markdown_and_terminal():
    tokens = ["a|b", "<script>", "line\nbreak", "\x1b[31m", "*`[x]"]
    numbers = Numbers(query=[1.0], keys=[[1.0]] * 5, values=[[1.0]] * 5, tokens=tokens, temperatures=[1, 0.5])
    page = to_markdown(explain(numbers))
    for table in re.findall(r"(?:^\|.*\n)+", page, flags=re.M):
        assert len({len(re.findall(r"(?<!\\)\|", row)) for row in table.splitlines()}) == 1
    assert "<script>" not in page
    assert "\x1b" not in page
    assert "&lt;script&gt;" in page
    assert r"\*\`\[x\]" in page
    console = Console(width=80, color_system=None, file=io.StringIO())
    print_ledger(explain(numbers), console)
    assert "\x1b" not in console.file.getvalue()
    assert r"line\nbreak" in console.file.getvalue()


def test_numbers_are_written_with_as_few_decimals_as_they_need():
    assert format_numbers(np.array([1.0, 2.0, -0.0])) == ["1", "2", "0"]
    assert format_numbers(np.array([0.25, 1.0])) == ["0.25", "1.00"]
    assert format_numbers(np.array([1 / 3, 12_345_678.5, 1e-9])) == ["0.3333", "1.23e+07", "1.00e-09"]


def test_a_long_vector_says_how_long_it_is():
    ledger = explain(Numbers(query=[0.5] * 50, keys=[[1.0] * 50]))
    assert "[0.5, 0.5, 0.5, … 50 numbers]  ‖3.5355‖" in to_markdown(ledger)


def test_korean_names_every_step():
    for name in EXAMPLES:
        page = to_markdown(explain(EXAMPLES[name].numbers), "ko")
        headings = re.findall(r"^- (\S.*?) `|\| ([^|<]+)<br>", page, flags=re.M)
        for heading in {first or second for first, second in headings} - set(EXAMPLES[name].numbers.tokens):
            assert re.search("[가-힣]", heading) or heading == "tanh", heading


def test_hidden_tokens_get_exactly_nothing():
    weights = explain(EXAMPLES["pooling"].numbers).step("weight").values
    assert weights[-1] == 0
    assert weights.sum() == pytest.approx(1)


def test_a_step_refuses_values_that_do_not_fit_its_axes():
    with pytest.raises(ValueError, match=r"step score: values \(2,\) do not fit axes \(3,\)"):
        LedgerStep("score", "e", np.zeros(2), (Axis("source", ("a", "b", "c")),))


def test_asking_for_a_step_that_is_not_there_names_those_that_are():
    with pytest.raises(KeyError, match=r"has no step 'bell'; it has .*weight"):
        explain(EXAMPLES["attention"].numbers).step("bell")


@pytest.mark.parametrize(
    ("change", "mistakes"),
    [
        ({"keys": [[1, 2], [3]]}, ["keys: row 2 has 1 number, row 1 has 2"]),
        (
            {"keys": [[]]},
            ["keys: row 1 is empty", "keys: of width 0, but dot needs that of the query, 2; general takes two widths"],
        ),
        (
            {"keys": [[1, 2, 3]], "values": [[1], [2]], "tokens": ["a", "b"]},
            [
                "values: 2 for 1 key; each key needs one",
                "tokens: 2 for 1 key; each key needs one",
                "keys: of width 3, but dot needs that of the query, 2; general takes two widths",
            ],
        ),
        ({"keep": [False, False]}, ["keep: a row with nothing to keep; at least one source token must be true"]),
        (
            {"keep": [False, True], "mechanism": "local-m"},
            ["keep: local-m needs its padding on the right only"],
        ),
        (
            {"mechanism": "general", "parameters": {"W": [[1, 2], [3, 4]]}},
            [
                "[parameters] W: general has no such parameter; there is W_a",
                "[parameters] W_a: is missing; general needs it, Q × K",
            ],
        ),
        (
            {"mechanism": "general", "parameters": {"W_a": [[1, 2, 3], [3, 4, 5]]}},
            ["[parameters] W_a: is 2 × 3, but Q × K needs K = 2"],
        ),
        (
            {"mechanism": "general", "parameters": {"W_a": [1, 2]}},
            ["[parameters] W_a: a vector where Q × K is needed"],
        ),
        (
            {"mechanism": "additive", "parameters": {"W": [[1, 2]], "U": [[1, 2], [1, 2]], "v": [1]}},
            ["[parameters] U: is 2 × 2, but A × K needs A = 1"],
        ),
        (
            {"mechanism": "location", "parameters": {"W_a": [[1, 2]]}},
            ["[parameters] W_a: has 1 rows for 2 source tokens"],
        ),
        ({"parameters": {"W_a": [1]}}, ["[parameters] W_a: dot has no such parameter; it has no parameters"]),
        (
            {
                "mechanism": "multi-head",
                "heads": 3,
                "parameters": {f"W_{part}": [[1, 0], [0, 1]] for part in "qkvo"},
            },
            ["heads: a width of 2 is not divisible by 3 heads"],
        ),
        ({"temperatures": [1, 0]}, ["temperatures: must be at least 1e-06; 0 itself is only their limit"]),
        (
            {"output": {"W_s": [[1, 2, 3]], "words": ["a", "b"]}},
            [
                "[output] W_s: needs rows of 4 numbers, the width of what it reads",
                "[output] words: 2 for 1 rows of W_s",
            ],
        ),
        (
            {"output": {"W_c": [[1, 2]], "W_s": [[1, 2]]}},
            [
                "[output] W_c: needs rows of 4 numbers, the width of what it reads",
                "[output] W_s: needs rows of 1 numbers, the width of what it reads",
            ],
        ),
        (
            {
                "mechanism": "multi-head",
                "parameters": {f"W_{part}": [[1, 0], [0, 1]] for part in "qkvo"},
                "feed_forward": {"W_1": [[1, 2, 3]], "b_1": [1, 2], "W_2": [[1], [2, 3]], "b_2": [1]},
                "output": {"W_s": [[1, 2, 3, 4]]},
            },
            [
                "[feed_forward] W_1: is 1 × 3, but needs 1 × 2",
                "[feed_forward] W_2: row 2 has 2 numbers, row 1 has 1",
                "[feed_forward] b_1: 2 numbers, but 1 are needed",
                "[feed_forward] b_2: 1 number, but 2 are needed",
                "feed_forward: stands in place of output; leave one of them out",
            ],
        ),
        (
            {
                "mechanism": "coverage",
                "coverage": [1],
                "parameters": {"W": [[1, 2]], "U": [[1, 2]], "v": [1], "w_c": [1]},
            },
            ["coverage: 1 for 2 keys; each key needs one"],
        ),
    ],
)
def test_numbers_that_do_not_fit_are_all_named_at_once(change, mistakes):
    numbers = Numbers.model_validate({"query": [1, 2], "keys": [[1, 2], [3, 4]], **change})
    with pytest.raises(ConfigError) as error:
        check_numbers(numbers, "mine.json")
    assert list(error.value.mistakes) == mistakes
    assert str(error.value).startswith("mine.json:\n- ")


def test_the_arithmetic_imports_no_torch():
    script = (
        "import sys; import nungil.inspection.arithmetic, nungil.inspection.markdown, nungil.inspection.terminal; "
        "from nungil.inspection.examples import EXAMPLES; "
        "nungil.inspection.arithmetic.work_out(EXAMPLES['attention'].numbers); print('torch' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout == "False\n"
    assert work_out(EXAMPLES["attention"].numbers)
