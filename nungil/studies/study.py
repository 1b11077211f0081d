"""Study: one claim, the arms that are compared, how each is measured, and the answer, from records alone."""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import ClassVar, NamedTuple

import torch

from nungil.errors import DivergedError, UsageError
from nungil.studies.arm import Arm
from nungil.studies.claims import CLAIMS, Claim, claim_named
from nungil.studies.finding import Finding
from nungil.studies.job import SWEEP_SEED, Job, Record, Tally, finite
from nungil.studies.lesson import Course, Trained, teach
from nungil.studies.material import Material
from nungil.studies.scale import Scale
from nungil.studies.statistics import Results


class Measured(NamedTuple):
    """What an examination brought: figures, and counts of each test sentence."""

    tallies: dict[str, Tally]
    figures: dict[str, float]


class Study(ABC):
    """What every study has. One file holds one of them, under the name STUDY."""

    name: ClassVar[str]
    method: ClassVar[str]
    budget: ClassVar[str] = "equal updates"
    alone: ClassVar[bool] = False  # it measures time: nothing else may run beside a run of it

    @property
    def claim(self) -> Claim:
        """What is put to the test."""
        return CLAIMS[self.name]

    @abstractmethod
    def scale(self, quick: bool) -> Scale:
        """How large it is."""

    @abstractmethod
    def arms(self) -> tuple[Arm, ...]:
        """What is compared."""

    @abstractmethod
    def material(self, scale: Scale, files: Sequence[str]) -> Material:
        """What it is trained and tested on."""

    @abstractmethod
    def measure(self, trained: Trained, material: Material) -> Measured:
        """Examine one trained arm."""

    @abstractmethod
    def answer(self, results: Results) -> Finding:
        """The answer, worked out from the runs and nothing else."""

    def arm(self, name: str) -> Arm:
        """The arm of this name."""
        found = next((one for one in self.arms() if one.name == name), None)
        if found is None:
            raise UsageError(f"the study {self.name} has no arm {name}")
        return found

    def sweep_jobs(self, scale: Scale) -> list[Job]:
        """A run for each learning rate of each arm, with a seed that is not used again."""
        return [
            Job(arm=arm.name, seed=SWEEP_SEED, stage="sweep", rate=rate)
            for arm in self.arms()
            if arm.model is not None
            for rate in scale.rates
        ]

    def main_jobs(self, seeds: int, swept: Sequence[Record]) -> list[Job]:
        """A run for each arm and seed, seed by seed, so that a study that is stopped has whole seeds."""
        return [
            Job(arm=arm.name, seed=seed, rate=None if arm.model is None else best_rate(arm.name, swept))
            for seed in range(1, seeds + 1)
            for arm in self.arms()
        ]

    def perform(self, job: Job, scale: Scale, material: Material) -> Record:
        """One run: train, and examine unless it is of a sweep."""
        sweeping = job.stage == "sweep"
        course = Course(scale.sweep_updates if sweeping else scale.updates, job.rate or 0.0, job.seed, scale.batch)
        trained = teach(self.arm(job.arm), material, course)
        if trained.validation is None and not sweeping:
            raise DivergedError(f"{job.arm}, seed {job.seed}: training diverged at a rate of {job.rate:g}")
        since = time.perf_counter()
        found = Measured({}, {}) if sweeping else self.measure(trained, material)
        return Record(
            job=job,
            updates=trained.updates,
            parameters=trained.parameters,
            seconds=trained.seconds,
            examined=time.perf_counter() - since,
            validation=trained.validation,
            figures=finite({"tokens per second": trained.predictions_per_second, **found.figures}),
            tallies=found.tallies,
        )


def best_rate(arm: str, swept: Sequence[Record]) -> float:
    """The learning rate with the lowest validation loss; of equal ones the lower."""
    tried = [one for one in swept if one.job.arm == arm and one.job.stage == "sweep"]
    sound = [one for one in tried if one.validation is not None]
    if not sound:
        raise DivergedError(f"{arm}: training diverged at every learning rate that was tried")
    best = min(sound, key=lambda one: (one.validation, one.job.rate))
    return best.job.rate or 0.0


@cache
def study_named(name: str) -> Study:
    """The study of this name."""
    claim_named(name)
    found: Study = import_module(f"nungil.studies.{name}").STUDY
    return found


class Bench:
    """Performs runs of one study; travels to other processes, and makes the material there, once."""

    def __init__(self, name: str, scale: Scale, files: tuple[str, ...], threads: int) -> None:
        self.name, self.scale, self.files, self.threads = name, scale, files, threads

    def __call__(self, job: Job) -> Record:
        """One run. It has its threads for itself, and leaves those of others as they were."""
        before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        try:
            return study_named(self.name).perform(job, self.scale, material_of(self.name, self.scale, self.files))
        finally:
            torch.set_num_threads(before)


@cache
def material_of(name: str, scale: Scale, files: tuple[str, ...]) -> Material:
    """The material of a study, made once in each process."""
    return study_named(name).material(scale, files)
