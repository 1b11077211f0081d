"""`nungil look`: where a model looks, as a heat map, and how far to trust it."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import typer

from nungil.cli import badge as b
from nungil.cli import changes as c
from nungil.cli import insight as i
from nungil.cli import look_options as o
from nungil.cli.sections import typed, typed_options
from nungil.cli.talk import page, readable_json, say, write
from nungil.errors import UsageError, as_typed

if TYPE_CHECKING:
    from rich.console import Console

    from nungil.inspection.measuring import Wanted
    from nungil.inspection.picture import Picture
    from nungil.inspection.record import AttentionRecord
    from nungil.pipeline import Classifier, Translator

READABLE = 20_000  # weights up to which JSON is formatted for people
HELP = """Show where a model looks: each row is a word it writes, each column a word it reads.

\b
nungil look runs/demo 'I like snow'
nungil look runs/demo 'I like snow' --target '나는 눈을 싫어한다'
nungil look runs/demo 'I like snow' --html snow.html --png snow.png
nungil look runs/demo 'I like snow' --lens leave-one-out
nungil look runs/demo 'I like snow' --force 2:like
nungil look runs/demo --neighbours snow
nungil look runs/demo --badge
"""


def look(
    context: typer.Context,
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
    lens: i.Lens = None,
    honesty: i.Honesty = None,
    other_map: i.OtherMap = False,
    seed: i.Seed = 1,
    force: c.Force = None,
    move: c.Move = None,
    zero: c.Zero = None,
    flatten: c.Flatten = None,
    permute: c.Permute = None,
    everywhere: c.Everywhere = False,
    swap: c.Swap = None,
    delete: c.Delete = None,
    insert: c.Insert = None,
    badge: b.Badge = False,
    data: b.Data = None,
    columns: b.Columns = None,
    limit: b.Limit = b.SENTENCES,
    also: b.Also = None,
) -> None:
    """Sort the options by purpose; `HELP` is the help text."""
    out = Out({".html": html, ".csv": csv, ".svg": svg, ".png": png, ".pdf": pdf}, atlas, as_json, yes)
    b.check_options(badge, text, typed_options(context))
    out.check_names()
    if badge:
        b.print_badge([folder, *(also or ())], b.Texts(data, columns, limit, seed), as_json)
        return
    asked = c.Asked(force, move, zero, flatten, permute, swap, delete, insert, typed(context))
    chosen = None if text is None else i.Chosen(text, target, layer, head, words, seed)
    more = More(kind, reading, candidates, beam, neighbours, honesty)
    _look(folder, chosen, more, i.Instead(asked, lens, other_map, everywhere), out)


class Out(NamedTuple):
    """Where output goes: files by ending, an atlas, JSON; else the terminal."""

    files: dict[str, Path | None]
    atlas: Path | None
    as_json: bool
    yes: bool

    @property
    def elsewhere(self) -> bool:
        """Whether nothing is drawn in the terminal."""
        return self.as_json or self.atlas is not None or any(self.files.values())

    @property
    def shows_maps(self) -> bool:
        """Whether something is written that has room for honesty beside a map."""
        return self.as_json or any(path for ending, path in self.files.items() if ending != ".csv")

    def check_names(self) -> None:
        """Refuse wrong endings, before anything is loaded."""
        from nungil.cli.look_files import check_name
        from nungil.inspection.saving import DRAWN

        for ending, path in self.files.items():
            if path is not None:
                check_name(path, (ending,), f"--{ending[1:]}")
        if self.atlas is not None:
            check_name(self.atlas, DRAWN, "--atlas")


class More(NamedTuple):
    """Further choices about the map of attention."""

    kind: str | None
    reading: Literal["output", "input"]
    candidates: bool
    beam: bool
    neighbours: str | None
    honesty: str | None

    @property
    def only_of_maps(self) -> list[str]:
        """The given options that apply only to maps of attention."""
        given = {
            "--kind": self.kind is not None,
            "--reading": self.reading != "output",
            "--candidates": self.candidates,
            "--beam": self.beam,
            "--honesty": self.honesty in ("short", "full"),
        }
        return [name for name, one in given.items() if one]


def _look(folder: Path, chosen: i.Chosen | None, more: More, instead: i.Instead, out: Out) -> None:
    from nungil.pipeline import load

    if chosen is None and more.neighbours is None:
        raise UsageError(f"a text is needed: nungil look {as_typed(folder)} 'I like snow'")
    if chosen is not None:
        instead.check(chosen, more.only_of_maps)
        if out.as_json and more.neighbours is not None:
            raise UsageError("--neighbours and a text would be two documents of JSON; ask for one at a time")
    model = load(folder)
    if more.neighbours is not None:
        _tell_neighbours(model, more.neighbours, out.as_json and chosen is None)
    if chosen is None:
        return
    shown = i.shown_instead(model, chosen, instead)
    if shown is None:
        _show_attention(model, chosen, more, out)
    else:
        _show_instead(shown, out)
    say(_next(folder, chosen.text, out.files[".html"]))


def _show_instead(shown: i.Shown, out: Out) -> None:
    """A lens, changed rows or a difference: a picture with lines below it."""
    from nungil.cli.look_files import export

    if out.atlas is not None:
        raise UsageError("--atlas is of the heads of attention; leave lenses and changes out")
    for path in out.files.values():
        if path is not None:
            export(replace(shown.picture, notes=(*shown.picture.notes, *shown.lines)), path, out.yes)
    if out.as_json:
        write(readable_json(shown.plain))
    elif not out.elsewhere:
        _draw(shown.picture)
        for line in ("", *shown.lines) if shown.lines else ():
            write(line)


def _show_attention(model: "Translator | Classifier", chosen: i.Chosen, more: More, out: Out) -> None:
    from nungil.cli.look_files import export_page

    record = _record(model, chosen, _wanted(chosen, more, out))
    if more.beam and record.beam is None:
        raise UsageError("--beam: nothing was searched for here; it is for a translation of the model's own")
    record = record.read_as(more.reading) if more.reading != "output" else record
    record = record.merged() if chosen.words else record
    picture = record.picture(more.kind, chosen.layer, chosen.head)  # refuses a missing map, whatever is written
    strip = record.strip_of(more.kind, chosen.layer, chosen.head)
    if strip is not None and more.honesty == "full":
        picture = replace(picture, notes=(*picture.notes, *strip.rest()))
    page = out.files[".html"]
    if page is not None:
        export_page(record, page, _labels(model, chosen), out.yes)
    _export(record, picture, more.kind, out)
    if out.as_json:
        _write_json(record, out.yes)
    elif not out.elsewhere:
        _draw(picture)
    if not out.as_json:  # which contains these
        _tell_search(record, more, below=not out.elsewhere)


def _wanted(chosen: i.Chosen, more: More, out: Out) -> "Wanted | bool":
    """Which honesty to measure: wherever a map is shown, but only for cross-attention and pooling."""
    if more.kind not in (None, "cross", "pooling"):
        if more.honesty in ("short", "full"):
            raise UsageError(
                f"--honesty is of the attention between what is written and what is read, not of {more.kind}"
            )
        return False
    shown = out.shows_maps or not out.elsewhere
    return i.strip_wanted(chosen, more.honesty) if shown or more.honesty else False


def _labels(model: "Translator | Classifier", chosen: i.Chosen) -> "Mapping[str, float] | None":
    """A classifier's probabilities, for the page, which has no model to ask."""
    from nungil.pipeline import Classifier

    return model.classify(chosen.text)[0].probabilities if isinstance(model, Classifier) else None


def _export(record: "AttentionRecord", picture: "Picture", kind: str | None, out: Out) -> None:
    """Write drawings of the chosen map, and other files with everything; the page is written before."""
    from nungil.cli.look_files import export
    from nungil.inspection.saving import DRAWN

    for ending, path in out.files.items():
        if path is not None and ending != ".html":
            export(picture if ending in DRAWN else record, path, out.yes)
    if out.atlas is not None:
        _draw_atlas(record, kind, out.atlas, out.yes)


def _record(model: "Translator | Classifier", chosen: i.Chosen, honesty: "Wanted | bool") -> "AttentionRecord":
    from nungil.pipeline import Translator

    if isinstance(model, Translator):
        record = model.look(chosen.text, chosen.target, honesty=honesty)
    elif chosen.target is not None:
        raise UsageError("--target is for translators; a classifier has labels")
    else:
        record = model.look(chosen.text, honesty=honesty)
    if honesty is not False and not record.honesty:
        say("Measuring how far to trust this map takes a while; ask for it with --honesty short, or full")
    return record


def _draw(picture: "Picture") -> None:
    from nungil.inspection.drawings.heatmap import print_picture

    _show(lambda console: print_picture(picture, console))


def _show(draw: "Callable[[Console], None]", below: bool = False) -> None:
    """Print what a console draws to standard output; `below` puts an empty line before it."""
    console = page()
    with console.capture() as drawn:
        draw(console)
    lines = drawn.get().rstrip("\n").splitlines()
    write("\n".join([*([""] if below else []), *(line.rstrip() for line in lines)]))


def _tell_search(record: "AttentionRecord", more: More, below: bool) -> None:
    from nungil.inspection.drawings.searching import beam_tree, steps_table

    if more.candidates:
        _show(lambda console: console.print(steps_table(record.steps)), below)
    if more.beam and record.beam is not None:
        tree = beam_tree(record.beam)
        _show(lambda console: console.print(tree), below or more.candidates)


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


def _draw_atlas(record: "AttentionRecord", kind: str | None, path: Path, yes: bool) -> None:
    from nungil.cli.look_files import export_drawing
    from nungil.inspection.drawings.atlas import atlas_of, draw_atlas

    export_drawing(draw_atlas(atlas_of(record, kind)), path, yes)


def _write_json(record: "AttentionRecord", yes: bool) -> None:
    from nungil.cli.look_files import ask_first
    from nungil.inspection.saving import to_json_text

    ask_first(record, "the JSON", ".json", yes)
    small = sum(one.weights.size for one in record.maps) <= READABLE
    write(readable_json(record.to_json()) if small else to_json_text(record).rstrip("\n"))


def _next(folder: Path, text: str, html: Path | None) -> str:
    if html is not None:
        return f"Next: open {as_typed(html)} in a browser"
    return f"Next: nungil look {as_typed(folder)} {as_typed(text)} --html look.html"
