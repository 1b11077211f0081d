"""Runner: performs what is not done yet, in several processes. Each finished run is a file: it can be stopped."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

from nungil.batches.workers import cores, map_as_done
from nungil.errors import CheckpointError, StoppedError, UsageError
from nungil.runs.interrupt import Interrupt
from nungil.settings import parse_json
from nungil.studies.job import Job, Record, read_record, write_record
from nungil.studies.plan import Plan, spell
from nungil.studies.scale import Scale
from nungil.studies.study import Bench, Study, best_rate
from nungil.text.atomic import whole_bytes
from nungil.text.counts import counted

Say = Callable[[str], None]
RUNS, ASKED = "runs", "study.json"


def check_folder(folder: Path, ours: Sequence[str] = ()) -> None:
    """Where a study goes there is nothing but what is ours, by these names: files of others are not written over."""
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: this is a file, and a study makes a folder; choose another name with --out")
    if folder.exists() and any(found.name not in ours for found in folder.iterdir()):
        raise UsageError(f"{folder}: there is something else in this folder; choose another with --out")


class Ledger:
    """The finished runs in a study's folder."""

    def __init__(self, folder: Path, asked: dict[str, Any]) -> None:
        self.folder = folder
        self._agree(asked)
        (folder / RUNS).mkdir(parents=True, exist_ok=True)
        self.records = {one.job.key: one for one in map(read_record, sorted((folder / RUNS).glob("*.json")))}

    def done(self, job: Job) -> bool:
        """Whether the run is there, and with the rate that is wanted."""
        found = self.records.get(job.key)
        return found is not None and found.job == job

    def add(self, record: Record) -> None:
        """Keep it."""
        write_record(self.folder / RUNS, record)
        self.records[record.job.key] = record

    def of(self, jobs: Sequence[Job]) -> list[Record]:
        """The records of these runs."""
        return [self.records[job.key] for job in jobs if self.done(job)]

    def _agree(self, asked: dict[str, Any]) -> None:
        """Runs of another size, on other data or by another version do not belong together."""
        path = self.folder / ASKED
        plain = json.loads(json.dumps(asked))
        if path.is_file():
            try:
                found = parse_json(path.read_text(encoding="utf-8"), str(path))
            except (OSError, UnicodeDecodeError):
                raise CheckpointError(f"{path}: cannot be read") from None
            if found != plain:
                raise UsageError(f"{self.folder}: {_differs(found, plain)}; go on elsewhere with --out, or remove it")
            return
        check_folder(self.folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        whole_bytes(path, (json.dumps(plain, ensure_ascii=False, indent=1) + "\n").encode())


def _differs(found: Any, wanted: dict[str, Any]) -> str:
    if not isinstance(found, dict):
        return "its study.json is not that of a study"
    names = [name for name in wanted if found.get(name) != wanted[name]]
    return f"holds a study that differs in {', '.join(names) or 'what it has'}"


def run(study: Study, plan: Plan, ledger: Ledger, files: tuple[str, ...], say: Say) -> list[Record]:
    """Everything that is not done yet: first the sweep, then, with the rates it chose, the runs that count."""
    bench = Bench(study.name, plan.scale, files, cores() if study.alone else 1)
    with (interrupt := _Stop()):
        watch = _Watch(plan, say)
        _perform(bench, list(plan.sweep), ledger, watch, interrupt)
        swept = ledger.of(plan.sweep)
        chosen = [arm.name for arm in study.arms() if arm.model is not None] if plan.sweep else []
        if chosen:
            say("Learning rates: " + ", ".join(f"{arm} {best_rate(arm, swept):g}" for arm in chosen))
        main = study.main_jobs(plan.seeds, swept)
        _perform(bench, main, ledger, watch, interrupt)
    return [*swept, *ledger.of(main)]


def complete(study: Study, scale: Scale, seeds: int, ledger: Ledger) -> list[Record] | None:
    """Every run of a study that is done already, or None where one is missing."""
    sweep = study.sweep_jobs(scale)
    if not all(map(ledger.done, sweep)):
        return None
    main = study.main_jobs(seeds, ledger.of(sweep))
    return ledger.of([*sweep, *main]) if all(map(ledger.done, main)) else None


class _Stop(Interrupt):
    """A signal waits while a record is written, but ends a run that is computed here, of which nothing is kept."""

    computing = False

    def _note(self, number: int, frame: FrameType | None) -> None:
        super()._note(number, frame)
        if self.computing:
            raise KeyboardInterrupt


class _Watch:
    """Says what is left, by how the time that runs took compares with what the plan said."""

    def __init__(self, plan: Plan, say: Say) -> None:
        self.plan, self.say = plan, say
        self._meant = self._took = 0.0

    def tell(self, record: Record, left: Sequence[Job]) -> None:
        """One run is done."""
        self._meant += self.plan.seconds_of(record.job)
        self._took += record.seconds + record.examined
        slower = self._took / max(1e-9, self._meant)
        left_seconds = self.plan.left(left) * slower if left else 0.0
        loss = "" if record.validation is None else f", validation loss {record.validation:.2f}"
        runs = counted(len(left), "run")
        rest = f"{runs} left, about {spell(left_seconds)}" if left else "none left"
        self.say(f"{record.job.key}: {record.seconds + record.examined:.0f} s{loss}; {rest}")


def _perform(bench: Bench, jobs: Sequence[Job], ledger: Ledger, watch: _Watch, interrupt: _Stop) -> None:
    wanted = [job for job in jobs if not ledger.done(job)]
    left = {job.key: job for job in wanted}
    # While rates are still being chosen, the runs that count are all still to come.
    later = list(watch.plan.main) if jobs and jobs[0].stage == "sweep" else []
    later = [job for job in later if job.key not in ledger.records]
    for record in _answers(bench, wanted, watch.plan.processes, interrupt):
        if record is not None:
            ledger.add(record)
            del left[record.job.key]
            watch.tell(record, [*left.values(), *later])
        if interrupt.asked is not None:
            kept = len(ledger.records)
            raise StoppedError(
                f"stopped; {counted(kept, 'finished run')} kept in {ledger.folder}, "
                "and the same command goes on from there",
                interrupt.asked,
            )


def _answers(bench: Bench, jobs: Sequence[Job], processes: int, interrupt: _Stop) -> Iterator[Record | None]:
    """In this process where there is nothing to share out."""
    if processes == 1 or len(jobs) < 2:
        return _here(bench, jobs, interrupt)
    return map_as_done(bench, jobs, min(processes, len(jobs)))


def _here(bench: Bench, jobs: Sequence[Job], interrupt: _Stop) -> Iterator[Record | None]:
    for job in jobs:
        interrupt.computing = True
        try:
            record = bench(job)
        except KeyboardInterrupt:
            yield None
            return
        finally:
            interrupt.computing = False
        yield record
