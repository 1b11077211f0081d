"""A run in progress: from a folder that `begin` wrote, or that a stopped run left, to the finished model."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from signal import Signals
from typing import Any

import torch

from nungil.batches.ahead import ahead
from nungil.batches.chance import seed_of
from nungil.batches.order import Order
from nungil.batches.recut import Recut
from nungil.decoding.settings import SearchSettings
from nungil.errors import CheckpointError, DivergedError, StoppedError, as_typed
from nungil.model.build import parameter_count, set_weights
from nungil.model.folder import Loaded, build_model, read_config, read_tokenizers, write_weights
from nungil.model.products import computing_in
from nungil.pipeline import opened
from nungil.runs.begin import DATA, RECIPE
from nungil.runs.card import write_card
from nungil.runs.fingerprints import Fingerprints, changes, fingerprints, other_torch
from nungil.runs.interrupt import Interrupt
from nungil.runs.memory import refuse_too_large
from nungil.runs.prepare import Prepared
from nungil.runs.progress import METRICS, Say, Teller, seconds_so_far, spell_time, to_nobody
from nungil.runs.recipe import Recipe
from nungil.runs.result import Run, write_result
from nungil.runs.saved import load_prepared
from nungil.runs.start import START
from nungil.runs.work import Validation, Work, work_on
from nungil.settings import read_settings
from nungil.text.counts import counted
from nungil.text.tokenizers.othercuts import other_cuts
from nungil.training.checkpoint import (
    average,
    checkpoint_name,
    drop_after,
    newest,
    optimizer_tensors,
    read_state,
    read_tensors,
    rotate,
    set_optimizer,
    verify,
    weights_of,
    write_checkpoint,
)
from nungil.training.course import BEGINNING, Place
from nungil.training.hiding import with_hidden_words
from nungil.training.losses import Loss
from nungil.training.optimizer import make_optimizer
from nungil.training.ranks import ALONE, Ranks
from nungil.training.schedule import rate_at
from nungil.training.settings import TrainingSettings
from nungil.training.shares import shares_of
from nungil.training.steps import Group, Rules, train
from nungil.training.stopping import Mark, Stopper


@dataclass
class Session:
    """The state of a run: everything needed to continue it."""

    recipe: Recipe
    prepared: Prepared
    folder: Path
    work: Work[Any]
    optimizer: torch.optim.Optimizer
    stopper: Stopper
    say: Say
    ranks: Ranks = ALONE
    done: int = 0
    place: Place = BEGINNING
    _saved_at: float = field(default_factory=time.perf_counter)

    @classmethod
    def open(cls, folder: Path, say: Say, ranks: Ranks = ALONE, accept_changes: bool = False) -> "Session":
        """Read the folder of a run, and its newest checkpoint if it has one."""
        recipe = read_settings(folder / RECIPE, Recipe)
        if recipe.training.threads is not None:
            torch.set_num_threads(recipe.training.threads)
        config = read_config(folder)
        if ranks.leads:  # before the others have any
            refuse_too_large(config, ranks.here)
        tokenizers = read_tokenizers(folder, config)
        torch.manual_seed(seed_of(recipe.seed, 0))
        loaded = Loaded(config, build_model(config), tokenizers)
        session = cls(
            recipe=recipe,
            prepared=load_prepared(folder / DATA, tokenizers),
            folder=folder,
            work=work_on(loaded, opened(loaded)),
            optimizer=make_optimizer(loaded.model, recipe.training.optimizer),
            stopper=Stopper(recipe.training.metric or "loss", recipe.training.patience),
            say=say if ranks.leads else to_nobody,
            ranks=ranks,
        )
        session._go_to_the_newest(accept_changes)
        return session

    def run(self) -> Run:
        """Train to the end; then choose the weights, score them, and write the card."""
        began = time.perf_counter()
        if self.recipe.start_from is not None and not self.done and self.ranks.leads:
            self.say(f"As it starts: {spelled(self._validation().scores)}")
        self._train()
        if self.ranks.leads:
            self._finish(began)
        self.ranks.most(0)  # the others wait, because they return the result, too
        return Run.read(self.folder)

    def _finish(self, began: float) -> None:
        trained = time.perf_counter()
        with self._all_cores():
            validation = self._choose()
            held_out = self.prepared.test_records
            test = self.work.score(held_out, search=SearchSettings()) if held_out else None
        ended = time.perf_counter()  # of a resumed run, the time before counts, too
        seconds = max(ended - began, seconds_so_far(self.folder / METRICS) + ended - trained)
        finished = Run(self.folder, self.work.loaded.config, validation, test, self.done, seconds)
        self.say(f"Trained in {spell_time(seconds)}.")
        self.say(f"Validation: {spelled(validation.scores)}")
        if test is not None:
            known = "not seen in training" if self.recipe.start_from is None else "not in its own training set"
            self.say(f"Test, {known}: {spelled(test.scores)}")
        write_card(finished, self.prepared, self.prepared.decisions, parameter_count(self._model))
        write_result(finished)

    @property
    def settings(self) -> TrainingSettings:
        """The complete training settings."""
        return self.recipe.training

    @property
    def was_under_way(self) -> bool:
        """Whether training had begun before."""
        return (self.folder / METRICS).exists()

    @property
    def is_trained(self) -> bool:
        """Whether no update is left to make."""
        return self.done >= self._total or self.stopper.is_over

    @property
    def _model(self) -> torch.nn.Module:
        return self.work.loaded.model

    @property
    def _total(self) -> int:
        return self.settings.steps or 1

    def _train(self) -> None:
        """Make the remaining updates, or fewer if nothing improves."""
        if self.is_trained:
            return
        with Interrupt() as interrupt:
            if self.ranks.leads:
                noun = "tokens" if self.prepared.task == "translate" else "texts"
                with Teller(self.folder, self.settings, self.say, noun, self.done) as teller:
                    self._make_updates(interrupt, teller)
            else:
                self._make_updates(interrupt, None)
        if interrupt.asked and self.ranks.world == 1:  # after the last update; several processes would have to agree
            raise self._stopped(interrupt.asked)
        if self.done < self._total:
            worse = f"neither score nor loss improved in the last {counted(self.settings.patience, 'validation')}"
            self.say(f"Stopped after {counted(self.done, 'update')}: {worse}.")

    def _make_updates(self, interrupt: Interrupt, teller: Teller | None) -> None:
        """The loop over updates. A signal to any process stops all of them after the same update."""
        with ahead(self._groups()) as groups:
            for step in train(self._model, groups, self._loss, self.optimizer, self._rules(), self.done):
                self.done, self.place = step.number, step.after
                if teller is not None:
                    teller.update(step)
                asked, due = self.ranks.most(interrupt.asked or 0, self._checkpoint_is_due())
                over = step.number == self._total
                if over or step.number % (self.settings.validate_every or self._total) == 0:
                    over = self._validated(teller) or over
                    (asked,) = self.ranks.most(interrupt.asked or 0)  # a signal may have come meanwhile
                elif asked or due:
                    self._save()
                if asked:
                    raise self._stopped(Signals(int(asked)))
                if over:
                    return

    def _stopped(self, asked: Signals) -> StoppedError:
        next_one = f"next: nungil resume {as_typed(self.folder)}"
        return StoppedError(f"stopped after update {self.done:,}, which is saved; {next_one}", asked)

    def _checkpoint_is_due(self) -> bool:
        return time.perf_counter() - self._saved_at > 60 * self.settings.checkpoint_minutes

    def _groups(self) -> Iterator[Group[Any]]:
        """The batches of the updates after those that are done."""
        order = Order(self.work.lengths(self.prepared.train), self.settings.batch_tokens or 1, self.recipe.seed)
        return self.work.groups(
            self.prepared.train, order, self.settings.accumulation, self.place, self.ranks, self._recut()
        )

    def _rules(self) -> Rules:
        schedule = self.settings.schedule
        if schedule is None:
            raise CheckpointError(f"{self.folder / RECIPE}: has no schedule; it was not written by a run")
        return Rules(
            rate_of=lambda update: rate_at(update, schedule, self._total),
            clip=self.settings.optimizer.clip,
            seed=self.recipe.seed,
            ranks=self.ranks,
            shares=self._shares,
        )

    @cached_property
    def _shares(self) -> int:
        return shares_of(torch.get_num_threads(), parameter_count(self._model), self.settings.batch_tokens or 1)

    def _recut(self) -> Recut | None:
        """How words are segmented anew in every epoch, if they are."""
        evenness, longest = self.settings.recut, self.work.loaded.config.longest
        cuts = None if evenness is None else other_cuts(*self.prepared.tokenizers, evenness)
        return None if cuts is None else Recut(cuts, self.recipe.seed, longest)

    def _loss(self, batch: Any) -> Loss:
        shown = with_hidden_words(batch, self.settings.hide or 0.0)
        with computing_in(self.settings.precision or "fp32", shared=self._shares > 1):
            return self.work.loss(shown, self.settings.label_smoothing or 0.0, self.settings.agreement or 0.0)

    def _validated(self, teller: Teller | None) -> bool:
        """Validate in the first process while the others wait; returns whether training is over."""
        if teller is not None:
            with teller.aside():
                self._validate(teller)
        self._save()
        (over,) = self.ranks.most(self.stopper.is_over)
        return bool(over)

    def _validate(self, teller: Teller) -> None:
        """Score, and keep the weights if they are the best so far."""
        _refuse_infinite(weights_of(self._model), self.done)
        with self._all_cores():
            found = self._validation(len(self.stopper.history))
        best = self.stopper.add(self.done, found.scores)
        mark = "  (best)" if best else ""
        text = f"validation after {counted(self.done, 'update')}: {spelled(found.scores)}{mark}\n  {found.example}"
        teller.validation(self.done, found.scores, text)
        if best:
            write_weights(self.folder, weights_of(self._model))

    @contextmanager
    def _all_cores(self) -> Iterator[None]:
        """While the other processes wait, the first uses their cores."""
        threads = torch.get_num_threads()
        torch.set_num_threads(threads * self.ranks.here)
        yield
        torch.set_num_threads(threads)

    def _save(self) -> None:
        """The first process writes a checkpoint, and deletes older ones when it is on disk."""
        if self.ranks.leads:
            self._write_checkpoint()
        self._saved_at = time.perf_counter()
        self.ranks.most(0)

    def _write_checkpoint(self) -> None:
        weights = weights_of(self._model)
        _refuse_infinite(weights, self.done)
        state = {
            "update": self.done,
            "place": list(self.place),
            "history": self.stopper.history,
            "fingerprints": self._fingerprints,
        }
        optimizer = optimizer_tensors(self._model, self.optimizer)
        write_checkpoint(self.folder / "checkpoints", self.done, weights, optimizer, state)
        rotate(self.folder / "checkpoints", {self._place(update) for update in (*self._candidates(), self.done)})

    def _go_to_the_newest(self, accept_changes: bool) -> None:
        """Restore the newest complete checkpoint, or start at the beginning."""
        place = newest(self.folder / "checkpoints")
        if place is None:
            self._go_to_the_start()
        else:
            self._restore(place, accept_changes)
        if self.ranks.leads:
            for name in drop_after(self.folder / "checkpoints", self.done):
                self.say(f"checkpoints/{name} is broken and was passed over.")

    def _go_to_the_start(self) -> None:
        """The weights of the model to start from; else what can be set without training."""
        if self.recipe.start_from is None:
            self.work.prime(self.prepared.train)
        else:
            set_weights(self._model, read_tensors(self.folder / DATA / START))

    def _restore(self, place: Path, accept_changes: bool) -> None:
        state = read_state(place)
        self._compare(state["fingerprints"], place, accept_changes)
        set_weights(self._model, read_tensors(place / "model.safetensors"))
        set_optimizer(self._model, self.optimizer, read_tensors(place / "optimizer.safetensors"))
        self.done, self.place = state["update"], Place(*state["place"])
        self.stopper.history = [Mark(*mark) for mark in state["history"]]

    def _compare(self, before: Mapping[str, Any], place: Path, accept_changes: bool) -> None:
        """Refuse to continue with changed data or settings, unless --accept-changes was given."""
        self.prepared.train.verify()
        self.prepared.valid.verify()
        now = self._fingerprints
        changed = changes(before, now)
        if changed and not accept_changes:
            raise CheckpointError(
                f"{self.folder}: not what {place.name} was trained with: {'; '.join(changed)}; restore it, "
                "train again in another folder, or continue with --accept-changes"
            )
        for what in changed:
            self.say(f"Accepted: {what}.")
        word = other_torch(before, now)
        if word is not None:
            self.say(word)

    @cached_property
    def _fingerprints(self) -> Fingerprints:
        return fingerprints(self.prepared, self.work.loaded.config, self.recipe, self.ranks.world)

    def _validation(self, shown: int = 0) -> Validation:
        return self.work.validate(
            self.prepared.valid, self.prepared.valid_records, self.settings.batch_tokens or 1, shown
        )

    def _place(self, update: int) -> Path:
        return self.folder / "checkpoints" / checkpoint_name(update)

    def _averaged(self) -> list[int]:
        """The updates to average: the best ones, or the last ones."""
        if self.settings.average_of == "best":
            return self.stopper.ranked()[: self.settings.average]
        return [mark.update for mark in self.stopper.history][-self.settings.average :]

    def _candidates(self) -> list[int]:
        """The updates whose weights would become the model if training ended now."""
        return [*self.stopper.ranked()[:1], *self._averaged()]

    def _is_whole(self, update: int) -> bool:
        try:
            verify(self._place(update))
        except CheckpointError:
            self.say(f"checkpoints/{checkpoint_name(update)} is broken and was passed over.")
            return False
        return True

    def _choose(self) -> Validation:
        """The better of the best checkpoint and the mean of several becomes the model.

        Damaged checkpoints are passed over.
        """
        whole = set(filter(self._is_whole, {*self._candidates(), self.done}))
        if not whole:
            raise CheckpointError(
                f"{self.folder}: the checkpoints that would become the model are broken; train again in another folder"
            )
        best = next(update for update in self.stopper.ranked() if update in whole)
        several = [update for update in self._averaged() if update in whole]
        weights = read_tensors(self._place(best) / "model.safetensors")
        set_weights(self._model, weights)
        found = self._validation()
        if len(several) > 1:
            mean = average(self._place(update) for update in several)
            set_weights(self._model, mean)
            averaged = self._validation()
            if self.stopper.is_better(averaged.scores, found.scores):
                self.say(f"The mean of {len(several)} checkpoints is better than the best one: it is the model.")
                weights, found = mean, averaged
            else:
                self.say(f"The mean of {len(several)} checkpoints is no better than the best one, of update {best:,}.")
        set_weights(self._model, weights)
        write_weights(self.folder, weights)
        return found


def spelled(scores: Mapping[str, float]) -> str:
    """`loss 1.234, BLEU 31.2, chrF 55.0`."""
    names = {"bleu": "BLEU", "chrf": "chrF", "accuracy": "accuracy", "macro_f1": "macro F1", "loss": "loss"}
    return ", ".join(
        f"{names[name]} {value:.3f}" if name == "loss" else f"{names[name]} {value:.1f}"
        for name, value in scores.items()
    )


def _refuse_infinite(weights: Mapping[str, torch.Tensor], update: int) -> None:
    """Fail before weights that are not finite are saved, so that the last checkpoint is a good one."""
    if not all(bool(torch.isfinite(tensor).all()) for tensor in weights.values()):
        raise DivergedError(
            f"training diverged: after update {update:,} the weights are not finite; "
            "lower the learning rate (--set training.schedule.rate=…) or warm up longer"
        )
