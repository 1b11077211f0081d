"""`nungil export`: writes a model in the format of another program."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from nungil.cli.talk import say
from nungil.errors import as_typed


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A model folder with a Transformer that translates.")],
    to: Annotated[Literal["ctranslate2"], typer.Option(help="The program to export for.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The new folder; by default DIR/ctranslate2, or -int8 and so on.")
    ] = None,
    compute: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Type of the weights: float32 (default), int8, int16, bfloat16 …")
    ] = None,
) -> None:
    """Write a Transformer as a folder for CTranslate2, with tokenizers and a README on how to use it.

    To run a model with CTranslate2 from nungil no export is needed: nungil translate DIR --engine ctranslate2.

    \b
    nungil export runs/mine --to ctranslate2
    nungil export runs/mine --to ctranslate2 --compute int8 --out mine-int8
    """
    from nungil.engines.export import export as write_folder

    place = out or folder / (to if compute in (None, "float32") else f"{to}-{compute}")
    write_folder(folder, place, compute)
    say(f"The model is in {place}, and how to use it in {place / 'README.md'}")
    say(f"Next: cd {as_typed(place)} and run the program in its README")
