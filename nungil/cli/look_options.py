"""The options of `nungil look`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A model folder.")]
Sentence = Annotated[str | None, typer.Argument(metavar="TEXT", help="A sentence, in quotes.")]
Target = Annotated[
    str | None, typer.Option("--target", metavar="TEXT", help="Look at this translation instead of the model's own.")
]
Layer = Annotated[int | None, typer.Option(metavar="N", help="A layer, from 0; by default the last.")]
Head = Annotated[int | None, typer.Option(metavar="N", help="A head, from 0; by default the mean of all.")]
KindName = Annotated[
    str | None, typer.Option(metavar="KIND", help="cross, self, masked or pooling; by default the main one.")
]
ReadingName = Annotated[
    Literal["output", "input"],
    typer.Option(help="Whether a row belongs to the word being written, or to the one just put in."),
]
Words = Annotated[bool, typer.Option("--words", help="Show whole words instead of pieces.")]
Candidates = Annotated[bool, typer.Option("--candidates", help="Show what else could have been written.")]
Beam = Annotated[bool, typer.Option("--beam", help="Show the beam search, with what it pruned.")]
Word = Annotated[str | None, typer.Option(metavar="WORD", help="Show the nearest words by embedding; needs no text.")]
Page = Annotated[Path | None, typer.Option(metavar="FILE", help="Write everything as a page in one HTML file.")]
Svg = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the chosen map as SVG.")]
Png = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the chosen map as PNG.")]
Pdf = Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the chosen map as PDF.")]
AtlasFile = Annotated[
    Path | None, typer.Option("--atlas", metavar="FILE", help="Draw every head, small, as .svg, .png or .pdf.")
]
Csv = Annotated[Path | None, typer.Option(metavar="FILE", help="Write every weight as CSV.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print every number as JSON.")]
Yes = Annotated[bool, typer.Option("--yes", help="Write large files without asking.")]
