"""Detecting: which of the languages served a text is in. By its script, and by how much of it a model can read."""

from collections.abc import Sequence
from typing import NamedTuple

from nungil.serving.shelf import Served, Shelf
from nungil.text.scripts import SCRIPTS, ScriptTable
from nungil.text.tokenizers.base import UNK

LOOKED_AT = 500  # characters that tell a language
# The script that a language is written in; what is not here is Latin.
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
    """A language, and how sure that is, in percent."""

    language: str
    confidence: float


class Detector:
    """Tells the source languages of some models apart."""

    def __init__(self, shelf: Shelf) -> None:
        self.readers: dict[str, Served] = {}
        for served in shelf.served.values():
            if served.model.config.source:
                self.readers.setdefault(served.model.config.source, served)
        self.scripts = ScriptTable()

    def detect(self, text: str, among: Sequence[str] = ()) -> list[Detected]:
        """The languages that it could be, the likeliest first; none if it has no letter of any."""
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
