"""CTranslate2 as the searcher for Transformers trained with nungil, with int8 if wanted."""

import math
import tempfile
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

import torch

from nungil.decoding.beam import length_penalty
from nungil.decoding.found import Found
from nungil.decoding.native import Ids, batches_of, even_rows
from nungil.decoding.settings import SearchSettings
from nungil.engines.library import library, possible_compute
from nungil.engines.specification import Written, save, specification
from nungil.errors import ConfigError, ResourceError, UsageError
from nungil.model.folder import MORE, ModelConfig
from nungil.model.transformer import TransformerTranslator
from nungil.text.tokenizers.base import EOS

ROWS, SHORT_ROWS = 320, 32  # hypotheses of a batch, with floats and with int8; larger ones do not fit the cache
SCORED = 64  # translations whose tokens are scored together, which needs a row of probabilities for each
FEWEST, MOST = 1_024, 16_384  # positions that a converted model has
NOT_OURS = {
    "coverage_penalty": "it counts attention, and attention always comes from nungil's own search",
    "exhaustive": "CTranslate2 stops when as many translations have ended as the beam is wide",
    "precision": "CTranslate2 has its own: compute",
    "sample": "what CTranslate2 draws depends on which thread draws first, and could not be repeated",
}


class _Task(NamedTuple):
    """The arguments of a search, which ends after `patience` × beam finished hypotheses."""

    sources: Sequence[Ids]
    longest: Sequence[int]
    settings: SearchSettings
    patience: int = 1


class CTranslate2:
    """Searches by CTranslate2: as many batches at a time as torch has threads, one thread each, sorted by length.

    Finished translations are ranked by nungil's own length penalty. With `probabilities`, each translation is scored in
    a second pass; otherwise only its total log-probability is known.
    """

    def __init__(
        self,
        model: TransformerTranslator,
        positions: int = FEWEST,
        compute: str | None = None,
        probabilities: bool = False,
    ) -> None:
        self.compute, self.probabilities = possible_compute(compute), probabilities
        self.positions, self.threads = positions, torch.get_num_threads()
        self.rows = SHORT_ROWS if self.compute.startswith("int8") else ROWS
        sizes = model.source_embedding.table.num_embeddings, model.output.out_features
        self._names = [str(number) for number in range(max(sizes))]  # tokens are named by their ids
        source, target = (self._names[:size] for size in sizes)
        found = specification(model, Written(source, target, "none", self.positions))
        try:
            with tempfile.TemporaryDirectory(prefix="nungil-ctranslate2-") as folder:
                save(found, folder, self.compute)
                self._translator = library().Translator(
                    folder, compute_type=self.compute, inter_threads=self.threads, intra_threads=1
                )
        except OSError as error:
            raise ResourceError(f"the model could not be converted: {error.strerror or error}") from None
        finally:
            torch.set_num_threads(self.threads)  # CTranslate2 changes torch's thread count, too

    def search(
        self,
        sources: Sequence[Ids],
        longest: Sequence[int],
        settings: SearchSettings,
        prefixes: Sequence[Ids] | None = None,
    ) -> list[list[Found]]:
        """The best translations of each sentence, the best first, in the order of the sentences."""
        refuse_what_it_cannot(settings)
        if prefixes is not None:
            raise UsageError("CTranslate2 begins no translation with given tokens; nungil's own search does")
        self._refuse_long(sources, longest)
        rows = even_rows(len(sources), max(1, self.rows // settings.beam), self.threads)
        batches = list(batches_of([len(source) for source in sources], rows))
        task = _Task(sources, longest, settings)
        answers: list[list[Found]] = [[] for _ in sources]
        self._answer(batches, task, answers)
        if settings.beam > 1:
            self._answer(self._without_end(task, answers), task._replace(patience=2), answers)
        return self._scored(sources, answers, settings) if self.probabilities else answers

    def _answer(self, batches: Sequence[Sequence[int]], task: _Task, answers: list[list[Found]]) -> None:
        """Fill in the answers to some sentences."""
        asked = [self._ask(places, task) for places in batches]
        for places, (results, penalty) in zip(batches, asked, strict=True):
            for place, one in zip(places, results, strict=True):
                answers[place] = _ranked(one.result(), penalty, task.longest[place], task.settings)

    def _ask(self, places: Sequence[int], task: _Task) -> tuple[list[Any], float]:
        """Future results, and the length penalty that their scores include.

        `<eos>` counts as a step: a translation of maximum length may still end.
        """
        settings, sources = task.settings, [self._named(task.sources[place]) for place in places]
        most = 1 + max(task.longest[place] for place in places)
        penalty = _their_penalty(settings, sum(map(len, sources)) / len(sources))
        asked: list[Any] = self._translator.translate_batch(
            sources,
            asynchronous=True,
            beam_size=settings.beam,
            patience=task.patience,
            num_hypotheses=task.patience * settings.beam if penalty or task.patience > 1 else settings.n_best,
            length_penalty=penalty,
            no_repeat_ngram_size=settings.no_repeat,
            min_decoding_length=min(settings.shortest, most),
            max_decoding_length=most,
            max_input_length=0,
            return_scores=settings.scores or settings.beam > 1,
            return_end_token=True,
        )
        return asked, penalty

    def _without_end(self, task: _Task, answers: Sequence[Sequence[Found]]) -> list[list[int]]:
        """Sentences whose best translation does not end, in batches of one length limit, to be searched again.

        Endless repetitions are probable, and CTranslate2 may have discarded a finished translation for one.
        """
        by_limit: dict[int, list[int]] = {}
        for place, found in enumerate(answers):
            if not found[0].finished and task.settings.shortest < task.longest[place]:
                by_limit.setdefault(task.longest[place], []).append(place)
        rows = max(1, self.rows // (2 * task.settings.beam))
        return [
            [places[row] for row in batch]
            for places in by_limit.values()
            for batch in batches_of([len(task.sources[place]) for place in places], rows)
        ]

    def _scored(
        self, sources: Sequence[Ids], answers: list[list[Found]], settings: SearchSettings
    ) -> list[list[Found]]:
        """The same translations with the log-probability of each token."""
        places = [(place, rank) for place, found in enumerate(answers) for rank in range(len(found))]
        lengths = [max(len(sources[place]), len(answers[place][rank].ids)) for place, rank in places]
        for rows in batches_of(lengths, SCORED):
            batch = [places[row] for row in rows]
            given = [self._named(sources[place]) for place, _ in batch]
            written = [self._named(answers[place][rank].ids) for place, rank in batch]
            scored = self._translator.score_batch(given, written, max_input_length=0)
            for (place, rank), one in zip(batch, scored, strict=True):
                found = answers[place][rank]
                paid = one.log_probs[: found.length]
                answers[place][rank] = Found(found.ids, paid, found.finished, _score(sum(paid), found.length, settings))
        return [_best_first(found) for found in answers]

    def _named(self, ids: Ids) -> list[str]:
        return [self._names[one] for one in ids]

    def _refuse_long(self, sources: Sequence[Ids], longest: Sequence[int]) -> None:
        most = max(chain((1 + one for one in longest), map(len, sources)), default=0)
        if most > self.positions:
            raise UsageError(
                f"a sentence of {most:,} tokens, its end included, is too long for CTranslate2: the model was given "
                f"{self.positions:,} positions; nungil's own search has no limit"
            )


def refuse_what_it_cannot(settings: SearchSettings) -> None:
    """Refuse options that CTranslate2 does not have, or has with another meaning."""
    usual = SearchSettings()
    asked = [name for name in NOT_OURS if getattr(settings, name) != getattr(usual, name)]
    if asked:
        raise ConfigError(
            "not with CTranslate2, but with nungil's own search (without engine)",
            [f"{name}: {NOT_OURS[name]}" for name in asked],
        )


def positions_of(config: ModelConfig) -> int:
    """Most tokens of a source or a translation, marks included."""
    reads = config.longest + 2
    return min(MOST, max(FEWEST, reads, math.ceil(config.stretch * reads) + MORE + 1))


def _their_penalty(settings: SearchSettings, length: float) -> float:
    """The α' that makes length^α' grow as ((5 + length) / 6)^α does where sentences have about this length.

    CTranslate2 uses it to choose which finished translations it discards; we rank the rest. 0, for plain probabilities,
    lets it stop as soon as nothing can become better.
    """
    return settings.length_penalty * length / (length + 5) if settings.beam > 1 else 0.0


def _ranked(result: Any, penalty: float, longest: int, settings: SearchSettings) -> list[Found]:
    """The results ranked by our length penalty; finished ones first."""
    found: dict[tuple[int, ...], Found] = {}
    scores = result.scores or [math.nan]  # greedy search finds only one
    for tokens, score in zip(result.hypotheses, scores, strict=True):
        one = _found([int(token) for token in tokens], score * len(tokens) ** penalty, longest, settings)
        found.setdefault((*one.ids, one.finished), one)  # after cutting, two may be equal
    return _best_first(list(found.values()))[: settings.n_best]


def _best_first(found: list[Found]) -> list[Found]:
    return sorted(found, key=lambda one: (not one.finished, -one.score))


def _found(written: list[int], total: float, longest: int, settings: SearchSettings) -> Found:
    """One translation, cut at the maximum length, with a proportional share of the log-probability."""
    ids = [one for one in written if one != EOS][:longest]
    finished = written[-1] == EOS and len(written) == len(ids) + 1
    length = len(ids) + finished
    total *= length / len(written)
    return Found(ids, [], finished, _score(total, length, settings), total)


def _score(total: float, length: int, settings: SearchSettings) -> float:
    """The score that our own search ranks by: the mean if greedy, else with the length penalty."""
    if settings.beam == 1:
        return total / max(1, length)
    return total / float(length_penalty(length, settings.length_penalty))
