"""`nungil`: every verb, and the one place where errors become sentences and exit codes."""

import os
import sys
from typing import Annotated

import typer

from nungil import __version__
from nungil.cli import (
    align,
    check,
    classify,
    data,
    demo,
    explain,
    export,
    info,
    look,
    resume,
    score,
    serve,
    study,
    train,
    translate,
)
from nungil.cli.sections import Sectioned
from nungil.cli.talk import guarded_output, guarded_talk
from nungil.errors import LostError, NungilError, ProcessError, ResourceError

HELP = """Train attention models, run them, and see exactly where they look.

Start with: nungil demo
"""

NO_MEMORY = "out of memory; a smaller model, smaller batches (training.batch_tokens) or shorter texts need less"
STOPPED = 130  # the shell's code for Ctrl-C

app = typer.Typer(
    help=HELP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich's help boxes take too long to import
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo", short_help="Make a translator and its attention maps, in two minutes.")(demo.demo)
app.command("train", short_help="Train a translator or a classifier on your own text.")(train.train)
app.command("resume", short_help="Continue a stopped run exactly where it stopped.")(resume.resume)
app.command("translate", short_help="Translate text, line by line.")(translate.translate)
app.command("classify", short_help="Classify text, line by line.")(classify.classify)
app.command("score", short_help="Score a model, or compare two.")(score.score)
app.command("align", short_help="Print word links, or the alignment error rate.")(align.align)
app.command(
    "look", cls=Sectioned, help=look.HELP, short_help="Show where a model looks: heat maps, lenses, interventions."
)(look.look)
app.command("explain", short_help="Print every number of one attention step, checked.")(explain.explain)
app.command("serve", short_help="Serve models: a web page, and an HTTP API.")(serve.serve)
app.command("study", short_help="Test claims about attention, with a report.")(study.study)
app.command("export", short_help="Write a Transformer as a folder for CTranslate2.")(export.export)
app.command("check", short_help="Find what is wrong with a corpus, a recipe or a model.")(check.check)
app.add_typer(data.app, name="data", short_help="Make the embedded corpus as files.")
app.command("info", short_help="Print versions and machine for a bug report, or a model's card.")(info.info)


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"nungil {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error; may stand anywhere.")] = False,
) -> None:
    del version, debug  # --version is handled by its callback, --debug by `_run`


def main() -> None:
    """Run a command. Errors end in one line and an exit code; --debug shows the traceback."""
    _open_what_is_closed()
    with guarded_talk():
        _run()


def _run() -> None:
    debug = "--debug" in sys.argv
    sys.argv = [argument for argument in sys.argv if argument != "--debug"]
    try:
        with guarded_output():
            app()
    except (LostError, ProcessError) as error:  # the other process has printed the error
        if debug:
            raise
        sys.exit(error.exit_code)
    except NungilError as error:
        if debug:
            raise
        _end(f"nungil: {error}", error.exit_code)
    except KeyboardInterrupt:
        _end("nungil: stopped", STOPPED)
    except SystemExit as end:
        if end.code == STOPPED:  # typer turns KeyboardInterrupt into this exit code, silently
            _end("nungil: stopped", STOPPED)
        raise
    except Exception as error:
        if debug:
            raise
        if _is_want_of_memory(error):
            _end(f"nungil: {NO_MEMORY}", ResourceError.exit_code)
        _end(
            f"nungil: this is a bug in nungil: {type(error).__name__}: {error}\n"
            "Run the command again with --debug for the traceback, and report it with what `nungil info` prints.",
            1,
        )


def _is_want_of_memory(error: Exception) -> bool:
    """Python and NumPy have an error of its own for it; torch has words."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and "can't allocate memory" in str(error))


def _open_what_is_closed() -> None:
    """Replace a closed standard input or standard error, as some daemons leave them, by /dev/null."""
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: PTH123, SIM115
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115


def _end(message: str, code: int) -> None:
    print(message, file=sys.stderr)  # noqa: T201
    sys.exit(code)
