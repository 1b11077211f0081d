"""`nungil check`: what is in a corpus and what is wrong with it, before time is spent on it."""

import shutil
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from nungil.cli.talk import readable_json, say, write
from nungil.errors import CorpusError, UsageError, as_typed
from nungil.text.counts import counted

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
    data: Folder = None,
    valid: Valid = None,
    test: Test = None,
    columns: Columns = None,
    source: From = None,
    target: To = None,
    task: TaskName = None,
    file_format: FormatName = None,
    encoding: Encoding = None,
    header: Header = None,
    rejected: Annotated[
        Path | None, typer.Option(metavar="FILE.tsv", help="Write what cleaning would drop, and why.")
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
    said = DataOptions(data, valid, test, columns, source, target, task, file_format, encoding, header)
    request = _request(files, said)
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
    say(_next(found, rejected, files, said))


def _is_recipe(files: list[str]) -> bool:
    """Whether this is a recipe: one written by a user, or kept by a run."""
    return len(files) == 1 and (Path(files[0]).suffix in (".yaml", ".yml") or Path(files[0]).name == "recipe.json")


def _request(files: list[str], said: DataOptions) -> "CheckRequest":
    """What to check: the files, or the data of a recipe, after all mistakes in the recipe."""
    from nungil.runs.recipe import read_recipe
    from nungil.text.checkup import CheckRequest
    from nungil.text.source import CorpusSettings

    if _is_recipe(files):
        recipe = read_recipe(Path(files[0]), {"data": said.settings()})
    elif said.folder is not None:
        raise UsageError(f"--data {said.folder} is for recipes; name the files themselves")
    else:
        recipe = read_recipe(None, {"data": {"train": files, **said.settings()}})
    data = recipe.data.placed()
    held_out = {name: given for name, given in (("test", data.test), ("validation", data.valid)) if given}
    reading = CorpusSettings(**data.model_dump(include=set(CorpusSettings.model_fields)))
    return CheckRequest(data.train, held_out, reading, recipe.cleaning)


def _model_checked(folder: Path) -> str:
    """Load a model, which checks all of its files."""
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
        raise UsageError(f"--rejected {rejected} is a file to be checked; it would be overwritten")
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
            write(f"\n{counted(finding.count, 'source')} met before with another target, which is usual.")
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
    words = counted(padding.length, "word")
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


def _next(found: "Checkup", rejected: Path | None, files: list[str], said: DataOptions) -> str:
    if found.tally.dropped and rejected is None:
        return "Next: the same with --rejected dropped.tsv, to see what would be dropped"
    flag = "" if _is_recipe(files) else "--train "
    given = [*(f"{flag}{as_typed(name)}" for name in files), said.words(), "--out runs/mine"]
    return f"Next: nungil train {' '.join(filter(None, given))}"
