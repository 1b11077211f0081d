"""Makes the pictures of docs/looking.md, each by the command that is printed: `make pictures`.

The models are made first where they are missing: the demo's (two minutes), and a small Transformer (four).
"""

import shlex
import subprocess
import sys
from pathlib import Path

DEMO, HEADS, PICTURES = Path("runs/demo"), Path("runs/heads"), Path("docs/pictures")
TEXT = "The old painter peeled the sweet pear yesterday"
FILES = f"{DEMO}/snow/train.tsv --valid {DEMO}/snow/valid.tsv --test {DEMO}/snow/test.tsv --from en --to ko"
SIZES = "model.width=128 model.heads=4 model.feed_forward=256 model.encoder_layers=2 model.decoder_layers=2"
COMMANDS = (
    f"look {DEMO} '{TEXT}' --svg {PICTURES}/map.svg --png {PICTURES}/map.png --pdf {PICTURES}/map.pdf "
    f"--html {PICTURES}/page.html --csv {PICTURES}/map.csv",
    f"look {HEADS} '{TEXT}' --atlas {PICTURES}/heads.svg",
    f"align {HEADS} {DEMO}/snow/test.tsv --atlas {PICTURES}/errors.png",
)


def nungil(line: str) -> None:
    """Run a command, and show it."""
    print(f"nungil {line}", flush=True)  # noqa: T201
    subprocess.run([sys.executable, "-m", "nungil", *shlex.split(line)], check=True)


if __name__ == "__main__":
    if not (DEMO / "model.safetensors").exists():
        nungil(f"demo --out {DEMO}")
    if not (HEADS / "model.safetensors").exists():
        sizes = " ".join(f"--set {size}" for size in SIZES.split())
        nungil(
            f"train --train {FILES} --columns 1,2 --set tokenizer.unit=word --model transformer {sizes} "
            f"--set training.batch_tokens=512 --steps 1600 --out {HEADS}"
        )
    for command in COMMANDS:
        nungil(command)
