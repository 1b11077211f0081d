"""Languages told from the name of a column or a file ending: `en`, `ko_krv`, `translation.de`, `Korean`."""

import re
from difflib import get_close_matches
from typing import NamedTuple

from nungil.errors import UsageError

# ISO 639-1, and the three-letter codes that corpora use. `id` is left out: a column of that name holds numbers.
_CODES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de "
    "dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia ie "
    "ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv "
    "mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm "
    "rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts "
    "tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu eng kor deu ger fra fre spa ita jpn zho chi "
    "cmn rus por nld pol tur ara vie tha ind ukr ces swe fin dan nor ell heb hin ron hun kat kaz uzb mon kau"
)
# Countries that people name where their language is meant. None is a language too, but for kr: Kanuri, which is kau.
COUNTRIES = {"kr": "ko", "jp": "ja", "cn": "zh", "ua": "uk", "cz": "cs", "dk": "da", "vn": "vi", "gr": "el"}
# Languages whose tags are countries too, and are written in the same letters as the language of that country.
MISTAKEN = {"se": "Northern Sami; Swedish is sv", "ee": "Ewe; Estonian is et"}
CODES = frozenset({*_CODES.split(), *COUNTRIES})
NAMES = {
    "english": "en",
    "korean": "ko",
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "japanese": "ja",
    "chinese": "zh",
    "russian": "ru",
    "portuguese": "pt",
    "dutch": "nl",
    "polish": "pl",
    "turkish": "tr",
    "arabic": "ar",
    "vietnamese": "vi",
    "thai": "th",
    "indonesian": "id",
    "ukrainian": "uk",
    "czech": "cs",
    "swedish": "sv",
    "finnish": "fi",
    "danish": "da",
    "norwegian": "no",
    "greek": "el",
    "hebrew": "he",
    "hindi": "hi",
    "romanian": "ro",
    "hungarian": "hu",
    "영어": "en",
    "한국어": "ko",
}
# The tags of the three-letter codes above. kau keeps its own: that of ISO 639-1 is read as Korea's.
_SHORT = (
    "eng:en kor:ko deu:de ger:de fra:fr fre:fr spa:es ita:it jpn:ja zho:zh chi:zh cmn:zh rus:ru por:pt nld:nl pol:pl "
    "tur:tr ara:ar vie:vi tha:th ind:id ukr:uk ces:cs swe:sv fin:fi dan:da nor:no ell:el heb:he hin:hi ron:ro hun:hu "
    "kat:ka kaz:kk uzb:uz mon:mn"
)
SHORT = dict(entry.split(":") for entry in _SHORT.split()) | COUNTRIES
# English words too: `is_positive` and `no_of_words` are no languages.
WORDS = frozenset({"am", "as", "he", "is", "it", "my", "no", "or", "so", "to"})
IN_BRACKETS = re.compile(r"(.+?)\s*[(\[]\s*([^()\[\]]+?)\s*[)\]]")  # `Source (EN)`, `English [US]`
TAG = re.compile(r"([a-z]{2,3})(?:[_-][\w-]+)?")
SUBTAGS = re.compile(r"[-_@.]")
ENDINGS = (".gz", ".txt", ".tsv")  # of files that may follow the ending that names a language


class Languages(NamedTuple):
    """The tags of both sides, `en` and `ko`; empty where a language is not known."""

    source: str
    target: str


def language_of(name: str) -> str:
    """The language that a name begins with, or nothing when it is no name of a language."""
    bracketed = IN_BRACKETS.fullmatch(name.strip())
    if bracketed is not None:
        inner = "" if bracketed[2].lower() in WORDS else bracketed[2]
        return language_of(bracketed[1]) or language_of(inner)
    last = name.strip().lower().rpartition(".")[2]
    if last in NAMES:
        return NAMES[last]
    found = TAG.fullmatch(last)
    if found is None or found[1] not in CODES or (found[1] in WORDS and found[1] != last):
        return ""
    return found[1]


def tag_of(name: str) -> str:
    """The tag of the language that a column or a file is named after: `ko` for ko_krv, kor and data/train.ko.gz."""
    found = _code_of(name)
    return SHORT.get(found, found)


def _code_of(name: str) -> str:
    """The same as it is spelled: `kor`."""
    name = name.replace("\\", "/").rpartition("/")[2]
    for ending in ENDINGS:
        name = name.removesuffix(ending)
    return language_of(name)


def remark_on(name: str) -> str:
    """What to say of a column or a file whose name may not mean what it says; mostly nothing."""
    found = _code_of(name)
    if found in COUNTRIES:
        return f"{found} is a country; its language, {COUNTRIES[found]}, is taken to be meant."
    return f"{found} is {MISTAKEN[found]}." if found in MISTAKEN else ""


def primary_of(tag: str) -> str:
    """The language of a tag without country, script or variant: `en` of en-US, eng and English; `pt` of pt_BR@latin."""
    first = SUBTAGS.split(tag.strip().lower(), maxsplit=1)[0]
    return NAMES.get(first) or SHORT.get(first, first)


def declared_tag(declared: str) -> str:
    """The tag of a language that a file declares: `it` of it-IT, `id` of id; nothing where it is no known language.

    Unlike the name of a column it is never an English word, nor does `id` mean that numbers follow.
    """
    primary = primary_of(declared)
    return primary if primary in CODES or primary == "id" else ""


def read_tag(given: str) -> str:
    """The tag that a user means by `ko`, `KO`, `ko-KR`, `kor` or `Korean`."""
    word = given.strip().lower()
    found = declared_tag(word) if "." not in word else ""
    if found:
        return found
    close = get_close_matches(word, [*NAMES, *sorted(CODES)], n=1, cutoff=0.6)
    hint = f"did you mean {close[0]}?" if close else "give a tag such as en, ko or de"
    raise UsageError(f"there is no language {given!r}; {hint}")
