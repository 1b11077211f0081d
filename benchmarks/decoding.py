"""Decoding speed against Eole, JoeyNMT, transformers and CTranslate2: the same sentences and sizes, interleaved runs.

    python benchmarks/decoding.py --data FOLDER [--peers FOLDER] [--rounds 3] [--only transformer|lstm] [--beam 1|5]
                                  [--without NAME]…
    python benchmarks/decoding.py --lines 10000,100000,1000000

FOLDER holds multi30k; its 1,000 sentences of test_2016_flickr are translated. The peers are installed into environments
of their own when they are not there yet. Every sentence takes 15 steps, whatever a model would rather say, so all write
as much: target tokens a second are steps a second. Each peer first tries a few batch sizes (CTranslate2: threads too)
on a part of the sentences and keeps the best; nungil chooses for itself. Then all take turns, each time in a process of
its own; reading the model and a first part of the sentences are not counted, the memory is the most that the process
had. --lines: how `nungil translate` fares with ever longer files, in seconds and memory.
"""

import argparse
import gzip
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from lines import compare_lines
from peers import SIZES, Texts, install, joeynmt_settings, run, run_peer
from peers import Job as Training
from search import Job, Sentences, Setting
from training import MODELS, VOCABULARY, spread

from nungil.text.tokenizers.base import SPECIALS
from nungil.text.tokenizers.train import Sample, TokenizerSettings, train_tokenizer

SEARCH = Path(__file__).with_name("search.py")
STEPS = 15
PART = 4  # one sentence in so many is for finding the best setting
UPDATES = 2  # that Eole's models have had
BATCHES = {1: (32, 64, 128, 256), 5: (8, 16, 32, 64)}  # sentences, by the beam
SPECIAL_NAMES = {"unk": "<unk>", "pad": "<pad>", "bos": "<s>", "eos": "</s>"}  # of JoeyNMT, in its order


@dataclass(frozen=True)
class Contestant:
    """One way to translate: a name, and the environment and the search that it is."""

    name: str
    peer: str
    models: tuple[str, ...] = ("transformer",)
    compute: str = ""

    @property
    def ours(self) -> bool:
        """Whether it runs in this environment, and chooses its own settings."""
        return self.peer.startswith("nungil")


CONTESTANTS = (
    Contestant("nungil", "nungil", ("transformer", "lstm"), compute="fp32"),
    Contestant("nungil, bf16", "nungil", ("transformer", "lstm"), compute="bf16"),
    Contestant("nungil, int8", "nungil", ("transformer", "lstm"), compute="int8"),
    Contestant("Eole 0.6.4", "eole", ("transformer", "lstm")),
    Contestant("JoeyNMT 2.3.0", "joeynmt"),
    Contestant("transformers 5.22", "transformers"),
    Contestant("CTranslate2 4.8.4, fp32", "ctranslate2", compute="float32"),
    Contestant("nungil with it, fp32", "nungil_ctranslate2", compute="float32"),
    Contestant("CTranslate2 4.8.4, int8", "ctranslate2", compute="int8"),
    Contestant("nungil with it, int8", "nungil_ctranslate2", compute="int8"),
)


@dataclass(frozen=True)
class Bench:
    """Everything that all runs share."""

    folder: Path
    texts: Texts
    sentences: Sentences  # longest first
    vocabulary: list[str]
    pythons: dict[str, Path]
    threads: int


@dataclass(frozen=True)
class Reading:
    """What one run took."""

    seconds: list[float]  # of each setting
    peak: int


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="the folder that holds multi30k")
    parser.add_argument("--peers", type=Path, default=Path.home() / ".cache" / "nungil-peers")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=list(MODELS))
    parser.add_argument("--beam", type=int, choices=list(BATCHES))
    parser.add_argument("--without", action="append", default=[], metavar="NAME", help="a peer that is left out")
    parser.add_argument("--lines", type=lambda given: [int(one) for one in given.split(",")], metavar="N,N")
    options = parser.parse_args()
    if options.lines:
        compare_lines(options.lines)
        return
    if options.data is None:
        parser.error("--data is the folder that holds multi30k")
    models = [options.only] if options.only else list(MODELS)
    chosen = [one for one in CONTESTANTS if one.peer not in options.without and {*one.models} & {*models}]
    pythons = {peer: install(peer, options.peers) for peer in sorted({one.peer for one in chosen if not one.ours})}
    with tempfile.TemporaryDirectory() as folder:
        bench = make_ready(Path(folder), options.data / "multi30k", pythons)
        for model in models:
            for beam in [options.beam] if options.beam else BATCHES:
                compare(bench, [one for one in chosen if model in one.models], model, beam, options.rounds)


def make_ready(folder: Path, multi30k: Path, pythons: dict[str, Path]) -> Bench:
    """Cut the sentences into pieces once, as nungil does it, and write them for the others."""
    names = {set_: [multi30k / f"{set_}.{tag}.gz" for tag in ("en", "de")] for set_ in ("train", "test_2016_flickr")}
    for path in (path for both in names.values() for path in both):
        if not path.is_file():
            raise SystemExit(f"{path} is missing; --data is the folder that holds multi30k")
    sample = Sample()
    for path in names["train"]:
        for line in _lines(path):
            sample.add(line)
    tokenizer = train_tokenizer(sample, TokenizerSettings(unit="unigram", size=VOCABULARY))
    vocabulary = tokenizer.tokens(range(len(SPECIALS), tokenizer.size))
    texts = Texts(folder / "pieces", 0)
    texts.folder.mkdir()
    (texts.folder / "vocabulary.txt").write_text("".join(f"{piece}\n" for piece in vocabulary), encoding="utf-8")
    cut = {
        tag: [tokenizer.tokens(tokenizer.encode(line)) for line in _lines(path)]
        for tag, path in zip(("en", "de"), names["test_2016_flickr"], strict=True)
    }
    for tag, sentences in cut.items():
        written = "".join(" ".join(sentence) + "\n" for sentence in sentences)
        for name in ("train", "valid"):
            (texts.folder / f"{name}.{tag}").write_text(written, encoding="utf-8")
    sentences = sorted(cut["en"], key=len, reverse=True)
    texts = Texts(texts.folder, len(sentences))
    print(
        f"torch {torch.__version__}, {torch.get_num_threads()} threads, float32 where nothing else is said. "
        f"{len(sentences):,} sentences of {statistics.mean(map(len, sentences)):.1f} tokens, {STEPS} steps each."
    )
    return Bench(folder, texts, sentences, vocabulary, pythons, torch.get_num_threads())


def _lines(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield line.rstrip("\n")


def compare(bench: Bench, contestants: list[Contestant], model: str, beam: int, rounds: int) -> None:
    """Find each one's best setting, then let all take turns."""
    search = "greedy" if beam == 1 else f"beam {beam}"
    print(f"\n{model}, {search}", flush=True)
    given = {one.name: given_to(bench, one, model) for one in contestants}
    best: dict[str, Setting] = {}
    for one in contestants:
        tries = settings_of(one, beam, bench.threads)
        part = bench.sentences if one.peer == "ctranslate2" else bench.sentences[::PART]  # its workers share batches
        seconds = translate(bench, one, model, beam, given[one.name], part, tries).seconds if len(tries) > 1 else [0.0]
        best[one.name] = tries[seconds.index(min(seconds))]
        print(f"  {one.name}: {told(best[one.name]) or 'nothing to set'}", flush=True)
    readings: dict[str, list[Reading]] = {one.name: [] for one in contestants}
    for number in range(rounds):
        for one in contestants:
            reading = translate(bench, one, model, beam, given[one.name], bench.sentences, [best[one.name]])
            readings[one.name].append(reading)
        speeds = ", ".join(f"{name} {speed(bench, found[-1]):,.0f}" for name, found in readings.items())
        print(f"  round {number + 1}: {speeds}", flush=True)
    table(bench, readings, best)


def settings_of(contestant: Contestant, beam: int, threads: int) -> list[Setting]:
    """What a user could try."""
    if contestant.ours:
        return [{}]
    if contestant.peer != "ctranslate2":
        return [{"batch": batch} for batch in BATCHES[beam]]
    return [
        {"batch": batch, "workers": workers, "threads": threads // workers}
        for workers in sorted({1, threads})
        for batch in BATCHES[beam]
    ]


def given_to(bench: Bench, contestant: Contestant, model: str) -> dict[str, Any]:
    """What a contestant needs to have its model."""
    if contestant.ours:
        return {"settings": MODELS[model].model_dump(), "compute": contestant.compute}
    if contestant.peer == "ctranslate2":
        given = {"compute": contestant.compute, "folder": str(bench.folder / "ctranslate2")}
        if not Path(given["folder"]).exists():
            Path(given["folder"]).mkdir()
            translate(bench, Contestant("", "ctranslate2_model"), model, 1, given, [], [])
        return given
    if contestant.peer == "joeynmt":
        training = Training(model, UPDATES, validates=False, folder=bench.folder)
        symbols = {f"{name}_token": token for name, token in SPECIAL_NAMES.items()}
        numbers = {f"{name}_id": number for number, name in enumerate(SPECIAL_NAMES)}
        more: dict[str, Any] = {"sep_id": None, "sep_token": None, "lang_tags": []}
        return {"settings": joeynmt_settings(training, bench.texts), "specials": {**symbols, **numbers, **more}}
    if contestant.peer == "eole":
        training = Training(model, UPDATES, validates=False, folder=bench.folder / f"eole-{model}")
        if not training.folder.exists():
            training.folder.mkdir()
            run_peer("eole", bench.pythons["eole"], training, bench.texts, bench.threads)
        return {"model": str(training.folder / "model")}
    return {}


def translate(
    bench: Bench,
    contestant: Contestant,
    model: str,
    beam: int,
    given: dict[str, Any],
    sentences: Sentences,
    settings: list[Setting],
) -> Reading:
    """One process of one contestant."""
    job = Job(contestant.peer, beam, STEPS, sentences, bench.vocabulary, SIZES[model], settings, given)
    python = bench.pythons.get(contestant.peer.removesuffix("_model"), Path(sys.executable))
    with tempfile.TemporaryDirectory(dir=bench.folder) as folder:
        asked, told = Path(folder) / "job.json", Path(folder) / "report.json"
        asked.write_text(json.dumps(asdict(job)))
        run([str(python), "-P", str(SEARCH), str(asked), str(told)], Path(folder) / "log.txt", bench.threads)
        return Reading(**json.loads(told.read_text()))


def speed(bench: Bench, reading: Reading) -> float:
    """Target tokens a second."""
    return len(bench.sentences) * STEPS / reading.seconds[0]


def told(setting: Setting) -> str:
    """A setting in words."""
    return ", ".join(f"{key} {value}" for key, value in setting.items())


def table(bench: Bench, readings: dict[str, list[Reading]], best: dict[str, Setting]) -> None:
    """Medians, and nungil against each, round by round."""
    print(f"{'':>24} {'tokens/s':>9} {'peak':>8}   {'nungil is × as fast':<20} setting")
    for name, found in readings.items():
        speeds = [speed(bench, reading) for reading in found]
        ratios = [theirs.seconds[0] / ours.seconds[0] for ours, theirs in zip(readings["nungil"], found, strict=True)]
        peak = max(reading.peak for reading in found) / 2**20
        cell = "" if name == "nungil" else spread(ratios)
        print(
            f"{name:>24} {statistics.median(speeds):>9,.0f} {peak:>5,.0f} MB   {cell:<20} {told(best[name])}",
            flush=True,
        )


if __name__ == "__main__":
    main()
