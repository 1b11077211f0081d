"""embedding: how much the embedding decides: frozen at random, trained, narrow and wide."""

from collections.abc import Sequence

from nungil.studies.arm import Arm, recurrent
from nungil.studies.common import SPEED, better_and_worse, dot_chart, listed, quality_table
from nungil.studies.examination import alignment, quality, translate
from nungil.studies.finding import Finding, Verdict, number, told
from nungil.studies.lesson import Trained
from nungil.studies.material import Material, given, snow
from nungil.studies.scale import Scale
from nungil.studies.statistics import Results, holm
from nungil.studies.study import Measured, Study

TRAINED, FROZEN, NARROW, WIDE = "trained, 64", "random and frozen, 64", "trained, narrow: 8", "trained, wide: 256"


class EmbeddingStudy(Study):
    """One model, four embeddings."""

    name = "embedding"
    method = (
        "A GRU with Luong's attention (additive score) has embeddings of 64 numbers that are trained, the same drawn "
        "at random and never changed (of both sides; the output layer is its own and is trained), or trained ones of "
        "8 and of 256 numbers. BLEU on the test set, and the alignment error of the attention."
    )

    def scale(self, quick: bool) -> Scale:
        """How large it is."""
        if quick:
            return Scale(quick, lengths=(3, 7), tests=200, updates=1_000, sweep_updates=250)
        return Scale(quick, pairs=16_000, lengths=(3, 12), tests=500, updates=1_500, sweep_updates=500)

    def arms(self) -> tuple[Arm, ...]:
        """The first is what the others are compared with."""
        score = {"name": "additive"}  # of all scores the one that learns to look first
        return (
            recurrent(TRAINED, score=score, tie=False),
            recurrent(FROZEN, score=score, tie=False, frozen=True),
            recurrent(NARROW, score=score, tie=False, embedding=8),
            recurrent(WIDE, score=score, tie=False, embedding=256),
        )

    def material(self, scale: Scale, files: Sequence[str]) -> Material:
        """Pairs."""
        return given(files, scale, "translate") if files else snow(scale)

    def measure(self, trained: Trained, material: Material) -> Measured:
        """Quality and links."""
        found = translate(trained, material)
        links = alignment(trained, material) if material.has_links else {}
        return Measured({**quality(found.texts, material), **links}, {SPEED: found.per_second})

    def answer(self, results: Results) -> Finding:
        """Does freezing or narrowing cost anything?"""
        has_links = "AER" in results.names("AER")
        others = (FROZEN, NARROW, WIDE)
        compared = holm([results.compare(arm, TRAINED, "BLEU", "BLEU") for arm in others])
        frozen, narrow, _ = compared
        _, worse = better_and_worse([frozen, narrow])
        verdict: Verdict = "holds" if len(worse) == 2 else "holds in part" if worse else "cannot be told"
        if not worse and any(one.stands for one in (frozen, narrow)):
            verdict = "does not hold"
        bleu = {arm: number(results.estimate(arm, "BLEU").mean) for arm in results.arms}
        figures = (
            f"{bleu[TRAINED]} BLEU with trained embeddings of 64 numbers, {bleu[FROZEN]} with random ones that are "
            f"never trained, {bleu[NARROW]} with 8 numbers and {bleu[WIDE]} with 256"
        )
        short = {FROZEN: "freezing random embeddings", NARROW: "narrowing them"}
        said = (
            f"costs quality: {listed([short[arm] for arm in worse])}" if worse else "costs no quality that can be told"
        )
        answer = f"What is done to the embeddings {said} ({figures})."
        details = [f"{one.first} against {TRAINED}: {told(one, ' BLEU')}." for one in compared]
        charts = [dot_chart(results, "embedding-bleu", "Quality by embedding", "BLEU", "BLEU")]
        if has_links:
            title = "Alignment error by embedding"
            charts.append(dot_chart(results, "embedding-aer", title, "AER", "alignment error, %"))
        table = quality_table(results, (("AER", 1),) if has_links else ())
        return Finding(answer, verdict, tuple(details), (table,), tuple(charts), tuple(compared), LIMITS)


LIMITS = (
    "Attention compares states of the encoder and decoder, which are made of embeddings by trained layers: those can "
    "make up for a random embedding, so that this is a measure of the whole model and not of the comparison alone.",
)

STUDY = EmbeddingStudy()
