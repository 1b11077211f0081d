"""`nungil data`: corpora as files. `nungil data snow` makes the embedded one."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

import typer

from nungil.cli.talk import say, write
from nungil.errors import UsageError, as_typed
from nungil.text.counts import counted

Task = Literal["translate", "senses"]
Direction = Literal["en-ko", "ko-en"]
SplitName = Literal["train", "valid", "test", "all"]

app = typer.Typer(no_args_is_help=True, help="Make corpora as files.")


@app.callback()
def _data() -> None:
    """Make corpora as files."""


@app.command("snow")
def snow(
    pairs: Annotated[int, typer.Option(metavar="N", help="How many sentence pairs.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the sentences.")] = 1,
    lengths: Annotated[str, typer.Option(metavar="3:60", help="English words, shortest:longest.")] = "3:60",
    out: Annotated[
        str | None,
        typer.Option(metavar="FILE|DIR/", help="A file (.gz is compressed), or a folder for train, valid and test."),
    ] = None,
    split: Annotated[SplitName, typer.Option(help="Only sentences of this split; splits never overlap.")] = "all",
    task: Annotated[Task, typer.Option(help="Sentence pairs with links, or which sense a homonym has.")] = "translate",
    direction: Annotated[Direction, typer.Option(help="Which language comes first.")] = "en-ko",
    repeats: Annotated[bool, typer.Option("--repeats", help="Allow repeated pairs; saves memory.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace existing files.")] = False,
) -> None:
    """Make the embedded English–Korean corpus: tab-separated English, Korean, gold word links, senses of homonyms.

    \b
    nungil data snow --pairs 10
    nungil data snow --pairs 20000 --seed 1 --lengths 3:12 --out data/snow/
    nungil data snow --task senses --pairs 5000 --out senses.tsv
    """
    asked = _lengths(lengths)
    if task == "senses" and direction != "en-ko":
        raise UsageError("--task senses has one language only; leave --direction out")
    if out is None:
        for line in _lines(task, direction, (pairs, seed, asked, split, not repeats)):
            write(line)
    elif out.endswith("/") or Path(out).is_dir():
        if split != "all":
            raise UsageError(
                f"--split {split} makes one file, but {out} is a folder; name a file, or leave --split out"
            )
        _folder(Path(out), task, direction, (pairs, seed, asked, not repeats), overwrite)
    else:
        _file(Path(out), _lines(task, direction, (pairs, seed, asked, split, not repeats)), overwrite)


def _lengths(text: str) -> tuple[int, int]:
    first, colon, last = text.partition(":")
    if not colon or not first.isdecimal() or not last.isdecimal():
        raise UsageError(f"--lengths: {text!r} is not a range; write it as 3:60")
    return int(first), int(last)


def _lines(
    task: Task, direction: Direction, request: tuple[int, int, tuple[int, int], SplitName, bool]
) -> Iterator[str]:
    """The corpus as lines of tab-separated columns."""
    from nungil.text.snow.corpus import snow_pairs, turned
    from nungil.text.snow.senses import SENSE_HEADER, sense_examples, sense_line

    if task == "senses":
        return chain([SENSE_HEADER], map(sense_line, sense_examples(*request)))
    found = snow_pairs(*request)
    return ("\t".join(turned(pair) if direction == "ko-en" else pair) for pair in found)


def _file(path: Path, lines: Iterator[str], overwrite: bool) -> None:
    from nungil.text.atomic import whole_file

    _refuse([path], overwrite)
    count = 0
    with whole_file(path) as text:
        for line in lines:
            text.write(line + "\n")
            count += 1
    say(f"Wrote {counted(count, 'line')} to {path}\nNext: nungil check {as_typed(path)}")


def _folder(
    folder: Path, task: Task, direction: Direction, request: tuple[int, int, tuple[int, int], bool], overwrite: bool
) -> None:
    """Three files without common sentences; after an error none of them is left."""
    from nungil.text.atomic import whole_file
    from nungil.text.snow.corpus import SPLITS, make_splits, turned
    from nungil.text.snow.senses import SENSE_HEADER, sense_line, sense_splits

    paths = {split: folder / f"{split}.tsv" for split in SPLITS}
    _refuse(list(paths.values()), overwrite)
    lines: Iterator[tuple[SplitName, str]]
    if task == "senses":
        examples = ((split, sense_line(example)) for split, example in sense_splits(*request))
        lines = chain(((split, SENSE_HEADER) for split in SPLITS), examples)
    else:
        turn = turned if direction == "ko-en" else tuple
        lines = ((split, "\t".join(turn(made.pair))) for split, made in make_splits(*request))
    count = 0
    with ExitStack() as stack:  # bad requests have been refused by now, before the folder is created
        files = {split: stack.enter_context(whole_file(path)) for split, path in paths.items()}
        for split, line in lines:
            files[split].write(line + "\n")
            count += 1
    say(f"Wrote {counted(count, 'line')} to {', '.join(map(str, paths.values()))}")
    say(f"Next: nungil check {as_typed(paths['train'])} --test {as_typed(paths['test'])}")


def _refuse(paths: list[Path], overwrite: bool) -> None:
    there = [str(path) for path in paths if path.exists()]
    if there and not overwrite:
        raise UsageError(f"{', '.join(there)}: already there; give another --out, or --overwrite to replace")
