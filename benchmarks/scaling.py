"""Does training stay what it is when there are more processes, or a larger corpus?

    python benchmarks/scaling.py [--sizes 100000,1000000,5000000] [--updates 30] [--rounds 3]

First, one process with all cores against as many processes with one core each, in turn: target tokens a second and
their ratio. Then a run on ever larger corpora of snow: target tokens a second and the largest memory of the training
process. Reading the corpus is done before, in a process of its own; each run is `nungil resume` on what that left.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import torch
from text import write_lines

from nungil.runs.begin import begin
from nungil.runs.progress import to_nobody
from nungil.runs.recipe import read_recipe
from nungil.text.snow.corpus import snow_pairs

WARM_UP = 5  # updates that are not counted
BASE = 100_000  # different snow pairs; larger files repeat them with a number at the end
MODEL = {
    "kind": "transformer",
    "width": 256,
    "heads": 4,
    "feed_forward": 1_024,
    "encoder_layers": 3,
    "decoder_layers": 3,
}
CORES = torch.get_num_threads()


class Trained(NamedTuple):
    """Target tokens a second, and megabytes of the training process at its largest."""

    speed: float
    peak: float


def main() -> None:
    """Both comparisons, or one preparation in the process that was started for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="100000,1000000,5000000", help="pairs of the corpora")
    parser.add_argument("--updates", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--prepare", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.prepare:
        lines, out, processes, updates = options.prepare
        recipe = recipe_of(Path(lines), int(processes), int(updates))
        begin(read_recipe(None, recipe), Path(out), to_nobody)
        return
    with tempfile.TemporaryDirectory() as folder:
        base = [f"{pair.english}\t{pair.korean}" for pair in snow_pairs(BASE, seed=1)]
        if options.rounds:
            compare_processes(Path(folder), base, options.updates, options.rounds)
        compare_sizes(Path(folder), base, [int(size) for size in options.sizes.split(",")], options.updates)


def recipe_of(lines: Path, processes: int, updates: int) -> dict[str, Any]:
    """The same model, vocabulary and batches, whatever the corpus is."""
    return {
        "data": {
            "train": str(lines),
            "columns": ("1", "2"),
            "source": "en",
            "target": "ko",
            "valid_size": 20,
            "test_size": 0,
        },
        "tokenizer": {"unit": "unigram", "size": 4_000},
        "model": MODEL,
        "training": {
            "steps": updates,
            "batch_tokens": 4_096,
            "processes": processes,
            "threads": CORES // processes,
            "log_every": 1,
            "average": 1,
        },
    }


def compare_processes(folder: Path, base: list[str], updates: int, rounds: int) -> None:
    """One process with all cores, and as many as there are cores."""
    write_lines(folder / "lines.tsv", base, BASE)
    for processes in (1, CORES):
        prepare(folder, folder / f"by-{processes}", processes, updates)
    print(f"Processes × threads, {BASE:,} pairs; target tokens a second:")
    speeds: dict[int, list[float]] = {1: [], CORES: []}
    for number in range(rounds):
        for processes, found in speeds.items():
            found.append(trained(folder / f"by-{processes}").speed)
        told = ", ".join(f"{processes} × {CORES // processes}: {found[-1]:,.0f}" for processes, found in speeds.items())
        print(f"  round {number + 1}: {told}", flush=True)
    ratios = [many / one for one, many in zip(*speeds.values(), strict=True)]
    print(f"{CORES} × 1 is {statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f}) of 1 × {CORES}")


def compare_sizes(folder: Path, base: list[str], sizes: list[int], updates: int) -> None:
    """One row per size."""
    print(f"\n{'pairs':>10} {'prepared in':>12} {'target tokens/s':>16} {'peak memory':>12}")
    for size in sizes:
        write_lines(folder / "lines.tsv", base, size)
        began = time.perf_counter()
        prepare(folder, folder / "run", 1, updates)
        seconds = time.perf_counter() - began
        found = trained(folder / "run")
        print(f"{size:>10,} {seconds:>10,.0f} s {found.speed:>16,.0f} {found.peak:>9,.0f} MB", flush=True)
        shutil.rmtree(folder / "run")


def prepare(folder: Path, out: Path, processes: int, updates: int) -> None:
    """All that comes before training, in a process whose memory does not count."""
    arguments = ["--prepare", folder / "lines.tsv", out, processes, updates]
    subprocess.run([sys.executable, __file__, *map(str, arguments)], check=True)


def trained(folder: Path) -> Trained:
    """Train in a copy of a folder. The first updates, and the making of the order before them, do not count."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        out = Path(place) / "run"
        shutil.copytree(folder, out, copy_function=os.link)
        process = subprocess.Popen([sys.executable, "-m", "nungil", "resume", str(out), "--quiet"])
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"nungil resume ended with exit code {process.returncode}")
        lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    updates = [line for line in lines if line["kind"] == "train"]
    tokens = list(accumulate(line["predictions"] for line in updates))
    seconds = [done / line["per_second"] for done, line in zip(tokens, updates, strict=True)]
    speed = (tokens[-1] - tokens[WARM_UP - 1]) / (seconds[-1] - seconds[WARM_UP - 1])
    return Trained(speed, used.ru_maxrss / 1024)


if __name__ == "__main__":
    main()
