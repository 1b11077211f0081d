"""Native: nungil's own search, over any translator, for any number of sentences."""

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from threading import Lock
from typing import Any, Protocol

import numpy as np
import torch

from nungil.batches.batch import pad
from nungil.batches.chance import seed_of
from nungil.decoding.beam import beam_search
from nungil.decoding.constraints import Constraints, padded_prefix
from nungil.decoding.found import Found
from nungil.decoding.greedy import greedy
from nungil.decoding.joint import Joint, refuse_coverage
from nungil.decoding.sampling import Sampler
from nungil.decoding.settings import SearchSettings
from nungil.decoding.stepper import Stepper
from nungil.model.products import Precision, computing_in
from nungil.model.quick.build import Ready

Ids = Sequence[int]
SENTENCES = 256  # that are searched for together: with more, those of unlike length have more padding between them
DRAWN = 128  # the same, where tokens are drawn: what is drawn depends on it
ROWS = 500  # hypotheses of them all; with fewer, what every step takes besides its products counts for more
POSITIONS = 8_192  # of sources, padding included


class Searcher(Protocol):
    """Whoever finds translations of sentences given as ids."""

    def search(
        self,
        sources: Sequence[Ids],
        longest: Sequence[int],
        settings: SearchSettings,
        prefixes: Sequence[Ids] | None = None,
    ) -> list[list[Found]]:
        """The best translations of each sentence, the best first, in the order of the sentences."""
        ...


class Native:
    """Searches in batches of like length, as many at a time as there are threads, with one thread each.

    So a step's many small products need not wait for each other: half as fast again as one batch on all threads.
    Several models search as one.
    """

    def __init__(self, *models: Stepper[Any]) -> None:
        self.models = models
        self._quick = [Ready(model) for model in models]

    def search(
        self,
        sources: Sequence[Ids],
        longest: Sequence[int],
        settings: SearchSettings,
        prefixes: Sequence[Ids] | None = None,
    ) -> list[list[Found]]:
        """The best translations of each sentence, the best first, in the order of the sentences."""
        model, around = self._ready([len(source) for source in sources], settings)
        batches = list(batches_of([len(source) for source in sources], batch_size(len(sources), settings)))
        answers: list[list[Found]] = [[] for _ in sources]

        def work(places: list[int]) -> list[list[Found]]:
            source, keep = pad([np.array(sources[place], dtype=np.int64) for place in places])
            constraints = Constraints(
                torch.tensor([longest[place] for place in places]),
                settings.shortest,
                settings.no_repeat,
                None if prefixes is None else padded_prefix([prefixes[place] for place in places]),
            )
            with computing_in(around):
                return search_batch(model, source, keep, constraints, settings, places[0])

        with _workers(len(batches), one_thread=settings.sample) as pool:
            for places, found in zip(batches, pool.map(work, batches), strict=True):
                for place, one in zip(places, found, strict=True):
                    answers[place] = one
        return answers

    def _ready(self, lengths: Sequence[int], settings: SearchSettings) -> tuple[Stepper[Any], Precision]:
        """The model, made ready for searching, and the precision of what has no quick way, which torch sees to.

        Who counts attention has to see it, and is shown the model itself.
        """
        tokens = settings.beam * sum(lengths)  # translations are about as long as what they are of
        seen = settings.coverage_penalty > 0
        made = [None if seen else ready.made_for(settings.precision, tokens) for ready in self._quick]
        members = [quick or model for quick, model in zip(made, self.models, strict=True)]
        around: Precision = "bf16" if settings.precision == "bf16" and None in made else "fp32"
        if len(members) == 1:
            return members[0], around
        refuse_coverage(settings)
        return Joint(members), around


def search_batch(
    model: Stepper[Any],
    source: torch.Tensor,
    keep: torch.Tensor,
    constraints: Constraints,
    settings: SearchSettings,
    draw: int = 0,
) -> list[list[Found]]:
    """One batch, by the way that the settings ask for. `draw` makes the draws of one batch unlike those of another."""
    if settings.sample:
        drawn = []
        for number in range(settings.n_best):
            sampler = Sampler(settings, seed_of(settings.seed, draw, number))
            drawn.append(greedy(model, source, keep, constraints, sampler))
        return [sorted(row, key=lambda one: -one.score) for row in zip(*drawn, strict=True)]
    if settings.beam == 1:
        return [[found] for found in greedy(model, source, keep, constraints, scores=settings.scores)]
    return beam_search(model, source, keep, constraints, settings)


def batches_of(lengths: Sequence[int], rows: int) -> Iterator[list[int]]:
    """Places of sentences of like length, longest first, so that want of memory shows at once."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        size = max(1, min(rows, POSITIONS // max(1, lengths[order[start]])))
        yield order[start : start + size]
        start += size


def batch_size(sentences: int, settings: SearchSettings) -> int:
    """How many sentences make a batch: as many batches as keep all threads at work until the end.

    What is drawn depends on the batch, and should not depend on the threads: there, batches are always as large.
    """
    if settings.sample:
        return DRAWN
    return even_rows(sentences, max(1, min(SENTENCES, ROWS // settings.beam)), _SHARED.threads)


def even_rows(count: int, most: int, threads: int) -> int:
    """Sentences of a batch, so that every thread has as many batches as the others, and none waits for the last one."""
    batches = threads * max(1, math.ceil(count / (most * threads)))
    return max(1, math.ceil(count / batches))


@contextmanager
def _workers(batches: int, one_thread: bool) -> Iterator[ThreadPoolExecutor]:
    """As many as torch has threads; while several work, each has one.

    One that works alone has them all, unless `one_thread` is asked for: sums of several threads are rounded otherwise.
    """
    several = min(_SHARED.threads, batches)
    alone = several <= 1 and not one_thread
    with nullcontext() if alone else _SHARED.one_each(), ThreadPoolExecutor(max(1, several), "search") as pool:
        yield pool


class _SharedThreads:
    """torch's threads, while some searches have one each: the last of them to end puts back what the first found."""

    def __init__(self) -> None:
        self._lock, self._searches, self._before = Lock(), 0, 1

    @property
    def threads(self) -> int:
        """As many as torch has when nobody searches."""
        with self._lock:
            return self._before if self._searches else torch.get_num_threads()

    @contextmanager
    def one_each(self) -> Iterator[None]:
        """For one search, of however many at a time."""
        with self._lock:
            self._before = self._before if self._searches else torch.get_num_threads()
            self._searches += 1
            torch.set_num_threads(1)
        try:
            yield
        finally:
            with self._lock:
                self._searches -= 1
                if not self._searches:
                    torch.set_num_threads(self._before)


_SHARED = _SharedThreads()
