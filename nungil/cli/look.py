"""`nungil look`: where a model looks, as a heat map."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from nungil.cli.talk import readable_json, say, write
from nungil.errors import UsageError

if TYPE_CHECKING:
    from nungil.inspection.record import AttentionRecord


def look(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A model folder.")],
    text: Annotated[str, typer.Argument(metavar="TEXT", help="A sentence, in quotes.")],
    target: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Look at this translation instead of the model's own.")
    ] = None,
    layer: Annotated[int | None, typer.Option(metavar="N", help="A layer, from 0; by default the last.")] = None,
    head: Annotated[int | None, typer.Option(metavar="N", help="A head, from 0; by default the mean of all.")] = None,
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="cross, self, masked or pooling; by default the main one.")
    ] = None,
    words: Annotated[bool, typer.Option("--words", help="Whole words instead of pieces.")] = False,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page of one file.")] = None,
    csv: Annotated[Path | None, typer.Option(metavar="FILE", help="Write every weight as CSV.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every weight as JSON.")] = False,
) -> None:
    """Show where a model looks: each row is a word it writes, each column a word it reads.

    \b
    nungil look runs/demo 'I like snow'
    nungil look runs/demo 'I like snow' --target '나는 눈을 싫어한다'
    nungil look runs/demo 'I like snow' --html snow.html
    """
    from nungil.pipeline import Translator, load

    model = load(folder)
    if isinstance(model, Translator):
        record = model.look(text, target)
    elif target is not None:
        raise UsageError("--target is for translators; a classifier has labels")
    else:
        record = model.look(text)
    record = record.merged() if words else record
    record.select(kind, layer, head)  # what is not there is refused, whatever is written
    for path, ending in ((html, ".html"), (csv, ".csv")):
        if path is not None:
            if path.suffix != ending:
                raise UsageError(f"--{ending[1:]} {path}: the name should end in {ending}")
            record.save(path)
            say(f"Wrote {path}")
    if as_json:
        write(readable_json(record.to_json()))
    elif html is None and csv is None:
        _draw(record, kind, layer, head)
    say(_next(folder, text, html))


def _draw(record: "AttentionRecord", kind: str | None, layer: int | None, head: int | None) -> None:
    from nungil.cli.talk import page
    from nungil.inspection.heatmap import print_map

    console = page()
    with console.capture() as drawn:
        print_map(record, console, kind, layer, head)
    write(drawn.get().rstrip("\n"))


def _next(folder: Path, text: str, html: Path | None) -> str:
    if html is not None:
        return f"Next: open {html} in a browser"
    return f"Next: nungil look {folder} {quote(text)} --html look.html"
