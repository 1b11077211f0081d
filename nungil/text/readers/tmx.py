"""TMX, the exchange format of translation memories: a unit (tu) holds a text in each of its languages (tuv, seg)."""

from collections.abc import Iterator
from pathlib import Path

from nungil.text.elements import LANGUAGE
from nungil.text.inline import Inline
from nungil.text.units import Unit, UnitElements, units_in


def tmx_units(path: Path, encoding: str) -> Iterator[Unit]:
    """The units of a translation memory, each with its line."""
    return units_in(path, encoding, _Memory(path))


class _Memory(UnitElements):
    """Elements of TMX 1.1 to 1.4; the older ones say `lang`, the newer `xml:lang`."""

    root = "tmx"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.source = self.language = ""
        self.texts: list[tuple[str, str]] = []

    def opened(self, name: str, attributes: dict[str, str], line: int) -> None:
        """Note languages, and read segments."""
        if name == "header":
            self.source = attributes.get("srclang", "")  # `*all*` is none of them
        elif name == "tu":
            self.begin(line)
            self.texts = []
        elif name == "tuv":
            self.language = attributes.get(LANGUAGE) or attributes.get("lang", "")
        elif name == "seg":
            self.inline = Inline()

    def closed(self, name: str) -> None:
        """A segment belongs to its unit."""
        if name == "seg" and self.inline is not None:
            self.texts.append((self.language, self.inline.text))
        elif name == "tu":
            self.found.append(Unit(self.line, tuple(self.texts), self.source))
