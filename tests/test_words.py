"""Links count the words that white space makes, whatever a tokenizer calls a token."""

import pytest
from model_folders import ENGLISH, KOREAN, LUONG, TRANSFORMER, translator_folder

from nungil.decoding.settings import SearchSettings
from nungil.inspection.merging import respelt, words_without_marks
from nungil.model.build import build_translator
from nungil.model.vocabulary import Vocabulary
from nungil.pipeline import Translator, load
from nungil.pipeline.texts import by_words, named
from nungil.text.tidy import tidy
from nungil.text.tokenizers.pieces import train_pieces
from nungil.text.tokenizers.train import Tokenizers
from nungil.text.tokenizers.vocabulary import count_characters, count_words

TOKENIZERS = {
    "word": lambda texts: count_words(texts, 300),
    "few words": lambda texts: count_words(texts, 8),
    "character": lambda texts: count_characters(texts, 300, "syllable"),
    "jamo": lambda texts: count_characters(texts, 300, "jamo"),
    "few characters": lambda texts: count_characters(texts, 9, "jamo"),
    "unigram": lambda texts: train_pieces(texts, "unigram", 320, "jamo"),
    "bpe": lambda texts: train_pieces(texts, "bpe", 320, "syllable"),
}
PAIRS = [
    ("I like snow.", "나는 눈을 좋아한다."),
    ("(We), too: saw - a zebra's ▁ship▁!", "우리도 ￭ “얼룩말을” 봤다…"),
    ("snow", "눈"),
    ("Ω 雪🙂 fell…yesterday", "어제 雪이 내렸다"),
]


@pytest.fixture(params=TOKENIZERS)
def translator(request, tmp_path):
    """Never trained: it writes anything that it has tokens for, unknown ones too."""
    made = load(translator_folder(tmp_path / "model", LUONG))
    tokenizers = Tokenizers(*(TOKENIZERS[request.param](texts) for texts in (ENGLISH, KOREAN)))
    sizes = Vocabulary(source=tokenizers.source.size, target=tokenizers.target.size)
    config = made.config.model_copy(update={"longest": 60, "vocabulary": sizes})
    model = build_translator(config.model, sizes)
    for parameter in model.parameters():
        parameter.data.normal_(std=0.7)
    return Translator(config, model, tokenizers)


def spelt(text, tokenizer):
    tokens = by_words(named(tokenizer.encode(text), tokenizer, text), tokenizer)
    return tokens, words_without_marks(tokens)


def links(line):
    return [tuple(map(int, link.split("-"))) for link in line.split()]


def test_a_text_has_as_many_words_as_white_space_makes(translator):
    for pair in PAIRS:
        for text, tokenizer in zip(map(tidy, pair), translator.tokenizers, strict=True):
            tokens, words = spelt(text, tokenizer)
            assert len(words) == len(text.split())
            assert sorted(place for word in words for place in word) == list(range(len(tokens))), "none is left out"


@pytest.mark.parametrize("reading", ["output", "input"])
def test_links_of_given_translations_stay_within_their_sentences(translator, reading):
    for (source, target), line in zip(PAIRS, translator.align(PAIRS, reading), strict=True):
        found = links(line)
        assert sorted(right for _, right in found) == list(range(len(target.split()))), "one for each target word"
        assert all(left < len(source.split()) for left, _ in found)


def test_links_of_translations_stay_within_their_texts(translator):
    texts = [source for source, _ in PAIRS]
    texts += ["I like snow. We saw a zebra. Snow fell!", "今日は。雪です！", "I saw.\n\u200b\nShe fell.", ""]
    linked = 0
    for one in translator.translate(texts, align=True, n_best=3, beam=3, longest=12):
        for each in (one, *one.n_best):
            found = links(each.links)
            assert sorted(right for _, right in found) == list(range(len(each.text.split())))
            assert all(left < len(each.source.split()) for left, _ in found)
            linked += len(found)
    assert linked > 0


def test_drawn_translations_too(translator):
    for one in translator.translate(["snow fell. I like it."] * 20, align=True, sample=True, longest=9):
        assert sorted(right for _, right in links(one.links)) == list(range(len(one.text.split())))


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([" I", " like", " snow", "."], ["▁I", "▁like", "▁snow", "."]),
        (["I", " ", "s", "o"], ["▁I", "▁", "s", "o"]),
        ([" ", " ", "눈", " "], ["<pad>", "▁", "눈", "<pad>"]),
        ([" a", " ⁇ ", "b"], ["▁a", "▁⁇", "▁b"]),
        ([" a", " ", " b"], ["▁a", "▁", "b"]),
        ([" ▁", "▁", "a▁"], ["▁_", "_", "a_"]),
        ([" "], ["<pad>"]),
        ([], []),
    ],
)
def test_where_words_begin(parts, expected):
    assert respelt(parts, parts) == expected


def test_marks_stay_and_hold_no_word():
    assert respelt(["<sos>", "I", "<eos>"], ["", " I", ""]) == ["<sos>", "▁I", "<eos>"]


def test_only_what_is_unknown_is_named(tmp_path):
    translator = load(translator_folder(tmp_path / "model", TRANSFORMER))
    (found,) = translator.translate("I like snow. We saw (zebras), snow.", split=False)
    assert found.unknown == (".", "(", "zebras", ")", ",")
    assert translator.translate("snow zebras.")[0].unknown == ("zebras", ".")


def test_many_are_looked_at_together_and_read_the_same(tmp_path, monkeypatch):
    translator = load(translator_folder(tmp_path / "model", TRANSFORMER))
    texts, search = ["I like snow", "We saw a ship yesterday", "snow fell"], SearchSettings(beam=2, n_best=2, longest=6)
    alone = [translator.translate(text, search, align=True)[0].links for text in texts]
    sizes = []
    watched = Translator._watched

    def counted(self, sources, written, *kinds):
        sizes.append(len(sources))
        return watched(self, sources, written, *kinds)

    monkeypatch.setattr(Translator, "_watched", counted)
    assert [one.links for one in translator.translate(texts, search, align=True)] == alone
    assert sizes == [6], "both translations of each text"
