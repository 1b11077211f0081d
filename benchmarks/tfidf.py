"""What a classifier should beat: TF-IDF and logistic regression, on the same texts as `nungil train` would have.

    python benchmarks/tfidf.py --train TRAIN --test TEST [--columns text,label]

Words and pairs of words, and characters up to five within words; the better of the two, and how strongly it is held
back, are chosen on texts set aside. What was chosen learns from those, too, and the test set is looked at once.
"""

import argparse
import random
import time
from itertools import product
from typing import NamedTuple

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline

from nungil.records import Labelled
from nungil.studies.classifier import STRENGTHS, WORDS
from nungil.text.cleaning import CleaningSettings, Tally, clean_labelled, hold_out
from nungil.text.corpus import read_labelled
from nungil.text.source import CorpusSettings

ASIDE = 4_000  # texts at the most, and a tenth
CUTS = {
    "words and pairs of them": WORDS,
    "characters, 1 to 5": {"ngram_range": (1, 5), "analyzer": "char_wb"},
}


class Found(NamedTuple):
    """The accuracy on the texts set aside of a way of cutting and a strength."""

    accuracy: float
    cut: str
    strength: float


def read(files: list[str], columns: tuple[str, ...]) -> list[Labelled]:
    """All labelled texts of some files."""
    return [one for one in read_labelled(files, CorpusSettings(columns=columns)) if one.text.strip()]


def fit(texts: list[Labelled], cut: str, strength: float) -> Pipeline:
    """A classifier."""
    features = TfidfVectorizer(sublinear_tf=True, min_df=2, **CUTS[cut])
    model = make_pipeline(features, LogisticRegression(C=strength, max_iter=1_000))
    return model.fit([one.text for one in texts], [one.label for one in texts])


def accuracy(model: Pipeline, texts: list[Labelled]) -> float:
    """Percent."""
    return 100 * float(model.score([one.text for one in texts], [one.label for one in texts]))


def search(train: list[Labelled], valid: list[Labelled]) -> Found:
    """The best of every cut and strength, by the texts set aside."""
    found = []
    for cut, strength in product(CUTS, STRENGTHS):
        found.append(Found(accuracy(fit(train, cut, strength), valid), cut, strength))
        print(f"{cut}, C = {strength:g}: {found[-1].accuracy:.1f} on {len(valid):,} texts set aside", flush=True)
    return max(found)


def main() -> None:
    """Train, choose, score once."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--train", action="append", required=True)
    options.add_argument("--test", action="append", required=True)
    options.add_argument("--columns", default="")
    asked = options.parse_args()
    began = time.perf_counter()
    columns = tuple(filter(None, asked.columns.split(",")))
    test = read(asked.test, columns)
    held_out = [hold_out("test", test)]
    texts = list(clean_labelled(read(asked.train, columns), CleaningSettings(), Tally(), held_out=held_out))
    random.Random(1).shuffle(texts)
    aside = min(ASIDE, len(texts) // 10)
    best = search(texts[aside:], texts[:aside])
    right = accuracy(fit(texts, best.cut, best.strength), test)
    print(f"test, {len(test):,} texts: {right:.2f} ({best.cut}, C = {best.strength:g})")
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
