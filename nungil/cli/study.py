"""`nungil study`: claims about attention, tested."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nungil.cli.talk import say, write
from nungil.errors import as_typed

if TYPE_CHECKING:
    from nungil.studies.conduct import Asked


def study(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="A study, or all; without one, list them.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Small, with three seeds: takes about three minutes.")] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Only print what would be run, and how long it takes.")] = False,
    data: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="Your own data in place of snow; may be repeated.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The study's folder; by default runs/studies/NAME.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(metavar="N", min=2, max=100, help="Seeds of each arm; by default 5, quick 3.")
    ] = None,
) -> None:
    """Test a claim about attention: runs with several seeds, and a report that begins with the answer.

    The same command continues a study that was stopped.

    \b
    nungil study
    nungil study length --plan
    nungil study length --quick
    nungil study classifier --data reviews.csv --out runs/pooling
    """
    from nungil.studies.claims import CLAIMS, EVERYTHING, claim_named

    if name is None:
        for claim in CLAIMS.values():
            write(f"{claim.name:11} {claim.said} ({claim.by})")
        say("Next: nungil study order --quick --plan")
        return
    if name != EVERYTHING:
        claim_named(name)
    from nungil.studies.conduct import Asked

    asked = Asked(quick, tuple(data or ()), out, seeds)
    if plan:
        _plan(list(CLAIMS) if name == EVERYTHING else [name], asked)
    elif name == EVERYTHING:
        _everything(asked)
    else:
        _one(name, asked)


def _plan(names: list[str], asked: "Asked") -> None:
    from nungil.studies.conduct import planned
    from nungil.studies.plan import spell

    total = 0.0
    for name in names:
        found = planned(name, asked)
        total += found.seconds
        write("\n".join([name, *found.lines()]))
    if len(names) > 1:
        write(f"All together about {spell(total)}.")
    say("Next: the same without --plan")


def _one(name: str, asked: "Asked") -> None:
    from nungil.studies.conduct import study as conduct
    from nungil.studies.finding import VERDICTS

    found = conduct(name, asked, say)
    write(found.finding.answer)
    write(VERDICTS[found.finding.verdict])
    say(f"The report, its figures (PDF, PNG) and results (CSV, TeX) are in {found.report.parent}")
    say(f"Next: open {as_typed(found.report)}")


def _everything(asked: "Asked") -> None:
    from nungil.studies.conduct import study_all

    accounts, report = study_all(asked, say)
    for one in accounts:
        write(f"{one.claim.name:11} {one.finding.verdict}: {one.finding.answer}")
    say(f"Next: open {as_typed(report)}")
