"""`nungil score`: how good translations or labels are, and whether one system is better than another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from nungil.cli.options import Compute, Others, Split, two_columns
from nungil.cli.talk import readable_json, say, write
from nungil.errors import UsageError, as_typed

if TYPE_CHECKING:
    from nungil.decoding.settings import SearchSettings
    from nungil.runs.score import ScoreRequest


Data = Annotated[
    list[str] | None,
    typer.Option(metavar="FILE", help="The test set; may be repeated. By default the one that the run kept."),
]
Against = Annotated[
    Path | None, typer.Option(metavar="DIR|FILE", help="The other system: a model folder, or its answers.")
]
Hypotheses = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Translations or labels, one per line; needs no model.")
]
Train = Annotated[
    list[str] | None,
    typer.Option(
        metavar="FILE", help="Where to look for nearest sentences; by default in the training set of the run."
    ),
]
Links = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Word links from sources to references, to score words by position.")
]
Columns = Annotated[
    str | None, typer.Option(metavar="A,B", help="Source,target or text,label of --data: names, or numbers from 1.")
]
Tokenize = Annotated[
    Literal["13a", "intl", "zh", "char", "none", "ko-mecab", "ja-mecab"] | None,
    typer.Option(help="BLEU's tokenizer; by default that of the target language."),
]
Task = Annotated[
    Literal["translate", "classify"] | None, typer.Option(help="Whether answers are translations or labels.")
]

Engine = Annotated[
    Literal["nungil", "ctranslate2"],
    typer.Option(help="What searches for DIR; --against always uses nungil, so a model can be compared with itself."),
]


def score(
    folder: Annotated[Path | None, typer.Argument(metavar="DIR", help="A model folder.")] = None,
    others: Others = None,
    data: Data = None,
    against: Against = None,
    hypotheses: Hypotheses = None,
    references: Annotated[Path | None, typer.Option(metavar="FILE", help="The references, one per line.")] = None,
    sources: Annotated[Path | None, typer.Option(metavar="FILE", help="The sources, one per line.")] = None,
    train: Train = None,
    links: Links = None,
    source: Annotated[str | None, typer.Option("--from", metavar="en", help="Language of the source.")] = None,
    target: Annotated[str | None, typer.Option("--to", metavar="ko", help="Language of the target.")] = None,
    columns: Columns = None,
    task: Task = None,
    encoding: Annotated[str, typer.Option(help="The encoding of the files, such as cp949 or utf-16.")] = "utf-8",
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Ignore case.")] = False,
    tokenize: Tokenize = None,
    ter: Annotated[bool, typer.Option(help="Compute TER, which is slow for long texts.")] = True,
    nearest: Annotated[bool, typer.Option(help="Score the nearest training sentence too.")] = True,
    beam: Annotated[int | None, typer.Option(metavar="N", min=1, help="Beam size, by default 5; 1 is greedy.")] = None,
    length_penalty: Annotated[float | None, typer.Option(metavar="α", help="0 favours short ones; default 1.")] = None,
    split: Split = True,
    engine: Engine = "nungil",
    compute: Compute = None,
    samples: Annotated[int, typer.Option(metavar="N", min=100, help="Resamples for the intervals.")] = 1_000,
    seed: Annotated[int, typer.Option(metavar="S", min=0, help="Seed of the resamples.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print every number as JSON.")] = False,
) -> None:
    """Score a model, or answers in a file, with confidence intervals; or compare two systems.

    \b
    nungil score runs/mine
    nungil score runs/mine --data test.tsv --against runs/other
    nungil score --hypotheses mine.ko --references test.ko --sources test.en --against theirs.ko
    nungil score --hypotheses labels.jsonl --references gold.txt --json
    nungil score runs/mine --engine ctranslate2 --compute int8 --against runs/mine
    nungil score runs/mine --with runs/second --against runs/mine
    """
    system = _one_of(folder, hypotheses)
    chosen = {"beam": beam, "length_penalty": length_penalty}
    named = (references, sources, tuple(data or ()), two_columns(columns), task, source, target, encoding)
    request = {
        **{"against": against, "train": tuple(train or ()), "links": links, "split": split, "nearest": nearest},
        **{"search": _search(folder, against, chosen), "samples": samples, "seed": seed},
        **{"engine": engine, "compute": compute, "others": tuple(others or ())},
    }
    _score(system, named, (lowercase, tokenize, ter), request, as_json)


def _score(system: Path, named: tuple[Any, ...], way: tuple[Any, ...], options: dict[str, Any], as_json: bool) -> None:
    from nungil.cli.score_tables import plain, shown
    from nungil.runs.asked import Places
    from nungil.runs.score import ScoreRequest, score
    from nungil.scoring.measures import Way

    request = ScoreRequest(system, Places(*named), way=Way("", *way), **options)
    found = score(request, say)
    if as_json:
        write(readable_json(plain(found, request.samples, request.seed)))
    else:
        write("\n".join(shown(found, request.samples)))
    say(_next(request))


def _next(request: "ScoreRequest") -> str:
    if request.against is None:
        return "Next: the same with --against, a model folder or a file of answers, to tell which is better"
    if request.system.is_dir():
        return f"Next: nungil look {as_typed(request.system)} 'a sentence'"
    return "Next: the same with --json, for every number"


def _one_of(folder: Path | None, hypotheses: Path | None) -> Path:
    """The system to score: a model or a file, but not both."""
    if folder is not None and hypotheses is not None:
        raise UsageError(f"{folder} and --hypotheses {hypotheses} are two systems; compare them with --against")
    if hypotheses is not None:
        if hypotheses.is_dir():
            raise UsageError(f"{hypotheses} is a folder; a model is scored with: nungil score {as_typed(hypotheses)}")
        return hypotheses
    if folder is None:
        raise UsageError("give a model folder, or --hypotheses FILE with --references FILE")
    if not folder.exists():
        raise UsageError(f"{folder}: there is no such folder; a model folder is what `nungil train` leaves")
    if folder.is_file():
        raise UsageError(f"{folder} is a file; answers are scored with: nungil score --hypotheses {as_typed(folder)} …")
    return folder


def _search(folder: Path | None, against: Path | None, given: dict[str, Any]) -> "SearchSettings | None":
    options = {name: value for name, value in given.items() if value is not None}
    if not options:
        return None
    if folder is None and (against is None or not against.is_dir()):
        raise UsageError("--beam and --length-penalty are for a model that translates; here are only files")
    from nungil.decoding.settings import SearchSettings
    from nungil.settings import build_settings

    return build_settings(options, SearchSettings, "nungil score")
