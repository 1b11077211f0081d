"""BLEU, chrF and TER as counts of each sentence: parts and resamples of a corpus are scored from their sums.

Sizes   N sentences   K counts of a sentence   R sums, each over some sentences
"""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from string import punctuation
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nungil.errors import UsageError
from nungil.scoring.sides import check_sides, check_some
from nungil.scoring.translation import HIGHEST, bleu_tokenizer, primary_tag, too_short_for_bleu

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

Array = NDArray[np.float64]
Formula = Callable[[Array], Array]
Tokenizer = Literal["13a", "intl", "zh", "char", "none", "ko-mecab", "ja-mecab"]

CHARACTERS, WORDS = 6, 2  # the longest n-grams of chrF, and of chrF++ (Popović, 2017)
RECALL = 4  # β² of chrF: recall counts twice as much as precision
SPACED_BY_IDEOGRAPH = frozenset({"zh", "zho", "chi", "cmn", "yue", "ja", "jpn"})


class Way(NamedTuple):
    """How translations are scored; defaults depend on the target language."""

    language: str = ""
    lowercase: bool = False
    tokenizer: Tokenizer | None = None
    ter: bool = True


class Measure(NamedTuple):
    """One measure of one system's translations."""

    title: str
    signature: str
    counts: Array  # (N, K)
    formula: Formula  # (R, K) sums to (R,) scores
    lower_is_better: bool = False

    def score(self, rows: NDArray[np.bool_] | None = None) -> float:
        """The score of the whole corpus, or of the sentences where `rows` is true."""
        chosen = self.counts if rows is None else self.counts[rows]
        return float(self.formula(chosen.sum(axis=0, keepdims=True))[0])


def measure(hypotheses: Sequence[str], references: Sequence[str], way: Way | None = None) -> dict[str, Measure]:
    """All measures by name, the primary one first.

    That is BLEU; for Korean it is chrF++, with BLEU both over words, where a wrong particle costs the whole word, and
    over characters.
    """
    way = way or Way()
    check_sides("hypotheses", hypotheses, "references", references)
    check_some("hypotheses", hypotheses)
    korean = primary_tag(way.language) in ("ko", "kor")
    bleu = {"bleu": _bleu("BLEU", hypotheses, references, way.tokenizer or bleu_tokenizer(way.language), way.lowercase)}
    if korean and way.tokenizer is None:
        bleu["bleu-char"] = _bleu("BLEU of characters", hypotheses, references, "char", way.lowercase)
    chrf = _chrf(hypotheses, references, way.lowercase)
    ter = {"ter": _ter(hypotheses, references, way.language)} if way.ter else {}
    characters_first = korean or too_short_for_bleu(references, way.language)
    return {**chrf, **bleu, **ter} if characters_first else {**bleu, **chrf, **ter}


def bleu_metric(tokenizer: str, lowercase: bool) -> "BLEU":
    """sacreBLEU's BLEU. Sentence by sentence only its counts are used, so `effective_order` has no effect."""
    from sacrebleu.metrics.bleu import BLEU

    try:
        return BLEU(tokenize=tokenizer, lowercase=lowercase, force=True)
    except RuntimeError:  # sacreBLEU's error without MeCab
        extra = tokenizer.partition("-")[0]
        raise UsageError(
            f"--tokenize {tokenizer} needs a package that is not installed: pip install 'sacrebleu[{extra}]'"
        ) from None


def _bleu(title: str, hypotheses: Sequence[str], references: Sequence[str], tokenizer: str, lowercase: bool) -> Measure:
    from sacrebleu.metrics.bleu import BLEU

    told = bleu_metric(tokenizer, lowercase)
    counting = BLEU(tokenize=tokenizer, lowercase=lowercase, force=True, effective_order=True)
    rows = []
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        found = counting.sentence_score(hypothesis, [reference])
        rows.append([found.sys_len, found.ref_len, *found.counts, *found.totals])
    told.corpus_score(hypotheses[:1], [references[:1]])  # a signature includes the number of references
    return Measure(title, str(told.get_signature()), np.array(rows, dtype=np.float64), bleu_of)


def bleu_of(sums: Array) -> Array:
    """Papineni et al. (2002), with sacreBLEU's exponential smoothing: the k-th order without a match counts 1/2^k.

    The counts are the lengths of hypothesis and reference, matches of 1 to 4 tokens in a row, and how many there were.
    """
    length, wanted, matches, totals = sums[:, 0], sums[:, 1], sums[:, 2:6], sums[:, 6:10]
    missing = (matches == 0) & (totals > 0)
    smoothed = np.where(missing, 0.5 ** np.cumsum(missing, axis=1), matches)
    possible = np.any(matches > 0, axis=1) & np.all(totals > 0, axis=1)
    logs = np.log(np.where(possible[:, None], smoothed, 1) / np.where(possible[:, None], totals, 1))
    brevity = np.exp(np.minimum(0, 1 - wanted / np.maximum(length, 1)))
    scores: Array = np.where(possible, HIGHEST * brevity * np.exp(logs.mean(axis=1)), 0)
    return np.minimum(scores, HIGHEST)


def _chrf(hypotheses: Sequence[str], references: Sequence[str], lowercase: bool) -> dict[str, Measure]:
    from sacrebleu.metrics.chrf import CHRF

    rows = []
    for pair in zip(hypotheses, references, strict=True):
        hypothesis, reference = (text.lower() for text in pair) if lowercase else pair
        grams = zip(_grams(hypothesis), _grams(reference), strict=True)
        rows.append([count for ours, theirs in grams for count in _overlap(ours, theirs)])
    counts = np.array(rows, dtype=np.float64)
    found = {}
    for name, title, words in (("chrf++", "chrF++", WORDS), ("chrf", "chrF", 0)):
        told = CHRF(word_order=words, lowercase=lowercase)
        told.corpus_score(hypotheses[:1], [references[:1]])
        signature = str(told.get_signature())
        found[name] = Measure(title, signature, counts[:, : 3 * (CHARACTERS + words)], chrf_of)
    return found


def chrf_of(sums: Array) -> Array:
    """Popović (2015, 2017): the F2 of mean precision and recall, over the orders that both sides have."""
    ours, theirs, both = sums[:, 0::3], sums[:, 1::3], sums[:, 2::3]
    used = (ours > 0) & (theirs > 0)
    orders = np.maximum(used.sum(axis=1), 1)
    precision = np.where(used, both / np.maximum(ours, 1), 0).sum(axis=1) / orders
    recall = np.where(used, both / np.maximum(theirs, 1), 0).sum(axis=1) / orders
    weighed = RECALL * precision + recall
    scores: Array = np.divide((1 + RECALL) * precision * recall, weighed, out=np.zeros(len(sums)), where=weighed > 0)
    return np.minimum(HIGHEST * scores, HIGHEST)


def _grams(text: str) -> list[Counter[str]]:
    """Runs of 1 to 6 characters, without spaces, and of 1 and 2 words."""
    letters = "".join(text.split())
    characters = [
        Counter(letters[start : start + size] for start in range(len(letters) - size + 1))
        for size in range(1, CHARACTERS + 1)
    ]
    words = [part for word in text.split() for part in _without_mark(word)]
    return [*characters, Counter(words), Counter(map(" ".join, pairwise(words)))]


def _without_mark(word: str) -> tuple[str, ...]:
    """A punctuation mark at the end, or else at the beginning, is a word of its own."""
    if len(word) > 1 and word[-1] in punctuation:
        return word[:-1], word[-1]
    if len(word) > 1 and word[0] in punctuation:
        return word[0], word[1:]
    return (word,)


def _overlap(ours: Counter[str], theirs: Counter[str]) -> tuple[int, int, int]:
    """How many each side has, and both; without any in the reference, those of the hypothesis do not count."""
    both = sum(min(count, theirs[gram]) for gram, count in ours.items() if gram in theirs)
    return (ours.total() if theirs else 0), theirs.total(), both


def _ter(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Measure:
    """As sacreBLEU counts it by default, whatever the case of letters; Chinese and Japanese by the ideograph."""
    from sacrebleu.metrics.ter import TER

    ideographs = primary_tag(language) in SPACED_BY_IDEOGRAPH
    metric = TER(normalized=ideographs, asian_support=ideographs)
    found = [metric.sentence_score(ours, [theirs]) for ours, theirs in zip(hypotheses, references, strict=True)]
    counts = np.array([[one.num_edits, one.ref_length] for one in found], dtype=np.float64)
    return Measure("TER", str(metric.get_signature()), counts, ter_of, lower_is_better=True)


def ter_of(sums: Array) -> Array:
    """Snover et al. (2006): edits for each word of the reference; of empty references any edit is a fault in full."""
    edits, wanted = sums[:, 0], sums[:, 1]
    scores: Array = np.where(wanted > 0, HIGHEST * edits / np.maximum(wanted, 1), np.where(edits > 0, HIGHEST, 0))
    return scores
