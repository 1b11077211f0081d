"""`nungil train`: from a recipe, or from nothing but files, to a model folder."""

from pathlib import Path
from typing import Annotated, Any

import typer

from nungil.cli.options import (
    Columns,
    DataOptions,
    Encoding,
    Folder,
    FormatName,
    From,
    Header,
    TaskName,
    Test,
    To,
    Valid,
)
from nungil.cli.talk import has_the_last_word, say
from nungil.errors import UsageError, as_typed


def train(
    recipe: Annotated[Path | None, typer.Argument(metavar="RECIPE.yaml", help="A recipe; options override it.")] = None,
    files: Annotated[
        list[str] | None,
        typer.Option("--train", metavar="FILE", help="Files (as `nungil check` reads them); may be repeated."),
    ] = None,
    data: Folder = None,
    valid: Valid = None,
    test: Test = None,
    source: From = None,
    target: To = None,
    columns: Columns = None,
    task: TaskName = None,
    file_format: FormatName = None,
    encoding: Encoding = None,
    header: Header = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="transformer, luong, bahdanau, plain; to classify: lstm, gru, transformer, bag."
        ),
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="The new model folder.")] = None,
    start_from: Annotated[
        str | None, typer.Option(metavar="DIR", help="A model whose weights and tokenizers it starts from.")
    ] = None,
    steps: Annotated[int | None, typer.Option(metavar="N", help="Updates; by default by the corpus.")] = None,
    processes: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Processes that train together; 1 by default.")
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="S", help="Seed of split, weights, order and dropout.")] = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="section.key=value", help="Any setting of a recipe; may be repeated."),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but errors.")] = False,
) -> None:
    """Train a translator or a classifier. Settings not given are chosen from the data, printed and stored.

    \b
    nungil train --train pairs.tsv --from en --to ko --out runs/mine
    nungil train --train memory.tmx --from en --to ko --out runs/mine
    nungil train --train train.en --train train.de --valid val.en --valid val.de --out runs/multi30k
    nungil train --train reviews.csv --columns text,label --model gru --out runs/reviews
    nungil train recipes/multi30k.yaml --data ~/data --set model.dropout=0.2 --out runs/multi30k
    nungil train --train manuals.tsv --start-from runs/mine --out runs/manuals
    """
    folder = _checked(recipe, files, out)
    from nungil.runs.train import train as run

    said = DataOptions(data, valid, test, columns, source, target, task, file_format, encoding, header)
    options: dict[str, Any] = {
        **said.settings(),
        **{"model": model, "start_from": start_from, "steps": steps, "seed": seed, "processes": processes},
    }
    done = run(files, out=folder, recipe=recipe, quiet=quiet, changes=tuple(changes or ()), **options)
    if not quiet and has_the_last_word():
        say_what_is_next(done.config.task, folder)


def say_what_is_next(task: str, folder: Path) -> None:
    """Suggest commands after a run."""
    verb, text = ("translate", "a sentence") if task == "translate" else ("classify", "a text")
    say(f"The model and its card (README.md) are in {folder}\nNext: echo '{text}' | nungil {verb} {as_typed(folder)}")
    say(f"      nungil score {as_typed(folder)}")


def _checked(recipe: Path | None, files: list[str] | None, out: Path | None) -> Path:
    """The folder to train into, if the options make sense together."""
    if recipe is None and not files:
        raise UsageError("give a recipe, or files: nungil train --train pairs.tsv --out runs/mine")
    if recipe is not None and recipe.suffix not in (".yaml", ".yml", ".json"):
        raise UsageError(f"{recipe} is not a recipe (.yaml); give files to train on with --train {as_typed(recipe)}")
    if out is None:
        raise UsageError("--out DIR is missing: the folder that the model goes to, such as --out runs/mine")
    return out
