"""Bytes that are not what they were said to be: which lines, and what they are more likely to be."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

CANDIDATES = {"utf-8": "UTF-8", "cp949": "Korean CP949", "cp1252": "Western cp1252"}
NAMED = 5  # bad lines that are listed
ENOUGH = 50  # bad lines that are looked at
LONGEST = 4_000_000  # bytes of a line; past it the search for more bad lines ends
SYLLABLE = re.compile("[가-힣]")
HANJA = re.compile("[\u4e00-\u9fff\uf900-\ufaff]")
WIDE_MARKS = (b"\xff\xfe", b"\xfe\xff")


@dataclass
class _Found:
    """What a look through the whole file found: bad lines, and whether others show that the encoding is right."""

    numbers: list[int] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    others_prove: bool = False


def describe_bad_bytes(blocks: Iterator[bytes], encoding: str, line: int) -> str:
    """`3: not UTF-8 …`: the line, the next few that are bad too, and how to read or mend them."""
    shown = CANDIDATES.get(encoding.lower(), encoding).removeprefix("Korean ").removeprefix("Western ")
    if "\n".encode(encoding) != b"\n":  # UTF-16 and its kin: bytes do not show where lines end
        return f"{line}: not {shown}"
    found = _look_through(blocks, encoding)
    if found.lines and found.lines[0].startswith(WIDE_MARKS) and found.numbers[0] == 1:
        return f"1: not {shown}: it begins with the mark of UTF-16; give --encoding utf-16"
    if any(b"\0" in bad for bad in found.lines):
        if _every_second_is_nul(b"\n".join(found.lines)):
            return f"{line}: not {shown}: it looks like UTF-16 without its mark; try --encoding utf-16-le"
        return f"{line}: not text at all: it has NUL bytes, as pictures and programs have"
    first, *others = found.numbers or [line]
    also = f" (also {_listed(others)})" if others else ""
    likely = _likely(found.lines, encoding)
    reads = f", but it reads as {CANDIDATES[likely]}" if likely else ""
    if found.others_prove:
        them = "these lines" if others else "this line"
        return f"{first}: not {shown}{also}{reads}; the rest of the file is {shown}, so mend {them}"
    if likely:
        return f"{first}: not {shown}{also}{reads}: give --encoding {likely}"
    return f"{first}: not {shown}{also}, nor anything else that can be told; if you know the encoding, give --encoding"


def describe_no_mark(encoding: str, line: int) -> str:
    """The same where Python's decoder names no bytes: UTF-16 is known by its first two."""
    return (
        f"{line}: not {encoding}: it does not begin with the mark of that encoding; try --encoding utf-8, or "
        f"{encoding}-le if it has none"
    )


def _listed(numbers: list[int]) -> str:
    if len(numbers) == 1:
        return f"line {numbers[0]}"
    shown = ", ".join(map(str, numbers[: NAMED - 1]))
    return f"lines {shown}{' and more' if len(numbers) >= NAMED else ''}"


def _look_through(blocks: Iterator[bytes], encoding: str) -> _Found:
    found = _Found()
    for number, line in enumerate(_byte_lines(blocks), 1):
        if line.isascii():
            continue
        try:
            line.decode(encoding)
            found.others_prove = True
        except UnicodeDecodeError:
            found.numbers.append(number)
            found.lines.append(line)
            if len(found.numbers) == ENOUGH:
                break
    return found


def _byte_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    rest = b""
    for block in blocks:
        *lines, rest = (rest + block).split(b"\n")
        yield from lines
        if len(rest) > LONGEST:
            break
    yield rest


def _likely(lines: list[bytes], encoding: str) -> str:
    """The encoding that all bad lines are good in and make sense in, or nothing."""
    joined = b"\n".join(lines)
    for candidate, makes_sense in (("utf-8", _any_text), ("cp949", _is_korean), ("cp1252", _is_western)):
        if candidate == encoding.lower():
            continue
        try:
            text = joined.decode(candidate)
        except UnicodeDecodeError:
            continue
        if makes_sense(text):
            return candidate
    return ""


def _every_second_is_nul(joined: bytes) -> bool:
    """Western text in UTF-16: nearly all NULs are at even places, or nearly all at odd ones."""
    even, odd = joined[::2].count(0), joined[1::2].count(0)
    return max(even, odd) * 3 > len(joined) // 2 and min(even, odd) * 10 < max(even, odd)


def _any_text(text: str) -> bool:
    """Bytes that are not ASCII and yet good UTF-8 are hardly ever anything else."""
    return bool(text)


def _is_korean(text: str) -> bool:
    """Mostly syllables and few ideographs; Chinese or Japanese read as CP949 gives many of these, or loose jamo."""
    beyond = sum(not character.isascii() for character in text)
    syllables = len(SYLLABLE.findall(text))
    return syllables * 2 > beyond and len(HANJA.findall(text)) * 5 < syllables


def _is_western(text: str) -> bool:
    """Accented letters and curly quotes here and there; where half of the text is beyond ASCII it is another script."""
    beyond = [character for character in text if not character.isascii()]
    letters = sum(character.isalpha() or character in "‘’“”–—…€«»°§" for character in beyond)
    return letters * 2 > len(beyond) and len(beyond) * 3 < len(text)
