"""`nungil explain`: every number of one step of a model, or of one attention step."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import typer

from nungil.cli.talk import readable_json, say, write
from nungil.errors import UsageError, as_typed
from nungil.text.counts import counted

if TYPE_CHECKING:
    from nungil.inspection.ledger import Ledger
    from nungil.inspection.numbers import Numbers


def explain(
    folder: Annotated[
        str | None, typer.Argument(metavar="DIR", help="A model folder; with --example, the example's name.")
    ] = None,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="With DIR: a sentence, in quotes.")] = None,
    step: Annotated[
        int | None,
        typer.Option(metavar="N", help="With DIR: which written word, from 1 (default); <eos> is the last."),
    ] = None,
    layer: Annotated[int | None, typer.Option(metavar="N", help="A layer, from 0; by default the last.")] = None,
    head: Annotated[int | None, typer.Option(metavar="N", help="A head, from 0 (default), as in nungil look.")] = None,
    kind: Annotated[
        str | None,
        typer.Option(metavar="KIND", help="cross, masked, pooling, or self, where --step is a token of TEXT."),
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A step of this translation instead of the model's own.")
    ] = None,
    example: Annotated[
        bool, typer.Option("--example", help="A worked example: «I like snow», or the one named; `list` names them.")
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
    """Print every number of one step, of a model or of an example, from the query to the output softmax.

    \b
    nungil explain runs/demo 'I like snow' --step 2
    nungil explain runs/mine 'I like snow' --step 2 --layer 0 --head 1 --lang ko
    nungil explain --example
    nungil explain --example dictionary --lang ko
    nungil explain --query 1,0,2 --keys '1,1,0; 0,2,1' --score dot
    nungil explain --numbers mine.json --markdown
    """
    if as_json and markdown:
        raise UsageError("--json and --markdown exclude each other; choose one")
    page = Page("json" if as_json else "markdown" if markdown else "terminal", lang)
    own, where = Own(example, query, keys, values, tokens, score, numbers), Where(step, layer, head, kind, target)
    if folder is None or example:
        if text is not None or any(option is not None for option in where):
            raise UsageError("TEXT, --step, --layer, --head, --kind and --target go with a model folder")
        _explain_numbers(folder, own, page)
    elif any(own):
        raise UsageError("a model folder, --example, --query and --numbers are four things to explain; choose one")
    else:
        _explain_step(folder, text, where, page)


class Page(NamedTuple):
    """How a ledger is printed."""

    form: str
    lang: Literal["en", "ko"]


class Where(NamedTuple):
    """Which step of a model is wanted; None if not given."""

    step: int | None
    layer: int | None
    head: int | None
    kind: str | None
    target: str | None


class Own(NamedTuple):
    """What to explain without a model."""

    example: bool
    query: str | None
    keys: str | None
    values: str | None
    tokens: str | None
    score: str | None
    numbers: Path | None


def _explain_numbers(name: str | None, own: Own, page: Page) -> None:
    """One attention step: an example, or the user's numbers."""
    if sum((own.example, own.query is not None, own.numbers is not None)) != 1:
        raise UsageError(
            "explain takes a model folder and a text, or one of --example, --query with --keys, or --numbers; "
            "try: nungil explain --example"
        )
    if own.query is None and any(option is not None for option in own[2:6]):
        raise UsageError("--keys, --values, --tokens and --score go with --query")
    if name == "list":
        _list_examples(page.lang)
        return
    story, given = "", None
    if own.example:
        story, given = _example(name or "attention", page.lang)
    elif own.numbers is not None:
        from nungil.inspection.numbers import read_numbers

        given = read_numbers(own.numbers)
    else:
        given = _typed_in(own.query or "", own.keys, own.values, own.tokens, own.score or "dot")
    from nungil.inspection.explain import explain as explain_numbers

    _print(explain_numbers(given), page, story)
    say(_next(name, own.example, page.lang))


def _explain_step(folder: str, text: str | None, where: Where, page: Page) -> None:
    """One step of a trained model."""
    if text is None:
        from nungil.inspection.examples import EXAMPLES

        if folder in EXAMPLES and not Path(folder).exists():
            raise UsageError(f"{folder!r} is not an option; did you mean: nungil explain --example {folder}")
        raise UsageError(f"explain needs a text beside the folder: nungil explain {as_typed(folder)} 'I like snow'")
    from nungil.pipeline import Translator, load

    model = load(folder)
    step = 1 if where.step is None else where.step
    place = {"layer": where.layer, "head": where.head}
    if isinstance(model, Translator):
        ledger = model.explain(text, step, **place, kind=where.kind, target=where.target)
    elif where.target is not None:
        raise UsageError("--target is for translators; a classifier has labels")
    else:
        ledger = model.explain(text, step, **place, kind=where.kind)
    _print(ledger, page)
    if ledger.numbers["cut"]:
        say(
            f"The text is longer than the {counted(model.config.longest, 'token')} that the model reads; "
            "the rest was left out"
        )
    say(_next_step(folder, text, ledger, where, page.lang))


def _next_step(folder: str, text: str, ledger: "Ledger", where: Where, lang: str) -> str:
    """Suggest the next step with the same options; after the last one, the map."""
    same = f"{as_typed(folder)} {as_typed(text)}"
    if ledger.numbers["step"] >= ledger.numbers.get("steps", 1):
        other = "ko" if lang == "en" else "en"
        return f"Next: nungil look {same}" if ledger.kind is not None else f"Next: nungil explain {same} --lang {other}"
    said = {"layer": where.layer, "head": where.head, "kind": where.kind}
    said["target"] = None if where.target is None else as_typed(where.target)
    said["lang"] = None if lang == "en" else lang
    options = "".join(f" --{name} {value}" for name, value in said.items() if value is not None)
    return f"Next: nungil explain {same} --step {ledger.numbers['step'] + 1}{options}"


def _example(name: str, lang: Literal["en", "ko"]) -> "tuple[str, Numbers]":
    from nungil.inspection.examples import example_named

    found = example_named(name)
    return (found.korean if lang == "ko" else found.english), found.numbers


def _list_examples(lang: Literal["en", "ko"]) -> None:
    from nungil.inspection.examples import EXAMPLES

    for name, example in EXAMPLES.items():
        write(f"{name:<12} {example.korean if lang == 'ko' else example.english}")


def _typed_in(query: str, keys: str | None, values: str | None, tokens: str | None, score: str) -> "Numbers":
    """Numbers from the command line; mechanisms with matrices of their own need a file."""
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


def _print(ledger: "Ledger", page: Page, story: str = "") -> None:
    if page.form == "json":
        write(readable_json(ledger.to_json()))
    elif page.form == "markdown":
        from nungil.inspection.markdown import to_markdown

        write(to_markdown(ledger, page.lang, story).rstrip("\n"))
    else:
        from nungil.cli.talk import page as paper
        from nungil.inspection.terminal import print_ledger

        console = paper()
        with console.capture() as drawn:
            print_ledger(ledger, console, page.lang, story)
        write(drawn.get().rstrip("\n"))


def _next(name: str | None, example: bool, lang: str) -> str:
    if not example:
        return "Next: --json for every digit, --lang ko for Korean; nungil explain --example list names the examples"
    same = "" if lang == "en" else f" --lang {lang}"
    return f"Next: nungil explain --example {'dictionary' if name is None else 'list'}{same}"
