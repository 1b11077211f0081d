"""XML as a stream of elements, read without trust: no tree in memory, no entities, nothing fetched.

Expat does the reading, which Python brings along. It opens no file and no address unless it is told how, so the DTD
that most TMX files name stays where it is; an entity is refused where it is defined, before it can grow. It is handed
text that was decoded here, because it knows few encodings itself.
"""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol
from xml.parsers import expat

from nungil.errors import CorpusError
from nungil.text.files import text_blocks

LONGEST_TAG = 1_000_000  # bytes of a tag or a comment, which expat holds as a whole
DEEPEST = 100  # elements inside each other; the inline codes of a sentence come to ten
MOST_KINDS = 1_000  # of elements; TMX and XLIFF have some fifty, of which those that tools add are few
LANGUAGE = "http://www.w3.org/XML/1998/namespace lang"  # how expat calls the attribute xml:lang
CODES = expat.errors.codes
CUT_OFF = {
    CODES[message]
    for message in (
        expat.errors.XML_ERROR_NO_ELEMENTS,
        expat.errors.XML_ERROR_UNCLOSED_TOKEN,
        expat.errors.XML_ERROR_UNCLOSED_CDATA_SECTION,
    )
}
REASONS = {
    CODES[expat.errors.XML_ERROR_SYNTAX]: "XML begins with <, and this does not",
    CODES[expat.errors.XML_ERROR_INVALID_TOKEN]: "is a < or & meant as text here? Write &lt; or &amp;; and no control "
    "characters",
    CODES[
        expat.errors.XML_ERROR_BAD_CHAR_REF
    ]: "a number stands here for a character that XML does not have; remove it",
    CODES[expat.errors.XML_ERROR_MISPLACED_XML_PI]: "<?xml …?> must be the very first in the file",
    CODES[
        expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT
    ]: "something follows after the end; are these two files in one?",
}
UNKNOWN_ENTITY = "an entity that is not XML's own, such as HTML's &nbsp;; write the character itself"


class Elements(Protocol):
    """What is told about a file while it is read."""

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """An element begins. Its name is bare where it belongs to the vocabulary of the root."""

    def end(self, name: str) -> None:
        """It ends."""

    def text(self, data: str) -> None:
        """Text, or a part of it."""


def walk(path: Path, encoding: str, root: str, elements: Elements) -> Iterator[None]:
    """Tell `elements` about a file whose root element is to be `root`; comes back after each block of it."""
    reading = _Walk(path, root, elements)
    for block in text_blocks(path, encoding):
        reading.feed(block)
        yield
    reading.feed("", final=True)
    yield


def root_of(text: str) -> str:
    """The name of the root element, without a prefix, if it can be told from the beginning of a file."""
    found: list[str] = []
    parser = expat.ParserCreate("utf-8", " ")
    parser.StartElementHandler = lambda name, _: found.append(name.rpartition(" ")[2])
    parser.EntityDeclHandler = _stop
    with suppress(expat.ExpatError, _StoppedError):
        parser.Parse(text.encode("utf-8", "replace"), False)
    return found[0] if found else ""


class _StoppedError(Exception):
    """Nothing more is to be learned from a file."""


def _stop(*_: object) -> None:
    raise _StoppedError


class _Walk:
    """One file on its way through expat: where it is, and everything that is refused."""

    def __init__(self, path: Path, root: str, elements: Elements) -> None:
        self.path, self.root, self.elements = path, root, elements
        self.open: list[str] = []
        self.names: dict[str, str] = {}
        self.namespace = ""
        self.fed = 0
        self.parser: Any = expat.ParserCreate("utf-8", " ")  # said here, so that it ignores what the file declares
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = elements.text
        self.parser.EntityDeclHandler = self._refuse_entity
        self.parser.SkippedEntityHandler = self._refuse_unknown_entity

    def feed(self, text: str, *, final: bool = False) -> None:
        """Read on."""
        data = text.encode("utf-8", "surrogatepass")
        try:
            self.parser.Parse(data, final)
        except expat.ExpatError as error:
            raise self._fault(self._reason(error), error.lineno) from None
        self.fed += len(data)
        if self.fed - self.parser.CurrentByteIndex > LONGEST_TAG:
            raise self._fault(f"a tag or a comment of more than {LONGEST_TAG:,} bytes; is a quote left open?")

    def _fault(self, reason: str, line: int | None = None) -> CorpusError:
        return CorpusError(f"{self.path}:{line or self.parser.CurrentLineNumber}: {reason}")

    def _reason(self, error: expat.ExpatError) -> str:
        if error.code in CUT_OFF:
            inside = f" inside <{self.open[-1]}>" if self.open else ""
            return f"the XML ends here{inside}, before it is complete; fetch or copy the file again"
        if error.code == CODES[expat.errors.XML_ERROR_TAG_MISMATCH]:
            return f"not XML: <{self.open[-1]}> is open, and another element is closed here"
        if error.code == CODES[expat.errors.XML_ERROR_UNDEFINED_ENTITY]:
            return UNKNOWN_ENTITY
        return f"not XML: {REASONS.get(error.code, expat.ErrorString(error.code))}"

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        bare = self.names.get(name) or self._named(name)
        self.open.append(bare)
        if len(self.open) > DEEPEST:
            raise self._fault(f"more than {DEEPEST} elements inside each other; that cannot be meant")
        self.elements.start(bare, attributes, self.parser.CurrentLineNumber)

    def _end(self, _: str) -> None:
        self.elements.end(self.open.pop())

    def _named(self, name: str) -> str:
        """The name without the namespace of the root; those of other vocabularies keep theirs."""
        namespace, _, bare = name.rpartition(" ")
        if not self.names:
            if bare != self.root:
                raise self._fault(
                    f"the root element is <{bare}>, where <{self.root}> is expected; is it in this format?"
                )
            self.namespace = namespace
        if len(self.names) == MOST_KINDS:
            raise self._fault(f"more than {MOST_KINDS:,} kinds of elements; that cannot be meant")
        self.names[name] = bare if namespace == self.namespace else name
        return self.names[name]

    def _refuse_entity(self, name: str, *_: object) -> None:
        raise self._fault(
            f"the file defines an entity, {name!r}, which is refused: entities can grow without end, and read other "
            "files; write its text where it is used"
        )

    def _refuse_unknown_entity(self, *_: object) -> None:
        raise self._fault(UNKNOWN_ENTITY)
