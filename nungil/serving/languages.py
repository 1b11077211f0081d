"""The English names of languages, for clients that show them."""

_NAMES = (
    "af Afrikaans,ar Arabic,az Azerbaijani,be Belarusian,bg Bulgarian,bn Bengali,bs Bosnian,ca Catalan,cs Czech,"
    "cy Welsh,da Danish,de German,el Greek,en English,eo Esperanto,es Spanish,et Estonian,eu Basque,fa Persian,"
    "fi Finnish,fr French,ga Irish,gl Galician,he Hebrew,hi Hindi,hr Croatian,hu Hungarian,hy Armenian,id Indonesian,"
    "is Icelandic,it Italian,ja Japanese,ka Georgian,kk Kazakh,ko Korean,la Latin,lt Lithuanian,lv Latvian,"
    "mk Macedonian,mn Mongolian,ms Malay,nb Norwegian,nl Dutch,no Norwegian,pl Polish,pt Portuguese,ro Romanian,"
    "ru Russian,sk Slovak,sl Slovenian,sq Albanian,sr Serbian,sv Swedish,sw Swahili,ta Tamil,th Thai,tl Tagalog,"
    "tr Turkish,uk Ukrainian,ur Urdu,uz Uzbek,vi Vietnamese,zh Chinese"
)
NAMES = dict(entry.split(" ") for entry in _NAMES.split(","))


def name_of(code: str) -> str:
    """The name of a language; one that is not known goes by its code."""
    return NAMES.get(code, code)
