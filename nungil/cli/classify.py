"""`nungil classify`: text in, labels out, line by line."""

import json
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from nungil.cli.talk import say, write
from nungil.errors import UsageError


def classify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A model folder.")],
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILE]…", help="A text per line; by default standard input.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object per line, with every probability.")] = False,
) -> None:
    """Classify text: for each line in, a label and its probability, with a tab between; an empty line stays empty.

    \b
    echo '정말 재미있는 영화' | nungil classify runs/reviews
    nungil classify runs/reviews new.txt --json > labels.jsonl
    """
    from nungil.cli.texts import chunks_of_lines
    from nungil.pipeline import Classifier, load
    from nungil.text.tidy import tidy

    model = load(folder)
    if not isinstance(model, Classifier):
        raise UsageError(f"{folder} holds a translator; use: nungil translate {folder}")
    done, first = 0, ""
    for lines in chunks_of_lines(files or []):
        answers = iter(model.classify([line for line in lines if tidy(line)]))
        for number, line in enumerate(lines, done + 1):
            if not tidy(line):  # a line out for each line in
                write("null" if as_json else "")
                continue
            found = next(answers)
            write(
                json.dumps(found._asdict(), ensure_ascii=False)
                if as_json
                else f"{found.label}\t{found.probability:.4f}"
            )
            first = first or found.source
            if found.cut:
                say(f"line {number}: longer than the {model.config.longest} tokens that the model reads; cut there")
        done += len(lines)
    if first and model.config.attends:
        say(f"Next: nungil look {folder} {quote(first if len(first) < 60 else 'a text')}")
