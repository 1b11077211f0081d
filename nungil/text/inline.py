"""The text of one segment of TMX or XLIFF: what stands in it and around its inline codes, and not the codes."""

# What these hold is a code of another format, such as <b> or {\i; `sub` is a text of its own within one. The content of
# all others (hi, g, pc, mrk …) is text, and x, bx, ex, sc and ec have none.
MARKUP = frozenset({"bpt", "ept", "it", "ph", "sub", "ut"})
LINE_BREAKS = frozenset({"lb", "x-html-br", "xlf:lb"})


class Inline:
    """A segment while it is read."""

    def __init__(self) -> None:
        self.parts: dict[str, str] = {}  # of a segment that `mrk` cuts into sentences: the text of each, by its number
        self._pieces: list[str] = []
        self._open: list[tuple[str, int]] = []
        self._hidden = 0

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._pieces)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """An element begins within it."""
        if not self._hidden and LINE_BREAKS.intersection(map(attributes.get, ("type", "ctype", "subType"))):
            self._pieces.append("\n")  # or the words around it would be one
        if self._hidden or name in MARKUP:
            self._hidden += 1
            return
        number = attributes.get("mid", "") if attributes.get("mtype") == "seg" else ""
        self._open.append((number, len(self._pieces)))

    def add(self, data: str) -> None:
        """Text stands in it."""
        if not self._hidden:
            self._pieces.append(data)

    def end(self) -> bool:
        """An element ends: True if it is one within, False if it is the segment itself."""
        if self._hidden:
            self._hidden -= 1
            return True
        if not self._open:
            return False
        number, begin = self._open.pop()
        if number:
            self.parts[number] = "".join(self._pieces[begin:])
        return True
