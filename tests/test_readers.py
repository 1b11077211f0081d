"""Every format: records go out as they went in, and what is decided about files is what a person would decide."""

import csv
import gzip
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nungil.errors import CorpusError, UsageError
from nungil.records import Labelled, Pair
from nungil.text.corpus import open_corpus, read_labelled, read_pairs
from nungil.text.languages import language_of
from nungil.text.source import CorpusSettings

line = st.text(st.characters(exclude_characters="\t\n\r\0\ufeff", exclude_categories=["Cs"]), max_size=30)
anything = st.text(st.characters(exclude_characters="\r\0\ufeff", exclude_categories=["Cs"]), max_size=30)
label = st.from_regex(r"[a-z가-힣0-9]{1,8}", fullmatch=True)


def written(folder, name, text):
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def settings(**given):
    return CorpusSettings(**given)


def plain(records):
    return [tuple(record[:2]) for record in records]


def sentence(folder, files, **given):
    with pytest.raises(CorpusError) as caught:
        corpus = open_corpus(files, settings(**given))
        list(corpus.rows())
    return str(caught.value).replace(f"{folder}/", "")


def is_filled(rows):
    return any(text.strip() for row in rows for text in row)


@given(rows=st.lists(st.tuples(line, line), min_size=1).filter(is_filled))
def test_tsv_and_aligned_files_give_back_what_was_written(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("pairs")
    table = written(folder, "a.tsv", "".join(f"{source}\t{target}\n" for source, target in rows))
    exact = settings(format="tsv", header=False, columns=("1", "2"))
    assert plain(read_pairs([table], exact)) == rows
    sides = [written(folder, f"a.{side}", "".join(f"{row[side]}\n" for row in rows)) for side in (0, 1)]
    assert plain(read_pairs(sides, settings(format="aligned"))) == rows


@given(rows=st.lists(st.tuples(anything, anything), min_size=1), delimiter=st.sampled_from(",;"))
def test_csv_gives_back_what_was_written_quotes_and_line_ends_too(tmp_path_factory, rows, delimiter):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([("source", "target"), *rows])
    path = written(tmp_path_factory.mktemp("csv"), "a.csv", stream.getvalue())
    found = list(read_pairs([path]))
    assert plain(found) == rows
    assert [pair.line for pair in found] == [
        2 + sum(1 + source.count("\n") + target.count("\n") for source, target in rows[:place])
        for place in range(len(rows))
    ]


@given(rows=st.lists(st.tuples(anything, anything), min_size=1), ascii_only=st.booleans())
def test_jsonl_gives_back_what_was_written(tmp_path_factory, rows, ascii_only):
    text = "".join(json.dumps({"source": a, "target": b}, ensure_ascii=ascii_only) + "\n" for a, b in rows)
    path = written(tmp_path_factory.mktemp("jsonl"), "a.jsonl", text)
    assert plain(read_pairs([path])) == rows


@given(rows=st.lists(st.tuples(line.filter(lambda text: not text.startswith("__label__")), label), min_size=1))
def test_fasttext_gives_back_what_was_written(tmp_path_factory, rows):
    path = written(tmp_path_factory.mktemp("ft"), "a.txt", "".join(f"__label__{b} {a}\n" for a, b in rows))
    assert plain(read_labelled([path])) == rows


@given(rows=st.lists(st.tuples(anything, label), min_size=1, max_size=5))
def test_a_folder_per_label_gives_back_what_was_written(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("folder")
    for number, (text, name) in enumerate(rows):
        written(folder, f"{name}/{number}.txt", text + "\n")
    expected = sorted((name, str(number), text) for number, (text, name) in enumerate(rows))
    assert plain(read_labelled([folder])) == [(text, name) for name, _, text in expected]


def test_records_say_where_they_stand(tmp_path):
    path = written(tmp_path, "a.tsv", "id\tdocument\tlabel\n7\t눈이 온다\t1\n")
    assert list(read_labelled([path])) == [Labelled("눈이 온다", "1", str(path), 2)]
    english, korean = written(tmp_path, "b.en", "snow\neye\n"), written(tmp_path, "b.ko", "눈\n눈\n")
    assert list(read_pairs([english, korean]))[1] == Pair("eye", "눈", str(english), 2)


DECISIONS = [
    ("a.tsv", "Go.\t가.\nHi.\t안녕.\n", "TSV without a header; source from column 1, target from column 2"),
    ("a.tsv", "Go.\t가.\t0-0\nHi.\t안녕.\t0-0\n", "TSV without a header; source from column 1, target from column 2"),
    (
        "a.tsv",
        "ref\ten_web\tko_krv\ten_kjv\ng.1\tIn\t태초에\tIn\n",
        "TSV with a header; source from column 2 (en_web), target from column 3 (ko_krv)",
    ),
    (
        "a.txt",
        "id\tdocument\tlabel\n1\t굳 ㅋ\t1\n",
        "TSV with a header; text from column 2 (document), label from column 3 (label)",
    ),
    ("a.tsv", "label\ttext\n0\tlong\n", "TSV with a header; text from column 2 (text), label from column 1 (label)"),
    (
        "a.tsv",
        "label\trating\tid\ttext\n0\t3\t0\tStory of a man\n",
        "TSV with a header; text from column 4 (text), label from column 1 (label)",
    ),
    ("a.tsv", "good\tx\nbad\ty\nfine\tx\nawful\ty\n", "TSV without a header; text from column 1, label from column 2"),
    ("a.tsv", "x\tgood\ny\tbad\nx\tfine\ny\tawful\n", "TSV without a header; text from column 2, label from column 1"),
    (
        "a.csv",
        "review;stars\ngood;5\nbad;1\n",
        "CSV with a header; text from column 1 (review), label from column 2 (stars)",
    ),
    (
        "a.csv",
        "opinion;points\ngood;5\nbad;1\nfine;5\nawful;1\n",
        "CSV with a header; text from column 1 (opinion), label from column 2 (points)",
    ),
    (
        "a.tsv",
        "Class\t클래스\nSnow\t눈\nRoad\t길\n",
        "TSV without a header; source from column 1, target from column 2",
    ),
    (
        "a.csv",
        "ID,English,Korean,Notes (internal)\n1,snow,눈,\n2,road,길,\n",
        "CSV with a header; source from column 2 (English), target from column 3 (Korean)",
    ),
    (
        "a.csv",
        "id,Review Text,Stars (1-5),Sentiment\n" + "1,good,5,positive\n2,bad,1,negative\n" * 3,
        "CSV with a header; text from column 2 (Review Text), label from column 4 (Sentiment)",
    ),
    (
        "a.csv",
        "text,label,annotator?\n" + "good,1,kim\nbad,0,kim\n" * 3,
        "CSV with a header; text from column 1 (text), label from column 2 (label)",
    ),
    (
        "a.csv",
        "text,label,\n" + "good,1,\nbad,0,\n" * 3,
        "CSV with a header; text from column 1 (text), label from column 2 (label)",
    ),
    ("a.csv", "good,1,\nbad,0,\nfine,1,\nawful,0,\n", "CSV without a header; text from column 1, label from column 2"),
    (
        "a.tsv",
        "English\tKorean\t\nsnow\t눈\t\n",
        "TSV with a header; source from column 1 (English), target from column 2 (Korean)",
    ),
    (
        "a.csv",
        "원문,번역문\nsnow,눈\n",
        "CSV with a header; source from column 1 (원문), target from column 2 (번역문)",
    ),
    (
        "a.csv",
        "sep=;\nsnow, white;눈\nroad;길\n",
        "CSV without a header; source from column 1, target from column 2",
    ),
    (
        "a.csv",
        "sep=|\nen|ko\nsnow|눈\n",
        "CSV with a header; source from column 1 (en), target from column 2 (ko)",
    ),
    ("a.csv", 'src,tgt\n"a, b",c\n', "CSV with a header; source from column 1 (src), target from column 2 (tgt)"),
    (
        "a.csv",
        "Key;Status;Source (EN);Target (KO);Comment;\n" + "a.1;final;snow;눈;;\na.2;draft;road;길;?;\n" * 3,
        "CSV with a header; source from column 3 (Source (EN)), target from column 4 (Target (KO))",
    ),
    (
        "a.csv",
        "Polish,English [en-US],Source Text (old)\nśnieg,snow,x\n",
        "CSV with a header; source from column 1 (Polish), target from column 2 (English [en-US])",
    ),
    (
        "a.tsv",
        "".join(f"film {n}\t{'abc'[n % 3]}\t{'seen' * (n % 4 == 0)}\n" for n in range(12)),
        "TSV without a header; text from column 1, label from column 2",
    ),
    (
        "a.csv",
        "Comment,Opinion,Rating\n" + ",good film,5\n?,bad film,1\n,so so,3\n" * 3,
        "CSV with a header; text from column 2 (Opinion), label from column 3 (Rating)",
    ),
    ("a.jsonl", '{"id": 1, "en": "snow", "ko": "눈"}\n', 'JSONL; source from "en", target from "ko"'),
    (
        "a.json",
        '{"translation": {"de": "Schnee", "en": "snow"}}\n',
        'JSONL; source from "translation.de", target from "translation.en"',
    ),
    ("a.jsonl", '{"en": "snow"}\n{"en": "road", "ko": "길"}\n', 'JSONL; source from "en", target from "ko"'),
    ("a.jsonl", '{"label": 1, "text": "good"}\n', 'JSONL; text from "text", label from "label"'),
    ("a.txt", "__label__x good\n", "fastText lines, `__label__x text`"),
]


@pytest.mark.parametrize(("name", "text", "decision"), DECISIONS)
@pytest.mark.parametrize("packed", [False, True])
def test_format_task_and_columns_are_told_from_name_and_content(tmp_path, name, text, decision, packed):
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert open_corpus([path]).describe() == [f"{path}: {decision}"]


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("en", "en"),
        ("ko_krv", "ko"),
        ("pt-BR", "pt"),
        ("translation.de", "de"),
        ("Korean", "ko"),
        ("no", "no"),
        ("Source (EN)", "en"),
        ("English [US]", "en"),
        ("Notes (internal)", ""),
        ("Points (no)", ""),
        ("no_of_words", ""),
        ("is_positive", ""),
        ("id", ""),
        ("ref", ""),
        ("text", ""),
    ],
)
def test_languages_are_told_from_names(name, language):
    assert language_of(name) == language


def test_columns_are_chosen_by_name_or_number(tmp_path):
    path = written(tmp_path, "a.tsv", "ref\ten_web\tko_krv\ten_kjv\nr\ta\tb\tc\n")
    assert plain(read_pairs([path], settings(columns=("ko_krv", "en_kjv")))) == [("b", "c")]
    assert plain(read_pairs([path], settings(columns=("4", "3")))) == [("c", "b")]
    assert plain(read_pairs([path], settings(columns=("1", "2"), header=False))) == [("ref", "en_web"), ("r", "a")]
    lines = written(tmp_path, "a.jsonl", '{"x": "1", "y": "2", "z": null, "n": 2.5, "t": true}\n')
    assert plain(read_pairs([lines], settings(columns=("y", "1")))) == [("2", "1")]
    assert plain(read_pairs([lines], settings(columns=("n", "t")))) == [("2.5", "true")]
    assert plain(read_pairs([lines], settings(columns=("z", "x")))) == [("", "1")]


@pytest.mark.parametrize("first", ["sep=;", "SEP=;", '"sep=;"', "sep=; "])
def test_the_line_that_tells_excel_the_separator_is_no_record(tmp_path, first):
    path = written(tmp_path, "a.csv", f'{first}\r\nen;ko\r\n"snow; ice";눈\r\n')
    assert list(read_pairs([path])) == [Pair("snow; ice", "눈", str(path), 3)]


@pytest.mark.parametrize("spelled", ["\t", r"\t"])
def test_excel_is_told_of_tabs_too_whatever_the_ending(tmp_path, spelled):
    path = written(tmp_path, "a.tsv", f'sep={spelled}\nen\tko\n"a ""b"""\tc\n')
    assert plain(read_pairs([path])) == [('a "b"', "c")]


def test_a_sentence_about_a_separator_is_a_sentence(tmp_path):
    sides = [written(tmp_path, f"a.{side}", "sep=;\nsnow\n") for side in ("en", "ko")]
    assert plain(read_pairs(sides)) == [("sep=;", "sep=;"), ("snow", "snow")]
    path = written(tmp_path, "a.csv", "en,ko\nsep=;,sep=;\n")
    assert plain(read_pairs([path])) == [("sep=;", "sep=;")]


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.tsv", "\t")])
def test_neither_empty_lines_before_a_header_nor_marks_before_it_hide_it(tmp_path, name, delimiter):
    table = f"en{delimiter}ko\nsnow{delimiter}눈\n"
    empty = written(tmp_path, name, f"\n{delimiter}\n{table}")
    assert [(*pair[:2], pair.line) for pair in read_pairs([empty])] == [("", "", 1), ("", "", 2), ("snow", "눈", 4)]
    joined = written(tmp_path, name, f"\ufeff\ufeff{table}")
    assert plain(read_pairs([joined])) == [("snow", "눈")]


def test_a_space_after_a_separator_is_no_text_and_quotes_after_it_are_quotes(tmp_path):
    path = written(tmp_path, "a.csv", 'text, label\n"good, in short", "1"\n bad, 0\n"so ""so""",  "1"\n')
    (source,) = open_corpus([path], settings()).sources
    assert source.names == ("text", "label")
    assert [record[:2] for record in read_labelled([path])] == [("good, in short", "1"), ("bad", "0"), ('so "so"', "1")]
    path = written(tmp_path, "b.csv", '"snow; ice"; "눈; 얼음"\n"road"; "길"\n')
    assert plain(read_pairs([path])) == [("snow; ice", "눈; 얼음"), ("road", "길")]


def test_a_delimiter_at_the_end_of_rows_makes_no_column(tmp_path):
    path = written(tmp_path, "a.csv", "en,ko\nsnow,눈,\nroad,길,,\n")
    assert plain(read_pairs([path])) == [("snow", "눈"), ("road", "길")]


def test_an_object_without_the_key_or_with_null_is_a_record_that_lacks_it(tmp_path):
    lines = ['{"en": "a", "ko": "b"}', '{"en": "c"}', "{}", '{"en": null, "ko": "d"}', '{"en": "", "ko": "e"}']
    path = written(tmp_path, "a.jsonl", "\n".join(lines))
    assert [(*pair[:2], *pair[3:]) for pair in read_pairs([path])] == [
        ("a", "b", 1, ""),
        ("c", "", 2, 'no "ko"'),
        ("", "", 3, 'no "en"'),
        ("", "d", 4, 'no "en"'),
        ("", "e", 5, ""),
    ]
    inside = written(tmp_path, "b.jsonl", '{"translation": {"en": "a", "ko": "b"}}\n{"translation": null}\n')
    assert [pair.withheld for pair in read_pairs([inside])] == ["", 'no "translation.en"']


QUOTED = [('he said ""no""', "아니"), ("", "눈"), ("a\ttab", "길"), ("two\nlines", "줄"), ("", "")]


def in_quotes(rows, end="\n"):
    return end.join("\t".join(f'"{text}"' if text else "" for text in row) for row in rows) + end


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_tsv_with_every_field_in_quotes_is_read_without_them(tmp_path, end):
    path = written(tmp_path, "a.tsv", in_quotes([("en", "ko"), *QUOTED], end))
    assert plain(read_pairs([path])) == [
        ('he said "no"', "아니"),
        ("", "눈"),
        ("a\ttab", "길"),
        ("two\nlines", "줄"),
        ("", ""),
    ]
    assert open_corpus([path]).describe() == [
        f"{path}: TSV whose quotes around fields are no text (--format tsv keeps them), with a header; "
        "source from column 1 (en), target from column 2 (ko)"
    ]
    kept = read_pairs([path], settings(format="tsv", columns=("1", "2"), header=False))
    assert next(kept)[:2] == ('"en"', '"ko"')


def test_numbers_beside_texts_in_quotes_need_none(tmp_path):
    path = written(tmp_path, "a.tsv", '"text"\t"label"\n"good"\t1\n"bad"\t-0.5\n')
    assert plain(read_labelled([path])) == [("good", "1"), ("bad", "-0.5")]


def test_a_record_in_quotes_may_go_on_beyond_what_is_looked_at(tmp_path):
    rows = [(f"snow {number}", "눈") for number in range(998)] + [("two\nlines\nand a third", "줄"), ("end", "끝")]
    path = written(tmp_path, "a.tsv", in_quotes(rows))
    assert plain(read_pairs([path], settings(columns=("1", "2")))) == rows


@pytest.mark.parametrize(
    "odd",
    [
        '"Go," he said\t가',
        '"Go"\tgo',
        'Go\t"가"',
        '"a" and "b"\t"c"',
        '"Go\t가"',
        '"Go\t"가',
        '""Go""\t"가"',
        '"Go\t가',
    ],
)
@pytest.mark.parametrize("others", ['"snow"\t"눈"\n', "snow\t눈\n"])
def test_one_field_that_is_not_in_quotes_makes_all_quotes_text(tmp_path, odd, others):
    path = written(tmp_path, "a.tsv", f"{others}{odd}\n{others}")
    exact = settings(columns=("1", "2"), task="translate")
    assert plain(read_pairs([path], exact))[1] == tuple(odd.split("\t"))


def test_folders_and_globs_are_read_in_sorted_order(tmp_path):
    for name in ("b", "a", "c"):
        written(tmp_path, f"{name}.tsv", f"{name}\t{name}!\n")
    written(tmp_path, "README.md", "about")
    assert [pair.source for pair in read_pairs([tmp_path])] == ["a", "b", "c"]
    assert [pair.source for pair in read_pairs([f"{tmp_path}/[bc]*.tsv", tmp_path / "a.tsv"])] == ["b", "c", "a"]


def test_tables_of_one_column_are_aligned_files(tmp_path):
    sides = [written(tmp_path, f"a.{side}.tsv", f"{side}\n") for side in ("en", "ko")]
    assert plain(read_pairs(sides)) == [("en", "ko")]


def test_many_aligned_files_are_joined_by_their_names(tmp_path):
    for split in ("train", "val"):
        for language in ("de", "en", "fr"):
            written(tmp_path, f"{split}.{language}", f"{split} {language}\n")
    assert plain(read_pairs([tmp_path], settings(columns=("en", "de")))) == [
        ("train en", "train de"),
        ("val en", "val de"),
    ]
    assert plain(read_pairs([tmp_path / "val.fr", tmp_path / "val.en"])) == [("val fr", "val en")]
    assert sentence(tmp_path, [tmp_path]) == ("train.de: 3 files line up (de, en, fr); choose two: --columns de,en")
    assert sentence(tmp_path, [tmp_path], columns=("en", "ko")) == (
        "train.de: no file beside it ends in 'ko'; there is de, en, fr"
    )


MISTAKES = [
    ("a.tsv", "a\tb\nc\td\ne\n", {}, "a.tsv:3: 1 column where 2 are needed (separated by tab)"),
    (
        "a.tsv",
        "a\tb\tc\nd\te\tf\nd\te\n",
        {"columns": ("1", "3")},
        "a.tsv:3: 2 columns where 3 are needed (separated by tab)",
    ),
    ("a.csv", "sep=;\n", {}, "a.csv: there is no row in it"),
    ("a.csv", "sep=;\nen;ko\na;b\nc\n", {}, "a.csv:4: 1 column where 2 are needed (separated by semicolon)"),
    ("a.csv", "sep=|\nen|ko\na|b\nc\n", {}, "a.csv:4: 1 column where 2 are needed (separated by |)"),
    ("a.csv", "a\nb\n", {}, "a.csv: one column only; a text needs its translation or its label beside it"),
    ("a.tsv", "a\tb\n", {"columns": ("1", "3")}, "a.tsv: there is no column 3; the table has 2"),
    ("a.tsv", "en\tko\na\tb\n", {"columns": ("en", "koo")}, "a.tsv: there is no column 'koo'; did you mean ko?"),
    (
        "a.tsv",
        "a\tb\n",
        {"columns": ("en", "ko")},
        "a.tsv: no header, so no column 'en'; give numbers from 1, or --header",
    ),
    ("a.csv", 'src,tgt\n"a\nb",c\nd\n', {}, "a.csv:4: 1 column where 2 are needed (separated by comma)"),
    ("a.csv", 'src,tgt\na,b\n"c,d\ne,f\n', {}, "a.csv:3: a quote opens here and is never closed"),
    (
        "a.csv",
        'src,tgt\n"a"b,c\n',
        {},
        'a.csv:2: text follows a closing quote; a quote inside a quoted field is written twice, as in "a ""b"" c"',
    ),
    (
        "a.csv",
        'src,tgt\n"' + "a\n" * 70_000,
        {},
        "a.csv:2: a field of more than 131,072 characters; is a quote left open?",
    ),
    (
        "a.jsonl",
        '{"en": "a", "ko": "b"}\n{"en": "c" "ko"}\n',
        {},
        "a.jsonl:2: not JSON at column 12: Expecting ',' delimiter",
    ),
    (
        "a.jsonl",
        '{"en": "a", "ko": "b"}\n[1]\n',
        {},
        'a.jsonl:2: one object per line is expected, as in {"source": "…", "target": "…"}',
    ),
    (
        "a.jsonl",
        '{"en": "a", "ko": "b"}\n{"en": "a"}\n',
        {"columns": ("en", "koo")},
        "a.jsonl: there is no column 'koo'; did you mean ko?",
    ),
    ("a.jsonl", '{"en": "a", "ko": "b"}\n{"en": "a", "ko": ["b"]}\n', {}, 'a.jsonl:2: "ko" holds a list, not text'),
    (
        "a.jsonl",
        '{"en": "a", "ko": "b"}\n{"en": "a", "ko": "\\ud800"}\n',
        {},
        'a.jsonl:2: "ko" holds half a character, a lone \\ud800 to \\udfff',
    ),
    ("a.jsonl", '{"en": "a", "ko": "b"}\n' + "[" * 50_000, {}, "a.jsonl:2: JSON nested too deeply"),
    ("a.jsonl", '{"en": "a", "ko": "b"}\n{"en": ' + "1" * 5_000 + "}", {}, "a.jsonl:2: a number too long to be meant"),
    ("a.json", "[1, 2]\n", {}, "a.json:1: not JSON Lines; one object per line is expected"),
    (
        "a.txt",
        "__label__x a\nb\n",
        {"format": "fasttext"},
        "a.txt:2: a line must begin with its label, as in `__label__x text`",
    ),
    (
        "a.txt",
        "__label__x a\n__label__x __label__y b\n",
        {},
        "a.txt:2: several labels; a classifier of nungil gives a text one",
    ),
    ("a.txt", "__label__x a\n", {"task": "translate"}, "a.txt: holds labelled texts; that is not data to translate"),
    ("a.txt", "\n\n", {}, "a.txt: nothing but empty lines"),
    ("a.tsv", "", {"format": "tsv"}, "a.tsv: the file is empty"),
    (
        "a.txt",
        "snow\neye\n",
        {},
        "a.txt: one text per line, with nothing to learn from it; give the file with its translations too, "
        "or write the translation or the label into the same line after a tab",
    ),
]


@pytest.mark.parametrize(("name", "text", "given", "message"), MISTAKES, ids=[mistake[3][:40] for mistake in MISTAKES])
def test_a_mistake_is_named_with_file_and_line(tmp_path, name, text, given, message):
    assert sentence(tmp_path, [written(tmp_path, name, text)], **given) == message


@pytest.mark.parametrize("longer", [0, 1])
def test_misaligned_files_are_named_with_both_counts(tmp_path, longer):
    files = [written(tmp_path, f"a.{side}", "x\n" * (30_000 if side == longer else 29_990)) for side in (0, 1)]
    counts = ("30,000", "29,990") if longer == 0 else ("29,990", "30,000")
    assert sentence(tmp_path, files) == (
        f"a.0 has {counts[0]} lines and a.1 has {counts[1]}; files that are line-aligned have the same number"
    )


def test_every_bad_file_is_named_at_once(tmp_path):
    empty = written(tmp_path, "e.tsv", "")
    assert sentence(tmp_path, [empty, tmp_path / "none.tsv"]) == (
        "e.tsv: the file is empty\nnone.tsv: there is no such file"
    )


def test_files_of_different_kinds_are_not_mixed(tmp_path):
    pairs, texts = written(tmp_path, "a.tsv", "en\tko\nsnow\t눈\n"), written(tmp_path, "b.txt", "__label__x good\n")
    assert sentence(tmp_path, [pairs, texts]) == (
        "a.tsv looks like data to translate and b.txt like data to classify; give --task, or --columns"
    )


def test_a_glob_without_matches_and_an_empty_folder_say_so(tmp_path):
    assert sentence(tmp_path, [f"{tmp_path}/*.tsv"]) == "*.tsv: no file matches"
    (tmp_path / "empty").mkdir()
    assert sentence(tmp_path, [tmp_path / "empty"]) == (
        "empty: no data files in this folder, nor folders of .txt files, one per label"
    )


def test_a_name_too_long_for_the_system_says_so():
    with pytest.raises(CorpusError, match="File name too long"):
        open_corpus(["x" * 5_000])


def test_three_columns_are_a_mistake_of_usage(tmp_path):
    with pytest.raises(UsageError, match="--columns takes two"):
        open_corpus([tmp_path], settings(columns=("1", "2", "3")))
