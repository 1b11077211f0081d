"""Tiny runs of each model family, as a user starts them, and what must be left of them whatever happened on the way."""

import json
import subprocess

from command import NUNGIL

from nungil.text.snow.corpus import snow_pairs
from nungil.text.snow.senses import sense_examples
from nungil.training.checkpoint import checkpoints

UPDATES, EVERY = 36, 12  # updates of a run, and between two validations
RECORDS = 300
SMALL = {
    "lstm": ["--model", "luong", "--set", "model.embedding=16", "--set", "model.width=24"],
    "transformer": ["--model", "transformer", "--set", "model.width=16", "--set", "model.feed_forward=24"],
    "classifier": ["--model", "lstm", "--set", "model.embedding=16", "--set", "model.width=24"],
}
TRAINING = {"validate_every": EVERY, "log_every": 1, "threads": 1, "batch_tokens": 300, "average": 2}
OFTEN = "training.checkpoint_minutes=0.0005"  # a kill is likely to meet a checkpoint that is being written


def arguments_of(family, folder):
    """`nungil train …` without --out, for data that is written into this folder."""
    if family == "classifier":
        lines = [f"{one.text}\t{one.label}" for one in sense_examples(RECORDS, lengths=(3, 6))]
        reading = ["--task", "classify", "--columns", "1,2"]
    else:
        lines = [f"{pair.english}\t{pair.korean}" for pair in snow_pairs(RECORDS, lengths=(3, 6))]
        reading = ["--task", "translate", "--columns", "1,2", "--from", "en", "--to", "ko"]
    (folder / "data.tsv").write_text("\n".join(lines) + "\n")
    settings = [part for name, value in TRAINING.items() for part in ("--set", f"training.{name}={value}")]
    asked = ["train", "--train", str(folder / "data.tsv"), *reading, *SMALL[family], "--steps", str(UPDATES)]
    return [*asked, *settings, "--set", "tokenizer.unit=word"]


def start(*arguments, **options):
    """A command under way."""
    return subprocess.Popen([*NUNGIL, *map(str, arguments)], stderr=subprocess.PIPE, text=True, **options)


def wait_for_update(process, number):
    """Read what a run says until it has made so many updates; what it said."""
    said = []
    for line in process.stderr:
        said.append(line)
        if line.startswith("update ") and int(line.split()[1]) >= number:
            return said
    raise AssertionError("the run ended before: " + "".join(said))


def left(folder):
    """What must not depend on what happened on the way."""
    last = checkpoints(folder / "checkpoints")[-1]
    names = [folder / "model.safetensors", *(last / name for name in ("model.safetensors", "optimizer.safetensors"))]
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        line.pop("per_second", None)
        line.pop("seconds")
    kept = [place.name for place in checkpoints(folder / "checkpoints")]
    return [path.read_bytes() for path in names], (last / "state.json").read_text(), lines, kept


def newest_update(folder):
    """The update of the newest checkpoint."""
    return int(checkpoints(folder / "checkpoints")[-1].name.removeprefix("step-"))
