"""PO, the files of gettext. Read here, not by polib, which holds a whole file and forgives what should be mended."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nungil.errors import CorpusError
from nungil.text.files import LONGEST_LINE, read_lines
from nungil.text.languages import WORDS, declared_tag, language_of
from nungil.text.units import Unit

PLACES = ("msgid", "msgstr")  # what a side is called whose language the file does not say
KEYWORD = re.compile(r"(msgctxt|msgid_plural|msgid|msgstr(?:\[\d{1,2}\])?|domain)\s*(\".*)")
QUOTED = re.compile(r'"([^"\\]*+(?:\\.[^"\\]*+)*+)"')
ESCAPE = re.compile(r"((?:\\[0-7]{1,3}|\\x[0-9A-Fa-f]{1,2})+)|\\(.)")
BYTE = re.compile(r"\\(?:x([0-9A-Fa-f]{1,2})|([0-7]{1,3}))")
LETTERS = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}
SPELLED = re.compile(r"^(Language|X-Source-Language):[ \t]*(\S+)", re.MULTILINE)


def po_units(path: Path, encoding: str) -> Iterator[Unit]:
    """The entries of a PO file, each with the line of its msgid.

    One with plural forms is two units: the singular with the first form, the plural with the last.
    """
    source, target = PLACES[0], _language_of_name(path) or PLACES[1]
    for number, entry in enumerate(po_entries(path, encoding)):
        if entry.is_header:
            said = {} if number else dict(SPELLED.findall(entry.text("msgstr")))
            source, target = said.get("X-Source-Language", source), said.get("Language", target)
            continue
        forms = [name for name in entry.parts if name.startswith("msgstr")]
        pairs = [("msgid", forms[0])] + ([("msgid_plural", forms[-1])] if "msgid_plural" in entry.parts else [])
        for one, other in pairs:
            texts = ((source, entry.text(one)), (target, entry.text(other)))
            yield Unit(entry.line, texts, source, entry.withheld if texts[1][1] else "")


def _language_of_name(path: Path) -> str:
    """`ko` of ko.po and app.ko.po, and of ko/LC_MESSAGES/app.po."""
    stem = path.name.removesuffix(".gz").removesuffix(".po")
    if path.parent.name == "LC_MESSAGES" and declared_tag(path.parent.parent.name):
        return path.parent.parent.name
    return "" if stem in WORDS else language_of(stem)


@dataclass
class Entry:
    """What belongs together: msgctxt, msgid, msgid_plural and every msgstr, in pieces; its flags; its line."""

    line: int = 0
    flags: set[str] = field(default_factory=set)
    obsolete: bool = False
    parts: dict[str, list[str]] = field(default_factory=dict)
    last: str = ""  # the part that lines without a keyword continue
    size: int = 0

    @property
    def is_complete(self) -> bool:
        """Whether it has its translation; what follows is the next entry."""
        return self.last.startswith("msgstr")

    @property
    def is_header(self) -> bool:
        """The translation of nothing tells about the file."""
        return not self.text("msgid") and "msgctxt" not in self.parts

    @property
    def withheld(self) -> str:
        """Why the file does not vouch for it."""
        return "obsolete" if self.obsolete else "fuzzy" if "fuzzy" in self.flags else ""

    def text(self, part: str) -> str:
        """One of its parts."""
        return "".join(self.parts.get(part, ()))


def po_entries(path: Path, encoding: str) -> Iterator[Entry]:
    """The entries of a file, one after another; whatever is no PO is named with its line."""
    entry = Entry()
    for line, raw in enumerate(read_lines(path, encoding), 1):
        text, obsolete = raw.strip(), False
        if text.startswith("#~"):
            text, obsolete = text[2:].lstrip(), True
        if not text or text.startswith("|"):  # `#~| msgid`: what an obsolete one was called before
            continue
        found = KEYWORD.fullmatch(text)
        starts = text.startswith("#") or (found is not None and found[1] in ("msgctxt", "msgid", "domain"))
        if starts and entry.is_complete:
            yield entry
            entry = Entry()
        if text.startswith("#"):
            entry.flags |= {flag.strip() for flag in text[2:].split(",")} if text.startswith("#,") else set()
            continue
        where = f"{path}:{line}"
        if found is None and not text.startswith('"'):
            raise CorpusError(f'{where}: not PO: a line begins with #, with a quote, or as `msgid "…"` does')
        entry.obsolete = entry.obsolete or obsolete
        _take(entry, found[1] if found else "", _unquoted(found[2] if found else text, encoding, where), line, where)
    if entry.is_complete:
        yield entry
    elif entry.parts:
        raise CorpusError(f"{path}:{entry.line or line}: the file ends before this entry has its msgstr; is it whole?")


def _take(entry: Entry, keyword: str, text: str, line: int, where: str) -> None:
    """Add a line to the entry that it belongs to."""
    if keyword == "domain":
        return
    if not keyword and not entry.last:
        raise CorpusError(f"{where}: a text that belongs to nothing; msgid or msgstr should stand before it")
    if keyword in entry.parts or (keyword == "msgctxt" and "msgid" in entry.parts):
        raise CorpusError(f"{where}: {keyword} a second time in one entry; is a msgstr missing above it?")
    if keyword.startswith(("msgstr", "msgid_")) and "msgid" not in entry.parts:
        raise CorpusError(f"{where}: {keyword} without a msgid before it")
    entry.line = line if keyword == "msgid" else entry.line
    entry.last = keyword or entry.last
    entry.parts.setdefault(entry.last, []).append(text)
    entry.size += len(text) + 1
    if entry.size > LONGEST_LINE:
        raise CorpusError(f"{where}: an entry of more than {LONGEST_LINE:,} characters; is a msgid missing?")


def _unquoted(text: str, encoding: str, where: str) -> str:
    found = QUOTED.fullmatch(text)
    if found is None:
        raise CorpusError(f'{where}: a text stands between two quotes, and a quote inside it is written \\"')
    if "\\" not in found[1]:
        return found[1]
    try:
        return ESCAPE.sub(lambda escape: _meant(escape, encoding), found[1])
    except UnicodeDecodeError:
        raise CorpusError(f"{where}: bytes written as numbers, such as \\303, that are no text in {encoding}") from None


def _meant(escape: re.Match[str], encoding: str) -> str:
    r"""What an escape stands for, as in C; `\303\251` are the bytes of one character."""
    if escape[1]:
        numbers = (
            int(hexadecimal, 16) if hexadecimal else int(octal, 8) for hexadecimal, octal in BYTE.findall(escape[1])
        )
        return bytes(number & 0xFF for number in numbers).decode(encoding)
    return LETTERS.get(escape[2], escape[0])
