"""A whole run: data, tokenizers, plan, training, validation, the finished model folder."""

import json
import shutil
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from nungil.batches.order import Order, Rows
from nungil.errors import ConfigError, DivergedError, UsageError
from nungil.model.build import parameter_count
from nungil.model.classifier import ClassifierSettings
from nungil.model.folder import Loaded, ModelConfig, build_model, write_config, write_tokenizers, write_weights
from nungil.model.scores import ScoreSettings
from nungil.model.vocabulary import Vocabulary
from nungil.pipeline import opened
from nungil.runs.card import write_card
from nungil.runs.data import open_data
from nungil.runs.plan import Plan, make_plan, refuse_other_task
from nungil.runs.prepare import LONGEST, Prepared, prepare
from nungil.runs.progress import Metrics, Pace, Say, Watch, spell_time, to_nobody, to_stderr
from nungil.runs.recipe import Recipe, read_recipe
from nungil.runs.result import Run
from nungil.runs.work import Validation, Work, work_on
from nungil.text.atomic import whole_file
from nungil.training.checkpoint import (
    average,
    checkpoint_name,
    optimizer_tensors,
    read_tensors,
    rotate,
    set_weights,
    weights_of,
    write_checkpoint,
)
from nungil.training.course import BEGINNING
from nungil.training.optimizer import make_optimizer
from nungil.training.schedule import rate_at
from nungil.training.settings import TrainingSettings
from nungil.training.steps import Rules, Step, seed_of
from nungil.training.steps import train as train_steps
from nungil.training.stopping import Stopper

MARK_TOKENS = 2


def train(
    train: Any = None,
    *,
    out: str | Path,
    recipe: str | Path | None = None,
    quiet: bool = False,
    changes: tuple[str, ...] = (),
    **options: Any,
) -> Run:
    """What `nungil train` does. `options` are of the data (valid, test, source, target …), model, steps or seed.

    nungil.train("pairs.tsv", source="en", target="ko", out="runs/mine")
    """
    laid_over: dict[str, Any] = {"data": {}, "training": {}}
    for name, value in {"train": train, **options}.items():
        if value is None or value == ():
            continue
        if name in ("model", "seed"):
            laid_over[name] = value
        else:
            laid_over["training" if name == "steps" else "data"][name] = value
    settled = read_recipe(None if recipe is None else Path(recipe), laid_over, changes)
    return run(settled, Path(out), to_nobody if quiet else to_stderr)


def run(recipe: Recipe, out: Path, say: Say, beside: Collection[str] = ()) -> Run:
    """Train a model into a new folder, or into one with nothing but `beside` in it.

    If anything is refused before the first update, nothing is left of it.
    """
    refuse_existing(out, beside)
    made = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{out}: the folder cannot be made: {error.strerror}") from None
    try:
        refuse_other_task(recipe, open_data(recipe.data).task)  # before hours are spent on reading
        say("Reading the data and learning how to cut it into tokens …")
        prepared = prepare(recipe.data, recipe.cleaning, recipe.tokenizer, out / "data", recipe.seed)
        training = _Training.begin(recipe, prepared, out, say)
    except BaseException:
        _empty(out, beside)
        _remove(made)
        raise
    return training.run()


def refuse_existing(out: Path, beside: Collection[str] = ()) -> None:
    """A run never writes over anything."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"{out}: this is a file; --out takes a folder")
    if out.is_dir() and any(path.name not in beside for path in out.iterdir()):
        what = "holds a model already" if (out / "config.json").exists() else "is not empty"
        raise UsageError(f"{out}: {what}, and training never writes over anything; choose another --out")


def _empty(folder: Path, beside: Collection[str]) -> None:
    for path in folder.iterdir():
        if path.name in beside:
            continue
        shutil.rmtree(path, ignore_errors=True) if path.is_dir() else path.unlink()


def _remove(folders: Sequence[Path]) -> None:
    """Remove folders, the innermost first, as long as nobody has put anything into them."""
    with suppress(OSError):
        for folder in folders:
            folder.rmdir()


@dataclass
class _Training:
    """A run under way."""

    recipe: Recipe
    prepared: Prepared
    settings: TrainingSettings
    folder: Path
    work: Work[Any]
    metrics: Metrics
    say: Say
    decisions: tuple[str, ...]

    @classmethod
    def begin(cls, recipe: Recipe, prepared: Prepared, folder: Path, say: Say) -> "_Training":
        """Work out what is open, say it, store it, and build the model."""
        plan = _plan(recipe, prepared)
        config = _config(recipe, prepared, plan, write_tokenizers(folder, prepared.tokenizers))
        torch.manual_seed(seed_of(recipe.seed, 0))
        model = build_model(config)
        loaded = Loaded(config, model, prepared.tokenizers)
        decisions = (*prepared.decisions, _about_model(config, parameter_count(model)), *plan.decisions)
        for decision in decisions:
            say(decision)
        write_config(folder, config)
        _write_recipe(folder, recipe, plan)
        work = work_on(loaded, opened(loaded))
        _refuse_small_batches(plan.training.batch_tokens or 1, work.lengths(prepared.train))
        metrics = Metrics(folder, plan.training.tensorboard)
        return cls(recipe, prepared, plan.training, folder, work, metrics, say, decisions)

    def run(self) -> Run:
        """Train to the end, choose the weights, score them, and write the card."""
        began = time.perf_counter()
        self.stopper = Stopper(self.settings.metric or "loss", self.settings.patience)
        self.optimizer = make_optimizer(self._model, self.settings.optimizer)
        try:
            last = self._train()
            validation = self._choose()
        finally:
            self.metrics.close()
        test = self.work.score(self.prepared.test_records) if self.prepared.test_records else None
        seconds = time.perf_counter() - began
        done = Run(self.folder, self.work.loaded.config, validation, test, last, seconds)
        self._say_scores(done)
        write_card(done, self.prepared, self.decisions, parameter_count(self._model))
        return done

    @property
    def _model(self) -> torch.nn.Module:
        return self.work.loaded.model

    @property
    def _checkpoints(self) -> Path:
        return self.folder / "checkpoints"

    def _train(self) -> int:
        """All updates, or fewer if nothing improves."""
        settings, total = self.settings, self.settings.steps or 1
        order = Order(self.work.lengths(self.prepared.train), settings.batch_tokens or 1, self.recipe.seed)
        groups = self.work.groups(self.prepared.train, order, settings.accumulation, BEGINNING)
        pace = Pace(0, total)
        noun = "tokens" if self.prepared.task == "translate" else "texts"
        with Watch(self.say, pace, settings.log_every, noun) as watch:
            pace.start()
            for step in train_steps(self._model, groups, self._loss, self.optimizer, self._rules(total)):
                pace.add(step)
                watch.show(step)
                self._log(step, pace)
                if step.skipped:
                    watch.say(
                        f"update {step.number:,} was left out: its gradient is not finite (epoch {step.epoch + 1})"
                    )
                if step.number % (settings.validate_every or total) == 0 or step.number == total:
                    pace.pause()
                    watch.say(self._validate(step))
                    pace.start()
                if step.number == total or self.stopper.is_over:
                    break
        if step.number < total:
            self.say(f"Stopped after {step.number:,} updates: the last {settings.patience} validations were no better.")
        return step.number

    def _loss(self, batch: Any) -> Any:
        return self.work.loss(batch, self.settings.label_smoothing or 0.0)

    def _rules(self, total: int) -> Rules:
        schedule = self.settings.schedule
        if schedule is None:
            raise ValueError("a plan has a schedule")
        return Rules(lambda update: rate_at(update, schedule, total), self.settings.optimizer.clip, self.recipe.seed)

    def _log(self, step: Step, pace: Pace) -> None:
        if step.number % self.settings.log_every == 0 or step.skipped:
            numbers = {
                "epoch": step.epoch,
                "loss": step.loss,
                "accuracy": step.accuracy,
                "gradient": step.gradient,
                "rate": step.rate,
                "per_second": round(pace.per_second, 1),
            }
            self.metrics.add("train", step.number, numbers)

    def _validate(self, step: Step) -> str:
        """Score, keep a checkpoint, and let go of those that are not needed."""
        weights = weights_of(self._model)
        _refuse_infinite(weights, step.number)
        found = self._validation(len(self.stopper.history))
        best = self.stopper.add(step.number, found.scores[self.stopper.metric])
        self.metrics.add("validation", step.number, found.scores)
        state = {"update": step.number, "place": step.after, "history": self.stopper.history}
        write_checkpoint(
            self._checkpoints,
            step.number,
            weights,
            optimizer_tensors(self._model, self.optimizer),
            state,
        )
        if best:
            write_weights(self.folder, weights)
        rotate(self._checkpoints, {self._place(update) for update in (*self._candidates(), step.number)})
        mark = "  (best)" if best else ""
        return f"validation after {step.number:,} updates: {spelled(found.scores)}{mark}\n  {found.example}"

    def _validation(self, shown: int = 0) -> Validation:
        return self.work.validate(
            self.prepared.valid, self.prepared.valid_records, self.settings.batch_tokens or 1, shown
        )

    def _place(self, update: int) -> Path:
        return self._checkpoints / checkpoint_name(update)

    def _candidates(self) -> list[int]:
        """The updates whose weights would be averaged now: the best or the last ones, and always the best one."""
        ranked = self.stopper.ranked()
        last = [update for update, _ in self.stopper.history][::-1]
        chosen = ranked if self.settings.average_of == "best" else last
        return [*dict.fromkeys([ranked[0], *chosen[: self.settings.average]])]

    def _choose(self) -> Validation:
        """The better of the best checkpoint and the mean of several becomes the model."""
        best = self.stopper.ranked()[0]
        candidates = self._candidates()
        if self.settings.average_of == "last":
            candidates = [update for update, _ in self.stopper.history][-self.settings.average :]
        weights = read_tensors(self._place(best) / "model.safetensors")
        set_weights(self._model, weights)
        single = self._validation()
        if len(candidates) > 1 and self.settings.average > 1:
            mean = average(self._place(update) for update in candidates)
            set_weights(self._model, mean)
            averaged = self._validation()
            metric = self.stopper.metric
            if self.stopper.is_better(averaged.scores[metric], single.scores[metric]):
                self.say(f"The mean of {len(candidates)} checkpoints is better than the best one: it is the model.")
                write_weights(self.folder, mean)
                return averaged
            self.say(f"The mean of {len(candidates)} checkpoints is no better than the best one, of update {best:,}.")
        set_weights(self._model, weights)
        write_weights(self.folder, weights)
        return single

    def _say_scores(self, done: Run) -> None:
        self.say(f"Trained in {spell_time(done.seconds)}.")
        self.say(f"Validation: {spelled(done.validation.scores)}")
        if done.test is not None:
            self.say(f"Test, never seen in training: {spelled(done.test.scores)}")


def spelled(scores: Mapping[str, float]) -> str:
    """`loss 1.234, BLEU 31.2, chrF 55.0`."""
    names = {"bleu": "BLEU", "chrf": "chrF", "accuracy": "accuracy", "macro_f1": "macro F1", "loss": "loss"}
    return ", ".join(
        f"{names[name]} {value:.3f}" if name == "loss" else f"{names[name]} {value:.1f}"
        for name, value in scores.items()
    )


def _plan(recipe: Recipe, prepared: Prepared) -> Plan:
    longest = recipe.data.longest or LONGEST[prepared.task]
    sides = [column.lengths() for name, column in prepared.train.columns.items() if name != "label"]
    positions = sum(int(side.sum()) + MARK_TOKENS * len(side) for side in sides) // len(sides)
    plan = make_plan(recipe, prepared, positions, longest + MARK_TOKENS)
    score = getattr(plan.model, "score", None)
    if isinstance(score, ScoreSettings) and score.name == "location" and score.longest < longest + MARK_TOKENS:
        raise ConfigError(
            "recipe",
            [f"[model.score] longest: {score.longest} positions are too few for {longest} tokens and two marks"],
        )
    return plan


def _refuse_small_batches(batch_tokens: int, lengths: Sequence[Rows]) -> None:
    longest = max(int(side.max()) for side in lengths)
    if batch_tokens < longest:
        raise ConfigError(
            "recipe",
            [
                f"[training] batch_tokens: {batch_tokens:,} is too few: the longest sentence has {longest:,} tokens, "
                "marks included; allow more, or leave long ones out (--set data.longest=…)"
            ],
        )


def _refuse_infinite(weights: Mapping[str, torch.Tensor], update: int) -> None:
    """Nothing comes back from infinity, and no such weights are kept: the last checkpoint is a finite one."""
    if not all(bool(torch.isfinite(tensor).all()) for tensor in weights.values()):
        raise DivergedError(
            f"training diverged: after update {update:,} the weights are not finite; "
            "lower the learning rate (--set training.schedule.rate=…) or warm up longer"
        )


def _config(recipe: Recipe, prepared: Prepared, plan: Plan, files: dict[str, str]) -> ModelConfig:
    tokenizers = prepared.tokenizers
    joint = tokenizers.joint and prepared.task == "translate"
    return ModelConfig(
        task=prepared.task,
        source=prepared.languages.source,
        target=prepared.languages.target,
        marks=recipe.marks or ("none" if isinstance(plan.model, ClassifierSettings) else "both"),
        longest=recipe.data.longest or LONGEST[prepared.task],
        vocabulary=Vocabulary(source=tokenizers.source.size, target=tokenizers.target.size, joint=joint),
        labels=prepared.labels,
        tokenizer=recipe.tokenizer,
        files=files,
        model=plan.model,
    )


def _write_recipe(folder: Path, recipe: Recipe, plan: Plan) -> None:
    """The recipe with nothing left open: what was worked out is stored beside the model."""
    settled = recipe.model_copy(update={"model": plan.model, "training": plan.training})
    with whole_file(folder / "recipe.json") as file:
        file.write(json.dumps(settled.model_dump(mode="json"), ensure_ascii=False, indent=1) + "\n")


def _about_model(config: ModelConfig, parameters: int) -> str:
    model = config.model
    if isinstance(model, ClassifierSettings):
        what = f"classifier, {model.encoder} encoder of width {model.width}, {model.pooling} pooling"
    elif model.kind == "recurrent":
        attention = "no attention" if model.decoder == "plain" else f"{model.decoder} attention ({model.score.name})"
        what = f"{model.cell.upper()} encoder-decoder of width {model.width}, {attention}"
    else:
        what = f"Transformer of width {model.width}, {model.encoder_layers} + {model.decoder_layers} layers"
    return f"Model: {what}, dropout {model.dropout:g}; {parameters:,} parameters."
