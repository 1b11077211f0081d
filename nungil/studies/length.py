"""length: quality by the length of the sentence and by the place of the word, without and with attention."""

from collections.abc import Sequence

import numpy as np

from nungil.errors import CorpusError
from nungil.scoring.parts import QUARTERS, reference_quarters, source_quarters, token_places
from nungil.studies.arm import Arm, recurrent, transformer
from nungil.studies.examination import quality, translate
from nungil.studies.finding import Chart, Finding, Point, Series, Table, Verdict, chance, number, point, told
from nungil.studies.job import Tally, tally
from nungil.studies.lesson import Trained
from nungil.studies.material import Material, Sentence, given, snow
from nungil.studies.scale import Scale
from nungil.studies.statistics import Comparison, Quantity, Results, holm
from nungil.studies.study import Measured, Study

PLAIN, ATTENTION, TRANSFORMER = "plain seq2seq", "with attention", "Transformer"
GROUPS = ((3, 4), (5, 6), (7, 9), (10, 14), (15, 20))
TITLES = {"words": "Words found, %", "BLEU": "BLEU"}
PARTS = 4  # groups of a user's data, as many sentences in each
FOUND, OWN, WORDS = "found", "found of their own", "words"  # by place in the source, in the translation, and by length
LONG = "long"  # the sentences that places are counted in


class LengthStudy(Study):
    """The same recurrent network without and with attention, and a Transformer."""

    name = "length"
    method = (
        "A GRU encoder-decoder that reads from left to right, as in the posts, without attention and with it (the "
        "additive score), and a Transformer are trained on sentences of all lengths and tested on as many of each "
        "length. Counted are the words of the right translation that are found in the one that was made, and BLEU, "
        "which is near 0 for whatever has no four words in a row. Of the longer half, the words are sorted by the "
        "quarter of the source that they come from (by gold links; of other data by their own quarter)."
    )

    def scale(self, quick: bool) -> Scale:
        """How large it is."""
        if quick:
            return Scale(quick, pairs=12_000, lengths=(3, 20), tests=250, updates=1_200, sweep_updates=300)
        return Scale(quick, pairs=20_000, lengths=(3, 20), tests=500, updates=4_000, sweep_updates=800)

    def arms(self) -> tuple[Arm, ...]:
        """Without, with, and nothing but attention."""
        return (
            recurrent(PLAIN, decoder="plain", bidirectional=False),
            recurrent(ATTENTION, score={"name": "additive"}, bidirectional=False),  # of all scores the steadiest
            transformer(TRANSFORMER),
        )

    def material(self, scale: Scale, files: Sequence[str]) -> Material:
        """Pairs, the tests in groups of like length."""
        return _grouped(given(files, scale, "translate")) if files else snow(scale, groups=GROUPS)

    def measure(self, trained: Trained, material: Material) -> Measured:
        """BLEU by length, and words found by their place."""
        found = translate(trained, material)
        tallies = {**quality(found.texts, material), **_by_length(found.texts, material)}
        tallies |= _by_place(found.texts, material)
        return Measured(tallies, {"sentences per second": found.per_second})

    def answer(self, results: Results) -> Finding:
        """Does attention keep what is lost with length?"""
        groups = [name.removeprefix("BLEU/") for name in results.names("BLEU/")]
        fall: Quantity = {f"{WORDS}/{groups[0]}": 1.0, f"{WORDS}/{groups[-1]}": -1.0}
        place = FOUND if results.names(f"{FOUND}/") else OWN
        early: Quantity = {f"{place}/{QUARTERS[3]}": 1.0, f"{place}/{QUARTERS[0]}": -1.0}
        compared = holm(
            [
                *(results.compare(PLAIN, arm, fall, "fall with length") for arm in (ATTENTION, TRANSFORMER)),
                results.compare(ATTENTION, PLAIN, f"{WORDS}/{groups[-1]}", f"words found at {groups[-1]} words"),
                results.against(PLAIN, early, 0.0, "last less first quarter found"),
            ]
        )
        verdict = _verdict(compared)
        return Finding(
            _sentence(results, groups, compared[0]),
            verdict,
            _details(results, compared, place),
            (*(_length_table(results, groups, what) for what in (WORDS, "BLEU")), _place_table(results, place)),
            (*(_length_chart(results, groups, what) for what in (WORDS, "BLEU")), _place_chart(results, place)),
            tuple(compared),
            LIMITS,
        )


SIDE = {FOUND: "source", OWN: "translation"}
COME = {FOUND: "that come from", OWN: "that stand in"}
LIMITS = (
    "The models are small and trained for minutes: a plain network of a larger width, trained for days, holds longer "
    "sentences. A long sentence of snow is a list of short clauses.",
)


def _verdict(compared: Sequence[Comparison]) -> Verdict:
    falls, _, long_ones, early = compared
    repaired = falls.stands and falls.difference > 0 and long_ones.stands and long_ones.difference > 0
    lost_early = early.stands and early.difference > 0
    if repaired and lost_early:
        return "holds"
    if repaired or lost_early or (long_ones.stands and long_ones.difference > 0):
        return "holds in part"
    against = (falls.stands and falls.difference < 0) or (long_ones.stands and long_ones.difference < 0)
    return "does not hold" if against else "cannot be told"


def _sentence(results: Results, groups: Sequence[str], falls: Comparison) -> str:
    def way(arm: str) -> str:
        short, long = (results.estimate(arm, f"{WORDS}/{group}").mean for group in (groups[0], groups[-1]))
        return f"from {number(short)}% to {number(long)}%"

    words = f"from sentences of {groups[0]} words to those of {groups[-1]}"
    less = (
        "no difference in the fall can be told between the first two"
        if not falls.stands
        else f"with attention they fall {'less' if falls.difference > 0 else 'more'} than without"
    )
    return (
        f"The words that are found go {way(PLAIN)} without attention, {way(ATTENTION)} with it, and "
        f"{way(TRANSFORMER)} with a Transformer, {words}; {less}."
    )


def _details(results: Results, compared: Sequence[Comparison], place: str) -> tuple[str, ...]:
    falls, transformer_falls, long_ones, early = compared
    first, last = (results.estimate(PLAIN, f"{place}/{quarter}").mean for quarter in (QUARTERS[0], QUARTERS[3]))
    lost = (
        "early words are lost more"
        if early.stands and early.difference > 0
        else "it is the late words that are lost more"
        if early.stands
        else "no difference can be told between them"
    )
    return (
        f"Without attention they fall by so much more than with it: {told(falls, ' points')}; than a Transformer: "
        f"{told(transformer_falls, ' points')}.",
        f"On the longest sentences attention adds {told(long_ones, ' points')}.",
        f"Are early words lost? Of long sentences, the plain network finds {number(first)}% of the words {COME[place]} "
        f"the first quarter of the {SIDE[place]}, and {number(last)}% of those of the last, {chance(early.p)}: {lost}.",
    )


def _length_table(results: Results, groups: Sequence[str], what: str) -> Table:
    rows = []
    for arm in results.arms:
        found = [results.estimate(arm, f"{what}/{group}") for group in groups]
        rows.append((arm, *(f"{number(one.mean)} ±{number(one.seeds.high - one.mean)}" for one in found)))
    return Table(
        f"{TITLES[what]}, by words of the source", ("arm", *groups), tuple(rows), "± is the 95% interval over seeds."
    )


def _place_table(results: Results, place: str) -> Table:
    rows = []
    for arm in results.arms:
        found = [results.estimate(arm, f"{place}/{quarter}") for quarter in QUARTERS]
        rows.append((arm, *(f"{number(one.mean)} ±{number(one.seeds.high - one.mean)}" for one in found)))
    note = "Of the longer half of the sentences. ± is the 95% interval over seeds."
    return Table(f"Words found, %, by their quarter of the {SIDE[place]}", ("arm", *QUARTERS), tuple(rows), note)


def _length_chart(results: Results, groups: Sequence[str], what: str) -> Chart:
    series = tuple(
        Series(arm, tuple(point(group, results.estimate(arm, f"{what}/{group}")) for group in groups))
        for arm in results.arms
    )
    stem, up = f"length-{what.lower()}", TITLES[what]
    return Chart(stem, f"{up}, by length", "words of the source", up, series, note="Bars: 95% over seeds.")


def _place_chart(results: Results, place: str) -> Chart:
    def points(arm: str) -> tuple[Point, ...]:
        return tuple(point(quarter, results.estimate(arm, f"{place}/{quarter}")) for quarter in QUARTERS)

    series = tuple(Series(arm, points(arm)) for arm in results.arms)
    title, across = "Words of long sentences that are found, by their place", f"quarter of the {SIDE[place]}"
    return Chart("length-place", title, across, "words found, %", series, note="Bars: 95% over seeds.")


def _by_length(texts: Sequence[str], material: Material) -> dict[str, Tally]:
    """Of the sentences of each group: words that are found, and that there are."""
    right = [one.target for one in material.test]
    counts = token_places(right, texts, reference_quarters(right)).sum(axis=1)
    groups = dict.fromkeys(one.group for one in material.test)
    return {
        f"{WORDS}/{group}": tally(
            "share", [row for row, one in zip(counts.tolist(), material.test, strict=True) if one.group == group], group
        )
        for group in groups
    }


def _by_place(texts: Sequence[str], material: Material) -> dict[str, Tally]:
    """Of the sentences of the longer groups: words of each quarter that are found, and that there are."""
    groups = list(dict.fromkeys(one.group for one in material.test))
    long_ones = set(groups[len(groups) // 2 :])
    chosen = [place for place, one in enumerate(material.test) if one.group in long_ones]
    right = [material.test[place].target for place in chosen]
    if material.has_links:
        links, sources = zip(
            *((material.test[place].links, material.test[place].source) for place in chosen), strict=True
        )
        quarters = source_quarters(links, right, sources)
    else:
        quarters = reference_quarters(right)
    counts = token_places(right, [texts[place] for place in chosen], quarters)
    name = FOUND if material.has_links else OWN
    return {f"{name}/{one}": tally("share", counts[:, place].tolist(), LONG) for place, one in enumerate(QUARTERS)}


def _grouped(material: Material) -> Material:
    """A user's tests in groups of like length, as many in each."""
    lengths = np.array([len(one.source.split()) for one in material.test])
    cuts = np.unique(np.quantile(lengths, np.linspace(0, 1, PARTS + 1)).astype(int))
    ends = cuts[1:]
    named = {}
    for place, end in enumerate(ends):
        low = int(cuts[place]) if place == 0 else int(ends[place - 1]) + 1
        named[place] = f"{low}–{int(end)}"

    def grouped(one: Sentence, length: int) -> Sentence:
        return one._replace(group=named[int(np.searchsorted(ends, length))])

    test = [grouped(one, int(length)) for one, length in zip(material.test, lengths, strict=True)] if len(ends) else []
    if len({one.group for one in test}) < 2:
        raise CorpusError(
            f"{material.origin}: the test sentences have about as many words each, {int(lengths.max())} at most; "
            "nungil study length needs short ones and long ones"
        )
    ordered = sorted(test, key=lambda one: len(one.source.split()))
    return Material(**{**vars(material), "test": tuple(ordered)})


STUDY = LengthStudy()
