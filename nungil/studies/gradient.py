"""gradient: how much gradient reaches a source word, by its distance, without and with attention."""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from nungil.batches.batch import PairBatch
from nungil.model.build import Model
from nungil.model.classifier import AttentionClassifier
from nungil.model.recurrent import RecurrentTranslator
from nungil.scoring.alignment import parse_links
from nungil.studies.arm import Arm, recurrent, transformer
from nungil.studies.finding import Chart, Finding, Series, Table, Verdict, number, point, told
from nungil.studies.job import Tally, tally
from nungil.studies.lesson import Desk, Trained, build
from nungil.studies.material import Material, refuse_data, snow
from nungil.studies.scale import Scale
from nungil.studies.statistics import Comparison, Quantity, Results, holm
from nungil.studies.study import Measured, Study

ENDS = (8, 16, 24, 32)  # of the bins of distance
BINS = ("1–8", "9–16", "17–24", "25–32", "33 or more")
NEAR, FAR = BINS[0], BINS[-1]
ROWS = 16  # sentences whose gradients are computed together
LEAST = 1e-30  # what is exactly 0 has no logarithm
READABLE = 6  # powers of ten from which on nobody counts the digits
RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
WHEN = ("before", "after")
GROUPS = ((6, 12), (13, 20), (21, 30))


def fall(when: str) -> Quantity:
    """Powers of ten from the nearest words to the farthest."""
    return {f"{when}/{NEAR}": 1.0, f"{when}/{FAR}": -1.0}


class GradientStudy(Study):
    """Plain and attending networks of two kinds of cells, and a Transformer."""

    name = "gradient"
    method = (
        "For a target word and the source word that it is linked to by gold, the length of the gradient of the target "
        "word's log-probability with respect to the source word's embedding is taken. Distance is the number of "
        "recurrent steps between the two: from the source word to the end of the source, and on to the target word. It "
        "is counted alike for models that have a shorter way. The mean of log₁₀ of these lengths is compared, before "
        "training and after it."
    )

    def scale(self, quick: bool) -> Scale:
        """How large it is."""
        if quick:
            return Scale(quick, pairs=6_000, lengths=(3, 30), tests=48, updates=300, sweep_updates=100, batch=768)
        return Scale(quick, pairs=12_000, lengths=(3, 30), tests=120, updates=900, sweep_updates=250, batch=768)

    def arms(self) -> tuple[Arm, ...]:
        """Without and with attention; cells without and with gates."""
        one_way = {"bidirectional": False}
        return (
            *(recurrent(f"plain {cell.upper()}", cell=cell, decoder="plain", **one_way) for cell in ("rnn", "lstm")),
            *(
                recurrent(f"attending {cell.upper()}", cell=cell, score={"name": "general"}, **one_way)
                for cell in ("rnn", "lstm")
            ),
            transformer("Transformer"),
        )

    def material(self, scale: Scale, files: Sequence[str]) -> Material:
        """Snow, whose links are known."""
        refuse_data(self.name, files, "gold word links")
        return snow(scale, groups=GROUPS)

    def measure(self, trained: Trained, material: Material) -> Measured:
        """Of the model as it was drawn, and as it is now."""
        fresh = build(trained.arm, material, trained.seed)
        fresh.eval()
        tallies: dict[str, Tally] = {}
        for when, model in zip(WHEN, (fresh, trained.model), strict=True):
            tallies |= {f"{when}/{name}": found for name, found in by_distance(model, material).items()}
        return Measured(tallies, {})

    def answer(self, results: Results) -> Finding:
        """Does it fall less with attention?"""
        compared = holm(
            [
                results.compare(f"plain {cell}", f"attending {cell}", fall(when), f"fall, {when} training")
                for when in WHEN
                for cell in ("RNN", "LSTM")
            ]
        )
        less = [one for one in compared if one.stands and one.difference > 0]
        more = [one for one in compared if one.stands and one.difference < 0]
        verdict: Verdict = "cannot be told"
        if less:
            verdict = "holds" if len(less) == len(compared) else "holds in part"
        elif more:
            verdict = "does not hold"
        falls = {arm: results.estimate(arm, fall("after")).mean for arm in results.arms}
        figures = ", ".join(f"{arm} {times(value)}" for arm, value in falls.items())
        answer = (
            f"After training, the gradient at source words {FAR} steps away is smaller than at those {NEAR} steps "
            f"away: {figures}; attention makes it fall less in {len(less)} of {len(compared)} comparisons."
        )
        before = {arm: results.estimate(arm, fall("before")).mean for arm in results.arms}
        details = (
            f"Before training: {', '.join(f'{arm} {times(value)}' for arm, value in before.items())}.",
            *(f"{_named(one)}: {told(one, ' powers of ten', 2)}." for one in compared),
        )
        charts = tuple(_chart(results, when) for when in WHEN)
        tables = tuple(_table(results, when) for when in WHEN)
        return Finding(answer, verdict, details, tables, charts, tuple(compared), LIMITS)


LIMITS = (
    "A gradient that is not small need not be of use, and a trained model that knows the answer has a small one "
    "everywhere. Only words that are linked are counted. A length below 10⁻³⁰ is counted as that, so what falls to it "
    "falls by at least so much.",
)


def by_distance(model: Model, material: Material) -> dict[str, Tally]:
    """Of each test sentence and bin: the sum of log₁₀ of gradient lengths, and how many there are."""
    desk = Desk(material, material.test)
    counts = np.zeros((len(material.test), len(BINS), 2))
    for first in range(0, len(material.test), ROWS):
        rows = range(first, min(first + ROWS, len(material.test)))
        batch = desk.batch(rows)
        if not isinstance(batch, PairBatch):
            raise TypeError("gradients are of pairs")
        for target, lengths in gradients(model, batch):
            for row in rows:
                for source, distance in _linked(material, row, target, int(batch.source_keep[row - first].sum())):
                    place = int(np.searchsorted(ENDS, distance))
                    counts[row, place] += np.log10(max(LEAST, float(lengths[row - first, source]))), 1
    return {name: tally("mean", counts[:, place].tolist()) for place, name in enumerate(BINS)}


def gradients(model: Model, batch: PairBatch) -> Iterator[tuple[int, Tensor]]:
    """For each target step: the length of the gradient of its log-probability at every source token, (B, S)."""
    if isinstance(model, AttentionClassifier):
        raise TypeError("gradients are of translators")
    vectors = model.source_embedding(batch.source).detach().requires_grad_()
    encoded = model.encoder(vectors, batch.source_keep)
    if isinstance(model, RecurrentTranslator):
        decoded = model.decode(batch.target_in, model.begin(encoded))
    else:
        decoded = model.decode(batch.target_in, model.begin(encoded))
    log_probs = model.logits(decoded.features).log_softmax(dim=-1)
    chosen = log_probs.gather(-1, batch.target_out[..., None])[..., 0] * batch.target_keep
    for step in range(chosen.shape[1]):
        (found,) = torch.autograd.grad(chosen[:, step].sum(), vectors, retain_graph=True)
        yield step, found.norm(dim=-1)


def _linked(material: Material, row: int, target: int, tokens: int) -> list[tuple[int, int]]:
    """The source tokens that a target word is linked to, `<sos>` counted, and how many recurrent steps lie between."""
    sure = parse_links(material.test[row].links).sure
    return [(source + 1, tokens - (source + 1) + target) for source, other in sure if other == target]


def times(powers: float) -> str:
    """`12 times`, or `10²² times`; what grows is a share of one time."""
    if powers >= READABLE:
        return f"10{str(round(powers)).translate(RAISED)} times"
    return f"{number(10**powers, 0 if powers >= 1 else 1)} times"


def _named(one: Comparison) -> str:
    return f"{one.what}, {one.first} less {one.second}"


def _table(results: Results, when: str) -> Table:
    rows = []
    for arm in results.arms:
        found = [results.estimate(arm, f"{when}/{name}") for name in BINS]
        rows.append((arm, *(f"{number(one.mean, 2)} ±{number(one.seeds.high - one.mean, 2)}" for one in found)))
    title = f"log₁₀ of the gradient's length by distance, {when} training"
    return Table(title, ("arm", *BINS), tuple(rows), "± is the 95% interval over seeds.")


def _chart(results: Results, when: str) -> Chart:
    series = tuple(
        Series(arm, tuple(point(name, results.estimate(arm, f"{when}/{name}")) for name in BINS))
        for arm in results.arms
    )
    title = f"Gradient at the linked source word, {when} training"
    across, up = "recurrent steps between source word and target word", "log₁₀ of its length"
    return Chart(f"gradient-{when}", title, across, up, series, note="Bars: 95% over seeds.")


STUDY = GradientStudy()
