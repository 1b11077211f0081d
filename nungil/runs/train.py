"""Whole runs: what `nungil train` and `nungil resume` do, in one process or in several."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import torch

from nungil.errors import CheckpointError, DivergedError, ProcessError, StoppedError, UsageError, as_typed
from nungil.runs.begin import RECIPE, begin, write_recipe
from nungil.runs.interrupt import ended_at_once
from nungil.runs.launch import hold_on, launch
from nungil.runs.plan import share_of_cores
from nungil.runs.progress import Say, to_nobody, to_stderr
from nungil.runs.recipe import Recipe, read_recipe
from nungil.runs.result import Run
from nungil.runs.session import Session
from nungil.settings import build_settings, read_settings
from nungil.text.files import path_of
from nungil.text.lock import locked
from nungil.training.ranks import Ranks, joined
from nungil.training.settings import TrainingSettings

OF_TRAINING = ("steps", "processes")  # short for `training={…}`
SHORT = ("data", "training")  # sections whose settings may be given directly
ENDING = 5.0  # seconds to wait for a killed process to end


def train(
    train: Any = None,
    *,
    out: str | Path,
    recipe: str | Path | None = None,
    quiet: bool = False,
    changes: tuple[str, ...] = (),
    **options: Any,
) -> Run:
    """What `nungil train` does. `options` are of the data (valid, test, source …), `steps`, `processes`, or sections.

    nungil.train("pairs.tsv", source="en", target="ko", out="runs/mine", model="luong", training={"patience": 3})
    """
    place = path_of(out, "out, the new model folder,")
    given = {
        name: value
        for name, value in {"train": train, **options}.items()
        if not (value is None or (isinstance(value, tuple) and not value))
    }
    laid_over: dict[str, Any] = {section: _section(given.pop(section, {}), section) for section in SHORT}
    for name, value in given.items():
        if name in Recipe.model_fields:
            laid_over[name] = value
        else:
            laid_over["training" if name in OF_TRAINING else "data"][name] = value
    settled = read_recipe(None if recipe is None else path_of(recipe, "a recipe"), laid_over, changes)
    return run(settled, place, to_nobody if quiet else to_stderr)


def _section(given: Any, name: str) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise UsageError(f"train() was given {given!r} as {name}, a section of settings: {name}={{'name': value, …}}")
    return dict(given)


@contextmanager
def _torch_as_it_was() -> Iterator[None]:
    """Restore torch's thread count and random state, which a run changes."""
    threads = torch.get_num_threads()
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        torch.set_num_threads(threads)


def run(recipe: Recipe, out: Path, say: Say, beside: Collection[str] = ()) -> Run:
    """Train a model in a new folder, or in one that contains only `beside`."""
    with _torch_as_it_was(), joined() as ranks:
        if ranks.leads:
            begin(_as_started(recipe, ranks), out, say, beside)
        ranks.most(0)
        return _go_on(out, say, ranks)


def resume(
    folder: str | Path, *, processes: int | None = None, accept_changes: bool = False, quiet: bool = False
) -> Run:
    """What `nungil resume` does: continue a run exactly where it stopped. A finished run is scored again."""
    place, say = path_of(folder, "the folder of a run"), to_nobody if quiet else to_stderr
    if not place.is_dir():
        raise UsageError(f"{place}: there is no such folder; a run is what `nungil train` leaves")
    if not (place / RECIPE).is_file():
        raise CheckpointError(f"{place}: not a run that can be resumed: there is no {RECIPE} in it")
    hold_on()
    with _torch_as_it_was(), joined() as ranks:
        if ranks.leads and processes is not None:
            with _alone(place):  # not while it runs
                _change_processes(place, processes, accept_changes)
        return _go_on(place, say, ranks, accept_changes, resumed=True)


def _go_on(folder: Path, say: Say, ranks: Ranks, accept_changes: bool = False, *, resumed: bool = False) -> Run:
    """Continue the run of a folder to its end: in this process, with those started with it, or by starting others."""
    training = read_settings(folder / RECIPE, Recipe).training
    if ranks.world == 1 and training.processes > 1:
        options = ["--accept-changes"] * accept_changes + ["--quiet"] * (say is to_nobody)
        launch(folder, training.processes, training.threads or 1, options)
        return Run.read(folder)
    stopped = f"stopped; next: nungil resume {as_typed(folder)}"
    with (
        _alone(folder) if ranks.leads else nullcontext(),
        ended_at_once(stopped) if ranks.world == 1 else nullcontext(),
    ):
        session = _opened(folder, say, ranks, accept_changes)
        if resumed and (session.done or session.was_under_way):
            session.say(_standing(session))
        try:
            return session.run()
        except (StoppedError, DivergedError) as error:
            if ranks.leads:
                raise
            raise ProcessError(str(error), error.exit_code) from None  # all processes raise it; the first reports it


def _standing(session: Session) -> str:
    """Where a resumed run continues."""
    if not session.done:
        return "There is no checkpoint: starting over at the first update."
    if session.is_trained:
        return f"All {session.done:,} updates are done: choosing and scoring the model again."
    return f"Continuing after update {session.done:,} of {session.settings.steps or 1:,}."


def _alone(folder: Path) -> AbstractContextManager[None]:
    """Lock the folder: two runs would delete each other's checkpoints.

    Waits a moment for a process that was just killed.
    """
    return locked(folder, f"{folder}: another process is training in it; wait until it has ended, or stop it", ENDING)


def _opened(folder: Path, say: Say, ranks: Ranks, accept_changes: bool) -> Session:
    """Open the session, in the first process before the others, so that errors are reported once."""
    if not ranks.leads:
        ranks.most(0)
    session = Session.open(folder, say, ranks, accept_changes)
    if ranks.leads:
        ranks.most(0)
    return session


def _as_started(recipe: Recipe, ranks: Ranks) -> Recipe:
    """The recipe with the number of processes that torchrun started, if it did."""
    asked = recipe.training.processes
    if ranks.world == 1:
        return recipe
    if asked not in (1, ranks.world):
        raise UsageError(f"{ranks.world} processes were started, but the recipe says {asked}; leave one of the two out")
    threads = recipe.training.threads or torch.get_num_threads()
    return _with_processes(recipe, ranks.world, threads)


def _change_processes(folder: Path, processes: int, accept_changes: bool) -> None:
    """Change the number of processes of a run, if --accept-changes was given."""
    recipe = read_settings(folder / RECIPE, Recipe)
    before = recipe.training.processes
    if processes == before:
        return
    if not accept_changes:
        raise UsageError(
            f"{folder}: --processes {processes}, but it was started with {before}, and another number sums in another "
            "order; continue as it was started, or add --accept-changes"
        )
    write_recipe(folder, _with_processes(recipe, processes, share_of_cores(max(1, processes))))


def _with_processes(recipe: Recipe, processes: int, threads: int) -> Recipe:
    said = recipe.training.model_dump(exclude_unset=True)
    training = build_settings(
        {**said, "processes": processes, "threads": threads}, TrainingSettings, "recipe, training"
    )
    return recipe.model_copy(update={"training": training})
