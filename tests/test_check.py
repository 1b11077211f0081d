"""`nungil check` as a user meets it: what it prints, how it ends, and that no broken file gets through."""

import gzip
import json
import shlex
from collections import Counter

import pytest
from command import invoke

from nungil.cli.histogram import bars
from nungil.records import Labelled, Pair
from nungil.text.lengths import measure, percentile, suggest_padding
from nungil.text.outlook import outlook
from nungil.text.snow.corpus import snow_pairs
from nungil.text.survey import survey

KOREAN, WESTERN = "눈길 하나".encode("cp949"), "un café".encode("latin-1")

# Three records in each format; the second stands in line 2 of the file that is broken later (the third in folders).
FORMATS = {
    "a.tsv": b"snow one\t\xeb\x88\x88\nBROKEN two\t\xea\xb8\xb8\nroad three\tx\n",
    "a.csv": b'"snow, one",\xeb\x88\x88\n"BROKEN\ttwo",\xea\xb8\xb8\nroad three,x\n',
    "a.jsonl": b'{"en": "snow one", "ko": "n"}\n{"en": "BROKEN two", "ko": "g"}\n{"en": "road", "ko": "x"}\n',
    "a.po": b'#\nmsgid "BROKEN two"\nmsgstr "g"\n\nmsgid "snow one"\nmsgstr "n"\n\nmsgid "road"\nmsgstr "x"\n',
    "a.txt": b"__label__y snow one\n__label__z BROKEN two\n__label__y road three\n",
    "a.en": b"snow one\nBROKEN two\nroad three\n",
    "pos/1.txt": b"snow one\nBROKEN two\nroad three\n",
}
every_format = pytest.mark.parametrize("name", FORMATS)


def check(*arguments):
    """Run `nungil check …`: its exit code, stdout and stderr."""
    return tuple(invoke("check", *map(str, arguments)))


def corpus(folder, name, data):
    """A corpus with this file in it, and what to hand to `check`."""
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    if name == "a.en":
        (folder / "a.ko").write_text("눈\n길\nx\n")
        return path, [path, folder / "a.ko"]
    if name == "pos/1.txt":
        (folder / "neg").mkdir()
        for number, text in enumerate(("bad\n", "dull\n"), 1):
            (folder / "neg" / f"{number}.txt").write_text(text)
        return path, [folder]
    return path, [path]


def report(found):
    """What stands in the JSON and depends on nothing but the records."""
    plain = json.loads(found)
    return plain["tally"]["kept"], plain["survey"]["columns"], plain["survey"]["labels"]


@every_format
def test_marks_line_ends_and_packing_change_nothing(tmp_path, name):
    data = FORMATS[name]
    forms = {
        "plain": data,
        "bom": b"\xef\xbb\xbf" + data,
        "crlf": data.replace(b"\n", b"\r\n"),
        "no last line end": data[:-1],
        "gzip": gzip.compress(data),
    }
    found = {}
    for form, changed in forms.items():
        (tmp_path / form).mkdir()
        code, out, _ = check(*corpus(tmp_path / form, name, changed)[1], "--json")
        assert code == 0, form
        found[form] = report(out)
    assert found["plain"][0] == 3
    for form in forms:
        assert found[form] == found["plain"], form


@every_format
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (
            lambda data: data.replace(b"BROKEN", b"a\0b"),
            ":2: a NUL character; this is no text file, or UTF-16 (give --encoding utf-16-le)",
        ),
        (lambda data: gzip.compress(data)[:-9], ":4: the gzip file is cut off here; fetch or copy it again"),
        (
            lambda data: data.replace(b"BROKEN", b"x" * 50_000_000),
            ":2: a line of more than 1,000,000 characters; does the file have line ends?",
        ),
    ],
    ids=["NUL", "truncated gzip", "50 MB line"],
)
def test_no_format_lets_a_broken_file_through(tmp_path, name, spoil, message):
    path, files = corpus(tmp_path, name, spoil(FORMATS[name]))
    code, _, err = check(*files, "--rejected", tmp_path / "dropped.tsv")
    assert code == 3
    last = err.splitlines()[-1]
    assert last.startswith(f"nungil: {path}:"), err
    assert last.endswith(message[3:])
    if "gzip" not in message:
        assert last == f"nungil: {path}{message}"
    assert not list(tmp_path.glob("*dropped*")) + list(tmp_path.glob(".*")), "nothing half-written"


@every_format
@pytest.mark.parametrize(
    ("bad", "hint"),
    [(KOREAN, "Korean CP949: give --encoding cp949"), (WESTERN, "Western cp1252: give --encoding cp1252")],
)
def test_no_format_lets_another_encoding_through(tmp_path, name, bad, hint):
    ascii_only = bytes(byte for byte in FORMATS[name] if byte < 128).replace(b",\n", b",n\n").replace(b"\t\n", b"\tn\n")
    path, files = corpus(tmp_path, name, ascii_only.replace(b"BROKEN", bad))
    code, out, err = check(*files)
    assert (code, err.splitlines()[-1]) == (3, f"nungil: {path}:2: not UTF-8, but it reads as {hint}")
    assert "Traceback" not in out + err
    if name not in ("a.en", "pos/1.txt"):  # where another file stays UTF-8
        code, out, _ = check(*files, "--encoding", hint.split()[-1], "--json")
        assert (code, json.loads(out)["tally"]["kept"]) == (0, 3)


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "pos/1.txt"])
def test_an_empty_file_says_so(tmp_path, name):
    path, files = corpus(tmp_path, name, b"")
    assert check(*files) == (3, "", f"nungil: {path}: the file is empty\n")
    path.write_bytes(b"\xef\xbb\xbf")
    assert check(*files) == (3, "", f"nungil: {path}: the file is empty\n")
    path.write_bytes(gzip.compress(b""))
    assert check(*files) == (3, "", f"nungil: {path}: the file is empty\n")


def test_an_empty_document_of_a_folder_is_counted(tmp_path):
    _, files = corpus(tmp_path, "pos/1.txt", b"")
    (tmp_path / "pos" / "2.txt").write_text("good\n")
    code, out, _ = check(*files, "--json")
    assert (code, json.loads(out)["tally"]["dropped"]) == (0, {"empty text": 1})


def test_a_fault_far_into_the_file_is_found(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_bytes(b"a\tb\n" * 100_000 + "가\tb\n".encode("cp949") + b"a\tb\n" * 10)
    code, out, err = check(path, "--rejected", tmp_path / "dropped.tsv")
    message = f"{path}:100001: not UTF-8, but it reads as Korean CP949: give --encoding cp949"
    assert code == 3
    assert err.endswith(f"\nnungil: {message}\n")
    assert out.endswith(f"\nVerdict: training on this would fail: {message}.\n")
    assert not (tmp_path / "dropped.tsv").exists()


def test_every_unreadable_file_is_named(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.tsv").write_bytes(b"a\tb\n" * 2_000 + b"c\n")
    code, _, err = check(tmp_path)
    message = "2001: 1 column where 2 are needed (separated by tab)"
    assert code == 3
    assert err.splitlines()[-2:] == [f"nungil: {tmp_path}/a.tsv:{message}", f"nungil: {tmp_path}/b.tsv:{message}"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("text\tlabel\ngood\tx\nbad\tx\n", "all texts have the same label, 'x'"),
        ("text\tlabel\n", "nothing is left to train on"),
        ("en\tko\n\t눈\nsnow\t\n", "nothing is left to train on"),
    ],
)
def test_what_training_would_fail_on_ends_in_exit_code_3(tmp_path, text, fault):
    path = tmp_path / "a.tsv"
    path.write_text(text)
    code, out, err = check(path)
    assert (code, err.splitlines()[-1]) == (3, f"nungil: {fault}")
    assert out.endswith(f"Verdict: training on this would fail: {fault}.\n")


def test_misaligned_files_end_in_exit_code_3(tmp_path):
    (tmp_path / "a.en").write_text("a\nb\nc\n")
    (tmp_path / "a.ko").write_text("가\n나\n")
    code, _, err = check(tmp_path / "a.en", tmp_path / "a.ko")
    message = f"{tmp_path}/a.en has 3 lines and {tmp_path}/a.ko has 2; files that are line-aligned have the same number"
    assert (code, err.splitlines()[-1]) == (3, f"nungil: {message}")


def test_the_report_names_what_cleaning_drops_and_what_to_look_at(tmp_path):
    rows = ["en\tko", "snow\t눈", "snow\t눈", "\t길", "눈이 온다\tit snows", "Go\tGo", "road to home\t길", "eye\t눈"]
    rows += ["sky\t하늘", "sea\t바다", "night\t밤", "pear\t배"]
    (tmp_path / "a.tsv").write_text("\n".join(rows))
    (tmp_path / "t.tsv").write_text("en\tko\neye\t눈\nroad to home\t도로\n")
    code, out, err = check(tmp_path / "a.tsv", "--test", tmp_path / "t.tsv", "--rejected", tmp_path / "d.tsv")
    path = tmp_path / "a.tsv"
    assert code == 0
    assert out.startswith(
        "11 pairs read, 8 left by cleaning.\n"
        "It would drop 3: duplicate 1, empty source 1, in the test set 1.\n"
        "The test set: 2 pairs read, 2 left by cleaning.\n"
        "\nSource: Latin 87.5%, Hangul 12.5%\n"
        "  words      mean 1.4, 50% ≤ 1, 90% ≤ 3, 95% ≤ 3, 99% ≤ 3, maximum 3\n"
    )
    assert out.endswith(
        "\nTo look at\n"
        "  cleaning would drop 3 of 11 (27%)\n"
        "  1 of train also stand in the test set, and would be dropped from train\n"
        f"  1 × the target is the source: {path}, line 6\n"
        f"  1 × source and target are probably swapped: {path}, line 5\n"
        f"  1 × the source stands in the test set, with another target: {path}, line 7\n"
        "  only 8 records: training sets some aside for validation from 20 on, with fewer it needs --valid FILE\n"
        "\nVerdict: 8 pairs to train on, and 6 things to look at first.\n"
        f"{outlook(8)}\n"
    )
    assert (tmp_path / "d.tsv").read_text().splitlines()[1:] == [
        f"duplicate\t{path}\t3\tsnow\t눈",
        f"empty source\t{path}\t4\t\t길",
        f"in the test set\t{path}\t8\teye\t눈",
    ]
    assert f"{path}: TSV with a header; source from column 1 (en), target from column 2 (ko)\n" in err
    assert err.endswith(f"Next: nungil train --train {path} --test {tmp_path}/t.tsv --out runs/mine\n")
    assert "\x1b" not in out


def test_the_outlook_is_for_translators_that_can_be_trained(tmp_path):
    (tmp_path / "pairs.tsv").write_text("snow\t눈\nroad\t길\n")
    (tmp_path / "texts.tsv").write_text("text\tlabel\nsnow\tx\nroad\ty\nice\tx\n")
    (tmp_path / "empty.tsv").write_text("en\tko\nsnow\t\n")
    found = [json.loads(check(tmp_path / f"{name}.tsv", "--json")[1]) for name in ("pairs", "texts", "empty")]
    assert [one["outlook"] for one in found] == [outlook(2), None, None]
    assert check(tmp_path / "texts.tsv")[1].endswith("to look at first.\n")


def test_labels_are_counted_and_compared_with_the_held_out_sets(tmp_path):
    (tmp_path / "a.tsv").write_text("text\tlabel\n" + "".join(f"good {n}\t1\n" for n in range(19)) + "bad\t0\nbad\t1\n")
    (tmp_path / "v.tsv").write_text("text\tlabel\nother\t2\n")
    code, out, _ = check(tmp_path / "a.tsv", "--valid", tmp_path / "v.tsv", "--json")
    found = json.loads(out)
    assert code == 0
    assert found["ok"] is True
    assert found["survey"]["labels"] == {"1": 20, "0": 1}
    assert found["survey"]["findings"]["one text, several labels"] == {
        "count": 1,
        "places": [[f"{tmp_path}/a.tsv", 22]],
    }
    assert "95.2% have the label '1'; saying always that scores as much" in found["warnings"]
    assert "the validation set has labels that train has not: 2" in found["warnings"]


def test_objects_that_lack_a_key_are_left_out_and_named_with_their_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    lines = [f'{{"text": "snow {n}", "label": "{n % 2}"}}' for n in range(40)]
    lines[3], lines[7], lines[9] = '{"text": "sky"}', '{"text": "sea", "label": null}', '{"label": "1"}'
    path.write_text("\n".join(lines))
    code, out, _ = check(path, "--rejected", tmp_path / "d.tsv")
    assert code == 0
    assert out.startswith('40 texts read, 37 left by cleaning.\nIt would drop 3: no "label" 2, no "text" 1.\n')
    assert f'\n  2 × no "label": {path}, lines 4, 8\n  1 × no "text": {path}, line 10\n' in out
    assert (tmp_path / "d.tsv").read_text().splitlines()[1:] == [
        f'no "label"\t{path}\t4\tsky\t',
        f'no "label"\t{path}\t8\tsea\t',
        f'no "text"\t{path}\t10\t\t1',
    ]


@pytest.mark.parametrize("turned", [0, 1])
def test_a_file_that_changes_direction_every_other_line_is_named(tmp_path, turned):
    pairs = [(pair.english, pair.korean) for pair in snow_pairs(40, seed=3, lengths=(3, 9))]
    path = tmp_path / "a.tsv"
    path.write_text("".join("\t".join(pair[:: 1 if n % 2 == turned else -1]) + "\n" for n, pair in enumerate(pairs)))
    _, out, _ = check(path)
    lines = "2, 4, 6, 8, 10" if not turned else "1, 3, 5, 7, 9"
    assert (
        f"\n  20 of 40 pairs are the other way round, so that a model would learn both directions at once: {path}, "
        f"lines {lines} …\n"
    ) in out


def test_a_language_that_is_not_written_in_such_letters_is_something_to_look_at(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("".join(f"{pair.english}\t{pair.korean}\n" for pair in snow_pairs(40, seed=3, lengths=(3, 9))))
    told = f"\n  {path}: its target is written in Hangul letters, and en is not; if that is a mistake, say what it is "
    _, out, _ = check(path, "--from", "en", "--to", "en")
    assert told in out.partition("To look at")[2]
    assert told not in check(path, "--from", "en", "--to", "ko")[1]


def test_labels_that_people_take_for_one_are_named(tmp_path):
    rows = [f"good {n}\t{label}\n" for n in range(20) for label in ("fine", "Fine", "bad", "FINE")]
    (tmp_path / "a.tsv").write_text("text\tlabel\n" + "".join(rows))
    _, out, _ = check(tmp_path / "a.tsv", "--json")
    alike = [warning for warning in json.loads(out)["warnings"] if "capitals" in warning]
    assert alike == ["labels that differ only in capitals or spaces, and count as several: 'fine', 'Fine', 'FINE'"]


def test_what_measures_something_is_doubted_to_be_labels(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("text,score\n" + "".join(f"good {n},{n / 7 % 4:.3f}\n" for n in range(40)))
    code, out, _ = check(path)
    assert code == 0
    why = "so that most of them cannot be learned; is this the column of labels? Choose with --columns text,label"
    assert f"\n  28 labels for 40 texts, {why}\n" in out
    path.write_text("text,score\n" + "".join(f"good {n},{n / 7:.3f}\n" for n in range(40)))
    code, out, said = check(path)
    fault = "each of 40 texts has a label of its own; is this the column of labels? Choose with --columns text,label"
    assert (code, said.splitlines()[-1]) == (3, f"nungil: {fault}")


def test_html_is_something_to_look_at_and_other_angles_are_text(tmp_path):
    path = tmp_path / "reviews.csv"
    marked = ["fine<br /><br />film", "<P class='x'>good</p>", "Tom &amp; Jerry", "it&#39;s &#x27;it"]
    plain = ["a < b and b > c", "AT&T; R&D", "<pad> <name>", "x <- y", "1 < 2 & 3", "<3"]
    path.write_text("text,label\n" + "".join(f"{text} {n},{n % 2}\n" for n in range(5) for text in (*marked, *plain)))
    _, out, _ = check(path)
    told = "20 × HTML stands in the text (`<br />`, `&amp;`), and is learned as if it were words; take it out"
    assert f"\n  {told}: {path}, lines 2, 3, 4, 5, 12 …\n" in out
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("".join(f"some text {n}\t{'ein<br>' if n < 2 else 'ein'} Text {n}\n" for n in range(30)))
    assert "\n  2 × HTML stands in the text (`<br />`, `&amp;`), and" in check(pairs)[1]


def test_a_column_of_texts_is_not_taken_for_labels_in_silence(tmp_path):
    (tmp_path / "a.tsv").write_text("text\tlabel\n" + "".join(f"{n}\tlabel {n}\n" for n in range(1_500)))
    _, out, _ = check(tmp_path / "a.tsv", "--json")
    found = json.loads(out)
    assert len(found["survey"]["labels"]) == 1_001
    assert found["warnings"][-1].startswith("more than 1,000 labels; is this the column of labels?")


def test_the_data_is_not_written_over(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("a\tb\n")
    assert check(path, "--rejected", path) == (
        2,
        "",
        f"nungil: --rejected {path} is a file to be checked; it would be overwritten\n",
    )
    assert path.read_text() == "a\tb\n"


def test_usage_mistakes_end_in_exit_code_2(tmp_path):
    assert check("a.tsv", "--columns", "en") == (
        2,
        "",
        "nungil: --columns takes two, by name or by number: --columns en,ko or --columns 2,3\n",
    )
    (tmp_path / "a.tsv").write_text("a\tb\n")
    code, _, err = check(tmp_path / "a.tsv", "--encoding", "kp949")
    assert (code, err) == (2, "nungil: --encoding: there is no encoding 'kp949'; try utf-8, cp949, utf-16 or cp1252\n")


def test_scripts_tell_untranslated_lines_from_lines_with_foreign_names():
    pairs = [Pair("I like snow", "나는 눈을 좋아해요", "f", line) for line in range(1, 20)]
    pairs += [Pair("Use os.path.join here", "os.path.join 을 쓰세요", "f", 20), Pair("Open it", "Open this", "f", 21)]
    found = survey(pairs, "translate")
    assert found.columns[1].scripts == {"Hangul": 20, "Latin": 1}
    assert found.findings["target in the script of the source"].places == [("f", 21)]
    assert "swapped" not in found.findings


def test_characters_that_were_lost_before_are_found():
    found = survey([Labelled("caf\ufffd", "1", "f", 3)], "classify")
    assert found.findings["broken characters"].where() == "f, line 3"


def test_lengths_are_measured_exactly():
    counts = Counter({1: 50, 2: 40, 3: 5, 10: 4, 100: 1})
    found = measure(counts)
    assert (found.mean, found.maximum) == (2.85, 100)
    assert found.percentiles == {"50": 1, "90": 2, "95": 3, "99": 10}
    assert found.histogram[0] == (1, 1, 50)
    assert found.histogram[-1] == (13, 100, 1)
    assert sum(count for _, _, count in found.histogram) == 100
    assert percentile(Counter(), 50) == 0


def test_padding_is_suggested_as_the_post_does_by_eye():
    reviews = Counter({100: 600, 300: 300, 2_000: 100})  # mean 350, as uneven as film reviews
    padding = suggest_padding(reviews, translating=False)
    assert (padding.length, padding.cut) == (390, 0.1)
    assert padding.reason == "a bit above the mean, because the longest is 6 times as long as the mean"
    assert suggest_padding(reviews, translating=True).length == 2_000
    assert suggest_padding(Counter({10: 99, 40: 1}), translating=False).length == 10
    assert suggest_padding(Counter({10: 50, 12: 50}), translating=False).length == 12


def test_bars_fill_the_width_and_small_counts_are_seen():
    lines = bars([("1–9", 800), ("눈", 400), ("x", 1), ("none", 0)], width=40)
    assert lines == [
        "   1–9  ███████████████████████████ 800",
        "    눈  █████████████▌ 400",
        "     x  ▏ 1",
        "  none   0",
    ]
    assert max(map(len, lines)) <= 40


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        (
            "a.csv",
            b"en,ko\nGood morning, Mr Kim,\xec\x95\x88\xeb\x85\x95\n",
            "a.csv:2: 3 columns where the first row has 2; a comma inside a text needs quotes around that text",
        ),
        (
            "a.tsv",
            b"snow\tnun\rroad\tgil\r",
            r"a.tsv:1: the line ends are \r alone, as on a very old Macintosh; save the file with \n",
        ),
        ("a.txt", b"__label__y snow\nroad\n__label__y eye\n", "a.txt:2: "),
        (
            "a.tsv",
            b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x02\x90\xff\xfe\x00\x01\xe2\x80\x00\x00\n",
            "a.tsv:1: not text at all: it has NUL bytes, as pictures and programs have",
        ),
    ],
)
def test_what_would_be_read_wrongly_is_named_with_its_line(tmp_path, name, data, message):
    (tmp_path / name).write_bytes(data)
    code, out, err = check(tmp_path / name)
    assert code == 3
    assert message in out + err


@pytest.mark.parametrize(
    ("columns", "message"),
    [("1,1", "--columns 1,1 names one column twice"), ("0,1", "--columns counts from 1")],
)
def test_columns_that_cannot_be_meant(tmp_path, columns, message):
    (tmp_path / "a.tsv").write_text("snow\tnun\n")
    code, _, err = check(tmp_path / "a.tsv", "--columns", columns)
    assert (code, err) == (2, f"nungil: {message}\n")


def test_an_empty_name_is_no_folder():
    assert check("")[0] == 2


def test_a_recipe_is_checked_with_the_data_it_names(tmp_path):
    (tmp_path / "a.tsv").write_text("en\tko\n" + "".join(f"snow {n}\t눈 {n}\n" for n in range(30)))
    (tmp_path / "good.yaml").write_text(f"data: {{train: {tmp_path / 'a.tsv'}}}\nmodel: luong\n")
    found = invoke("check", str(tmp_path / "good.yaml"))
    assert found.returncode == 0
    assert found.stdout.startswith("30 pairs read, 30 left by cleaning.\n")
    assert found.stderr.endswith(f"Next: nungil train {tmp_path / 'good.yaml'} --out runs/mine\n")
    (tmp_path / "bad.yaml").write_text(
        f"data: {{train: {tmp_path / 'a.tsv'}}}\nmodel: {{kind: transformer, widht: 3}}\n"
    )
    found = invoke("check", str(tmp_path / "bad.yaml"))
    assert (found.returncode, found.stdout) == (2, "")
    assert "[model] widht: no such setting; did you mean width?" in found.stderr


def test_languages_are_chosen_as_training_chooses_them(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("en\tko\n" + "".join(f"snow {number}\t눈 {number}\n" for number in range(9)))
    found = invoke("check", str(path), "--from", "ko", "--to", "en", "--rejected", str(tmp_path / "dropped.tsv"))
    assert found.returncode == 0, found.stderr
    assert f"{path}: TSV with a header; source from column 2 (ko), target from column 1 (en)" in found.stderr
    assert "Source: Hangul 100.0%" in found.stdout
    assert found.stderr.splitlines()[-1] == f"Next: nungil train --train {path} --from ko --to en --out runs/mine"
    (tmp_path / "recipe.yaml").write_text(f"data: {{train: {path}}}")
    assert "Source: Hangul 100.0%" in invoke("check", str(tmp_path / "recipe.yaml"), "--from", "ko").stdout
    path.write_text("".join(f"snow {number}\t눈 {number}\n" for number in range(9)))
    assert "Source: Hangul 100.0%" in invoke("check", str(path), "--from", "ko", "--to", "en").stdout
    found = invoke("check", str(path), "--from", "ko", "--to", "en", "--columns", "1,2")
    assert found.returncode == 3
    assert found.stderr == (
        f"nungil: {path}: its source is written in Latin letters and its target in Hangul, the other way round than "
        "from ko to en; turn it round: --columns 2,1 --from ko --to en\n"
    )


def test_files_into_several_languages_are_noticed(tmp_path):
    for tag in ("de", "ko"):
        (tmp_path / f"{tag}.po").write_text(f'msgid "snow"\nmsgstr "{tag}"\n')
    found = invoke("check", str(tmp_path / "de.po"), str(tmp_path / "ko.po"))
    assert found.returncode == 3
    assert found.stderr.endswith("ko.po: it declares unknown and ko, but unknown and de are wanted\n")


def test_a_model_folder_is_checked_by_loading_it(tmp_path):
    lines = [f"{pair.english}\t{pair.korean}\n" for pair in snow_pairs(30, lengths=(3, 5))]
    (tmp_path / "a.tsv").write_text("".join(["en\tko\n", *lines]))
    small = ["--steps", "1", "--set", "model.width=8", "--set", "model.heads=2", "--set", "tokenizer.unit=word"]
    out = tmp_path / "run"
    assert invoke("train", "--train", str(tmp_path / "a.tsv"), "--out", str(out), *small).returncode == 0
    found = invoke("check", str(out))
    assert found.returncode == 0
    assert found.stdout.startswith(f"{out}: a translator from en to ko, ")
    assert found.stdout.endswith(" parameters; its files are what config.json says.\n")
    weights = out / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4])
    found = invoke("check", str(out))
    assert (found.returncode, found.stdout) == (4, "")
    assert f"nungil: {weights}: " in found.stderr


def test_what_it_says_comes_next_can_be_done(tmp_path):
    rows = [f"{chr(ord('a') + number)} road;{chr(ord('가') + 28 * number)} 길" for number in range(25)]
    (tmp_path / "my pairs.txt").write_bytes("\r\n".join(rows).encode("cp949"))
    asked = [str(tmp_path / "my pairs.txt"), "--encoding", "cp949", "--format", "csv", "--no-header", "--from", "en"]
    done = invoke("check", *asked, "--to", "ko", "--task", "translate", "--columns", "1,2")
    following = done.stderr.splitlines()[-1].removeprefix("Next: nungil ")
    assert following == (
        f"train --train '{tmp_path}/my pairs.txt' --columns 1,2 --from en --to ko --task translate --format csv "
        "--encoding cp949 --no-header --out runs/mine"
    )
    small = ["--steps", "1", "--model", "plain", "--set", "model.width=8", "--set", "model.embedding=6"]
    trained = invoke(*shlex.split(following), "--out", str(tmp_path / "run"), *small)
    assert trained.returncode == 0, trained.stderr
    assert "From en to ko." in trained.stderr


def test_options_go_over_a_recipe_as_they_do_in_training(tmp_path):
    (tmp_path / "my data.yaml").write_text("data: {train: [a.csv], encoding: utf-8}\ncleaning: {drop_copies: true}\n")
    (tmp_path / "a.csv").write_text(
        "\n".join(f"{word},{word}길,x" for word in "눈밤배별산강").replace("x", "c"), "cp949"
    )
    (tmp_path / "t.csv").write_text("달,달길,c\n해,해길,c\n", "cp949")
    asked = [str(tmp_path / "my data.yaml"), "--data", str(tmp_path), "--encoding", "cp949", "--columns", "3,2"]
    done = invoke("check", *asked, "--test", "t.csv", "--task", "classify")
    assert done.returncode == 3
    assert "text from column 3, label from column 2" in done.stderr
    assert "The test set: 2 texts read" in done.stdout
    done = invoke("check", *asked[:-2], "--columns", "2,1")
    given = f"'{tmp_path}/my data.yaml' --data {tmp_path} --columns 2,1 --encoding cp949"
    assert done.stderr.endswith(f"Next: nungil train {given} --out runs/mine\n")
