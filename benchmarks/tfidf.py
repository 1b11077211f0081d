"""What a classifier should beat: TF-IDF and logistic regression, on the same texts as `nungil train` would have.

    python benchmarks/tfidf.py --train TRAIN --test TEST [--columns text,label]

Words and pairs of words, and characters up to five within words; the better of the two, and how strongly it is held
back, are chosen on texts set aside, and the test set is looked at once.
"""

import argparse
import random
import time
from typing import NamedTuple

from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from nungil.records import Labelled
from nungil.text.cleaning import CleaningSettings, Tally, clean_labelled, hold_out
from nungil.text.corpus import read_labelled
from nungil.text.source import CorpusSettings

ASIDE = 4_000
STRENGTHS = (1.0, 3.0, 10.0, 30.0)
CUTS = {
    "words and pairs of them": {"ngram_range": (1, 2), "token_pattern": r"\S+|[^\w\s]"},
    "characters, 1 to 5": {"ngram_range": (1, 5), "analyzer": "char_wb"},
}


class Found(NamedTuple):
    """A way of cutting, a strength, the accuracy on the texts set aside, and what classifies."""

    cut: str
    strength: float
    accuracy: float
    features: TfidfVectorizer
    model: LogisticRegression


def read(files: list[str], columns: tuple[str, ...]) -> list[Labelled]:
    """All labelled texts of some files."""
    return [one for one in read_labelled(files, CorpusSettings(columns=columns)) if one.text.strip()]


def search(train: list[Labelled], valid: list[Labelled]) -> Found:
    """The best of every cut and strength, by the texts set aside."""
    found = []
    for name, cut in CUTS.items():
        features = TfidfVectorizer(sublinear_tf=True, min_df=2, **cut)
        rows = features.fit_transform([one.text for one in train])
        aside = features.transform([one.text for one in valid])
        for strength in STRENGTHS:
            model = LogisticRegression(C=strength, max_iter=1_000).fit(rows, [one.label for one in train])
            accuracy = 100 * float(model.score(aside, [one.label for one in valid]))
            found.append(Found(name, strength, accuracy, features, model))
            print(f"{name}, C = {strength:g}: {accuracy:.1f} on {len(valid):,} texts set aside", flush=True)
    return max(found, key=lambda one: one.accuracy)


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
    best = search(texts[ASIDE:], texts[:ASIDE])
    rows = best.features.transform([one.text for one in test])
    right = 100 * float(best.model.score(rows, [one.label for one in test]))
    print(f"test, {len(test):,} texts: {right:.2f} ({best.cut}, C = {best.strength:g})")
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
