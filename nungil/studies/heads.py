"""heads: what several heads add to a Transformer whose width stays the same."""

from collections.abc import Sequence

from nungil.studies.arm import Arm, transformer
from nungil.studies.common import SPEED, better_and_worse, listed, quality_table
from nungil.studies.examination import alignment, quality, translate
from nungil.studies.finding import Chart, Finding, Series, Verdict, number, point, told
from nungil.studies.lesson import Trained
from nungil.studies.material import Material, given, snow
from nungil.studies.scale import Scale
from nungil.studies.statistics import Results, holm
from nungil.studies.study import Measured, Study
from nungil.text.counts import counted

WIDTH, HEADS = 64, (1, 2, 4, 8, 16)


def arm_of(heads: int) -> str:
    """Its name."""
    return counted(heads, "head")


class HeadsStudy(Study):
    """One Transformer with one to sixteen heads."""

    name = "heads"
    budget = "equal updates and equal parameters: heads share one width"
    method = (
        f"A Transformer of width {WIDTH} has 1, 2, 4, 8 or 16 heads in every attention, each of {WIDTH} / heads "
        "numbers, so that all have the same parameters. BLEU on the test set, and the alignment error of the best head "
        "of the cross-attention, chosen on one half of the test set and counted on the other."
    )

    def scale(self, quick: bool) -> Scale:
        """How large it is."""
        if quick:
            return Scale(quick, lengths=(3, 9), tests=200, updates=700, sweep_updates=200)
        return Scale(quick, pairs=16_000, lengths=(3, 12), tests=500, updates=2_000, sweep_updates=400)

    def arms(self) -> tuple[Arm, ...]:
        """By the number of heads."""
        return tuple(transformer(arm_of(heads), width=WIDTH, heads=heads) for heads in HEADS)

    def material(self, scale: Scale, files: Sequence[str]) -> Material:
        """Pairs."""
        return given(files, scale, "translate") if files else snow(scale)

    def measure(self, trained: Trained, material: Material) -> Measured:
        """Quality, and the best head's links."""
        found = translate(trained, material)
        links = alignment(trained, material) if material.has_links else {}
        return Measured({**quality(found.texts, material), **links}, {SPEED: found.per_second})

    def answer(self, results: Results) -> Finding:
        """Is any number of heads better than one?"""
        one, *more = results.arms
        compared = holm([results.compare(arm, one, "BLEU", "BLEU") for arm in more])
        better, worse = better_and_worse(compared)
        verdict: Verdict = "cannot be told"
        if better:
            verdict = "holds in part" if worse else "holds"
        elif worse:
            verdict = "does not hold"
        bleu = {arm: results.estimate(arm, "BLEU").mean for arm in results.arms}
        best = max(bleu, key=lambda arm: bleu[arm])
        told_of = {
            "holds": f"{listed(better)} translate better than one",
            "holds in part": f"{listed(better)} translate better than one, {listed(worse)} worse",
            "does not hold": f"no number of heads translates better than one, and {listed(worse)} worse",
            "cannot be told": "no number of heads can be told from one",
        }[verdict]
        answer = f"At equal width {told_of}: {number(bleu[one])} BLEU with {one}, {number(bleu[best])} with {best}."
        has_links = "AER" in results.names("AER")
        details = tuple(f"{each.first} against {one}: {told(each, ' BLEU')}." for each in compared)
        charts = [_chart(results, "heads-bleu", "Quality by number of heads", "BLEU", "BLEU")]
        if has_links:
            title = "Alignment error of the best head"
            charts.append(_chart(results, "heads-aer", title, "AER", "alignment error, %"))
        table = quality_table(results, (("AER", 1),) if has_links else ())
        return Finding(answer, verdict, details, (table,), tuple(charts), tuple(compared), LIMITS)


LIMITS = ("With more heads each is narrower: 16 heads of a width of 64 compare 4 numbers each.",)


def _chart(results: Results, stem: str, title: str, what: str, unit: str) -> Chart:
    points = tuple(point(float(arm.split()[0]), results.estimate(arm, what)) for arm in results.arms)
    series = (Series(unit, points),)
    return Chart(stem, title, "heads", unit, series, log_across=True, note="Bars: 95% over seeds.")


STUDY = HeadsStudy()
