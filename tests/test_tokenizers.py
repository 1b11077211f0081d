"""Tokenizers: every text comes back, the same corpus gives the same bytes, the special ids stand fast."""

import json
import pickle
import unicodedata
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nungil.errors import CheckpointError, ConfigError, CorpusError
from nungil.text.tokenizers import (
    CharacterTokenizer,
    Ids,
    PieceTokenizer,
    Sample,
    TokenizerSettings,
    WordTokenizer,
    load_tokenizers,
    pieces,
    save_tokenizers,
    train_tokenizer,
    train_tokenizers,
)
from nungil.text.tokenizers.jamo import from_jamo, to_jamo
from nungil.text.tokenizers.train import fitting_size, same_letters

ENGLISH = [f"I like snow number {n} and the snowy road {n % 7}." for n in range(400)]
KOREAN = [f"나는 눈을 {n}번 좋아한다. 눈길을 걷는다 {n % 5}!" for n in range(400)]


def sample(texts):
    taken = Sample()
    for text in texts:
        taken.add(text)
    return taken


def trained(unit, korean="syllable", size=600):
    return train_tokenizer(sample(ENGLISH + KOREAN), TokenizerSettings(unit=unit, size=size, korean=korean))


PIECES = {(unit, korean): trained(unit, korean) for unit in ("unigram", "bpe") for korean in ("syllable", "jamo")}
WORDS = trained("word")
nfc_text = st.text(st.characters(exclude_categories=["Cs"])).map(lambda text: unicodedata.normalize("NFC", text))
nasty = st.sampled_from(
    ["▁", "\ue000", "\ue000a", "\ue000b", " ", "  ", "\n", "\x00", "<unk>", "<sos>", "눈", "ㄴ", "각", "😀", "⁇"]
)


@pytest.mark.parametrize("kind", PIECES, ids=str)
@given(text=st.lists(nfc_text | nasty).map(lambda parts: unicodedata.normalize("NFC", "".join(parts))))
def test_any_nfc_text_survives_sentencepiece(kind, text):
    tokenizer = PIECES[kind]
    assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("kind", PIECES, ids=str)
@given(texts=st.lists(st.text(st.sampled_from("snow 눈길을 걷는다. é\t▁"))))
def test_word_by_word_is_what_sentencepiece_does_with_the_whole(kind, texts):
    tokenizer = PIECES[kind]
    whole = tokenizer._processor.encode([tokenizer._prepare(text) for text in texts])
    assert [tokenizer.encode(text) for text in texts] == whole
    assert tokenizer.encode_many(texts).flat.tolist() == [one for ids in whole for one in ids]


def test_words_that_are_forgotten_are_learned_again(monkeypatch):
    monkeypatch.setattr(pieces, "REMEMBERED", 20)
    monkeypatch.setattr(pieces, "FEW", 3)
    forgetful = PieceTokenizer(PIECES["bpe", "jamo"].to_bytes(), "jamo")
    texts = ENGLISH[:30] + KOREAN[:30]
    for text in texts:
        assert forgetful.encode(text) == PIECES["bpe", "jamo"].encode(text)
    assert len(forgetful._words) <= 20
    assert forgetful.encode_many(texts).flat.tolist() == PIECES["bpe", "jamo"].encode_many(texts).flat.tolist()


@pytest.mark.parametrize("kind", PIECES, ids=str)
def test_training_twice_gives_the_same_bytes(kind):
    assert trained(*kind).to_bytes() == PIECES[kind].to_bytes()


@pytest.mark.parametrize("unit", ["unigram", "bpe", "word", "character"])
def test_the_special_ids_stand_fast(unit):
    tokenizer = trained(unit)
    assert tokenizer.tokens([0, 1, 2, 3]) == ["<pad>", "<unk>", "<sos>", "<eos>"]
    assert tokenizer.decode([2, *tokenizer.encode("I like snow"), 3, 0, 0]) == "I like snow"
    assert not {0, 2, 3} & set(tokenizer.encode("<pad> <sos> <eos>")), "text never turns into a special id"


@given(
    st.lists(st.sampled_from(["I", "like", "snow", "and", "the", "road", "나는", "눈을", "number", "."]), min_size=1)
)
def test_in_vocabulary_text_survives_words(words):
    tokenizer = WORDS
    text = " ".join(words).replace(" .", ".").lstrip(". ")  # a sentence that begins with its full stop is unknown
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_words_by_hand():
    tokenizer = WordTokenizer(["snow", "I", "like", "￭.", "￭,"])
    assert tokenizer.cut("I like snow, snow.") == ["I", "like", "snow", "￭,", "snow", "￭."]
    assert tokenizer.encode("I like rain.") == [5, 6, 1, 7]
    assert tokenizer.decode([5, 6, 4, 7]) == "I like snow."
    assert tokenizer.decode([5, 6, 1]) == "I like <unk>"


@pytest.mark.parametrize("korean", ["syllable", "jamo"])
@given(st.text(st.sampled_from("나는 눈을좋아한다.Ilikesnow")))
def test_in_vocabulary_text_survives_characters(korean, text):
    tokenizer = trained("character", korean)
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_jamo_are_fewer_than_syllables():
    assert trained("character", "jamo").encode("눈") != trained("character").encode("눈")
    assert len(trained("character", "jamo").encode("눈")) == 3


@given(nfc_text)
def test_jamo_come_together_again(text):
    assert from_jamo(to_jamo(text)) == text


@pytest.mark.parametrize("unit", ["unigram", "bpe", "word", "character"])
def test_many_at_once_equals_one_at_a_time(unit):
    tokenizer, texts = trained(unit), ["I like snow", "", "눈길을 걷는다"]
    flat, lengths = tokenizer.encode_many(texts)
    assert lengths.tolist() == [len(tokenizer.encode(text)) for text in texts]
    assert flat.tolist() == [one for text in texts for one in tokenizer.encode(text)]
    assert Ids(flat, lengths).keep(lengths > 0).flat.tolist() == flat.tolist()


@pytest.mark.parametrize("unit", ["unigram", "bpe", "word", "character"])
@pytest.mark.parametrize("joint", [True, False])
def test_tokenizers_are_saved_and_loaded(tmp_path, unit, joint):
    settings = TokenizerSettings(unit=unit, size=600, joint=joint, korean="jamo")
    made = train_tokenizers(sample(ENGLISH), sample(KOREAN), settings)
    names = save_tokenizers(made, tmp_path)
    ending = ".spm" if unit in ("unigram", "bpe") else ".json"
    assert names == ([f"tokenizer{ending}"] if joint else [f"source{ending}", f"target{ending}"])
    loaded = load_tokenizers(tmp_path, settings)
    assert loaded.joint == joint
    for one, other in zip(made, loaded, strict=True):
        assert one.to_bytes() == other.to_bytes()
        assert one.encode("나는 눈을 like") == other.encode("나는 눈을 like")


def test_a_tokenizer_travels_to_another_process():
    tokenizer = PIECES["unigram", "jamo"]
    other = pickle.loads(pickle.dumps(tokenizer))
    assert other.encode("나는 눈을") == tokenizer.encode("나는 눈을")
    assert other.korean == "jamo"


def test_both_sides_share_one_where_the_letters_are_the_same():
    assert same_letters(["a house"], ["ein Haus, schön"])
    english, korean = ["I like snow"], ["나는 눈을 정말로 좋아한다: snow, eskil"]
    assert not same_letters(english, ["나는 눈을 좋아한다 OK"])
    assert not same_letters(english, korean)
    assert not same_letters(korean, english)  # whatever is the source
    assert not train_tokenizers(sample(ENGLISH), sample(KOREAN), TokenizerSettings(size=600)).joint
    assert train_tokenizers(sample(ENGLISH), sample(ENGLISH[::-1]), TokenizerSettings(unit="bpe", size=400)).joint


def test_sizes_grow_with_the_corpus():
    sizes = [fitting_size(texts) for texts in (10, 5_000, 29_000, 500_000, 10_000_000)]
    assert sizes == sorted(set(sizes)) == [1_000, 4_000, 8_000, 16_000, 32_000]


def test_pieces_that_are_predicted_are_fewer_but_words_are_not():
    draw = Random(3)
    words = ["".join(draw.choices("abcdefghij", k=draw.randint(3, 7))) for _ in range(9_000)]
    side = sample([" ".join(draw.choices(words, k=4)) for _ in range(2_500)])
    read = train_tokenizer(side, TokenizerSettings())
    predicted = train_tokenizers(side, side, TokenizerSettings())
    assert (read.size, predicted.source.size) == (4_000, 2_000)
    assert train_tokenizers(side, side, TokenizerSettings(size=700)).source.size == 700
    whole = TokenizerSettings(unit="word")
    assert train_tokenizers(side, side, whole).target.size == train_tokenizer(side, whole).size == 4_000


@pytest.mark.parametrize("unit", ["unigram", "bpe"])
def test_a_tiny_corpus_gets_fewer_pieces_than_asked(unit):
    tokenizer = train_tokenizer(sample(["I like snow", "I like eyes"]), TokenizerSettings(unit=unit, size=8_000))
    assert tokenizer.size < 400
    assert tokenizer.decode(tokenizer.encode("I like snow")) == "I like snow"


def test_a_sample_is_spread_evenly_and_bounded():
    taken = Sample(most=10)
    for number in range(1_000):
        taken.add(str(number))
    numbers = [int(text) for text in taken.texts]
    assert len(numbers) <= 10
    assert {b - a for a, b in pairwise(numbers)} == {taken.stride}
    assert numbers[-1] >= 1_000 - 2 * taken.stride


def test_overlong_texts_are_learned_from_too():
    long = "unusual " * 20_000
    tokenizer = train_tokenizer(sample(["a b c", long]), TokenizerSettings(unit="bpe", size=300))
    assert len(tokenizer.encode("unusual")) < len("unusual")


def test_errors_as_users_read_them(tmp_path):
    many = "".join(chr(0xAC00 + n) for n in range(2_000))
    with pytest.raises(
        ConfigError, match=r"tokenizer:\n- size: 300 is too small; single characters and bytes need \d+"
    ):
        train_tokenizer(sample([many]), TokenizerSettings(size=300))
    for texts in ([], [""]):
        with pytest.raises(CorpusError, match="there is no text to learn a tokenizer from"):
            train_tokenizer(sample(texts), TokenizerSettings())
    with pytest.raises(CheckpointError, match="not a SentencePiece model"):
        PieceTokenizer(b"nothing of the kind")
    with pytest.raises(CheckpointError, match="there is no tokenizer"):
        load_tokenizers(tmp_path, TokenizerSettings())
    (tmp_path / "tokenizer.json").write_text(json.dumps({"unit": "word", "known": ["a", "a"]}))
    with pytest.raises(CheckpointError, match="names a token twice"):
        load_tokenizers(tmp_path, TokenizerSettings())
    (tmp_path / "tokenizer.json").write_text("[]")
    with pytest.raises(CheckpointError, match="not a word or character vocabulary of ours"):
        load_tokenizers(tmp_path, TokenizerSettings())


def test_another_projects_model_is_refused():
    import io

    import sentencepiece

    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(ENGLISH), model_writer=written, vocab_size=60, minloglevel=2
    )
    with pytest.raises(CheckpointError, match="it is not one of ours"):
        PieceTokenizer(written.getvalue())


def test_character_vocabulary_is_by_frequency_then_code_point():
    tokenizer = train_tokenizer(sample(["bbba", "ac"]), TokenizerSettings(unit="character"))
    assert isinstance(tokenizer, CharacterTokenizer)
    assert tokenizer.known == ("b", "a", "c")


def test_a_script_without_spaces_comes_back_too():
    """▁ is then so rare that coverage alone would leave it out, and every text begins with one."""
    texts = ["".join(chr(0x4E00 + (n * 37 + k * k) % 900) for k in range(3_000)) for n in range(60)]
    tokenizer = train_tokenizer(sample(texts), TokenizerSettings(size=2_000))
    for text in ("一丁", " 一", "一 丁", texts[3][:50]):
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_words_with_vowel_signs_stay_whole():
    assert WordTokenizer([]).cut("लड़की, घर") == ["लड़की", "￭,", "घर"]
    assert WordTokenizer([]).join(["लड़की", "￭,", "घर"]) == "लड़की, घर"
