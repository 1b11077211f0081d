"""From what a user types (files, folders, globs) to sources of which nothing is left to guess."""

import glob
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain, dropwhile, islice
from pathlib import Path

from nungil.errors import CorpusError, UsageError, did_you_mean
from nungil.text.declared import declared_by, encoding_of
from nungil.text.files import HEAD_LINES, first_bytes, is_encoding, read_head
from nungil.text.formats import tell_shape, tell_units
from nungil.text.languages import read_tag, tag_of
from nungil.text.readers import UNIT_READERS
from nungil.text.readers.csv import csv_records, is_quoted_tsv, sniff_delimiter
from nungil.text.readers.folder import label_folders
from nungil.text.readers.jsonl import flat_keys, json_records, value_of
from nungil.text.source import UNITS, CorpusSettings, Format, Source, Task
from nungil.text.table import Table, choose_columns, has_header
from nungil.text.units import Found, choose_two, languages_in

BESIDE_DATA = ("readme", "license", "licence", "copying")  # how names begin that accompany the data of a folder
BESIDE_PO = (".pot", ".mo")  # the template of translations, and what programs read of them


def expand(places: Iterable[str | Path]) -> list[Path]:
    """The files and label folders that places stand for, in the order given, each glob and folder sorted."""
    found: list[Path] = []
    for place in places:
        if not str(place):
            raise UsageError("a file name is empty")
        try:
            found += _expanded(Path(place))
        except OSError as error:  # a folder that may not be entered, a name that is too long
            raise CorpusError(f"{place}: {error.strerror}") from None
    return found


def _expanded(path: Path) -> list[Path]:
    if path.is_dir():
        return [path] if label_folders(path) else _files_in(path)
    if path.exists() or not glob.has_magic(str(path)):
        return [path]
    matches = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207  # Path.glob refuses absolute patterns
    if not matches:
        raise CorpusError(f"{path}: no file matches")
    return expand(matches)


def _files_in(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    data = [path for path in files if not _accompanies(path.name.lower())]
    if not data:
        raise CorpusError(f"{folder}: no data files in this folder, nor folders of .txt files, one per label")
    return data


def _accompanies(name: str) -> bool:
    return name.startswith(BESIDE_DATA) or name.endswith(BESIDE_PO)


def look_into(path: Path, settings: CorpusSettings) -> tuple[Task, Source] | None:
    """The task and source that a file or label folder is; None when it is one side of line-aligned files."""
    if path.is_dir():
        return "classify", Source((path,), "folder", settings.encoding)
    first = first_bytes(path)
    units = tell_units(path, first) if settings.format is None else settings.format
    if units in UNITS and first:
        return "translate", _look_into_units(path, units, first, settings)
    head = read_head(path, settings.encoding)
    shape = settings.format or tell_shape(path, head)
    if shape == "folder":
        raise CorpusError(f"{path}: this is a file; a folder per label is expected")
    if not head:
        raise CorpusError(f"{path}: the file is empty")
    if shape == "lines" or shape == "aligned":
        return None
    if shape == "fasttext":
        return "classify", Source((path,), "fasttext", settings.encoding)
    if shape == "jsonl":
        return _look_into_jsonl(path, settings)
    if settings.format is None and shape == "tsv" and is_quoted_tsv(head):
        shape = "csv"
    return _look_into_table(path, head, Source((path,), shape, settings.encoding), settings)


def _look_into_units(path: Path, shape: Format, first: bytes, settings: CorpusSettings) -> Source:
    declared = declared_by(first, shape)
    encoding = encoding_of(declared, settings.encoding)
    if not is_encoding(encoding):
        raise CorpusError(f"{path}:1: there is no encoding {declared!r}, which the file declares; give --encoding")
    changed = path.stat()
    try:
        found = _languages_in(path, shape, encoding, (changed.st_size, changed.st_mtime_ns))
    except CorpusError as error:
        if encoding != settings.encoding:  # giving what is there by default would not help
            said = str(error).replace("give --encoding utf-8", f"mend what the file declares, {declared}")
            raise CorpusError(said) from None
        raise
    return Source((path,), shape, encoding, names=choose_two(str(path), found, settings))


@lru_cache(maxsize=1_000)
def _languages_in(path: Path, shape: Format, encoding: str, _: tuple[int, int]) -> Found:
    """Look through a file, once: a run opens its data several times, and a large memory takes its time."""
    return languages_in(UNIT_READERS[shape](path, encoding))


def _look_into_table(path: Path, head: list[str], source: Source, settings: CorpusSettings) -> tuple[Task, Source]:
    delimiter = sniff_delimiter(head) if source.format == "csv" else "\t"
    if source.format == "csv":
        rows = [fields for _, fields in islice(csv_records(path, delimiter, settings.encoding), HEAD_LINES)]
    else:
        rows = [line.split("\t") for line in head]
    rows = list(dropwhile(lambda row: not any(row), rows))
    if not rows:
        raise CorpusError(f"{path}: there is no row in it")
    header = settings.header if settings.header is not None else _shows_header(rows, settings.columns)
    names = tuple(rows[0]) if header else ()
    task, columns = choose_columns(
        Table(str(path), names, rows[header:]), settings.task, settings.columns, _wanted(settings)
    )
    chosen = (names[columns[0]], names[columns[1]]) if max(columns) < len(names) else ("", "")
    return task, Source(source.files, source.format, source.encoding, header, delimiter, columns, chosen)


def _shows_header(rows: Sequence[Sequence[str]], asked: Sequence[str]) -> bool:
    return any(name in rows[0] and not name.isdecimal() for name in asked) or has_header(rows)


def _look_into_jsonl(path: Path, settings: CorpusSettings) -> tuple[Task, Source]:
    records = [record for _, record in islice(json_records(path, settings.encoding), HEAD_LINES) if record]
    if not records:
        raise CorpusError(f"{path}: no object in it has keys")
    names = tuple(dict.fromkeys(chain.from_iterable(map(flat_keys, records))))  # the first object may lack some
    rows = [[_shown(value_of(record, name)) for name in names] for record in records]
    task, columns = choose_columns(Table(str(path), names, rows), settings.task, settings.columns, _wanted(settings))
    chosen = (names[columns[0]], names[columns[1]])
    return task, Source((path,), "jsonl", settings.encoding, columns=columns, names=chosen)


def _shown(value: object) -> str:
    return "" if value is None else str(value)


def align(paths: Sequence[Path], settings: CorpusSettings) -> Iterator[Source]:
    """Sources of line-aligned files: two as given; more by their common name, train.en with train.ko."""
    groups: dict[str, dict[str, Path]] = {}
    for path in paths:
        stem, _, ending = str(path).removesuffix(".gz").rpartition(".")
        if len(paths) == 2:  # whatever they are called, they belong together
            stem, ending = "", str(path)
        groups.setdefault(stem, {})[ending] = path
    for files in groups.values():
        names = _two_sides(files, settings)
        yield Source((files[names[0]], files[names[1]]), "aligned", settings.encoding, names=names)


def _wanted(settings: CorpusSettings) -> tuple[str, ...]:
    """The languages that were said, by their tags."""
    return tuple(read_tag(tag) for tag in (settings.source, settings.target) if tag is not None)


def _two_sides(files: dict[str, Path], settings: CorpusSettings) -> tuple[str, str]:
    """The endings of source and target among files with a common name."""
    asked = settings.columns
    listed, first = list(files), next(iter(files.values()))
    if len(listed) == 1:
        raise CorpusError(
            f"{first}: one text per line, with nothing to learn from it; give the file with its translations too, "
            "or write the translation or the label into the same line after a tab"
        )
    if asked:
        sides = [_side(files, name, first) for name in asked]
        return sides[0], sides[1]
    if len(listed) > 2:
        fitting = [ending for tag in _wanted(settings) for ending in listed if tag_of(str(files[ending])) == tag]
        if len(fitting) == 2:
            return fitting[0], fitting[1]
        endings = ", ".join(listed)
        raise CorpusError(
            f"{first}: {len(listed)} files line up ({endings}); choose two: --columns {listed[0]},{listed[1]}"
        )
    return listed[0], listed[1]


def _side(files: dict[str, Path], name: str, first: Path) -> str:
    listed = list(files)
    if name.isdecimal() and 1 <= int(name) <= len(listed):
        return listed[int(name) - 1]
    for ending in listed:
        if name == ending or str(files[ending]).removesuffix(".gz").endswith(f".{name}"):
            return ending
    endings = [str(path).removesuffix(".gz").rpartition(".")[2] for path in files.values()]
    raise CorpusError(f"{first}: no file beside it ends in {name!r}{did_you_mean(name, endings)}")
