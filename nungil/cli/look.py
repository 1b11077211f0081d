"""`nungil look`: where a model looks, as a heat map."""

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

from nungil.cli import look_options as o
from nungil.cli.talk import page, readable_json, say, write
from nungil.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from nungil.inspection.picture import Picture
    from nungil.inspection.record import AttentionRecord
    from nungil.pipeline import Classifier, Translator

READABLE = 20_000  # numbers that JSON is laid out for people for; more are for programs


def look(
    folder: o.Folder,
    text: o.Sentence = None,
    target: o.Target = None,
    layer: o.Layer = None,
    head: o.Head = None,
    kind: o.KindName = None,
    reading: o.ReadingName = "output",
    words: o.Words = False,
    candidates: o.Candidates = False,
    beam: o.Beam = False,
    neighbours: o.Word = None,
    html: o.Page = None,
    svg: o.Svg = None,
    png: o.Png = None,
    pdf: o.Pdf = None,
    atlas: o.AtlasFile = None,
    csv: o.Csv = None,
    as_json: o.AsJson = False,
    yes: o.Yes = False,
) -> None:
    """Show where a model looks: each row is a word it writes, each column a word it reads.

    \b
    nungil look runs/demo 'I like snow'
    nungil look runs/demo 'I like snow' --target '나는 눈을 싫어한다'
    nungil look runs/demo 'I like snow' --html snow.html --png snow.png
    nungil look runs/demo --neighbours snow
    """
    from nungil.pipeline import load

    files = {".html": html, ".csv": csv, ".svg": svg, ".png": png, ".pdf": pdf}
    _check_names(files, atlas)
    if text is None and neighbours is None:
        raise UsageError(f"a text is needed: nungil look {folder} 'I like snow'")
    model = load(folder)
    if neighbours is not None:
        _tell_neighbours(model, neighbours, as_json and text is None)
    if text is None:
        return
    record = _record(model, text, target)
    record = record.read_as(reading) if reading != "output" else record
    record = record.merged() if words else record
    picture = record.picture(kind, layer, head)  # what is not there is refused, whatever is written
    _export(record, picture, files, yes)
    if atlas is not None:
        _draw_atlas(record, kind, atlas)
    if as_json:
        _write_json(record, yes)
    elif not any([*files.values(), atlas, candidates, beam, neighbours]):
        _draw(picture)
    _tell_search(record, candidates, beam)
    say(_next(folder, text, html))


def _check_names(files: dict[str, Path | None], atlas: Path | None) -> None:
    """Before anything is loaded."""
    from nungil.cli.look_files import check_name
    from nungil.inspection.saving import DRAWN

    for ending, path in files.items():
        if path is not None:
            check_name(path, (ending,), f"--{ending[1:]}")
    if atlas is not None:
        check_name(atlas, DRAWN, "--atlas")


def _export(record: "AttentionRecord", picture: "Picture", files: dict[str, Path | None], yes: bool) -> None:
    """Drawings have the chosen map, the other files everything."""
    from nungil.cli.look_files import export
    from nungil.inspection.saving import DRAWN

    for ending, path in files.items():
        if path is not None:
            export(picture if ending in DRAWN else record, path, yes)


def _record(model: "Translator | Classifier", text: str, target: str | None) -> "AttentionRecord":
    from nungil.pipeline import Translator

    if isinstance(model, Translator):
        return model.look(text, target)
    if target is not None:
        raise UsageError("--target is for translators; a classifier has labels")
    return model.look(text)


def _draw(picture: "Picture") -> None:
    from nungil.inspection.heatmap import print_picture

    _show(lambda console: print_picture(picture, console))


def _show(draw: "Callable[[Console], None]") -> None:
    """What a console draws, as data."""
    console = page()
    with console.capture() as drawn:
        draw(console)
    write(drawn.get().rstrip("\n"))


def _tell_search(record: "AttentionRecord", candidates: bool, beam: bool) -> None:
    from nungil.inspection.searching import beam_tree, steps_table

    if candidates:
        _show(lambda console: console.print(steps_table(record.steps)))
    if beam:
        if record.beam is None:
            raise UsageError("--beam: nothing was searched for here; it is for a translation of the model's own")
        tree = beam_tree(record.beam)
        _show(lambda console: console.print(tree))


def _tell_neighbours(model: "Translator | Classifier", word: str, as_json: bool) -> None:
    """A table for each side that knows the word."""
    found = model.neighbours(word)
    if as_json:
        sides = [{**side._asdict(), "nearest": [near._asdict() for near in side.nearest]} for side in found]
        write(readable_json(sides))
        return
    for side in found:
        pieces = f" ({' '.join(side.pieces)}, their mean)" if len(side.pieces) > 1 else ""
        write(f"Nearest to {side.word}{pieces}, {side.side} embedding, by cosine:")
        for near in side.nearest:
            write(f"  {near.cosine:6.3f}  {near.token}")


def _draw_atlas(record: "AttentionRecord", kind: str | None, path: Path) -> None:
    from nungil.inspection.atlas import atlas_of, draw_atlas
    from nungil.inspection.saving import save_drawing

    save_drawing(draw_atlas(atlas_of(record, kind)), path)
    say(f"Wrote {path}")


def _write_json(record: "AttentionRecord", yes: bool) -> None:
    from nungil.cli.look_files import ask_first
    from nungil.inspection.saving import to_json_text

    ask_first(record, "the JSON", ".json", yes)
    small = sum(one.weights.size for one in record.maps) <= READABLE
    write(readable_json(record.to_json()) if small else to_json_text(record).rstrip("\n"))


def _next(folder: Path, text: str, html: Path | None) -> str:
    if html is not None:
        return f"Next: open {html} in a browser"
    return f"Next: nungil look {folder} {quote(text)} --html look.html"
