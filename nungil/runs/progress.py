"""How a run reports: a bar in a terminal, else plain lines; metrics.jsonl always, TensorBoard on request."""

import json
import math
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from nungil.errors import ResourceError, UsageError
from nungil.text.atomic import whole_file
from nungil.text.counts import counted
from nungil.training.settings import TrainingSettings
from nungil.training.steps import Step

Say = Callable[[str], None]
METRICS = "metrics.jsonl"
SHOWN_ROWS = 5


def to_stderr(text: str) -> None:
    """Print a line to standard error."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def to_nobody(text: str) -> None:
    """Print nothing."""
    del text


class Pace:
    """The speed of training, and the time left, validations included.

    Time between `pause` and `start` is not training, but a validation, which comes every so many updates.
    """

    def __init__(self, done: int, total: int, every: int) -> None:
        self.first, self.total, self._every = done, total, every
        self.seconds = self.predictions = self._aside = 0.0
        self._since: float | None = None
        self._paused: float | None = None

    def pause(self) -> None:
        """Stop the clock for a validation."""
        self._since, self._paused = None, time.perf_counter()

    def start(self) -> None:
        """Training begins or continues. The next validation is assumed to take as long as the last one."""
        self._since = time.perf_counter()
        if self._paused is not None:
            self._aside, self._paused = self._since - self._paused, None

    def add(self, step: Step) -> None:
        """Count an update."""
        now = time.perf_counter()
        if self._since is not None:
            self.seconds += now - self._since
            self.predictions += step.predictions
        self._since = now

    @property
    def per_second(self) -> float:
        """Predictions a second."""
        return self.predictions / self.seconds if self.seconds else 0.0

    def left(self, number: int) -> str:
        """The time for the updates after this one, and their validations."""
        updates = self.seconds / max(1, number - self.first) * (self.total - number)
        validations = (
            math.ceil(self.total / self._every) - (number - 1) // self._every
        )  # that of this update is to come
        return spell_time(updates + self._aside * validations)


class Recent:
    """The mean loss of the last updates; a single one fluctuates with the length of its sentences."""

    def __init__(self, updates: int) -> None:
        self._steps: deque[Step] = deque(maxlen=updates)

    def add(self, step: Step) -> None:
        """Count an update, unless it was skipped."""
        if not step.skipped:
            self._steps.append(step)

    @property
    def loss(self) -> float:
        """Per prediction; not a number before the first update."""
        predictions = sum(step.predictions for step in self._steps)
        return sum(step.loss * step.predictions for step in self._steps) / predictions if predictions else math.nan


class Watch:
    """Shows progress: a bar in a terminal, else a line every few updates."""

    def __init__(self, say: Say, pace: Pace, every: int, noun: str) -> None:
        self._say, self._pace, self._every, self._noun = say, pace, every, noun
        self._recent = Recent(every)
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        if say is to_stderr and sys.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[numbers]}"))
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
            self._task = self._bar.add_task("training", total=pace.total, numbers="")

    def __enter__(self) -> "Watch":
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show(self, step: Step) -> None:
        """One update."""
        self._recent.add(step)
        if self._bar is not None and self._task is not None:
            numbers = f"{step.number:,}/{self._pace.total:,}  {self._numbers(step)}"
            self._bar.update(self._task, completed=step.number, numbers=numbers)
        elif step.number % self._every == 0:
            self._say(f"update {step.number:,} of {self._pace.total:,}  epoch {step.epoch + 1}  {self._numbers(step)}")

    def say(self, text: str) -> None:
        """Print a line, above the bar if there is one."""
        if self._bar is not None:
            self._bar.console.print(text, markup=False, highlight=False)
        else:
            self._say(text)

    def _numbers(self, step: Step) -> str:
        speed = f"{self._pace.per_second:,.0f} {self._noun}/s"
        return f"loss {self._recent.loss:.3f}  {speed}  {self._pace.left(step.number)} left"


class Metrics:
    """metrics.jsonl: a line for every logged update and every validation; the same for TensorBoard if asked for."""

    def __init__(self, folder: Path, tensorboard: bool, done: int = 0) -> None:
        self._path = folder / METRICS
        board = folder / "tensorboard"
        self._board = tensorboard_writer()(str(board), purge_step=done + 1) if tensorboard else None
        try:
            _cut_back(self._path, done)
            self._began = time.perf_counter() - seconds_so_far(self._path)
            self._file: IO[str] = self._path.open("a", encoding="utf-8")
        except OSError as error:
            raise ResourceError(f"{self._path}: cannot be written: {error.strerror}") from None

    def add(self, kind: str, update: int, numbers: Mapping[str, float]) -> None:
        """Write a line, and flush it for those who follow the file.

        Its seconds are those of the whole run so far, including validations, but not the time between stop and resume.
        JSON has no infinity: numbers that are not finite become null.
        """
        numbers = {**numbers, "seconds": round(time.perf_counter() - self._began, 1)}
        finite = {name: value if math.isfinite(value) else None for name, value in numbers.items()}
        try:
            self._file.write(json.dumps({"kind": kind, "update": update, **finite}) + "\n")
            self._file.flush()
        except OSError as error:
            raise ResourceError(f"{self._path}: cannot be written: {error.strerror}") from None
        if self._board is not None:
            for name, value in finite.items():
                if value is not None:
                    self._board.add_scalar(f"{kind}/{name}", value, update)

    def close(self) -> None:
        """Close the file. Errors of writing have been raised by `add`."""
        with suppress(OSError):
            self._file.close()
        if self._board is not None:
            self._board.close()


class Teller:
    """Reports the progress of a run, to the user and to metrics.jsonl."""

    def __init__(self, folder: Path, settings: TrainingSettings, say: Say, noun: str, done: int) -> None:
        total = settings.steps or 1
        self._pace = Pace(done, total, settings.validate_every or total)
        self._watch = Watch(say, self._pace, settings.log_every, noun)
        self._metrics = Metrics(folder, settings.tensorboard, done)
        self._every = settings.log_every

    def __enter__(self) -> "Teller":
        self._watch.__enter__()
        self._pace.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._watch.__exit__(*error)
        self._metrics.close()

    def update(self, step: Step) -> None:
        """Report an update that was made or skipped."""
        self._pace.add(step)
        self._watch.show(step)
        if step.skipped:
            self._watch.say(f"update {step.number:,} was skipped: its gradient is not finite ({_whereabouts(step)})")
        if step.number % self._every == 0 or step.skipped:
            numbers = {
                "epoch": step.epoch,
                "loss": step.loss,
                "accuracy": step.accuracy,
                "gradient": step.gradient,
                "rate": step.rate,
                "predictions": step.predictions,
                "per_second": round(self._pace.per_second, 1),
            }
            self._metrics.add("train", step.number, numbers)

    def validation(self, update: int, scores: Mapping[str, float], text: str) -> None:
        """Report a validation."""
        self._metrics.add("validation", update, scores)
        self._watch.say(text)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Within it, time does not count as training."""
        self._pace.pause()
        yield
        self._pace.start()


def _whereabouts(step: Step) -> str:
    """Which rows of the training set an update was made of."""
    rows = [int(row) for group in step.rows for row in group]
    named = ", ".join(map(str, rows[:SHOWN_ROWS])) + (" …" if len(rows) > SHOWN_ROWS else "")
    return f"epoch {step.epoch + 1}; {counted(len(rows), 'row')} of data/train: {named}"


def _cut_back(path: Path, done: int) -> None:
    """Remove what was logged after the update that a run resumes at: it will be logged again."""
    if not path.exists():
        return
    with path.open(encoding="utf-8") as file:
        kept = [line for line in file if line.endswith("\n") and _logged(line).get("update", math.inf) <= done]
    with whole_file(path) as file:
        file.writelines(kept)


def seconds_so_far(path: Path) -> float:
    """The seconds that a run has taken, by its log; older versions logged none."""
    if not path.exists():
        return 0.0
    with path.open(encoding="utf-8") as file:
        return max((float(_logged(line).get("seconds", 0.0)) for line in file), default=0.0)


def _logged(line: str) -> dict[str, Any]:
    """A line of the log; empty if it is damaged."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def tensorboard_writer() -> Any:
    """TensorBoard's writer class, or an error that says how to install it."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        raise UsageError("TensorBoard is not installed; pip install 'nungil[tensorboard]'") from None
    return SummaryWriter


def spell_time(seconds: float) -> str:
    """`40 s`, `12 min`, `3 h 20 min`."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
