"""Memory: what training a model needs at the very least, and what this machine has for it."""

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from nungil.errors import ResourceError
from nungil.model.build import parameter_count
from nungil.model.folder import ModelConfig, outline_of

NUMBER = 4  # bytes of a weight in fp32, which it is kept in whatever products are computed in
FOR_LEARNING = 3  # numbers beside a weight that is learned: its gradient, and the two moments of AdamW
LIMITS = ("sys/fs/cgroup{}/memory.max", "sys/fs/cgroup/memory{}/memory.limit_in_bytes")  # of cgroups 2 and 1


def refuse_too_large(config: ModelConfig, processes: int, root: Path = Path("/")) -> None:
    """Refuse a model that surely does not fit, before the system ends the process without a word.

    A lower bound: what a batch takes beside it depends on more, and the scores of all words are never there at once.
    """
    model = outline_of(config)
    learned = sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
    count = parameter_count(model)
    needed = NUMBER * (count + FOR_LEARNING * learned) * processes
    free = free_memory(root)
    if free is None or needed <= free:
        return
    together = f" in {processes} processes" if processes > 1 else ""
    raise ResourceError(
        f"a model of {count:,} parameters needs {_gigabytes(needed)} of memory or more to be trained{together} "
        f"(weights, gradients, two moments of each), and this machine has {_gigabytes(free)} left; make it smaller: "
        "--set model.width=…, fewer layers, or --set tokenizer.size=…"
    )


def free_memory(root: Path = Path("/")) -> int | None:
    """The bytes that processes of this machine, or of this container, can have; None where the system does not tell."""
    told = dict(re.findall(r"(\w+): +(\d+) kB", _text(root / "proc/meminfo")))
    if "MemAvailable" not in told:
        return None
    machine = 1024 * (int(told["MemAvailable"]) + int(told.get("SwapFree", 0)))
    return min([machine, *_limits(root)])


def _limits(root: Path) -> Iterator[int]:
    """Those of the cgroups that this process is in, and of all around them; a container may see its own as the root."""
    for group in re.findall(r"^\d+:(?:|.*\bmemory\b.*):(/.*)$", _text(root / "proc/self/cgroup"), re.MULTILINE):
        for place in (Path(group), *Path(group).parents):
            for limit in LIMITS:
                written = _text(root / limit.format("" if place == Path("/") else place)).strip()
                if written.isdecimal():  # "max" is none
                    yield int(written)


def _text(path: Path) -> str:
    with suppress(OSError):
        return path.read_text()
    return ""


def _gigabytes(count: int) -> str:
    return f"{count / 1e9:,.1f} GB"
