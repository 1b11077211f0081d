"""Units of translation: what TMX, XLIFF and PO hold. One text in several languages, of which a source takes two."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import ClassVar, NamedTuple

from nungil.errors import CorpusError, did_you_mean
from nungil.text.elements import walk
from nungil.text.files import LONGEST_LINE
from nungil.text.inline import Inline
from nungil.text.languages import declared_tag, primary_of
from nungil.text.source import CorpusSettings, Rows, Source


class Unit(NamedTuple):
    """One text in several languages."""

    line: int
    texts: tuple[tuple[str, str], ...]  # each with its language as the file spells it, or the name of its place
    source: str = ""  # which of them the file says was translated from
    withheld: str = ""  # why the file does not vouch for it


class UnitElements(ABC):
    """Elements as units: what readers of TMX and XLIFF have in common."""

    root: ClassVar[str]

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: list[Unit] = []
        self.inline: Inline | None = None  # the segment that is being read
        self.line = 0  # of the unit
        self._size = 0

    @abstractmethod
    def opened(self, name: str, attributes: dict[str, str], line: int) -> None:
        """An element begins outside of segments; it may be one."""

    @abstractmethod
    def closed(self, name: str) -> None:
        """It ends. A segment is in `inline` still."""

    def begin(self, line: int) -> None:
        """A unit begins."""
        self.line, self._size = line, 0

    def start(self, name: str, attributes: dict[str, str], line: int) -> None:
        """An element begins."""
        if self.inline is not None:
            self.inline.start(name, attributes)
        else:
            self.opened(name, attributes, line)
        self._grow(1)

    def end(self, name: str) -> None:
        """It ends."""
        if self.inline is None or not self.inline.end():
            self.closed(name)
            self.inline = None

    def text(self, data: str) -> None:
        """Text, which counts inside segments."""
        if self.inline is not None:
            self.inline.add(data)
            self._grow(len(data))

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > LONGEST_LINE and self.line:
            raise CorpusError(f"{self.path}:{self.line}: a unit of more than {LONGEST_LINE:,} characters")


def units_in(path: Path, encoding: str, elements: UnitElements) -> Iterator[Unit]:
    """The units of a file, of which a block at a time is in memory."""
    for _ in walk(path, encoding, elements.root, elements):
        yield from elements.found
        elements.found.clear()


class Found(NamedTuple):
    """The languages of a file as they are spelled, in the order they are met, with the number of their units."""

    counts: dict[str, int]
    source: str  # which one was translated from, if the file says
    together: frozenset[str]  # `en` if a unit has both en-US and en-GB, so that `en` would not say which


def languages_in(units: Iterable[Unit]) -> Found:
    """Look through a file."""
    source, kinds = "", Counter[tuple[str, ...]]()
    for unit in units:
        source = source or unit.source
        kinds[tuple(name for name, _ in unit.texts)] += 1
    spelled: dict[str, str] = {}
    counts: dict[str, int] = {}
    together: set[str] = set()
    for names, count in kinds.items():
        primaries = Counter[str]()
        for name in dict.fromkeys(map(_plain, names)):
            if name:
                primaries[primary_of(name)] += 1
                first = spelled.setdefault(name, next(one for one in names if _plain(one) == name))
                counts[first] = counts.get(first, 0) + count
        together |= {primary for primary, several in primaries.items() if several > 1}
    return Found(counts, source, frozenset(together))


def choose_two(where: str, found: Found, settings: CorpusSettings) -> tuple[str, str]:
    """Source and target: those asked for; else the language that the file says was translated from, and the other."""
    if not found.counts:
        raise CorpusError(f"{where}: there is no translation in it, or none that says its language")
    if settings.columns:
        first, second = (_chosen(where, found, name) for name in settings.columns)
        if first == second:
            raise CorpusError(f"{where}: {' and '.join(settings.columns)} are one language in it, {first}")
        return first, second
    if len(found.counts) < 2:
        raise CorpusError(f"{where}: {_listed(found)}; a text needs its translation beside it")
    source, target = _asked(where, found, settings)
    if not source:
        declared = _chosen(where, found, found.source) if _is_in(found, found.source) else ""
        source = declared if declared != target else ""
    source = source or _the_other(found, target)
    target = target or _the_other(found, source)
    if not source or not target:
        names = list(found.counts)
        raise CorpusError(f"{where}: {_listed(found)}; choose two: --columns {names[0]},{names[1]}")
    return source, target


def _asked(where: str, found: Found, settings: CorpusSettings) -> tuple[str, str]:
    """Those that --from and --to name; nothing for one that may be the language of a side which does not say it."""
    told = all(map(declared_tag, found.counts))
    first, second = (
        _chosen(where, found, tag) if tag and (told or _is_in(found, tag)) else ""
        for tag in (settings.source, settings.target)
    )
    return first, second


def _is_in(found: Found, name: str) -> bool:
    return bool(name) and any(_fits(one, name) for one in found.counts)


def _chosen(where: str, found: Found, name: str) -> str:
    """A language as the file spells it; `en` for all kinds of English, if no unit has two of them."""
    names = list(found.counts)
    for one in names:
        if _plain(one) == _plain(name):
            return one
    if name.isdecimal() and 1 <= int(name) <= len(names):
        return names[int(name) - 1]
    fitting = [one for one in names if _fits(one, name)]
    if not fitting:
        raise CorpusError(f"{where}: there is no language {name!r} in it{did_you_mean(name, names)}")
    if len(fitting) == 1:
        return fitting[0]
    primary = primary_of(name)
    if primary in found.together:
        raise CorpusError(f"{where}: {name!r} may be {' or '.join(fitting)}; name one of them in --columns")
    return primary


def _the_other(found: Found, side: str) -> str:
    """The only language beside one side, if there is only one."""
    same = _plain if side in found.counts else primary_of  # `en` may be all English
    others = [one for one in found.counts if same(one) != same(side)] if side else []
    return others[0] if len(others) == 1 else ""


def _listed(found: Found) -> str:
    counted = [f"{name} ({count:,})" for name, count in found.counts.items()]
    return f"units are in {', '.join(counted)}" + (" only" if len(counted) == 1 else "")


@lru_cache(maxsize=1_000)
def _plain(name: str) -> str:
    """`EN_us` and `en-US` are one."""
    return name.strip().lower().replace("_", "-")


@lru_cache(maxsize=1_000)
def _fits(name: str, asked: str) -> bool:
    """Whether a language of a file is the one asked for: en-US is `en`, and so is `en` for who asks for en-US."""
    ours, theirs = _plain(name), _plain(asked)
    bare = "-" not in ours or "-" not in theirs
    return ours == theirs or (bare and primary_of(ours) == primary_of(theirs))


def rows_of(source: Source, units: Iterable[Unit]) -> Rows:
    """A row for each unit, and for each of its translations where it has several; what is missing is empty."""
    (path,) = source.files
    name, (first, second) = str(path), source.names
    for unit in units:
        texts, translations = _texts(unit, first, second), _texts(unit, second, first)
        for translation in translations or ("",):
            yield texts[0] if texts else "", translation, name, unit.line, unit.withheld


def _texts(unit: Unit, name: str, other: str) -> list[str]:
    """The texts of a unit in one language: spelled just so, else as near as it can be and not the other one."""
    exact = [text for language, text in unit.texts if _plain(language) == _plain(name)]
    return exact or [
        text for language, text in unit.texts if _fits(language, name) and _plain(language) != _plain(other)
    ]
