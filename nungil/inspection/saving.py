"""A record as a file: its ending says how. No torch."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path

from nungil.errors import UsageError
from nungil.inspection.page import to_page
from nungil.inspection.record import AttentionRecord
from nungil.text.atomic import whole_file

COLUMNS = ("kind", "layer", "head", "row", "column", "row_token", "column_token", "weight")


def to_csv(record: AttentionRecord) -> str:
    """A line for each weight of each head of each map, all counted from 0: what spreadsheets and data frames like."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in record.maps:
        rows, columns = record.tokens_of(one.rows), record.tokens_of(one.columns)
        for head, matrix in enumerate(one.weights.tolist()):
            for row, line in enumerate(matrix):
                for column, weight in enumerate(line):
                    writer.writerow([one.kind, one.layer, head, row, column, rows[row], columns[column], weight])
    return text.getvalue()


def to_json_text(record: AttentionRecord) -> str:
    """JSON, every digit of it: `AttentionRecord.load` gives the same record."""
    return json.dumps(record.to_json(), ensure_ascii=False, allow_nan=False) + "\n"


WRITERS: dict[str, Callable[[AttentionRecord], str]] = {".html": to_page, ".json": to_json_text, ".csv": to_csv}


def save_record(record: AttentionRecord, path: Path) -> None:
    """Write the record as its ending says; the file appears whole or not at all."""
    writer = WRITERS.get(path.suffix.lower())
    if writer is None:
        given = f"the ending {path.suffix}" if path.suffix else "no ending"
        raise UsageError(f"{path}: a record cannot be saved with {given}; there is {', '.join(WRITERS)}")
    text = writer(record)
    with whole_file(path) as file:
        file.write(text)
