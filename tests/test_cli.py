"""The command line as a user meets it: real processes, what they print, how they end."""

import json
import os
import pty
import re
import resource
import subprocess
import sys
import termios

import numpy as np
import pytest
import torch
from command import NUNGIL, invoke, run, run_redirected

from nungil.cli import info
from nungil.cli.talk import guarded_output


def test_help_answers_in_under_a_third_of_a_second():
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = run("--help")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert found.returncode == 0
        assert "nungil demo" in found.stdout
    assert min(times) < 0.3, "of the processor's time: other tests wait for the same processor"


def test_every_verb_is_told_in_one_whole_line():
    told = run("--help").stdout.partition("Commands:\n")[2].splitlines()
    assert len(told) == 15
    assert not [line for line in told if "..." in line or len(line) > 80 or not line.endswith(".")]


@pytest.mark.parametrize(
    "arguments", [["--help"], ["explain", "--help"], ["check", "--help"], ["score", "--help"], ["info"], ["--version"]]
)
def test_light_commands_import_no_torch(arguments):
    script = (
        f"import sys; sys.argv = ['nungil', *{arguments!r}]\n"
        "from nungil.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "assert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60).returncode == 0


def test_importing_the_package_imports_no_torch():
    script = "import nungil, sys; assert 'torch' not in sys.modules; print(nungil.__version__)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "0.1.0\n"


def test_explain_example_prints_every_number_and_names_the_next_command():
    found = run("explain", "--example")
    assert found.returncode == 0
    for text in (
        "I like snow",
        "0.5629",
        "14.5071",
        "[0.6317, 0.2490, 0.2220, 2.0000, 0.5000, 0.0000]",
        "나는",
        "0.8575",
        "residual",
    ):
        assert text in found.stdout
    assert found.stderr == "Next: nungil explain --example dictionary\n"
    assert "\x1b" not in found.stdout, "no colours in a pipe"


def test_explain_speaks_korean():
    found = invoke("explain", "--example", "--lang", "ko")
    assert found.stderr == "Next: nungil explain --example dictionary --lang ko\n"
    for text in (
        "어텐션 스코어",
        "어텐션 가중치",
        "컨텍스트 벡터 (가중합)",
        "연결 (concat)",
        "출력 확률",
        "«나는»입니다",
    ):
        assert text in found.stdout


def test_explain_takes_numbers_from_the_command_line():
    found = invoke("explain", "--query", "1,0,2", "--keys", "1,1,0; 0,2,1", "--score", "dot", "--json")
    ledger = json.loads(found.stdout)
    steps = {step["name"]: step["values"] for step in ledger["steps"]}
    assert steps["score"] == [1.0, 2.0]
    assert steps["weight"] == pytest.approx([0.2689414, 0.7310586])
    assert ledger["residual"] < 1e-12


def test_explain_takes_values_and_tokens():
    found = invoke("explain", "--query", "1", "--keys", "0;0", "--values", "5;7", "--tokens", "day night", "--json")
    steps = {step["name"]: step for step in json.loads(found.stdout)["steps"]}
    assert steps["context"]["values"] == [6.0]
    assert steps["score"]["axes"][0]["labels"] == ["day", "night"]


@pytest.mark.parametrize("mechanism", ["general", "coverage", "multi-head", "local-p"])
def test_a_ledger_can_be_edited_and_explained_again(tmp_path, mechanism):
    first = invoke("explain", "--example", mechanism, "--json")
    plain = json.loads(first.stdout)
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(plain["numbers"], ensure_ascii=False))
    assert invoke("explain", "--numbers", str(path), "--json").stdout == first.stdout
    path.write_text(first.stdout)
    assert invoke("explain", "--numbers", str(path), "--json").stdout == first.stdout


def test_markdown_tables_are_whole():
    found = invoke("explain", "--example", "--markdown")
    rows = [line for line in found.stdout.splitlines() if line.startswith("|")]
    assert rows[0].count("|") == rows[1].count("|") == rows[2].count("|")
    assert "&lt;sos&gt;" in found.stdout, "tokens are text, not HTML"


def test_examples_are_listed():
    found = invoke("explain", "--example", "list")
    assert [line.split()[0] for line in found.stdout.splitlines()][:3] == ["attention", "tanh", "dictionary"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["explain"],
            2,
            "nungil: explain takes a model folder and a text, or one of --example, --query with --keys, or --numbers; "
            "try: nungil explain --example",
        ),
        (
            ["explain", "dictionary"],
            2,
            "nungil: 'dictionary' is not an option; did you mean: nungil explain --example dictionary",
        ),
        (["explain", "--example", "dictonary"], 2, "nungil: there is no example 'dictonary'; did you mean dictionary?"),
        (
            ["explain", "--query", "1", "--keys", "1", "--score", "genral"],
            2,
            "nungil: --score:\n- there is no mechanism 'genral'; did you mean general?",
        ),
        (["explain", "--query", "1,x", "--keys", "1,2"], 2, "nungil: --query: 'x' is not a number; write it as 1,0,2"),
        (["explain", "--query", "1,nan", "--keys", "1,2"], 2, "nungil: --query: nan is not a finite number"),
        (
            ["explain", "--query", "1,2"],
            2,
            "nungil: --query needs --keys; one key per token, as in --keys '1,1,0; 0,2,1'",
        ),
        (
            ["explain", "--query", "1", "--keys", "1", "--score", "general"],
            2,
            "nungil: general has matrices of its own (W_a): give all in a file, --numbers FILE.json; "
            "for one to start from: nungil explain --example general --json",
        ),
        (
            ["explain", "--query", "1,2", "--keys", "1,2;3"],
            2,
            "nungil: command line:\n- keys: row 2 has 1 number, row 1 has 2",
        ),
        (
            ["explain", "--example", "--json", "--markdown"],
            2,
            "nungil: --json and --markdown exclude each other; choose one",
        ),
        (
            ["explain", "--example", "--score", "general"],
            2,
            "nungil: --keys, --values, --tokens and --score go with --query",
        ),
        (["explain", "--numbers", "no-such.json"], 3, "nungil: no-such.json: there is no such file"),
    ],
)
def test_a_mistake_ends_in_one_sentence_and_its_exit_code(arguments, code, message):
    found = invoke(*arguments)
    assert (found.returncode, found.stdout, found.stderr.rstrip("\n")) == (code, "", message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"query": [1,\n 2,], "keys": []}', "line 2, column 4: not JSON: "),
        ('{"query": [1], "keys": [[Infinity]]}', "Infinity is not a finite number"),
        ('{"query": [1], "keys": [[1e999]]}', "[keys.1] 1: a finite number is expected"),
        ('{"query": [1], "kyes": [[1]]}', "kyes: no such setting; did you mean keys?"),
        (
            '{"query": [1], "keys": [[1]], "mechanism": "genral"}',
            "mechanism: there is no 'genral'; did you mean general?",
        ),
        (
            '{"query": [1], "keys": [[1]], "parameters": {"W_a": [[1], 2]}}',
            "[parameters] W_a: mixes numbers and rows of numbers",
        ),
        (
            '{"query": [1], "keys": [[1]], "parameters": {"W_a": ["x"]}}',
            "[parameters] W_a: must be a list of finite numbers, or a list of such lists",
        ),
        (
            '{"query": [1], "keys": [[1]], "parameters": {"W_a": [1' + "0" * 400 + "]}}",
            "must be a list of finite numbers",
        ),
        ('{"query": [' + "1" * 5000 + '], "keys": [[1]]}', "a number has too many digits"),
        ('{"query": [true], "keys": [["1"]]}', "[query] 1: a number is expected"),
        ('{"query": [1], "query": [2], "keys": [[1]]}', "query: is given twice"),
        (
            '{"query": [1], "keys": [[1]], "values": [], "output": {"W_s": [[1]]}}',
            "values: 0 of them, where at least 1 is expected",
        ),
        ("[1, 2]", "holds a list where settings (`name: value`) are expected"),
    ],
)
def test_bad_numbers_files_are_refused(tmp_path, text, message):
    path = tmp_path / "bad.json"
    path.write_text(text)
    found = invoke("explain", "--numbers", str(path))
    assert (found.returncode, found.stdout) == (2, "")
    assert message in found.stderr
    assert "Traceback" not in found.stderr


def test_debug_shows_the_traceback():
    found = run("explain", "--example", "nothing", "--debug")
    assert found.returncode == 1
    assert "Traceback" in found.stderr


@pytest.mark.parametrize("ask", [lambda: bytearray(2**62), lambda: np.empty(2**55), lambda: torch.empty(2**50)])
def test_want_of_memory_is_no_bug(ask, monkeypatch):
    monkeypatch.setattr(info, "_machine", ask)
    found = invoke("info")
    assert (found.returncode, found.stderr) == (
        5,
        "nungil: out of memory; a smaller model, smaller batches (training.batch_tokens) or shorter texts need less\n",
    )


def test_a_bug_of_ours_is_called_one():
    script = (
        "import sys; sys.argv = ['nungil', 'info']\n"
        "from nungil.cli import main, info\n"
        "def boom(): raise ZeroDivisionError('x')\n"
        "info._machine = boom\n"
        "main.main()"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.returncode == 1
    assert found.stderr.startswith(
        "nungil: this is a bug in nungil: ZeroDivisionError: x\nRun the command again with --debug"
    )


@pytest.mark.parametrize("arguments", [["info"], ["explain", "--example"], ["--help"]])
def test_a_reader_that_stops_early_is_no_error(arguments):
    process = subprocess.Popen([*NUNGIL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()  # before anything is written
    assert (process.stderr.read(), process.wait()) == ("", 0)
    process.stderr.close()


@pytest.mark.slow
def test_no_number_is_cut_in_a_narrow_terminal():
    """On a real terminal of 60 columns the table is laid out in parts; each number of the wide one is still there."""
    wide = invoke("explain", "--example", "coverage").stdout.split()
    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (40, 60))
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    environment |= {"TERM": "xterm", "NO_COLOR": "1"}
    command = [*NUNGIL, "explain", "--example", "coverage"]
    process = subprocess.Popen(command, stdout=follower, stderr=subprocess.DEVNULL, env=environment)
    os.close(follower)
    chunks = []
    while True:
        try:
            chunk = os.read(leader, 65536)
        except OSError:  # how a terminal says that the other side is gone
            break
        if not chunk:
            break
        chunks.append(chunk)
    assert process.wait() == 0
    narrow = re.sub(r"\x1b\[[0-9;]*m", "", b"".join(chunks).decode())
    assert {word for word in wide if word[0].isdigit()} <= set(narrow.split())
    rows = [line for line in narrow.splitlines() if line.startswith(("I ", "like ", "snow ", "Σ "))]
    assert rows
    assert max(map(len, rows)) <= 60
    assert "…" not in narrow


def test_info_is_a_markdown_table_of_versions():
    found = run("info")
    assert found.returncode == 0
    rows = dict(line.strip("| ").split(" | ", 1) for line in found.stdout.splitlines()[2:])
    assert rows["nungil"] == "0.1.0"
    assert rows["torch"].startswith("2.")
    assert "extra `serve`" in rows


@pytest.mark.parametrize("arguments", [["info"], ["explain", "--example"], ["--help"], ["--version"]])
def test_a_full_disk_is_said_whoever_prints(arguments):
    found = run_redirected(">/dev/full", *arguments)
    assert found == (5, "", "nungil: the output could not be written: No space left on device\n")


def test_talk_that_nobody_hears_changes_nothing_else():
    for redirection in ("2>/dev/full", "2>&-"):
        assert run_redirected(redirection, "look", "no-such-folder", "I like snow") == (2, "", ""), redirection
        told = run_redirected(redirection, "data", "snow", "--pairs", "5", "--seed", "3", "--lengths", "3:6")
        assert (told.returncode, told.stdout.count("\n")) == (0, 5), redirection


def test_a_run_goes_on_when_its_log_is_full(tmp_path):
    pairs, out = tmp_path / "pairs.tsv", tmp_path / "run"
    pairs.write_text(run("data", "snow", "--pairs", "200", "--seed", "3", "--lengths", "3:6").stdout)
    sizes = [f"--set=model.{name}=16" for name in ("embedding", "width")]
    found = run_redirected(
        "2>/dev/full", "train", "--train", str(pairs), "--out", str(out), "--model", "luong", "--steps", "2", *sizes
    )
    assert found.returncode == 0
    assert (out / "result.json").is_file()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_that_is_taken_half_is_not_lost_in_silence(tmp_path, unbuffered):
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    limited = f'ulimit -f 1; exec "$@" >{tmp_path}/out'
    command = ["sh", "-c", limited, "sh", *NUNGIL, "explain", "--example", "coverage"]
    found = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (5, "nungil: the output could not be written: File too large\n")


@pytest.mark.parametrize("arguments", [["info"], ["explain", "--example"], ["--help"], ["--version"]])
def test_a_command_that_could_print_nothing_is_refused(arguments):
    found = run_redirected(">&-", *arguments)
    assert found == (
        5,
        "",
        "nungil: standard output is closed; nothing could be printed: send it to a file or to /dev/null\n",
    )


def test_a_command_without_the_other_streams_prints_the_same():
    whole = run("explain", "--example").stdout
    assert run_redirected("<&- 2>&-", "explain", "--example") == (0, whole, "")
    assert run_redirected("<&- 2>&-", "explain") == (2, "", "")


def test_standard_output_is_as_it_was_after_a_command(tmp_path, monkeypatch):
    with (tmp_path / "out").open("w+", encoding="ascii") as out:
        monkeypatch.setattr(sys, "stdout", out)
        with guarded_output():
            print("눈", end="")
        assert sys.stdout is out
        print("!", end="")
    assert (tmp_path / "out").read_text() == "\\ub208!"


def test_a_terminal_without_hangul_still_shows_the_page():
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    found = run("explain", "--example", "list", "--lang", "ko", env=environment)
    assert found.returncode == 0
    assert found.stdout.startswith("attention    ")
    assert "\\ub514\\ucf54\\ub354" in found.stdout, "디코더"
