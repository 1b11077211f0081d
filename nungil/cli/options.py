"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from nungil.errors import UsageError, as_typed

Others = Annotated[
    list[Path] | None,
    typer.Option("--with", metavar="DIR", help="Another model, for an ensemble; may be repeated."),
]
Compute = Annotated[
    str | None, typer.Option(metavar="TYPE", help="With ctranslate2: float32, int8 or another of its types.")
]
Split = Annotated[bool, typer.Option(help="Translate a line sentence by sentence.")]
Folder = Annotated[
    str | None,
    typer.Option("--data", metavar="DIR", help="Folder of the files that a recipe names; by default this one."),
]
Valid = Annotated[list[str] | None, typer.Option(metavar="FILE", help="The validation set; may be repeated.")]
Test = Annotated[list[str] | None, typer.Option(metavar="FILE", help="The test set; may be repeated.")]
Columns = Annotated[
    str | None, typer.Option(metavar="A,B", help="Source,target or text,label: names, languages, or numbers from 1.")
]
From = Annotated[str | None, typer.Option("--from", metavar="en", help="Language of the source.")]
To = Annotated[str | None, typer.Option("--to", metavar="ko", help="Language of the target.")]
TaskName = Annotated[
    Literal["translate", "classify"] | None, typer.Option(help="The task; by default told by the data.")
]
FormatName = Annotated[
    Literal["aligned", "tsv", "csv", "jsonl", "fasttext", "folder", "tmx", "xliff", "po"] | None,
    typer.Option("--format", help="The format; by default told by name and content."),
]
Encoding = Annotated[
    str | None, typer.Option(help="The encoding of the files, such as cp949 or utf-16; utf-8 by default.")
]
Header = Annotated[bool | None, typer.Option(help="Whether the first row of a table holds column names.")]


class DataOptions(NamedTuple):
    """The options about data, named as in a recipe's `data` section; None if not given."""

    folder: str | None
    valid: list[str] | None
    test: list[str] | None
    columns: str | None
    source: str | None
    target: str | None
    task: str | None
    format: str | None
    encoding: str | None
    header: bool | None

    def settings(self) -> dict[str, Any]:
        """The options given, as in a recipe."""
        said = {**self._asdict(), "columns": two_columns(self.columns) or None}
        return {name: value for name, value in said.items() if value is not None}

    def words(self) -> str:
        """The options given, as typed on a command line."""
        flags = {"folder": "data", "source": "from", "target": "to"}
        words = []
        for name, value in self._asdict().items():
            flag = f"--{flags.get(name, name)}"
            if isinstance(value, bool):
                words.append(flag if value else flag.replace("--", "--no-"))
            elif value is not None:
                words += [f"{flag} {as_typed(one)}" for one in ([value] if isinstance(value, str) else value)]
        return " ".join(words)


def two_columns(text: str | None) -> tuple[str, ...]:
    """`en,ko` as two names; nothing as none."""
    if text is None:
        return ()
    if text.count(",") != 1:
        raise UsageError("--columns takes two, by name or by number: --columns en,ko or --columns 2,3")
    return tuple(name.strip() for name in text.split(","))
