"""mechanisms: every score and decoder style, the Transformer, and a user's own score, side by side."""

from collections.abc import Sequence

from nungil.model.scores import own_scores
from nungil.scoring.resampling import Interval
from nungil.studies.arm import Arm, recurrent, transformer
from nungil.studies.common import SPEED, dot_chart, listed
from nungil.studies.examination import alignment, attends, quality, translate
from nungil.studies.finding import CELLS, Chart, Finding, Point, Series, Table, Verdict, cells, number, point, told
from nungil.studies.lesson import Trained
from nungil.studies.material import Material, given, snow
from nungil.studies.scale import Scale
from nungil.studies.statistics import Comparison, Results, holm
from nungil.studies.study import Measured, Study

PLAIN, TRANSFORMER, BASE = "plain", "Transformer", "dot"  # the posts begin with dot, and its seeds differ little
SCORES = (BASE, "scaled-dot", "general", "concat", "additive", "location", "coverage")
TRAINING = "tokens per second"
NEAR = 5.0  # BLEU that are "nearly the same"


class MechanismStudy(Study):
    """One recurrent network, everything that can stand between its two halves."""

    name = "mechanisms"
    method = (
        "A bidirectional GRU with Luong's decoder and every score; windows (local-m, local-p, reach 5) over the "
        f"{BASE} score, and with it input feeding, and the output without its tanh layer (post 000); Bahdanau's "
        "decoder; no attention; a Transformer; and every score of an installed package (entry points of the group "
        f"nungil.scores). A score is nearly the same as {BASE} if both 95% intervals of their difference lie within "
        f"{NEAR:g} BLEU, and other than it if the difference stands and is larger than that. BLEU; the "
        "alignment error of the best head and reading, chosen on one half of the test set and counted on the other; "
        "target tokens a second in training and sentences a second in greedy search, on one thread."
    )

    def scale(self, quick: bool) -> Scale:
        """How large it is."""
        if quick:
            # Small batches: in as many seconds there are more updates, and every seed has begun to look.
            return Scale(quick, pairs=6_000, lengths=(3, 7), tests=150, updates=480, sweep_updates=110, batch=192)
        return Scale(quick, pairs=12_000, lengths=(3, 9), tests=400, updates=800, sweep_updates=200)

    def arms(self) -> tuple[Arm, ...]:
        """All of them."""
        window = {"name": BASE, "reach": 5}
        return (
            recurrent(PLAIN, decoder="plain"),
            *(recurrent(name, score={"name": name, "longest": 128}) for name in SCORES),
            recurrent("local-m", score={**window, "window": "local-m"}),
            recurrent("local-p", score={**window, "window": "local-p"}),
            recurrent("input feeding", score={"name": BASE}, input_feeding=True),
            recurrent("no tanh layer", score={"name": BASE}, output="direct"),
            recurrent("Bahdanau", decoder="bahdanau", score={"name": "additive"}),
            transformer(TRANSFORMER),
            *(recurrent(f"own: {name}", score={"own": name}) for name in sorted(own_scores())),
        )

    def material(self, scale: Scale, files: Sequence[str]) -> Material:
        """Pairs."""
        return given(files, scale, "translate") if files else snow(scale)

    def measure(self, trained: Trained, material: Material) -> Measured:
        """Quality, links and speed."""
        found = translate(trained, material)
        links = alignment(trained, material) if material.has_links and attends(trained) else {}
        return Measured({**quality(found.texts, material), **links}, {SPEED: found.per_second})

    def answer(self, results: Results) -> Finding:
        """How far are they apart?"""
        others = [arm for arm in results.arms if arm != BASE]
        compared = holm([results.compare(arm, BASE, "BLEU", "BLEU") for arm in others])
        near, far, open_ones = _scores(compared)
        attending = {arm: results.estimate(arm, "BLEU").mean for arm in results.arms if arm != PLAIN}
        order = sorted(attending, key=lambda arm: -attending[arm])
        verdict: Verdict = "cannot be told"
        if far:
            verdict = "holds in part" if near else "does not hold"
        elif not open_ones:
            verdict = "holds"
        plain = number(results.estimate(PLAIN, "BLEU").mean)
        answer = (
            f"From {number(attending[order[0]])} BLEU ({order[0]}) to {number(attending[order[-1]])} ({order[-1]}), "
            f"and {plain} without attention; {_told(near, far, open_ones)}."
        )
        details = (
            "That no difference can be told does not make mechanisms the same: there may be one that is smaller than "
            "the spread of these seeds.",
            *(f"{one.first} against {BASE}: {told(one, ' BLEU')}." for one in compared if one.stands),
        )
        quality_chart = dot_chart(results, "mechanisms-bleu", "Quality by mechanism", "BLEU", "BLEU", "mechanism")
        charts = [quality_chart, _speed_chart(results)]
        aligned = [arm for arm in results.arms if all("AER" in one.tallies for one in results.of(arm))]
        if aligned:
            charts.append(_aer_chart(results, aligned))
        tables = (_table(results, aligned),)
        return Finding(answer, verdict, details, tables, tuple(charts), tuple(compared), LIMITS)


LIMITS = (
    "Speeds are of this implementation, on one thread of this machine, while another run used the other core. "
    "Sentences are short: windows have little to leave out.",
)


def _scores(compared: Sequence[Comparison]) -> tuple[list[str], list[str], list[str]]:
    """The scores that are near the base, those that are not, and those of which neither is known.

    The claim is about score functions; decoder styles and the Transformer are shown beside them.
    """
    scores = [one for one in compared if one.first in SCORES]
    near = [one.first for one in scores if _within(one.seeds) and (one.test is None or _within(one.test))]
    far = [one.first for one in scores if one.stands and abs(one.difference) >= NEAR]
    return near, far, [one.first for one in scores if one.first not in (*near, *far)]


def _within(found: Interval) -> bool:
    return found.low > -NEAR and found.high < NEAR


def _told(near: Sequence[str], far: Sequence[str], open_ones: Sequence[str]) -> str:
    same, they = f"nearly the same as the {BASE} score", "it is" if len(open_ones) == 1 else "they are"
    parts = [
        f"{same}: {listed(near)}" if near else "",
        f"other than the {BASE} score: {listed(far)}" if far else "",
        f"of {listed(open_ones)} it cannot be told whether {they} {same}" if open_ones else "",
    ]
    return "; ".join(part for part in parts if part)


def _table(results: Results, aligned: Sequence[str]) -> Table:
    rows = []
    for arm in results.arms:
        links = cells(results.estimate(arm, "AER"))[:2] if arm in aligned else ("–", "–")
        speeds = (number(results.estimate(arm, name).mean, 0) for name in (TRAINING, SPEED))
        made = f"{results.of(arm)[0].parameters:,}"
        rows.append((arm, *cells(results.estimate(arm, "BLEU")), *links, *speeds, made))
    head = ("arm", "BLEU", *CELLS[1:], "AER, %", "± seeds", "training, tokens/s", "search, sentences/s", "parameters")
    return Table("Mechanisms", head, tuple(rows))


def _aer_chart(results: Results, aligned: Sequence[str]) -> Chart:
    points = tuple(point(arm, results.estimate(arm, "AER")) for arm in aligned)
    series = (Series("AER", points),)
    return Chart(
        "mechanisms-aer", "Alignment error by mechanism", "mechanism", "alignment error, %", series, kind="dots"
    )


def _speed_chart(results: Results) -> Chart:
    points = []
    for arm in results.arms:
        found = results.estimate(arm, TRAINING)
        points.append(Point(arm, found.mean, found.seeds.low, found.seeds.high, None, found.each))
    title = "Speed of training, on one thread"
    series = (Series("speed", tuple(points)),)
    return Chart("mechanisms-speed", title, "mechanism", "target tokens a second", series, kind="dots")


STUDY = MechanismStudy()
