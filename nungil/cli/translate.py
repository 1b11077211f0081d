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
        Path | None, typer.Option(metavar="FILE", help="Write to a file; if stopped, the same command continues it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object per line, with everything known.")] = False,
    n_best: Annotated[int, typer.Option(metavar="N", min=1, help="Translations of each line, best first.")] = 1,
    scores: Annotated[bool, typer.Option("--scores", help="Add the mean log-probability of a token.")] = False,
    align: Annotated[bool, typer.Option("--align", help="Add the word links: source-target, from 0.")] = False,
    beam: Annotated[int | None, typer.Option(metavar="N", min=1, help="Beam size, by default 5; 1 is greedy.")] = None,
    length_penalty: Annotated[float | None, typer.Option(metavar="α", help="0 favours short ones; default 1.")] = None,
    coverage_penalty: Annotated[float | None, typer.Option(metavar="β", help="Cost of unread source words.")] = None,
    exhaustive: Annotated[bool, typer.Option("--exhaustive", help="Search until nothing can become better.")] = False,
    sample: Annotated[bool, typer.Option("--sample", help="Sample instead of searching.")] = False,
    temperature: Annotated[float | None, typer.Option(metavar="T", help="Of sampling; below 1 is bolder.")] = None,
    top_k: Annotated[int | None, typer.Option(metavar="K", help="Sample from the K most probable.")] = None,
    top_p: Annotated[float | None, typer.Option(metavar="P", help="Sample from the most probable share P.")] = None,
    seed: Annotated[int | None, typer.Option(metavar="S", help="Seed of sampling.")] = None,
    shortest: Annotated[int | None, typer.Option(metavar="N", help="Fewest tokens.")] = None,
    longest: Annotated[int | None, typer.Option(metavar="N", help="Most tokens.")] = None,
    no_repeat: Annotated[int | None, typer.Option(metavar="N", help="Never repeat N tokens in a row.")] = None,
    prefix: Annotated[str | None, typer.Option(metavar="TEXT", help="Start of each; with <eos>, all of it.")] = None,
    encoding: Annotated[str, typer.Option(help="The encoding of the text, such as cp949 or utf-16.")] = "utf-8",
    precision: Annotated[
        Literal["fp32", "bf16", "int8"] | None,
        typer.Option(help="Of products: fp32; bf16 and int8 are faster, but may decide near-ties differently."),
    ] = None,
    split: Split = True,
    engine: Annotated[
        Literal["nungil", "ctranslate2"],
        typer.Option(help="What searches. ctranslate2 runs Transformers only, with nungil's length penalty."),
    ] = "nungil",
    compute: Compute = None,
) -> None:
    """Translate text: one line out for each line in, or N with --n-best N.

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
    """Engine, compute type, prefix, and the other models of an ensemble."""

    engine: Literal["nungil", "ctranslate2"]
    compute: str | None
    prefix: str | None
    others: tuple[Path, ...] = ()


class Shown:
    """How lines are split, and what is printed of their translations."""

    def __init__(self, as_json: bool, scores: bool, links: bool, split: bool, numbered: bool) -> None:
        self.as_json, self.scores, self.links, self.split, self.numbered = as_json, scores, links, split, numbered

    def lines(self, number: int, one: "Translation") -> list[str]:
        """Its output lines: one, or one for each of the n best, with the number of the input line."""
        if self.as_json:
            return [json.dumps(plain(one), ensure_ascii=False)]
        before = f"{number}\t" if self.numbered else ""
        return [before + self._line(each) for each in one.n_best or (one,)]

    def _line(self, one: "Translation") -> str:
        if not one.source_tokens:  # an empty line stays empty
            return ""
        text = BREAKS.sub(" ", one.text)  # line breaks and tabs between sentences must not become rows and columns
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
        notes.add(f"{place}: the translation reached its maximum length and was cut off")
    if one.finished and one.source_tokens and not one.text:
        notes.add(f"{place}: the model's translation is an empty line")
