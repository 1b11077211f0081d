"""Fonts for figures of matplotlib: which of those installed has the letters, or which one is missing. No torch."""

import unicodedata
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from nungil.errors import ResourceError
from nungil.text.tokenizers.vocabulary import JOINER

# First what a system is likely to have for Korean, in the order of how well it goes with the Latin letters.
KOREAN = (
    *("Noto Sans KR", "Noto Sans CJK KR", "Noto Sans CJK JP", "NanumGothic", "NanumBarunGothic", "Malgun Gothic"),
    *("Apple SD Gothic Neo", "AppleGothic", "Source Han Sans KR", "UnDotum", "Baekmuk Gulim", "Gulim", "Dotum"),
)
FIRST = "DejaVu Sans"  # comes with matplotlib
LAST_RESORT = "Last Resort"  # comes with matplotlib too: it claims to have every letter, and draws a box for each
ALIKE = {JOINER: "▪"}  # what few fonts have, and what the first one has in its place
INSTALL = (
    "install one that has them (Korean: apt-get install fonts-nanum, dnf install google-noto-sans-cjk-fonts, "
    "brew install font-nanum-gothic), or draw --svg or --html, which use the fonts of the browser"
)
SCRIPTS = {
    "HANGUL": "Korean (NanumGothic, Noto Sans CJK KR or Malgun Gothic, for example)",
    "CJK": "Chinese characters",
}


@dataclass(frozen=True)
class Font:
    """An installed font, and how to find out which letters it has."""

    name: str
    letters: Callable[[], Collection[int]]


def fonts_for(text: str, fonts: Sequence[Font]) -> list[str]:
    """Names of fonts that together have every letter of the text, the usual one first.

    What is missing is named: a figure with empty boxes in place of words would be no figure of them.
    """
    chosen, missing = _search(text, fonts)
    if missing:
        raise ResourceError(f"no installed font has {_named(missing)}; {INSTALL}")
    return chosen or [FIRST]


def signs_without_font(text: str, fonts: Sequence[Font]) -> frozenset[str]:
    """The signs of a text that no font has, emoji perhaps; letters are not among them: their font is asked for."""
    return frozenset(sign for sign in _search(text, fonts)[1] if not sign.isalpha())


def writable(text: str, signs: frozenset[str]) -> str:
    r"""The text with these signs as others that look the same, or as their numbers: \U0001f600."""
    others = {ord(sign): ALIKE.get(sign) or sign.encode("unicode_escape").decode() for sign in signs}
    return text.translate(others)


def _search(text: str, fonts: Sequence[Font]) -> tuple[list[str], set[str]]:
    """The fonts that have any of the letters still missing, and the letters that are missing in the end."""
    missing, chosen = {letter for letter in text if not letter.isspace()}, []
    for font in sorted(fonts, key=_rank):
        if not missing:
            break
        has = font.letters()
        found = {letter for letter in missing if ord(letter) in has}
        if found or font.name == FIRST:
            chosen.append(font.name)
            missing -= found
    return chosen, missing


@cache
def installed() -> tuple[Font, ...]:
    """The fonts that matplotlib finds on this machine."""
    from matplotlib.font_manager import fontManager, get_font

    _list_new_fonts()
    return tuple(
        Font(entry.name, cache(lambda path=entry.fname: frozenset(get_font(path).get_charmap())))
        for entry in fontManager.ttflist
        if entry.style == "normal" and str(entry.weight) in ("400", "normal", "regular", "book")
        if not entry.name.startswith(LAST_RESORT)
    )


def _list_new_fonts() -> None:
    """Tell matplotlib of fonts installed since its first run on this machine: it keeps the list that it made then."""
    from matplotlib.font_manager import findSystemFonts, fontManager

    for path in {*findSystemFonts()} - {entry.fname for entry in fontManager.ttflist}:
        with suppress(OSError, RuntimeError):  # not every file is a font that it can read
            fontManager.addfont(path)


def _rank(font: Font) -> tuple[int, str]:
    order = (FIRST, *KOREAN)
    return order.index(font.name) if font.name in order else len(order), font.name


def _named(letters: set[str]) -> str:
    shown = " ".join(sorted(letters)[:8]) + (" …" if len(letters) > 8 else "")
    scripts = {SCRIPTS.get(unicodedata.name(letter, "").split(" ")[0], "") for letter in letters} - {""}
    return f"the letters {shown}" + (f": a font for {' and '.join(sorted(scripts))} is missing" if scripts else "")
