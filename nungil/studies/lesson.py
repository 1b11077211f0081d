"""Lesson: an arm trained on the material, by the same loop as every run of nungil."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np
import torch

from nungil.batches.batch import LabelledBatch, PairBatch, pad, surround
from nungil.batches.chance import seed_of
from nungil.batches.order import Order, Rows
from nungil.errors import DivergedError
from nungil.model.build import Model, build_classifier, build_translator, parameter_count
from nungil.model.classifier import AttentionClassifier, ClassifierSettings
from nungil.model.embedding import Embedding
from nungil.model.vocabulary import Vocabulary
from nungil.studies.arm import Arm
from nungil.studies.material import Material, Sentence
from nungil.text.tokenizers.base import EOS, SOS
from nungil.training.course import updates
from nungil.training.losses import Loss, classification_loss, translation_loss
from nungil.training.optimizer import OptimizerSettings, make_optimizer
from nungil.training.schedule import ScheduleSettings, rate_at
from nungil.training.steps import Group, Rules, train

WARMUP = 10  # one in so many updates
VALID_ROWS = 100  # sentences that are validated on together
WAKING = 1  # updates at the start that do not count for the time: memory is found and code is loaded in them


@dataclass(frozen=True)
class Course:
    """How an arm is trained."""

    updates: int
    rate: float
    seed: int
    batch: int


@dataclass(frozen=True)
class Trained:
    """A trained model, ready to be examined. `validation` is None where training diverged."""

    arm: Arm
    model: Model
    parameters: int
    updates: int
    seconds: float
    predictions_per_second: float
    validation: float | None
    seed: int = 0


Batch = PairBatch | LabelledBatch


class Desk:
    """The training sentences as ids, from which batches are made."""

    def __init__(self, material: Material, sentences: Sequence[Sentence]) -> None:
        cut = material.tokenizers
        self.material = material
        self.sources = [cut.source.encode(one.source) for one in sentences]
        if material.task == "classify":
            self.targets = [[material.labels.index(one.target)] for one in sentences]
        else:
            self.targets = [cut.target.encode(one.target) for one in sentences]

    def lengths(self) -> list[Rows]:
        """Of both sides, marks counted."""
        sides = [[len(surround(ids, "both")) for ids in self.sources]]
        if self.material.task == "translate":
            sides.append([len(ids) + 1 for ids in self.targets])
        return [np.array(side) for side in sides]

    def batch(self, rows: Sequence[int] | Rows) -> Batch:
        """These sentences, padded."""
        source, keep = pad([np.array(surround(self.sources[row], "both")) for row in rows])
        if self.material.task == "classify":
            return LabelledBatch(source, keep, torch.tensor([self.targets[row][0] for row in rows]))
        target_in, target_keep = pad([np.array([SOS, *self.targets[row]]) for row in rows])
        target_out, _ = pad([np.array([*self.targets[row], EOS]) for row in rows])
        return PairBatch(source, keep, target_in, target_out, target_keep)


def build(arm: Arm, material: Material, seed: int) -> Model:
    """The arm's model, its weights drawn by the seed."""
    torch.manual_seed(seed_of(seed, 0))
    sizes, settings = material.tokenizers, arm.model
    if settings is None:
        raise TypeError(f"{arm.name} is not a model of nungil")
    model: Model
    if isinstance(settings, ClassifierSettings):
        model = build_classifier(settings, sizes.source.size, len(material.labels))
    else:
        vocabulary = Vocabulary(source=sizes.source.size, target=sizes.target.size, joint=sizes.joint)
        model = build_translator(settings, vocabulary)
    if arm.frozen:
        for part in model.modules():
            if isinstance(part, Embedding):
                part.table.weight.requires_grad_(False)
    return model


def teach(arm: Arm, material: Material, course: Course) -> Trained:
    """So many updates: the rate rises for a tenth of them, then falls along a cosine."""
    model, desk = build(arm, material, course.seed), Desk(material, material.train)
    schedule = ScheduleSettings(shape="cosine", rate=course.rate, warmup=max(1, course.updates // WARMUP))
    settings = OptimizerSettings()
    rules = Rules(lambda update: rate_at(update, schedule, course.updates), settings.clip, course.seed)
    steps = train(model, _groups(desk, course), loss_of(model), make_optimizer(model, settings), rules)
    seconds, predictions, validation = 0.0, 0, None
    try:
        since = time.perf_counter()
        for step in islice(steps, course.updates):
            now = time.perf_counter()
            if step.number > WAKING:
                seconds, predictions = seconds + now - since, predictions + step.predictions
            since = now
        validation = validate(model, material)
    except DivergedError:
        pass  # a rate that is too high is a result of a sweep, too
    model.eval()
    seconds *= course.updates / max(1, course.updates - WAKING)
    speed = predictions / seconds if seconds else 0.0
    return Trained(arm, model, parameter_count(model), course.updates, seconds, speed, validation, course.seed)


def loss_of(model: Model) -> Callable[[Batch], Loss]:
    """The loss of a batch."""
    if isinstance(model, AttentionClassifier):
        return partial(classification_loss, model)
    return partial(translation_loss, model)


@torch.no_grad()
def validate(model: Model, material: Material) -> float | None:
    """The loss for each prediction on the validation set; None if it is no number."""
    model.eval()
    desk, loss, total, predictions = Desk(material, material.valid), loss_of(model), 0.0, 0
    for first in range(0, len(material.valid), VALID_ROWS):
        found = loss(desk.batch(range(first, min(first + VALID_ROWS, len(material.valid)))))
        total, predictions = total + found.plain, predictions + found.predictions
    mean = total / predictions
    return mean if math.isfinite(mean) else None


def _groups(desk: Desk, course: Course) -> Iterator[Group[Batch]]:
    order = Order(desk.lengths(), course.batch, course.seed)
    for update in updates(order):
        batches = [desk.batch(rows) for rows in update.groups]
        count = sum(int(one.target_keep.sum()) if isinstance(one, PairBatch) else len(one.label) for one in batches)
        yield Group(batches, count, update.epoch, update.after)
