"""Every study in a tiny form, from its runs to its report; what it says is computed from what its runs left."""

import csv
import io
import json
from dataclasses import replace
from importlib.metadata import EntryPoint
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from command import invoke

from nungil.attention import Dot, Score
from nungil.errors import CorpusError, DivergedError, UsageError
from nungil.model import scores
from nungil.model.scores import ScoreSettings, build_score
from nungil.scoring.alignment import parse_links
from nungil.studies import examination, looking, parallel
from nungil.studies.arm import recurrent
from nungil.studies.claims import CLAIMS
from nungil.studies.conduct import Asked, account_of, planned, study, study_all
from nungil.studies.gradient import BINS, by_distance, gradients
from nungil.studies.homonyms import is_right
from nungil.studies.job import Job
from nungil.studies.lesson import Course, Desk, build, teach
from nungil.studies.material import given, snow, snow_homonyms, snow_senses
from nungil.studies.scale import Scale
from nungil.studies.study import Study, study_named
from nungil.text.snow.corpus import snow_pairs, split_of

pytestmark = pytest.mark.usefixtures("as_installed")

TINY = {"pairs": 150, "tests": 12, "updates": 3, "sweep_updates": 2, "batch": 256, "rates": (0.003, 0.01)}


def tiny(name):
    scale = study_named(name).scale(True)
    if name == "parallel":
        return scale
    longest = (3, 30) if name in ("length", "gradient") else (3, 7)
    return replace(scale, **{**TINY, "lengths": longest, "pairs": 300 if name == "homonyms" else 150})


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """What takes long and is not the point."""
    monkeypatch.setattr(looking, "JUDGED", 2)
    monkeypatch.setattr(parallel, "ROUNDS", 1)
    monkeypatch.setattr(parallel, "LENGTHS", (2, 3))
    monkeypatch.setattr(parallel, "BATCHES", (1, 2))


def nobody(line):
    del line


@pytest.mark.slow
@pytest.mark.parametrize("name", CLAIMS)
def test_each_study_goes_from_runs_to_a_report_and_its_answer_comes_from_its_runs(name, tmp_path, monkeypatch):
    asked, said = Asked(quick=True, out=tmp_path / "x", seeds=2), []
    first = study(name, asked, said.append, scale=tiny(name), processes=1)
    arms = [arm.name for arm in study_named(name).arms()]
    page = first.report.read_text()
    assert f"nungil study {name} --quick --seeds 2" in page
    chosen = [line for line in said if line.startswith("Learning rates: ")]
    assert ("it is the highest tried, and a higher one may be better" in page) == any(
        " 0.01" in line for line in chosen
    )
    assert said[0].startswith("Measuring how long each arm takes")
    assert any(line.startswith(f"{len(arms)} arms × 2 seeds = {2 * len(arms)} runs") for line in said)
    for chart in first.finding.charts:
        assert {f"{chart.name}.pdf", f"{chart.name}.png"} <= {path.name for path in (tmp_path / "x").iterdir()}
    rows = list(csv.DictReader(io.StringIO((tmp_path / "x" / "results.csv").read_text())))
    assert {row["arm"] for row in rows} == set(arms)
    assert {row["seed"] for row in rows} == {"1", "2"}

    # Another number in the records, and no run at all: the tables change.
    def no_run(*_):
        raise AssertionError("nothing is left to run")

    monkeypatch.setattr(type(study_named(name)), "perform", no_run)
    sizes = (tiny(name), 1)
    assert account_of(name, asked, said.append, sizes).finding == first.finding
    assert said[-1].endswith("runs are done already; the report is written anew.")
    changed = tmp_path / "x" / "runs" / f"{''.join(c if c.isalnum() else '-' for c in arms[0])}-seed-1.json"
    record = json.loads(changed.read_text())
    for found in record["tallies"].values():
        found["rows"] = [[value + 1 for value in row] for row in found["rows"]]
    record["figures"] = {figure: value + 1 for figure, value in record["figures"].items()}
    changed.write_text(json.dumps(record))
    again = account_of(name, asked, nobody, sizes)
    assert again.finding.tables != first.finding.tables


@pytest.mark.slow
def test_runs_in_two_processes_are_those_of_one(tmp_path):
    scale = tiny("order")
    for processes, folder in ((1, "one"), (2, "two")):
        study("order", Asked(out=tmp_path / folder, seeds=2), nobody, scale=scale, processes=processes)
    for path in (tmp_path / "one" / "runs").iterdir():
        ours, theirs = (json.loads((tmp_path / one / "runs" / path.name).read_text()) for one in ("one", "two"))
        assert (ours["tallies"], ours["validation"]) == (theirs["tallies"], theirs["validation"])


@pytest.mark.slow
def test_all_studies_make_one_report(tmp_path, monkeypatch):
    monkeypatch.setattr("nungil.studies.conduct.CLAIMS", {name: CLAIMS[name] for name in ("order", "classifier")})
    for name in ("order", "classifier"):
        monkeypatch.setattr(type(study_named(name)), "scale", lambda _, quick: tiny_of(quick))
    out = tmp_path / "all"
    accounts, report = study_all(Asked(quick=True, out=out, seeds=2), nobody, 1)
    page = report.read_text()
    assert f"<pre>nungil study all --quick --seeds 2 --out {out}</pre>" in page
    for one in accounts:
        assert f'href="#{one.claim.name}"' in page
        assert f"<pre>{one.command}</pre>" in (out / one.claim.name / "report.html").read_text()
        assert one.command == f"nungil study {one.claim.name} --quick --seeds 2 --out {out / one.claim.name}"
    said = []
    assert study_all(Asked(quick=True, out=out, seeds=2), said.append, 1)[0] == accounts
    assert sum(line.endswith("the report is written anew.") for line in said) == 2
    with pytest.raises(UsageError, match="order: there is something else in this folder; choose another with --out"):
        study_all(Asked(quick=True, out=out / "order", seeds=2), nobody, 1)


def tiny_of(quick):
    return Scale(quick, **TINY, lengths=(3, 7))


def test_the_plan_of_a_study_is_printed_before_anything_starts(tmp_path, monkeypatch):
    monkeypatch.setattr(type(study_named("order")), "scale", lambda _, quick: tiny_of(quick))
    monkeypatch.chdir(tmp_path)
    found = invoke("study", "order", "--plan")
    lines = found.stdout.splitlines()
    assert lines[:3] == [
        "order",
        "2 arms × 5 seeds = 10 runs of 3 updates, and 4 of 2 that choose learning rates.",
        "One budget: equal updates.",
    ]
    assert list(tmp_path.iterdir()) == []


# What it is trained and tested on


SCALE = Scale(True, **TINY, lengths=(3, 9))


def test_no_test_sentence_is_trained_on():
    found = snow(replace(SCALE, pairs=400), groups=((3, 5), (6, 9)))
    assert not {one.target for one in found.train} & {one.target for one in (*found.valid, *found.test)}
    assert [split_of(one.target) for one in found.test] == ["test"] * len(found.test)
    assert [one.group for one in found.test] == ["3–5"] * 6 + ["6–9"] * 6
    lengths = [len(one.source.split()) for one in found.test]
    assert max(lengths[:6]) <= 5 < min(lengths[6:])


def test_a_homonym_has_its_word_its_rivals_and_the_distance_of_what_settles_it():
    found = snow_homonyms(replace(SCALE, pairs=2_000, tests=60))
    assert len(found.test) == 60
    for one in found.test:
        english = {word.strip(",").lower() for word in one.target.split()}
        assert one.homonym.right in english
        assert not one.homonym.rivals & {one.homonym.right}
        assert one.homonym.distance >= 1
        assert is_right(one.target, one)
        assert not is_right(f"{one.target} {next(iter(one.homonym.rivals))}", one)
        assert not is_right("", one)
    assert 0.2 < np.mean([one.homonym.common for one in found.test]) < 0.95


def write_pairs(path, count):
    path.write_text("".join(f"{one.english}\t{one.korean}\n" for one in snow_pairs(count, lengths=(3, 9))))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["length", "looking"])
def test_a_study_of_a_users_own_pairs_does_without_gold(name, tmp_path):
    write_pairs(tmp_path / "pairs.tsv", 400)
    asked = Asked(quick=True, files=(str(tmp_path / "pairs.tsv"),), out=tmp_path / "x", seeds=2)
    found = study(name, asked, nobody, scale=replace(tiny(name), longest=40), processes=1)
    assert "pairs.tsv" in found.report.read_text()
    assert not any("AER" in cell for table in found.finding.tables for row in table.rows for cell in row)


def test_a_users_data_is_cut_to_what_a_study_can_afford(tmp_path):
    write_pairs(tmp_path / "pairs.tsv", 400)
    found = given([str(tmp_path / "pairs.tsv")], replace(SCALE, pairs=100), "translate")
    assert (len(found.train), len(found.test)) == (100, 12)
    with pytest.raises(CorpusError, match="too few records have at most 1 tokens"):
        given([str(tmp_path / "pairs.tsv")], replace(SCALE, longest=1), "translate")
    write_pairs(tmp_path / "few.tsv", 40)
    with pytest.raises(
        CorpusError, match=r"few.tsv: too few records to train on for a study: \d+; 50 or more are needed"
    ):
        given([str(tmp_path / "few.tsv")], SCALE, "translate")


def test_sentences_that_are_all_as_long_are_no_data_for_length(tmp_path):
    alike = [one for one in snow_pairs(3_000, lengths=(3, 9)) if len(one.english.split()) == 5]
    (tmp_path / "five.tsv").write_text("".join(f"{one.english}\t{one.korean}\n" for one in alike))
    with pytest.raises(CorpusError, match=r"five.tsv: the test sentences have about as many words each, 5 at most"):
        study_named("length").material(SCALE, [str(tmp_path / "five.tsv")])


def test_data_of_another_kind_is_called_by_its_name_and_no_option_is_named_that_a_study_has_not(tmp_path):
    write_pairs(tmp_path / "pairs.tsv", 400)
    with pytest.raises(CorpusError, match=r"pairs.tsv: these look like pairs of sentences; this study takes labelled"):
        given([str(tmp_path / "pairs.tsv")], SCALE, "classify")
    rows = "".join(
        f"{one.english},{place % 2}\n" for place, one in enumerate(snow_pairs(400)) if "," not in one.english
    )
    (tmp_path / "texts.csv").write_text(f"text,label\n{rows}")
    with pytest.raises(CorpusError, match=r"texts.csv: these look like labelled texts; this study takes pairs of sent"):
        given([str(tmp_path / "texts.csv")], SCALE, "translate")
    (tmp_path / "alike.tsv").write_text("".join(f"the same {n}\t똑같은 {n}\n" for n in range(400)))
    with pytest.raises(CorpusError, match=r"alike.tsv: .* too alike to set 20 of them aside$"):
        given([str(tmp_path / "alike.tsv")], SCALE, "translate")


def test_parallel_takes_the_vocabulary_of_a_users_data(tmp_path):
    write_pairs(tmp_path / "pairs.tsv", 400)
    parallel_study = study_named("parallel")
    found = parallel_study.material(parallel_study.scale(True), [str(tmp_path / "pairs.tsv")])
    assert found.origin.endswith("pairs.tsv")


def test_a_study_that_needs_truth_refuses_other_data():
    with pytest.raises(
        UsageError, match="nungil study homonyms needs sentences whose senses are known, which only snow"
    ):
        planned("homonyms", Asked(files=("mine.tsv",)))


def test_another_corpus_has_another_fingerprint():
    assert snow(SCALE).fingerprint == snow(SCALE).fingerprint
    assert snow(SCALE).fingerprint != snow_senses(SCALE).fingerprint


# Training and measuring


def test_the_same_seed_trains_the_same_model_and_another_does_not():
    material, arm = snow(SCALE), recurrent("x", score={"name": "general"}, width=16, embedding=8)
    losses = [teach(arm, material, Course(3, 0.01, seed, 256)).validation for seed in (1, 1, 2)]
    assert losses[0] == losses[1] != losses[2]


def test_frozen_embeddings_stay_as_they_were_drawn():
    material = snow(SCALE)
    for frozen in (True, False):
        arm = recurrent("x", frozen=frozen, tie=False, width=16, embedding=8)
        before = build(arm, material, 5).source_embedding.table.weight
        after = teach(arm, material, Course(3, 0.01, 5, 256)).model.source_embedding.table.weight
        assert torch.equal(before, after) == frozen


def test_a_rate_that_diverges_is_a_result_of_the_sweep_and_ends_a_run_that_counts(monkeypatch):
    def diverging(*_):
        raise DivergedError("the gradient was not finite")
        yield

    monkeypatch.setattr("nungil.studies.lesson.train", diverging)
    material = snow(SCALE)
    assert teach(recurrent("x", width=16, embedding=8), material, Course(14, 10.0, 1, 256)).validation is None
    job = Job(arm="with positions", seed=1, rate=10.0)
    swept = study_named("order").perform(job.model_copy(update={"stage": "sweep"}), SCALE, material)
    assert swept.validation is None
    with pytest.raises(DivergedError, match="with positions, seed 1: training diverged at a rate of 10"):
        study_named("order").perform(job, SCALE, material)


def test_gradients_are_those_of_one_step_at_one_word():
    """Against a difference quotient at one source word."""
    material = snow(SCALE, groups=((3, 5),))
    model = build(recurrent("x", cell="rnn", width=16, embedding=8), material, 3).double().eval()
    batch = Desk(material, material.test).batch([0, 1])
    steps = dict(gradients(model, batch))
    vectors = model.source_embedding(batch.source).detach()

    def log_prob(moved):
        decoded = model.decode(batch.target_in, model.begin(model.encoder(moved, batch.source_keep)))
        return model.logits(decoded.features).log_softmax(-1)[1, 2, batch.target_out[1, 2]].detach()

    slope = []
    for place in range(vectors.shape[2]):
        step = torch.zeros_like(vectors)
        step[1, 1, place] = 1e-5
        slope.append(float(log_prob(vectors + step) - log_prob(vectors - step)) / 2e-5)
    assert float(steps[2][1, 1]) == pytest.approx(np.linalg.norm(slope), rel=1e-5)


def test_every_sure_link_is_counted_in_the_bin_of_its_distance():
    material = snow(SCALE, groups=((3, 5), (20, 24)))
    found = by_distance(build(recurrent("x", width=16, embedding=8), material, 3), material)
    sure = [link for one in material.test for link in one.links.split() if "-" in link]
    assert sum(row[1] for name in BINS for row in found[name].rows) == len(sure)
    assert all(row[1] == 0 for row in found[BINS[-1]].rows[:6])  # the short sentences come first


class Knowing:
    """In place of the desk that reads links from heads: every link is right."""

    def __init__(self, gold):
        self.gold = [parse_links(one) for one in gold]

    def add(self, place, record):
        del place, record

    def choose(self):
        return SimpleNamespace(chosen_on=SimpleNamespace(layer=0, head=0, reading="output"))

    def links(self, which, rows):
        del which
        return [self.gold[row].sure for row in rows]


def test_links_are_counted_against_the_gold_of_their_own_sentences(monkeypatch):
    monkeypatch.setattr(examination, "Heads", Knowing)
    monkeypatch.setattr(examination, "as_translator", lambda *_: SimpleNamespace(look_at_pairs=lambda _: []))
    found = examination.alignment(None, snow(SCALE))["AER"]
    assert len(found.rows) == TINY["tests"] // 2
    assert all(made == hit == sure for hit, _, made, sure in found.rows)


def test_links_and_the_diagonal_are_counted_on_the_same_sentences():
    scale = tiny("looking")
    found = study_named("looking").perform(Job(arm="dot", seed=1, rate=0.01), scale, snow(scale)).tallies
    ours, theirs = found["AER"], found[looking.DIAGONAL]
    assert ours.part == theirs.part
    assert [row[3] for row in ours.rows] == [row[3] for row in theirs.rows]


# A user's own score


class Halved(Dot):
    def __init__(self, query_size, key_size):
        super().__init__(query_size, key_size)

    def compare(self, query, memory):
        return super().compare(query, memory) / 2


def not_a_score(query_size, key_size):
    return torch.nn.Linear(query_size, key_size)


@pytest.fixture
def installed(monkeypatch):
    points = [
        EntryPoint("halved", "test_study_runs:Halved", scores.GROUP),
        EntryPoint("wrong", "test_study_runs:not_a_score", scores.GROUP),
    ]
    monkeypatch.setattr(scores, "entry_points", lambda group: points if group == "nungil.scores" else [])


@pytest.mark.usefixtures("installed")
def test_a_score_of_an_installed_package_is_an_arm_of_mechanisms():
    names = [arm.name for arm in study_named("mechanisms").arms()]
    assert names[-2:] == ["own: halved", "own: wrong"]
    score = build_score(ScoreSettings(own="halved"), 5, 5)
    assert isinstance(score, Score)
    query, keys = torch.randn(2, 3, 5), torch.randn(2, 4, 5)
    assert torch.allclose(score(query, keys), Dot()(query, keys) / 2)


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("halfed", "no installed package has a score halfed .entry point group nungil.scores.; did you mean halved?"),
        ("wrong", "the score wrong of test_study_runs:not_a_score is no nungil.attention.Score"),
    ],
)
def test_a_score_that_is_missing_or_none_is_named(name, message):
    with pytest.raises(UsageError, match=message):
        build_score(ScoreSettings(own=name), 5, 5)


def test_without_packages_there_is_no_score_of_ones_own():
    with pytest.raises(UsageError, match=r"has a score mine .*; none is installed"):
        build_score(ScoreSettings(own="mine"), 5, 5)


def test_every_study_is_a_study_with_a_method_and_a_budget():
    for name in CLAIMS:
        found = study_named(name)
        assert isinstance(found, Study)
        assert found.name == name
        assert found.method.endswith(".")
        assert found.budget
        for quick in (True, False):
            assert found.scale(quick).quick == quick
