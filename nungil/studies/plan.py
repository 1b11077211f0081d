"""Plan: what will be run, and how long that takes, from a short measurement of each arm."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from nungil.studies.job import SWEEP_SEED, Job, Record
from nungil.studies.scale import Scale
from nungil.studies.study import Study, material_of
from nungil.text.counts import counted

START = 4.0  # seconds until the processes work, and for the report


@dataclass(frozen=True)
class Cost:
    """What a run of one arm costs, in seconds."""

    arm: str
    update: float
    examination: float
    parameters: int


@dataclass(frozen=True)
class Plan:
    """Runs × seconds."""

    study: str
    scale: Scale
    seeds: int
    processes: int
    budget: str
    sweep: tuple[Job, ...]
    main: tuple[Job, ...]  # their rates are not known yet
    costs: tuple[Cost, ...]

    def seconds_of(self, job: Job) -> float:
        """How long a run takes."""
        cost = next(one for one in self.costs if one.arm == job.arm)
        if job.stage == "sweep":
            return self.scale.sweep_updates * cost.update
        return self.scale.updates * cost.update + cost.examination

    @property
    def seconds(self) -> float:
        """How long it all takes, with so many processes at work."""
        return START + self.left((*self.sweep, *self.main))

    def left(self, jobs: Sequence[Job]) -> float:
        """How long these take: shared out, but none takes less than itself."""
        each = [self.seconds_of(job) for job in jobs]
        return max(sum(each) / self.processes, max(each, default=0.0))

    def lines(self) -> list[str]:
        """The plan for people."""
        shown = [
            f"{len(self.costs)} arms × {counted(self.seeds, 'seed')} = "
            f"{counted(len(self.main), 'run')} of {counted(self.scale.updates, 'update')}, "
            f"and {len(self.sweep)} of {self.scale.sweep_updates:,} that choose learning rates.",
            f"One budget: {self.budget}.",
        ]
        width = max(len(one.arm) for one in self.costs)
        for cost in self.costs:
            main = self.scale.updates * cost.update + cost.examination
            shown.append(f"  {cost.arm:{width}}  {cost.parameters:>9,} parameters  {main:6.1f} s a run")
        limit = f"at most {self.scale.minutes} minutes are meant on two cores"
        shown.append(
            f"About {spell(self.seconds)} with {self.processes} "
            f"process{'es' * (self.processes > 1)} at a time; {limit}."
        )
        return shown


def make_plan(study: Study, scale: Scale, seeds: int, files: tuple[str, ...], processes: int) -> Plan:
    """Measure each arm for a moment, and count."""
    sweep = study.sweep_jobs(scale)
    known = [
        Record(job=Job(arm=arm.name, seed=SWEEP_SEED, stage="sweep", rate=scale.rates[0]), validation=0.0)
        for arm in study.arms()
        if arm.model is not None and scale.rates
    ]
    main = study.main_jobs(seeds, known)
    costs = tuple(_cost(study, job, scale, files) for job in main if job.seed == 1)
    return Plan(study.name, scale, seeds, processes, study.budget, tuple(sweep), tuple(main), costs)


def _cost(study: Study, job: Job, scale: Scale, files: tuple[str, ...]) -> Cost:
    small, before = scale.probe(), torch.get_num_threads()
    whole = material_of(study.name, scale, files)
    material = whole.sampled(small.tests)
    if not study.alone:
        torch.set_num_threads(1)
    try:
        found = study.perform(job, small, material)
    finally:
        torch.set_num_threads(before)
    share = len(whole.test) / max(1, len(material.test))
    return Cost(job.arm, found.seconds / max(1, found.updates), found.examined * share, found.parameters)


def spell(seconds: float) -> str:
    """Seconds or minutes, as people say it."""
    if seconds < 90:
        whole = max(1, round(seconds))
        return "1 second" if whole == 1 else f"{whole} seconds"
    return f"{seconds / 60:.0f} minutes" if seconds >= 600 else f"{seconds / 60:.1f} minutes"
