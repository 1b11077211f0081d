"""Made-up runs of studies, whose answer is known before it is asked for."""

from nungil.studies.job import Job, Record, tally

SENTENCES = 12
TOKENS = 20


def bleu(score, sentences=SENTENCES, spread=0.0):
    """Counts of sentences that together have this BLEU; with a spread, some are better than others."""
    rows = []
    for number in range(sentences):
        share = score / 100 + (spread / 100 if number % 2 else -spread / 100)
        found = TOKENS * share
        rows.append([TOKENS, TOKENS, *[found] * 4, *[TOKENS] * 4])
    return tally("bleu", rows)


def share(percent, sentences=SENTENCES):
    return tally("share", [(percent / 100 * TOKENS, TOKENS)] * sentences)


def aer(percent, sentences=SENTENCES):
    return tally("aer", [((100 - percent) / 10, (100 - percent) / 10, 10, 10)] * sentences)


def runs(arm, seeds=5, tallies=None, figures=None, **about):
    """A run for each seed. A function of the seed makes what is counted; figures are numbers or functions too."""
    return [
        Record(
            job=Job(arm=arm, seed=seed, rate=0.01),
            tallies={name: make(seed) for name, make in (tallies or {}).items()},
            figures={name: make(seed) if callable(make) else make for name, make in (figures or {}).items()},
            **about,
        )
        for seed in range(1, seeds + 1)
    ]


def around(make, value, step=0.5):
    """A maker whose seeds differ a little: the mean of five is the value."""
    return lambda seed: make(value + step * (seed - 3))
