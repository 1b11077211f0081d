"""Lines out of files: what is read, and the sentence that each kind of broken file ends in."""

import errno
import gzip
import os
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nungil.errors import CorpusError, ResourceError, UsageError
from nungil.text import files
from nungil.text.atomic import whole_bytes, whole_file
from nungil.text.files import read_lines


def written(folder, data: bytes, name="some.txt"):
    path = folder / name
    path.write_bytes(data)
    return path


def sentence(path, encoding="utf-8"):
    """What a user reads, with the folder left out."""
    with pytest.raises(CorpusError) as caught:
        list(read_lines(path, encoding))
    assert caught.value.exit_code == 3
    return str(caught.value).replace(f"{path.parent}/", "")


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"one\ntwo\n", ["one", "two"]),
        (b"one\ntwo", ["one", "two"]),
        (b"one\r\ntwo\r\n", ["one", "two"]),
        (b"one\r\ntwo\r", ["one", "two"]),
        (b"a\rb\n", ["a\rb"]),
        (b"\xef\xbb\xbfone\n", ["one"]),
        (b"\xef\xbb\xbf", []),
        ("a\u2028b\x0bc\x85d\x1ee\n눈\n".encode(), ["a\u2028b\x0bc\x85d\x1ee", "눈"]),
    ],
)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_only_a_line_feed_ends_a_line(tmp_path, data, lines, pack):
    assert list(read_lines(written(tmp_path, pack(data)))) == lines


@given(lines=st.lists(st.text(st.characters(exclude_characters="\n\r\0\ufeff", exclude_categories=["Cs"]))))
@pytest.mark.parametrize("block", [2, 7, 1 << 18])
def test_lines_come_back_however_the_file_falls_into_blocks(tmp_path_factory, lines, block):
    path = tmp_path_factory.mktemp("lines") / "a"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "BLOCK", block)
        assert list(read_lines(path)) == lines
        path.write_bytes(gzip.compress(path.read_bytes()))
        assert list(read_lines(path)) == lines


def test_gzip_is_told_by_its_bytes_not_by_its_name(tmp_path):
    assert list(read_lines(written(tmp_path, gzip.compress(b"one\n"), "a.txt"))) == ["one"]
    assert list(read_lines(written(tmp_path, b"one\n", "b.gz"))) == ["one"]


def test_gzip_of_several_members_and_padding_is_read_to_its_end(tmp_path):
    data = gzip.compress(b"one\nt") + gzip.compress(b"wo\n") + bytes(512)
    assert list(read_lines(written(tmp_path, data))) == ["one", "two"]


def test_a_cut_off_gzip_names_the_line_it_reached(tmp_path):
    text = b"".join(b"line %d %d\n" % (number, number * 7919 % 104729) for number in range(1, 20_001))
    whole = gzip.compress(text)
    path = written(tmp_path, whole[: len(whole) // 2], "cut.gz")
    found = sentence(path)
    line = int(found.split(":")[1])
    assert found == f"cut.gz:{line}: the gzip file is cut off here; fetch or copy it again"
    assert 9_000 < line < 11_000
    written(tmp_path, whole[:-3], "cut.gz")
    assert sentence(path) == "cut.gz:20001: the gzip file is cut off here; fetch or copy it again"


def test_a_damaged_gzip_is_told_from_a_whole_one(tmp_path):
    whole = bytearray(gzip.compress(os.urandom(99).hex().encode() * 50))
    whole[-6] ^= 255  # the checksum
    found = sentence(written(tmp_path, bytes(whole), "bad.gz"))
    assert found == "bad.gz:1: the gzip file is damaged here; fetch or copy it again"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("하나\tone\n둘\ttwo\n".encode("cp949"), "1: not UTF-8 (also line 2), but it reads as Korean CP949: "),
        (b"a\nb\n" + "셋".encode("cp949"), "3: not UTF-8, but it reads as Korean CP949: "),
    ],
)
def test_korean_cp949_is_recognised(tmp_path, data, message):
    path = written(tmp_path, data, "k.tsv")
    assert sentence(path) == f"k.tsv:{message}give --encoding cp949"


def test_cp949_reads_with_its_encoding(tmp_path):
    path = written(tmp_path, "똠방각하\r\n펲시\n".encode("cp949"))
    assert list(read_lines(path, "cp949")) == ["똠방각하", "펲시"]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("今天下雪了，路上很白，我们慢慢地走回家去", "gb18030"), ("きょうはゆきがふった。みちはしろい", "euc-jp")],
)
def test_other_scripts_are_not_taken_for_korean(tmp_path, text, encoding):
    assert sentence(written(tmp_path, text.encode(encoding), "x.txt")) == (
        "x.txt:1: not UTF-8, nor anything else that can be told; if you know the encoding, give --encoding"
    )


def test_western_bytes_are_recognised(tmp_path):
    path = written(tmp_path, "plain\nun café déjà\n".encode("latin-1"), "w.txt")
    assert sentence(path) == "w.txt:2: not UTF-8, but it reads as Western cp1252: give --encoding cp1252"


def test_one_bad_line_in_a_good_file_is_to_be_mended(tmp_path):
    path = written(tmp_path, "눈\n".encode() + "un café\n".encode("latin-1"), "m.txt")
    assert sentence(path) == (
        "m.txt:2: not UTF-8, but it reads as Western cp1252; the rest of the file is UTF-8, so mend this line"
    )


def test_many_bad_lines_are_listed_up_to_five(tmp_path):
    data = b"".join(b"ok\n" * number + b"\xff\xff\xff\n" for number in range(1, 9))
    assert sentence(written(tmp_path, data, "x.txt")) == (
        "x.txt:2: not UTF-8 (also lines 5, 9, 14, 20 and more), nor anything else that can be told; "
        "if you know the encoding, give --encoding"
    )


def test_utf_16_is_recognised_with_and_without_its_mark(tmp_path):
    path = written(tmp_path, "눈 snow\n".encode("utf-16"), "u.txt")
    assert sentence(path) == "u.txt:1: not UTF-8: it begins with the mark of UTF-16; give --encoding utf-16"
    assert list(read_lines(path, "utf-16")) == ["눈 snow"]
    path = written(tmp_path, "a\n길 눈 snow\n".encode("utf-16-le"), "v.txt")
    assert sentence(path) == "v.txt:2: not UTF-8: it looks like UTF-16 without its mark; try --encoding utf-16-le"
    assert list(read_lines(path, "utf-16-le")) == ["a", "길 눈 snow"]


def test_utf_8_under_another_encoding_is_recognised(tmp_path):
    path = written(tmp_path, "snow\n눈 내리는\n".encode(), "k.txt")
    assert sentence(path, "ascii") == "k.txt:2: not ascii, but it reads as UTF-8: give --encoding utf-8"


def test_an_unknown_encoding_is_a_mistake_of_usage(tmp_path):
    with pytest.raises(UsageError) as caught:
        list(read_lines(written(tmp_path, b""), "kp949"))
    assert str(caught.value) == "--encoding: there is no encoding 'kp949'; try utf-8, cp949, utf-16 or cp1252"
    with pytest.raises(UsageError):
        list(read_lines(written(tmp_path, b""), "base64"))


def test_nul_is_named_with_its_line(tmp_path):
    assert sentence(written(tmp_path, b"a\nb\nc\0\n", "n.txt")) == (
        "n.txt:3: a NUL character; this is no text file, or UTF-16 (give --encoding utf-16-le)"
    )


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_a_line_of_50_megabytes_is_refused_in_little_memory(tmp_path, pack):
    path = written(tmp_path, pack(b"short\n" + b"x" * 50_000_000), "big.txt")
    tracemalloc.start()
    found = sentence(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == "big.txt:2: a line of more than 1,000,000 characters; does the file have line ends?"
    assert peak < 10_000_000


def test_a_line_as_long_as_the_limit_is_read(tmp_path):
    path = written(tmp_path, b"x" * 1_000_000 + b"\ny\n")
    assert list(map(len, read_lines(path))) == [1_000_000, 1]


def test_what_is_no_text_file_says_what_it_is(tmp_path):
    assert sentence(tmp_path / "none") == "none: there is no such file"
    (tmp_path / "folder").mkdir()
    assert sentence(tmp_path / "folder") == "folder: this is a folder; a file is expected"
    assert sentence(written(tmp_path, b"PK\x03\x04...", "a.zip")) == (
        "a.zip: this is a zip archive; unpack it into text first (gzip is read as it is)"
    )
    for name in ("a.xlsx", "b.ODS", "c.xls"):
        magic = b"\xd0\xcf\x11\xe0..." if name == "c.xls" else b"PK\x03\x04..."
        assert sentence(written(tmp_path, magic, name)) == (
            f"{name}: this is a workbook; save it as CSV (UTF-8) in the program that made it"
        )
    assert sentence(written(tmp_path, b"PK\x03\x04...", "d.docx")) == (
        "d.docx: this is a document; save it as plain text (UTF-8) in the program that made it"
    )
    os.mkfifo(tmp_path / "pipe")
    assert sentence(tmp_path / "pipe") == (
        "pipe: not a regular file; a pipe cannot be read twice, so write it to a file first"
    )


def test_a_file_that_may_not_be_read_says_so(tmp_path, monkeypatch):
    path = written(tmp_path, b"a", "closed")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", refuse)  # root, who may run this test, may read everything
    assert sentence(path) == "closed: Permission denied"


# Files that appear whole or not at all.


def text_to(path):
    with whole_file(path) as file:
        file.write("snow\n")


def bytes_to(path):
    whole_bytes(path, b"snow\n")


@pytest.mark.parametrize("write", [text_to, bytes_to])
def test_a_file_and_its_new_name_are_on_the_disk_when_it_appears(tmp_path, monkeypatch, write):
    done, sync, replace = [], os.fsync, Path.replace

    def synced(handle):
        done.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        sync(handle)

    def replaced(beside, path):
        done.append("moved")
        return replace(beside, path)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    write(tmp_path / "a.txt")
    assert done == [str(tmp_path / f".a.txt.{os.getpid()}.part"), "moved", str(tmp_path)]
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_bytes() == b"snow\n"


@pytest.mark.parametrize("write", [text_to, bytes_to])
def test_what_is_no_folder_is_told_in_a_sentence_with_the_name_of_the_file(tmp_path, write):
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(ResourceError) as caught:
        write(tmp_path / "file" / "a.txt")
    said = os.strerror(errno.EEXIST if write is text_to else errno.ENOTDIR)
    assert str(caught.value) == f"{tmp_path}/file/a.txt: cannot be written: {said}"


def test_a_disk_that_is_full_is_told_in_a_sentence_while_it_is_written_too(tmp_path):
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))  # as write raises it: with no name of a file
    with pytest.raises(ResourceError) as caught, whole_file(tmp_path / "a.txt"):
        raise full
    assert str(caught.value) == f"{tmp_path}/a.txt: cannot be written: No space left on device"
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_cannot_be_made_is_told_in_a_sentence(tmp_path):
    path = tmp_path / "a.txt"
    (tmp_path / f".a.txt.{os.getpid()}.part").mkdir()
    with pytest.raises(ResourceError) as caught, whole_file(path):
        pass
    assert str(caught.value) == f"{path}: cannot be written: Is a directory"


def test_what_is_wrong_with_another_file_is_not_told_of_the_one_that_is_written(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, whole_file(tmp_path / "a.txt") as file:
        file.write((tmp_path / "nowhere.txt").read_text())
    assert caught.value.filename == str(tmp_path / "nowhere.txt")
    assert list(tmp_path.iterdir()) == []
