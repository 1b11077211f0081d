"""classifier: attention pooling against mean, max and last, and against TF-IDF with logistic regression."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nungil.studies.arm import Arm, classifier
from nungil.studies.common import dot_chart, listed
from nungil.studies.examination import label
from nungil.studies.extras import needed
from nungil.studies.finding import CELLS, Finding, Table, Verdict, cells, number, told
from nungil.studies.job import Job, Record, Tally, tally
from nungil.studies.lesson import Trained
from nungil.studies.material import Material, given, snow_senses
from nungil.studies.scale import Scale
from nungil.studies.statistics import Results, holm
from nungil.studies.study import Measured, Study

ATTENTION, TFIDF = "attention", "TF-IDF + logistic regression"
POOLINGS = ("mean", "max", "last")
ACCURACY = "accuracy"
STRENGTHS = (0.1, 1.0, 10.0, 100.0)  # of logistic regression; the best on validation is taken
WORDS = {"ngram_range": (1, 2), "token_pattern": r"\w+|[^\w\s]"}  # and pairs of them; `good.` is not another word


class ClassifierStudy(Study):
    """One encoder, four poolings, and a bag of n-grams."""

    name = "classifier"
    budget = "equal updates; logistic regression is solved to its end"
    method = (
        "A bidirectional LSTM reads the text; its states become one vector by attention (Bahdanau's score, asked by "
        "the last state, as in post 001), by their mean, their maximum, or the last one. Beside them, TF-IDF of words "
        "and pairs of words with logistic regression, whose strength is chosen on validation. Accuracy on the test set."
    )

    def scale(self, quick: bool) -> Scale:
        """How large it is."""
        whole = Scale(quick, lengths=(3, 16), batch=768, longest=400, pairs=4_000, tests=1_000, updates=1_500)
        if quick:
            return replace(whole, pairs=1_500, tests=500, updates=500, sweep_updates=200)
        return replace(whole, sweep_updates=500)

    def arms(self) -> tuple[Arm, ...]:
        """The first is what the others are compared with."""
        return (*(classifier(one, pooling=one) for one in (ATTENTION, *POOLINGS)), Arm(TFIDF, None))

    def material(self, scale: Scale, files: Sequence[str]) -> Material:
        """Labelled texts."""
        return given(files, scale, "classify") if files else snow_senses(scale)

    def perform(self, job: Job, scale: Scale, material: Material) -> Record:
        """Logistic regression has no seed: it is the same each time."""
        if self.arm(job.arm).model is not None:
            return super().perform(job, scale, material)
        since = time.perf_counter()
        found, features = logistic(material)
        took = time.perf_counter() - since
        return Record(job=job, parameters=features, examined=took, tallies={ACCURACY: _counted(found, material)})

    def measure(self, trained: Trained, material: Material) -> Measured:
        """Right or wrong."""
        return Measured({ACCURACY: _counted(label(trained, material), material)}, {})

    def answer(self, results: Results) -> Finding:
        """Is attention better than each of the others?"""
        others = [arm for arm in results.arms if arm != ATTENTION]
        compared = holm([results.compare(ATTENTION, other, ACCURACY, ACCURACY) for other in others])
        beaten = [one.second for one in compared if one.stands and one.difference > 0]
        beating = [one.second for one in compared if one.stands and one.difference < 0]
        verdict: Verdict = "cannot be told"
        if beaten:
            verdict = "holds" if len(beaten) == len(others) else "holds in part"
        elif beating:
            verdict = "does not hold"
        right = {arm: results.estimate(arm, ACCURACY) for arm in results.arms}
        figures = ", ".join(f"{arm} {number(right[arm].mean)}%" for arm in results.arms)
        same = [arm for arm in others if arm not in (*beaten, *beating)]
        said = (("is better than", beaten), ("is worse than", beating), ("cannot be told from", same))
        parts = [f"{verb} {listed(names)}" for verb, names in said if names]
        answer = f"Attention pooling {listed(parts)} (accuracy: {figures})."
        details = tuple(f"{ATTENTION} against {one.second}: {told(one, ' points')}." for one in compared)
        rows = tuple((arm, *cells(right[arm]), f"{results.of(arm)[0].parameters:,}") for arm in results.arms)
        table = Table("Accuracy", ("arm", "accuracy, %", *CELLS[1:], "parameters"), rows)
        chart = dot_chart(results, "classifier-accuracy", "Accuracy by pooling", ACCURACY, "accuracy, %")
        return Finding(answer, verdict, details, (table,), (chart,), tuple(compared), LIMITS)


LIMITS = (
    "Sentences of snow are short, and a homonym's sense is settled by a word or two: long reviews may differ, which "
    "--data shows. Logistic regression gives the same answer for every seed, so that its own spread is 0.",
)


def logistic(material: Material) -> tuple[list[str], int]:
    """The labels that TF-IDF and logistic regression give to the tests, and how many weights they have."""
    text: Any = needed("sklearn.feature_extraction.text")
    linear: Any = needed("sklearn.linear_model")
    cut = text.TfidfVectorizer(sublinear_tf=True, **WORDS)
    train = cut.fit_transform([one.source for one in material.train])
    valid, test = (cut.transform([one.source for one in side]) for side in (material.valid, material.test))
    labels = [one.target for one in material.train]
    best: tuple[float, Any] = (-1.0, None)
    for strength in STRENGTHS:
        model = linear.LogisticRegression(C=strength, max_iter=2_000).fit(train, labels)
        score = float(model.score(valid, [one.target for one in material.valid]))
        if score > best[0]:
            best = (score, model)
    return [str(one) for one in best[1].predict(test)], int(best[1].coef_.size)


def _counted(found: Sequence[str], material: Material) -> Tally:
    return tally("share", [(int(ours == one.target), 1) for ours, one in zip(found, material.test, strict=True)])


STUDY = ClassifierStudy()
