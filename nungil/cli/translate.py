"""`nungil translate`: text in, text out, line by line."""

import json
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from nungil.cli.talk import say, write
from nungil.errors import UsageError

if TYPE_CHECKING:
    from nungil.records import Translation


def translate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A model folder.")],
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]…", help="A sentence per line; by default standard input.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object per line: text, score, tokens.")] = False,
) -> None:
    """Translate text: one line out for each line in.

    \b
    echo 'I like snow' | nungil translate runs/demo
    nungil translate runs/demo article.txt > article.ko
    """
    from nungil.cli.texts import chunks_of_lines
    from nungil.pipeline import Translator, load

    model = load(folder)
    if not isinstance(model, Translator):
        raise UsageError(f"{folder} holds a classifier; use: nungil classify {folder}")
    done, first = 0, ""
    for lines in chunks_of_lines(files or []):
        for number, translation in enumerate(model.translate(lines), done + 1):
            write(_json(translation) if as_json else translation.text)
            _warn(number, translation, model.config.longest)
            first = first or translation.source
        done += len(lines)
    if first and model.config.attends:
        say(f"Next: nungil look {folder} {quote(first if len(first) < 60 else 'a sentence')}")


def _json(translation: "Translation") -> str:
    return json.dumps(translation._asdict(), ensure_ascii=False)


def _warn(number: int, translation: "Translation", longest: int) -> None:
    if translation.cut:
        say(f"line {number}: longer than the {longest} tokens that the model reads; the rest was left out")
    if not translation.finished and translation.source:
        say(f"line {number}: the translation did not come to an end and was cut off")
