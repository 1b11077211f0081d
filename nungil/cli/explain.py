"""`nungil explain`: one attention step, every number of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nungil.cli.talk import readable_json, say, write
from nungil.errors import UsageError

if TYPE_CHECKING:
    from nungil.inspection.ledger import Ledger
    from nungil.inspection.numbers import Numbers


def explain(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="With --example: which one. `--example list` names them.")
    ] = None,
    example: Annotated[
        bool, typer.Option("--example", help="A worked example: «I like snow», or the one named.")
    ] = False,
    query: Annotated[str | None, typer.Option(metavar="1,0,2", help="Your own query.")] = None,
    keys: Annotated[str | None, typer.Option(metavar="'1,1,0; 0,2,1'", help="Your own keys, one per token.")] = None,
    values: Annotated[str | None, typer.Option(metavar="'5; 7'", help="Your own values; by default the keys.")] = None,
    tokens: Annotated[str | None, typer.Option(metavar="'I like'", help="Names for the keys.")] = None,
    score: Annotated[str | None, typer.Option(help="The mechanism for --query: dot (default), scaled-dot, …")] = None,
    numbers: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Any mechanism, with your own matrices, from a file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the ledger as JSON.")] = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print it as Markdown.")] = False,
    lang: Annotated[Literal["en", "ko"], typer.Option(help="The language of the page: en or ko.")] = "en",
) -> None:
    """Print every number of one attention step, from the query to the output softmax.

    \b
    nungil explain --example
    nungil explain --example dictionary --lang ko
    nungil explain --query 1,0,2 --keys '1,1,0; 0,2,1' --score dot
    nungil explain --numbers mine.json --markdown
    """
    if name is not None and not example:
        raise UsageError(f"{name!r} is not an option; did you mean: nungil explain --example {name}")
    if sum((example, query is not None, numbers is not None)) != 1:
        raise UsageError(
            "explain takes one of --example, --query with --keys, or --numbers; try: nungil explain --example"
        )
    if query is None and any(option is not None for option in (keys, values, tokens, score)):
        raise UsageError("--keys, --values, --tokens and --score go with --query")
    if as_json and markdown:
        raise UsageError("--json and --markdown are two forms of the same page; choose one")
    if name == "list":
        _list_examples(lang)
        return
    story, given = "", None
    if example:
        story, given = _example(name or "attention", lang)
    elif numbers is not None:
        from nungil.inspection.numbers import read_numbers

        given = read_numbers(numbers)
    else:
        given = _typed_in(query or "", keys, values, tokens, score or "dot")
    from nungil.inspection.explain import explain as explain_numbers

    _print(explain_numbers(given), "json" if as_json else "markdown" if markdown else "terminal", lang, story)
    say(_next(name, example))


def _example(name: str, lang: Literal["en", "ko"]) -> "tuple[str, Numbers]":
    from nungil.inspection.examples import example_named

    found = example_named(name)
    return (found.korean if lang == "ko" else found.english), found.numbers


def _list_examples(lang: Literal["en", "ko"]) -> None:
    from nungil.inspection.examples import EXAMPLES

    for name, example in EXAMPLES.items():
        write(f"{name:<12} {example.korean if lang == 'ko' else example.english}")


def _typed_in(query: str, keys: str | None, values: str | None, tokens: str | None, score: str) -> "Numbers":
    """Numbers from the command line; a mechanism with matrices of its own needs a file."""
    from nungil.inspection.numbers import PARAMETERS, Numbers, check_numbers, mechanism_named

    mechanism = mechanism_named(score)
    if keys is None:
        raise UsageError("--query needs --keys; one key per token, as in --keys '1,1,0; 0,2,1'")
    if PARAMETERS[mechanism]:
        raise UsageError(
            f"{mechanism} has matrices of its own ({', '.join(PARAMETERS[mechanism])}): give all in a file, "
            f"--numbers FILE.json; for one to start from: nungil explain --example {mechanism} --json"
        )
    given = Numbers(
        mechanism=mechanism,
        query=_vector("--query", query),
        keys=[_vector("--keys", row) for row in keys.split(";")],
        values=None if values is None else [_vector("--values", row) for row in values.split(";")],
        tokens=None if tokens is None else tokens.split(),
    )
    return check_numbers(given, "command line")


def _vector(option: str, text: str) -> list[float]:
    found = []
    for part in text.split(","):
        try:
            number = float(part)
        except ValueError:
            raise UsageError(f"{option}: {part.strip()!r} is not a number; write it as 1,0,2") from None
        if number - number != 0:
            raise UsageError(f"{option}: {part.strip()} is not a finite number")
        found.append(number)
    return found


def _print(ledger: "Ledger", form: str, lang: Literal["en", "ko"], story: str) -> None:
    if form == "json":
        write(readable_json(ledger.to_json()))
    elif form == "markdown":
        from nungil.inspection.markdown import to_markdown

        write(to_markdown(ledger, lang, story).rstrip("\n"))
    else:
        from nungil.cli.talk import page
        from nungil.inspection.terminal import print_ledger

        console = page()
        with console.capture() as drawn:
            print_ledger(ledger, console, lang, story)
        write(drawn.get().rstrip("\n"))


def _next(name: str | None, example: bool) -> str:
    if not example:
        return "Next: --json for every digit, --lang ko for Korean; nungil explain --example list names the examples"
    return f"Next: nungil explain --example {'dictionary' if name is None else 'list'}"
