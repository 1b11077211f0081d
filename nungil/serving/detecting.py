"""Detecting: which of the served source languages a text is in, by its script and its unknown tokens."""

from collections.abc import Sequence
from typing import NamedTuple

from nungil.serving.shelf import Served, Shelf
from nungil.text.scripts import SCRIPTS, ScriptTable
from nungil.text.tokenizers.base import UNK

LOOKED_AT = 500  # characters that are looked at
# The script of a language; Latin if not listed.
WRITTEN = {
    **dict.fromkeys(("ko",), ("Hangul",)),
    **dict.fromkeys(("ja",), ("Kana", "Han")),
    **dict.fromkeys(("zh",), ("Han",)),
    **dict.fromkeys(("ru", "uk", "bg", "be", "mk", "sr", "kk", "mn"), ("Cyrillic",)),
    **dict.fromkeys(("ar", "fa", "ur"), ("Arabic",)),
    **{"el": ("Greek",), "he": ("Hebrew",), "hi": ("Devanagari",), "bn": ("Bengali",), "ta": ("Tamil",)},
    **{"th": ("Thai",), "ka": ("Georgian",), "hy": ("Armenian",)},
}
LATIN = ("Latin",)


class Detected(NamedTuple):
    """A language, and a confidence in percent."""

    language: str
    confidence: float


class Detector:
    """Distinguishes the source languages of some models."""

    def __init__(self, shelf: Shelf) -> None:
        self.readers: dict[str, Served] = {}
        for served in shelf.served.values():
            if served.model.config.source:
                self.readers.setdefault(served.model.config.source, served)
        self.scripts = ScriptTable()

    def detect(self, text: str, among: Sequence[str] = ()) -> list[Detected]:
        """Possible languages, the most likely first; none without letters of any."""
        sample = text[:LOOKED_AT]
        counts = self.scripts.letters([sample])[0]
        letters = max(1, int(counts.sum()))
        found = []
        for language in among or self.readers:
            share = sum(int(counts[SCRIPTS.index(script)]) for script in WRITTEN.get(language, LATIN)) / letters
            known = self._known(sample, language) if share > 0 else 0.0
            found.append(Detected(language, round(100 * share * (0.5 + 0.5 * known), 1)))
        return sorted((one for one in found if one.confidence > 0), key=lambda one: -one.confidence)

    def _known(self, text: str, language: str) -> float:
        ids = self.readers[language].reads.encode(text) if language in self.readers else []
        return sum(one != UNK for one in ids) / max(1, len(ids))
