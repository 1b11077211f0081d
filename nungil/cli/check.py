"""`nungil check`: what is in a corpus and what is wrong with it, before time is spent on it."""

import shlex
import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from nungil.cli.options import two_columns
from nungil.cli.talk import readable_json, say, write
from nungil.errors import CorpusError, UsageError

if TYPE_CHECKING:
    from nungil.text.checkup import CheckRequest, Checkup
    from nungil.text.lengths import Lengths
    from nungil.text.survey import ColumnSurvey

PIPED_WIDTH = 80
WIDEST = 100  # columns; longer bars are no easier to read
LABELS_SHOWN = 10


def check(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Files, folders or globs to train on; or a recipe; or a model folder."),
    ],
    data: Annotated[
        str | None, typer.Option(metavar="DIR", help="Folder that the files of a recipe lie in; here by default.")
    ] = None,
    valid: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="The validation set; may be repeated.")
    ] = None,
    test: Annotated[list[str] | None, typer.Option(metavar="FILE", help="The test set; may be repeated.")] = None,
    columns: Annotated[
        str | None,
        typer.Option(metavar="A,B", help="Source,target or text,label: names, languages, or numbers from 1."),
    ] = None,
    source: Annotated[str | None, typer.Option("--from", metavar="en", help="Language of the source.")] = None,
    target: Annotated[str | None, typer.Option("--to", metavar="ko", help="Language of the target.")] = None,
    task: Annotated[Literal["translate", "classify"] | None, typer.Option(help="What the data is for.")] = None,
    file_format: Annotated[
        Literal["aligned", "tsv", "csv", "jsonl", "fasttext", "folder", "tmx", "xliff", "po"] | None,
        typer.Option("--format", help="The format; told from name and content by default."),
    ] = None,
    encoding: Annotated[str, typer.Option(help="The encoding of the files, such as cp949 or utf-16.")] = "utf-8",
    header: Annotated[bool | None, typer.Option(help="Whether the first row of a table holds names.")] = None,
    rejected: Annotated[
        Path | None, typer.Option(metavar="FILE.tsv", help="Write here what cleaning would drop, and why.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every number as JSON.")] = False,
) -> None:
    """Say what is in a corpus, what cleaning would drop, and whether training on it would work.

    \b
    nungil check train.tsv
    nungil check train.en train.ko --test test.en --test test.ko
    nungil check memory.tmx --from en --to ko
    nungil check reviews.csv --columns review,stars --rejected dropped.tsv
    nungil check train.tsv --test test.tsv --json
    nungil check recipe.yaml
    nungil check runs/demo
    """
    if len(files) == 1 and (Path(files[0]) / "config.json").is_file():
        write(_model_checked(Path(files[0])))
        return
    reading: dict[str, Any] = {"task": task, "format": file_format, "encoding": encoding, "header": header}
    reading |= {"source": source, "target": target, "columns": two_columns(columns)}
    held_out = {name: given for name, given in (("test", test), ("validation", valid)) if given}
    request = _request(files, held_out, reading, data)
    found = _run(request, rejected)
    for decision in found.decisions:
        say(decision)
    if as_json:
        write(readable_json(found.to_json()))
    else:
        _print(found)
    if found.faults:
        for fault in found.faults:
            say(f"nungil: {fault}")
        raise typer.Exit(CorpusError.exit_code)
    say(_next(found, rejected, files, {"--columns": columns, "--from": source, "--to": target}))


def _is_recipe(files: list[str]) -> bool:
    return len(files) == 1 and Path(files[0]).suffix in (".yaml", ".yml")


def _request(
    files: list[str], held_out: dict[str, list[str]], reading: dict[str, Any], folder: str | None
) -> "CheckRequest":
    """What to look at: the files; or the data of a recipe, whose mistakes, in whatever section, are named first."""
    from nungil.text.checkup import CheckRequest
    from nungil.text.source import CorpusSettings

    if not _is_recipe(files):
        if folder is not None:
            raise UsageError(f"--data {folder} is for recipes; name the files themselves")
        return CheckRequest(files, held_out, CorpusSettings(**reading))
    from nungil.runs.recipe import read_recipe

    given = {"folder": folder, "source": reading["source"], "target": reading["target"]}
    recipe = read_recipe(Path(files[0]), {"data": {name: value for name, value in given.items() if value is not None}})
    data = recipe.data.placed()
    named = {name: given for name, given in (("test", data.test), ("validation", data.valid)) if given}
    as_said = CorpusSettings(**data.model_dump(include=set(CorpusSettings.model_fields)))
    return CheckRequest(data.train, named, as_said, recipe.cleaning)


def _model_checked(folder: Path) -> str:
    """Read a model as a user would; whatever is wrong with it ends the command in a sentence."""
    from nungil.model.build import parameter_count
    from nungil.model.folder import load_model

    loaded = load_model(folder)
    config = loaded.config
    what = f"a translator from {config.source or '?'} to {config.target or '?'}"
    if config.task == "classify":
        what = f"a classifier with {len(config.labels):,} labels"
    return f"{folder}: {what}, {parameter_count(loaded.model):,} parameters; its files are what config.json says."


def _run(request: "CheckRequest", rejected: Path | None) -> "Checkup":
    from nungil.text.checkup import check_up
    from nungil.text.discovery import expand
    from nungil.text.rejected import RejectedFile

    given = [path for files in (request.train, *request.held_out.values()) for path in expand(files)]
    if rejected is not None and rejected.exists() and any(path.exists() and path.samefile(rejected) for path in given):
        raise UsageError(f"--rejected {rejected} is a file to be checked; it would be written over")
    with RejectedFile(rejected) if rejected is not None else nullcontext() as file:
        found = check_up(request, file.add if file is not None else None)
        if file is not None and found.faults:
            file.discard()
    return found


def _print(found: "Checkup") -> None:
    width = min(shutil.get_terminal_size().columns, WIDEST) if sys.stdout.isatty() else PIPED_WIDTH
    write(_cleaning(found))
    for column in found.survey.columns:
        _print_column(column, found.survey.records, width)
    if found.survey.labels:
        _print_labels(found.survey.labels, width)
    for name, finding in found.survey.findings.items():
        if name == "one source, several targets":
            write(f"\n{finding.count:,} sources were met before with another target, which is usual.")
    if found.warnings:
        write("\nTo look at")
        for warning in found.warnings:
            write(f"  {warning}")
    write(f"\nVerdict: {found.verdict}.")
    if found.outlook is not None:
        write(found.outlook)


def _cleaning(found: "Checkup") -> str:
    tally = found.tally
    what = "pairs" if found.task == "translate" else "texts"
    lines = [f"{tally.read:,} {what} read, {tally.kept:,} left by cleaning."]
    if tally.dropped:
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in tally.dropped.most_common())
        lines.append(f"It would drop {tally.dropped.total():,}: {reasons}.")
    if tally.changed:
        repairs = ", ".join(f"{repair} in {count:,}" for repair, count in tally.changed.most_common())
        lines.append(f"It would mend {repairs}.")
    for name, other in found.held_out.items():
        lines.append(f"The {name} set: {other.read:,} {what} read, {other.kept:,} left by cleaning.")
    return "\n".join(lines)


def _print_column(column: "ColumnSurvey", records: int, width: int) -> None:
    from nungil.cli.histogram import bars

    if not records:
        return
    scripts = ", ".join(f"{script} {count / records:.1%}" for script, count in list(column.scripts.items())[:4])
    write(f"\n{column.name.capitalize()}: {scripts}")
    write(_lengths("words", column.words))
    write(_lengths("characters", column.characters))
    rows = [(f"{low}–{high}" if low < high else f"{low}", count) for low, high, count in column.words.histogram]
    write("\n".join(bars(rows, width)))
    padding = column.padding
    words = "1 word" if padding.length == 1 else f"{padding.length} words"
    write(f"  Pad to {words}, which cuts {padding.cut:.1%}: {padding.reason}.")


def _lengths(unit: str, lengths: "Lengths") -> str:
    percentiles = ", ".join(f"{percent}% ≤ {length:,}" for percent, length in lengths.percentiles.items())
    return f"  {unit:<10} mean {lengths.mean:,.1f}, {percentiles}, maximum {lengths.maximum:,}"


def _print_labels(labels: dict[str, int], width: int) -> None:
    from nungil.cli.histogram import bars

    write(f"\nLabels: {len(labels):,}")
    rows = [(label if len(label) <= 30 else label[:29] + "…", count) for label, count in labels.items()]
    write("\n".join(bars(rows[:LABELS_SHOWN], width)))
    if len(rows) > LABELS_SHOWN:
        write(f"  and {len(rows) - LABELS_SHOWN:,} more")


def _next(found: "Checkup", rejected: Path | None, files: list[str], options: dict[str, str | None]) -> str:
    if found.tally.dropped and rejected is None:
        return "Next: the same with --rejected dropped.tsv, to see what would be dropped"
    given = " ".join(f"--train {shlex.quote(name)}" for name in files)
    given = files[0] if _is_recipe(files) else given
    given += "".join(f" {name} {shlex.quote(value)}" for name, value in options.items() if value is not None)
    return f"Next: nungil train {given} --out runs/mine"
