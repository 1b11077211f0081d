"""Direction: from which language a corpus is translated into which, and that all of its files agree with that."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
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
    "Kana": "ja",  # among Han, which Chinese has alone
    "Han": "zh",
    "Cyrillic": "be bg mk ru uk",
    "Greek": "el",
    "Arabic": "ar fa ps ur",
    "Hebrew": "he yi",
    "Devanagari": "hi mr ne",
    "Bengali": "as bn",
    "Tamil": "ta",
    "Thai": "th",
    "Georgian": "ka",
    "Armenian": "hy",
}
# The script of languages that are written in one way only.
LETTERS = {tag: script for script, tags in _LETTERS.items() for tag in tags.split()}
HAN, KANA = SCRIPTS.index("Han"), SCRIPTS.index("Kana")


def asked_languages(settings: CorpusSettings) -> Languages:
    """Those that were said, each by its tag."""
    return Languages(*(read_tag(tag) if tag is not None else "" for tag in (settings.source, settings.target)))


def languages_of(corpus: Corpus, settings: CorpusSettings) -> Languages:
    """Those asked for; what was not said, by the names of the first source that names both, or of the first."""
    told = next((tags for tags in map(_tags, corpus.sources) if all(tags)), _tags(corpus.sources[0]))
    asked = asked_languages(settings)
    if _is_the_other_way_round(told, asked):
        told = Languages(*told[::-1])
    return Languages(asked.source or told.source, asked.target or told.target)


def _is_the_other_way_round(told: Languages, asked: Languages) -> bool:
    """Whether the one language asked for is the other side's: named so, or without a name beside another language."""
    if bool(asked.source) == bool(asked.target):
        return False
    side, other, wanted = (*told[::-1], asked.source) if asked.source else (*told, asked.target)
    return wanted == side or (not side and other not in ("", wanted))


def turned(corpus: Corpus, languages: Languages, settings: CorpusSettings) -> Corpus:
    """The same corpus with the source language first in each of its sources, by the names of its columns.

    Columns that were chosen by number are meant as they are, whatever they are called.
    """
    if _are_numbers(settings.columns):
        return corpus
    return Corpus(corpus.task, tuple(_turned(source, languages) for source in corpus.sources))


def _turned(source: Source, languages: Languages) -> Source:
    told = _tags(source)
    if _agree(told, languages):
        return source
    back = told[::-1]
    # A side without a name agrees with any language, so one of the two must be named as is wanted.
    if _agree(back, languages) and any(one and one == other for one, other in zip(back, languages, strict=True)):
        return _back(source)
    declared, way_out = "by their names its columns are", "; choose two with --columns, by number if a name is wrong"
    if source.format in UNITS:
        declared, way_out = "it declares", ""
    raise CorpusError(
        f"{source.name}: {declared} {_or_unknown(told)}, but {_or_unknown(languages)} are wanted{way_out}"
    )


def _back(source: Source) -> Source:
    files = source.files[::-1] if source.format == "aligned" else source.files
    return replace(source, files=files, columns=source.columns[::-1], names=source.names[::-1])


def _are_numbers(columns: Sequence[str]) -> bool:
    return bool(columns) and all(name.isdecimal() for name in columns)


def _tags(source: Source) -> Languages:
    tag = declared_tag if source.format in UNITS else tag_of
    return Languages(tag(source.names[0]), tag(source.names[1]))


def _agree(told: Sequence[str], wanted: Sequence[str]) -> bool:
    return all(not ours or not theirs or ours == theirs for ours, theirs in zip(told, wanted, strict=True))


def _or_unknown(languages: Languages) -> str:
    return f"{languages.source or 'unknown'} and {languages.target or 'unknown'}"


def turned_by_letters(corpora: Sequence[Corpus], languages: Languages, settings: CorpusSettings) -> list[Corpus]:
    """The same corpora; turned if every file has each side in the letters of the other, and no name or number says so.

    What cannot be turned in good faith is refused: a model would learn the other direction from it. Of languages that
    are not known, the letters of the first file are those of all.
    """
    sources = [source for corpus in corpora for source in corpus.sources]
    wanted = [LETTERS.get(tag, "") for tag in languages]
    if len(sources) == 1 and not any(wanted):
        return list(corpora)
    written = [_scripts(source) for source in sources]
    if not any(wanted):
        wanted = next((list(two) for two in written if two[0] != two[1] and NONE not in two), ["", ""])
    wrong = [place for place, two in enumerate(written) if _are_exchanged(two, wanted)]
    if not wrong:
        return list(corpora)
    alone = len(wrong) < len(sources)
    if not alone and not _are_numbers(settings.columns) and not any(any(_tags(source)) for source in sources):
        return [Corpus(corpus.task, tuple(map(_back, corpus.sources))) for corpus in corpora]
    source, (first, second) = sources[wrong[0]], written[wrong[0]]
    way_out = "turn this file, others are as they should be" if alone else _way_to_turn(source, languages)
    raise CorpusError(
        f"{source.name}: its source is written in {first} letters and its target in {second}, the other way round "
        f"than {_meant(languages)}; {way_out}"
    )


def odd_letters(source: Source, languages: Languages) -> Iterator[str]:
    """A sentence on each side in letters that its language is not written in: mostly, the language is wrong."""
    sides = zip(("source", "target"), ("--from", "--to"), languages, _scripts(source), strict=True)
    for side, option, tag, script in sides:
        usual = LETTERS.get(tag, NONE)
        if NONE not in (usual, script) and script != usual and (usual, script) != ("Kana", "Han"):
            yield (
                f"{source.name}: its {side} is written in {script} letters, and {tag} is not; if that is a mistake, "
                f"say what it is with {option}."
            )


def _are_exchanged(written: tuple[str, str], wanted: Sequence[str]) -> bool:
    """Whether each side whose letters are known has others, and those are on the other side."""
    known = [side for side in (0, 1) if wanted[side]]
    return bool(known) and all(
        written[1 - side] == wanted[side] and written[side] not in (wanted[side], NONE) for side in known
    )


def _meant(languages: Languages) -> str:
    if not any(languages):
        return "in the files before it"
    return " ".join(f"{word} {tag}" for word, tag in zip(("from", "to"), languages, strict=True) if tag)


def _way_to_turn(source: Source, languages: Languages) -> str:
    """What to say so that it is read as it is meant: columns by number, and the languages, whatever names tell."""
    if source.format in UNITS:
        return "mend what it declares"
    first, second = (1, 0) if source.format == "aligned" else source.columns[::-1]
    said = "".join(f" {name} {tag}" for name, tag in zip(("--from", "--to"), languages, strict=True) if tag)
    return f"turn it round: --columns {first + 1},{second + 1}{said}"


def _scripts(source: Source) -> tuple[str, str]:
    """What most of the first texts of each side are written in. A file that cannot be read is for others to name."""
    rows: list[tuple[str, str]] = []
    with suppress(CorpusError):
        rows.extend((row[0], row[1]) for row in islice(read_rows(source), LOOKED_AT))
    first, second = (_usual([row[side] for row in rows]) for side in (0, 1))
    return first, second


def _usual(texts: Sequence[str]) -> str:
    letters = _table().letters(texts)
    script = np.argmax(letters, axis=1)
    script[(script == HAN) & (letters[:, KANA] > 0)] = KANA
    counts = np.bincount(script, minlength=len(SCRIPTS))
    counts[SCRIPTS.index(NONE)] = 0
    return SCRIPTS[int(np.argmax(counts))] if counts.any() else NONE


@cache
def _table() -> ScriptTable:
    return ScriptTable()
