"""Files that `nungil look` writes; large ones only after a question."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from nungil.cli.talk import say
from nungil.errors import StoppedError, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from nungil.inspection.drawings.drawing import Drawing
    from nungil.inspection.picture import Picture
    from nungil.inspection.record import AttentionRecord

LARGE = 20_000_000  # bytes; more is asked about


def check_name(path: Path, endings: tuple[str, ...], option: str) -> None:
    """Refuse a file name with another ending."""
    if path.suffix.lower() not in endings:
        raise UsageError(f"{option} {path}: the name should end in {' or '.join(endings)}")


def ask_first(what: "AttentionRecord | Picture | Drawing", name: str, ending: str, yes: bool) -> None:
    """Ask before writing a large file."""
    from nungil.inspection.saving import size_of

    size = size_of(what, ending)
    if size <= LARGE or yes:
        return
    about = f"{name} would have about {size / 1e6:,.0f} MB"
    if not sys.stdin.isatty():
        raise UsageError(f"{about}, more than {LARGE / 1e6:.0f}; add --yes to write it, or draw one head with --png")
    if not typer.confirm(f"{about}. Write it?", err=True):
        raise StoppedError(f"{name} was not written")


def export_page(record: "AttentionRecord", path: Path, labels: "Mapping[str, float] | None", yes: bool) -> None:
    """Write the page of a record, and say so."""
    from nungil.inspection.saving import save_page

    ask_first(record, str(path), ".html", yes)
    save_page(record, path, labels)
    say(f"Wrote {path}")


def export(what: "AttentionRecord | Picture", path: Path, yes: bool) -> None:
    """Write a file as its ending says, and say so."""
    from nungil.inspection.picture import Picture
    from nungil.inspection.saving import save_picture, save_record

    ask_first(what, str(path), path.suffix.lower(), yes)
    if isinstance(what, Picture):
        save_picture(what, path)
    else:
        save_record(what, path)
    say(f"Wrote {path}")


def export_drawing(drawing: "Drawing", path: Path, yes: bool) -> None:
    """Write a drawing, and say so."""
    from nungil.inspection.saving import save_drawing

    ask_first(drawing, str(path), path.suffix.lower(), yes)
    save_drawing(drawing, path)
    say(f"Wrote {path}")
