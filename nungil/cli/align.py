"""`nungil align`: which word of a translation comes from which word of its source, read from attention."""

from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from nungil.cli.talk import readable_json, say, write
from nungil.errors import CorpusError, UsageError
from nungil.text.counts import counted

if TYPE_CHECKING:
    from nungil.inspection.heads import Desk, HeadScores
    from nungil.inspection.record import Reading
    from nungil.pipeline import Translator
    from nungil.scoring.alignment import AlignmentScores

WHAT = {
    "output": "a row is of the word being written",
    "input": "a row is of the word just put in",
    "diagonal": "links along the diagonal, for comparison",
    "ceiling": "the best that one link for each target word could reach",
}
PARTS = ("aer", "precision", "recall", "match", "mass")


class Rows(NamedTuple):
    """Pairs to align, and their gold links if there are any."""

    pairs: list[tuple[str, str]]
    gold: list[str]


def align(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A model folder.")],
    file: Annotated[
        Path, typer.Argument(metavar="PAIRS.tsv", help="Source, target, perhaps gold links, tab-separated; or -.")
    ],
    gold: Annotated[Path | None, typer.Option(metavar="FILE", help="Gold links, one line per pair.")] = None,
    reading: Annotated[
        Literal["output", "input", "best"],
        typer.Option(help="A row belongs to the word being written, or to the one just put in; best needs gold."),
    ] = "output",
    layer: Annotated[int | None, typer.Option(metavar="N", help="A layer, from 0; by default the last.")] = None,
    head: Annotated[int | None, typer.Option(metavar="N", help="A head, from 0; by default the mean of all.")] = None,
    heads: Annotated[bool, typer.Option("--heads", help="Print the scores of every head, not the links.")] = False,
    atlas: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Draw every head over the first pair, with its error, as .svg, .png or .pdf."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON instead of the links.")] = False,
    encoding: Annotated[str, typer.Option(help="The encoding of the files, such as cp949 or utf-16.")] = "utf-8",
    yes: Annotated[bool, typer.Option("--yes", help="Write a large atlas without asking.")] = False,
) -> None:
    """Print word links in Pharaoh's format, source-target, words counted from 0; score them where gold is known.

    \b
    nungil align runs/demo pairs.tsv > links.txt
    paste test.en test.ko | nungil align runs/demo -
    nungil align runs/demo gold.tsv --json
    nungil align runs/mine gold.tsv --heads --atlas heads.png
    """
    needing = {"--reading best": reading == "best", "--heads": heads, "--atlas": atlas, "--json": as_json}
    rows = _asked(_read(file, gold, encoding), needing)
    from nungil.inspection.record import READINGS
    from nungil.pipeline import Translator, load
    from nungil.scoring.alignment import score_links

    model = load(folder)
    if not isinstance(model, Translator):
        raise UsageError(f"{folder} holds a classifier; only a translator links words")
    _warn(model, _name(file), rows)
    if heads or atlas is not None:
        desk = _desk(model, rows)
        _tell_heads(desk, rows, as_json)
        if atlas is not None:
            _draw_atlas(model, desk.scores(), rows, atlas, yes)
        return
    wanted: tuple[Reading, ...] = tuple(READINGS) if rows.gold or reading == "best" else (reading,)
    links = {one: model.align(rows.pairs, one, layer, head) for one in wanted}
    chosen = wanted[0] if reading == "best" else reading
    if rows.gold:
        scores: dict[str, AlignmentScores] = {one: score_links(links[one], rows.gold) for one in wanted}
        if reading == "best":
            chosen = min(wanted, key=lambda one: scores[one].aer)
        _tell(scores, rows, as_json)
    if not as_json:
        for line in links[chosen]:
            write(line)


def _asked(rows: Rows, needing: dict[str, bool | Path | None]) -> Rows:
    """The rows, after checking that options have the gold links they need, and files a known ending."""
    from nungil.cli.look_files import check_name
    from nungil.inspection.saving import DRAWN

    for name, given in needing.items():
        if given and not rows.gold:
            raise UsageError(f"{name} needs gold links: a third column, or --gold FILE")
        if isinstance(given, Path):
            check_name(given, DRAWN, name)
    return rows


def _warn(model: "Translator", file: str, rows: Rows) -> None:
    """Say which sources are longer than the model reads: words that are left out have no links."""
    from nungil.pipeline.texts import encode

    for number, (source, _) in enumerate(rows.pairs, 1):
        if encode(source, model.tokenizers.source, model.config).cut:
            longest = model.config.longest
            say(
                f"{file}, line {number}: longer than the {counted(longest, 'token')} that the model reads; "
                "the rest was left out"
            )


def _tell(scores: "dict[str, AlignmentScores]", rows: Rows, as_json: bool) -> None:
    """The scores of each reading, of diagonal links as a baseline, and the best possible ones."""
    beside = {**scores, **_bounds(rows)}
    if as_json:
        write(readable_json({name: found._asdict() for name, found in beside.items()}))
    for name, found in beside.items():
        parts = ("AER", found.aer), ("precision", found.precision), ("recall", found.recall)
        numbers = ", ".join(f"{part} {100 * value:.1f}%" for part, value in parts)
        say(f"{numbers}: {WHAT[name]}")


def _bounds(rows: Rows) -> "dict[str, AlignmentScores]":
    from nungil.inspection.heads import ceiling_scores, diagonal_scores

    return {"diagonal": diagonal_scores(rows.pairs, rows.gold), "ceiling": ceiling_scores(rows.gold)}


def _desk(model: "Translator", rows: Rows) -> "Desk":
    """The scores of every head, from one pass over all pairs."""
    from nungil.inspection.heads import Desk

    desk = Desk(rows.gold)
    for place, record in model.look_at_pairs(rows.pairs):
        desk.add(place, record)
    return desk


def _tell_heads(desk: "Desk", rows: Rows, as_json: bool) -> None:
    """A line for each head and reading; then the best on half of the pairs, and its score on the other half."""
    scores, bounds = desk.scores(), _bounds(rows)
    chosen = desk.choose() if len(rows.pairs) > 1 else None
    if as_json:
        plain = {name: found._asdict() for name, found in bounds.items()}
        plain_best = None if chosen is None else chosen.to_json()
        write(readable_json({"heads": [one.to_json() for one in scores], "best": plain_best, **plain}))
        return
    write("layer  head  reading     AER  precision  recall   match    mass")
    for one in scores:
        write(_line(one))
    for name, found in bounds.items():
        say(f"AER {100 * found.aer:.1f}%: {WHAT[name]}")
    if chosen is not None:
        best, worth = chosen.chosen_on, chosen.reported_on
        which = f"layer {best.layer}, {'mean' if best.head is None else f'head {best.head}'}, reading {best.reading}"
        say(f"Best on every other pair: {which}, AER {100 * best.aer:.1f}%; on the others: {100 * worth.aer:.1f}%.")


def _line(one: "HeadScores") -> str:
    head = "mean" if one.head is None else str(one.head)
    numbers = (f"{100 * getattr(one, part):{width}.1f}%" for part, width in zip(PARTS, (6, 9, 6, 6, 6), strict=True))
    return f"{one.layer:5}  {head:>4}  {one.reading:7} {' '.join(numbers)}"


def _draw_atlas(model: "Translator", found: "list[HeadScores]", rows: Rows, path: Path, yes: bool) -> None:
    """Draw every head on the first pair, with its error over all pairs."""
    from nungil.cli.look_files import export_drawing
    from nungil.inspection.drawings.atlas import atlas_of, draw_atlas

    better: dict[tuple[int, int], HeadScores] = {}
    layers = {one.layer for one in found if one.head is not None}
    for one in found:
        head = one.head if one.layer in layers else 0  # attention without heads has only their mean
        if head is not None and ((one.layer, head) not in better or one.aer < better[one.layer, head].aer):
            better[one.layer, head] = one
    export_drawing(draw_atlas(atlas_of(model.look(*rows.pairs[0]), "cross", better)), path, yes)


def _read(file: Path, gold: Path | None, encoding: str) -> Rows:
    """The pairs of a file or of standard input, tidied, and their gold links."""
    from nungil.cli.texts import Texts
    from nungil.text.files import read_lines
    from nungil.text.tidy import tidy

    pairs, links, name = [], [], _name(file)
    for number, line in enumerate(chain.from_iterable(Texts([file], encoding).chunks()), 1):
        columns = line.split("\t")
        source, target = (*map(tidy, columns[:2]), "")[:2]
        if not source or not target:
            raise CorpusError(f"{name}, line {number}: source and target are needed, with a tab between them")
        pairs.append((source, target))
        links += columns[2:3]
    if not pairs:
        raise CorpusError(f"{name}: there is nothing in it to align")
    if gold is not None:
        links = list(read_lines(gold, encoding))
    if links and len(links) != len(pairs):
        raise CorpusError(
            f"{gold or name}: {counted(len(links), 'line')} of gold links for {counted(len(pairs), 'pair')}"
        )
    _check_gold(str(gold or name), Rows(pairs, links))
    return Rows(pairs, links)


def _name(file: Path) -> str:
    """The file, as messages name it."""
    from nungil.cli.texts import INPUT

    return INPUT if str(file) == "-" else str(file)


def _check_gold(file: str, rows: Rows) -> None:
    """Refuse what is not a link, or leads past the words of its pair: it would count as a missed link."""
    from nungil.scoring.sides import first_few

    found = (_fault(*row) for row in zip(rows.pairs, rows.gold, strict=False))  # there may be no gold
    faults = [f"{file}, line {number}: {fault}" for number, fault in enumerate(found, 1) if fault]
    if faults:
        raise CorpusError(first_few(faults))


def _fault(pair: tuple[str, str], line: str) -> str | None:
    """What is wrong with the gold links of a pair."""
    from nungil.scoring.alignment import parse_links

    try:
        links = parse_links(line).possible
    except CorpusError as error:
        return str(error)
    sizes = [len(text.split()) for text in pair]
    past = next((link for link in sorted(links) if link[0] >= sizes[0] or link[1] >= sizes[1]), None)
    if past is None:
        return None
    return (
        f"link {past[0]}-{past[1]} leads past the sentence: the source has {counted(sizes[0], 'word')}, "
        f"the target {sizes[1]}, "
        "counted from 0"
    )
