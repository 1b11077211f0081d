"""Native: nungil's own search, with any translators, for any number of sentences."""

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
SENTENCES = 256  # of a batch; larger batches mix lengths and have more padding
DRAWN = 128  # the same for sampling: changing it changes what is drawn
ROWS = 500  # hypotheses of a batch; with fewer, the overhead of each step weighs more
POSITIONS = 8_192  # source positions of a batch, padding included


class Searcher(Protocol):
    """Anything that finds translations of sentences given as ids."""

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
    """Searches batches of similar length in parallel, one thread for each.

    A step is many small products, which gain little from several threads: this is half as fast again as one batch on
    all threads. Several models search as an ensemble.
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
        """The model to search with, and the autocast precision for it: quick models see to their own.

        A coverage penalty needs the weights of attention, which only the reference model has.
        """
        tokens = settings.beam * sum(lengths)  # a translation is about as long as its source
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
    """Search one batch as the settings say. `draw` gives each batch random draws of its own."""
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
    """Places of sentences of similar length, longest first, so that a lack of memory shows at once."""
    order = sorted(range(len(lengths)), key=lambda place: -lengths[place])
    start = 0
    while start < len(order):
        size = max(1, min(rows, POSITIONS // max(1, lengths[order[start]])))
        yield order[start : start + size]
        start += size


def batch_size(sentences: int, settings: SearchSettings) -> int:
    """Sentences of a batch, chosen so that all threads have work until the end.

    Sampling has a fixed size, because what is drawn depends on the batches and must not depend on the threads.
    """
    if settings.sample:
        return DRAWN
    return even_rows(sentences, max(1, min(SENTENCES, ROWS // settings.beam)), _SHARED.threads)


def even_rows(count: int, most: int, threads: int) -> int:
    """Sentences of a batch, such that the number of batches is a multiple of the threads."""
    batches = threads * max(1, math.ceil(count / (most * threads)))
    return max(1, math.ceil(count / batches))


@contextmanager
def _workers(batches: int, one_thread: bool) -> Iterator[ThreadPoolExecutor]:
    """A pool of as many workers as torch has threads, each with one thread.

    A single worker has all threads, unless `one_thread`: sums over several threads are rounded differently.
    """
    several = min(_SHARED.threads, batches)
    alone = several <= 1 and not one_thread
    with nullcontext() if alone else _SHARED.one_each(), ThreadPoolExecutor(max(1, several), "search") as pool:
        yield pool


class _SharedThreads:
    """torch's thread count, set to 1 while any search is parallel; the last search to end restores it."""

    def __init__(self) -> None:
        self._lock, self._searches, self._before = Lock(), 0, 1

    @property
    def threads(self) -> int:
        """torch's thread count when there is no search."""
        with self._lock:
            return self._before if self._searches else torch.get_num_threads()

    @contextmanager
    def one_each(self) -> Iterator[None]:
        """One thread per worker during one search; searches may overlap."""
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
