"""Options that several verbs share."""

from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from nungil.errors import UsageError, as_typed

Others = Annotated[
    list[Path] | None,
    typer.Option("--with", metavar="DIR", help="Another model, to translate together with; may be repeated."),
]
Compute = Annotated[
    str | None, typer.Option(metavar="TYPE", help="With ctranslate2: float32, int8 and others that it has.")
]
Split = Annotated[bool, typer.Option(help="Translate a line sentence by sentence.")]
Folder = Annotated[
    str | None,
    typer.Option("--data", metavar="DIR", help="Folder that the files of a recipe lie in; here by default."),
]
Valid = Annotated[list[str] | None, typer.Option(metavar="FILE", help="The validation set; may be repeated.")]
Test = Annotated[list[str] | None, typer.Option(metavar="FILE", help="The test set; may be repeated.")]
Columns = Annotated[
    str | None, typer.Option(metavar="A,B", help="Source,target or text,label: names, languages, or numbers from 1.")
]
From = Annotated[str | None, typer.Option("--from", metavar="en", help="Language of the source.")]
To = Annotated[str | None, typer.Option("--to", metavar="ko", help="Language of the target.")]
TaskName = Annotated[Literal["translate", "classify"] | None, typer.Option(help="What the data is for.")]
FormatName = Annotated[
    Literal["aligned", "tsv", "csv", "jsonl", "fasttext", "folder", "tmx", "xliff", "po"] | None,
    typer.Option("--format", help="The format; told from name and content by default."),
]
Encoding = Annotated[
    str | None, typer.Option(help="The encoding of the files, such as cp949 or utf-16; utf-8 by default.")
]
Header = Annotated[bool | None, typer.Option(help="Whether the first row of a table holds names.")]


class DataOptions(NamedTuple):
    """What a user said of the data, under the names of a recipe's `data` section. What was not said is None."""

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
        """What was said, as a recipe would say it."""
        said = {**self._asdict(), "columns": two_columns(self.columns) or None}
        return {name: value for name, value in said.items() if value is not None}

    def words(self) -> str:
        """What was said, as it is typed."""
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
