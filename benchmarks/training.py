"""Training speed against JoeyNMT and Eole: the same tokens and model sizes, interleaved runs, and their ratios.

    python benchmarks/training.py --data FOLDER [--peers FOLDER] [--updates 20] [--rounds 3] [--quality 100]
                                  [--only transformer|lstm] [--precision fp32|bf16]

FOLDER holds multi30k. The peers are installed into environments of their own when they are not there yet. In each round
every contestant trains anew, in a process of its own; speed is target tokens a second, `<eos>` counted and padding not,
after the first few updates and without validation. Then each trains for --quality updates, and its validation loss is
compared (0: leave that out). The share of peak is what nungil's model must multiply, against the fastest product of two
matrices measured between the rounds, of the precision that nungil chose. The peers compute in float32, as they do by
default; nungil chooses for itself, unless --precision says otherwise. It is read twice: as one process with all
threads, and with `--processes`, one for each thread.
"""

import argparse
import gzip
import json
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peers import (
    BATCH,
    BETAS,
    CLIP,
    DROPOUT,
    EPSILON,
    RATE,
    SEED,
    SIZES,
    SMOOTHING,
    WARMUP,
    Job,
    Result,
    Texts,
    install,
    run,
    run_peer,
)

from nungil.batches.batch import Marks, marked_lengths
from nungil.batches.order import Order
from nungil.batches.store import Store
from nungil.model.build import build_translator, parameter_count
from nungil.model.products import Precision
from nungil.model.recurrent import RecurrentSettings
from nungil.model.transformer import TransformerSettings
from nungil.model.vocabulary import Vocabulary
from nungil.runs.prepare import Prepared, prepare
from nungil.runs.recipe import read_recipe
from nungil.text.tokenizers.base import SPECIALS
from nungil.training.course import updates
from nungil.training.precision import measure

VOCABULARY = 8_000
MARKS: Marks = "eos"  # JoeyNMT's way of marking a source; Eole reads it without any
FEW = 20  # validation pairs of a run whose validation is of no interest
WARM_UP = 5  # updates that are not counted
PEERS = {"transformer": ("eole", "joeynmt"), "lstm": ("eole",)}
OURS = ("nungil", "nungil-processes")
NAMES = {"nungil": "nungil", "nungil-processes": "in processes", "eole": "Eole 0.6.4", "joeynmt": "JoeyNMT 2.3.0"}
ABOUT = {
    "transformer": "Transformer, 3 + 3 layers, width 256, feed-forward 1,024, 4 heads, pre-norm, embeddings all tied.",
    "lstm": "LSTM, embeddings 256, states 512, bidirectional encoder, general attention, nothing tied;\n"
    "no input feeding; from encoder to decoder nungil has a dense layer, Eole none.",
}
MODELS: dict[str, RecurrentSettings | TransformerSettings] = {
    "transformer": TransformerSettings(
        width=SIZES["transformer"]["width"],
        heads=SIZES["transformer"]["heads"],
        feed_forward=SIZES["transformer"]["feed_forward"],
        encoder_layers=SIZES["transformer"]["layers"],
        decoder_layers=SIZES["transformer"]["layers"],
        tie="all",
        dropout=DROPOUT,
        attention_dropout=DROPOUT,
        inner_dropout=DROPOUT,
    ),
    "lstm": RecurrentSettings(
        embedding=SIZES["lstm"]["embedding"],
        width=SIZES["lstm"]["width"],
        encoder_layers=SIZES["lstm"]["layers"],
        decoder_layers=SIZES["lstm"]["layers"],
        tie=False,
        dropout=DROPOUT,
    ),
}
PRODUCTS = ((1024, 1024, 1024), (2048, 2048, 2048), (4096, 256, 1024), (4096, 1024, 256), (512, 256, 8192))


@dataclass(frozen=True)
class Bench:
    """Everything that all runs share."""

    folder: Path
    files: dict[str, list[Path]]  # English and German of train, valid and few
    prepared: Prepared
    texts: Texts
    pythons: dict[str, Path]
    threads: int
    precision: Precision

    @property
    def lengths(self) -> tuple[Any, Any]:
        """Source and target tokens of each pair, marks included."""
        source, target = (self.prepared.train.columns[side].lengths() for side in ("source", "target"))
        return marked_lengths(source, MARKS), target + np.int32(1)


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds multi30k")
    parser.add_argument("--peers", type=Path, default=Path.home() / ".cache" / "nungil-peers")
    parser.add_argument("--updates", type=int, default=20, help=f"of each run, after {WARM_UP} to warm up")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quality", type=int, default=100, help="updates before the validation loss is compared; or 0")
    parser.add_argument("--only", choices=list(PEERS))
    parser.add_argument("--precision", choices=["fp32", "bf16"], help="of nungil; by default what it chooses itself")
    options = parser.parse_args()
    models = [options.only] if options.only else list(PEERS)
    pythons = {peer: install(peer, options.peers) for peer in sorted({peer for name in models for peer in PEERS[name]})}
    with tempfile.TemporaryDirectory() as folder:
        precision = options.precision or measure().precision
        bench = make_ready(Path(folder), options.data / "multi30k", pythons, precision)
        for model in models:
            compare_speed(bench, model, options.updates, options.rounds)
            if options.quality:
                compare_quality(bench, model, options.quality)


def make_ready(folder: Path, multi30k: Path, pythons: dict[str, Path], precision: Precision) -> Bench:
    """Cut the corpus into pieces once, as nungil does it, and write them for the others."""
    sets = {"train": "train", "valid": "val"}
    files = {name: [multi30k / f"{found}.{tag}.gz" for tag in ("en", "de")] for name, found in sets.items()}
    for path in (path for both in files.values() for path in both):
        if not path.is_file():
            raise SystemExit(f"{path} is missing; --data is the folder that holds multi30k")
    files["few"] = [_first_lines(path, folder / f"few.{path.suffixes[-2][1:]}") for path in files["valid"]]
    asked = read_recipe(None, recipe_of("transformer", files["train"], files["valid"], 1))
    prepared = prepare(asked.data, asked.cleaning, asked.tokenizer, folder / "prepared", asked.seed)
    texts = Texts(folder / "pieces", prepared.train.rows)
    _write_pieces(prepared, texts.folder)
    bench = Bench(folder, files, prepared, texts, pythons, torch.get_num_threads(), precision)
    source, target = bench.lengths
    print(
        f"torch {torch.__version__}, {bench.threads} threads; nungil in {precision}. Multi30k en→de: "
        f"{len(target):,} pairs, {source.sum():,} source and {target.sum():,} target tokens\n"
        f"an epoch, one vocabulary of "
        f"{prepared.tokenizers.target.size:,}: the same for all. Batches of {BATCH:,} tokens, padding included;\n"
        "nungil and Eole sort by length, JoeyNMT does not."
    )
    return bench


def _first_lines(path: Path, place: Path) -> Path:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        place.write_text("".join(islice(file, FEW)), encoding="utf-8")
    return place


def _write_pieces(prepared: Prepared, folder: Path) -> None:
    """Every sentence as pieces with spaces between them, and the vocabulary without its special tokens."""
    folder.mkdir()
    for name, store in (("train", prepared.train), ("valid", prepared.valid)):
        for tag, side, tokenizer in zip(("en", "de"), ("source", "target"), prepared.tokenizers, strict=True):
            column = store.columns[side]
            lines = (" ".join(tokenizer.tokens(column.row(number))) + "\n" for number in range(store.rows))
            (folder / f"{name}.{tag}").write_text("".join(lines), encoding="utf-8")
    pieces = prepared.tokenizers.target.tokens(range(len(SPECIALS), prepared.tokenizers.target.size))
    (folder / "vocabulary.txt").write_text("".join(f"{piece}\n" for piece in pieces), encoding="utf-8")


def recipe_of(model: str, train: list[Path], valid: list[Path], steps: int, **training: Any) -> dict[str, Any]:
    """A run of nungil as a recipe."""
    return {
        "data": {"train": [*map(str, train)], "valid": [*map(str, valid)], "source": "en", "target": "de"},
        "cleaning": {"drop_held_out": False},  # with few validation pairs or all, train is the same
        "tokenizer": {"unit": "unigram", "size": VOCABULARY, "joint": True},
        "marks": MARKS,
        "model": MODELS[model].model_dump(),
        "training": {
            "steps": steps,
            "batch_tokens": BATCH,
            "schedule": {"shape": "inverse-sqrt", "rate": RATE, "warmup": WARMUP},
            "optimizer": {
                "beta1": BETAS[0],
                "beta2": BETAS[1],
                "epsilon": EPSILON,
                "weight_decay": 0.0,
                "clip": CLIP,
            },
            "label_smoothing": SMOOTHING,
            "validate_every": steps,
            "metric": "loss",
            "average": 1,
            "log_every": 1,
            **training,
        },
        "seed": SEED,
    }


def compare_speed(bench: Bench, model: str, counted: int, rounds: int) -> None:
    """All contestants in turn, a few times."""
    contestants = (*OURS, *PEERS[model])
    print(f"\n{ABOUT[model]}\nTarget tokens a second, {counted} updates after {WARM_UP}:", flush=True)
    speeds: dict[str, list[float]] = {name: [] for name in contestants}
    last: dict[str, Result] = {}
    peak = 0.0
    for number in range(rounds):
        for name in contestants:
            peak = max(peak, best_product(bench.precision))
            last[name] = train(bench, name, model, WARM_UP + counted)
            speeds[name].append(last[name].speed(WARM_UP))
        told = ", ".join(f"{NAMES[name]} {speeds[name][-1]:,.0f}" for name in contestants)
        print(f"  round {number + 1}: {told}", flush=True)
    heads = f"{'parameters':>11} {'tokens/update':>14} {'tokens/s':>9}   {'nungil is × as fast':<20} in processes"
    print(f"{'':>14} {heads}")
    for name, result in last.items():
        tokens, speed = statistics.mean(result.tokens[WARM_UP:]), statistics.median(speeds[name])
        cells = [] if name in OURS else [f"{spread(ratios(speeds[ours], speeds[name])):<20}" for ours in OURS]
        print(f"{NAMES[name]:>14} {result.parameters:>11,} {tokens:>14,.0f} {speed:>9,.0f}   {' '.join(cells)}")
    work = operations(bench, model)
    one, many = (spread([100 * speed * work / peak for speed in speeds[ours]], "%") for ours in OURS)
    best = f"{peak / 1e9:,.0f} GFLOP/s in {bench.precision}"
    print(f"Share of peak: {one}, in processes {many}, of {best}; {work / 1e6:,.1f} MFLOP a target token", flush=True)


def ratios(ours: list[float], theirs: list[float]) -> list[float]:
    """How many times as fast we were, round by round."""
    return [one / other for one, other in zip(ours, theirs, strict=True)]


def compare_quality(bench: Bench, model: str, steps: int) -> None:
    """The validation loss after as many updates."""
    print(f"Validation loss after {steps} updates, cross-entropy a target token, without smoothing:", flush=True)
    for name in (*OURS, *PEERS[model]):
        result = train(bench, name, model, steps, validates=True)
        seen = sum(result.tokens)
        print(f"{NAMES[name]:>14} {result.loss:>7.3f}   after {seen:>9,} target tokens", flush=True)


def train(bench: Bench, name: str, model: str, steps: int, validates: bool = False) -> Result:
    """One run of one contestant; it must have had the same tokens as all others."""
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        job = Job(model, steps, validates, Path(folder))
        if name in OURS:
            result = run_nungil(bench, job, processes=1 if name == "nungil" else bench.threads)
        else:
            result = run_peer(name, bench.pythons[name], job, bench.texts, bench.threads)
    _, target = bench.lengths
    if (result.epoch, result.vocabulary, result.unknown) != (target.sum(), VOCABULARY, 0):
        raise SystemExit(
            f"{NAMES[name]} had {result.epoch:,} target tokens an epoch, {result.unknown:,} of them unknown to a "
            f"vocabulary of {result.vocabulary:,}: not the same as nungil"
        )
    return result


def run_nungil(bench: Bench, job: Job, processes: int) -> Result:
    """`nungil train`. Its metrics.jsonl has the speed so far of each update; the order tells the tokens."""
    valid = bench.files["valid" if job.validates else "few"]
    given, out = job.folder / "recipe.json", job.folder / "run"
    chosen = {"threads": bench.threads // processes, "processes": processes, "precision": bench.precision}
    given.write_text(json.dumps(recipe_of(job.model, bench.files["train"], valid, job.updates, **chosen)))
    command = [sys.executable, "-m", "nungil", "train", str(given), "--out", str(out)]
    run(command, job.folder / "log.txt", bench.threads)
    store, (_, target) = Store(out / "data" / "train"), bench.lengths
    if store.fingerprint != bench.prepared.train.fingerprint:
        raise SystemExit("nungil cut the corpus otherwise than for its peers")
    course = islice(updates(Order(bench.lengths, BATCH, SEED)), job.updates)
    tokens = [int(sum(target[rows].sum() for rows in update.groups)) for update in course]
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    speeds = [line["per_second"] for line in lines if line["kind"] == "train"]
    return Result(
        tokens=tokens,
        seconds=[done / speed for done, speed in zip(accumulate(tokens), speeds, strict=True)],
        parameters=parameter_count(_built(job.model)),
        vocabulary=bench.prepared.tokenizers.target.size,
        epoch=int((store.columns["target"].lengths() + 1).sum()),
        unknown=int(np.count_nonzero(store.columns["target"].ids == SPECIALS.index("<unk>"))),
        loss=next(line["loss"] for line in lines if line["kind"] == "validation") if job.validates else None,
    )


def _built(model: str) -> Any:
    return build_translator(MODELS[model], Vocabulary(source=VOCABULARY, target=VOCABULARY, joint=True))


def operations(bench: Bench, model: str) -> float:
    """Floating-point operations that one target token of training stands for, on the average of the corpus.

    A parameter is multiplied and added once forward and twice backward: 6 operations for each token that meets it. An
    attention product is two of them, scores and weighted sum, over all pairs of positions. Embeddings are looked up.
    """
    built, (source, target) = _built(model), bench.lengths
    tables = {*(built.source_embedding.parameters()), *(built.target_embedding.parameters())}
    tables |= {*built.output.parameters()}
    reading = sum(parameter.numel() for parameter in built.encoder.parameters())
    writing = sum(parameter.numel() for parameter in built.parameters() if parameter not in tables) - reading
    sizes, wide = SIZES[model], (source.astype(np.int64), target.astype(np.int64))
    pairs = int((wide[0] * wide[1]).sum())
    if model == "transformer":
        pairs += int((wide[0] ** 2).sum() + (wide[1] ** 2).sum())
    attention = 2 * 6 * sizes["layers"] * sizes["width"] * pairs
    scores = 6 * built.output.weight.numel() * int(target.sum())
    total = 6 * (reading * int(source.sum()) + writing * int(target.sum())) + scores + attention
    return float(total / int(target.sum()))


def best_product(precision: Precision, seconds: float = 2.0) -> float:
    """Operations a second of the fastest product of two matrices."""
    best, kind = 0.0, torch.bfloat16 if precision == "bf16" else torch.float32
    for rows, inner, columns in PRODUCTS:
        left, right = torch.randn(rows, inner, dtype=kind), torch.randn(inner, columns, dtype=kind)
        out = torch.empty(rows, columns, dtype=kind)
        end = time.perf_counter() + seconds / len(PRODUCTS)
        while time.perf_counter() < end:
            start = time.perf_counter()
            torch.mm(left, right, out=out)
            best = max(best, 2 * rows * inner * columns / (time.perf_counter() - start))
    return best


def spread(numbers: list[float], unit: str = "") -> str:
    """`2.61 (2.52–2.70)`: the median, and from the least to the greatest."""
    digits = 0 if unit else 2
    middle, low, high = statistics.median(numbers), min(numbers), max(numbers)
    return f"{middle:.{digits}f}{unit} ({low:.{digits}f}–{high:.{digits}f}{unit})"


if __name__ == "__main__":
    main()
