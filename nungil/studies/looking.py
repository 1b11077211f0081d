"""looking: does attention point at the right word, and does the output depend on where it points?"""

from collections.abc import Sequence

from nungil.scoring.alignment import diagonal_links, parse_links
from nungil.studies.arm import Arm, recurrent, transformer
from nungil.studies.common import dot_chart, listed
from nungil.studies.examination import HALF, aer_counts, alignment, as_translator, quality, translate
from nungil.studies.finding import CELLS, Chart, Finding, Table, Verdict, cells, number, told
from nungil.studies.job import tally
from nungil.studies.lesson import Trained
from nungil.studies.material import Material, given, snow
from nungil.studies.scale import Scale
from nungil.studies.statistics import Results, holm
from nungil.studies.study import Measured, Study

JUDGED = 16  # sentences of a badge: each is translated many times
DIAGONAL = "AER of the diagonal"
ENTRIES = ("score kept with even attention, %", "AOPC", "AOPC at random", "τ with gradient × input")


class LookingStudy(Study):
    """Five attentions, their links and their badges."""

    name = "looking"
    method = (
        "Each model reads the test pairs with the right translation given; the alignment error (AER) of the best head "
        "and reading, chosen on one half of the sentences, is counted on the other, beside links along the diagonal. "
        f"The honesty badge is measured on {JUDGED} test sentences: how much of chrF is left when attention is made "
        "even, and how much probability is lost when the words looked at most are erased (AOPC), beside any words."
    )

    def scale(self, quick: bool) -> Scale:
        """How large it is."""
        if quick:
            return Scale(quick, lengths=(3, 9), tests=200, updates=600, sweep_updates=150)
        return Scale(quick, pairs=16_000, lengths=(3, 12), tests=400, updates=1_200, sweep_updates=400)

    def arms(self) -> tuple[Arm, ...]:
        """The scores of the posts, Bahdanau's decoder and a Transformer."""
        return (
            recurrent("dot", score={"name": "dot"}),
            recurrent("general", score={"name": "general"}),
            recurrent("concat", score={"name": "concat"}),
            recurrent("Bahdanau", decoder="bahdanau", score={"name": "additive"}),
            transformer("Transformer"),
        )

    def material(self, scale: Scale, files: Sequence[str]) -> Material:
        """Pairs."""
        return given(files, scale, "translate") if files else snow(scale)

    def measure(self, trained: Trained, material: Material) -> Measured:
        """Links against gold, and the badge."""
        found = translate(trained, material)
        tallies = quality(found.texts, material)
        if material.has_links:
            tallies |= alignment(trained, material)
            half = material.test[1::2]
            made = [frozenset(diagonal_links(len(one.source.split()), len(one.target.split()))) for one in half]
            tallies[DIAGONAL] = tally("aer", aer_counts(made, [parse_links(one.links) for one in half]), HALF)
        chosen = material.sampled(JUDGED).test[:JUDGED]
        badge = as_translator(trained, material).badge([(one.source, one.target) for one in chosen])
        kept, tau = 100 * badge.kept, badge.tau_gradient
        numbers = (kept, badge.aopc, badge.aopc_random, float("nan") if tau is None else tau)
        return Measured(tallies, {**dict(zip(ENTRIES, numbers, strict=True)), "points": float(badge.points)})

    def answer(self, results: Results) -> Finding:
        """Better than the diagonal, and does it matter?"""
        has_links = "AER" in results.names("AER")
        compared = []
        for arm in results.arms:
            if has_links:
                compared.append(results.against(arm, {DIAGONAL: 1.0, "AER": -1.0}, 0.0, "AER below the diagonal's"))
            compared.append(results.against(arm, {ENTRIES[1]: 1.0, ENTRIES[2]: -1.0}, 0.0, "AOPC above random"))
        compared = holm(compared)
        good = [arm for arm in results.arms if all(c.stands and c.difference > 0 for c in compared if c.first == arm)]
        bad = [arm for arm in results.arms if any(c.stands and c.difference < 0 for c in compared if c.first == arm)]
        verdict: Verdict = "holds" if len(good) == len(results.arms) else "holds in part" if good else "cannot be told"
        if not good and bad:
            verdict = "does not hold"
        rest = [arm for arm in results.arms if arm not in good]
        right = "are the right ones more often than along the diagonal, and " if has_links else ""
        what = f"the words looked at {right}matter to the output"
        answer = f"In {listed(good)} {what}" if good else f"Of no mechanism it can be said that {what}"
        answer += f"; of {listed(rest)} that cannot be said" if rest and good else ""
        if has_links:
            errors = {arm: results.estimate(arm, "AER").mean for arm in results.arms}
            low, high = min(errors, key=lambda arm: errors[arm]), max(errors, key=lambda arm: errors[arm])
            diagonal = results.estimate(results.arms[0], DIAGONAL).mean
            answer += (
                f" (alignment error from {number(errors[low])}%, {low}, to {number(errors[high])}%, {high}; "
                f"the diagonal has {number(diagonal)}%)"
            )
        charts = self._charts(results, has_links)
        details = tuple(f"{one.first}, {one.what}: {told(one)}." for one in compared)
        tables = (_table(results, has_links),)
        return Finding(f"{answer}.", verdict, details, tables, charts, tuple(compared), LIMITS)

    def _charts(self, results: Results, has_links: bool) -> tuple[Chart, ...]:
        kept = dot_chart(results, "looking-kept", "chrF that is left with even attention", ENTRIES[0], "chrF left, %")
        if not has_links:
            return (kept,)
        aer = dot_chart(results, "looking-aer", "Alignment error by mechanism", "AER", "alignment error, %")
        level = ("diagonal", results.estimate(results.arms[0], DIAGONAL).mean)
        return Chart(**{**vars(aer), "rule": level}), kept


LIMITS = (
    "A map that agrees with gold links need not be the reason for what is written, and the other way round: that is "
    "why both are measured. The badge is of few sentences.",
)


def _table(results: Results, has_links: bool) -> Table:
    rows = []
    for arm in results.arms:
        links = cells(results.estimate(arm, "AER")) if has_links else ("–",) * 3
        known = [name for name in ENTRIES if all(name in one.figures for one in results.of(arm))]
        means = {name: results.estimate(arm, name).mean for name in known}
        figures = (number(means[name], 1 if "%" in name else 3) if name in known else "–" for name in ENTRIES)
        bleu = number(results.estimate(arm, "BLEU").mean)
        pointing = f"{results.estimate(arm, 'points').mean * len(results.of(arm)):.0f} of {len(results.of(arm))}"
        rows.append((arm, *links, bleu, *figures, pointing))
    head = ("arm", "AER, %", *CELLS[1:], "BLEU", *ENTRIES, "seeds whose badge points")
    return Table("Where it looks, and whether that matters", head, tuple(rows))


STUDY = LookingStudy()
