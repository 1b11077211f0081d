"""order: what a Transformer loses when nothing tells it the positions of words."""

import random
from collections.abc import Sequence

from nungil.batches.chance import seed_of
from nungil.studies.arm import Arm, transformer
from nungil.studies.examination import quality, translate
from nungil.studies.finding import CELLS, Chart, Finding, Series, Table, Verdict, cells, number, point, told
from nungil.studies.job import tally
from nungil.studies.lesson import Trained
from nungil.studies.material import Material, given, snow
from nungil.studies.scale import Scale
from nungil.studies.statistics import Results, holm
from nungil.studies.study import Measured, Study

WITH, WITHOUT = "with positions", "without positions"
SAME = "the same after shuffling"


class OrderStudy(Study):
    """Two Transformers that differ in one setting."""

    name = "order"
    method = (
        "Two Transformers, alike but for the sinusoids that are added to the embeddings of both sides, are trained on "
        "the same sentences. Each translates the test set as it is, and once more with the words of every source "
        "shuffled: a model that knows no order cannot notice."
    )

    def scale(self, quick: bool) -> Scale:
        """How large it is."""
        if quick:
            return Scale(quick, pairs=8_000, lengths=(3, 16), tests=300, updates=1_200, sweep_updates=300)
        return Scale(quick, pairs=16_000, lengths=(3, 16), tests=600, updates=4_000, sweep_updates=800)

    def arms(self) -> tuple[Arm, ...]:
        """With and without."""
        return transformer(WITH), transformer(WITHOUT, positions="none")

    def material(self, scale: Scale, files: Sequence[str]) -> Material:
        """Pairs."""
        return given(files, scale, "translate") if files else snow(scale)

    def measure(self, trained: Trained, material: Material) -> Measured:
        """Quality, and how many translations stay the same when the source is shuffled."""
        found = translate(trained, material)
        mixed = translate(trained, material, [one._replace(source=_shuffled(one.source)) for one in material.test])
        # Only those count whose shuffling changed anything.
        rows = [
            (int(own == other), 1)
            for own, other, one in zip(found.texts, mixed.texts, material.test, strict=True)
            if _shuffled(one.source) != one.source
        ]
        same = {SAME: tally("share", rows or [(0, 0)], "shuffled")}
        return Measured({**quality(found.texts, material), **same}, {"sentences per second": found.per_second})

    def answer(self, results: Results) -> Finding:
        """Does it lose anything without positions?"""
        bleu = {arm: results.estimate(arm, "BLEU") for arm in results.arms}
        same = {arm: results.estimate(arm, SAME) for arm in results.arms}
        lost, blind = holm(
            [
                results.compare(WITH, WITHOUT, "BLEU", "BLEU"),
                results.compare(WITHOUT, WITH, SAME, "translations that stay the same after shuffling, %"),
            ]
        )
        knows_no_order = blind.stands and blind.difference > 0
        worse = lost.stands and lost.difference > 0
        verdict: Verdict = "cannot be told"
        if knows_no_order or worse:
            verdict = "holds" if knows_no_order and worse else "holds in part"
        elif blind.stands or lost.stands:
            verdict = "does not hold"
        figures = f"{number(bleu[WITH].mean)} BLEU with positions and {number(bleu[WITHOUT].mean)} without"
        quality_told = (
            f"it translates worse: {figures}"
            if worse
            else f"it translates better: {figures}"
            if lost.stands
            else f"no loss of quality can be told: {figures}"
        )
        answer = (
            f"Without positions {number(same[WITHOUT].mean)}% of the translations stay the same when the words of the "
            f"source are shuffled (with them {number(same[WITH].mean)}%), and {quality_told}."
        )
        details = (
            f"Positions add {told(lost, ' BLEU')}.",
            "What is reached without them comes from a bag of words and from the order of what has been written.",
        )
        head = ("arm", "BLEU", *CELLS[1:], "chrF++", *CELLS[1:], "same after shuffling, %")
        rows = tuple(
            (
                arm,
                *cells(bleu[arm]),
                *cells(results.estimate(arm, "chrF++")),
                number(same[arm].mean),
            )
            for arm in results.arms
        )
        chart = Chart(
            "order-bleu", "Quality with and without positions", "Transformer", "BLEU",
            (Series("BLEU", tuple(point(arm, bleu[arm]) for arm in results.arms)),), kind="dots",
        )  # fmt: skip
        return Finding(answer, verdict, details, (Table("Quality", head, rows),), (chart,), (lost, blind), LIMITS)


LIMITS = (
    "The decoder's mask tells it how much it has written, so that it knows an order of its own even without positions; "
    "what is missing is the order of the source. Snow's sentences can often be told from their words alone.",
)


def _shuffled(text: str) -> str:
    words = text.split()
    random.Random(seed_of(*text.encode())).shuffle(words)
    return " ".join(words)


STUDY = OrderStudy()
