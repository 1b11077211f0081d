"""`nungil score`: models and files of answers, with what it says and how it ends."""

import gzip
import json
import subprocess
import sys

import pytest
from command import invoke
from model_folders import ENGLISH, KOREAN, LABELS, LUONG, TRANSFORMER, classifier_folder, translator_folder

import nungil
from nungil.batches.build import build_labelled_store, build_pair_store
from nungil.pipeline import load
from nungil.records import Labelled, Pair
from nungil.scoring import score_labels, score_translations
from nungil.scoring.measures import Way, measure
from nungil.text.snow.corpus import snow_pairs

PAIRS = [Pair(*pair) for pair in zip(ENGLISH, KOREAN, strict=True)]
TEXTS = [
    Labelled("I like snow", "snow"),
    Labelled("We saw a ship yesterday", "ship"),
    Labelled("snow fell", "snow"),
    Labelled("The child ate a pear", "eye"),
    Labelled("snow saw snow", "snow"),
]


def keep(folder, records, name="test"):
    """What a run leaves of the set it was scored on."""
    (folder / "data").mkdir(exist_ok=True)
    lines = [json.dumps(list(record), ensure_ascii=False) for record in records]
    (folder / "data" / f"{name}.jsonl").write_text("".join(line + "\n" for line in lines))


def keep_training(folder, pairs):
    (folder / "data").mkdir(exist_ok=True)
    build_pair_store(pairs, load(folder).tokenizers, folder / "data" / "train", longest=50)


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))
    return str(path)


@pytest.fixture
def translator(tmp_path):
    folder = translator_folder(tmp_path / "model", LUONG)
    keep(folder, PAIRS)
    return folder


@pytest.fixture
def classifier(tmp_path):
    folder = classifier_folder(tmp_path / "labels")
    keep(folder, TEXTS)
    return folder


def scored(*arguments):
    found = invoke("score", *map(str, arguments), "--json")
    assert found.returncode == 0, found.stderr
    return json.loads(found.stdout), found.stderr


def test_a_model_is_scored_on_the_test_set_that_its_run_has_kept(translator):
    found, said = scored(translator)
    made = [one.text for one in load(translator).translate(ENGLISH)]
    expected = score_translations(made, KOREAN, "ko")
    scores = found["scores"][str(translator)]
    assert (scores["bleu"]["score"], scores["chrf"]["score"]) == pytest.approx((expected.bleu, expected.chrf))
    assert found["signatures"]["bleu"] == expected.bleu_signature
    assert (found["task"], found["data"], found["sentences"]) == ("translate", f"the test set of {translator}", 4)
    assert f"{translator} has not kept its training set, so the nearest training sentence is not scored" in said


def test_the_same_as_translating_first_and_scoring_the_file(translator, tmp_path):
    data = write(tmp_path / "test.tsv", ["en\tko", *map("\t".join, zip(ENGLISH, KOREAN, strict=True))])
    source = write(tmp_path / "test.en", ENGLISH)
    (tmp_path / "made.ko").write_text(invoke("translate", str(translator), source).stdout)
    references = write(tmp_path / "test.ko", KOREAN)
    one, _ = scored(translator, "--data", data)
    two, _ = scored("--hypotheses", tmp_path / "made.ko", "--references", references, "--sources", source)
    three, _ = scored("--hypotheses", tmp_path / "made.ko", "--data", data)
    assert next(iter(one["scores"].values())) == next(iter(two["scores"].values()))
    for name in ("source", "target", "signatures", "lengths", "places"):
        assert json.dumps(one[name]).replace(str(translator), "x") == json.dumps(two[name]).replace(
            str(tmp_path / "made.ko"), "x"
        ), name
    assert two["scores"] == three["scores"]
    assert (two["source"], two["target"]) == ("en", "ko"), "told from the names of the files"


def test_data_is_whatever_training_takes(translator, tmp_path):
    plain, _ = scored(
        translator, "--data", write(tmp_path / "a.en", ENGLISH), "--data", write(tmp_path / "a.ko", KOREAN)
    )
    (tmp_path / "b.tsv.gz").write_bytes(
        gzip.compress("".join(f"{ko}\t{en}\n" for en, ko in zip(ENGLISH, KOREAN, strict=True)).encode())
    )
    turned, said = scored(translator, "--data", tmp_path / "b.tsv.gz", "--columns", "2,1")
    assert plain["scores"] == turned["scores"]
    assert "b.tsv.gz: TSV without a header; source from column 2, target from column 1\n" in said
    header = write(tmp_path / "c.tsv", ["ko\ten", *(f"{ko}\t{en}" for en, ko in zip(ENGLISH, KOREAN, strict=True))])
    assert scored(translator, "--data", header)[0]["scores"] == plain["scores"], "named columns are turned round"


def test_labels_are_no_translations_unless_that_is_said(translator, tmp_path):
    rows = [f"{text},{label}" for text, label in zip(ENGLISH, ("good", "bad", "good", "bad"), strict=True)]
    data = write(tmp_path / "reviews.csv", ["review,label", *rows])
    found = invoke("score", str(translator), "--data", data)
    assert (found.returncode, found.stdout) == (3, "")
    assert found.stderr == (
        f"nungil: {data}: texts with labels, by the look of it, and translations are scored on pairs; choose the two "
        "texts with --columns en,ko, or say that these are pairs: --task translate\n"
    )
    assert scored(translator, "--data", data, "--task", "translate")[0]["sentences"] == 4


def test_the_nearest_training_sentence_stands_beside_a_translator(translator, tmp_path):
    keep_training(translator, PAIRS[:3])
    found, said = scored(translator)
    nearest = found["scores"]["the nearest training sentence"]["bleu"]["score"]
    answers = [*KOREAN[:3], KOREAN[0]]  # `snow fell` is most like `I like snow`
    assert nearest == pytest.approx(score_translations(answers, KOREAN, "ko").bleu)
    assert found["comparisons"][0]["told"].startswith(f"{translator} does not beat the nearest training sentence. ")
    assert f"3 of the 4 are in the training set of {translator}, which makes it look better than it is.\n" in said
    assert found["seen"] == {str(translator): 3}
    given = write(tmp_path / "train.tsv", map("\t".join, zip(ENGLISH[3:], KOREAN[3:], strict=True)))
    other, _ = scored(translator, "--train", given)
    assert other["scores"]["the nearest training sentence"]["bleu"]["score"] < nearest
    assert list(scored(translator, "--no-nearest")[0]["scores"]) == [str(translator)]


@pytest.mark.parametrize("first", [0, 1])
def test_what_any_of_several_models_has_seen_is_told(translator, tmp_path, first):
    other = translator_folder(tmp_path / "other", LUONG)
    keep(other, PAIRS)
    keep_training(other, PAIRS[:3])
    one, helper = (translator, other) if first else (other, translator)
    found, said = scored(one, "--with", helper)
    assert found["seen"] == {f"{one} + {helper}": 3}
    assert f"3 of the 4 are in the training set of {one} + {helper}, which makes it look better" in said


def test_the_nearest_sentence_needs_no_model(tmp_path):
    pairs = list(snow_pairs(60, lengths=(3, 6)))
    train = write(tmp_path / "train.tsv", (f"{pair.english}\t{pair.korean}" for pair in pairs[:40]))
    files = {
        "--sources": write(tmp_path / "test.en", (pair.english for pair in pairs[40:])),
        "--references": write(tmp_path / "test.ko", (pair.korean for pair in pairs[40:])),
        "--hypotheses": write(tmp_path / "made.ko", (pair.korean for pair in pairs[40:])),
    }
    found, _ = scored(*(part for pair in files.items() for part in pair), "--train", train)
    told = found["comparisons"][0]["told"]
    assert told.startswith(f"{files['--hypotheses']} is better than the nearest training sentence by ")
    assert told.endswith("p = 0.002).")


def test_two_models_are_compared_and_a_beam_can_be_chosen(translator, tmp_path):
    other = translator_folder(tmp_path / "other", TRANSFORMER)
    found, _ = scored(translator, "--against", other, "--beam", "1", "--length-penalty", "0.5")
    for folder in (translator, other):
        made = [one.text for one in load(folder).translate(ENGLISH, beam=1, length_penalty=0.5)]
        assert found["scores"][str(folder)]["chrf++"]["score"] == pytest.approx(
            measure(made, KOREAN, Way("ko", ter=False))["chrf++"].score()
        )
    assert (found["comparisons"][0]["first"], found["comparisons"][0]["second"]) == (str(translator), str(other))
    keep(translator, PAIRS * 2)  # with four sentences nothing can be told
    right = write(tmp_path / "right.ko", KOREAN * 2)
    assert "is worse than" in scored(translator, "--against", right)[0]["comparisons"][0]["told"]


def test_a_file_is_scored_on_what_the_model_beside_it_has_kept(translator, tmp_path):
    keep(translator, PAIRS * 2)
    found, _ = scored("--hypotheses", write(tmp_path / "right.ko", KOREAN * 2), "--against", translator)
    assert (found["data"], found["target"]) == (f"the test set of {translator}", "ko")
    assert "is better than" in found["comparisons"][0]["told"]


def test_a_table_for_people_is_data_and_the_rest_is_talk(translator):
    keep_training(translator, PAIRS[:3])
    found = invoke("score", str(translator))
    lines = found.stdout.splitlines()
    assert lines[0] == f"4 sentences from en to ko: the test set of {translator}"
    assert [line.split()[0] for line in lines[3:8]] == ["chrF++", "chrF", "BLEU", "BLEU", "TER"]
    assert "In brackets 95% intervals, by 1,000 resamples. TER counts edits: the lower, the better." in lines
    assert f"{translator} does not beat the nearest training sentence. " in found.stdout
    assert (
        "Only 4 records: too few to tell how good it is, and BLEU of so few may be 0 however good they are.\n"
        in found.stderr
    )
    assert found.stderr.endswith(
        "Next: the same with --against, a model folder or a file of answers, to tell which is better\n"
    )


def test_a_classifier_is_scored_with_its_calibration(classifier):
    found, _ = scored(classifier)
    answers = load(classifier).classify([one.text for one in TEXTS])
    expected = score_labels([one.label for one in answers], [one.label for one in TEXTS], LABELS)
    scores = found["scores"][str(classifier)]
    assert scores["accuracy"]["score"] == pytest.approx(100 * expected.accuracy)
    assert scores["macro_f1"]["score"] == pytest.approx(100 * expected.macro_f1)
    assert found["scores"]["always saying 'snow'"]["accuracy"]["score"] == pytest.approx(60)
    sure = found["calibration"][str(classifier)]
    assert sum(one["texts"] for one in sure["bins"]) == 5
    shown = invoke("score", str(classifier)).stdout
    assert "right, and said:" in shown
    assert f"Calibration error of {classifier}: {sure['error']:.1%}\n" in shown


def test_a_classifier_that_has_seen_its_test_is_said_to(classifier):
    known = load(classifier)
    build_labelled_store(TEXTS[:2], known.tokenizer, LABELS, classifier / "data" / "train", longest=9)
    assert scored(classifier)[0]["seen"] == {str(classifier): 2}


def test_what_classify_prints_is_scored_without_the_model(classifier, tmp_path):
    texts = write(tmp_path / "texts.txt", (one.text for one in TEXTS))
    gold = write(tmp_path / "gold.txt", (one.label for one in TEXTS))
    (tmp_path / "made.jsonl").write_text(invoke("classify", str(classifier), texts, "--json").stdout)
    (tmp_path / "made.txt").write_text(invoke("classify", str(classifier), texts).stdout)
    model, _ = scored(classifier)
    made, _ = scored("--hypotheses", tmp_path / "made.jsonl", "--references", gold)
    assert made["calibration"][str(tmp_path / "made.jsonl")] == model["calibration"][str(classifier)]
    assert made["details"][str(tmp_path / "made.jsonl")] == model["details"][str(classifier)]
    rounded, _ = scored("--hypotheses", tmp_path / "made.txt", "--references", gold)
    assert rounded["details"][str(tmp_path / "made.txt")] == model["details"][str(classifier)]
    assert rounded["calibration"][str(tmp_path / "made.txt")]["error"] == pytest.approx(
        model["calibration"][str(classifier)]["error"], abs=1e-3
    )


def test_a_label_is_the_same_whatever_white_space_stands_around_it(classifier, tmp_path):
    texts = write(tmp_path / "texts.txt", (one.text for one in TEXTS))
    data = write(tmp_path / "data.csv", ["text,label", *(f"{one.text}, {one.label} " for one in TEXTS)])
    gold = write(tmp_path / "gold.txt", (f" {one.label}  " for one in TEXTS))
    made = tmp_path / "made.txt"
    made.write_text(invoke("classify", str(classifier), texts).stdout)
    right = scored(classifier)[0]["details"][str(classifier)]
    assert scored(classifier, "--data", data)[0]["details"][str(classifier)] == right
    for beside in (("--data", data), ("--references", gold)):
        assert scored("--hypotheses", made, *beside)[0]["details"][str(made)] == right
    answers = write(tmp_path / "answers.txt", (f"{label} " for label in right["labels"]))
    same = write(tmp_path / "same.txt", (f" {label}" for label in right["labels"]))
    found, _ = scored("--hypotheses", answers, "--references", same, "--task", "classify")
    assert found["scores"][answers]["accuracy"]["score"] == 100


def test_labels_are_told_from_translations(tmp_path):
    gold = write(tmp_path / "gold.txt", ["good", "bad"] * 9)
    made = write(tmp_path / "made.txt", ["good", "good"] * 9)
    found, said = scored("--hypotheses", made, "--references", gold)
    assert found["task"] == "classify"
    assert said.startswith(f"{gold} holds 2 labels; --task translate would score them as translations.\n")
    assert scored("--hypotheses", made, "--references", gold, "--task", "translate")[0]["task"] == "translate"
    few = write(tmp_path / "few.txt", ["good", "bad"])
    assert (
        scored("--hypotheses", few, "--references", write(tmp_path / "g.txt", ["good", "bad"]))[0]["task"]
        == "translate"
    )


def test_what_translate_prints_as_json_is_read(translator, tmp_path):
    source, references = write(tmp_path / "a.en", ENGLISH), write(tmp_path / "a.ko", KOREAN)
    (tmp_path / "made.jsonl").write_text(invoke("translate", str(translator), source, "--json").stdout)
    found, _ = scored("--hypotheses", tmp_path / "made.jsonl", "--references", references)
    assert found["scores"][str(tmp_path / "made.jsonl")] == scored(translator)[0]["scores"][str(translator)]


def test_many_labels_are_shown_by_their_commonest_mistakes(tmp_path):
    names = [f"kind {number}" for number in range(45)]
    gold = write(tmp_path / "gold.txt", names * 3)
    made = write(tmp_path / "made.txt", [*names[1:], names[0]] + names * 2)
    paired = write(tmp_path / "gold.tsv", ["text\tlabel", *(f"a\t{name}" for name in names * 3)])
    shown = invoke("score", "--hypotheses", made, "--references", gold).stdout
    assert f"The commonest mistakes of {made}:\n" in shown
    assert "and 33 kinds more" in shown
    assert "and 5 labels more" in shown
    assert f"{gold} made no mistake.\n" in invoke("score", "--hypotheses", gold, "--data", paired).stdout


def test_links_that_place_no_word_leave_no_table(places, tmp_path):
    files = ["--hypotheses", places["made"], "--references", places["right"], "--sources", places["source"]]
    assert "quarter of the source" in invoke("score", *files, "--links", write(tmp_path / "a", ["0-0"] * 4)).stdout
    assert "quarter" not in invoke("score", *files, "--links", write(tmp_path / "b", [""] * 4)).stdout


def test_one_sentence_is_one_and_an_empty_answer_is_scored(tmp_path):
    right, empty = write(tmp_path / "right.ko", ["나는 눈을 좋아한다"]), write(tmp_path / "empty.ko", [""])
    found = invoke("score", "--hypotheses", empty, "--references", right, "--against", right)
    assert found.stdout.startswith(f"1 sentence from ? to ko: {right}\n")
    assert f"No difference between {empty} and {right} can be told: -100.0 chrF++" in found.stdout
    assert found.stderr.startswith("Only 1 record: too few to tell how good it is, and BLEU of so")


def test_only_a_validation_set_is_said_to_be_one(tmp_path):
    folder = translator_folder(tmp_path / "model")
    keep(folder, [])
    keep(folder, PAIRS, "validation")
    found, said = scored(folder)
    assert found["data"] == f"the validation set of {folder}"
    assert "Scores on the validation set, which the model was chosen by, are somewhat too good" in said


def test_records_without_a_text_or_an_answer_are_left_out_and_counted(classifier, tmp_path):
    rows = [*(f"{one.text}\t{one.label}" for one in TEXTS), "\tsnow", "snow fell\t"]
    found, said = scored(classifier, "--data", write(tmp_path / "test.tsv", rows), "--columns", "1,2")
    assert found["texts"] == 5
    assert "2 of 7 records left out: empty text 1, empty label 1.\n" in said


def test_files_in_another_encoding(tmp_path):
    for name in ("made.ko", "right.ko"):
        (tmp_path / name).write_bytes("".join(f"{line}\n" for line in KOREAN).encode("cp949"))
    files = ["--hypotheses", str(tmp_path / "made.ko"), "--references", str(tmp_path / "right.ko")]
    found = invoke("score", *files)
    assert found.returncode == 3
    assert "it reads as Korean CP949: give --encoding cp949" in found.stderr
    scores, _ = scored(*files, "--encoding", "cp949")
    assert scores["scores"][files[1]]["chrf++"]["score"] == pytest.approx(100)


@pytest.fixture
def places(translator, classifier, tmp_path):
    """Names in the cases below, and what they stand for."""
    (tmp_path / "nul.txt").write_bytes(b"a\0b\n")
    (tmp_path / "bad.txt").write_bytes(b"snow\n\xc3(\n")
    (tmp_path / "empty.txt").write_bytes(b"")
    (tmp_path / "foreign").mkdir()
    bare = translator_folder(tmp_path / "bare")
    files = {
        "three": write(tmp_path / "three.ko", KOREAN[:3]),
        "made": write(tmp_path / "made.ko", KOREAN),
        "right": write(tmp_path / "right.ko", KOREAN),
        "source": write(tmp_path / "source.en", ENGLISH),
        "json": write(tmp_path / "half.jsonl", ['{"label": "snow"}', '{"labl": "snow"}', "{]", "null"]),
        "null": write(tmp_path / "null.jsonl", ['{"label": "snow"}', "null", *['{"label": "eye"}'] * 2]),
        "nulls": write(tmp_path / "nulls.jsonl", ["null", *['{"label": "eye"}'] * 3]),
        "sure": write(tmp_path / "sure.txt", ["snow\t0.9", "", "ship\t1.0", "eye\t0.6"]),
        "texts": write(tmp_path / "texts.txt", ["I like snow", "snow fell", " ", "a pear"]),
        "unlabelled": write(tmp_path / "unlabelled.tsv", ["text\tlabel", "a\tsnow", "b\t", "c\tship", "d\teye"]),
        "gap": write(tmp_path / "gap.txt", ["snow", "", "ship", "eye"]),
        "gold": write(tmp_path / "gold.txt", ["snow", "snow", "ship", "eye"]),
        "strange": write(tmp_path / "strange.tsv", ["I like snow\tsnow", "snow fell\tsnwo", "a pear\teye"]),
        "links": write(tmp_path / "links.txt", ["0-0"]),
        "model": translator,
        "labels": classifier,
        "bare": bare,
        **{name: tmp_path / f"{name}.txt" for name in ("nul", "bad", "empty")},
        **{name: tmp_path / name for name in ("foreign", "nowhere")},
    }
    return {name: str(path) for name, path in files.items()}


CASES = [
    ("", 2, "give a model folder, or --hypotheses FILE with --references FILE"),
    ("{nowhere}", 2, "{nowhere}: there is no such folder; a model folder is what `nungil train` leaves"),
    ("{foreign}", 4, "{foreign}: not a model folder: there is no config.json in it"),
    ("{made}", 2, "{made} is a file; answers are scored with: nungil score --hypotheses {made} …"),
    ("--hypotheses {model}", 2, "{model} is a folder; a model is scored with: nungil score {model}"),
    ("{model} --hypotheses {made}", 2, "{model} and --hypotheses {made} are two systems; compare them with --against"),
    ("{bare}", 2, "{bare} has kept no test set; give one: --data FILE"),
    ("--hypotheses {nowhere} --references {right}", 3, "{nowhere}: there is no such file"),
    ("--hypotheses {made}", 2, "answers are scored against references: give --references FILE, or --data FILE"),
    ("--hypotheses {made} --sources {source}", 2, "--sources needs --references FILE"),
    (
        "--hypotheses {three} --references {right}",
        3,
        "{three}: 3 lines for the 4 of {right}; there must be one for each, in the same order",
    ),
    (
        "--hypotheses {made} --references {right} --sources {three}",
        3,
        "{three}: 3 lines for the 4 of {right}; there must be one for each, in the same order",
    ),
    (
        "--hypotheses {made} --references {right} --against {three}",
        3,
        "{three}: 3 lines for the 4 of {right}; there must be one for each, in the same order",
    ),
    ("--hypotheses {empty} --references {right}", 3, "{empty}: the file is empty"),
    ("--hypotheses {made} --references {empty}", 3, "{empty}: the file is empty"),
    (
        "--hypotheses {nul} --references {right}",
        3,
        "{nul}:1: a NUL character; this is no text file, or UTF-16 (give --encoding utf-16-le)",
    ),
    ("--hypotheses {bad} --references {right}", 3, "{bad}:2: not UTF-8"),
    ("--hypotheses {made} --references {right} --encoding utf-9", 2, "--encoding: there is no encoding 'utf-9'"),
    ("--hypotheses {gap} --references {gold} --task classify", 3, "{gap}:2: there is no label in this line"),
    ("--hypotheses {gold} --references {gap} --task classify", 3, "{gap}:2: there is no label in this line"),
    ("--hypotheses {json} --references {gold}", 3, "{json}:3: begins like JSON, but is not JSON"),
    (
        "--hypotheses {null} --references {gold}",
        3,
        "{null}:2: there is no label in this line; `nungil classify` gives none to an empty text: remove the line "
        "here and in the references",
    ),
    ("--hypotheses {nulls} --references {gold}", 3, "{nulls}:1: there is no label in this line; `nungil classify`"),
    ("--hypotheses {sure} --references {gold}", 3, "{sure}:2: there is no label in this line; `nungil classify`"),
    ("--hypotheses {gold} --data {unlabelled}", 3, "{unlabelled}:3: there is no label in this line"),
    (
        "{labels} --references {gold} --sources {texts}",
        3,
        "{texts}:3: there is no text to classify in this line; remove it, and its label",
    ),
    ("{labels} --references {right} --sources {source}", 3, "{right}:1: the label '나는 눈을 좋아한다' is none that"),
    ("{model} --compute int8", 2, "--compute int8: only with --engine ctranslate2; nungil has float32"),
    ("{model} --engine ctranslate2", 2, "{model} holds a recurrent translator, and CTranslate2 runs only Transf"),
    ("{labels} --engine ctranslate2", 2, "{labels} holds a classifier, and CTranslate2 runs only Transformers"),
    ("{model} --engine ctranslate2 --compute int9", 2, "compute: there is no 'int9'; did you mean int8?"),
    (
        "--hypotheses {made} --references {right} --engine ctranslate2",
        2,
        "--engine ctranslate2 runs a model; {made} is a file of answers",
    ),
    ("{model} --against {model}", 2, "{model} is compared with itself; give another system, or --engine or --with"),
    ("--hypotheses {made} --references {right} --beam 3", 2, "--beam and --length-penalty are for a model that"),
    ("{model} --beam 101", 2, "nungil score:\n- beam: must be at most 100"),
    ("--hypotheses {made} --references {right} --against {made}", 2, "{made} is compared with itself; give another"),
    (
        "--hypotheses {made} --references {right} --against {model}",
        2,
        "{model} is a model: it needs texts to translate",
    ),
    ("--hypotheses {made} --references {right} --to klingon", 2, "there is no language 'klingon'"),
    ("--hypotheses {made} --references {right} --links {links}", 3, "{links}: 1 line of links for 4 references"),
    ("--hypotheses {made} --references {right} --train {strange}", 2, "--train is for finding sentences nearest to a"),
    ("{model} --data {strange} --references {right}", 2, "--data contains sources and references; leave"),
    ("{model} --task classify --data {strange}", 2, "--task classify: but the model's task is to translate"),
    ("{model} --against {labels}", 2, "{labels} holds a classifier; that cannot translate"),
    ("{labels} --against {model}", 2, "{model} holds a translator; that cannot classify"),
    ("{labels} --data {strange}", 3, "{strange}:2: the label 'snwo' is none that {labels} knows; did you mean snow?"),
    ("{model} --data {nowhere}", 3, "{nowhere}: there is no such file"),
]


@pytest.mark.parametrize(("arguments", "code", "message"), CASES)
def test_what_cannot_be_scored_ends_in_a_sentence(places, arguments, code, message):
    found = invoke("score", *(part.format(**places) for part in arguments.split()))
    assert (found.returncode, found.stdout) == (code, "")
    assert f"nungil: {message.format(**places)}" in found.stderr


@pytest.mark.parametrize("order", [("model", "labels"), ("labels", "model")])
def test_what_does_not_fit_is_refused_before_anything_is_answered(places, order):
    first, other = (places[name] for name in order)
    found = invoke("score", first, "--against", other)
    assert found.returncode == 2
    assert "that cannot" in found.stderr
    assert "Translating" not in found.stderr
    assert "Classifying" not in found.stderr


@pytest.mark.parametrize("options", [["--scores"], ["--n-best", "2"], ["--n-best", "3", "--scores"], ["--align"]])
def test_what_translate_prints_beside_translations_is_not_scored_as_words(translator, tmp_path, options):
    source = write(tmp_path / "a.en", [*ENGLISH, ""])
    references, made = write(tmp_path / "a.ko", [*KOREAN, "눈"]), tmp_path / "made.ko"
    made.write_text(invoke("translate", str(translator), source, *options).stdout)
    found = invoke("score", "--hypotheses", str(made), "--references", references)
    assert (found.returncode, found.stdout) == (3, "")
    assert found.stderr == (
        f"nungil: {made}: every line has a column that `nungil translate {options[0]}` prints, which would "
        f"be scored as words of the translation; translate without {options[0]}, or with --json\n"
    )


def test_numbers_in_translations_are_words(tmp_path):
    lines = ["1\ta", "3\tb", "a\t-1.5", "b\t0-0"]
    found, _ = scored("--hypotheses", write(tmp_path / "a", lines), "--references", write(tmp_path / "b", lines))
    assert found["scores"][str(tmp_path / "a")]["chrf"]["score"] == pytest.approx(100)


def test_what_an_engine_costs_is_measured_in_one_command(tmp_path):
    folder = translator_folder(tmp_path / "model", TRANSFORMER)
    keep(folder, PAIRS)
    found, said = scored(folder, "--engine", "ctranslate2", "--compute", "int8", "--against", folder)
    name = f"{folder} (ctranslate2, int8)"
    assert list(found["scores"]) == [name, str(folder)]
    begun = [line for line in said.splitlines() if line.startswith("Translating")]
    assert begun == [f"Translating 4 sentences with {one} …" for one in (name, folder)]
    assert found["engines"] == {
        name: {"engine": "ctranslate2", "compute": "int8"},
        str(folder): {"engine": "nungil", "compute": "float32"},
    }
    for system, model in (
        (name, nungil.load(folder, engine="ctranslate2", compute="int8")),
        (str(folder), load(folder)),
    ):
        made = [one.text for one in model.translate(ENGLISH)]
        expected = measure(made, KOREAN, Way("ko", ter=False))["chrf++"].score()
        assert found["scores"][system]["chrf++"]["score"] == pytest.approx(expected)
    plain, _ = scored(folder, "--engine", "ctranslate2")
    assert list(plain["scores"]) == [f"{folder} (ctranslate2, float32)"]


def test_the_languages_of_two_models_must_agree(translator, tmp_path):
    other = translator_folder(tmp_path / "german", TRANSFORMER)
    config = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps({**config, "target": "de"}))
    found = invoke("score", str(translator), "--against", str(other))
    assert (found.returncode, found.stdout) == (2, "")
    assert f"nungil: {other} translates to de, but the references are in ko\n" in found.stderr
    assert "Translating" not in found.stderr


def test_files_are_scored_without_torch(tmp_path):
    made = write(tmp_path / "made.ko", KOREAN)
    arguments = ["score", "--hypotheses", made, "--references", write(tmp_path / "right.ko", KOREAN)]
    script = (
        f"import sys; sys.argv = ['nungil', *{arguments!r}]\n"
        "from nungil.cli.main import main\n"
        "main()\n"
        "assert 'torch' not in sys.modules"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
