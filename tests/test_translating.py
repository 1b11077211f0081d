"""`nungil translate` and `nungil classify`: what they print, and how a big file is stopped and gone on with."""

import json
import select
import signal
import subprocess

import pytest
from command import NUNGIL, invoke, run
from model_folders import CLASSIFIER, LUONG, classifier_folder, translator_folder

from nungil.cli import texts
from nungil.pipeline import load

LINES = ["I like snow", "", "We saw a ship", "The child ate a pear", "snow"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return translator_folder(tmp_path_factory.mktemp("model") / "luong", LUONG)


@pytest.fixture
def article(tmp_path):
    (tmp_path / "article.txt").write_text("".join(f"{line}\n" for line in LINES))
    return tmp_path / "article.txt"


def test_a_line_out_for_each_line_in(model, article):
    found = invoke("translate", str(model), str(article))
    assert found.returncode == 0, found.stderr
    assert found.stdout.split("\n")[:-1] == [one.text for one in load(model).translate(LINES)]


def test_scores_links_and_the_best_stand_in_columns(model, article):
    found = invoke("translate", str(model), str(article), "--scores", "--align", "--longest", "4")
    expected = load(model).translate(LINES, longest=4, align=True)
    assert found.stdout.split("\n")[:-1] == [
        f"{one.text}\t{one.score:.4f}\t{one.links or ''}" if one.source else "" for one in expected
    ]
    found = invoke("translate", str(model), str(article), "--n-best", "2", "--beam", "3", "--longest", "4")
    rows = [line.split("\t") for line in found.stdout.split("\n")[:-1]]
    assert [row[0] for row in rows] == ["1", "1", "2", "3", "3", "4", "4", "5", "5"]
    assert rows[2] == ["2", ""], "an empty line has its number and nothing else, whatever was asked for"
    scored = invoke("translate", str(model), str(article), "--n-best", "2", "--longest", "4", "--scores", "--align")
    assert "2\t" in scored.stdout.split("\n")


def test_what_stands_between_sentences_is_no_column(model, tmp_path):
    text = "I like snow.\tWe saw a ship.\x0bThe child ate a pear.\u2028I like snow."
    (tmp_path / "text.txt").write_text(f"{text}\n")
    found = invoke("translate", str(model), str(tmp_path / "text.txt"), "--scores")
    (line,) = found.stdout.splitlines()
    translation, _ = line.split("\t")
    assert translation == " ".join(load(model).translate(text)[0].text.split())


def test_a_pipe_has_its_answer_before_it_ends(model):
    expected = [one.text for one in load(model).translate(["I like snow", "We saw a ship"])]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    for also in ([], ["-"]):
        with subprocess.Popen([*NUNGIL, "translate", str(model), *also], **pipes) as process:
            for line, answer in zip(["I like snow", "We saw a ship"], expected, strict=True):
                process.stdin.write(f"{line}\n")
                process.stdin.flush()
                ready, _, _ = select.select([process.stdout], [], [], 60)
                assert ready, "who writes a line and waits for its answer waits for ever"
                assert process.stdout.readline() == f"{answer}\n"
            process.stdin.close()
            assert process.wait(60) == 0


def test_json_has_all_that_is_known(model, article):
    found = invoke("translate", str(model), str(article), "--json", "--n-best", "2", "--longest", "4")
    objects = [json.loads(line) for line in found.stdout.splitlines()]
    assert [one["source"] for one in objects] == LINES
    assert set(objects[0]) == {
        *("text", "score", "tokens", "source", "source_tokens", "finished", "cut"),
        *("probabilities", "unknown", "n_best", "links"),
    }
    assert [len(one["n_best"]) for one in objects] == [2, 0, 2, 2, 2]


def test_a_text_of_which_most_words_are_new_is_named(model, tmp_path):
    (tmp_path / "text.txt").write_text("I like snow\nI like sleet\nsleet and graupel fell again slowly today\n")
    found = invoke("translate", str(model), str(tmp_path / "text.txt"), "--longest", "4")
    (warning,) = [line for line in found.stderr.splitlines() if "guess" in line]
    assert warning == (
        f"{tmp_path}/text.txt:3: the model has never seen most of its words (sleet, and, graupel, again, slowly …), "
        "so its answer is a guess"
    )


def test_punctuation_is_no_word_and_of_many_notes_the_first_are_told(model, tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "TOLD", 2)
    (tmp_path / "text.txt").write_text("I like snow , ; !\nsleet !\n🙂\ngraupel\nsleet fell\n")
    found = invoke("translate", str(model), str(tmp_path / "text.txt"), "--longest", "9", "--shortest", "3")
    notes = [line for line in found.stderr.splitlines() if "text.txt:" in line and "came to an end" not in line]
    assert notes == [
        f"{tmp_path}/text.txt:2: the model has never seen any of its words (sleet), so its answer is a guess",
        f"{tmp_path}/text.txt:3: the model has never seen any of its words (🙂), so its answer is a guess",
    ]
    assert "… and 1 more note on other lines." in found.stderr


def test_every_file_is_looked_for_before_the_first_is_translated(model, article, tmp_path):
    found = invoke("translate", str(model), str(article), str(tmp_path / "none.txt"))
    assert (found.returncode, found.stdout) == (3, "")
    assert found.stderr == f"nungil: {tmp_path}/none.txt: there is no such file\n"
    found = invoke("translate", str(model), str(article), "-")
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == "nungil: -: standard input cannot be combined with files\n"


def test_long_lines_are_worked_on_by_fewer(monkeypatch, tmp_path):
    monkeypatch.setattr(texts, "LONG", 20)
    (tmp_path / "text.txt").write_text("a\n" * 3 + "b" * 25 + "\nc\n" + "d" * 10 + "\n" + "e" * 10 + "\nf\n")
    assert [len(chunk) for chunk in texts.Texts([tmp_path / "text.txt"]).chunks()] == [4, 3, 1]


@pytest.mark.parametrize(
    ("lines", "steady", "sizes"),
    [(450, False, [200, 200, 50]), (3_456, False, [345] * 10 + [6]), (450, True, [450]), (12_000, False, [1_000] * 12)],
)
def test_who_watches_a_bar_is_soon_told_how_long_it_takes(lines, steady, sizes, tmp_path):
    (tmp_path / "text.txt").write_text("a\n" * lines)
    given = texts.Texts([tmp_path / "text.txt"], steady=steady)
    assert [len(chunk) for chunk in given.chunks(given.count())] == sizes
    assert [len(chunk) for chunk in given.chunks()] == [min(lines - at, 1_000) for at in range(0, lines, 1_000)]


def test_no_part_of_a_long_input_repeats_the_draws_of_another(model, tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "CHUNK", 7)
    (tmp_path / "same.txt").write_text("I like snow\n" * 21)
    asked = ["translate", str(model), str(tmp_path / "same.txt"), "--sample", "--shortest", "9"]
    found = invoke(*asked)
    lines = found.stdout.splitlines()
    assert len({tuple(lines[start : start + 7]) for start in (0, 7, 14)}) == 3
    assert invoke(*asked).stdout == found.stdout
    assert lines[:7] == [one.text for one in load(model).translate(["I like snow"] * 7, sample=True, shortest=9)]


def test_translations_begin_with_a_prefix(model, article):
    asked = ["translate", str(model), str(article), "--prefix", "나는 눈을"]
    found = invoke(*asked)
    assert found.stdout.split("\n")[:-1] == [one.text for one in load(model).translate(LINES, prefix="나는 눈을")]
    whole = invoke(*asked[:-1], "눈이 내렸다<eos>")
    assert whole.stdout.split("\n")[:-1] == ["눈이 내렸다" if line else "" for line in LINES]
    refused = invoke(*asked[:-1], "zebra")
    assert refused.returncode == 2
    assert "prefix: not in the model's vocabulary, so that it cannot be written: zebra" in refused.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--beam", "1", "--longest", "1000000000000"], "longest: must be at most 100000"),
        (["--sample", "--temperature", "1e-45"], "temperature: must be at least 1e-06"),
        (["--seed", "3"], "seed: only for drawing; add sample"),
        (["--sample", "--beam", "4"], "beam: only for searching; leave out sample"),
    ],
)
def test_options_that_cannot_be_meant_are_refused(tmp_path, options, said):
    found = invoke("translate", str(tmp_path / "nothing"), *options)
    assert (found.returncode, found.stderr) == (2, f"nungil: nungil translate:\n- {said}\n")


def test_what_cannot_be_meant_is_refused_before_the_model_is_read(tmp_path):
    found = invoke("translate", str(tmp_path / "nothing"), "--n-best", "9")
    assert found.returncode == 2
    assert found.stderr == (
        "nungil: nungil translate:\n- n_best 9 is more than the beam of 5 can give; make the beam as large\n"
    )


def test_a_file_is_written_whole_and_never_over_another(model, article, tmp_path):
    out = tmp_path / "made" / "article.ko"
    assert invoke("translate", str(model), str(article), "--out", str(out)).returncode == 0
    assert out.read_text() == invoke("translate", str(model), str(article)).stdout
    assert [path.name for path in out.parent.iterdir()] == ["article.ko"]
    found = invoke("translate", str(model), str(article), "--out", str(out))
    assert found.returncode == 2
    assert found.stderr.startswith(f"nungil: {out}: exists already, and is not overwritten")


@pytest.mark.slow
def test_a_command_that_was_killed_is_gone_on_with(model, tmp_path):
    lines = [f"{line} {number}" for number in range(900) for line in LINES]
    (tmp_path / "many.txt").write_text("".join(f"{line}\n" for line in lines))
    asked = ["translate", str(model), str(tmp_path / "many.txt"), "--beam", "2", "--longest", "9"]
    whole, out = tmp_path / "whole", tmp_path / "out"
    assert run(*asked, "--out", str(whole)).returncode == 0
    with subprocess.Popen([*NUNGIL, *asked, "--out", str(out)], stderr=subprocess.DEVNULL) as process:
        state = tmp_path / "out.part.json"
        while not (state.exists() and json.loads(state.read_text())["lines"]):
            assert process.poll() is None, "it was over before it could be stopped"
        process.send_signal(signal.SIGKILL)
    assert not out.exists()
    done = json.loads((tmp_path / "out.part.json").read_text())["lines"]
    assert 0 < done < len(lines)
    refused = run(*asked, "--out", str(out), "--scores")
    assert refused.returncode == 2
    assert "left by another command, with other input, another model or other options" in refused.stderr
    again = run(*asked, "--out", str(out))
    assert again.returncode == 0, again.stderr
    assert f"Continuing after line {done:,}." in again.stderr
    assert out.read_bytes() == whole.read_bytes()
    assert not list(tmp_path.glob("out.part*"))


def test_half_an_answer_is_cut_off_when_it_is_gone_on_with(model, article, tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "CHUNK", 2)
    out = tmp_path / "out"
    calls = iter(range(9))

    def failing(self, *given, **options):
        if next(calls) == 1:
            raise KeyboardInterrupt
        return translate(self, *given, **options)

    kind = type(load(model))
    translate = kind.translate
    monkeypatch.setattr(kind, "translate", failing)
    assert invoke("translate", str(model), str(article), "--out", str(out)).returncode == 130
    with (tmp_path / "out.part").open("a") as file:
        file.write("half an ans")
    assert invoke("translate", str(model), str(article), "--out", str(out)).returncode == 0
    assert out.read_text() == invoke("translate", str(model), str(article)).stdout


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\xff\xfe\x00snow", None),
        ("🙂 🙃 ❄️\n".encode(), None),
        (b"I like\x00snow\n", None),
        (("snow " * 10_000).encode() + b"\n", "odd.txt:1: longer than the 9 tokens that the model reads"),
    ],
    ids=["not UTF-8", "emoji", "NUL", "10,000 words"],
)
def test_odd_input_gives_a_line_or_a_sentence(model, tmp_path, content, said):
    (tmp_path / "odd.txt").write_bytes(content)
    found = invoke("translate", str(model), str(tmp_path / "odd.txt"), "--no-split")
    assert "Traceback" not in found.stderr
    assert found.returncode in (0, 3)
    if found.returncode == 0:
        assert found.stdout.count("\n") == 1
    if said is not None:
        assert said in found.stderr


@pytest.mark.parametrize(
    ("name", "lines", "is_table"),
    [
        ("a.csv", ["review,stars", '"good, or so",5', "bad,1"], True),
        ("a.tsv", ["1\tsnow", "2\tship"], True),
        ("a.jsonl", ['{"text": "snow"}'], True),
        ("a.csv", ["I like snow", "We saw a ship, yesterday", "snow"], False),
        ("a.tsv", ["snow", "ship"], False),
        ("a.txt", ["snow, ship", "snow, ship"], False),
        ("a.csv", ["", ""], False),
    ],
)
def test_lines_of_a_table_are_doubted_to_be_texts(model, tmp_path, name, lines, is_table):
    path = tmp_path / name
    path.write_text("".join(f"{line}\n" for line in lines))
    found = invoke("translate", str(model), str(path))
    assert (found.returncode, found.stdout.count("\n")) == (0, len(lines))
    told = f"{path}: this looks like a table; each line of it is read as one text, with all its columns.\n"
    assert (told in found.stderr) == is_table


def test_a_missing_or_foreign_model_is_refused(tmp_path, article):
    assert invoke("translate", str(tmp_path / "nothing"), str(article)).returncode == 2
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "pytorch_model.bin").write_bytes(b"PK\x03\x04")
    assert invoke("translate", str(tmp_path / "foreign"), str(article)).returncode == 4


def test_labels_go_to_a_file_too(tmp_path, article):
    model = classifier_folder(tmp_path / "labels", CLASSIFIER)
    out = tmp_path / "out.tsv"
    assert invoke("classify", str(model), str(article), "--out", str(out)).returncode == 0
    assert out.read_text() == invoke("classify", str(model), str(article)).stdout
    assert out.read_text().split("\n")[1] == "", "an empty line stays empty"
