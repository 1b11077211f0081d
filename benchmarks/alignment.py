"""How well does the attention of each model find the right word? The corpus and training of the demo, model by model.

Every model gets the same sentences, updates and learning rate as the demo's. Printed: BLEU on the test set, the
alignment error (AER) of its attention in both readings, of the best head where there are several, and of the diagonal.
"""

import argparse
import shutil
import time
from pathlib import Path
from typing import Any

from nungil.inspection.heads import Desk, ceiling_scores, diagonal_scores
from nungil.pipeline import Translator, load
from nungil.runs.demo import demo_recipe, write_snow
from nungil.runs.recipe import Recipe
from nungil.runs.train import run

TRANSFORMER = {"width": 128, "heads": 4, "feed_forward": 256, "encoder_layers": 2, "decoder_layers": 2}
MODELS: dict[str, dict[str, Any]] = {
    **{name: {"score": {"name": name}} for name in ("dot", "scaled-dot", "general", "concat", "additive", "coverage")},
    "location": {"score": {"name": "location"}},
    "local-m": {"score": {"name": "additive", "window": "local-m"}},
    "local-p": {"score": {"name": "additive", "window": "local-p"}},
    "general, fed": {"score": {"name": "general"}, "input_feeding": True},
    "bahdanau": {"decoder": "bahdanau", "score": {"name": "additive"}},
    "transformer": {"kind": "transformer", **TRANSFORMER},
}


def recipe_of(name: str, data: Path, seed: int) -> Recipe:
    """The demo's recipe with another model."""
    plain = demo_recipe(data, seed).model_dump(exclude_unset=True)
    chosen = MODELS[name]
    plain["model"] = {**({} if "kind" in chosen else plain["model"]), **chosen, "dropout": 0.1}
    return Recipe.model_validate(plain)


def measure(name: str, out: Path, seed: int, count: int) -> None:
    """Train one, and print its line."""
    data = out / "snow"
    pairs = write_snow(data, seed)[:count] if not (data / "test.tsv").exists() else read(data, count)
    folder = out / name.replace(" ", "-").replace(",", "")
    shutil.rmtree(folder, ignore_errors=True)
    begun = time.perf_counter()
    done = run(recipe_of(name, data, seed), folder, lambda _: None)
    took = time.perf_counter() - begun
    model = load(folder)
    assert isinstance(model, Translator)
    assert done.test is not None
    texts, gold = [(pair[0], pair[1]) for pair in pairs], [pair[2] for pair in pairs]
    desk = Desk(gold)
    for place, record in model.look_at_pairs(texts):
        desk.add(place, record)
    last = max(one.layer for one in desk.scores())
    found = {one.reading: one for one in desk.scores() if (one.layer, one.head) == (last, None)}
    best = desk.choose()
    which = f"layer {best.chosen_on.layer} head {'mean' if best.chosen_on.head is None else best.chosen_on.head}"
    print(
        f"{name:14} BLEU {done.test.scores['bleu']:5.1f}  AER output {100 * found['output'].aer:5.1f}%  "
        f"input {100 * found['input'].aer:5.1f}%  best ({which}, {best.chosen_on.reading}) "
        f"{100 * best.reported_on.aer:5.1f}%  diagonal {100 * diagonal_scores(texts, gold).aer:.1f}%  "
        f"ceiling {100 * ceiling_scores(gold).aer:.1f}%  {took:.0f} s",
        flush=True,
    )


def read(data: Path, count: int) -> list[tuple[str, ...]]:
    """The test pairs of an earlier model."""
    lines = (data / "test.tsv").read_text(encoding="utf-8").splitlines()[:count]
    return [tuple(line.split("\t")) for line in lines]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="*", default=list(MODELS), help=f"some of {', '.join(MODELS)}")
    parser.add_argument("--out", type=Path, default=Path("runs/alignment"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sentences", type=int, default=1_000, help="of the test set")
    asked = parser.parse_args()
    for model_name in asked.models:
        measure(model_name, asked.out, asked.seed, asked.sentences)
