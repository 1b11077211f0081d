"""parallel: how fast recurrent networks and Transformers train and decode as sentences and batches grow."""

import time
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import torch

from nungil.batches.batch import PairBatch
from nungil.batches.chance import seed_of
from nungil.decoding.constraints import Constraints
from nungil.decoding.greedy import greedy
from nungil.decoding.stepper import Stepper
from nungil.model.build import TranslatorModel, parameter_count
from nungil.studies.arm import Arm, recurrent, transformer
from nungil.studies.finding import Chart, Finding, Series, Table, Verdict, number, point
from nungil.studies.job import Job, Record
from nungil.studies.lesson import Trained, build
from nungil.studies.material import Material, given, snow
from nungil.studies.scale import Scale
from nungil.studies.statistics import Comparison, Results, holm
from nungil.studies.study import Measured, Study
from nungil.text.tokenizers.base import SPECIALS
from nungil.training.losses import translation_loss
from nungil.training.optimizer import OptimizerSettings, make_optimizer

LUONG, BAHDANAU, TRANSFORMER = "GRU, Luong", "GRU, Bahdanau", "Transformer"
LENGTHS, BATCHES = (8, 16, 32, 64), (1, 4, 16, 64)
USUAL_LENGTH, USUAL_BATCH = 16, 16
ROUNDS = 3  # the fastest of so many counts: what disturbs a machine only ever makes it slower
WORK = ("training", "search")


def figure(work: str, side: str, size: int) -> str:
    """The name of a speed."""
    return f"{work}/{side}/{size}"


class ParallelStudy(Study):
    """Clocks, and nothing that is learned."""

    name = "parallel"
    budget = "about equal parameters; target tokens a second are counted"
    alone = True
    method = (
        "Two GRU networks, one whose decoder can read a whole sentence at once (Luong) and one that cannot (Bahdanau), "
        "and a Transformer of about as many parameters make updates on sentences of random words, and write "
        f"translations of a fixed length by greedy search: {USUAL_BATCH} sentences of {LENGTHS[0]} to {LENGTHS[-1]} "
        f"tokens, and {BATCHES[0]} to {BATCHES[-1]} of {USUAL_LENGTH}. All threads of the machine are used, one run "
        f"at a time; a seed is a repetition, and the fastest of {ROUNDS} rounds counts."
    )

    def scale(self, quick: bool) -> Scale:
        """How large it is: the material is only asked for its vocabulary."""
        return Scale(quick, pairs=400, lengths=(3, 9), tests=2, updates=0, sweep_updates=0, rates=())

    def arms(self) -> tuple[Arm, ...]:
        """Of about equal size."""
        sizes: dict[str, Any] = {"embedding": 128, "width": 256}
        return (
            recurrent(LUONG, score={"name": "general"}, **sizes),
            recurrent(BAHDANAU, decoder="bahdanau", score={"name": "additive"}, **sizes),
            transformer(TRANSFORMER, width=128, heads=4, feed_forward=512),
        )

    def material(self, scale: Scale, files: Sequence[str]) -> Material:
        """A vocabulary."""
        return given(files, scale, "translate") if files else snow(scale)

    def sweep_jobs(self, scale: Scale) -> list[Job]:
        """Nothing is learned."""
        del scale
        return []

    def main_jobs(self, seeds: int, swept: Sequence[Record]) -> list[Job]:
        """Arm after arm, repetition after repetition, so that a slow minute meets them all."""
        del swept
        return [Job(arm=arm.name, seed=seed) for seed in range(1, seeds + 1) for arm in self.arms()]

    def perform(self, job: Job, scale: Scale, material: Material) -> Record:
        """Every size once."""
        del scale
        since, arm = time.perf_counter(), self.arm(job.arm)
        model = cast(TranslatorModel, build(arm, material, job.seed))
        figures = {}
        for side, size in [*(("length", one) for one in LENGTHS), *(("batch", one) for one in BATCHES)]:
            shape = (USUAL_BATCH, size) if side == "length" else (size, USUAL_LENGTH)
            for work, speed in zip(WORK, speeds(model, shape, material, job.seed), strict=True):
                figures[figure(work, side, size)] = speed
                figures[f"log/{figure(work, side, size)}"] = float(np.log2(speed))
        took = time.perf_counter() - since
        return Record(job=job, parameters=parameter_count(model), examined=took, figures=figures)

    def measure(self, trained: Trained, material: Material) -> Measured:
        """Nothing is trained."""
        del trained, material
        raise TypeError("this study trains nothing, so there is nothing to measure of it")

    def answer(self, results: Results) -> Finding:
        """Is the Transformer faster, and more so as sentences grow?"""
        names = [figure(work, "length", LENGTHS[-1]) for work in WORK]
        compared = holm(
            [
                results.compare(TRANSFORMER, other, f"log/{name}", f"log₂ of speed, {name}")
                for name in names
                for other in (LUONG, BAHDANAU)
            ]
        )
        faster = [one for one in compared if one.stands and one.difference > 0]
        slower = [one for one in compared if one.stands and one.difference < 0]
        verdict: Verdict = "cannot be told"
        if faster:
            verdict = "holds" if len(faster) == len(compared) else "holds in part"
        elif slower:
            verdict = "does not hold"
        training, search = compared[:2], compared[2:]
        answer = (
            f"At {LENGTHS[-1]} tokens the Transformer trains {_times(training[0])} as fast as a GRU with Luong's "
            f"attention and {_times(training[1])} as fast as one with Bahdanau's, and searches {_times(search[0])} and "
            f"{_times(search[1])} as fast, on this machine."
        )
        details = tuple(_growth(results, work, other) for work in WORK for other in (LUONG, BAHDANAU))
        charts = tuple(
            _chart(results, work, side, sizes)
            for work in WORK
            for side, sizes in (("length", LENGTHS), ("batch", BATCHES))
        )
        tables = tuple(_table(results, side, sizes) for side, sizes in (("length", LENGTHS), ("batch", BATCHES)))
        return Finding(answer, verdict, details, tables, charts, tuple(compared), LIMITS)


LIMITS = (
    "This is a processor with few cores. The posts speak of hardware that computes thousands of numbers at once, where "
    "steps that need not wait for each other matter more.",
)


def speeds(model: TranslatorModel, shape: tuple[int, int], material: Material, seed: int) -> tuple[float, float]:
    """Target tokens a second of one update, and of greedy search, of so many sentences of such a length."""
    count, length = shape
    randomness = np.random.default_rng(seed_of(seed, *shape))
    cut = material.tokenizers
    source, target = (
        torch.from_numpy(randomness.integers(len(SPECIALS), size, shape)) for size in (cut.source.size, cut.target.size)
    )
    keep = torch.ones(shape, dtype=torch.bool)
    batch, optimizer = PairBatch(source, keep, target, target, keep), make_optimizer(model, OptimizerSettings())

    def update() -> None:
        optimizer.zero_grad(set_to_none=True)
        loss = translation_loss(model, batch)
        (loss.total / loss.predictions).backward()  # type: ignore[no-untyped-call]
        optimizer.step()  # at a rate of 0: all that an update computes, and the model stays as it is

    def search() -> None:
        fixed = Constraints(torch.full((count,), length), shortest=length)
        greedy(cast(Stepper[Any], model), source, keep, fixed)

    model.train()
    training = fastest(update)
    model.eval()
    with torch.inference_mode():
        return count * length / training, count * length / fastest(search)


def fastest(work: Callable[[], None]) -> float:
    """Seconds of the fastest of some rounds, after one that wakes everything up."""
    work()
    took = []
    for _ in range(ROUNDS):
        since = time.perf_counter()
        work()
        took.append(time.perf_counter() - since)
    return min(took)


def _times(one: Comparison) -> str:
    return f"{number(2**one.difference)} times"


def _growth(results: Results, work: str, other: str) -> str:
    """How the ratio goes from the shortest sentences to the longest."""
    ratios = []
    for size in (LENGTHS[0], LENGTHS[-1]):
        name = f"log/{figure(work, 'length', size)}"
        ratios.append(2 ** (results.estimate(TRANSFORMER, name).mean - results.estimate(other, name).mean))
    return (
        f"In {work} the Transformer is {number(ratios[0])} times as fast as {other} at {LENGTHS[0]} tokens and "
        f"{number(ratios[1])} times at {LENGTHS[-1]}."
    )


def _table(results: Results, side: str, sizes: Sequence[int]) -> Table:
    rows = []
    for work in WORK:
        for arm in results.arms:
            found = [results.estimate(arm, figure(work, side, size)) for size in sizes]
            shown = (f"{number(one.mean, 0)} ±{number(one.seeds.high - one.mean, 0)}" for one in found)
            rows.append((f"{work}, {arm}", *shown))
    title = f"Target tokens a second by {'tokens of a sentence' if side == 'length' else 'sentences of a batch'}"
    return Table(title, ("arm", *map(str, sizes)), tuple(rows), "± is the 95% interval over repetitions.")


def _chart(results: Results, work: str, side: str, sizes: Sequence[int]) -> Chart:
    series = tuple(
        Series(arm, tuple(point(float(size), results.estimate(arm, figure(work, side, size))) for size in sizes))
        for arm in results.arms
    )
    across = "tokens of a sentence" if side == "length" else "sentences of a batch"
    title, up = f"Speed of {work} by {across}", "target tokens a second"
    note = "Bars: 95% over repetitions."
    return Chart(f"parallel-{work}-{side}", title, across, up, series, log_across=True, note=note)


STUDY = ParallelStudy()
