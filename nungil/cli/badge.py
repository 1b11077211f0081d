"""`nungil look DIR --badge`: how far the maps of a model can be trusted."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from nungil.cli.options import two_columns
from nungil.cli.talk import readable_json, say, write
from nungil.errors import CorpusError, UsageError
from nungil.text.counts import counted

if TYPE_CHECKING:
    from nungil.pipeline import Classifier, Translator

MODEL = "The model as a whole (no text)"
SENTENCES = 100  # enough for figures of two digits
EVERY = 20  # texts between lines of progress
ONLY = ("data", "columns", "limit", "also")  # options that only a badge has …
SHARED = (*ONLY, "badge", "seed", "as_json", "yes")  # … and all that go with one

Badge = Annotated[
    bool, typer.Option("--badge", help="Measure on many texts how far its maps can be trusted.", rich_help_panel=MODEL)
]
Data = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Texts; by default the validation set of the run.", rich_help_panel=MODEL),
]
Columns = Annotated[
    str | None, typer.Option(metavar="A,B", help="Two columns of --data, by name or number.", rich_help_panel=MODEL)
]
Limit = Annotated[int, typer.Option(metavar="N", min=1, help="Texts to measure on.", rich_help_panel=MODEL)]
Also = Annotated[
    list[Path] | None,
    typer.Option("--also", metavar="DIR", help="A model trained with another seed.", rich_help_panel=MODEL),
]


class Texts(NamedTuple):
    """What a badge is measured on."""

    file: Path | None
    columns: str | None
    limit: int
    seed: int


def check_options(badge: bool, text: str | None, given: Mapping[str, str]) -> None:
    """Refuse options that would have no effect; `given` are those that were typed, by name."""
    if badge:
        other = [option for name, option in given.items() if name not in SHARED]
        if other or text is not None:
            unfit = ", ".join([*([] if text is None else [f"the text {text!r}"]), *other])
            raise UsageError(f"--badge measures the model as a whole; leave out {unfit}")
    elif only := [option for name, option in given.items() if name in ONLY]:
        raise UsageError(f"{', '.join(only)}: only with --badge")


def print_badge(folders: Sequence[Path], texts: Texts, as_json: bool) -> None:
    """The badge of a model, or those of several with their spread."""
    lines, plain = badges(folders, texts)
    if as_json:
        write(readable_json(plain))
    else:
        for line in lines:
            write(line)


def badges(folders: Sequence[Path], texts: Texts) -> tuple[tuple[str, ...], dict[str, Any]]:
    """As lines, and as plain values. All models are measured on the same texts."""
    from nungil.pipeline import load

    models = [load(folder) for folder in folders]
    records = records_for(folders[0], models[0], texts)
    found = []
    for folder, model in zip(folders, models, strict=True):
        if model.config.task != models[0].config.task:
            raise UsageError(f"{folder} and {folders[0]} have different tasks; their figures cannot be compared")
        say(f"{folder}: {counted(len(records), 'text')} with attention as it is, even, permuted and random …")
        found.append(model.badge(records, seed=texts.seed, tell=_tell))
    if len(found) == 1:
        return found[0].lines(), found[0].to_json()
    from nungil.inspection.badge import Spread
    from nungil.pipeline.seeds import maps_apart

    spread = Spread(tuple(found), maps_apart(models, records))
    each = [[str(folder), *(f"  {line}" for line in one.lines())] for folder, one in zip(folders, found, strict=True)]
    return (*(line for lines in each for line in lines), *spread.lines()), spread.to_json()


def records_for(folder: Path, model: "Translator | Classifier", texts: Texts) -> list[tuple[str, str]]:
    """Texts with their translations or labels: of the file, or of the run's own validation set."""
    task = model.config.task
    if texts.file is not None:
        from nungil.text.corpus import open_corpus
        from nungil.text.source import CorpusSettings

        settings = CorpusSettings(task=task, columns=two_columns(texts.columns))
        rows = list(open_corpus([texts.file], settings).rows())
    else:
        kept = folder / "data" / "validation.jsonl"
        if not kept.exists():
            raise UsageError(f"{folder} has kept no validation set; name texts with --data FILE")
        from nungil.runs.saved import read_records

        rows = read_records(kept, task)
    rows = [row for row in rows if row[0].strip() and row[1].strip() and not any(row[4:])]  # not withheld, either
    if not rows:
        raise CorpusError(f"{texts.file or folder}: there is nothing in it to measure a badge on")
    step = max(1, len(rows) // texts.limit)  # spread over the file: its beginning may be of one kind
    return [(row[0], row[1]) for row in rows[::step][: texts.limit]]


def _tell(done: int, total: int) -> None:
    if done % EVERY == 0 or done == total:
        say(f"{done:,} of {counted(total, 'text')}")
