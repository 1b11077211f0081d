"""Languages told from the name of a column or a file ending: `en`, `ko_krv`, `translation.de`, `Korean`."""

import re

# ISO 639-1, and the three-letter codes that corpora use. `id` is left out: a column of that name holds numbers.
_CODES = (
    "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de "
    "dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia ie "
    "ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv "
    "mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm "
    "rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts "
    "tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu eng kor deu ger fra fre spa ita jpn zho chi "
    "cmn rus por nld pol tur ara vie tha ind ukr ces swe fin dan nor ell heb hin ron hun kat kaz uzb mon"
)
CODES = frozenset(_CODES.split())
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
    "영어": "en",
    "한국어": "ko",
}
# English words too: `is_positive` and `no_of_words` are no languages.
WORDS = frozenset({"am", "as", "he", "is", "it", "my", "no", "or", "so", "to"})
TAG = re.compile(r"([a-z]{2,3})(?:[_-][\w-]+)?")


def language_of(name: str) -> str:
    """The language that a name begins with, or nothing when it is no name of a language."""
    last = name.strip().lower().rpartition(".")[2]
    if last in NAMES:
        return NAMES[last]
    found = TAG.fullmatch(last)
    if found is None or found[1] not in CODES or (found[1] in WORDS and found[1] != last):
        return ""
    return found[1]
