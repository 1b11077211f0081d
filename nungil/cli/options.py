"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated

import typer

from nungil.errors import UsageError

Others = Annotated[
    list[Path] | None,
    typer.Option("--with", metavar="DIR", help="Another model, to translate together with; may be repeated."),
]
Compute = Annotated[
    str | None, typer.Option(metavar="TYPE", help="With ctranslate2: float32, int8 and others that it has.")
]
Split = Annotated[bool, typer.Option(help="Translate a line sentence by sentence.")]


def two_columns(text: str | None) -> tuple[str, ...]:
    """`en,ko` as two names; nothing as none."""
    if text is None:
        return ()
    if text.count(",") != 1:
        raise UsageError("--columns takes two, by name or by number: --columns en,ko or --columns 2,3")
    return tuple(name.strip() for name in text.split(","))
