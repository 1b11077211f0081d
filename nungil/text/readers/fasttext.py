"""fastText's form of labelled text: `__label__x text`."""

from nungil.errors import CorpusError
from nungil.text.files import read_lines
from nungil.text.source import Rows, Source

MARK = "__label__"


def read_fasttext(source: Source) -> Rows:
    """Rows of a fastText file: text, then label. An empty line is a row of empty texts, for cleaning to count."""
    (path,) = source.files
    name = str(path)
    for line, text in enumerate(read_lines(path, source.encoding), 1):
        if not text.strip():
            yield "", "", name, line
            continue
        label, _, rest = text.partition(" ")
        if not label.startswith(MARK) or label == MARK:
            raise CorpusError(f"{name}:{line}: a line must begin with its label, as in `{MARK}x text`")
        if rest.startswith(MARK):
            raise CorpusError(f"{name}:{line}: several labels; a classifier of nungil gives a text one")
        yield rest, label.removeprefix(MARK), name, line
