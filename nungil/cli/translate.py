"""`nungil translate`: text in, text out, line by line."""

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from nungil.cli.options import Compute, Others, Split
from nungil.cli.talk import suggest_looking
from nungil.errors import UsageError, as_typed
from nungil.text.counts import counted

if TYPE_CHECKING:
    from nungil.cli.texts import Notes, Texts
    from nungil.pipeline import Translator
    from nungil.records import Translation

BREAKS = re.compile("[\t\n\v\f\r\x1c-\x1f\x85\u2028\u2029]+")


def translate(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A model folder.")],
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="FILE", help="A text per line; by default standard input.")
    ] = None,
    others: Others = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write there; the same command goes on with it if stopped.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object per line, with all that is known.")] = False,
    n_best: Annotated[int, typer.Option(metavar="N", min=1, help="Translations of each line, best first.")] = 1,
    scores: Annotated[bool, typer.Option("--scores", help="Add the mean log-probability of a token.")] = False,
    align: Annotated[bool, typer.Option("--align", help="Add the word links: source-target, from 0.")] = False,
    beam: Annotated[int | None, typer.Option(metavar="N", min=1, help="Size of the beam: 5; 1 is greedy.")] = None,
    length_penalty: Annotated[float | None, typer.Option(metavar="α", help="0 favours short ones; 1.")] = None,
    coverage_penalty: Annotated[float | None, typer.Option(metavar="β", help="Cost of words left unread; 0.")] = None,
    exhaustive: Annotated[bool, typer.Option("--exhaustive", help="Go on until nothing can become better.")] = False,
    sample: Annotated[bool, typer.Option("--sample", help="Draw instead of searching.")] = False,
    temperature: Annotated[float | None, typer.Option(metavar="T", help="Of drawing: below 1 is bolder.")] = None,
    top_k: Annotated[int | None, typer.Option(metavar="K", help="Draw from the K most probable.")] = None,
    top_p: Annotated[float | None, typer.Option(metavar="P", help="Draw from the most probable share.")] = None,
    seed: Annotated[int | None, typer.Option(metavar="S", help="Of drawing.")] = None,
    shortest: Annotated[int | None, typer.Option(metavar="N", help="Tokens at least.")] = None,
    longest: Annotated[int | None, typer.Option(metavar="N", help="Tokens at most.")] = None,
    no_repeat: Annotated[int | None, typer.Option(metavar="N", help="No run of N tokens twice.")] = None,
    prefix: Annotated[str | None, typer.Option(metavar="TEXT", help="How each begins; with <eos>, all of it.")] = None,
    encoding: Annotated[str, typer.Option(help="The encoding of the text, such as cp949 or utf-16.")] = "utf-8",
    precision: Annotated[
        Literal["fp32", "bf16", "int8"] | None,
        typer.Option(help="Of products: fp32; bf16 and int8 are faster, and near-ties may fall otherwise."),
    ] = None,
    split: Split = True,
    engine: Annotated[
        Literal["nungil", "ctranslate2"],
        typer.Option(help="Who searches; ctranslate2 runs Transformers, and ranks by nungil's own length penalty."),
    ] = "nungil",
    compute: Compute = None,
) -> None:
    """Translate text: one line out for each line in; with --n-best, so many.

    \b
    echo 'I like snow' | nungil translate runs/demo
    nungil translate runs/demo article.txt --out article.ko
    nungil translate runs/demo article.txt --n-best 3 --scores
    nungil translate runs/mine article.txt --engine ctranslate2 --compute int8
    nungil translate runs/mine article.txt --with runs/second --with runs/third
    """
    from nungil.cli.texts import Texts

    given = {
        **{"beam": beam, "n_best": n_best, "length_penalty": length_penalty, "coverage_penalty": coverage_penalty},
        **{"sample": sample or None, "temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed},
        **{"shortest": shortest, "longest": longest, "no_repeat": no_repeat, "precision": precision},
        "exhaustive": exhaustive or None,
    }
    options = {name: value for name, value in given.items() if value is not None}
    shown = Shown(as_json, scores, align, split, n_best > 1)
    texts, run = Texts(files or [], encoding, steady=sample), Run(engine, compute, prefix, tuple(others or ()))
    _translate(folder, texts, out, options, shown, run)


def _translate(
    folder: Path, texts: "Texts", out: Path | None, options: dict[str, Any], shown: "Shown", run: "Run"
) -> None:
    from nungil.cli.lines import model_sign, work_through
    from nungil.cli.texts import Notes
    from nungil.decoding.joint import refuse_coverage
    from nungil.decoding.settings import SearchSettings
    from nungil.engines import load
    from nungil.engines.ctranslate2 import refuse_what_it_cannot
    from nungil.pipeline import Translator
    from nungil.settings import build_settings

    search = build_settings({**options, "scores": shown.as_json or shown.scores}, SearchSettings, "nungil translate")
    if run.engine == "ctranslate2":
        refuse_what_it_cannot(search)
    if run.others:
        refuse_coverage(search)
    signs = [model_sign(place) for place in (folder, *run.others)] if out is not None else []
    sign = {"models": signs, "search": search.model_dump(), "shown": vars(shown), "run": run[:-1]}
    model = load(folder, run.engine, run.compute, shown.as_json, run.others)
    if not isinstance(model, Translator):
        raise UsageError(f"{folder} holds a classifier; use: nungil classify {as_typed(folder)}")
    seen: list[str] = []
    notes = Notes()

    def answer(lines: list[str], number: int) -> list[str]:
        found = model.translate(
            lines, search, split=shown.split, align=shown.links, prefix=run.prefix, first=number - 1
        )
        for place, one in enumerate(found, number):
            _note(notes, texts.place(place), one, model)
        if not seen:
            seen.extend([one.source for one in found if one.source][:1])
        return [line for place, one in enumerate(found, number) for line in shown.lines(place, one)]

    work_through(texts, out, sign, answer)
    notes.end()
    if model.config.attends and not run.others:
        suggest_looking(folder, seen, "a sentence")


class Run(NamedTuple):
    """Who searches, in what numbers, what translations begin with, and which models help."""

    engine: Literal["nungil", "ctranslate2"]
    compute: str | None
    prefix: str | None
    others: tuple[Path, ...] = ()


class Shown:
    """What is translated as one, and what is printed of it."""

    def __init__(self, as_json: bool, scores: bool, links: bool, split: bool, numbered: bool) -> None:
        self.as_json, self.scores, self.links, self.split, self.numbered = as_json, scores, links, split, numbered

    def lines(self, number: int, one: "Translation") -> list[str]:
        """Its lines: one, or one for each of the best, which are told apart by the number of their input."""
        if self.as_json:
            return [json.dumps(plain(one), ensure_ascii=False)]
        before = f"{number}\t" if self.numbered else ""
        return [before + self._line(each) for each in one.n_best or (one,)]

    def _line(self, one: "Translation") -> str:
        if not one.source_tokens:  # an empty line stays empty
            return ""
        text = BREAKS.sub(" ", one.text)  # what stood between sentences must not look like another column or line
        score = [f"{one.score:.4f}"] if self.scores else []
        return "\t".join([text, *score, *[one.links or ""] * self.links])


def plain(one: "Translation") -> dict[str, Any]:
    """A translation as JSON has it."""
    return {**one._asdict(), "n_best": [plain(each) for each in one.n_best]}


def _note(notes: "Notes", place: str, one: "Translation", model: "Translator") -> None:
    notes.add_unknown(place, one.source, one.unknown)
    if one.cut:
        limit = counted(model.config.longest, "token")
        notes.add(f"{place}: longer than the {limit} that the model reads; the rest was left out")
    if not one.finished and one.source:
        notes.add(f"{place}: the translation did not come to an end and was cut off")
    if one.finished and one.source_tokens and not one.text:
        notes.add(f"{place}: the model's translation is an empty line")
