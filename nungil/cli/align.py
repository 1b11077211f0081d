"""`nungil align`: which word of a translation comes from which word of its source, read from attention."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from nungil.cli.talk import readable_json, say, write
from nungil.errors import CorpusError, UsageError

if TYPE_CHECKING:
    from nungil.pipeline.translator import Reading
    from nungil.scoring.alignment import AlignmentScores

WHAT = {
    "output": "a row is of the word being written",
    "input": "a row is of the word just put in",
    "diagonal": "links along the diagonal, for comparison",
}


class Rows(NamedTuple):
    """Pairs to align, and their gold links if there are any."""

    pairs: list[tuple[str, str]]
    gold: list[str]


def align(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A model folder.")],
    file: Annotated[Path, typer.Argument(metavar="PAIRS.tsv", help="source, target and perhaps gold links, by tabs.")],
    gold: Annotated[Path | None, typer.Option(metavar="FILE", help="Gold links, a line for each pair.")] = None,
    reading: Annotated[
        Literal["output", "input", "best"],
        typer.Option(help="A row is of the word being written, or of the word just put in; best needs gold."),
    ] = "output",
    layer: Annotated[int | None, typer.Option(metavar="N", help="A layer, from 0; by default the last.")] = None,
    head: Annotated[int | None, typer.Option(metavar="N", help="A head, from 0; by default the mean of all.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the scores as JSON instead of the links.")] = False,
) -> None:
    """Print word links in Pharaoh's format, source-target, words counted from 0; score them where gold is known.

    \b
    nungil align runs/demo pairs.tsv > links.txt
    nungil align runs/demo gold.tsv --json
    """
    rows = _read(file, gold)
    if reading == "best" and not rows.gold:
        raise UsageError("--reading best needs gold links: a third column, or --gold FILE")
    from nungil.pipeline import Translator, load
    from nungil.pipeline.translator import READINGS
    from nungil.scoring.alignment import score_links

    model = load(folder)
    if not isinstance(model, Translator):
        raise UsageError(f"{folder} holds a classifier; only a translator links words")
    wanted: tuple[Reading, ...] = READINGS if rows.gold or reading == "best" else (reading,)
    links = {one: model.align(rows.pairs, one, layer, head) for one in wanted}
    chosen = wanted[0] if reading == "best" else reading
    if rows.gold:
        scores: dict[str, AlignmentScores] = {one: score_links(links[one], rows.gold) for one in wanted}
        if reading == "best":
            chosen = min(wanted, key=lambda one: scores[one].aer)
        _tell(scores, rows, as_json)
    elif as_json:
        raise UsageError("--json prints scores, and there are no gold links: a third column, or --gold FILE")
    if not as_json:
        for line in links[chosen]:
            write(line)


def _tell(scores: "dict[str, AlignmentScores]", rows: Rows, as_json: bool) -> None:
    """Both readings, and links along the diagonal as a baseline."""
    from nungil.scoring.alignment import diagonal_links, format_links, score_links

    diagonal = [format_links(diagonal_links(len(source.split()), len(target.split()))) for source, target in rows.pairs]
    beside = {**scores, "diagonal": score_links(diagonal, rows.gold)}
    if as_json:
        write(readable_json({name: found._asdict() for name, found in beside.items()}))
    for name, found in beside.items():
        parts = ("AER", found.aer), ("precision", found.precision), ("recall", found.recall)
        numbers = ", ".join(f"{part} {100 * value:.1f}%" for part, value in parts)
        say(f"{numbers}: {WHAT[name]}")


def _read(file: Path, gold: Path | None) -> Rows:
    """The pairs of a file and their gold links."""
    from nungil.text.files import read_lines

    pairs, links = [], []
    for number, line in enumerate(read_lines(file), 1):
        columns = line.split("\t")
        if len(columns) < 2 or not columns[0].strip() or not columns[1].strip():
            raise CorpusError(f"{file}, line {number}: source and target are needed, with a tab between them")
        pairs.append((columns[0], columns[1]))
        links += columns[2:3]
    if not pairs:
        raise CorpusError(f"{file}: there is nothing in it to align")
    if gold is not None:
        links = list(read_lines(gold))
    if links and len(links) != len(pairs):
        raise CorpusError(f"{gold or file}: {len(links):,} lines of gold links for {len(pairs):,} pairs")
    return Rows(pairs, links)
