"""Fills in what a recipe leaves open, from the data: model sizes, batch, steps, learning rate. Each with its reason.

Small data gets a small model and strong dropout. Results on real corpora are in docs/results.md.
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
    """The defaults for corpora of up to so many records."""

    records: int
    transformer: dict[str, Any]
    recurrent: dict[str, Any]
    classifier: dict[str, Any]
    batch_tokens: int
    epochs: int
    updates: int  # at most: long sentences need no more than short ones
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
GENTLY = 4  # divides the learning rate of a run that starts from a trained model, which should not forget
SOONER = 2  # divides the epochs of recurrent translators: an update is slower, but achieves more (docs/results.md)
NARROW = 128  # width up to which a Transformer learns best at a high rate (docs/results.md, Multi30k)
LEAST_STEPS = 1_000  # an epoch of a small corpus has few updates; early stopping ends a run that no longer improves
TEXTS = 48  # least texts of a batch, on average: a label carries little information (docs/results.md, IMDB)
HIDDEN = 0.2  # `hide` of classifiers, which would learn texts by heart (docs/results.md)
LONGEST_NGRAM = {"character": 5}  # about a word; for other units three (docs/results.md, NSMC)
FEWEST, MOST = 2**14, 2**23  # least buckets of n-grams; most buckets × labels: two tables of 34 MB
VALIDATIONS, FEW = 40, 10  # validations of a run: the usual, and the least where they take long
DEAR = 5  # tokens trained on in the time that an early model, which writes up to the limit, translates one
CLASSIFIER_EPOCHS = {6_000: 30, 60_000: 5, 600_000: 5}  # by records; fewer, as texts are long

METRICS: dict[Task, tuple[Metric, ...]] = {"translate": ("bleu", "chrf", "loss"), "classify": ("accuracy", "loss")}


@dataclass(frozen=True)
class Plan:
    """Complete settings of a model and its training, and the decisions made, a sentence each."""

    model: ModelSettings
    training: TrainingSettings
    decisions: tuple[str, ...]


def make_plan(recipe: Recipe, prepared: Prepared, positions: int, longest: int) -> Plan:
    """Fill in whatever the recipe leaves open.

    `positions` are the tokens of one side in an epoch, `longest` those of the longest row allowed, marks included.
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
    """Whether it is a translator with default settings, for which typical scores have been measured."""
    given = recipe.model
    sizes_open = given is None or (isinstance(given, TransformerSettings) and given.model_fields_set <= {"kind"})
    return task == "translate" and sizes_open and recipe.training.steps is None and recipe.start_from is None


def refuse_other_task(recipe: Recipe, task: Task) -> None:
    """Refuse settings that do not fit the task of the data."""
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
    """The recipe's model settings, completed with those of the size."""
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
    """About as many buckets as there are tokens; fewer for many labels, since each has a column."""
    places = min(max(1 << (positions - 1).bit_length(), FEWEST), MOST // labels)
    return {"longest": LONGEST_NGRAM.get(recipe.tokenizer.unit, NgramSettings().longest), "buckets": places}


def filled(given: S, worked_out: Mapping[str, Any]) -> S:
    """The settings with defaults filled in, validated again."""
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
            f"{counted(steps, 'update')}: {counted(rounds, 'epoch')} of {per_epoch:,}; fewer if nothing improves."
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
    """How many validations a run of so many tokens can afford: the validation set may be large."""
    if prepared.task == "classify":
        return VALIDATIONS
    written = int(prepared.valid.columns["target"].lengths().sum())
    return min(VALIDATIONS, max(FEW, learned // (DEAR * max(1, written))))


def _metric(prepared: Prepared, decisions: list[str]) -> Metric:
    """The metric of validations: the usual one, unless texts are too short for BLEU."""
    if prepared.task == "classify":
        return METRICS["classify"][0]
    if len(prepared.valid_records) < ENOUGH:
        few = counted(len(prepared.valid_records), "text")
        decisions.append(f"The validation set has {few}: validation by chrF, because BLEU of so few is often 0.")
        return "chrf"
    if too_short_for_bleu([str(record[1]) for record in prepared.valid_records], prepared.languages.target):
        decisions.append(f"Hardly any text has the {RUN} words that BLEU needs: validation by chrF.")
        return "chrf"
    return METRICS["translate"][0]


def _precision(asked: Precision | None, decisions: list[str]) -> Precision:
    """The faster precision on this machine. It is stored, so that a resumed run keeps it anywhere."""
    if asked is not None:
        return asked
    measured = measure()
    if measured.precision == "bf16":
        decisions.append("Products in bf16: on this processor they are faster than in fp32.")
    return measured.precision


def share_of_cores(processes: int) -> int:
    """The threads of each process. Stored with the run: another number would sum in another order."""
    return max(1, torch.get_num_threads() // processes)


def _schedule(model: ModelSettings, gently: int, steps: int) -> ScheduleSettings:
    """A warm-up of at most a tenth of the updates, then a cosine down to the end of the run.

    Wide and already trained models get lower rates; recurrent models and classifiers a shorter warm-up.
    """
    rate, warmup = 0.002, 400
    if isinstance(model, TransformerSettings):
        rate, warmup = (0.005 if model.width <= NARROW else 0.003 * NARROW / model.width), 2_000
    elif isinstance(model, ClassifierSettings):
        warmup = 200
    else:
        rate *= min(1.0, 256 / model.width) ** 0.5
    return ScheduleSettings(rate=rate / gently, warmup=max(1, min(warmup, steps // 10)), shape="cosine")
