"""Direction: from which language a corpus is translated into which, and that all of its files agree with that."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

import numpy as np

from nungil.errors import CorpusError
from nungil.text.corpus import Corpus
from nungil.text.languages import Languages, declared_tag, read_tag, tag_of
from nungil.text.readers import read_rows
from nungil.text.scripts import NONE, SCRIPTS, ScriptTable
from nungil.text.source import UNITS, CorpusSettings, Source

LOOKED_AT = 200  # rows from which the letters of a side are told
_LETTERS = {
    "Latin": "af ca cs cy da de en es et eu fi fr ga gl hr hu id is it la lt lv mt nb nl nn no pl pt ro sk sl sq sv sw "
    "tl tr vi zu",
    "Hangul": "ko",
    "Kana Han": "ja",
    "Han": "zh",
    "Cyrillic": "be bg kk ky mk ru tg uk",
    "Greek": "el",
    "Arabic": "ar fa ps sd ug ur",
    "Hebrew": "he yi",
    "Devanagari": "hi mr ne sa",
    "Bengali": "as bn",
    "Tamil": "ta",
    "Thai": "th",
    "Georgian": "ka",
    "Armenian": "hy",
}
# The scripts of languages that are written in one way only.
LETTERS = {tag: frozenset(scripts.split()) for scripts, tags in _LETTERS.items() for tag in tags.split()}


def asked_languages(settings: CorpusSettings) -> Languages:
    """Those that were said, each by its tag."""
    return Languages(*(read_tag(tag) if tag is not None else "" for tag in (settings.source, settings.target)))


def languages_of(corpus: Corpus, settings: CorpusSettings) -> Languages:
    """Those asked for; else those that the names of the first source tell, in their order."""
    asked, told = asked_languages(settings), _tags(corpus.sources[0])
    if asked.source and not asked.target and _is_that(asked.source, told.target, told.source):
        return Languages(asked.source, told.source)
    if asked.target and not asked.source and _is_that(asked.target, told.source, told.target):
        return Languages(told.target, asked.target)
    return Languages(asked.source or told.source, asked.target or told.target)


def directed(corpus: Corpus, languages: Languages, settings: CorpusSettings) -> Corpus:
    """The same corpus with the source language first in each of its sources. Columns that were chosen stay."""
    sources = corpus.sources if settings.columns else tuple(_turned(source, languages) for source in corpus.sources)
    for source in sources:
        _refuse_other_letters(source, languages)
    return Corpus(corpus.task, sources)


def _is_that(asked: str, side: str, other: str) -> bool:
    """Whether a side is in the language asked for: it is told so; or it has no name, and the other has another one."""
    return asked == side or (not side and other not in ("", asked))


def _tags(source: Source) -> Languages:
    tag = declared_tag if source.format in UNITS else tag_of
    return Languages(tag(source.names[0]), tag(source.names[1]))


def _turned(source: Source, languages: Languages) -> Source:
    told = _tags(source)
    if _agree(told, languages):
        return source
    back = told[::-1]
    if _agree(back, languages) and any(one and one == other for one, other in zip(back, languages, strict=True)):
        files = source.files[::-1] if source.format == "aligned" else source.files
        return replace(source, files=files, columns=source.columns[::-1], names=source.names[::-1])
    raise CorpusError(
        f"{source.name}: by their names its columns are {_or_unknown(told)}, but {_or_unknown(languages)} are wanted; "
        "choose two with --columns"
    )


def _agree(told: Sequence[str], wanted: Sequence[str]) -> bool:
    return all(not ours or not theirs or ours == theirs for ours, theirs in zip(told, wanted, strict=True))


def _or_unknown(languages: Languages) -> str:
    return f"{languages.source or 'unknown'} and {languages.target or 'unknown'}"


def _refuse_other_letters(source: Source, languages: Languages) -> None:
    """Where each side is written in the letters of the other, the model would learn to translate the other way."""
    expected = [LETTERS.get(tag) for tag in languages]
    if not any(expected):
        return
    scripts = _scripts(source)
    swapped = [
        scripts[1 - side] in wanted and scripts[side] not in (*wanted, NONE)
        for side, wanted in enumerate(expected)
        if wanted is not None
    ]
    if all(swapped):
        raise CorpusError(
            f"{source.name}: {_or_unknown(languages)} are wanted, but its source is written in {scripts[0]} letters, "
            f"its target in {scripts[1]}; {_way_to_turn(source)}"
        )


def _scripts(source: Source) -> tuple[str, str]:
    """What most of the first texts of each side are written in. A file that cannot be read is for others to name."""
    rows: list[tuple[str, str]] = []
    with suppress(CorpusError):
        rows.extend((row[0], row[1]) for row in islice(read_rows(source), LOOKED_AT))
    table = ScriptTable()
    first, second = (_usual([row[side] for row in rows], table) for side in (0, 1))
    return first, second


def _usual(texts: Sequence[str], table: ScriptTable) -> str:
    written_in = np.argmax(table.letters(texts), axis=1)
    counts = np.bincount(written_in, minlength=len(SCRIPTS))
    counts[SCRIPTS.index(NONE)] = 0
    return SCRIPTS[int(np.argmax(counts))] if counts.any() else NONE


def _way_to_turn(source: Source) -> str:
    if source.format == "aligned":
        return "name the two files in the other order, or turn --from and --to round"
    named = source.format in ("jsonl", *UNITS)
    first, second = source.names if named else (str(place + 1) for place in source.columns)
    return f"turn it round with --columns {second},{first}, or turn --from and --to round"
