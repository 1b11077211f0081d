"""Tokens as people are shown them: unknown words with their text, bytes as letters, words of white space."""

import json

import pytest
from command import invoke
from model_folders import CLASSIFIER, ENGLISH, KOREAN, classifier_folder, translator_folder

import nungil
from nungil.inspection.changes import Force
from nungil.inspection.edits import Swap
from nungil.inspection.merging import spell, words_of
from nungil.inspection.record import AttentionRecord
from nungil.inspection.shown import bare, is_unknown, letters, unknown
from nungil.pipeline.texts import shown
from nungil.text.tokenizers.base import EOS, SOS
from nungil.text.tokenizers.pieces import train_pieces
from nungil.text.tokenizers.vocabulary import count_characters, count_words

WORDS = count_words(ENGLISH, 100)
LETTERS = count_characters(ENGLISH, 100, "syllable")
PIECES = train_pieces(["I like snow", "we like the sea", "snow fell"], "unigram", 300)


def shown_of(tokenizer, text):
    return list(shown([SOS, *tokenizer.encode(text), EOS], tokenizer, text).tokens)


def words_shown(tokens):
    return [spell(tokens, word) for word in words_of(tokens)]


def test_an_unknown_word_has_its_text_and_is_marked():
    assert shown_of(WORDS, "I like sleet.") == ["<sos>", "I", "like", "<unk:sleet>", "￭<unk:.>", "<eos>"]
    assert shown_of(LETTERS, "I ñ") == ["<sos>", "I", "▁", "<unk:ñ>", "<eos>"]
    assert [bare(token) for token in ("<unk:sleet>", "￭<unk:.>", "snow", "￭")] == ["sleet", "￭.", "snow", "￭"]
    assert [is_unknown(token) for token in ("<unk:a>", "￭<unk:.>", "<unk>", "a")] == [True, True, False, False]
    assert unknown("￭") == "<unk:￭>"


def test_what_a_model_wrote_itself_stays_unknown():
    assert shown([5, 1, EOS], WORDS).tokens[1] == "<unk>"


def test_bytes_are_the_letters_that_they_spell():
    assert letters(["▁", "<0x4E>", "<0xE9>", "<0x9B>", "<0xAA>", "s"]) == [
        "▁",
        "N",
        "雪‹1/3›",
        "雪‹2/3›",
        "雪‹3/3›",
        "s",
    ]
    assert letters(["<0xE9>", "<0x9B>", "a"]) == ["<0xE9>", "<0x9B>", "a"]  # no letter
    assert letters(["<0x0A>", "<0x20>", "<0x41>"]) == ["<0x0A>", "<0x20>", "A"]  # nothing to see
    tokens = shown_of(PIECES, "I like 雪 N")
    assert tokens[-7:] == ["▁", "雪‹1/3›", "雪‹2/3›", "雪‹3/3›", "▁", "N", "<eos>"]
    assert words_shown(tokens) == ["<sos>", "I", "like", "雪", "N", "<eos>"]


@pytest.mark.parametrize("tokenizer", [WORDS, LETTERS, PIECES], ids=["words", "letters", "pieces"])
@pytest.mark.parametrize("text", ["I like snow", "snow", "a ship. We saw, (the child)"])
def test_words_are_those_of_white_space(tokenizer, text):
    found = words_shown(shown_of(tokenizer, text))
    assert [bare(word) for word in found] == ["<sos>", *text.split(), "<eos>"]


def test_a_word_with_an_unknown_part_is_unknown():
    assert words_shown(shown_of(WORDS, "I like snow.")) == ["<sos>", "I", "like", "<unk:snow.>", "<eos>"]


def test_syllables_that_were_cut_apart_are_put_together():
    words = train_pieces(["눈이 온다", "나는 눈을 좋아한다"], "unigram", 300, korean="jamo")
    tokens = shown_of(words, "뫘다 눈이")
    assert max(map(len, words_of(tokens))) > 1
    assert words_shown(tokens) == ["<sos>", "뫘다", "눈이", "<eos>"]


TEXT = "I like sleet."


@pytest.fixture
def folder(tmp_path):
    return str(translator_folder(tmp_path / "model"))


def test_an_unknown_word_is_shown_everywhere(folder):
    model = nungil.load(folder)
    columns = ("<sos>", "I", "like", "<unk:sleet>", "￭<unk:.>", "<eos>")
    record = model.look(TEXT, "나는 바다를 좋아한다", honesty=True)
    assert record.source_tokens == columns
    assert record.target_tokens == ("나는", "<unk:바다를>", "좋아한다", "<eos>")
    assert [row.token for row in record.honesty[0].rows] == list(record.target_tokens)
    assert {row.top for row in record.honesty[0].rows} <= {*columns}
    assert record.merged().source_tokens == ("<sos>", "I", "like", "<unk:sleet.>", "<eos>")
    lens = model.lens(TEXT, "leave-one-out", "나는 바다를 좋아한다")
    assert (lens.columns, lens.rows) == (columns, record.target_tokens)
    assert model.explain(TEXT).step("weight").axes[0].labels == columns
    assert "<unk:sleet>" in invoke("explain", folder, TEXT).stdout
    assert AttentionRecord.from_json(json.loads(invoke("look", folder, TEXT, "--json").stdout)).source_tokens == columns
    assert "I like <unk:sleet> ￭<unk:.> <eos>" in invoke("look", folder, TEXT).stdout


def test_an_unknown_word_can_be_named(folder):
    model = nungil.load(folder)
    found = model.intervene(TEXT, Force(1, "sleet"))
    assert found.effects[0].row_after == pytest.approx([0, 0, 0, 1, 0, 0])
    swapped = model.compare(TEXT, Swap("sleet", "hail"), Swap("hail", "fog"))
    assert swapped.after.columns == ("<sos>", "I", "like", "<unk:fog>", "￭<unk:.>", "<eos>")
    assert "<unk:sleet>→<unk:fog>" in swapped.picture().columns


def test_a_classifier_shows_them_too(tmp_path):
    model = nungil.load(classifier_folder(tmp_path / "model", CLASSIFIER))
    assert model.look(TEXT).source_tokens == ("I", "like", "<unk:sleet>", "￭<unk:.>")
    assert model.lens(TEXT).columns == model.look(TEXT).source_tokens
    assert model.explain(TEXT).step("weight").axes[0].labels == model.look(TEXT).source_tokens


def test_maps_of_a_character_model_have_words():
    assert KOREAN[0] == "나는 눈을 좋아한다"
    korean = count_characters(KOREAN, 100, "syllable")
    assert words_shown(shown_of(korean, KOREAN[0])) == ["<sos>", "나는", "눈을", "좋아한다", "<eos>"]
