"""The demo: snow, a translator, its scores, three sentences. Two minutes on two cores, the same for the same seed."""

from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from nungil.errors import UsageError
from nungil.inspection.heads import diagonal_scores
from nungil.inspection.record import READINGS, AttentionRecord, Reading
from nungil.pipeline import Translator
from nungil.records import Translation
from nungil.runs.begin import refuse_existing
from nungil.runs.data import DataSettings
from nungil.runs.progress import Say
from nungil.runs.recipe import Recipe
from nungil.runs.result import Run
from nungil.runs.train import run
from nungil.scoring.alignment import AlignmentScores, score_links
from nungil.text.atomic import whole_file
from nungil.text.snow.corpus import SPLITS, SnowPair, make_splits
from nungil.text.tokenizers.train import TokenizerSettings
from nungil.training.schedule import ScheduleSettings
from nungil.training.settings import TrainingSettings

DATA = "snow"
PAIRS, LENGTHS = 20_000, (3, 8)
SENTENCES = ("I like snow", "The child ate a pear", "We saw a ship yesterday")
ALIGNED = 200  # test sentences whose links are compared with gold links


@dataclass(frozen=True)
class Demo:
    """What the demo found."""

    run: Run
    translations: tuple[Translation, ...]
    alignment: dict[Reading, AlignmentScores]
    diagonal: AlignmentScores
    record: AttentionRecord
    page: Path


def demo(out: Path, seed: int, say: Say) -> Demo:
    """Make the corpus, train, score, translate, and draw."""
    refuse_existing(out)
    say(f"Making {PAIRS:,} English–Korean sentence pairs with gold word links …")
    pairs = write_snow(out / DATA, seed)
    done = run(demo_recipe(out / DATA, seed), out, say, beside=(DATA,))
    model = done.load()
    if not isinstance(model, Translator):
        raise UsageError(f"{out}: the demo's model was replaced while it ran")
    aligned, gold = [(pair.english, pair.korean) for pair in pairs[:ALIGNED]], [pair.links for pair in pairs[:ALIGNED]]
    record, page = model.look(SENTENCES[0], honesty=True), out / "look.html"
    record.save(page)
    return Demo(
        run=done,
        translations=tuple(model.translate(SENTENCES)),
        alignment={reading: score_links(model.align(aligned, reading), gold) for reading in READINGS},
        diagonal=diagonal_scores(aligned, gold),
        record=record,
        page=page,
    )


def demo_recipe(data: Path, seed: int) -> Recipe:
    """A small translator with attention, and a fixed number of updates."""
    files = {
        name: (str(data / f"{split}.tsv"),) for name, split in zip(("train", "valid", "test"), SPLITS, strict=True)
    }
    return Recipe.model_validate(
        {
            "data": DataSettings(**files, columns=("1", "2"), source="en", target="ko"),
            "tokenizer": TokenizerSettings(unit="word", size=4_000),
            "model": {
                "kind": "recurrent",
                "cell": "gru",
                "embedding": 128,
                "width": 256,
                "dropout": 0.1,
                "score": {"name": "additive"},
            },
            "training": TrainingSettings(
                steps=1_600,
                batch_tokens=512,
                schedule=ScheduleSettings(rate=0.003, warmup=100, shape="cosine"),
                validate_every=400,
                average=1,
                log_every=200,
            ),
            "seed": seed,
        }
    )


def write_snow(folder: Path, seed: int) -> list[SnowPair]:
    """Write three files without common sentences. Returns the test pairs, for their links."""
    test = []
    with ExitStack() as stack:
        files = {split: stack.enter_context(whole_file(folder / f"{split}.tsv")) for split in SPLITS}
        for split, made in make_splits(PAIRS, seed, LENGTHS):
            files[split].write("\t".join(made.pair) + "\n")
            if split == "test":
                test.append(made.pair)
    return test
