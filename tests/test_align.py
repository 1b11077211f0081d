"""`nungil align`: links of given translations, in both readings, and their error against gold."""

import json

import pytest
from command import invoke, run
from model_folders import CLASSIFIER, LUONG, TRANSFORMER, classifier_folder, translator_folder

from nungil.errors import UsageError
from nungil.pipeline import load
from nungil.scoring.alignment import score_links

PAIRS = [
    ("I like snow", "나는 눈을 좋아한다"),
    ("We saw a ship yesterday", "우리는 어제 배를 봤다"),
    ("The child ate a pear", "아이가 배를 먹었다"),
]
GOLD = ["0-0 2-1 1-2", "0-0 4-1 3-2 1-3 2p3", "1-0 4-1 2-2"]


@pytest.fixture(params=[LUONG, TRANSFORMER], ids=["luong", "transformer"])
def folder(request, tmp_path):
    return translator_folder(tmp_path / "model", request.param)


def test_links_are_where_each_word_was_looked_at_most(folder):
    model = load(folder)
    for (source, target), found in zip(PAIRS, model.align(PAIRS), strict=True):
        looked = model.look(source, target).merged().without_marks()
        expected = {(int(row.argmax()), number) for number, row in enumerate(looked.weights)}
        assert {tuple(map(int, link.split("-"))) for link in found.split()} == expected
    assert model.align(PAIRS[1:2]) == model.align(PAIRS)[1:2], "alone and in a batch"


def test_the_other_reading_is_the_row_after(folder):
    model = load(folder)
    for (source, target), found in zip(PAIRS, model.align(PAIRS, "input"), strict=True):
        looked = model.look(source, target)
        rows = looked.select("cross")[1:]
        columns = [place for place, token in enumerate(looked.source_tokens) if token not in ("<sos>", "<eos>")]
        expected = {(int(row[columns].argmax()), number) for number, row in enumerate(rows)}
        assert {tuple(map(int, link.split("-"))) for link in found.split()} == expected


def write(tmp_path, columns=3):
    rows = [(*pair, links)[:columns] for pair, links in zip(PAIRS, GOLD, strict=True)]
    (tmp_path / "pairs.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    return str(tmp_path / "pairs.tsv")


def test_links_go_out_and_scores_are_told(folder, tmp_path):
    found = invoke("align", str(folder), write(tmp_path))
    assert found.stdout.splitlines() == load(folder).align(PAIRS)
    assert found.stderr.count("AER") == 4
    assert (
        "AER 0.0%, precision 100.0%, recall 100.0%: the best that one link for each target word could" in found.stderr
    )
    scores = json.loads(invoke("align", str(folder), write(tmp_path), "--json").stdout)
    for reading in ("output", "input"):
        assert scores[reading] == pytest.approx(score_links(load(folder).align(PAIRS, reading), GOLD)._asdict())
    better = min(("output", "input"), key=lambda reading: scores[reading]["aer"])
    best = invoke("align", str(folder), write(tmp_path), "--reading", "best")
    assert best.stdout.splitlines() == load(folder).align(PAIRS, better)


def test_pairs_may_come_from_standard_input(tmp_path):
    folder, place = str(translator_folder(tmp_path / "model", LUONG)), write(tmp_path)
    by_name = invoke("align", folder, place, "--json")
    given = (tmp_path / "pairs.tsv").read_text()
    assert run("align", folder, "-", "--json", input=given)[:2] == (0, by_name.stdout)
    found = run("align", folder, "-", input="one column\n")
    assert found.stderr == "nungil: standard input, line 1: source and target are needed, with a tab between them\n"


def test_gold_may_stand_in_a_file_of_its_own(folder, tmp_path):
    (tmp_path / "gold.txt").write_text("\n".join(GOLD) + "\n")
    apart = invoke("align", str(folder), write(tmp_path, 2), "--gold", str(tmp_path / "gold.txt"))
    assert apart == invoke("align", str(folder), write(tmp_path, 3))


def test_what_cannot_be_aligned_is_said(folder, tmp_path):
    pairs = write(tmp_path, 2)
    assert invoke("align", str(folder), pairs).stderr == ""
    found = invoke("align", str(folder), pairs, "--reading", "best")
    assert (found.returncode, found.stderr) == (
        2,
        "nungil: --reading best needs gold links: a third column, or --gold FILE\n",
    )
    found = invoke("align", str(tmp_path / "no model is read"), pairs, "--json")
    assert (found.returncode, found.stderr) == (2, "nungil: --json needs gold links: a third column, or --gold FILE\n")
    (tmp_path / "one.tsv").write_text("I like snow\n")
    found = invoke("align", str(folder), str(tmp_path / "one.tsv"))
    assert found.returncode == 3
    assert "one.tsv, line 1: source and target are needed, with a tab between them" in found.stderr
    (tmp_path / "gold.txt").write_text("0-0\n")
    found = invoke("align", str(folder), pairs, "--gold", str(tmp_path / "gold.txt"))
    assert "gold.txt: 1 line of gold links for 3 pairs" in found.stderr
    labels = classifier_folder(tmp_path / "labels", CLASSIFIER)
    assert "only a translator links words" in invoke("align", str(labels), pairs).stderr


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("I like snow\t\u200b\u3164\t0-0", "source and target are needed, with a tab between them"),
        ("\ufeff \tㄴㅜㄴ", "source and target are needed, with a tab between them"),
        (
            "snow\t눈이 온다\t0-0 0:1",
            "'0:1' is no link; write source-target, words counted from 0: 0-1, or 0p1 if it is only possible",
        ),
        (
            "snow falls\t눈이 온다\t0-0 1p2 9-9",
            "link 1-2 leads past the sentence: the source has 2 words, the target 2, counted from 0",
        ),
    ],
)
def test_a_line_that_is_wrong_is_named_with_its_file_before_the_model_is_read(line, said, tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text(f"I like snow\t나는 눈을 좋아한다\t0-0\n{line}\n")
    found = invoke("align", str(tmp_path / "no model"), str(path))
    assert (found.returncode, found.stderr) == (3, f"nungil: {path}, line 2: {said}\n")


def test_gold_of_a_file_of_its_own_is_named_by_that_file(tmp_path):
    gold = tmp_path / "gold.txt"
    gold.write_text("0-0\n5-0\n0-0 3-3\n")
    found = invoke("align", str(tmp_path / "no model"), write(tmp_path, 2), "--gold", str(gold))
    assert found.returncode == 3
    assert found.stderr.splitlines() == [
        f"nungil: {gold}, line 2: link 5-0 leads past the sentence: the source has 5 words, the target 4, "
        "counted from 0",
        f"{gold}, line 3: link 3-3 leads past the sentence: the source has 5 words, the target 3, counted from 0",
    ]


def test_a_source_that_is_cut_is_told(folder, tmp_path):
    path = tmp_path / "long.tsv"
    path.write_text("I like snow\t눈\n" + "snow " * 10 + "\t눈\n" + "snow " * 9 + "\t눈\n")
    found = invoke("align", str(folder), str(path))
    assert found.stderr == (f"{path}, line 2: longer than the 9 tokens that the model reads; the rest was left out\n")
    assert len(found.stdout.splitlines()) == 3


def test_a_plain_decoder_has_no_links(tmp_path):
    model = load(translator_folder(tmp_path / "plain", {**LUONG, "decoder": "plain"}))
    with pytest.raises(UsageError, match="no attention to read links from"):
        model.align(PAIRS)
    with pytest.raises(UsageError, match="no attention to read links from"):
        model.translate("I like snow", align=True)
