"""homonyms: are words that are written alike told apart, by model and by distance of the word that settles it?"""

from collections.abc import Sequence

from nungil.studies.arm import Arm, recurrent, transformer
from nungil.studies.common import dot_chart, listed
from nungil.studies.examination import quality, translate
from nungil.studies.finding import CELLS, Chart, Finding, Series, Table, Verdict, cells, number, point, told
from nungil.studies.job import tally
from nungil.studies.lesson import Trained
from nungil.studies.material import Material, Sentence, refuse_data, snow_homonyms
from nungil.studies.scale import Scale
from nungil.studies.statistics import Results, holm
from nungil.studies.study import Measured, Study

PLAIN, ATTENTION, TRANSFORMER = "plain seq2seq", "with attention", "Transformer"
RIGHT, GUESS, FAR = "right sense", "right by guessing the commonest", 3


class HomonymStudy(Study):
    """Translation from Korean: 눈 is to become snow or an eye."""

    name = "homonyms"
    method = (
        "Models translate from Korean to English. Every test sentence has one homonym whose sense a word in it "
        "settles; it is right if the English has the word for that sense and none for another. The guess takes for "
        "every homonym the sense that is commonest in training. Distance is counted in Korean words from the homonym "
        "to the nearest word that settles it."
    )

    def scale(self, quick: bool) -> Scale:
        """How large it is."""
        if quick:
            return Scale(quick, pairs=10_000, lengths=(3, 10), tests=300, updates=1_200, sweep_updates=300)
        return Scale(quick, pairs=20_000, lengths=(3, 12), tests=600, updates=2_400, sweep_updates=700)

    def arms(self) -> tuple[Arm, ...]:
        """Without attention, with it, and with self-attention."""
        return (
            recurrent(PLAIN, decoder="plain"),
            recurrent(ATTENTION, score={"name": "general"}),
            transformer(TRANSFORMER),
        )

    def material(self, scale: Scale, files: Sequence[str]) -> Material:
        """Snow, whose senses are known."""
        refuse_data(self.name, files, "sentences whose senses are known")
        return snow_homonyms(scale)

    def measure(self, trained: Trained, material: Material) -> Measured:
        """Right or wrong, by distance."""
        found = translate(trained, material)
        tallies = quality(found.texts, material)
        rows = [(int(is_right(text, one)), 1) for text, one in zip(found.texts, material.test, strict=True)]
        groups = [_group(one) for one in material.test]
        for group in sorted(set(groups)):
            chosen = [row for row, other in zip(rows, groups, strict=True) if other == group]
            tallies[f"{RIGHT}/{group}"] = tally("share", chosen, group)
        guesses = [(int(one.homonym is not None and one.homonym.common), 1) for one in material.test]
        return Measured({**tallies, RIGHT: tally("share", rows), GUESS: tally("share", guesses)}, {})

    def answer(self, results: Results) -> Finding:
        """Better than the guess, and is the Transformer better than the others?"""
        over = [
            results.against(arm, {RIGHT: 1.0, GUESS: -1.0}, 0.0, "right sense", "the guess") for arm in results.arms
        ]
        apart = [results.compare(TRANSFORMER, arm, RIGHT, "right sense") for arm in (PLAIN, ATTENTION)]
        compared = holm([*over, *apart])
        above = [one.first for one in compared[: len(over)] if one.stands and one.difference > 0]
        under = [one.first for one in compared[: len(over)] if one.stands and one.difference < 0]
        verdict: Verdict = (
            "holds" if TRANSFORMER in above else "does not hold" if TRANSFORMER in under else "cannot be told"
        )
        right = {arm: results.estimate(arm, RIGHT) for arm in results.arms}
        guess = results.estimate(results.arms[0], GUESS).mean
        figures = ", ".join(f"{arm} {number(right[arm].mean)}%" for arm in results.arms)
        better = "homonyms apart better than a guess does"
        told_of = (
            f"{len(above)} of {len(results.arms)} models tell {better} ({listed(above)})"
            if above
            else f"Of no model it can be said that it tells {better}"
        )
        answer = f"{told_of}: right sense {figures}, against {number(guess)}% by guessing the commonest sense."
        names = [name.removeprefix(f"{RIGHT}/") for name in results.names(f"{RIGHT}/")]
        details = tuple(f"{TRANSFORMER} against {one.second}: {told(one, ' points')}." for one in compared[len(over) :])
        charts = (
            _by_distance(results, names),
            dot_chart(results, "homonyms-right", "Homonyms in their right sense", RIGHT, "right sense, %"),
        )
        return Finding(answer, verdict, details, _tables(results, names), charts, tuple(compared), LIMITS)


LIMITS = (
    "A model that has not learned the word at all is counted as wrong, too, so that a young model can be below the "
    "guess, which knows every word. The deciding word is in the same clause; distances are small.",
)


def is_right(text: str, one: Sentence) -> bool:
    """The word for the right sense is there, and none for another."""
    if one.homonym is None:
        return False
    words = {word.strip(",").lower() for word in text.split()}
    return one.homonym.right in words and not words & one.homonym.rivals


def _group(one: Sentence) -> str:
    distance = 0 if one.homonym is None else one.homonym.distance
    return str(distance) if distance < FAR else f"{FAR} or more"


def _by_distance(results: Results, names: Sequence[str]) -> Chart:
    series = tuple(
        Series(arm, tuple(point(name, results.estimate(arm, f"{RIGHT}/{name}")) for name in names))
        for arm in results.arms
    )
    title = "Homonyms in their right sense, by distance of the deciding word"
    across = "Korean words to the word that settles it"
    return Chart("homonyms-distance", title, across, "right sense, %", series, note="Bars: 95% over seeds.")


def _tables(results: Results, names: Sequence[str]) -> tuple[Table, ...]:
    rows = []
    for arm in results.arms:
        parts = (number(results.estimate(arm, f"{RIGHT}/{name}").mean) for name in names)
        rows.append((arm, *cells(results.estimate(arm, RIGHT)), *parts, number(results.estimate(arm, "BLEU").mean)))
    head = ("arm", "right, %", *CELLS[1:], *(f"at distance {name}" for name in names), "BLEU")
    return (Table("Right senses", head, tuple(rows)),)


STUDY = HomonymStudy()
