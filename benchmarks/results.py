"""The runs of docs/results.md: trains those that are missing, goes on with those that were stopped, and scores them.

    python benchmarks/results.py --data FOLDER [--runs FOLDER] [--threads N] [--again] [--steps N] [NAME …]

Without names it prints what there is, and how far it has come. Each run is one plain `nungil train`, and its folder
stays, so that whatever is cut short goes on with the same command. Of a translator: BLEU with and without capitals, on
tokenised text too where sacremoses is installed, chrF++, the nearest training sentence, BLEU by length, what the
validation set gave meanwhile, and ten translations as they are. Of a classifier: accuracy.

With --again each run is trained a second time, into NAME-again, and all that must not differ is compared instead:
weights, log and scores. --steps makes runs shorter than they are; their folders are named after it.
"""

import argparse
import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import nungil
from nungil.pipeline.translator import Translator
from nungil.records import Pair
from nungil.runs.kept import kept_records, kept_training
from nungil.scoring.measures import Way, measure
from nungil.scoring.nearest import nearest
from nungil.scoring.translators import NEAREST, Given, TranslationReport, report_translations
from nungil.text.corpus import read_pairs
from nungil.text.source import CorpusSettings

RECIPES = Path(__file__).resolve().parent.parent / "recipes"
MINUTES = (5, 10, 15, 30, 45, 60, 75, 90, 120)
MODEL = "the model"
SAMPLES = 10  # translations that are printed as they are
FLICKR_2017 = ("multi30k/test_2017_flickr.{source}.gz", "multi30k/test_2017_flickr.{target}.gz")
# Pairs of the data curves, which nungil/text/outlook.py quotes; the whole corpus is a run of its own.
SIZES = {"pydocs-en-ko": (1_000, 5_000, 10_000, 20_000), "multi30k-en-de": (1_000, 5_000, 10_000)}
# Updates of the Python documentation, fewer than are worked out for so many paragraphs: an hour or so, not two.
SHORTER = {10_000: "6000", 20_000: "8000"}
TIMES = ("seconds", "per_second")
COMPARED = 5_000  # pairs of the runs that compare tokenizer units; the default is among the curves
UNITS = {
    "bpe-jamo": ("tokenizer.unit=bpe", "tokenizer.korean=jamo"),
    "unigram-syllable": ("tokenizer.unit=unigram", "tokenizer.korean=syllable"),
    "bpe-syllable": ("tokenizer.unit=bpe", "tokenizer.korean=syllable"),
    "character": ("tokenizer.unit=character",),
    "word": ("tokenizer.unit=word",),
}


class Asked(NamedTuple):
    """A run: its recipe, what else is said on the command line, and a second test set, source first.

    Of `together` there is nothing to train but the runs of these names, which translate as one.
    """

    recipe: str
    options: tuple[str, ...] = ()
    second: tuple[str, ...] = ()
    together: tuple[str, ...] = ()


def runs() -> dict[str, Asked]:
    """Every run by its name."""
    found: dict[str, Asked] = {}
    for source, target in (("en", "de"), ("de", "en")):
        ways = () if source == "en" else ("--from", source, "--to", target)
        for model in ("transformer", "luong", "plain"):
            second = tuple(name.format(source=source, target=target) for name in FLICKR_2017)
            name = f"multi30k-{source}-{target}-{model}"
            found[name] = Asked("multi30k", ("--model", model, *ways), second)
            if model == "transformer":
                found[f"{name}-2"] = Asked("multi30k", ("--model", model, *ways, "--seed", "2"), second)
                found[f"{name}-both"] = Asked("multi30k", second=second, together=(name, f"{name}-2"))
    found["pydocs-en-ko"] = Asked("pydocs", ("--steps", "16000"))
    found["pydocs-ko-en"] = Asked("pydocs", ("--from", "ko", "--to", "en", "--steps", "8000"))
    for curve, sizes in SIZES.items():
        for size in sizes:
            steps = ("--steps", SHORTER[size]) if curve == "pydocs-en-ko" and size in SHORTER else ()
            found[f"{curve}-{size}"] = Asked(curve.partition("-")[0], ("--set", f"data.train_size={size}", *steps))
    for name, settings in UNITS.items():
        given = tuple(part for setting in settings for part in ("--set", setting))
        found[f"pydocs-en-ko-{COMPARED}-{name}"] = Asked("pydocs", ("--set", f"data.train_size={COMPARED}", *given))
    for corpus in ("imdb", "nsmc"):
        found[corpus] = Asked(corpus)
        found[f"{corpus}-lstm"] = Asked(corpus, ("--set", "model.ngrams=null"))
    return found


def main() -> None:
    """Train and score what was named, one after the other."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="runs; without any, the list of them")
    parser.add_argument("--data", type=Path, required=True, help="the folder that holds multi30k, koen, imdb, nsmc")
    parser.add_argument("--runs", type=Path, default=Path("runs/results"), help="where the folders of the runs are")
    parser.add_argument("--threads", type=int, help="of training; by default those that there are")
    parser.add_argument("--again", action="store_true", help="train each a second time, and compare both")
    parser.add_argument("--steps", type=int, help="updates of each run, instead of its own")
    options = parser.parse_args()
    known = runs()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"no such run: {', '.join(unknown)}; there is {', '.join(known)}")
    for name in options.names or known:
        folders = [options.runs / one for one in known[name].together or (name,)]
        if not options.names:
            print(f"{name:36} {', '.join(map(state, folders))}")
            continue
        chosen = () if options.threads is None else ("--set", f"training.threads={options.threads}")
        if options.steps is not None:
            folders = [folder.with_name(f"{folder.name}-{options.steps}-steps") for folder in folders]
            chosen = (*chosen, "--steps", str(options.steps))
        for folder, one in zip(folders, known[name].together or (name,), strict=True):
            train(known[one], folder, options.data, chosen)
            if options.again:
                other = folder.with_name(f"{folder.name}-again")
                train(known[one], other, options.data, chosen)
                print(f"{folder.name}: {compared(folder, other)}", flush=True)
        if not options.again:
            report(name, known[name], folders, options.data)


def state(folder: Path) -> str:
    """How far a run has come, in a word or two."""
    if (folder / "result.json").is_file():
        return "finished"
    logged = metrics(folder)
    return f"stopped after update {logged[-1]['update']:,}" if logged else "missing"


def train(asked: Asked, folder: Path, data: Path, chosen: Sequence[str]) -> None:
    """Train it, or go on with it; nothing if it has come to its end. What is chosen for all runs comes last."""
    if (folder / "result.json").is_file():
        return
    if folder.exists():
        call("resume", str(folder))
        return
    recipe = str(RECIPES / f"{asked.recipe}.yaml")
    call("train", recipe, "--data", str(data), "--out", str(folder), *asked.options, *chosen)


def call(*arguments: str) -> None:
    """A nungil command, as a user would give it."""
    print(f"$ nungil {' '.join(arguments)}", flush=True)
    subprocess.run([sys.executable, "-m", "nungil", *arguments], check=True, stdout=subprocess.DEVNULL)


def metrics(folder: Path) -> list[dict[str, Any]]:
    """The log of a run."""
    path = folder / "metrics.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.is_file() else []


def compared(folder: Path, other: Path) -> str:
    """Whether two runs of the same command came to the same, to the last bit; only time may differ."""
    differ = [name for name in ("model.safetensors", "config.json") if not same_bytes(folder / name, other / name)]
    if untimed(metrics(folder)) != untimed(metrics(other)):
        differ.append("metrics.jsonl")
    first, second = (json.loads((one / "result.json").read_text()) for one in (folder, other))
    if untimed([first]) != untimed([second]):
        differ.append("result.json")
    return f"the second run differs in {', '.join(differ)}" if differ else "the second run has the same bytes"


def same_bytes(first: Path, second: Path) -> bool:
    """Whether two files are the same."""
    return first.read_bytes() == second.read_bytes()


def untimed(logged: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was logged, without what a clock told."""
    return [{name: value for name, value in one.items() if name not in TIMES} for one in logged]


def report(name: str, asked: Asked, folders: Sequence[Path], data: Path) -> None:
    """What a run, or several together, have come to."""
    print(f"\n## {name}\n")
    for one in folders:
        logged = metrics(one)
        print(f"{one.name}: {logged[-1]['update']:,} updates in {logged[-1]['seconds'] / 60:.0f} minutes.\n")
        for line in meanwhile([one for one in logged if one["kind"] == "validation"]):
            print(line)
    folder, *others = folders
    model = nungil.load(folder, others=others)
    kept = kept_records(folder, model.config.task)
    if isinstance(model, Translator) and kept is not None:
        pairs = [one for one in kept.records if isinstance(one, Pair)]
        first = translated(model, pairs, folder)
        print_scores("test", first, model.config.target)
        for sample in samples(first):
            print(sample)
        if asked.second:
            more = list(read_pairs([str(data / name) for name in asked.second], CorpusSettings()))
            print_scores("second test", translated(model, more, folder), model.config.target)
    else:
        print(json.dumps(json.loads((folder / "result.json").read_text())["test"]["scores"]))


def meanwhile(validations: Sequence[dict[str, Any]]) -> Iterator[str]:
    """The last validation before so many minutes were over."""
    for minutes in MINUTES:
        before = [one for one in validations if one["seconds"] <= 60 * minutes]
        if before and (len(before) < len(validations) or minutes == MINUTES[-1]):
            scores = (f"{name} {before[-1][name]:.1f}" for name in ("bleu", "chrf", "accuracy") if name in before[-1])
            yield f"{minutes} minutes: update {before[-1]['update']:,}, {', '.join(scores)}"


class Translated(NamedTuple):
    """The systems on one test set: the model, and who only looks things up."""

    systems: dict[str, list[str]]
    pairs: Sequence[Pair]


def translated(model: Translator, pairs: Sequence[Pair], folder: Path) -> Translated:
    """By a beam of five, as `nungil translate` does; and the translations of the nearest training sentences."""
    sources = [pair.source for pair in pairs]
    training = kept_training(folder, model.tokenizers)
    near = nearest(sources, [pair.source for pair in training])
    looked_up = [training[one.number].target if one.number >= 0 else "" for one in near]
    return Translated({MODEL: [one.text for one in model.translate(sources)], NEAREST: looked_up}, pairs)


def print_scores(title: str, given: Translated, language: str) -> None:
    """Every measure of every system, with capitals and without."""
    references, sources = [pair.target for pair in given.pairs], [pair.source for pair in given.pairs]
    for lowercase in (False, True):
        found = report_translations(given.systems, references, Way(language, lowercase, ter=False), Given(sources))
        print(f"\n{title}, {found.sentences:,} sentences{', lower-cased' if lowercase else ''}")
        for line in lines_of(found, by_lengths=not lowercase):
            print(line)
    if importlib.util.find_spec("sacremoses") is not None:
        texts, right = (tokenised(side, language) for side in (given.systems[MODEL], references))
        tokens = measure(texts, right, Way(language, lowercase=True, tokenizer="none", ter=False))["bleu"]
        print(f"tokenised, lower-cased: BLEU {tokens.score():.1f}")


def lines_of(found: TranslationReport, by_lengths: bool) -> Iterator[str]:
    """The scores of each system, what sets them apart, and BLEU by length."""
    for system, scores in found.scores.items():
        told = (
            f"{found.measures[name]} {one.score:.1f} ({one.low:.1f}–{one.high:.1f})" for name, one in scores.items()
        )
        yield f"{system}: {', '.join(told)}"
    yield from (one.told for one in found.comparisons)
    yield f"signatures: {'; '.join(found.signatures.values())}"
    if by_lengths:
        first = next(iter(found.measures))
        for part in found.lengths:
            score = part.scores[MODEL][first]
            yield f"{part.shortest}–{part.longest} {found.length_unit}: {score:.1f} ({part.sentences:,} sentences)"


def tokenised(texts: Sequence[str], language: str) -> list[str]:
    """As Moses cuts words, in small letters: what papers on Multi30k score."""
    from sacremoses import MosesTokenizer

    cut = MosesTokenizer(lang=language)
    return [cut.tokenize(text.lower(), return_str=True, escape=False) for text in texts]


def samples(given: Translated) -> Iterator[str]:
    """Some translations, evenly chosen."""
    step = max(1, len(given.pairs) // SAMPLES)
    for pair, text in list(zip(given.pairs, given.systems[MODEL], strict=True))[::step][:SAMPLES]:
        yield f"- {pair.source}\n  → {text}\n  reference: {pair.target}"


if __name__ == "__main__":
    main()
