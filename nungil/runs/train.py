"""Whole runs: what `nungil train` and `nungil resume` do."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from nungil.errors import CheckpointError, UsageError
from nungil.runs.begin import RECIPE, begin
from nungil.runs.progress import Say, to_nobody, to_stderr
from nungil.runs.recipe import Recipe, read_recipe
from nungil.runs.result import Run
from nungil.runs.session import Session


def train(
    train: Any = None,
    *,
    out: str | Path,
    recipe: str | Path | None = None,
    quiet: bool = False,
    changes: tuple[str, ...] = (),
    **options: Any,
) -> Run:
    """What `nungil train` does. `options` are of the data (valid, test, source …), `steps`, or sections of a recipe.

    nungil.train("pairs.tsv", source="en", target="ko", out="runs/mine", model="luong", training={"patience": 3})
    """
    laid_over: dict[str, Any] = {"data": {}, "training": {}}
    for name, value in {"train": train, **options}.items():
        if value is None or value == ():
            continue
        if name in Recipe.model_fields:
            laid_over[name] = {**laid_over.get(name, {}), **value} if isinstance(value, Mapping) else value
        else:
            laid_over["training" if name == "steps" else "data"][name] = value
    settled = read_recipe(None if recipe is None else Path(recipe), laid_over, changes)
    return run(settled, Path(out), to_nobody if quiet else to_stderr)


def run(recipe: Recipe, out: Path, say: Say, beside: Collection[str] = ()) -> Run:
    """Train a model into a new folder, or into one with nothing but `beside` in it."""
    begin(recipe, out, say, beside)
    return Session.open(out, say).run()


def resume(folder: str | Path, *, quiet: bool = False) -> Run:
    """What `nungil resume` does: go on exactly where a run stopped. A finished run is finished once more, the same."""
    place, say = Path(folder), to_nobody if quiet else to_stderr
    if not place.is_dir():
        raise UsageError(f"{place}: there is no such folder; a run is what `nungil train` leaves")
    if not (place / RECIPE).is_file():
        raise CheckpointError(f"{place}: not a run that can be gone on with: there is no {RECIPE} in it")
    session = Session.open(place, say)
    say(f"Going on after update {session.done:,} of {session.settings.steps or 1:,}.")
    return session.run()
