"""From a user's files to all that training needs: sizes, leaks, languages, memory, and every refusal as it is read."""

import gzip
import json
import subprocess
import sys
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from nungil.errors import ConfigError, CorpusError, UsageError
from nungil.runs import sets
from nungil.runs.data import DataSettings, open_data
from nungil.runs.labels import shares
from nungil.runs.prepare import prepare
from nungil.runs.sets import gather
from nungil.settings import build_settings
from nungil.text import cleaning
from nungil.text.cleaning import CleaningSettings
from nungil.text.languages import CODES, NAMES, primary_of, read_tag, tag_of
from nungil.text.snow.corpus import snow_pairs
from nungil.text.snow.senses import SENSE_HEADER, sense_examples, sense_line
from nungil.text.split import near_key
from nungil.text.tokenizers import Sample, TokenizerSettings, train_tokenizer

PAIRS = [(pair.english, pair.korean) for pair in snow_pairs(900, seed=3, lengths=(3, 9))]
KOREAN_VALID = [(pair.english, pair.korean) for pair in snow_pairs(60, seed=8, lengths=(3, 9), split="valid")]
SENSES = list(sense_examples(300, seed=5, lengths=(4, 9)))
LETTERS, WORDS = TokenizerSettings(unit="character"), TokenizerSettings(unit="word")


def table(path, rows, header=None):
    lines = ["\t".join(row) for row in ([header] if header else []) + list(rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def sense_table(path, examples):
    path.write_text("\n".join([SENSE_HEADER, *map(sense_line, examples)]) + "\n", encoding="utf-8")
    return str(path)


def run(tmp_path, tokenizer=LETTERS, seed=1, folder="data", cleaning=None, **data):
    return prepare(DataSettings(**data), cleaning or CleaningSettings(), tokenizer, tmp_path / folder, seed)


def refusal(tmp_path, kind=CorpusError, **data):
    """What the user reads, without the folder of the test. Nothing may be left behind."""
    with pytest.raises(kind) as caught:
        run(tmp_path, **data)
    assert not (tmp_path / "data" / "train").exists()
    assert not (tmp_path / "data" / "valid").exists()
    return str(caught.value).replace(f"{tmp_path}/", "")


def said(prepared, tmp_path):
    return [decision.replace(f"{tmp_path}/", "") for decision in prepared.decisions]


def spelled(number):
    """A number in letters: near-duplicates are told without digits."""
    return str(number).translate(str.maketrans("0123456789", "abcdefghij"))


def stored_texts(store, tokenizer):
    return [tokenizer.decode(store.columns["source"].row(row).tolist()) for row in range(len(store))]


# Sets


def test_a_twentieth_is_set_aside_for_validation_and_for_the_test(tmp_path):
    train = table(tmp_path / "snow.tsv", PAIRS, header=("en", "ko"))
    prepared = run(tmp_path, WORDS, train=train)
    assert (len(prepared.train), len(prepared.valid), len(prepared.test_records)) == (810, 45, 45)
    assert said(prepared, tmp_path) == [
        "snow.tsv: TSV with a header; source from column 1 (en), target from column 2 (ko)",
        "From en to ko.",
        "Cleaning left all 900 pairs.",
        "No validation set was given: 45 pairs of train set aside, and 45 more as a test set; near-duplicates stay "
        "together.",
        f"Tokenizers: word, {prepared.tokenizers.source.size} words for the source and "
        f"{prepared.tokenizers.target.size} for the target (other letters).",
    ]
    assert (prepared.task, prepared.labels, prepared.tokenizers.joint) == ("translate", (), False)


def test_nothing_of_validation_and_test_stands_in_train(tmp_path):
    many = TokenizerSettings(unit="character", size=5_000)  # knows every character, so a store can be read back
    prepared = run(tmp_path, many, train=table(tmp_path / "snow.tsv", PAIRS))
    seen = {near_key(text) for text in stored_texts(prepared.train, prepared.tokenizers.source)}
    assert len(seen) > 700
    apart = prepared.valid_records + prepared.test_records
    assert not seen & {near_key(pair.source) for pair in apart}
    texts = stored_texts(prepared.valid, prepared.tokenizers.source)
    assert texts == [pair.source for pair in prepared.valid_records]


def test_no_test_set_is_taken_where_a_validation_set_is_given(tmp_path):
    train, valid = table(tmp_path / "snow.tsv", PAIRS), table(tmp_path / "valid.tsv", KOREAN_VALID)
    prepared = run(tmp_path, train=train, valid=valid)
    assert (len(prepared.valid), prepared.test_records) == (60, [])
    assert len(prepared.train) == 900 - len(set(PAIRS) & set(KOREAN_VALID))
    assert not any("set aside" in decision for decision in prepared.decisions)


def test_a_test_set_is_taken_beside_a_given_validation_set_if_asked_for(tmp_path):
    train, valid = table(tmp_path / "snow.tsv", PAIRS), table(tmp_path / "valid.tsv", KOREAN_VALID)
    prepared = run(tmp_path, train=train, valid=valid, test_size=17)
    assert (len(prepared.valid), len(prepared.test_records)) == (60, 17)
    assert "17 pairs of train set aside as a test set; near-duplicates stay together." in prepared.decisions


def test_only_a_validation_set_is_taken_where_a_test_set_is_given(tmp_path):
    train, test = table(tmp_path / "snow.tsv", PAIRS[:400]), table(tmp_path / "test.tsv", PAIRS[390:430])
    prepared = run(tmp_path, train=train, test=test)
    assert (len(prepared.train), len(prepared.valid), len(prepared.test_records)) == (371, 19, 40)
    assert "Cleaning left 390 of 400 pairs: in the test set 10." in prepared.decisions
    assert (
        "No validation set was given: 19 pairs of train set aside; near-duplicates stay together." in prepared.decisions
    )


def test_sizes_are_as_asked(tmp_path):
    prepared = run(tmp_path, train=table(tmp_path / "snow.tsv", PAIRS), valid_size=31, test_size=0)
    assert (len(prepared.train), len(prepared.valid), len(prepared.test_records)) == (869, 31, 0)


def sources(prepared):
    column, cut = prepared.train.columns["source"], prepared.tokenizers.source
    return {cut.decode(column.row(row).tolist()) for row in range(len(prepared.train))}


@pytest.mark.parametrize("valid", [False, True])
def test_so_many_to_train_on_as_asked_and_the_fewer_are_part_of_the_more(tmp_path, valid):
    files = {"train": table(tmp_path / "snow.tsv", PAIRS)}
    if valid:
        files["valid"] = table(tmp_path / "valid.tsv", KOREAN_VALID)
    few, more, everything = (
        run(tmp_path, folder=str(size), **files, **({"train_size": size} if size else {})) for size in (70, 210, 0)
    )
    assert (len(few.train), len(more.train)) == (70, 210)
    assert sources(few) < sources(more)
    assert few.valid_records == everything.valid_records
    assert f"Of {len(everything.train)} pairs to train on 70 are used, as asked." in few.decisions
    too_many = run(tmp_path, folder="many", **files, train_size=5_000)
    assert len(too_many.train) == len(everything.train)
    assert not any("as asked" in decision for decision in too_many.decisions)


def test_more_texts_than_pairs_are_set_aside_of_much_data():
    assert (sets.PAIRS.aside, sets.TEXTS.aside) == (1_000, 4_000)
    assert [sets.TEXTS.most(name) for name in ("validation", "test")] == [8_000, 100_000]
    for kind, count, expected in (
        (sets.PAIRS, 30_000, 1_000),
        (sets.TEXTS, 30_000, 1_500),
        (sets.TEXTS, 150_000, 4_000),
    ):
        train = sets.Train(kind, None, None)
        assert sets._worked_out(train, {sets.VALID: None, sets.TEST: 12}, count) == {
            sets.VALID: expected,
            sets.TEST: 12,
        }


def test_a_score_is_about_the_set_as_it_was_given(tmp_path):
    odd = [
        ("Snow .", "눈이 아주 많이 내리는 날에는 아무도 밖에 나가지 않는다 . " * 3),
        *KOREAN_VALID[:9],
        *KOREAN_VALID[:9],
    ]
    valid = table(tmp_path / "valid.tsv", [*odd, ("nothing", "")])
    prepared = run(tmp_path, train=table(tmp_path / "snow.tsv", PAIRS), valid=valid)
    assert len(prepared.valid_records) == 19
    assert "1 pair of the validation set left out: empty target 1." in prepared.decisions


def test_what_is_kept_of_a_large_set_is_spread_evenly(tmp_path, monkeypatch):
    monkeypatch.setattr(sets.Kind, "most", lambda _, name: {"validation": 7, "test": 100}[name])
    valid = table(tmp_path / "valid.tsv", KOREAN_VALID)
    prepared = run(tmp_path, train=table(tmp_path / "snow.tsv", PAIRS), valid=valid)
    assert [pair.line for pair in prepared.valid_records] == [9, 18, 26, 35, 43, 52, 60]
    assert "The validation set has 60 pairs: 7 of them are used, spread evenly." in prepared.decisions


def test_what_is_not_kept_of_a_part_set_aside_stays_out_of_train(tmp_path, monkeypatch):
    monkeypatch.setattr(sets.Kind, "most", lambda _, name: {"validation": 7, "test": 100}[name])
    prepared = run(tmp_path, train=table(tmp_path / "snow.tsv", PAIRS))
    assert (len(prepared.train), len(prepared.valid), len(prepared.valid_records)) == (810, 7, 7)
    assert "The validation set has 45 pairs: 7 of them are used, spread evenly." in prepared.decisions


def test_the_same_seed_gives_the_same_store_and_another_seed_another(tmp_path):
    train = table(tmp_path / "snow.tsv", PAIRS)
    pieces = TokenizerSettings(size=500)
    first, again, other = (
        run(tmp_path, pieces, seed=seed, folder=name, train=train) for seed, name in ((4, "a"), (4, "b"), (5, "c"))
    )
    assert first.train.fingerprint == again.train.fingerprint != other.train.fingerprint
    assert first.valid.fingerprint == again.valid.fingerprint
    assert first.test_records == again.test_records != other.test_records


def test_too_long_records_are_left_out_of_every_set_and_said(tmp_path):
    long = [(f"{'so ' * 20}white {number}", f"{'아주 ' * 20}하얗다 {number}") for number in range(3)]
    train = table(tmp_path / "snow.tsv", PAIRS + long)
    valid, test = table(tmp_path / "v.tsv", [*KOREAN_VALID, long[0]]), table(tmp_path / "t.tsv", [PAIRS[0], *long[:2]])
    prepared = run(tmp_path, WORDS, train=train, valid=valid, test=test, longest=18)
    assert prepared.too_long == {"train": 1, "validation": 0, "test": 2}
    assert "Too long for training (more than 18 tokens): 1 pair left out." in prepared.decisions
    assert "Too long for training (more than 18 tokens): 2 pairs of the test set left out." in prepared.decisions
    assert len(prepared.valid) == len(prepared.valid_records) == 60
    assert len(prepared.test_records) == 1


def test_records_are_not_held_in_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(cleaning, "BATCH", 256)
    kind = replace(sets.PAIRS, sample=200)

    def peak(count):
        words = [spelled(number) for number in range(count)]
        path = table(tmp_path / f"{count}.tsv", [(f"{word} {'a' * 200}", f"{word} {'와' * 100}") for word in words])
        data = DataSettings(train=path, valid_size=9, test_size=9)
        tracemalloc.start()
        gathered = gather(open_data(data), kind, data, CleaningSettings(), 1)
        assert sum(1 for _ in gathered.train) == count - 18
        _, highest = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return highest

    small, large = peak(1_000), peak(4_000)
    assert (large - small) / 3_000 < 150  # bytes a record, for keys and groups; the texts alone would be 550


def test_objects_that_lack_a_key_are_told_with_their_lines(tmp_path):
    lines = [json.dumps({"en": english, "ko": korean}) for english, korean in PAIRS[:40]]
    lines[4], lines[6] = '{"en": "snow"}', '{"en": "snow", "ko": null}'
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    prepared = run(tmp_path, train=str(tmp_path / "a.jsonl"))
    assert 'Cleaning left 38 of 40 pairs: no "ko" 2 (a.jsonl, lines 5, 7).' in said(prepared, tmp_path)


# Languages


@pytest.mark.parametrize("given", ["ko", "KO", "Korean", "korean", "ko-KR", "kor", "한국어", "KR", "kr"])
def test_a_language_has_many_names(given):
    assert read_tag(given) == "ko"


def test_a_tag_that_is_kept_is_read_back_as_itself():
    """A model hands the tags of its config back to be read."""
    for given in (*CODES, *NAMES, "id"):
        assert read_tag(read_tag(given)) == read_tag(given), given
        assert primary_of(primary_of(given)) == primary_of(given), given
    assert (read_tag("kau"), read_tag("kr")) == ("kau", "ko")


@pytest.mark.parametrize(
    ("name", "tag"),
    [
        ("data/train.de.gz", "de"),
        ("train.en.txt", "en"),
        ("a.b/kor", "ko"),
        ("en_web", "en"),
        ("KR", "ko"),
        ("train.jp", "ja"),
        ("CN", "zh"),
        ("ua", "uk"),
        ("CZ", "cs"),
        ("dk", "da"),
        ("vn", "vi"),
        ("gr", "el"),
        ("zh-CN", "zh"),
        ("kau", "kau"),  # Kanuri: kr is read as Korea's
        ("se", "se"),  # Northern Sami, whatever is meant
        ("tw", "tw"),
        ("notes.txt", ""),
        ("", ""),
    ],
)
def test_names_tell_languages(name, tag):
    assert tag_of(name) == tag


def test_countries_that_are_taken_for_languages_are_said(tmp_path):
    korean = table(tmp_path / "a.tsv", PAIRS[:40], header=("EN", "KR"))
    opened = open_data(DataSettings(train=korean))
    assert opened.languages == ("en", "ko")
    assert opened.decisions[1:] == ["From en to ko.", "kr is a country; its language, ko, is taken to be meant."]
    assert open_data(DataSettings(train=korean, source="kr")).languages == ("ko", "en")
    for side, text in (("en", "Good day"), ("jp", "こんにちは")):
        (tmp_path / f"c.{side}.txt").write_text("".join(f"{text} {number}\n" for number in range(40)))
    opened = open_data(DataSettings(train=(str(tmp_path / "c.en.txt"), str(tmp_path / "c.jp.txt"))))
    assert opened.decisions[1:] == ["From en to ja.", "jp is a country; its language, ja, is taken to be meant."]
    swedish = table(tmp_path / "b.tsv", PAIRS[:40], header=("en", "se"))
    assert open_data(DataSettings(train=swedish)).decisions[1:] == [
        "From en to se.",
        "se is Northern Sami; Swedish is sv.",
    ]


def test_indonesian_can_be_asked_for():
    assert (read_tag("id"), tag_of("id")) == ("id", "")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("koraen", "there is no language 'koraen'; did you mean korean?"),
        ("xx", "there is no language 'xx'; give a tag such as en, ko or de"),
        ("train.en", "there is no language 'train.en'; give a tag such as en, ko or de"),
    ],
)
def test_an_unknown_language_is_refused(tmp_path, given, message):
    train = table(tmp_path / "snow.tsv", PAIRS[:40])
    assert refusal(tmp_path, UsageError, train=train, target=given) == message


def test_the_languages_asked_for_choose_the_direction(tmp_path):
    train = table(tmp_path / "snow.tsv", PAIRS[:40], header=("en", "ko"))
    english, korean = (tmp_path / f"valid.{tag}.gz" for tag in ("en", "ko"))
    english.write_bytes(gzip.compress(b"I like snow\n"))
    korean.write_bytes(gzip.compress("나는 눈을 좋아한다\n".encode()))
    for asked in ({"source": "Korean"}, {"target": "en"}, {"source": "ko", "target": "eng"}):
        opened = open_data(DataSettings(train=train, valid=(english, korean), **asked))
        assert opened.languages == ("ko", "en")
        assert next(opened.train.pairs()).source == PAIRS[0][1]
        assert next(opened.held_out["validation"].pairs())[:2] == ("나는 눈을 좋아한다", "I like snow")


def test_a_set_with_its_columns_the_other_way_round_is_turned(tmp_path):
    train = table(tmp_path / "snow.tsv", PAIRS[:40], header=("en", "ko"))
    valid = table(tmp_path / "valid.tsv", [pair[::-1] for pair in KOREAN_VALID], header=("ko", "en"))
    prepared = run(tmp_path, train=train, valid=valid)
    assert [pair[:2] for pair in prepared.valid_records] == KOREAN_VALID
    assert "valid.tsv: TSV with a header; source from column 2 (en), target from column 1 (ko)" in said(
        prepared, tmp_path
    )


def test_columns_in_other_languages_than_asked_for_are_refused(tmp_path):
    train = table(tmp_path / "snow.tsv", PAIRS[:40], header=("en", "ko"))
    assert refusal(tmp_path, train=train, source="de", target="ko") == (
        "snow.tsv: by their names its columns are en and ko, but de and ko are wanted; choose two with --columns, "
        "by number if a name is wrong"
    )
    chosen = open_data(DataSettings(train=train, source="de", target="ko", columns=("1", "2")))
    assert chosen.languages == ("de", "ko")


ASKED = [
    ({"source": "ko", "target": "en"}, "from ko to en", "--from ko --to en"),
    ({"source": "ko"}, "from ko", "--from ko"),
    ({"target": "en"}, "to en", "--to en"),
]


@pytest.mark.parametrize("asked", [asked for asked, _, _ in ASKED])
def test_tables_without_names_are_turned_by_their_letters(tmp_path, asked):
    train, test = table(tmp_path / "snow.tsv", PAIRS[:40]), table(tmp_path / "test.tsv", PAIRS[40:60])
    opened = open_data(DataSettings(train=train, test=test, **asked))
    assert next(opened.train.pairs())[:2] == PAIRS[0][:2][::-1]
    assert [two.columns for two in (opened.train.sources[0], opened.held_out["test"].sources[0])] == [(1, 0), (1, 0)]
    files = tmp_path / "first.txt", tmp_path / "second.txt"
    for side, path in enumerate(files):
        path.write_text("".join(f"{pair[side]}\n" for pair in PAIRS[:40]))
    assert next(open_data(DataSettings(train=files, **asked)).train.pairs())[:2] == PAIRS[0][:2][::-1]


@pytest.mark.parametrize(("asked", "meant", "said"), ASKED)
def test_letters_must_not_speak_against_columns_that_were_chosen_by_number(tmp_path, asked, meant, said):
    train = table(tmp_path / "snow.tsv", PAIRS[:40])
    assert refusal(tmp_path, train=train, columns=("1", "2"), **asked) == (
        "snow.tsv: its source is written in Latin letters and its target in Hangul, the other way round than "
        f"{meant}; turn it round: --columns 2,1 {said}"
    )
    opened = open_data(DataSettings(train=train, columns=("2", "1"), **asked))
    assert next(opened.train.pairs())[:2] == PAIRS[0][:2][::-1]


def test_letters_say_that_names_are_wrong_and_what_is_advised_works(tmp_path):
    advice = "turn it round: --columns 2,1 --from ko --to en"
    said = {"columns": ("2", "1"), "source": "ko", "target": "en"}
    lying = table(tmp_path / "lying.tsv", PAIRS[:40], header=("ko", "en"))
    assert refusal(tmp_path, train=lying).endswith(advice)
    assert next(open_data(DataSettings(train=lying, **said)).train.pairs())[:2] == PAIRS[0][:2][::-1]
    for name, side in (("train.ko", 0), ("train.en", 1)):
        (tmp_path / name).write_text("".join(f"{pair[side]}\n" for pair in PAIRS[:40]))
    files = tmp_path / "train.ko", tmp_path / "train.en"
    assert refusal(tmp_path, train=files).endswith(advice)
    assert next(open_data(DataSettings(train=files, **said)).train.pairs())[:2] == PAIRS[0][:2][::-1]


def test_one_file_that_is_the_other_way_round_is_named(tmp_path):
    right, wrong = table(tmp_path / "a.tsv", PAIRS[:40]), table(tmp_path / "b.tsv", [one[::-1] for one in PAIRS[40:60]])
    message = "b.tsv: its source is written in Hangul letters and its target in Latin, the other way round than {}; "
    message += "turn this file, others are as they should be"
    assert refusal(tmp_path, train=(right, wrong)) == message.format("in the files before it")
    assert refusal(tmp_path, train=right, test=wrong) == message.format("in the files before it")
    assert refusal(tmp_path, train=right, test=wrong, source="en", target="ko") == message.format("from en to ko")


def test_a_file_that_names_its_languages_tells_those_of_the_others(tmp_path):
    plain = table(tmp_path / "a.tsv", PAIRS[:40])
    named = table(tmp_path / "b.tsv", [one[::-1] for one in PAIRS[40:60]], header=("ko", "en"))
    assert refusal(tmp_path, train=(plain, named)).startswith("a.tsv: its source is written in Latin letters")
    opened = open_data(DataSettings(train=(plain, named), source="en"))
    assert opened.languages == ("en", "ko")
    assert [one[:2] for one in opened.train.pairs()] == [one[:2] for one in PAIRS[:60]]


def test_columns_that_are_chosen_by_name_are_turned_as_asked(tmp_path):
    train = table(
        tmp_path / "wide.tsv",
        [(str(number), one[0], "x", one[1]) for number, one in enumerate(PAIRS[:40])],
        header=("no", "en_web", "de", "ko"),
    )
    for asked in ({"columns": ("en_web", "ko")}, {}):
        opened = open_data(DataSettings(train=train, source="ko", target="en", **asked))
        assert next(opened.train.pairs())[:2] == PAIRS[0][:2][::-1]
    assert open_data(DataSettings(train=train, target="ko")).languages == ("en", "ko")
    numbered = table(tmp_path / "numbered.tsv", [(str(number), *one[:2]) for number, one in enumerate(PAIRS[:40])])
    assert next(open_data(DataSettings(train=numbered)).train.pairs())[:2] == PAIRS[0][:2]


def test_of_several_aligned_files_the_languages_choose_two(tmp_path):
    for tag in ("de", "en", "ko"):
        (tmp_path / f"a.{tag}").write_text(f"{tag}\n" * 9)
    files = [tmp_path / f"a.{tag}" for tag in ("de", "en", "ko")]
    assert next(open_data(DataSettings(train=files, source="ko", target="en")).train.pairs())[:2] == ("ko", "en")


@pytest.mark.parametrize(
    ("rows", "asked"),
    [
        ([("Ein Hund", "A dog")], ("en", "de")),  # the same letters tell nothing
        ([("Annyeong", "Hello")], ("ko", "en")),  # nor do words in the letters of another language
        ([("안녕", "12:30")], ("en", "ko")),  # nor figures
        ([("안녕", "안녕")], ("en", "ko")),
        ([("привет", "hello")], ("sr", "en")),  # a language that is written in two ways
        ([("今日は", "hello")], ("ja", "en")),
        ([("今日は", "今天")], ("ja", "zh")),
        ([("東京都", "hello")], ("ja", "en")),
    ],
)
def test_letters_that_do_not_speak_against_the_languages_are_no_fault(tmp_path, rows, asked):
    train = table(tmp_path / "a.tsv", rows * 40)
    source, target = asked
    assert open_data(DataSettings(train=train, source=source, target=target, header=False)).languages == asked


@pytest.mark.parametrize(
    ("asked", "odd"),
    [
        (("en", "en"), [("target", "Hangul", "en", "--to")]),
        (("de", "fr"), [("target", "Hangul", "fr", "--to")]),
        (("ru", "ko"), [("source", "Latin", "ru", "--from")]),
        (("ja", "zh"), [("source", "Latin", "ja", "--from"), ("target", "Hangul", "zh", "--to")]),
        (("en", "ko"), []),
        (("sr", "ko"), []),  # is written in either letters
    ],
)
def test_languages_that_are_not_written_in_such_letters_are_doubted(tmp_path, asked, odd):
    train = table(tmp_path / "a.tsv", PAIRS[:40])
    source, target = asked
    opened = open_data(DataSettings(train=train, source=source, target=target, columns=("1", "2")))
    assert opened.doubts == [
        f"{train}: its {side} is written in {script} letters, and {tag} is not; if that is a mistake, say what it is "
        f"with {option}."
        for side, script, tag, option in odd
    ]
    prepared = prepare(DataSettings(train=train), CleaningSettings(), LETTERS, tmp_path / "out", 1, opened)
    assert set(opened.doubts) <= set(prepared.decisions)


def test_japanese_is_told_from_chinese_by_its_kana(tmp_path):
    train = table(tmp_path / "a.tsv", [("今日は東京へ", "今天去东京")] * 40)
    assert refusal(tmp_path, train=train, source="zh", target="ja", header=False, columns=("1", "2")).startswith(
        "a.tsv: its source is written in Kana letters and its target in Han, the other way round than from zh to ja"
    )


def test_languages_that_nothing_tells_are_asked_for(tmp_path):
    prepared = run(tmp_path, train=table(tmp_path / "snow.tsv", PAIRS[:40]))
    assert prepared.languages == ("", "")
    assert (
        "The names of files and columns do not tell both languages; say them with --from and --to."
        in prepared.decisions
    )


# Labels


def test_a_labelled_corpus_has_one_tokenizer_and_sorted_labels(tmp_path):
    prepared = run(tmp_path, TokenizerSettings(size=400), train=sense_table(tmp_path / "senses.tsv", SENSES))
    assert (prepared.task, prepared.languages, prepared.tokenizers.joint) == ("classify", ("", ""), True)
    assert prepared.labels == tuple(sorted({example.label for example in SENSES}))
    assert len(prepared.train) + len(prepared.valid) + len(prepared.test_records) == 300
    numbers = {int(row) for row in prepared.train.columns["label"].ids}
    assert numbers == set(range(len(prepared.labels)))
    first = prepared.valid_records[0]
    assert prepared.labels[prepared.valid.columns["label"].row(0)[0]] == first.label
    assert f"Tokenizer: unigram, {prepared.tokenizers.source.size} pieces." in prepared.decisions


def test_every_label_stays_in_train(tmp_path):
    texts = [(f"{word} {number} and more", "common") for number, word in enumerate("abcdefghijklmnopqrstuvwxyz" * 2)]
    texts += [(f"something rare, {chr(97 + number) * 3}", f"rare {number}") for number in range(20)]
    for seed in range(5):
        train = table(tmp_path / "rare.tsv", texts, header=("text", "label"))
        prepared = run(tmp_path, seed=seed, folder=str(seed), train=train, valid_size=20, test_size=10)
        assert len(set(prepared.train.columns["label"].ids.tolist())) == len(prepared.labels) == 21
        assert {text.label for text in prepared.valid_records} == {"common"}
    assert (
        "The validation set has no text with the labels rare 0, rare 1, rare 10, rare 11, rare 12, rare 13, rare 14, "
        "rare 15, rare 16, rare 17 …, so it cannot tell how well that is learned." in prepared.decisions
    )


def test_what_measures_something_is_doubted_to_be_labels(tmp_path):
    rows = [(f"good {spelled(n)}", f"{n / 7 % 4:.3f}") for n in range(50)]
    prepared = run(tmp_path, train=table(tmp_path / "a.tsv", rows, ("text", "label")), valid_size=2, test_size=2)
    (word,) = (decision for decision in prepared.decisions if "cannot be learned" in decision)
    assert word.startswith("Note: 28 labels for 46 texts, so that most of them cannot be learned; is this the ")


def test_labels_that_people_take_for_one_are_named(tmp_path):
    rows = [(f"{kind} {spelled(n)}", label) for n in range(30) for kind, label in (("good", "Pos"), ("so", "pos"))]
    prepared = run(tmp_path, train=table(tmp_path / "a.tsv", rows, ("text", "label")))
    word = "Note: labels that differ only in capitals or spaces, and count as several: 'Pos', 'pos'."
    assert word in prepared.decisions


def test_shares_of_labels_read_well():
    assert shares({"good": 3, "bad": 1}) == "2 labels: good (75.0%), bad (25.0%)"


def test_a_label_that_train_has_not_is_named_with_its_place(tmp_path):
    train = table(
        tmp_path / "train.tsv", [("good snow", "pos"), ("bad road", "neg"), ("nice", "pos")] * 2, ("text", "label")
    )
    valid = table(tmp_path / "valid.tsv", [("snow", "pos"), ("road", "post")], ("text", "label"))
    assert refusal(tmp_path, train=train, valid=valid) == (
        "valid.tsv:3: the label 'post' of the validation set is not in train; did you mean pos?"
    )


def test_a_small_validation_set_is_read_by_the_columns_of_train(tmp_path):
    train = table(tmp_path / "train.tsv", [(("pos", "neg")[n % 2], f"snow {n} is {n * 7}") for n in range(60)])
    valid = table(tmp_path / "valid.tsv", [("neg", "snow 61"), ("pos", "snow 62")])
    prepared = run(tmp_path, train=train, valid=valid)
    assert [(text.text, text.label) for text in prepared.valid_records] == [("snow 61", "neg"), ("snow 62", "pos")]


def test_one_label_is_none(tmp_path):
    train = table(tmp_path / "train.tsv", [(f"snow {n}", "pos") for n in range(30)], ("text", "label"))
    assert refusal(tmp_path, train=train) == (
        "train.tsv: all texts have the same label, 'pos'; classifying needs two or more"
    )


@pytest.mark.parametrize("beside", [False, True])
def test_as_many_labels_as_texts_are_none(tmp_path, beside):
    train = table(tmp_path / "train.tsv", [(f"snow {n}", f"label {n}") for n in range(30)], ("text", "label"))
    valid = {"valid": table(tmp_path / "v.tsv", [("snow", "label 3")], ("text", "label"))} if beside else {}
    assert refusal(tmp_path, train=train, **valid) == (
        "train.tsv: each of 30 texts has a label of its own; is this the column of labels? "
        "Choose with --columns text,label"
    )


@pytest.mark.parametrize("beside", [False, True])
def test_more_than_a_thousand_labels_are_none(tmp_path, beside):
    rows = [(f"snow {number}", f"label {number % 1_001}") for number in range(1_200)]
    train = table(tmp_path / "train.tsv", rows, ("text", "label"))
    valid = {"valid": table(tmp_path / "v.tsv", [("snow", "label 3")], ("text", "label"))} if beside else {}
    assert refusal(tmp_path, train=train, **valid) == (
        "train.tsv: more than 1,000 labels; is this the column of labels? Choose with --columns text,label"
    )


@pytest.mark.parametrize("unit", ["unigram", "bpe", "word", "character"])
def test_one_pair_is_enough_where_a_validation_set_is_given(tmp_path, unit):
    train = table(tmp_path / "one.tsv", [("I like snow", "나는 눈을 좋아한다")])
    valid = table(tmp_path / "valid.tsv", [("I like snow", "나는 눈을 좋아한다 .")])
    prepared = run(tmp_path, TokenizerSettings(unit=unit), train=train, valid=valid)
    assert (len(prepared.train), len(prepared.valid)) == (1, 1)


def test_labels_have_no_language(tmp_path):
    train = sense_table(tmp_path / "senses.tsv", SENSES[:40])
    assert refusal(tmp_path, UsageError, train=train, target="en") == "labels have no language; leave out --to en"


# Refusals


def test_too_few_to_set_some_aside(tmp_path):
    train = table(tmp_path / "tiny.tsv", PAIRS[:19])
    assert refusal(tmp_path, train=train) == (
        "tiny.tsv: 19 pairs are too few to set some aside for validation, which takes 20 or more; "
        "add to them, or give a validation set with --valid"
    )
    assert refusal(tmp_path, train=train, valid_size=15, test_size=4) == (
        "tiny.tsv: 19 pairs are too few to set 19 aside; set fewer aside, or give a validation set with --valid"
    )
    prepared = run(tmp_path, train=train, valid=table(tmp_path / "valid.tsv", KOREAN_VALID[:2]))
    assert (len(prepared.train), len(prepared.valid)) == (19, 2)
    twenty = run(tmp_path, folder="twenty", train=table(tmp_path / "twenty.tsv", PAIRS[:20]))
    assert (len(twenty.train), len(twenty.valid), len(twenty.test_records)) == (18, 1, 1)


def test_records_that_are_all_alike(tmp_path):
    train = table(tmp_path / "alike.tsv", [(f"snow {n}", f"눈 {n}") for n in range(10, 60)])
    assert refusal(tmp_path, train=train) == (
        "alike.tsv: the 50 records are too alike to set 2 of them aside; give a validation set with --valid"
    )


@pytest.mark.parametrize("beside", [False, True])
def test_nothing_left_by_cleaning(tmp_path, beside):
    valid = {"valid": table(tmp_path / "valid.tsv", KOREAN_VALID)} if beside else {}
    train = table(tmp_path / "empty.tsv", [("snow", " ")] * 5)
    assert refusal(tmp_path, train=train, **valid) == (
        "empty.tsv: nothing is left to train on: cleaning drops 5 pairs: empty target 5"
    )
    header = table(tmp_path / "header.tsv", [], header=("source", "target"))
    assert refusal(tmp_path, train=header, **valid) == "header.tsv: there are no pairs in it"


def test_an_empty_file(tmp_path):
    (tmp_path / "empty.tsv").write_text("")
    assert refusal(tmp_path, train=str(tmp_path / "empty.tsv")) == "empty.tsv: the file is empty"
    train = table(tmp_path / "snow.tsv", PAIRS[:30])
    assert refusal(tmp_path, train=train, valid=str(tmp_path / "empty.tsv")) == "empty.tsv: the file is empty"


def test_nothing_left_of_a_given_set(tmp_path):
    train, same = table(tmp_path / "snow.tsv", PAIRS[:30]), table(tmp_path / "same.tsv", KOREAN_VALID[:5])
    assert refusal(tmp_path, train=train, valid=same, test=same) == (
        "same.tsv: nothing is left of the validation set: in the test set 5"
    )
    assert refusal(tmp_path, train=train, valid=same, longest=3) == (
        "nothing is left of the validation set: every record has more than 3 tokens"
    )
    short = table(tmp_path / "short.tsv", [("o", "온")])
    assert refusal(tmp_path, train=train, valid=short, longest=3) == (
        "nothing is left to train on: every record has more than 3 tokens"
    )


@pytest.mark.parametrize("tokenizer", [WORDS, TokenizerSettings(size=400), LETTERS])
def test_a_source_in_another_language(tmp_path, tokenizer):
    train = table(tmp_path / "snow.tsv", PAIRS)
    other = table(tmp_path / "valid.tsv", [(korean, korean[::-1]) for _, korean in KOREAN_VALID])
    message = refusal(tmp_path, tokenizer=tokenizer, train=train, test=other)
    share, _, rest = message.partition("%")
    assert 80 < int(share) <= 100
    assert rest == (
        " of the tokens of the source side of the test set are unknown to the tokenizer that was learned from train; "
        "are the columns swapped there (--columns), is it in another language, or is train too small?"
    )


def test_a_target_in_another_language(tmp_path):
    valid = table(tmp_path / "valid.tsv", [(source, source[::-1]) for source, _ in KOREAN_VALID])
    assert "of the target side of the validation set are unknown" in refusal(
        tmp_path, train=table(tmp_path / "snow.tsv", PAIRS), valid=valid
    )


def test_a_part_of_a_small_train_may_be_mostly_unknown(tmp_path):
    prepared = run(tmp_path, WORDS, train=table(tmp_path / "snow.tsv", PAIRS[:60]))
    assert (
        "54% of the tokens of the source side of the test set are unknown to the tokenizer that was learned from "
        "train: train is small for it." in prepared.decisions
    )


def test_a_vocabulary_too_small_for_its_own_texts(tmp_path):
    rows = [(f"x{word} y{word}", f"z{word} {word}") for word in map(spelled, range(900))]
    message = refusal(
        tmp_path, train=table(tmp_path / "many.tsv", rows), tokenizer=TokenizerSettings(unit="word", size=300)
    )
    assert message.partition("% ")[2] == (
        "of the tokens of the source side of train are unknown to a tokenizer of 300; "
        "give the tokenizer a larger size or another unit"
    )


def test_files_and_a_size_for_one_set_contradict(tmp_path):
    train, valid = table(tmp_path / "snow.tsv", PAIRS[:30]), table(tmp_path / "valid.tsv", KOREAN_VALID)
    assert refusal(tmp_path, UsageError, train=train, valid=valid, valid_size=3) == (
        "valid names files, but valid_size sets records of train aside; give only one of them"
    )


def test_a_file_that_changes_while_it_is_read(tmp_path, monkeypatch):
    train = table(tmp_path / "snow.tsv", PAIRS[:30])
    kept = sets._set_aside
    for rows in (PAIRS[:29], PAIRS[:31]):
        monkeypatch.setattr(
            sets, "_set_aside", lambda *given, rows=rows: (kept(*given), table(tmp_path / "snow.tsv", rows))[0]
        )
        table(tmp_path / "snow.tsv", PAIRS[:30])
        assert refusal(tmp_path, train=train) == "snow.tsv: changed while it was read; start again"


def test_a_store_is_not_written_over_and_a_failure_leaves_none(tmp_path, monkeypatch):
    train = table(tmp_path / "snow.tsv", PAIRS[:60])
    run(tmp_path, train=train)
    with pytest.raises(CorpusError, match=r"data/train: exists already; a store is never overwritten"):
        run(tmp_path, train=train)

    def stopped(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sets.Train, "__iter__", stopped)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path, folder="other", train=train)
    assert list((tmp_path / "other").iterdir()) == []


# Settings and parts


def test_one_file_need_not_be_a_list(tmp_path):
    assert DataSettings(train="a.tsv").train == ("a.tsv",)
    assert DataSettings(train=[tmp_path, "b.tsv"]).train == (str(tmp_path), "b.tsv")
    with pytest.raises(ConfigError) as caught:
        build_settings({"train": [], "vaild": "x", "longest": 1}, DataSettings, "data")
    assert "vaild: no such setting; did you mean valid?" in caught.value.mistakes
    assert len(caught.value.mistakes) == 3


@pytest.mark.parametrize("unit", ["unigram", "bpe", "word", "character"])
def test_a_tokenizer_counts_what_it_does_not_know(unit):
    sample = Sample()
    for source, _ in PAIRS:
        sample.add(source)
    tokenizer = train_tokenizer(sample, TokenizerSettings(unit=unit, size=400))
    assert tokenizer.unknown(tokenizer.encode_many([PAIRS[0][0]]).flat) == 0
    ids = np.array(tokenizer.encode("雪"))
    assert tokenizer.unknown(ids) == (3 if unit in ("unigram", "bpe") else 1)


def test_preparing_imports_no_torch():
    script = "import nungil.runs.prepare, sys; print('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "False\n"


def test_long_texts_to_classify_are_cut_and_none_is_left_out(tmp_path):
    lines = [f"{'눈 ' * count}{word}\t{label}" for count in range(1, 15) for word, label in (("길", "a"), ("집", "b"))]
    (tmp_path / "t.tsv").write_text("\n".join(lines) + "\n")
    prepared = prepare(
        DataSettings(train=str(tmp_path / "t.tsv"), columns=("1", "2"), task="classify", header=False, longest=6),
        CleaningSettings(),
        TokenizerSettings(unit="word"),
        tmp_path / "data",
        1,
    )
    lengths = prepared.train.columns["source"].lengths()
    assert lengths.max() == 6
    assert len(lengths) + len(prepared.valid_records) + len(prepared.test_records) == len(lines)
    full = int((lengths == 6).sum())
    assert f"Of longer texts the first 6 tokens are read: {full} texts." in prepared.decisions
    assert full > 5
