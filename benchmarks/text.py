"""From lines to batches: speed and memory at 0.1, 1 and 5 million lines of snow.

    python benchmarks/text.py [--lines 100000,1000000,5000000] [--data FOLDER]

For each size, in a process of its own: read → clean → tokenise → store, pairs per second and peak memory of all its
processes; bare SentencePiece encoding of the same lines in as many processes, interleaved with it; one epoch of
batches. With --data, the folder that holds multi30k and koen: padding on Multi30k, and units of Hangul compared.
"""

import argparse
import gzip
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from itertools import islice
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from nungil.batches.build import build_pair_store
from nungil.batches.order import Order, padding_share
from nungil.batches.store import Store
from nungil.text.cleaning import CleaningSettings, Tally, clean_pairs
from nungil.text.corpus import read_pairs
from nungil.text.snow.corpus import snow_pairs
from nungil.text.tokenizers import (
    Sample,
    TokenizerSettings,
    load_tokenizers,
    save_tokenizers,
    train_tokenizer,
    train_tokenizers,
)
from nungil.text.tokenizers.pieces import PieceTokenizer

BASE = 100_000  # different snow pairs; larger files repeat them with a number at the end, so that none is a duplicate
BARE = 200_000  # lines of the comparison with bare SentencePiece
ROUNDS = 3  # of that comparison; one at millions of lines
PROCESSES = len(os.sched_getaffinity(0))
TRAINING = 4_080  # target tokens a second of a fast training step (an LSTM of 12 million parameters) on two cores
SETTINGS = TokenizerSettings(joint=False)


def main() -> None:
    """Run everything, or one measurement in the process that was started for it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", default="100000,1000000,5000000")
    parser.add_argument("--data", type=Path, help="a folder with multi30k and koen")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(globals()[options.measure[0]](Path(options.measure[1]))))
        return
    with tempfile.TemporaryDirectory() as folder:
        compare_sizes(Path(folder), [int(size) for size in options.lines.split(",")])
    if options.data:
        multi30k_padding(options.data / "multi30k")
        hangul_units(options.data / "koen")


def compare_sizes(folder: Path, sizes: list[int]) -> None:
    """One row per size."""
    base = [f"{pair.english}\t{pair.korean}" for pair in snow_pairs(BASE, seed=1)]
    learn(folder, base)
    print(
        f"{PROCESSES} processes, snow; store: read → clean → tokenise → write; epoch: batches of 4,096 tokens, padded"
    )
    print(f"{'':>9} {'store':>26} {'peak':>17} {'epoch':>8} {'×':>19} {'peak':>9}")
    print(
        f"{'lines':>9} {'seconds':>8} {'pairs/s':>9} {'of bare':>8} {'MB':>17} {'seconds':>8} {'batches/s':>10} "
        f"{'training':>8} {'MB':>9} {'padding':>8}"
    )
    for size in sizes:
        write_lines(folder / "lines.tsv", base, size)
        stored, ratio = store_and_bare(folder, size)
        rate, batches = size / stored["seconds"], measure("epoch", folder)
        print(f"{size:>9,} {stored['seconds']:>8.1f} {rate:>9,.0f} {ratio:>8.2f} {stored['peak']:>17.0f}", end="")
        print(f" {batches['seconds']:>8.1f} {batches['rate']:>10,.0f} {batches['tokens'] / TRAINING:>8,.0f}", end="")
        print(f" {batches['peak']:>9.0f} {batches['padding']:>8.1%}", flush=True)


def store_and_bare(folder: Path, size: int) -> tuple[dict[str, float], float]:
    """Both in turn, a few times: the fastest store, and the median of its rate ÷ that of bare around it."""
    stores, ratios = [], []
    for _ in range(1 if size > BARE * 5 else ROUNDS):
        before, stored, after = (measure(what, folder) for what in ("bare", "store", "bare"))
        ratios.append(size / stored["seconds"] * 2 / (before["rate"] + after["rate"]))
        stores.append(stored)
    return min(stores, key=lambda one: one["seconds"]), float(np.median(ratios))


def learn(folder: Path, lines: list[str]) -> None:
    """The tokenizers of all sizes."""
    sides = Sample(), Sample()
    for line in lines:
        for side, text in zip(sides, line.split("\t"), strict=True):
            side.add(text)
    save_tokenizers(train_tokenizers(*sides, SETTINGS), folder)


def write_lines(path: Path, base: list[str], size: int) -> None:
    """So many lines; after the first round each side ends with the number of the round."""
    with path.open("w") as file:
        for number in range(size):
            line, turn = base[number % len(base)], number // len(base)
            file.write(f"{line}\n" if not turn else f"{line.replace(chr(9), f' {turn}{chr(9)}')} {turn}\n")


def measure(what: str, folder: Path) -> dict[str, float]:
    """A measurement in a process of its own, so that its memory is its own."""
    command = [sys.executable, __file__, "--measure", what, str(folder)]
    return dict(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))


def store(folder: Path) -> dict[str, float]:
    """Read → clean → tokenise → store."""
    shutil.rmtree(folder / "ids", ignore_errors=True)
    start, tally = time.perf_counter(), Tally()
    pairs = clean_pairs(read_pairs([folder / "lines.tsv"]), CleaningSettings(), tally)
    build_pair_store(pairs, load_tokenizers(folder, SETTINGS), folder / "ids", processes=PROCESSES)
    return {"seconds": time.perf_counter() - start, "peak": _peak(PROCESSES)}


def bare(folder: Path) -> dict[str, float]:
    """SentencePiece alone, lines in memory, each process its share; starting the processes is not counted."""
    texts = [pair[:2] for pair in islice(read_pairs([folder / "lines.tsv"]), BARE)]
    shares = [texts[number::PROCESSES] for number in range(PROCESSES)]
    with get_context("spawn").Pool(PROCESSES) as pool:
        jobs = [pool.apply_async(_encode_bare, (folder, share)) for share in shares]
        return {"rate": sum(job.get() for job in jobs)}


def _encode_bare(folder: Path, share: list[tuple[str, str]]) -> float:
    """Pairs a second of `SentencePieceProcessor.encode` on plain lists."""
    tokenizers = [one for one in load_tokenizers(folder, SETTINGS) if isinstance(one, PieceTokenizer)]
    sides = [
        [tokenizer._prepare(text) for text in side]
        for tokenizer, side in zip(tokenizers, zip(*share, strict=True), strict=True)
    ]
    start = time.perf_counter()
    for tokenizer, side in zip(tokenizers, sides, strict=True):
        tokenizer._processor.encode(side, num_threads=1)
    return len(share) / (time.perf_counter() - start)


def epoch(folder: Path) -> dict[str, float]:
    """Every batch of one epoch, as tensors."""
    import torch

    from nungil.batches.batch import marked_lengths, pair_batches

    torch.set_num_threads(1)
    ids = Store(folder / "ids")
    start = time.perf_counter()
    source, target = (ids.columns[side].lengths() for side in ("source", "target"))
    lengths = [marked_lengths(source, "both"), marked_lengths(target, "eos")]
    batches = Order(lengths, budget=4096, seed=1).epoch(0)
    tokens = sum(int(batch.target_keep.sum()) for batch in pair_batches(ids, batches))
    seconds = time.perf_counter() - start
    share = padding_share(batches, lengths)
    return {
        "seconds": seconds,
        "rate": len(batches) / seconds,
        "tokens": tokens / seconds,
        "peak": _peak(0),
        "padding": share,
    }


def _peak(children: int) -> float:
    """Megabytes at the peak: this process, and its children as if all had been as large as the largest.

    Pages of the mapped store that were touched are in it, though the system takes them back when it needs them.
    """
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (own + children * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) / 1024


def multi30k_padding(folder: Path) -> None:
    """The share of padding in batches of 4,096 tokens."""
    sides = [_lines(folder / f"train.{language}.gz") for language in ("en", "de")]
    samples = [_sampled(texts) for texts in sides]
    tokenizers = train_tokenizers(samples[0], samples[1], TokenizerSettings(joint=True, size=8_000))
    lengths = [tokenizer.encode_many(texts).lengths for tokenizer, texts in zip(tokenizers, sides, strict=True)]
    lengths = [lengths[0] + 2, lengths[1] + 1]
    share = padding_share(Order(lengths, 4096, 1).epoch(0), lengths)
    print(f"\nMulti30k en→de, joint unigram of 8,000, batches of 4,096 tokens: {share:.2%} padding")


def hangul_units(folder: Path) -> None:
    """Jamo against syllables on held-out Korean."""
    print("\nHangul, unigram, held out: tokens a sentence, share of byte pieces, nats a character")
    for name, column, skip in (("bible", 2, 1), ("pydocs", 1, 0)):
        train, valid = (
            [line.split("\t")[column] for line in _lines(folder / f"{name}_{part}.tsv.gz")][skip:]
            for part in ("train", "valid")
        )
        for size in (4_000, 8_000):
            for korean in ("syllable", "jamo"):
                fit = _fit(_sampled(train), TokenizerSettings(size=size, korean=korean), valid)
                print(f"{name:>8} {size:>6} {korean:>9}  {fit}", flush=True)


def _fit(sample: Sample, settings: TokenizerSettings, held_out: list[str]) -> str:
    tokenizer = train_tokenizer(sample, settings)
    assert isinstance(tokenizer, PieceTokenizer)
    flat, lengths = tokenizer.encode_many(held_out)
    every, processor = range(tokenizer.size), tokenizer._processor
    scores, is_byte = np.array(processor.get_score(list(every))), np.array([processor.is_byte(one) for one in every])
    scores = np.where(is_byte, np.minimum(scores, -12.0), scores)  # SentencePiece gives bytes no score of their own
    nats = -scores[flat].sum() / sum(map(len, held_out))
    return f"{lengths.mean():6.2f} {is_byte[flat].mean():7.2%} {nats:7.3f}"


def _sampled(texts: list[str]) -> Sample:
    sample = Sample(15_000)
    for text in texts:
        sample.add(text)
    return sample


def _lines(path: Path) -> list[str]:
    with gzip.open(path, "rt") as file:
        return file.read().splitlines()


if __name__ == "__main__":
    main()
