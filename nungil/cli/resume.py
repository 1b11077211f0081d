"""`nungil resume`: go on exactly where a run stopped."""

from pathlib import Path
from typing import Annotated

import typer

from nungil.cli.talk import say


def resume(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a run that was stopped.")],
) -> None:
    """Go on with a run that was stopped, from its newest checkpoint. The result is the same as if it had not been.

    \b
    nungil resume runs/mine
    """
    from nungil.runs.train import resume as go_on

    done = go_on(folder)
    verb = "translate" if done.config.task == "translate" else "classify"
    say(f"The model and its card (README.md) are in {folder}\nNext: nungil {verb} {folder}")
