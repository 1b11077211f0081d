"""`nungil classify`: text in, labels out, line by line."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nungil.cli.talk import suggest_looking
from nungil.errors import UsageError, as_typed
from nungil.text.counts import counted

if TYPE_CHECKING:
    from nungil.records import Classification


def classify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A model folder.")],
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="A text per line; by default standard input.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to a file; if stopped, the same command continues it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object per line, with every probability.")] = False,
    encoding: Annotated[str, typer.Option(help="The encoding of the text, such as cp949 or utf-16.")] = "utf-8",
) -> None:
    """Classify text: for each line in, a label and its probability, with a tab between; an empty line stays empty.

    \b
    echo '정말 재미있는 영화' | nungil classify runs/reviews
    nungil classify runs/reviews new.txt --json --out labels.jsonl
    """
    from nungil.cli.lines import model_sign, work_through
    from nungil.cli.texts import Notes, Texts
    from nungil.pipeline import Classifier, load
    from nungil.text.tidy import tidy

    texts = Texts(files or [], encoding)
    sign = {"model": model_sign(folder), "json": as_json} if out is not None else {}
    model = load(folder)
    if not isinstance(model, Classifier):
        raise UsageError(f"{folder} holds a translator; use: nungil translate {as_typed(folder)}")
    seen: list[str] = []
    notes = Notes()

    def answer(lines: list[str], number: int) -> list[str]:
        found = iter(model.classify([line for line in lines if tidy(line)]))
        answers = [next(found) if tidy(line) else None for line in lines]  # a line out for each line in
        for place, one in enumerate(answers, number):
            if one is None:
                continue
            notes.add_unknown(texts.place(place), one.source, one.unknown)
            if one.cut:
                limit = counted(model.config.longest, "token")
                notes.add(f"{texts.place(place)}: longer than the {limit} that the model reads; the rest was left out")
        if not seen:
            seen.extend([one.source for one in answers if one is not None][:1])
        return [_shown(one, as_json) for one in answers]

    work_through(texts, out, sign, answer)
    notes.end()
    if model.config.attends:
        suggest_looking(folder, seen, "a text")


def _shown(one: "Classification | None", as_json: bool) -> str:
    if one is None:
        return "null" if as_json else ""
    return json.dumps(one._asdict(), ensure_ascii=False) if as_json else f"{one.label}\t{one.probability:.4f}"
