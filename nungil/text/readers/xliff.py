"""XLIFF 1.0 to 1.2 and 2.0: files on their way through translation. SDL's and memoQ's own kinds are XLIFF 1.2."""

from collections.abc import Iterator
from pathlib import Path

from nungil.text.elements import LANGUAGE
from nungil.text.inline import Inline
from nungil.text.units import Unit, UnitElements, units_in

PLACES = ("<source>", "<target>")  # what a side is called whose language the file does not say
PAIRS = frozenset({"trans-unit", "segment"})  # what a source and its target stand in, in versions 1 and 2
TO_DO = frozenset({"new", "needs-translation", "initial"})
DONE = frozenset({"translated", "final", "signed-off"})
# What a target is that nobody has worked on yet: version 1.2, state-qualifier.
QUALIFIERS = {
    "leveraged-mt": "machine translation",
    "mt-suggestion": "machine translation",
    "fuzzy-match": "fuzzy",
    "rejected-grammar": "rejected",
    "rejected-inaccurate": "rejected",
    "rejected-length": "rejected",
    "rejected-spelling": "rejected",
}


def xliff_units(path: Path, encoding: str) -> Iterator[Unit]:
    """The units of an XLIFF file, each with its line; in version 2, each segment with its own."""
    return units_in(path, encoding, _Localisation(path))


class _Localisation(UnitElements):
    """Elements of XLIFF. A source and a target count right inside their unit: alternatives and matches have others."""

    root = "xliff"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.names = PLACES
        self.above: list[str] = []  # the elements around
        self.translated = [True]  # whether what is in them is to be translated
        self.texts: dict[str, Inline] = {}
        self.unit: dict[str, str] = {}  # attributes of the unit, and of its target
        self.target: dict[str, str] = {}

    def opened(self, name: str, attributes: dict[str, str], line: int) -> None:
        """Note languages and states, and read segments."""
        if name == "xliff":
            self.names = _named(attributes.get("srcLang"), attributes.get("trgLang"))
        elif name == "file" and "source-language" in attributes:
            self.names = _named(attributes["source-language"], attributes.get("target-language"))
        elif name in PAIRS:
            self.begin(line)
            self.texts, self.unit, self.target = {}, attributes, {}
        elif name in ("source", "seg-source", "target") and self.above[-1] in PAIRS:
            self.inline = self.texts[name] = Inline()
            self.target = attributes if name == "target" else self.target
        said = attributes.get("translate")
        self.translated.append(self.translated[-1] if said is None else said != "no")
        self.above.append(name)

    def closed(self, name: str) -> None:
        """A unit is complete when it ends."""
        self.above.pop()
        translate = self.translated.pop()
        if name in PAIRS:
            source, target = self.names
            target = self.target.get(LANGUAGE, target) if target == PLACES[1] else target
            for one, other in self._pairs():
                texts = ((source, one), (target, other))
                self.found.append(Unit(self.line, texts, source, self._withheld(translate, bool(other.strip()))))

    def _pairs(self) -> list[tuple[str, str]]:
        """Source and target; sentence by sentence where both are cut into the same ones."""
        source, target = (self.texts.get(name) or Inline() for name in ("source", "target"))
        cut = self.texts.get("seg-source")
        if cut is not None and cut.parts and cut.parts.keys() == target.parts.keys():
            return [(text, target.parts[number]) for number, text in cut.parts.items()]
        return [(source.text, target.text)]

    def _withheld(self, translate: bool, filled: bool) -> str:
        """Why the file does not vouch for a pair. `approved` is left alone: by default nothing is."""
        if not translate:
            return "not to be translated"
        state = self.target.get("state", self.unit.get("state", ""))
        if not filled or state in DONE or self.unit.get("approved") == "yes":
            return ""
        return "needs translation" if state in TO_DO else QUALIFIERS.get(self.target.get("state-qualifier", ""), "")


def _named(source: str | None, target: str | None) -> tuple[str, str]:
    """Languages by their tags, or the place where they stand; a file into its own language has one name only."""
    return source or PLACES[0], target if target and target != source else PLACES[1]
