"""Files of many lines: what `nungil translate` takes for a line, and how much memory it has at most.

A small Transformer learns the embedded corpus for a few seconds, so that what it writes has an end.
"""

import os
import subprocess
import sys
import tempfile
import time
from itertools import cycle, islice
from pathlib import Path

import nungil
from nungil.text.snow.corpus import snow_pairs

PAIRS, LENGTHS = 2_000, (3, 6)
STEPS = 400
SIZES = {"kind": "transformer", "width": 64, "heads": 2, "feed_forward": 128, "encoder_layers": 1, "decoder_layers": 1}


def compare_lines(counts: list[int]) -> None:
    """Translate files of so many short lines, one after another; starting up is measured apart and not counted."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        lines = [pair.english for pair in snow_pairs(PAIRS, lengths=LENGTHS)]
        model = learn(folder)
        start, _ = translate(folder, model, lines, 1)
        print(f"nungil translate, beam 5, {SIZES['kind']} of width {SIZES['width']}; start-up {start:.1f} s")
        print(f"{'lines':>10} {'seconds':>8} {'µs a line':>10} {'peak':>8}")
        for count in counts:
            seconds, peak = translate(folder, model, lines, count)
            each = 1e6 * (seconds - start) / count
            print(f"{count:>10,} {seconds - start:>8,.1f} {each:>10,.0f} {peak / 2**20:>5,.0f} MB", flush=True)


def learn(folder: Path) -> Path:
    """A model that has seen the corpus a few times."""
    pairs = folder / "pairs.tsv"
    pairs.write_text(
        "".join(f"{pair.english}\t{pair.korean}\n" for pair in snow_pairs(PAIRS, lengths=LENGTHS)), encoding="utf-8"
    )
    training = {"steps": STEPS, "validate_every": STEPS, "batch_tokens": 1_024}
    out = folder / "model"
    nungil.train(str(pairs), source="en", target="ko", out=out, model=SIZES, training=training, quiet=True)
    return out


def translate(folder: Path, model: Path, lines: list[str], count: int) -> tuple[float, int]:
    """Seconds and the most memory of one command; lines come again where there are not enough."""
    text, out = folder / f"{count}.txt", folder / f"{count}.out"
    with text.open("w", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in islice(cycle(lines), count))
    command = [sys.executable, "-m", "nungil", "translate", str(model), str(text), "--out", str(out)]
    began = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - began
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed with {process.returncode}")
    with out.open(encoding="utf-8") as file:
        if sum(1 for _ in file) != count:
            raise SystemExit(f"{out} has not {count:,} lines")
    for path in (text, out):
        path.unlink()
    return seconds, used.ru_maxrss * 1024
