"""What a recipe leaves open, worked out from the data: model sizes, batch, steps, learning rate. Each with its reason.

Small data gets a small model and strong dropout. What the ladder gives on real corpora is in docs/results.md.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import torch

from nungil.errors import ConfigError
from nungil.model.build import ModelSettings
from nungil.model.classifier import ClassifierSettings
from nungil.model.ngrams import NgramSettings
from nungil.model.products import Precision
from nungil.model.recurrent import RecurrentSettings
from nungil.model.transformer import TransformerSettings
from nungil.runs.prepare import Prepared
from nungil.runs.recipe import Recipe
from nungil.scoring.translation import ENOUGH, RUN, too_short_for_bleu
from nungil.settings import Settings, build_settings
from nungil.text.counts import counted
from nungil.text.outlook import outlook
from nungil.text.source import Task
from nungil.training.precision import measure
from nungil.training.schedule import ScheduleSettings
from nungil.training.settings import TrainingSettings
from nungil.training.stopping import Metric

S = TypeVar("S", bound=Settings)


@dataclass(frozen=True)
class Size:
    """One step of the ladder, for corpora of up to so many records."""

    records: int
    transformer: dict[str, Any]
    recurrent: dict[str, Any]
    classifier: dict[str, Any]
    batch_tokens: int
    epochs: int
    updates: int  # at most: long sentences need no more of them than short ones
    recurrent_updates: int  # the same of recurrent translators


SIZES = (
    Size(
        6_000,
        {"width": 128, "heads": 4, "feed_forward": 256, "encoder_layers": 2, "decoder_layers": 2, "dropout": 0.3},
        {"embedding": 128, "width": 256, "dropout": 0.3},
        {"embedding": 64, "width": 64, "dense": 32, "dropout": 0.5},
        1_024,
        60,
        6_000,
        3_000,
    ),
    Size(
        60_000,
        {"width": 128, "heads": 4, "feed_forward": 256, "encoder_layers": 4, "decoder_layers": 4, "dropout": 0.3},
        {"embedding": 256, "width": 512, "dropout": 0.4},
        {"embedding": 128, "width": 128, "dense": 64, "dropout": 0.5},
        2_048,
        100,
        24_000,
        6_000,
    ),
    Size(
        600_000,
        {"width": 256, "heads": 4, "feed_forward": 1_024, "encoder_layers": 3, "decoder_layers": 3, "dropout": 0.2},
        {"embedding": 256, "width": 512, "dropout": 0.3},
        {"embedding": 128, "width": 256, "dense": 128, "dropout": 0.4},
        4_096,
        12,
        40_000,
        20_000,
    ),
)
LARGE = Size(
    2**63,
    {"width": 512, "heads": 8, "feed_forward": 2_048, "encoder_layers": 6, "decoder_layers": 3, "dropout": 0.1},
    {"embedding": 512, "width": 1_024, "encoder_layers": 2, "decoder_layers": 2, "dropout": 0.2},
    {"embedding": 256, "width": 256, "dense": 128, "dropout": 0.3},
    8_192,
    4,
    100_000,
    50_000,
)
GENTLY = 4  # by which the learning rate is divided where a run starts from a trained model, which is not to forget
SOONER = 2  # recurrent translators get half as many epochs: an update takes longer, and teaches more (docs/results.md)
NARROW = 128  # width up to which a Transformer learns best at a high rate (docs/results.md, Multi30k)
LEAST_STEPS = 1_000  # an epoch of a small corpus is a few updates; patience ends what has learned all there is
TEXTS = 48  # of a batch at the least, on average: a label says little (docs/results.md, IMDB)
HIDDEN = 0.2  # share of a text's tokens that a classifier is not shown: it would learn texts by heart (docs/results.md)
LONGEST_NGRAM = {"character": 5}  # a word or so; three of anything else (docs/results.md, NSMC)
FEWEST, MOST = 2**14, 2**23  # places that n-grams are hashed to; places times labels: two tables of 34 MB
VALIDATIONS, FEW = 40, 10  # of a run: where so many would take longer than training there are fewer, but not too few
DEAR = 5  # tokens that are learned in the time one is translated, by a young model and to the longest that it may
CLASSIFIER_EPOCHS = {6_000: 30, 60_000: 5, 600_000: 5}  # texts are many words for one label: fewer rounds are needed

METRICS: dict[Task, tuple[Metric, ...]] = {"translate": ("bleu", "chrf", "loss"), "classify": ("accuracy", "loss")}


@dataclass(frozen=True)
class Plan:
    """A model and its training with nothing left open, and what was worked out, a sentence each."""

    model: ModelSettings
    training: TrainingSettings
    decisions: tuple[str, ...]


def make_plan(recipe: Recipe, prepared: Prepared, positions: int, longest: int) -> Plan:
    """Fill in whatever the recipe leaves open.

    `positions` are the tokens of an epoch on one side, `longest` those of the longest row there may be, marks included.
    """
    refuse_other_task(recipe, prepared.task)
    size = next((size for size in SIZES if prepared.train.rows <= size.records), LARGE)
    if prepared.task == "classify":
        texts = math.ceil(TEXTS * positions / prepared.train.rows)
        classifier = {**size.classifier, "ngrams": _ngrams(recipe, positions, len(prepared.labels))}
        size = replace(size, classifier=classifier, batch_tokens=max(size.batch_tokens, texts))
    size = replace(size, batch_tokens=max(size.batch_tokens, longest))
    model = _model(recipe, prepared.task, size)
    if isinstance(model, RecurrentSettings):
        size = replace(size, epochs=size.epochs // SOONER, updates=size.recurrent_updates)
    schedule = partial(_schedule, model, GENTLY if recipe.start_from is not None else 1)
    training, decisions = _training(recipe.training, prepared, size, schedule, positions)
    expected = outlook(prepared.train.rows) if _is_plain(recipe, prepared.task) else None
    return Plan(model, training, (*decisions, *([] if expected is None else [expected])))


def _is_plain(recipe: Recipe, task: Task) -> bool:
    """Whether it is a translator of nungil's own choosing, for whose like it has been measured what they reach."""
    given = recipe.model
    sizes_open = given is None or (isinstance(given, TransformerSettings) and given.model_fields_set <= {"kind"})
    return task == "translate" and sizes_open and recipe.training.steps is None and recipe.start_from is None


def refuse_other_task(recipe: Recipe, task: Task) -> None:
    """Refuse what is not for this task; this needs no more than a look at the files."""
    mistakes = []
    if task == "classify" and isinstance(recipe.model, RecurrentSettings):
        mistakes.append(f"model: {recipe.model.kind} translates, but the data is to classify")
    if task == "translate" and isinstance(recipe.model, ClassifierSettings):
        mistakes.append("model: classifier does not translate, but the data is to translate")
    metric = recipe.training.metric
    if metric is not None and metric not in METRICS[task]:
        mistakes.append(f"[training] metric: {metric} is not for data to {task}; there is {', '.join(METRICS[task])}")
    if task == "classify" and recipe.training.agreement:
        mistakes.append("[training] agreement: is for translators, but the data is to classify; leave it out")
    if mistakes:
        raise ConfigError("recipe", mistakes)


def _model(recipe: Recipe, task: Task, size: Size) -> ModelSettings:
    """What the recipe says of the model, and the ladder's sizes for the rest."""
    given = recipe.model
    if task == "classify":
        if isinstance(given, TransformerSettings):  # `--model transformer` is a name for both tasks
            sizes = given.model_dump(include=given.model_fields_set - {"kind"})
            given = build_settings({"encoder": "transformer", **sizes}, ClassifierSettings, "recipe, model")
        return filled(given if isinstance(given, ClassifierSettings) else ClassifierSettings(), size.classifier)
    if isinstance(given, RecurrentSettings):
        return filled(given, size.recurrent)
    return filled(given if isinstance(given, TransformerSettings) else TransformerSettings(), size.transformer)


def _ngrams(recipe: Recipe, positions: int, labels: int) -> dict[str, int]:
    """About as many places as there are tokens; for many labels fewer, since each has a column of its own."""
    places = min(max(1 << (positions - 1).bit_length(), FEWEST), MOST // labels)
    return {"longest": LONGEST_NGRAM.get(recipe.tokenizer.unit, NgramSettings().longest), "buckets": places}


def filled(given: S, worked_out: Mapping[str, Any]) -> S:
    """The settings with what they leave open filled in, and checked once more as a whole."""
    said = given.model_dump(include=given.model_fields_set)
    return build_settings({**worked_out, **said}, type(given), "recipe")


def _training(
    asked: TrainingSettings,
    prepared: Prepared,
    size: Size,
    schedule_for: Callable[[int], ScheduleSettings],
    positions: int,
) -> tuple[TrainingSettings, list[str]]:
    decisions, task = [], prepared.task
    batch_tokens = asked.batch_tokens or size.batch_tokens
    per_epoch = max(1, math.ceil(positions / (batch_tokens * asked.accumulation)))
    epochs = size.epochs if task == "translate" else CLASSIFIER_EPOCHS.get(size.records, 3)
    steps = asked.steps or max(LEAST_STEPS, min(epochs * per_epoch, size.updates))
    if asked.steps is None:
        rounds = round(steps / per_epoch) or 1
        decisions.append(
            f"{counted(steps, 'update')}: {counted(rounds, 'epoch')} of {per_epoch:,}; "
            "it stops before if nothing improves."
        )
    round_of = per_epoch // 2 if task == "classify" else per_epoch
    often = _validations(prepared, steps * batch_tokens * asked.accumulation)
    every = asked.validate_every or max(1, min(steps, max(round_of, 50, math.ceil(steps / often))))
    worked_out = schedule_for(steps)
    schedule = filled(asked.schedule, worked_out.model_dump()) if asked.schedule else worked_out
    smoothing = asked.label_smoothing
    settled = asked.model_copy(
        update={
            "steps": steps,
            "batch_tokens": batch_tokens,
            "validate_every": every,
            "schedule": schedule,
            "label_smoothing": (0.1 if task == "translate" else 0.0) if smoothing is None else smoothing,
            "hide": (0.0 if task == "translate" else HIDDEN) if asked.hide is None else asked.hide,
            "metric": asked.metric or _metric(prepared, decisions),
            "precision": _precision(asked.precision, decisions),
            "threads": asked.threads or share_of_cores(asked.processes),
        }
    )
    decisions.append(
        f"Batches of {batch_tokens:,} positions; learning rate up to {schedule.rate:g} after "
        f"{counted(schedule.warmup, 'update')}, then {schedule.shape}; validation by {settled.metric} every "
        f"{counted(every, 'update')}."
    )
    return settled, decisions


def _validations(prepared: Prepared, learned: int) -> int:
    """How many a run of so many tokens can afford. A small corpus may come with a large validation set."""
    if prepared.task == "classify":
        return VALIDATIONS
    written = int(prepared.valid.columns["target"].lengths().sum())
    return min(VALIDATIONS, max(FEW, learned // (DEAR * max(1, written))))


def _metric(prepared: Prepared, decisions: list[str]) -> Metric:
    """What validations go by: the usual, but for texts of which BLEU has nothing to count."""
    if prepared.task == "classify":
        return METRICS["classify"][0]
    if len(prepared.valid_records) < ENOUGH:
        few = counted(len(prepared.valid_records), "text")
        decisions.append(f"The validation set has {few}: chrF is gone by, since BLEU of so few may be 0 all along.")
        return "chrf"
    if too_short_for_bleu([str(record[1]) for record in prepared.valid_records], prepared.languages.target):
        decisions.append(f"Hardly any text has {RUN} words, which BLEU counts in a row: chrF is gone by.")
        return "chrf"
    return METRICS["translate"][0]


def _precision(asked: Precision | None, decisions: list[str]) -> Precision:
    """The one that is faster on this machine. It is stored, so that a run goes on in it anywhere."""
    if asked is not None:
        return asked
    measured = measure()
    if measured.precision == "bf16":
        decisions.append("Products in bf16: on this processor they are faster than in fp32.")
    return measured.precision


def share_of_cores(processes: int) -> int:
    """The threads of each process. They are stored with the run: another number would add up in another order."""
    return max(1, torch.get_num_threads() // processes)


def _schedule(model: ModelSettings, gently: int, steps: int) -> ScheduleSettings:
    """Up in a tenth of the updates at the most, then along a cosine down to the end of the run.

    Wide models learn at lower rates, trained ones at a part of them; recurrent and small ones warm up sooner.
    """
    rate, warmup = 0.002, 400
    if isinstance(model, TransformerSettings):
        rate, warmup = (0.005 if model.width <= NARROW else 0.003 * NARROW / model.width), 2_000
    elif isinstance(model, ClassifierSettings):
        warmup = 200
    else:
        rate *= min(1.0, 256 / model.width) ** 0.5
    return ScheduleSettings(rate=rate / gently, warmup=max(1, min(warmup, steps // 10)), shape="cosine")
