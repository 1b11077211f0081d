"""Studies: figures with two kinds of interval, plans, stopping and going on, reports; the answers to made-up runs."""

import csv
import io
import json
import operator
import signal
import sys

import numpy as np
import pytest
from command import invoke
from made_up import aer, around, bleu, runs, share
from matplotlib.figure import Figure
from scipy import stats

from nungil.batches.workers import map_as_done
from nungil.errors import CheckpointError, DivergedError, ResourceError, StoppedError, UsageError
from nungil.scoring.resampling import Interval
from nungil.studies import conduct, figures, study
from nungil.studies.claims import CLAIMS
from nungil.studies.figures import draw
from nungil.studies.finding import Chart, Finding, Point, Series, Table, comparison_table, number
from nungil.studies.job import Job, Record, read_record, tally, write_record
from nungil.studies.plan import Cost, Plan, spell
from nungil.studies.report import Account, page_of, section, write_report
from nungil.studies.runner import Ledger, run
from nungil.studies.scale import Scale
from nungil.studies.statistics import Comparison, Results, holm, over_seeds, p_over_seeds
from nungil.studies.study import best_rate, study_named
from nungil.studies.tables import to_csv, to_tex

HOSTILE = "</title><script>alert('눈')</script>&\"'"


def comparison(p, what="BLEU"):
    return Comparison(what, "a", "b", 1.0, Interval(1, 0, 2), None, p, None, p)


def test_the_interval_over_seeds_is_students():
    found = over_seeds(np.array([1.0, 2.0, 3.0]))
    assert found.score == 2
    assert found.high - 2 == pytest.approx(4.302652729911275 / 3**0.5)  # the table's t for two degrees of freedom
    assert 2 - found.low == pytest.approx(found.high - 2)


def test_p_over_seeds_is_that_of_the_paired_test():
    first, second = np.array([3.1, 2.7, 4.4, 3.9]), np.array([2.0, 2.9, 3.1, 3.0])
    assert p_over_seeds(first - second) == pytest.approx(stats.ttest_rel(first, second).pvalue)


@pytest.mark.parametrize(
    ("apart", "p"),
    [
        *[([0, 0, 0], 1.0), ([2, 2, 2], 0.25), ([2, 2, 2, 2, 2], 0.0625), ([3], 1.0)],
        ([98.4 - 98.2, 98.6 - 98.4, 98.2 - 98.0], 0.25),  # the same but for how numbers are rounded
        ([33.1 - 33.1, (0.1 + 0.2) - 0.3, 0], 1.0),
    ],
)
def test_seeds_that_all_say_the_same_are_coins_that_fell_alike(apart, p):
    assert p_over_seeds(np.array(apart, dtype=float)) == p


def test_holm_corrects_each_by_how_many_are_left():
    found = holm([comparison(0.01), comparison(0.04), comparison(0.03), comparison(0.5)])
    assert [one.p for one in found] == pytest.approx([0.04, 0.09, 0.09, 0.5])
    assert [one.stands for one in found] == [True, False, False, False]


def test_the_spread_of_seeds_and_that_of_test_sentences_are_told_apart():
    only_seeds = Results(runs("x", tallies={"BLEU": around(bleu, 50, step=4)})).estimate("x", "BLEU")
    assert only_seeds.mean == pytest.approx(50)
    assert only_seeds.seeds.high - only_seeds.seeds.low > 10
    assert only_seeds.test.high - only_seeds.test.low == pytest.approx(0, abs=1e-9)
    only_test = Results(runs("x", tallies={"BLEU": lambda _: bleu(50, spread=30)})).estimate("x", "BLEU")
    assert only_test.seeds.high == only_test.seeds.low
    assert only_test.test.high - only_test.test.low > 10


def test_a_difference_has_to_stand_against_both_seeds_and_sentences():
    better = runs("a", tallies={"BLEU": around(bleu, 60), "one sentence": lambda _: bleu(60, 2, spread=40)})
    worse = runs("b", tallies={"BLEU": around(bleu, 50), "one sentence": lambda _: bleu(50, 2, spread=0)})
    found = Results([*better, *worse])
    sure = found.compare("a", "b", "BLEU", "BLEU")
    assert sure.difference == pytest.approx(10)
    assert sure.p == max(sure.p_seeds, sure.p_test)
    unsure = found.compare("a", "b", "one sentence", "BLEU")
    assert unsure.p_test > 0.05
    assert not unsure.stands


def test_figures_of_the_same_sentences_are_resampled_together_and_those_of_others_are_not():
    """A model that is right in just the sentences in which a guess is, is as good as the guess in every resample."""
    rows = [(number % 2, 1) for number in range(40)]
    model, guess, others = tally("share", rows), tally("share", rows), tally("share", rows, "other sentences")
    found = Results(runs("x", tallies={"right": lambda _: model, "guess": lambda _: guess, "others": lambda _: others}))
    paired = found.against("x", {"right": 1.0, "guess": -1.0}, 0.0, "right")
    assert (paired.test.low, paired.test.high) == (0, 0)
    both = Results([*runs("x", tallies={"right": lambda _: model}), *runs("y", tallies={"right": lambda _: guess})])
    assert both.compare("x", "y", "right", "right").test[1:] == (0, 0), "of two arms, too"
    apart = found.against("x", {"right": 1.0, "others": -1.0}, 0.0, "right")
    assert apart.test.high - apart.test.low > 2 * 196 * (0.25 / 40) ** 0.5  # wider than the spread of either alone


def test_a_handful_of_sentences_tells_nothing_however_often_it_is_drawn():
    ours, theirs = runs("a", 5, {"BLEU": around(bleu, 60)}), runs("b", 5, {"BLEU": around(bleu, 50, 0.3)})
    assert Results([*ours, *theirs]).compare("a", "b", "BLEU", "BLEU").p_test == pytest.approx(2 / 1001)
    few = [one.model_copy(update={"tallies": {"BLEU": one.tallies["BLEU"].model_copy(
        update={"rows": one.tallies["BLEU"].rows[:3]})}}) for one in (*ours, *theirs)]  # fmt: skip
    assert Results(few).compare("a", "b", "BLEU", "BLEU").p_test == 0.25


def test_a_fall_is_the_difference_of_two_groups():
    tallies = {"BLEU/short": around(bleu, 80), "BLEU/long": around(bleu, 30)}
    found = Results(runs("x", tallies=tallies)).estimate("x", {"BLEU/short": 1, "BLEU/long": -1})
    assert found.mean == pytest.approx(50)
    assert found.each == pytest.approx([50] * 5)


def test_an_alignment_error_is_the_one_of_och_and_ney():
    assert Results(runs("x", tallies={"AER": lambda _: aer(25)})).estimate("x", "AER").mean == pytest.approx(25)


def test_arms_are_compared_on_the_seeds_that_both_have():
    ours, theirs = runs("a", 3, {"BLEU": around(bleu, 60)}), runs("b", 5, {"BLEU": around(bleu, 50)})
    assert Results([*ours, *theirs]).compare("a", "b", "BLEU", "BLEU").difference == pytest.approx(10)
    with pytest.raises(UsageError, match="there is no run of c"):
        Results(ours).compare("a", "c", "BLEU", "BLEU")
    with pytest.raises(UsageError, match="has no figure TER"):
        Results(ours).estimate("a", "TER")


def test_the_rate_with_the_lowest_validation_loss_is_chosen_and_diverged_ones_are_not():
    def swept(rate, loss):
        return Record(job=Job(arm="x", seed=9, stage="sweep", rate=rate), validation=loss)

    assert best_rate("x", [swept(0.1, None), swept(0.01, 2.0), swept(0.001, 2.5)]) == 0.01
    assert best_rate("x", [swept(0.01, 2.0), swept(0.001, 2.0)]) == 0.001
    with pytest.raises(DivergedError, match="x: training diverged at every learning rate"):
        best_rate("x", [swept(0.1, None)])


def test_numbers_have_a_true_minus_and_zero_has_none():
    assert [number(-1.25), number(-0.01), number(12345.6, 0)] == ["−1.2", "0.0", "12,346"]


# Made-up runs


def order_runs(with_positions, without, shuffled):
    same = "the same after shuffling"
    first = {
        "BLEU": around(bleu, with_positions),
        "chrF++": around(share, 70),
        same: lambda seed: share(shuffled - (shuffled < 50) * seed / 10),
    }
    # The seeds of each differ in their own way: a difference that is the same for every seed is no more than a coin.
    second = {"BLEU": around(bleu, without, 0.3), "chrF++": around(share, 60), same: lambda _: share(100)}
    return Results([*runs("with positions", tallies=first), *runs("without positions", tallies=second)])


@pytest.mark.parametrize(
    ("scores", "verdict", "answer"),
    [
        ((60, 40, 5), "holds", "it translates worse: 60.0 BLEU with positions and 40.0 without."),
        ((50, 50, 5), "holds in part", "no loss of quality can be told: 50.0 BLEU with positions and 50.0 without."),
        ((40, 60, 100), "does not hold", "it translates better: 40.0 BLEU with positions and 60.0 without."),
        ((50, 50, 100), "cannot be told", "no loss of quality can be told"),
    ],
)
def test_order_answers_what_its_runs_say(scores, verdict, answer):
    found = study_named("order").answer(order_runs(*scores))
    assert found.verdict == verdict
    assert answer in found.answer
    assert found.answer.startswith("Without positions 100.0% of the translations stay the same when the words")


LESS, MORE = (f"with attention they fall {how} than without" for how in ("less", "more"))
SAME = "no difference in the fall can be told between the first two"


def length_runs(plain, attention, found):
    """BLEU of short and of long sentences, and words that the plain network finds in the first and the last quarter."""
    arms = {"plain seq2seq": plain, "with attention": attention, "Transformer": (90, 85)}
    made = []
    for place, (arm, (short, long)) in enumerate(arms.items()):
        quarters = dict(zip(("first", "second", "third", "last"), (found[0], 50, 50, found[1]), strict=True))
        tallies = {"BLEU/3–5": around(bleu, 40), "BLEU/21–30": around(bleu, 30)}
        step = 0.3 + 0.1 * place  # no difference is the same for every seed
        tallies |= {"words/3–5": around(share, short, step), "words/21–30": around(share, long, 2 * step)}
        tallies |= {f"found/{name}": around(share, value) for name, value in quarters.items()}
        tallies["found/first"] = around(share, found[0], 0.7)
        made += runs(arm, tallies=tallies)
    return Results(made)


@pytest.mark.parametrize(
    ("plain", "attention", "found", "verdict", "lost", "fall"),
    [
        ((80, 20), (80, 70), (30, 60), "holds", "early words are lost more", LESS),
        ((80, 20), (80, 70), (60, 30), "holds in part", "it is the late words that are lost more", LESS),
        ((80, 70), (80, 20), (50, 50), "does not hold", "no difference can be told between them", MORE),
        ((80, 50), (80, 50), (50, 50), "cannot be told", "no difference can be told between them", SAME),
    ],
)
def test_length_answers_what_its_runs_say(plain, attention, found, verdict, lost, fall):
    answered = study_named("length").answer(length_runs(plain, attention, found))
    assert answered.verdict == verdict
    assert f"from {plain[0]}.0% to {plain[1]}.0% without attention" in answered.answer
    assert answered.answer.endswith(f"; {fall}.")
    assert lost in answered.details[2]


# Plans, running, stopping and going on


SMALL = Scale(
    quick=True, pairs=60, lengths=(3, 5), tests=10, updates=4, sweep_updates=2, batch=128, rates=(0.003, 0.01)
)


def plan_of(processes=2):
    jobs = [Job(arm=arm, seed=seed, rate=0.01) for seed in (1, 2, 3) for arm in ("a", "b")]
    sweep = [Job(arm=arm, seed=9, stage="sweep", rate=rate) for arm in ("a", "b") for rate in (0.003, 0.01)]
    costs = (Cost("a", 0.5, 2.0, 1_000), Cost("b", 1.0, 4.0, 20_000))
    return Plan("made-up", SMALL, 3, processes, "equal updates", tuple(sweep), tuple(jobs), costs)


def test_a_plan_is_runs_times_seconds_shared_out():
    plan = plan_of()
    sweep, main = 2 * (2 * 0.5) + 2 * (2 * 1.0), 3 * (4 * 0.5 + 2) + 3 * (4 * 1.0 + 4)
    assert plan.left((*plan.sweep, *plan.main)) == (sweep + main) / 2 == 21
    assert plan.left(plan.main[1:2]) == 8  # a run cannot be shared out
    assert plan_of(1).left(plan.main) == main
    lines = plan.lines()
    assert lines[0] == "2 arms × 3 seeds = 6 runs of 4 updates, and 4 of 2 that choose learning rates."
    assert lines[1] == "One budget: equal updates."
    assert lines[3] == "  b     20,000 parameters     8.0 s a run"
    assert lines[4] == "About 25 seconds with 2 processes at a time; at most 3 minutes are meant on two cores."


@pytest.mark.parametrize(
    ("seconds", "spelt"),
    [(0.2, "1 second"), (2, "2 seconds"), (89, "89 seconds"), (90, "1.5 minutes"), (1200, "20 minutes")],
)
def test_times_are_spelt_as_people_say_them(seconds, spelt):
    assert spell(seconds) == spelt


def test_answers_come_as_they_are_done_and_each_item_is_answered_once():
    found = [one for one in map_as_done(operator.neg, range(1, 8), 2) if one is not None]
    assert sorted(found) == [-7, -6, -5, -4, -3, -2, -1]
    found = [one for one in map_as_done(repr, [None, 3, None, None, 5], 2) if one is not None]
    assert sorted(found) == ["3", "5", "None", "None", "None"], "an item that is nothing is an item"


class MadeUp:
    """A study whose runs take no time: what is performed is written down."""

    name, alone = "made-up", False

    def __init__(self):
        self.performed = []

    def arms(self):
        return [type("Arm", (), {"name": name, "model": object()}) for name in ("a", "b")]

    def main_jobs(self, seeds, swept):
        rates = {arm: best_rate(arm, swept) for arm in ("a", "b")}
        return [Job(arm=arm, seed=seed, rate=rates[arm]) for seed in range(1, seeds + 1) for arm in ("a", "b")]

    def perform(self, job, scale, material):
        del scale, material
        self.performed.append(job.key)
        loss = abs(job.rate - (0.01 if job.arm == "a" else 0.003))
        return Record(job=job, validation=loss, seconds=1, tallies={"BLEU": bleu(50)})


@pytest.fixture
def made_up(monkeypatch):
    one = MadeUp()
    monkeypatch.setattr(study, "study_named", lambda _: one)
    monkeypatch.setattr(study, "material_of", lambda *_: None)
    return one


def test_rates_are_chosen_first_and_every_finished_run_is_a_file(made_up, tmp_path):
    said = []
    records = run(made_up, plan_of(1), Ledger(tmp_path / "x", {"study": "made-up"}), (), said.append)
    assert made_up.performed[:4] == ["sweep-a-0.003", "sweep-a-0.01", "sweep-b-0.003", "sweep-b-0.01"]
    assert made_up.performed[4:] == ["a-seed-1", "b-seed-1", "a-seed-2", "b-seed-2", "a-seed-3", "b-seed-3"]
    assert "Learning rates: a 0.01, b 0.003" in said
    assert {one.job.rate for one in records if one.job.stage == "main" and one.job.arm == "b"} == {0.003}
    assert said[0].startswith("sweep-a-0.003: 1 s, validation loss 0.01; 9 runs left, about ")
    assert "; 1 run left, about " in said[-2]
    assert said[-1].endswith("; none left")
    assert len(list((tmp_path / "x" / "runs").glob("*.json"))) == 10


def test_a_study_that_is_stopped_keeps_its_runs_and_goes_on_with_the_others(made_up, tmp_path):
    def stopping(line):
        if line.startswith("b-seed-1"):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(StoppedError, match=r"stopped; 6 finished runs kept in .* the same command goes on"):
        run(made_up, plan_of(1), Ledger(tmp_path / "x", {"study": "made-up"}), (), stopping)
    first, made_up.performed = made_up.performed, []
    records = run(made_up, plan_of(1), Ledger(tmp_path / "x", {"study": "made-up"}), (), lambda _: None)
    assert made_up.performed == ["a-seed-2", "b-seed-2", "a-seed-3", "b-seed-3"]
    assert len(first) == 6
    assert len(records) == 10


def test_a_run_in_this_process_is_stopped_in_its_middle_and_made_again(made_up, tmp_path, monkeypatch):
    whole = made_up.perform

    def stopped(job, scale, material):
        if job.key == "a-seed-2":
            signal.raise_signal(signal.SIGINT)
        return whole(job, scale, material)

    monkeypatch.setattr(made_up, "perform", stopped)
    with pytest.raises(StoppedError, match="stopped; 6 finished runs kept"):
        run(made_up, plan_of(1), Ledger(tmp_path / "x", {"study": "made-up"}), (), lambda _: None)
    assert made_up.performed[-1] == "b-seed-1", "the run that the signal met was not gone on with"
    monkeypatch.setattr(made_up, "perform", whole)
    assert len(run(made_up, plan_of(1), Ledger(tmp_path / "x", {"study": "made-up"}), (), lambda _: None)) == 10


def test_a_folder_holds_one_study_of_one_size_on_one_corpus(tmp_path):
    Ledger(tmp_path / "x", {"study": "order", "data": "1"})
    with pytest.raises(UsageError, match=r"x: holds a study that differs in data; go on elsewhere with --out"):
        Ledger(tmp_path / "x", {"study": "order", "data": "2"})
    (tmp_path / "y").mkdir()
    (tmp_path / "y" / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match="y: there is something else in this folder"):
        Ledger(tmp_path / "y", {"study": "order"})
    with pytest.raises(
        UsageError, match=r"thesis.tex: this is a file, and a study makes a folder; choose another name"
    ):
        Ledger(tmp_path / "y" / "thesis.tex", {"study": "order"})


def test_a_record_comes_back_as_it_was_and_a_broken_one_is_named(tmp_path):
    record = runs("a, b/c", 1, {"BLEU": lambda _: bleu(50)}, {"speed": 3.5}, seconds=1.5)[0]
    write_record(tmp_path, record)
    (path,) = tmp_path.iterdir()
    assert path.name == "a--b-c-seed-1.json"
    assert read_record(path) == record
    path.write_text(json.dumps({"job": {"arm": "a", "seed": -1}}))
    with pytest.raises(CheckpointError, match=r"seed-1.json: this is no record of a run; remove it"):
        read_record(path)


# Reports


def account(text=HOSTILE):
    chart = Chart("chart", text, text, text, (Series(text, (Point("눈 $x$", 1, 0.5, 2), Point("b", 2, 1, 3))),))
    finding = Finding(
        f"The answer: {text}", "does not hold", (text,), (Table(text, (text, "b"), ((text, "−1"),)),), (chart,),
        (comparison(0.01, text),), (text,),
    )  # fmt: skip
    records = tuple(runs("=cmd", 2, {"BLEU": lambda _: bleu(50)}))
    return Account(CLAIMS["order"], text, finding, records, ((text, text),), "nungil study order --quick")


def test_a_report_opens_with_the_answer_and_says_plainly_that_a_claim_does_not_hold():
    page = section(account("plain"))
    assert page.index("The answer: plain") < page.index("The claim:")
    assert "In this measurement the claim does not hold." in page


@pytest.mark.filterwarnings("ignore:Glyph")
def test_a_report_escapes_hostile_text_and_fetches_nothing(tmp_path):
    page = write_report(account(), tmp_path).read_text()
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'; img-src data:" in page
    assert "http:" not in page and "https:" not in page and 'src="data:image/svg+xml;base64,' in page
    assert "nungil study order --quick" in page
    assert f"numpy {np.__version__}" in page
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {"report.html", "chart.pdf", "chart.png", "results.csv", "results.tex"}
    assert (tmp_path / "chart.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "chart.pdf").read_bytes().startswith(b"%PDF")


def test_the_csv_has_every_figure_of_every_run_and_no_cell_is_a_formula():
    rows = list(csv.DictReader(io.StringIO(to_csv("order", account().records))))
    assert [(row["arm"], row["seed"], row["figure"]) for row in rows[:2]] == [
        ("'=cmd", "1", "BLEU"),
        ("'=cmd", "1", "training seconds"),
    ]
    assert float(rows[0]["value"]) == pytest.approx(50)


def test_latex_is_escaped():
    text = to_tex([Table("a\nb", ("x_1", "50%"), (("\\input{x}", "−1 ±2"),))])
    assert text.splitlines()[0] == "% a b"
    assert "x\\_1 & 50\\% \\\\" in text
    assert "\\textbackslash{}input\\{x\\} & $-$1 $\\pm$2 \\\\" in text


def test_comparisons_show_both_intervals_and_both_chances():
    ours, theirs = runs("a", 5, {"BLEU": around(bleu, 60)}), runs("b", 5, {"BLEU": around(bleu, 50, 0.3)})
    table = comparison_table(holm([Results([*ours, *theirs]).compare("a", "b", "BLEU", "BLEU")]))
    (row,) = table.rows
    assert row[:2] == ("BLEU: a − b", "10.0")
    assert row[-1] == "yes"
    assert len(row) == len(table.head)
    small = ours[0].model_copy(update={"figures": {"τ": 0.25}}), ours[1].model_copy(update={"figures": {"τ": 0.27}})
    (row,) = comparison_table([Results(small).against("a", "τ", 0.1, "τ above a tenth")]).rows
    assert row[:2] == ("τ above a tenth: a", "0.160"), "nothing stands behind a minus, and digits fit the figure"


@pytest.mark.parametrize("kind", ["lines", "dots"])
@pytest.mark.parametrize("form", ["png", "pdf", "svg"])
def test_the_same_chart_is_the_same_bytes(kind, form):
    points = (Point("a", 1, 0.5, 2, (0.7, 1.4), (0.9, 1.1)), Point("b", 2, 1, 3))
    chart = Chart("x", "title", "across", "up", (Series("s", points),), kind, rule=("guess", 1.5))
    assert draw(chart, form) == draw(chart, form)


@pytest.mark.parametrize(("kind", "limits"), [(figures._lines, "get_ylim"), (figures._dots, "get_xlim")])
@pytest.mark.parametrize(("up", "most"), [("right, %", figures.PERCENT), ("BLEU", 125)])
def test_an_axis_reaches_no_further_than_its_figures_can(kind, limits, up, most):
    axes = Figure().add_subplot()
    kind(axes, Chart("x", "title", "across", up, (Series("s", (Point("a", 37, -60, 120), Point("b", 80, 79, 81))),)))
    low, high = getattr(axes, limits)()
    assert low == 0, "no share is negative, whatever an interval over three seeds says"
    assert 100 < high <= 1.1 * most
    assert (high == figures.PERCENT) == ("%" in up)


def test_a_page_has_its_title_escaped():
    assert "<title>&lt;b&gt;</title>" in page_of("<b>", "")


# The command


def test_without_a_name_the_studies_are_listed_with_their_claims():
    found = invoke("study")
    lines = found.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(CLAIMS)
    assert lines[4].endswith("A Transformer does not know the order of words unless positions tell it. (post 002)")


def test_a_misspelt_study_is_answered_with_the_one_that_was_meant():
    found = invoke("study", "lenght")
    assert (found.returncode, found.stderr) == (2, "nungil: there is no study lenght; did you mean length?\n")


def test_a_missing_extra_is_one_line_with_the_command_that_installs_it(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    found = invoke("study", "order", "--quick", "--out", str(tmp_path / "x"))
    assert found.returncode == 5
    assert found.stderr == "nungil: a study needs scipy, which is not installed: pip install 'nungil[study]'\n"
    assert not (tmp_path / "x").exists()


def test_the_command_that_repeats_a_study_is_exact():
    asked = conduct.Asked(True, ("my pairs.tsv",), None, 7)
    assert asked.command("length") == "nungil study length --quick --seeds 7 --data 'my pairs.tsv'"
    assert str(asked.folder("length")) == "runs/studies/length-quick"


def test_all_studies_are_of_snow():
    found = invoke("study", "all", "--data", "mine.tsv")
    assert found.returncode == 2
    assert found.stderr.startswith("nungil: nungil study all is about snow")


def test_a_missing_package_raises_the_right_error(monkeypatch):
    from nungil.studies.extras import needed

    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    with pytest.raises(
        ResourceError, match=r"needs scikit-learn, which is not installed: pip install 'nungil\[study\]'"
    ):
        needed("sklearn.linear_model")


def test_tallies_hold_plain_numbers():
    assert tally("share", np.array([[1, 2]])).rows == ((1.0, 2.0),)
