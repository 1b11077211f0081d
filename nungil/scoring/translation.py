"""Translations against references: corpus BLEU and chrF, with the signatures that make them comparable."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from nungil.scoring.sides import check_sides, check_some

# Only tokenizers that sacreBLEU brings with it: no extra package, no download, so scores are the same on every machine.
# Languages written without spaces are split into characters; 13a would see a sentence as one word.
TOKENIZERS = {
    **dict.fromkeys(("zh", "zho", "chi", "cmn", "yue"), "zh"),
    **dict.fromkeys(("ja", "jpn", "th", "tha", "lo", "lao", "km", "khm", "my", "mya", "bo", "bod"), "char"),
}
USUAL = "13a"
HIGHEST = 100.0
RUN = 4  # most words in a row that BLEU counts
ENOUGH, RARE = 10, 10  # least number of texts to judge by, and the share (one in so many) that must have a run


class TranslationScores(NamedTuple):
    """Corpus BLEU and chrF, 0 to 100, each with the signature to print beside it."""

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str


def bleu_tokenizer(language: str) -> str:
    """The sacreBLEU tokenizer for a target language (`ko`, `zh-Hans`, `ja_JP`; empty where it is not known).

    Korean, which has spaces, gets 13a like English. sacreBLEU recommends ko-mecab, and for Japanese ja-mecab, which
    need further packages; they are not used even if installed, because scores must not depend on the machine. BLEU then
    counts whole Korean words, where a wrong particle costs the word; so read chrF, which counts characters, as well.
    """
    return TOKENIZERS.get(primary_tag(language), USUAL)


def primary_tag(language: str) -> str:
    """The language of a tag without its country or script: `ko` of `ko-KR`."""
    return re.split("[-_]", language.strip().lower())[0]


def score_translations(
    hypotheses: Sequence[str], references: Sequence[str], language: str = "", lowercase: bool = False
) -> TranslationScores:
    """Score plain, detokenized translations against one reference each; `language` is that of the target.

    BLEU (Papineni et al., 2002) is of the whole corpus, and 0 if no text has four tokens, even if all is right. chrF
    (Popović, 2015) is over characters only, not chrF++.
    """
    check_sides("hypotheses", hypotheses, "references", references)
    check_some("hypotheses", hypotheses)
    from sacrebleu.metrics.bleu import BLEU  # sacreBLEU takes a tenth of a second to import
    from sacrebleu.metrics.chrf import CHRF

    # `force` only silences advice about sacreBLEU's options.
    bleu = BLEU(tokenize=bleu_tokenizer(language), lowercase=lowercase, force=True)
    chrf = CHRF(lowercase=lowercase)
    bleu_score = bleu.corpus_score(hypotheses, [references]).score
    chrf_score = chrf.corpus_score(hypotheses, [references]).score
    return TranslationScores(
        min(bleu_score, HIGHEST),  # a perfect BLEU comes out of exp and log as 100.00000000000004
        min(chrf_score, HIGHEST),
        str(bleu.get_signature()),
        str(chrf.get_signature()),
    )


def too_short_for_bleu(references: Sequence[str], language: str) -> bool:
    """Whether hardly any text has four words: BLEU is then 0, however good translations are.

    Menus of programs are such texts. Where words are written without spaces, characters are counted.
    """
    if bleu_tokenizer(language) != USUAL or len(references) < ENOUGH:
        return False
    return RARE * sum(len(text.split()) >= RUN for text in references) < len(references)
