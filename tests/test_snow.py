"""Snow: sentences that are sound in both languages, links that are right by construction, splits that never meet."""

import gzip
import hashlib
import re
import subprocess
import sys
from collections import Counter, defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nungil.errors import ResourceError, UsageError
from nungil.text.atomic import whole_file
from nungil.text.snow.actions import third_person
from nungil.text.snow.corpus import SnowPair, make, make_splits, snow_pairs, split_of, turned
from nungil.text.snow.doings import ACTIONS
from nungil.text.snow.hangul import has_batchim
from nungil.text.snow.homonyms import CONTEXTS
from nungil.text.snow.nouns import HOMONYMS, NOUNS
from nungil.text.snow.phrases import article
from nungil.text.snow.scenes import TIMES
from nungil.text.snow.senses import SENSE_HEADER, sense_examples, sense_line, sense_splits

SAMPLE = list(snow_pairs(2000, seed=5))
MADE = list(make(6000, seed=6))
MIDDLING = list(snow_pairs(6000, seed=7, lengths=(4, 24)))
FUNCTION_WORDS = re.findall(
    r"\w+",
    "a an the to at in on onto with for over that who and but not did do does will is are was were am has have had "
    "my your his her its our their",
)


def links(pair):
    """(English, Korean, sure?) for each link."""
    found = [re.fullmatch(r"(\d+)([-p])(\d+)", link).groups() for link in pair.links.split()]
    return [(int(i), int(j), mark == "-") for i, mark, j in found]


def test_i_like_snow_is_in_its_language():
    short = snow_pairs(2500, seed=1, lengths=(3, 3))
    assert SnowPair("I like snow", "나는 눈을 좋아한다", "0-0 1-2 2-1", "눈=snow") in set(short)


def test_every_link_points_at_a_word_and_every_word_has_one():
    for pair in SAMPLE:
        english, korean = pair.english.split(), pair.korean.split()
        found = links(pair)
        assert len({(i, j) for i, j, _ in found}) == len(found), pair
        assert {i for i, _, _ in found} == set(range(len(english))), pair
        assert {j for _, j, _ in found} == set(range(len(korean))), pair


def test_every_content_word_is_surely_linked():
    for pair in SAMPLE:
        sure = {i for i, _, is_sure in links(pair) if is_sure}
        for number, word in enumerate(pair.english.lower().replace(",", "").split()):
            assert number in sure or word in FUNCTION_WORDS, (word, pair)


def test_every_korean_word_but_counters_is_surely_linked():
    counters = {"권", "통", "편", "곡", "대", "송이", "그루", "척", "마리", "개", "명", "한다", "한다고"}
    for pair in SAMPLE:
        sure = {j for _, j, is_sure in links(pair) if is_sure}
        for number, word in enumerate(pair.korean.replace(",", "").split()):
            bare = re.sub("(을|를|이|가|은|는|에게|과|와)$", "", word)
            unsaid = pair.english.endswith(" not") and word.endswith("지")  # but I do not
            assert number in sure or word in counters or bare in counters or unsaid, (word, pair)


def test_articles_and_prepositions_are_never_sure():
    for pair in SAMPLE:
        words = pair.english.lower().split()
        assert not [
            words[i] for i, _, is_sure in links(pair) if is_sure and words[i] in ("a", "an", "the", "at", "that")
        ]


# Korean nouns may end in syllables that look like particles, so each noun is asked for by name.
STEMS = sorted({noun.korean for noun in NOUNS.values()} | {"나", "너", "그", "그녀", "우리", "그들"}, key=len)


def test_particles_agree_with_the_last_sound_everywhere():
    stems = set(STEMS) | {stem + "들" for stem in STEMS}
    seen = Counter()
    for pair in SAMPLE:
        for word in pair.korean.replace(",", "").split():
            for after_consonant, after_vowel in (("은", "는"), ("을", "를"), ("과", "와")):
                if word[:-1] in stems and word[-1] in (after_consonant, after_vowel):
                    assert word[-1] == (after_consonant if has_batchim(word[:-1]) else after_vowel), pair
                    seen[word[-1]] += 1
            if word[:-1] in stems - {"나", "너"} and word[-1] in "이가" and word not in stems:
                assert word[-1] == ("이" if has_batchim(word[:-1]) else "가"), pair
                seen[word[-1]] += 1
            assert word not in ("나가", "너가", "나이"), pair
    assert min(seen[particle] for particle in "은는을를과와이가") > 20


def test_the_plural_ending_never_follows_a_thing():
    things = {n.korean for n in NOUNS.values() if n.kind not in ("people", "youngsters", "babies", "animals")}
    for pair in SAMPLE:
        for word in pair.korean.split():
            found = re.fullmatch(r"(.+)들[은이을과]?", word)
            assert not (found and found[1] in things), pair


def test_articles_are_a_or_an_by_sound():
    assert [article(word) for word in ("apple", "honest", "pear", "old")] == ["an", "an", "a", "an"]
    for pair in SAMPLE:
        for before, after in re.findall(r"\b([Aa]n?) (\w+)", pair.english):
            assert (before.lower() == "an") == (after[0] in "aeiou" or after == "honest"), pair


def test_english_third_person():
    assert [third_person(b) for b in ("go", "wash", "carry", "play", "eat", "pass", "fix")] == [
        "goes", "washes", "carries", "plays", "eats", "passes", "fixes",
    ]  # fmt: skip


def test_english_verbs_agree_with_pronouns_and_names():
    third = {action.third for action in ACTIONS} | {"does", "is", "was", "has", "wants", "thinks", "believes"}
    base = {action.base for action in ACTIONS if action.base != action.past} | {"do", "are", "am", "were", "have"}
    for pair in SAMPLE:
        for subject, verb in re.findall(
            r"(?:^|, |and |but |that )(\w+) (?:often |always |sometimes |usually )?(\w+)", pair.english
        ):
            if subject in ("I", "You", "you", "We", "we", "They", "they"):
                assert verb not in third - ({"was"} if subject == "I" else set()), pair
            if subject in ("He", "he", "She", "she", "Minsu", "Jina", "Yuna"):
                assert verb not in base, pair


def test_no_time_stands_before_a_subject_with_a_relative_clause():
    times = "|".join(" ".join(piece.english).capitalize() for pieces in TIMES.values() for piece in pieces)
    assert any(re.match(rf"({times}) the ", pair.english, re.I) for pair in MIDDLING)
    assert any(re.match(r"The (\w+ )?\w+ who ", pair.english) for pair in MIDDLING)
    assert not [pair for pair in MIDDLING if re.match(rf"({times}) the (\w+ )?\w+ who ", pair.english, re.I)]


def test_inside_a_report_time_and_place_follow_the_inner_subject():
    times = {piece.korean[0] for pieces in TIMES.values() for piece in pieces}
    seen = 0
    for pair in MIDDLING:
        if not re.search(r" (said|heard|thinks?|believes?) that ", pair.english):
            continue
        korean = pair.korean.split()
        topic = next(number for number, word in enumerate(korean) if word[-1] in "은는")
        assert korean[topic + 1] not in times, pair
        assert not korean[topic + 1].endswith(("에", "에서")), pair
        seen += len(times & set(korean[topic + 2 :])) > 0
    assert seen > 100


def test_each_reported_clause_has_its_that_and_all_go_into_the_last_ending():
    counts = Counter()
    for pair in MIDDLING:
        if not re.search(r" (said|heard|thinks?|believes?) that ", pair.english):
            continue
        words = pair.english.split()
        assert all(after.startswith("that ") for after in re.split(r", (?:and )?", pair.english)[1:]), pair
        thats = {number for number, word in enumerate(words) if word == "that"}
        ends = {(j, sure) for i, j, sure in links(pair) if i in thats}
        assert ends == {(len(pair.korean.split()) - 2, False)}, pair
        counts[len(thats)] += 1
    assert min(counts[number] for number in (1, 2, 3)) > 10


@pytest.mark.parametrize(
    "odd",
    [
        r"\b(not|cannot) .*\b(every|often|always|usually|sometimes) (?!.*,)",
        r"(?i)\bevery \w+ [^,]*\b(do|does) not\b",
        r"(?i)\b(two|three) (\w+ )?\w+ (did not|will not|cannot|do not)",
        r"\b(swam|swims?)( \w+)* on the beach",
        r"(?i)\b(little|young) child",
        r"\bgather\w* [^,]*chestnut",
        r"\bpick(ed|s)? up (\w+ )?(sweet|delicious) ",
        r"\bfollow\w* [^,]*(kind|warm|sad|honest) words",
        r"\bneed(s|ed)? [^,]*apology",
        r"\bgrape\b",
        r"\broast(ed|s)? (\w+ ){0,3}(fish|meat)\b",
        r"\b(sweet|fresh|delicious) \w+ (did not )?(will not )?(ripen|fell|fall)",
    ],
)
def test_what_no_reader_would_say_is_not_said(odd):
    assert not [pair for pair in (*MIDDLING, *SAMPLE, *(made.pair for made in MADE)) if re.search(odd, pair.english)]


def test_a_road_that_is_built_has_a_korean_word_of_its_own():
    for pair in (*MIDDLING, *(made.pair for made in MADE)):
        if re.search(r"\bbuil(d|t) (\w+ ){0,3}road", pair.english):
            assert "도로" in pair.korean
        else:
            assert "도로" not in pair.korean


def test_one_english_sentence_has_one_korean():
    koreans = defaultdict(set)
    for number in range(3):
        for pair in snow_pairs(3000, seed=100 + number, lengths=(3, 7), distinct=False):
            koreans[pair.english].add(pair.korean)
    assert not {english: found for english, found in koreans.items() if len(found) > 1}


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.integers(3, 60), st.integers(3, 60))
def test_lengths_stay_in_the_range_and_links_in_the_sentence(seed, one, other):
    lengths = (min(one, other), max(one, other))
    for pair in snow_pairs(10, seed, lengths):
        english, korean = pair.english.split(), pair.korean.split()
        assert lengths[0] <= len(english) <= lengths[1]
        assert all(i < len(english) and j < len(korean) for i, j, _ in links(pair))


def test_every_length_can_be_had():
    for length in range(3, 61):
        assert [len(pair.english.split()) for pair in snow_pairs(2, 1, (length, length))] == [length, length]


def test_lengths_are_mostly_short_but_reach_the_end():
    found = Counter(len(pair.english.split()) for pair in SAMPLE)
    assert sum(found[length] for length in range(3, 13)) > len(SAMPLE) / 2
    assert max(found) >= 55
    assert len(found) > 50


def test_the_same_arguments_make_the_same_corpus():
    text = "\n".join("\t".join(pair) for pair in snow_pairs(200, seed=1))
    assert list(snow_pairs(50, seed=3)) == list(snow_pairs(50, seed=3))
    assert list(snow_pairs(50, seed=3)) != list(snow_pairs(50, seed=4))
    # Another value here means that every corpus made so far can no longer be made: say so in the changelog.
    assert (
        hashlib.sha256(text.encode()).hexdigest() == "0975c9df27c106702e0efdb0704a5793024786c90e2fe80b2f7bc16ca842dccc"
    )


def test_no_pair_comes_twice():
    assert len({pair.english for pair in SAMPLE}) == len(SAMPLE)


def test_splits_share_no_sentence_of_either_language():
    parts = {split: list(snow_pairs(400, seed, (3, 6), split)) for seed, split in enumerate(("train", "valid", "test"))}
    for side in ("english", "korean"):
        sets = [{getattr(pair, side) for pair in pairs} for pairs in parts.values()]
        assert not sets[0] & sets[1]
        assert not sets[0] & sets[2]
        assert not sets[1] & sets[2]


def test_a_corpus_is_dealt_out_in_shares():
    counts = Counter(split for split, _ in make_splits(400, 1))
    assert counts == {"train": 360, "valid": 20, "test": 20}
    assert all(split_of(made.pair.korean) == split for split, made in make_splits(100, 2))


def test_the_lexicon_is_large_enough():
    words = {word for pair, _ in MADE for word in re.findall(r"[a-z]+", pair.english.lower())}
    assert len(words) >= 350
    assert len({action.korean for action in ACTIONS}) >= 100
    assert len({action.base for action in ACTIONS}) >= 90


def test_each_sense_has_eight_contexts_that_settle_it_and_they_occur():
    assert {sense for senses in HOMONYMS.values() for sense in senses} == set(CONTEXTS)
    for sense, contexts in CONTEXTS.items():
        assert len(contexts.verbs) + len(contexts.adjectives) >= 8, sense
    deciders = defaultdict(set)
    for made in make(15000, seed=8, lengths=(3, 12)):
        korean = made.pair.korean.replace(",", "").split()
        for mark in made.marks:
            deciders[mark.sense] |= {korean[position] for position in mark.deciders}
    assert {sense: len(found) for sense, found in deciders.items() if len(found) < 8} == {}


def test_every_mark_stands_on_its_homonym():
    for pair, marks in MADE:
        korean = pair.korean.split()
        for mark in marks:
            assert korean[mark.position].startswith(mark.homonym), pair
            assert mark.sense in HOMONYMS[mark.homonym]
            assert all(0 <= position < len(korean) and position != mark.position for position in mark.deciders), pair


def test_the_deciding_word_is_the_verb_or_the_adjective_beside_it():
    for example in sense_examples(1500, seed=2, lengths=(3, 9)):
        words = example.text.replace(",", "").split()
        told = " ".join(words[position] for position in example.deciders)
        known = {
            "snow": "내리 내렸 녹 쌓 얼 덮 막 치 밟 하얀 하얬 하얗",
            "night": "왔 지나 끝 보내 보냈 보낼 보낸 긴 어두운 추운 조용한",
        }
        assert any(stem in told for stem in known.get(example.label, told or "?").split()), example


def test_sense_examples_have_one_homonym_and_all_labels():
    examples = list(sense_examples(3000, seed=1, lengths=(3, 10)))
    assert set(CONTEXTS) == {example.label for example in examples}
    assert all(example.deciders for example in examples)
    assert len({example.text for example in examples}) == len(examples)
    assert Counter(split for split, _ in sense_splits(40, 1)) == {"train": 36, "valid": 2, "test": 2}


def test_a_pair_turned_twice_is_itself():
    for pair in SAMPLE[:100]:
        assert turned(turned(pair)) == pair
        assert turned(pair)[:2] == (pair.korean, pair.english)


def test_what_cannot_be_made_is_refused_in_a_sentence(monkeypatch):
    with pytest.raises(UsageError, match="0 pairs cannot be made; ask for 1 or more"):
        snow_pairs(0)
    with pytest.raises(UsageError, match=r"lengths 2:5 cannot be had; snow makes sentences of 3 to 60 English words"):
        snow_pairs(1, lengths=(2, 5))
    with pytest.raises(UsageError, match="cannot be split into train, valid and test"):
        list(make_splits(2, 1))
    monkeypatch.setattr("nungil.text.snow.corpus.PATIENCE", 200)
    with pytest.raises(UsageError, match=r"snow has only about \d+ different sentences of 3 to 3 words in split test"):
        list(snow_pairs(100_000, 1, (3, 3), "test"))


def test_a_file_that_fails_half_way_leaves_nothing(tmp_path):
    with pytest.raises(RuntimeError), whole_file(tmp_path / "a.tsv") as text:
        text.write("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError, match="cannot be written"), whole_file(tmp_path / "file" / "a.tsv"):
        pass


def run(*arguments, cwd=None):
    command = [sys.executable, "-m", "nungil", "data", "snow", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd)


def test_the_command_prints_the_corpus():
    found = run("--pairs", "5", "--seed", "9", "--lengths", "4:8")
    assert found.returncode == 0
    assert found.stdout.splitlines() == ["\t".join(pair) for pair in snow_pairs(5, 9, (4, 8))]


def test_the_command_imports_no_torch():
    script = (
        "import sys; sys.argv = ['nungil', 'data', 'snow', '--pairs', '2']\n"
        "from nungil.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "assert 'torch' not in sys.modules"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60).returncode == 0


def test_the_command_writes_a_file_once(tmp_path):
    path = tmp_path / "new" / "snow.tsv.gz"
    assert run("--pairs", "5", "--out", str(path)).returncode == 0
    first = path.read_bytes()
    assert gzip.decompress(first).decode().count("\n") == 5
    again = run("--pairs", "5", "--out", str(path))
    assert (again.returncode, again.stdout) == (2, "")
    assert again.stderr == f"nungil: {path}: already there; give another --out, or --overwrite to replace\n"
    assert run("--pairs", "5", "--out", str(path), "--overwrite").returncode == 0
    assert path.read_bytes() == first
    assert [child.name for child in path.parent.iterdir()] == ["snow.tsv.gz"]


def test_the_command_writes_a_folder_of_splits(tmp_path):
    found = run("--pairs", "40", "--out", "data/", cwd=tmp_path)
    assert found.stderr.startswith("Wrote 40 lines to data/train.tsv, data/valid.tsv, data/test.tsv\nNext: ")
    counts = {path.name: path.read_text().count("\n") for path in (tmp_path / "data").iterdir()}
    assert counts == {"train.tsv": 36, "valid.tsv": 2, "test.tsv": 2}


def test_senses_come_below_a_header(tmp_path):
    request = ("--task", "senses", "--pairs", "12", "--lengths", "3:8")
    lines = [SENSE_HEADER, *map(sense_line, sense_examples(12, 1, (3, 8)))]
    assert run(*request).stdout.splitlines() == lines
    assert run(*request, "--out", "senses.tsv", cwd=tmp_path).returncode == 0
    assert (tmp_path / "senses.tsv").read_text().splitlines() == lines
    assert run(*request, "--out", "data/", cwd=tmp_path).returncode == 0
    found = {path.name: path.read_text().splitlines() for path in (tmp_path / "data").iterdir()}
    assert {name: (rows[0], len(rows)) for name, rows in found.items()} == {
        "train.tsv": (SENSE_HEADER, 11), "valid.tsv": (SENSE_HEADER, 2), "test.tsv": (SENSE_HEADER, 2),
    }  # fmt: skip
    command = [sys.executable, "-m", "nungil", "check", "data/train.tsv", "--test", "data/test.tsv"]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert "label from column 2 (label)" in checked.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--lengths", "5"], "nungil: --lengths: '5' is not a range; write it as 3:60"),
        (["--pairs", "0"], "nungil: 0 pairs cannot be made; ask for 1 or more"),
        (["--pairs", "0", "--out", "x/"], "nungil: 0 pairs cannot be made; ask for 1 or more"),
        (
            ["--pairs", "2", "--out", "x/"],
            "nungil: 2 pairs cannot be split into train, valid and test; ask for 3 or more",
        ),
        (
            ["--out", "x/", "--split", "test"],
            "nungil: --split test makes one file, but x/ is a folder; name a file, or leave --split out",
        ),
        (
            ["--task", "senses", "--direction", "ko-en"],
            "nungil: --task senses has one language only; leave --direction out",
        ),
    ],
)
def test_a_mistake_ends_in_one_sentence(arguments, message, tmp_path):
    found = run(*arguments, cwd=tmp_path)
    assert (found.returncode, found.stdout, found.stderr) == (2, "", message + "\n")
    assert list(tmp_path.iterdir()) == []
