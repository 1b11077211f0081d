"""The encoding that a file of XML or PO declares for itself."""

import re

from nungil.text.source import Format

# By a mark, or by the first character of XML, which is <.
WIDE = {
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
    b"<\0": "utf-16-le",
    b"\0<": "utf-16-be",
}
XML = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._:-]{1,40})[\"']")
PO = re.compile(rb"Content-Type:[^\"]{0,200}?charset=([A-Za-z0-9._:-]{1,40})")
TEMPLATE = "CHARSET"  # what xgettext writes for whoever translates to fill in
# What files declare, and what their bytes often are in truth; browsers read them so too.
WIDER = {"ascii": "utf-8", "us-ascii": "utf-8", "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "gb2312": "gb18030"}


def declared_by(first: bytes, shape: Format) -> str:
    """The encoding that the beginning of a file declares, or nothing."""
    if shape == "po":
        charset = PO.search(first)
        declared = charset[1].decode() if charset else ""
        return "" if declared == TEMPLATE else declared
    if width_of(first):
        return width_of(first)
    found = XML.match(first)
    declared = found[1].decode() if found else ""
    # Written by a program that made the text before its bytes: in two bytes it could not have been read so far.
    return "" if declared.lower().startswith(("utf-16", "utf-32", "ucs")) else declared


def width_of(first: bytes) -> str:
    """The encoding of two or four bytes that XML is in, if it is in one."""
    return next((name for mark, name in WIDE.items() if first.startswith(mark)), "")


def encoding_of(declared: str, given: str) -> str:
    """The encoding of a file that declares one. What a user gives overrules it, unless that is the default."""
    if not declared or given.lower() != "utf-8":
        return given
    return WIDER.get(declared.lower(), declared)
