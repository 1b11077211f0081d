"""Lines in, lines out: terminals, signals, two commands at once, standard input, encodings."""

import errno
import io
import json
import os
import signal
import subprocess
import sys

import pytest
from command import NUNGIL, invoke, run_redirected
from model_folders import CLASSIFIER, LUONG, classifier_folder, translator_folder

from nungil.cli import texts
from nungil.cli.lines import Unfinished, work_through
from nungil.cli.texts import Texts
from nungil.errors import CorpusError, ResourceError, StoppedError, UsageError
from nungil.pipeline import load

LINES = ["I like snow", "", "We saw a ship", "The child ate a pear", "snow"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return translator_folder(tmp_path_factory.mktemp("model") / "luong", LUONG)


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    return classifier_folder(tmp_path_factory.mktemp("model") / "labels", CLASSIFIER)


@pytest.fixture
def article(tmp_path):
    (tmp_path / "article.txt").write_text("".join(f"{line}\n" for line in LINES))
    return tmp_path / "article.txt"


@pytest.fixture
def typed(monkeypatch):
    """Bytes that come through standard input."""

    def give(content):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content), encoding="ascii"))

    return give


def upper(lines, number):
    return [f"{place}:{line.upper()}" for place, line in enumerate(lines, number)]


# Terminals


def at_a_terminal(*arguments, stdout=None):
    """A command whose talk, and by default all else, goes to a terminal: its exit code, and what the screen showed."""
    screen, terminal = os.openpty()
    try:
        with subprocess.Popen([*NUNGIL, *arguments], stdout=stdout or terminal, stderr=terminal) as process:
            os.close(terminal)
            shown = b""
            try:
                while block := os.read(screen, 65536):
                    shown += block
            except OSError:  # so Linux says that nobody has the terminal open any more
                pass
    finally:
        os.close(screen)
    return process.returncode, shown.decode()


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["translate", "classify"])
def test_answers_go_where_standard_output_goes_whatever_the_terminal_shows(verb, request, article, tmp_path):
    folder = request.getfixturevalue({"translate": "model", "classify": "labels"}[verb])
    with article.open("a") as file:
        file.write("snow " * 99 + "\n")
    with (tmp_path / "out").open("wb") as out:
        code, shown = at_a_terminal(verb, str(folder), str(article), stdout=out)
    assert code == 0, shown
    assert (tmp_path / "out").read_text() == invoke(verb, str(folder), str(article)).stdout
    assert "6/6" in shown, "there is a bar"
    assert "longer than the 9 tokens" in " ".join(shown.split())


@pytest.mark.slow
def test_no_bar_runs_through_answers_on_the_same_screen(model, article):
    code, shown = at_a_terminal("translate", str(model), str(article))
    assert code == 0, shown
    assert "5/5" not in shown
    assert invoke("translate", str(model), str(article)).stdout in shown.replace("\r\n", "\n")


# Two commands at once


def test_a_second_command_for_the_same_file_is_refused(article, tmp_path):
    out = tmp_path / "out"

    def answer(lines, number):
        with pytest.raises(UsageError) as caught:
            work_through(Texts([article]), out, {}, upper)
        assert str(caught.value) == (
            f"{out}.part: another command is writing it now; wait until it is done, or choose another --out"
        )
        return upper(lines, number)

    work_through(Texts([article]), out, {}, answer)
    assert out.read_text().splitlines() == upper(LINES, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["article.txt", "out"]


def test_a_file_that_somebody_else_has_made_meanwhile_is_not_written_over(article, tmp_path, capsys):
    out = tmp_path / "out"

    def answer(lines, number):
        out.write_text("theirs")
        return upper(lines, number)

    with pytest.raises(UsageError) as caught:
        work_through(Texts([article]), out, {}, answer)
    assert str(caught.value) == (
        f"{out}: was created by another process meanwhile, and is not overwritten; all answers are in {out}.part"
    )
    assert out.read_text() == "theirs"
    out.unlink()
    work_through(Texts([article]), out, {}, upper)
    assert out.read_text().splitlines() == upper(LINES, 1)
    assert capsys.readouterr().err == "Continuing after line 5.\n"


@pytest.mark.parametrize("replaced", [True, False])
def test_a_file_that_was_taken_away_is_not_gone_on_with(article, tmp_path, monkeypatch, replaced):
    monkeypatch.setattr(texts, "CHUNK", 2)
    part = tmp_path / "out.part"

    def answer(lines, number):
        if number == 3:
            part.rename(tmp_path / "elsewhere")
            if replaced:
                part.write_text("x" * 99)
        return upper(lines, number)

    with pytest.raises(ResourceError) as caught:
        work_through(Texts([article]), tmp_path / "out", {}, answer)
    assert str(caught.value) == f"{part}: was deleted or replaced while it was being written; start over"
    assert part.exists() == replaced
    assert (tmp_path / "elsewhere").read_text().splitlines() == upper(LINES[:2], 1)


def test_less_than_was_counted_is_not_gone_on_with(article, tmp_path, monkeypatch):
    stop_after(2, article, tmp_path / "out", monkeypatch)
    (tmp_path / "out.part").write_text("x")
    with pytest.raises(UsageError, match="left by another command"):
        work_through(Texts([article]), tmp_path / "out", {}, upper)


def test_answers_that_a_full_disk_cut_short_are_gone_on_with(article, tmp_path, monkeypatch):
    out, append = tmp_path / "out", Unfinished._append

    def half(self, file, content):
        append(self, file, content[: len(content) // 2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(texts, "CHUNK", 2)
    with monkeypatch.context() as patched, pytest.raises(ResourceError, match="No space left on device"):
        patched.setattr(Unfinished, "_append", half)
        work_through(Texts([article]), out, {}, upper)
    work_through(Texts([article]), out, {}, upper)
    assert out.read_text().splitlines() == upper(LINES, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["article.txt", "out"]


def test_nothing_is_left_where_nothing_was_done(tmp_path):
    with pytest.raises(CorpusError, match="there is no such file"):
        work_through(Texts([tmp_path / "nothing"]), tmp_path / "out", {}, upper)
    assert list(tmp_path.iterdir()) == []


# Signals


def stop_after(line, article, out, monkeypatch, number=signal.SIGINT):
    """The error of a command that a signal met while it answered the lines after this one."""
    monkeypatch.setattr(texts, "CHUNK", 2)

    def answer(lines, first):
        if first > line:
            signal.raise_signal(number)
        return upper(lines, first)

    given = Texts([article] if article else [])
    with pytest.raises(StoppedError) as caught:
        work_through(given, out, {}, answer)
    return caught.value


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_with_a_word_on_how_to_go_on(article, tmp_path, monkeypatch, capsys, number, code):
    before = signal.getsignal(number)
    error = stop_after(4, article, tmp_path / "out", monkeypatch, number)
    assert str(error) == "stopped after line 4; the same command continues there"
    assert error.exit_code == code
    assert signal.getsignal(number) == before
    work_through(Texts([article]), tmp_path / "out", {}, upper)
    assert capsys.readouterr().err == "Continuing after line 4.\n"
    assert (tmp_path / "out").read_text().splitlines() == upper(LINES, 1)


def test_a_signal_before_the_first_answers_leaves_nothing(article, tmp_path, monkeypatch):
    error = stop_after(0, article, tmp_path / "out", monkeypatch)
    assert str(error) == "stopped before the first answers were written"
    assert [path.name for path in tmp_path.iterdir()] == ["article.txt"]


def test_ctrl_c_is_answered_by_every_command(model, article, tmp_path, monkeypatch):
    def interrupted(*given, **options):
        del given, options
        raise KeyboardInterrupt

    monkeypatch.setattr(type(load(model)), "translate", interrupted)
    found = invoke("translate", str(model), str(article))
    assert (found.returncode, found.stderr) == (130, "nungil: stopped\n")
    found = invoke("translate", str(model), str(article), "--out", str(tmp_path / "out"))
    assert (found.returncode, found.stderr) == (130, "nungil: stopped before the first answers were written\n")


# Standard input


@pytest.mark.slow
def test_without_standard_input_there_is_nothing_to_translate(model):
    assert run_redirected("<&-", "translate", str(model)) == (0, "", "")


def test_standard_input_begins_anew_and_says_so(typed, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out"
    typed(b"one\ntwo\nthree\n")
    assert str(stop_after(2, None, out, monkeypatch)) == f"stopped after line 2; its answers are in {out}.part"
    typed(b"four\nfive\n")
    work_through(Texts([]), out, {}, upper)
    assert out.read_text() == "1:FOUR\n2:FIVE\n"
    assert capsys.readouterr().err == ("Starting over: standard input may be different each time.\n")


def test_standard_input_does_not_write_over_what_a_file_was_answered(typed, article, tmp_path, monkeypatch):
    stop_after(2, article, tmp_path / "out", monkeypatch)
    typed(b"one\n")
    with pytest.raises(UsageError, match="left by another command"):
        work_through(Texts([]), tmp_path / "out", {}, upper)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"snow\nI like\0snow\n", ":2: a NUL character; this is no text file, or UTF-16 (give --encoding utf-16-le)"),
        (b"a\n" + b"b" * 1_000_001, ":2: a line of more than 1,000,000 characters; does the file have line ends?"),
        (b"a\rb\rc", ":1: the line ends are \\r alone, as on a very old Macintosh; save the file with \\n"),
        ("I\n눈이 내린다\n".encode("cp949"), ":2: not UTF-8, but it reads as Korean CP949: give --encoding cp949"),
        ("snow\n".encode("utf-16"), ":1: not UTF-8: it begins with the mark of UTF-16; give --encoding utf-16"),
    ],
    ids=["NUL", "too long", "CR", "CP949", "UTF-16"],
)
def test_standard_input_is_refused_as_a_file_is(typed, tmp_path, content, message):
    (tmp_path / "file").write_bytes(content)
    typed(content)
    for given, name in ((Texts([]), "standard input"), (Texts([tmp_path / "file"]), tmp_path / "file")):
        with pytest.raises(CorpusError) as caught:
            list(given.chunks())
        assert str(caught.value) == f"{name}{message}"


def test_utf_16_is_known_by_its_mark(typed, tmp_path):
    (tmp_path / "file").write_bytes(b"I like snow\n")
    typed(b"I like snow\n")
    for files, name in (([], "standard input"), ([tmp_path / "file"], tmp_path / "file")):
        with pytest.raises(CorpusError) as caught:
            list(Texts(files, "utf-16").chunks())
        assert str(caught.value) == (
            f"{name}:1: not utf-16: it does not begin with the mark of that encoding; try --encoding utf-8, or "
            "utf-16-le if it has none"
        )


@pytest.mark.parametrize("encoding", ["utf-8", "cp949", "utf-16", "utf-16-le"])
def test_standard_input_and_files_are_read_alike(typed, tmp_path, encoding):
    content = "눈\r\n\nsnow\x0bfell\n배".encode(encoding)
    (tmp_path / "file").write_bytes(content)
    typed(content)
    expected = [["눈", "", "snow\x0bfell", "배"]]
    assert list(Texts([], encoding).chunks()) == list(Texts([tmp_path / "file"], encoding).chunks()) == expected


def test_a_line_that_comes_in_pieces_is_one_line(monkeypatch):
    pieces = [b"\xef\xbb\xbfa\rb", "눈".encode()[:1], "눈".encode()[1:] + b"\nc", b"d\n"]

    class Pipe(io.BytesIO):
        def read1(self, size=-1, /):
            del size
            return pieces.pop(0) if pieces else b""

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Pipe()))
    assert list(Texts([]).chunks()) == [["a\rb눈", "cd"]]


# Encodings and places


def test_another_encoding_is_named_by_an_option(model, labels, tmp_path):
    korean, plain = tmp_path / "korean.txt", tmp_path / "plain.txt"
    korean.write_bytes("눈 snow\n".encode("cp949"))
    plain.write_text("눈 snow\n")
    for folder, verb in ((model, "translate"), (labels, "classify")):
        found = invoke(verb, str(folder), str(korean), "--encoding", "cp949", "--json")
        assert found.returncode == 0, found.stderr
        assert found.stdout == invoke(verb, str(folder), str(plain), "--json").stdout
        assert json.loads(found.stdout)["source"] == "눈 snow"
        found = invoke(verb, str(folder), str(korean), "--encoding", "klingon")
        assert found.returncode == 2
        assert found.stderr.startswith("nungil: --encoding: there is no encoding 'klingon'; try utf-8")


def test_align_reads_both_of_its_files_in_the_encoding(model, tmp_path):
    pairs, gold = tmp_path / "pairs.tsv", tmp_path / "gold.txt"
    for encoding in ("utf-8", "utf-16"):
        pairs.write_bytes("I like snow\t나는 눈을 좋아한다\n".encode(encoding))
        gold.write_bytes("0-0 2-1\n".encode(encoding))
        found = invoke("align", str(model), str(pairs), "--gold", str(gold), "--encoding", encoding)
        assert found.returncode == 0, found.stderr
        assert found.stdout.count("\n") == 1
    assert invoke("align", str(model), str(pairs)).returncode == 3


def test_a_line_is_named_by_its_file_and_its_place_there(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "CHUNK", 2)
    files = [tmp_path / name for name in ("one", "empty", "two")]
    for path, lines in zip(files, (3, 0, 2), strict=True):
        path.write_text("snow\n" * lines)
    given = Texts(files)
    assert sum(map(len, given.chunks())) == given.count() == 5
    assert [given.place(number) for number in range(1, 6)] == [
        *(f"{files[0]}:{line}" for line in (1, 2, 3)),
        *(f"{files[2]}:{line}" for line in (1, 2)),
    ]


def test_a_line_of_standard_input_is_named_too(typed):
    typed(b"one\ntwo\n")
    given = Texts([])
    assert list(given.chunks()) == [["one", "two"]]
    assert given.place(2) == "standard input:2"
