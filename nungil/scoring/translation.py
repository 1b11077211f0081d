"""Translations against references: corpus BLEU and chrF, with the signatures that make them comparable."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from nungil.scoring.sides import check_sides, check_some

# Only tokenizers that sacreBLEU brings with it: no extra package, no download, so a score is the same on every machine.
# Languages written without spaces are split into characters; 13a would take a whole sentence for one word.
TOKENIZERS = {
    **dict.fromkeys(("zh", "zho", "chi", "cmn", "yue"), "zh"),
    **dict.fromkeys(("ja", "jpn", "th", "tha", "lo", "lao", "km", "khm", "my", "mya", "bo", "bod"), "char"),
}
USUAL = "13a"
HIGHEST = 100.0
RUN = 4  # words in a row that BLEU counts, at most
ENOUGH, RARE = 10, 10  # of so many texts or more, one in so many has them: else BLEU has nothing to count


class TranslationScores(NamedTuple):
    """Corpus BLEU and chrF, 0 to 100, each with the signature to print beside it."""

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str


def bleu_tokenizer(language: str) -> str:
    """The sacreBLEU tokenizer for a target language (`ko`, `zh-Hans`, `ja_JP`; empty where it is not known).

    Korean gets 13a as English does: it writes spaces. sacreBLEU would rather have ko-mecab, which needs two packages
    more, and Japanese ja-mecab. Neither is taken even where it is installed: a score must not depend on the machine.
    BLEU then counts whole Korean words, and a wrong particle costs the word; so read chrF, which sees characters,
    beside it.
    """
    return TOKENIZERS.get(primary_tag(language), USUAL)


def primary_tag(language: str) -> str:
    """The language of a tag without its country or script: `ko` of `ko-KR`."""
    return re.split("[-_]", language.strip().lower())[0]


def score_translations(
    hypotheses: Sequence[str], references: Sequence[str], language: str = "", lowercase: bool = False
) -> TranslationScores:
    """Score plain, detokenized translations against one reference each; `language` is that of the target.

    BLEU (Papineni et al., 2002) is of the whole corpus: without any four tokens in a row it is 0, even where all
    is right. chrF (Popović, 2015) is that of characters only, not chrF++.
    """
    check_sides("hypotheses", hypotheses, "references", references)
    check_some("hypotheses", hypotheses)
    from sacrebleu.metrics.bleu import BLEU  # here, since sacreBLEU takes a tenth of a second
    from sacrebleu.metrics.chrf import CHRF

    # `force` silences advice to use options that are sacreBLEU's, not ours; it changes no number.
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
    """Whether hardly any text has four words in a row, which BLEU counts: it is 0 then, however good they are.

    The words of a program's menus are such texts. Where words are written without spaces, characters are counted.
    """
    if bleu_tokenizer(language) != USUAL or len(references) < ENOUGH:
        return False
    return RARE * sum(len(text.split()) >= RUN for text in references) < len(references)
