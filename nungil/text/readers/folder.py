"""A folder per label, a document per file: pos/*.txt neg/*.txt."""

from collections.abc import Iterator
from pathlib import Path

from nungil.errors import CorpusError
from nungil.text.files import LONGEST_LINE, read_lines
from nungil.text.source import Rows, Source


def read_folder(source: Source) -> Rows:
    """Rows of a folder: labels in order, and the documents of each in the order of their names."""
    for root in source.files:
        for label in label_folders(root):
            for path in documents(label):
                yield _whole(path, source.encoding), label.name, str(path), 1


def label_folders(root: Path) -> list[Path]:
    """The folders inside that hold documents, sorted by name."""
    inside = sorted(path for path in root.iterdir() if path.is_dir() and not path.name.startswith("."))
    return [path for path in inside if next(documents(path), None) is not None]


def documents(folder: Path) -> Iterator[Path]:
    """The text files of one label, sorted by name."""
    return iter(sorted(path for path in folder.iterdir() if path.name.endswith((".txt", ".txt.gz"))))


def _whole(path: Path, encoding: str) -> str:
    """A document as one text; its line ends stay, and cleaning makes them spaces."""
    lines, length = [], 0
    for line in read_lines(path, encoding):
        lines.append(line)
        length += len(line) + 1
        if length > LONGEST_LINE:
            raise CorpusError(f"{path}:{len(lines)}: a document of more than {LONGEST_LINE:,} characters")
    return "\n".join(lines)
