"""The demo, for real: two minutes from nothing to a translator and its map."""

import re
import subprocess

import pytest
from command import NUNGIL, invoke


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """One run of it, as a user starts it, with all that it printed."""
    folder = tmp_path_factory.mktemp("demo")
    found = subprocess.run([*NUNGIL, "demo"], capture_output=True, text=True, cwd=folder, timeout=900)
    assert found.returncode == 0, found.stderr
    return folder / "runs" / "demo", found


@pytest.mark.slow
def test_it_translates_sentences_it_has_never_seen_and_looks_at_the_right_words(demo):
    _, found = demo
    bleu, chrf = re.search(r"never seen: BLEU ([\d.]+), chrF ([\d.]+)\.", found.stdout).groups()
    assert float(bleu) >= 85
    assert float(chrf) >= 88
    error, other, diagonal = re.search(
        r"its attention: ([\d.]+)% read as .* written, ([\d.]+)% as .* \(links along the diagonal: ([\d.]+)%",
        found.stdout,
    ).groups()
    assert float(error) <= 10
    assert float(other) > 50  # each word is looked for when it is written, not one step later
    assert float(diagonal) > 55  # Korean has another order: a map that hugs the diagonal would be wrong
    assert "I like snow → 나는 눈을 좋아한다\n" in found.stdout


@pytest.mark.slow
def test_the_map_in_the_terminal_has_a_row_for_each_word_it_wrote(demo):
    _, found = demo
    rows = [line.split()[0] for line in found.stdout.splitlines() if re.match(r"\s*(나는|눈을|좋아한다|<eos>) ", line)]
    assert rows == ["나는", "눈을", "좋아한다", "<eos>"]
    assert "Reading: row t is the word being output; each row sums to 1." in found.stdout


@pytest.mark.slow
def test_it_leaves_a_model_a_card_and_a_page_and_names_three_commands(demo):
    folder, found = demo
    for name in ("config.json", "model.safetensors", "README.md", "metrics.jsonl", "look.html", "snow/test.tsv"):
        assert (folder / name).is_file(), name
    assert "나는" in (folder / "look.html").read_text()
    commands = re.findall(r"nungil (look|translate|explain)\b.*", found.stderr.split("Next:")[1])
    assert sorted(commands) == ["explain", "look", "translate"]
    looked = invoke("look", str(folder), "The child ate a pear")
    assert looked.returncode == 0
    assert "배를" in looked.stdout


@pytest.mark.slow
def test_a_second_demo_touches_nothing_unless_told_to(demo):
    folder, _ = demo
    before = (folder / "model.safetensors").read_bytes()
    found = invoke("demo", "--out", str(folder))
    assert found.returncode == 2
    assert "there is a demo already" in found.stderr
    assert "--overwrite" in found.stderr
    assert (folder / "model.safetensors").read_bytes() == before


def test_overwrite_removes_nothing_that_no_demo_made(tmp_path):
    (tmp_path / "thesis.txt").write_text("years of work")
    found = invoke("demo", "--out", str(tmp_path), "--overwrite")
    assert found.returncode == 2
    assert "is not empty" in found.stderr
    (tmp_path / "snow").mkdir()
    (tmp_path / "snow" / "train.tsv").write_text("mine too")
    found = invoke("demo", "--out", str(tmp_path), "--overwrite")
    assert found.returncode == 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["snow", "thesis.txt", "train.tsv"]
    assert (tmp_path / "thesis.txt").read_text() == "years of work"
