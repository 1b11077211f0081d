"""`nungil resume`: continue a run exactly where it stopped."""

from pathlib import Path
from typing import Annotated

import typer

from nungil.cli.talk import has_the_last_word
from nungil.cli.train import say_what_is_next


def resume(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a stopped run.")],
    processes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Processes from now on; needs --accept-changes.")
    ] = None,
    accept_changes: Annotated[
        bool,
        typer.Option(
            "--accept-changes",
            help="Continue even if data, training settings or the number of processes have changed.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Continue a stopped run from its newest checkpoint. The result is the same as without the stop.

    \b
    nungil resume runs/mine
    nungil resume runs/mine --processes 4 --accept-changes
    """
    from nungil.runs.train import resume as go_on

    done = go_on(folder, processes=processes, accept_changes=accept_changes, quiet=quiet)
    if quiet or not has_the_last_word():
        return
    say_what_is_next(done.config.task, folder)
