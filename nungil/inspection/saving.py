"""Records and pictures as files: the ending says how. No torch."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from nungil.errors import UsageError
from nungil.inspection.drawings.chart import chart
from nungil.inspection.drawings.drawing import Drawing
from nungil.inspection.drawings.plot import to_figure, with_signs_written
from nungil.inspection.drawings.svg import to_svg
from nungil.inspection.page import pictures_page, to_page
from nungil.inspection.picture import Picture
from nungil.inspection.record import AttentionMap, AttentionRecord
from nungil.text.atomic import whole_bytes, whole_file

COLUMNS = ("kind", "layer", "head", "row", "column", "row_token", "column_token", "weight")
PICTURE_COLUMNS = ("row", "column", "row_token", "column_token", "value")
DRAWN = (".svg", ".png", ".pdf")  # endings of one picture; the others hold all of a record
BYTES = {
    ".csv": 42,
    ".json": 21,
    ".html": 5.4,
    ".svg": 150,
    ".png": 16,
    ".pdf": 4,
}  # about so many for a cell, without words


def to_csv(record: AttentionRecord) -> str:
    """A line for each weight of each head of each map, all counted from 0: what spreadsheets and data frames like."""
    return "".join([",".join(COLUMNS) + "\n", *(line for one in record.maps for line in _csv_lines(record, one))])


def _csv_lines(record: AttentionRecord, one: AttentionMap) -> Iterator[str]:
    rows, columns = _quoted(record.tokens_of(one.rows)), _quoted(record.tokens_of(one.columns))
    for head, matrix in enumerate(one.weights.tolist()):
        for row, line in enumerate(matrix):
            before = f"{one.kind},{one.layer},{head},{row},"
            named = zip(range(len(columns)), columns, line, strict=True)
            yield "".join([f"{before}{column},{rows[row]},{token},{weight!r}\n" for column, token, weight in named])


def _quoted(tokens: Sequence[str]) -> list[str]:
    """Each as CSV writes it."""
    fields = []
    for token in tokens:
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerow([token, ""])
        fields.append(text.getvalue().removesuffix(",\n"))
    return fields


def picture_to_csv(picture: Picture) -> str:
    """A line for each cell."""
    rows, columns = _quoted(picture.rows), _quoted(picture.columns)
    lines = [",".join(PICTURE_COLUMNS)]
    for row, line in enumerate(picture.cells.tolist()):
        lines += [f"{row},{column},{rows[row]},{columns[column]},{value!r}" for column, value in enumerate(line)]
    return "\n".join(lines) + "\n"


def to_json_text(record: AttentionRecord) -> str:
    """JSON, every digit of it: `AttentionRecord.load` gives the same record."""
    return json.dumps(record.to_json(), ensure_ascii=False, allow_nan=False) + "\n"


WRITERS: dict[str, Callable[[AttentionRecord], str]] = {".html": to_page, ".json": to_json_text, ".csv": to_csv}


def save_record(record: AttentionRecord, path: Path) -> None:
    """Write the record as its ending says, drawings of the main map; the file appears whole or not at all."""
    ending = path.suffix.lower()
    if ending in DRAWN:
        save_picture(record.picture(), path)
    elif ending in WRITERS:
        _write(WRITERS[ending](record), path)
    else:
        raise _no_such(path, "record", (*WRITERS, *DRAWN))


def save_page(record: AttentionRecord, path: Path, labels: Mapping[str, float] | None = None) -> None:
    """Write the page of a record; of a classifier, with the probability of each label."""
    _write(to_page(record, labels), path)


def save_picture(picture: Picture, path: Path) -> None:
    """Write one picture as its ending says: .svg, .png, .pdf, .csv or .html."""
    ending = path.suffix.lower()
    if ending == ".png" or ending == ".pdf":
        picture = with_signs_written(picture, "png" if ending == ".png" else "pdf")
    if ending in DRAWN:
        save_drawing(chart(picture), path)
    elif ending == ".csv":
        _write(picture_to_csv(picture), path)
    elif ending == ".html":
        _write(pictures_page([picture]), path)
    else:
        raise _no_such(path, "picture", (*DRAWN, ".csv", ".html"))


def save_drawing(drawing: Drawing, path: Path) -> None:
    """Write a drawing as its ending says: .svg, .png or .pdf."""
    ending = path.suffix.lower()
    if ending == ".svg":
        _write(to_svg(drawing), path)
    elif ending == ".png" or ending == ".pdf":
        figure = to_figure(drawing, "png" if ending == ".png" else "pdf")
        path.parent.mkdir(parents=True, exist_ok=True)
        whole_bytes(path, figure)
    else:
        raise _no_such(path, "drawing", DRAWN)


def size_of(what: AttentionRecord | Picture | Drawing, ending: str) -> int:
    """About how many bytes a file with this ending would have, known before it is written."""
    if isinstance(what, Drawing):
        return sum(_size_of_cells(one.values.size, (one.rows, one.columns), ending) for one in what.cells)
    if isinstance(what, Picture):
        return _size_of_cells(what.cells.size, (what.rows, what.columns), ending)
    if ending in DRAWN:
        return size_of(what.picture(), ending)
    words = {side: _mean(what.tokens_of(side)) for side in ("source", "target", "input")} if ending == ".csv" else {}
    cells = sum(one.weights.size for one in what.maps)
    named = sum(one.weights.size * (words.get(one.rows, 0) + words.get(one.columns, 0)) for one in what.maps)
    return int(cells * BYTES[ending] + named)


def _size_of_cells(cells: int, sides: tuple[Sequence[str], Sequence[str]], ending: str) -> int:
    named = sum(map(_mean, sides)) if ending == ".svg" else 0.0
    return int(cells * (BYTES[ending] + named))


def _mean(tokens: Sequence[str]) -> float:
    return sum(len(token.encode()) for token in tokens) / max(1, len(tokens))


def _write(text: str, path: Path) -> None:
    with whole_file(path) as file:
        file.write(text)


def _no_such(path: Path, what: str, endings: Sequence[str]) -> UsageError:
    given = f"the ending {path.suffix}" if path.suffix else "no ending"
    return UsageError(f"{path}: a {what} cannot be saved with {given}; there is {', '.join(endings)}")
