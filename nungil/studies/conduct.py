"""A study from beginning to end: plan, runs, answer, report. What `nungil study` does."""

import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from nungil import __version__
from nungil.batches.workers import cores
from nungil.errors import UsageError, as_typed
from nungil.studies.claims import CLAIMS, EVERYTHING
from nungil.studies.common import listed
from nungil.studies.extras import check_extras
from nungil.studies.finding import Finding
from nungil.studies.job import Record
from nungil.studies.material import Material
from nungil.studies.plan import Plan, make_plan, spell
from nungil.studies.report import REPORT, Account, write_overview, write_report
from nungil.studies.runner import Ledger, Say, check_folder, complete, run
from nungil.studies.scale import FULL_SEEDS, QUICK_SEEDS, Scale
from nungil.studies.statistics import Results
from nungil.studies.study import Study, best_rate, material_of, study_named

PLACE = Path("runs") / "studies"


@dataclass(frozen=True)
class Asked:
    """What was asked for on the command line."""

    quick: bool = False
    files: tuple[str, ...] = ()
    out: Path | None = None
    seeds: int | None = None

    @property
    def count(self) -> int:
        """The seeds of every arm."""
        return self.seeds or (QUICK_SEEDS if self.quick else FULL_SEEDS)

    def folder(self, name: str) -> Path:
        """Where a study goes."""
        if self.out is None:
            return PLACE / (f"{name}-quick" if self.quick else name)
        return self.out

    def command(self, name: str) -> str:
        """The line that repeats it."""
        parts = ["nungil study", name, *(["--quick"] if self.quick else [])]
        parts += [f"--seeds {self.seeds}"] if self.seeds is not None else []
        parts += [f"--data {as_typed(file)}" for file in self.files]
        return " ".join([*parts, *([f"--out {as_typed(self.out)}"] if self.out is not None else [])])


@dataclass(frozen=True)
class Studied:
    """A finished study."""

    finding: Finding
    report: Path


def planned(name: str, asked: Asked, scale: Scale | None = None, processes: int | None = None) -> Plan:
    """What would be run; each arm is measured for a moment."""
    study = study_named(name)
    several = 1 if study.alone else (processes or cores())
    return make_plan(study, scale or study.scale(asked.quick), asked.count, asked.files, several)


def study(name: str, asked: Asked, say: Say, *, scale: Scale | None = None, processes: int | None = None) -> Studied:
    """Run what is not done yet, and write the report."""
    account = account_of(name, asked, say, (scale, processes))
    report = write_report(account, asked.folder(name))
    return Studied(account.finding, report)


def study_all(asked: Asked, say: Say, processes: int | None = None) -> tuple[list[Account], Path]:
    """Every study, each in a folder of its own, and one report of them."""
    if asked.files:
        raise UsageError("nungil study all is about snow, since some studies need what only snow has; leave out --data")
    folder = asked.folder(EVERYTHING)
    check_folder(folder, (*CLAIMS, REPORT))
    accounts = []
    for number, name in enumerate(CLAIMS, start=1):
        say(f"{name}, {number} of {len(CLAIMS)}")
        one = replace(asked, out=folder / name)
        account = account_of(name, one, say, (None, processes))
        write_report(account, folder / name)
        say(account.finding.answer)
        accounts.append(account)
    return accounts, write_overview(accounts, folder, asked.command(EVERYTHING))


def account_of(name: str, asked: Asked, say: Say, sizes: tuple[Scale | None, int | None] = (None, None)) -> Account:
    """Run what is not done yet, and work the answer out; nothing is written but the runs."""
    check_extras()
    found, begun = study_named(name), time.monotonic()
    scale = sizes[0] or found.scale(asked.quick)
    material = material_of(name, scale, asked.files)
    wanted = {
        **{"study": name, "version": __version__, "data": material.fingerprint},
        **{"scale": {key: value for key, value in asdict(scale).items() if key != "quick"}},
    }
    ledger = Ledger(asked.folder(name), wanted)
    records = complete(found, scale, asked.count, ledger)
    if records is not None:
        say(f"All {len(records)} runs are done already; the report is written anew.")
    else:
        say(f"Measuring how long each arm takes, on {material.origin} …")
        plan = planned(name, asked, scale, sizes[1])
        for line in plan.lines():
            say(line)
        records = run(found, plan, ledger, asked.files, say)
        say(f"Done in {spell(time.monotonic() - begun)}.")
    results = Results(records)
    facts = tuple(_facts(found, scale, records, material))
    return Account(found.claim, found.method, found.answer(results), tuple(records), facts, asked.command(name))


def _facts(found: Study, scale: Scale, records: list[Record], material: Material) -> list[tuple[str, str]]:
    seeds = len({one.job.seed for one in records if one.job.stage == "main"})
    swept = [one for one in records if one.job.stage == "sweep"]
    trained = [arm.name for arm in found.arms() if arm.model is not None] if swept else []
    rates = ", ".join(f"{name} {best_rate(name, swept):g}" for name in trained)
    facts = [
        ("one budget", found.budget),
        ("data", f"{material.origin}; {len(material.train):,} sentences to train on"),
        ("test", f"{len(material.test):,} sentences that training never saw"),
        ("seeds", f"{seeds}; the corpus is the same for all, weights, order and dropout differ"),
    ]
    if swept:
        facts += [
            ("training", f"{scale.updates:,} updates of up to {scale.batch:,} positions"),
            ("learning rates", f"{rates}; each the best of {_rates(scale)} on validation, in {scale.sweep_updates:,} "
             f"updates with a seed that is not used again{_at_the_end(trained, swept, scale)}"),
        ]  # fmt: skip
    return facts


def _at_the_end(trained: list[str], swept: list[Record], scale: Scale) -> str:
    """Where the best rate is the highest that was tried, nobody knows what a higher one would give."""
    highest = [name for name in trained if best_rate(name, swept) == max(scale.rates)]
    return f"; for {listed(highest)} it is the highest tried, and a higher one may be better" if highest else ""


def _rates(scale: Scale) -> str:
    return " and ".join(f"{rate:g}" for rate in scale.rates)
