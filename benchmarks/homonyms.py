"""Is a homonym read from the words that settle it? A small classifier of senses, its weights, and what deleting does.

Snow knows for each sentence which words settle the sense. So two things can be counted on sentences the classifier has
never seen: how much of its attention is on those words, and how far the probability of the right sense falls when
one of them is deleted, beside what happens when any other word is.
"""

import argparse
import csv
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import nungil
from nungil.pipeline import Classifier, load
from nungil.text.snow.corpus import SPLITS

RECIPE = {"kind": "classifier", "encoder": "none", "embedding": 64, "dropout": 0.1, "ngrams": None}

WORDS = {"unit": "word"}


class Sentence(NamedTuple):
    """A Korean sentence with one homonym, at `place`, and the places of the words that settle its sense."""

    text: str
    label: str
    place: int
    deciding: tuple[int, ...]


def read(path: Path) -> list[Sentence]:
    """The sentences of a file that `nungil data snow --task senses` wrote."""
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Sentence(row["text"], row["label"], int(row["place"]), tuple(map(int, row["deciding"].split())))
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        ]


def train(data: Path, out: Path) -> Classifier:
    """A classifier that has no encoder: each weight is of a word, and of nothing that a state remembers."""
    if not (out / "model.safetensors").exists():
        train, valid, test = (str(data / f"{split}.tsv") for split in SPLITS)
        nungil.train(train, valid=valid, test=test, out=out, model=RECIPE, tokenizer={"unit": "word"})
    model = load(out)
    assert isinstance(model, Classifier)
    return model


def measure(model: Classifier, sentences: list[Sentence]) -> None:
    """Print how much is looked at what, and what deleting a word does."""
    weights = [model.look(one.text).merged().weights[0] for one in sentences]
    kinds: dict[str, Callable[[Sentence], tuple[int, ...]]] = {
        "words that settle it": lambda one: one.deciding,
        "the homonym": lambda one: (one.place,),
    }
    for name, places in kinds.items():
        mass = fmean(sum(row[list(places(one))]) for row, one in zip(weights, sentences, strict=True))
        even = fmean(len(places(one)) / len(row) for row, one in zip(weights, sentences, strict=True))
        print(f"weight on {name}: {mass:.2f} (evenly spread it would be {even:.2f})")
    top = fmean(int(row.argmax()) in one.deciding for row, one in zip(weights, sentences, strict=True))
    print(f"looked at most: a word that settles it in {100 * top:.0f}% of {len(sentences):,} sentences")
    whole = model.classify([one.text for one in sentences])
    for name, chosen in (
        ("a word that settles it", lambda one: one.deciding),
        ("any other word but the homonym", lambda one: others(one)),
    ):
        pairs = [(row, one, place) for row, one in zip(whole, sentences, strict=True) for place in chosen(one)]
        without = model.classify([deleted(one.text, place) for _, one, place in pairs])
        falls = [
            row.probabilities[one.label] - found.probabilities[one.label]
            for (row, one, _), found in zip(pairs, without, strict=True)
        ]
        print(f"deleting {name}: the probability of the right sense falls by {fmean(falls):.3f}")


def others(one: Sentence) -> list[int]:
    """The places of the words that neither are the homonym nor settle it."""
    return [place for place in range(len(one.text.split())) if place not in (*one.deciding, one.place)]


def deleted(text: str, place: int) -> str:
    """The text without the word at this place."""
    words = text.split()
    return " ".join(words[:place] + words[place + 1 :])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data/senses"), help="a folder of --task senses")
    parser.add_argument("--out", type=Path, default=Path("runs/senses"), help="the model folder")
    chosen = parser.parse_args()
    classifier, sentences = train(chosen.data, chosen.out), read(chosen.data / "test.tsv")
    print("눈, snow or eye:")
    measure(classifier, [one for one in sentences if one.label in ("snow", "eye")])
    print("All homonyms:")
    measure(classifier, sentences)
