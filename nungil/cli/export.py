"""`nungil export`: a model folder as another program loads it."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from nungil.cli.talk import say
from nungil.errors import as_typed


def export(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A model folder with a Transformer that translates.")],
    to: Annotated[Literal["ctranslate2"], typer.Option(help="The program that is to load it.")],
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The new folder; by default DIR/ctranslate2 or -int8 ….")
    ] = None,
    compute: Annotated[
        str | None, typer.Option(metavar="TYPE", help="Of the weights: float32, int8, int16, bfloat16 …; float32.")
    ] = None,
) -> None:
    """Write a Transformer as a folder that CTranslate2 loads by itself, with tokenizers and a README on its use.

    To translate by CTranslate2 from nungil, nothing needs to be exported: nungil translate DIR --engine ctranslate2.

    \b
    nungil export runs/mine --to ctranslate2
    nungil export runs/mine --to ctranslate2 --compute int8 --out mine-int8
    """
    from nungil.engines.export import export as write_folder

    place = out or folder / (to if compute in (None, "float32") else f"{to}-{compute}")
    write_folder(folder, place, compute)
    say(f"The model is in {place}, and how to use it in {place / 'README.md'}")
    say(f"Next: cd {as_typed(place)} and run the program in its README")
