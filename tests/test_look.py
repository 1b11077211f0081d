"""`nungil look`: files, choices, search, neighbours; and every mistake as its user reads it."""

import csv
import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
import torch
from command import invoke
from model_folders import CLASSIFIER, LUONG, TRANSFORMER, classifier_folder, translator_folder

from nungil.cli import look_files
from nungil.errors import UsageError
from nungil.inspection.drawings.atlas import atlas_of
from nungil.inspection.record import AttentionRecord
from nungil.inspection.saving import to_csv
from nungil.pipeline import load
from nungil.pipeline.neighbours import Vectors, neighbours_of
from nungil.text.tokenizers.vocabulary import WordTokenizer

TEXT, TARGET = "We saw a ship", "We saw I"  # a target in Latin letters: PNGs here need no Korean font


@pytest.fixture
def folder(tmp_path):
    return str(translator_folder(tmp_path / "model", TRANSFORMER, joint=True))


def test_files_are_what_the_library_writes(folder, tmp_path):
    names = {ending: str(tmp_path / f"look.{ending}") for ending in ("html", "svg", "png", "pdf", "csv")}
    options = [part for ending, name in names.items() for part in (f"--{ending}", name)]
    found = invoke("look", folder, TEXT, "--target", TARGET, "--layer", "1", "--head", "2", *options)
    assert found.returncode == 0, found.stderr
    assert found.stdout == ""
    assert found.stderr.count("Wrote") == 5
    weights = load(tmp_path / "model").look(TEXT, TARGET).select("cross", 1, 2)
    cells = next(part for part in ElementTree.parse(names["svg"]).getroot().iter() if part.get("class") == "map")
    assert [float(cell.get("data-value")) for cell in cells] == weights.ravel().tolist()
    with Path(names["csv"]).open(newline="", encoding="utf-8") as file:
        lines = [
            line for line in csv.DictReader(file) if (line["kind"], line["layer"], line["head"]) == ("cross", "1", "2")
        ]
    assert [float(line["weight"]) for line in lines] == weights.ravel().tolist()


def test_json_is_a_record(folder, tmp_path):
    found = invoke("look", folder, TEXT, "--json")
    record = AttentionRecord.from_json(json.loads(found.stdout))
    assert record == load(tmp_path / "model").look(TEXT, honesty=True)
    assert record.beam is not None


def test_the_other_reading_names_the_rows_after_what_was_put_in(folder):
    for reading, rows in (("output", ["We", "saw", "I", "<eos>"]), ("input", ["<sos>", "We", "saw", "I"])):
        lines = invoke("look", folder, TEXT, "--target", TARGET, "--reading", reading).stdout.splitlines()
        assert [line.split()[0] for line in lines[3:7]] == rows
        assert f"Reading: row t is the word {'being output' if reading == 'output' else 'just put in'};" in lines[8]


def test_candidates_and_the_beam_are_shown(folder, tmp_path):
    record = load(tmp_path / "model").look(TEXT)
    found = invoke("look", folder, TEXT, "--candidates", "--beam")
    above, table = found.stdout.split("written  probability")
    assert above.rstrip(" ") == invoke("look", folder, TEXT).stdout + "\n"
    lines = ("written  probability" + table).splitlines()
    assert lines[0].split() == ["written", "probability", "most", "probable", "there"]
    assert lines[1].split()[:2] == [record.steps[0].token, f"{record.steps[0].probability:.4f}"]
    tree = found.stdout.split("beam of 5")[1]
    assert tree.count("pruned") == sum(node.fate == "pruned" for node in record.beam.nodes)
    for token in record.target_tokens:
        assert f"«{token}»" in tree
    refused = invoke("look", folder, TEXT, "--target", TARGET, "--beam")
    assert refused.returncode == 2
    assert "nothing was searched for here" in refused.stderr


def test_json_stays_json_whatever_else_is_asked_for(folder):
    plain = json.loads(invoke("look", folder, TEXT, "--json").stdout)
    assert json.loads(invoke("look", folder, TEXT, "--json", "--candidates", "--beam").stdout) == plain
    refused = invoke("look", folder, TEXT, "--json", "--neighbours", "ship")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "--neighbours and a text would be two documents of JSON" in refused.stderr


def test_layers_and_heads_count_from_0_everywhere(folder, tmp_path):
    """The model has cross-attention of 3 layers with 3 heads each."""
    last = {"layer": 2, "head": 2}
    for verb in ("look", "explain"):
        assert invoke(verb, folder, TEXT, "--layer", "2", "--head", "2").returncode == 0
        for name, beyond in (("--layer", "3"), ("--head", "3")):
            assert "from 0: 0" in invoke(verb, folder, TEXT, name, beyond).stderr
    (tmp_path / "gold.tsv").write_text("We saw a ship\tWe saw I\t0-0 1-1\nsnow fell\tsnow\t0-0\n")
    heads = json.loads(invoke("align", folder, str(tmp_path / "gold.tsv"), "--heads", "--json").stdout)["heads"]
    assert {one["head"] for one in heads} == {None, 0, 1, 2}
    assert {one["layer"] for one in heads} == {0, 1, 2}
    model = load(tmp_path / "model")
    record = model.look(TEXT, TARGET)
    assert record.picture(**last).title == "cross attention · layer 2 · head 2"
    assert to_csv(record).splitlines()[-1].startswith(("cross,2,2,", "masked,2,2,", "self,0,2,"))
    assert atlas_of(record).panels[-1].lines()[0] == "layer 2 · head 2"
    ledger = model.explain(TEXT, target=TARGET, **last)
    assert {step.head for step in ledger.steps} == {None, 2}
    assert ledger.step("weight").values == pytest.approx(record.select("cross", 2, 2)[0], abs=1e-6)
    assert "Head 2 of layer 2 looks most at" in invoke("explain", folder, TEXT, "--layer", "2", "--head", "2").stdout


def test_a_classifier_says_which_label_it_gives(tmp_path):
    folder = classifier_folder(tmp_path / "labels", CLASSIFIER)
    answer = load(folder).classify(TEXT)[0]
    said = f"Label: {answer.label}, with a probability of {answer.probability:.2f}."
    assert said in invoke("look", str(folder), TEXT).stdout
    invoke("look", str(folder), TEXT, "--svg", str(tmp_path / "a.svg"))
    assert said in (tmp_path / "a.svg").read_text()


def test_an_atlas_is_drawn(folder, tmp_path):
    found = invoke("look", folder, TEXT, "--target", TARGET, "--atlas", str(tmp_path / "atlas.svg"), "--kind", "self")
    assert found.returncode == 0, found.stderr
    root = ElementTree.parse(tmp_path / "atlas.svg").getroot()
    panels = [part for part in root.iter() if (part.get("class") or "").startswith("layer-0-head-")]
    assert len(panels) == 2 * 3


def test_heads_are_scored_against_gold(folder, tmp_path):
    (tmp_path / "gold.tsv").write_text(
        "We saw a ship\tWe saw I\t0-0 1-1\nI like snow\tWe saw\t0-0\nsnow fell\tsnow\t0-0\n"
    )
    found = invoke("align", folder, str(tmp_path / "gold.tsv"), "--heads", "--atlas", str(tmp_path / "heads.svg"))
    assert found.returncode == 0, found.stderr
    assert len(found.stdout.splitlines()) == 1 + 3 * 4 * 2  # layers, heads and their mean, readings
    assert "Best on every other pair" in found.stderr
    plain = json.loads(invoke("align", folder, str(tmp_path / "gold.tsv"), "--heads", "--json").stdout)
    assert set(plain) == {"heads", "best", "diagonal", "ceiling"}
    assert plain["best"]["chosen_on"]["aer"] <= min(one["aer"] for one in plain["heads"]) + 1
    assert "AER" in (tmp_path / "heads.svg").read_text()
    (tmp_path / "pairs.tsv").write_text("We saw a ship\tWe saw I\n")
    refused = invoke("align", folder, str(tmp_path / "pairs.tsv"), "--heads")
    assert (refused.returncode, refused.stderr) == (
        2,
        "nungil: --heads needs gold links: a third column, or --gold FILE\n",
    )


def test_a_large_file_is_asked_about_first(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(look_files, "LARGE", 1_000)
    path = tmp_path / "look.csv"
    refused = invoke("look", folder, TEXT, "--target", TARGET, "--csv", str(path))
    assert refused.returncode == 2
    assert "look.csv would have about 0 MB, more than 0; add --yes to write it" in refused.stderr
    assert not path.exists()
    assert invoke("look", folder, TEXT, "--target", TARGET, "--csv", str(path), "--yes").returncode == 0
    assert path.exists()
    assert "the JSON would have" in invoke("look", folder, TEXT, "--json").stderr
    atlas = tmp_path / "atlas.svg"
    (tmp_path / "gold.tsv").write_text("We saw a ship\tWe saw I\t0-0 1-1\nsnow fell\tsnow\t0-0\n")
    for asked in (["look", folder, TEXT, "--target", TARGET], ["align", folder, str(tmp_path / "gold.tsv")]):
        refused = invoke(*asked, "--atlas", str(atlas))
        assert refused.returncode == 2
        assert "atlas.svg would have about 0 MB, more than 0" in refused.stderr
        assert not atlas.exists()
        assert invoke(*asked, "--atlas", str(atlas), "--yes").returncode == 0
        atlas.unlink()
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for answer, code in ((False, 130), (True, 0)):
        monkeypatch.setattr("typer.confirm", lambda *_, answer=answer, **__: answer)
        assert invoke("look", folder, TEXT, "--target", TARGET, "--csv", str(path)).returncode == code


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([""], "the text is empty; there is nothing to look at"),
        ([], "a text is needed: nungil look"),
        ([TEXT, "--layer", "7"], "no cross attention of layer 7; its layers, from 0: 0, 1, 2"),
        ([TEXT, "--head", "3"], "cross attention of layer 2 has no head 3; its heads, from 0: 0 to 2"),
        ([TEXT, "--kind", "pooling"], "this record has no 'pooling' attention; it has cross, self, masked"),
        ([TEXT, "--svg", "look.png"], "--svg look.png: the name should end in .svg"),
        ([TEXT, "--atlas", "look.gif"], "--atlas look.gif: the name should end in .svg or .png or .pdf"),
        (["--neighbours", "shipp"], "this model has no embedding for 'shipp'; did you mean ship?"),
        (["--neighbours", " "], "the word is empty"),
    ],
)
def test_mistakes_are_named(folder, options, said):
    found = invoke("look", folder, *options)
    assert found.returncode == 2
    assert said in found.stderr
    assert found.stderr.count("\n") == 1


# Neighbours


def test_neighbours_are_the_nearest_by_angle():
    words = WordTokenizer(["east", "west", "north", "northeast"])
    table = torch.tensor([[9.0, 9.0]] * 4 + [[2.0, 0.0], [-1.0, 0.0], [0.0, 3.0], [5.0, 5.0]])
    (found,) = neighbours_of("east", [Vectors("source", words, table)], count=2)
    assert [near.token for near in found.nearest] == ["northeast", "north"]
    assert [near.cosine for near in found.nearest] == pytest.approx([2**-0.5, 0.0])
    (two,) = neighbours_of("east north", [Vectors("source", words, table)])
    assert two.nearest[0] == pytest.approx(("northeast", 1.0))
    assert two.pieces == ("east", "north")
    with pytest.raises(UsageError, match="never seen the word"):
        neighbours_of("qqqq", [Vectors("source", words, table)])


def test_each_side_that_knows_the_word_has_a_table(tmp_path):
    folder = str(translator_folder(tmp_path / "model", LUONG))
    found = invoke("look", folder, "--neighbours", "snow")
    assert found.stdout.startswith("Nearest to snow, source embedding, by cosine:\n")
    assert "Nearest to 눈을, target embedding" in invoke("look", folder, "--neighbours", "눈을").stdout
    (side,) = json.loads(invoke("look", folder, "--neighbours", "snow", "--json").stdout)
    table = load(tmp_path / "model").model.source_embedding.table.weight.detach().double().numpy()
    ids = load(tmp_path / "model").tokenizers.source.encode(f"snow {side['nearest'][0]['token']}")
    one, other = table[ids]
    assert side["nearest"][0]["cosine"] == pytest.approx(one @ other / np.linalg.norm(one) / np.linalg.norm(other))
    labels = str(classifier_folder(tmp_path / "labels", CLASSIFIER))
    assert "source embedding" in invoke("look", labels, "--neighbours", "snow").stdout
    record = load(tmp_path / "labels").look("snow fell")
    assert sum(one.probability for one in record.steps[0].candidates) == pytest.approx(1)
