"""What can be asked of a translator: several translations, draws, paragraphs, links, words it has never seen."""

import math

import numpy as np
import pytest
import torch
from model_folders import LUONG, TRANSFORMER, translator_folder

from nungil.decoding.native import _SHARED
from nungil.decoding.sampling import Sampler
from nungil.decoding.settings import SearchSettings
from nungil.errors import ConfigError, UsageError
from nungil.inspection.record import AttentionRecord
from nungil.model.quick import build
from nungil.model.quick.build import quick
from nungil.pipeline import load
from nungil.pipeline.joining import joined_links
from nungil.pipeline.translator import copied
from nungil.records import Translation
from nungil.text.counts import counted
from nungil.text.sentences import Sentence, sentences_of

TEXTS = ["I like snow", "We saw a ship", "The child ate a pear"]


@pytest.fixture(params=[LUONG, TRANSFORMER], ids=["luong", "transformer"])
def translator(request, tmp_path):
    return load(translator_folder(tmp_path / "model", request.param))


def test_the_first_of_the_best_is_the_translation(translator):
    for one in translator.translate(TEXTS, beam=4, n_best=3):
        assert len(one.n_best) == 3
        assert one.n_best[0] == one._replace(n_best=())
        assert len({other.text for other in one.n_best}) > 1
    for one in translator.translate(TEXTS):
        assert one.n_best == ()


def test_the_score_is_the_mean_of_the_logarithms_of_its_probabilities(translator):
    for one in translator.translate(TEXTS, beam=2, n_best=2):
        for each in one.n_best:
            assert len(each.probabilities) == len(each.tokens) + each.finished
            mean = sum(map(math.log, each.probabilities)) / len(each.probabilities)
            assert each.score == pytest.approx(mean, abs=1e-9)


def test_the_model_is_made_ready_once_for_many_calls_and_not_kept_while_it_learns(translator, monkeypatch):
    made = []
    monkeypatch.setattr(build, "quick", lambda *given: made.append(quick(*given)) or made[-1])
    many = TEXTS * 30
    first, again = (translator.translate(many, beam=1, longest=5) for _ in range(2))
    assert (len(made), first) == (1, again)
    translator.model.train()
    for count in (2, 3):
        assert translator.translate(many, beam=1, longest=5) == first
        assert len(made) == count


def test_draws_are_repeatable_and_differ_by_seed(translator):
    drawn = [
        [one.text for one in translator.translate(TEXTS * 7, sample=True, seed=seed, longest=5)] for seed in (3, 3, 4)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    (several,) = translator.translate(TEXTS[0], sample=True, n_best=6, longest=5)
    assert len(several.n_best) == 6
    assert [one.score for one in several.n_best] == sorted((one.score for one in several.n_best), reverse=True)


def test_parts_of_a_longer_input_have_draws_of_their_own(translator):
    drawn = [
        tuple(one.text for one in translator.translate(TEXTS * 3, sample=True, first=first, shortest=9, longest=9))
        for first in (0, 0, 1_000, 2_000)
    ]
    assert (
        drawn[0]
        == drawn[1]
        == tuple(one.text for one in translator.translate(TEXTS * 3, sample=True, shortest=9, longest=9))
    )
    assert len(set(drawn)) == 3


@pytest.mark.parametrize("copies", [1, 50])
def test_draws_are_the_same_whatever_the_threads(translator, copies, monkeypatch):
    drawn, seen, draw = [], set(), Sampler.__call__

    def watched(self, scores):
        seen.add(torch.get_num_threads())
        return draw(self, scores)

    monkeypatch.setattr(Sampler, "__call__", watched)
    for threads in (3, 1):
        torch.set_num_threads(threads)
        drawn.append(translator.translate(TEXTS * copies, sample=True, longest=5))
        assert torch.get_num_threads() == threads
    assert drawn[0] == drawn[1]
    assert seen == {1}, "sums of several threads are rounded otherwise"


def test_two_who_search_at_once_leave_torch_with_the_threads_that_it_had():
    torch.set_num_threads(3)
    try:
        first, second = _SHARED.one_each(), _SHARED.one_each()
        first.__enter__()
        assert (torch.get_num_threads(), _SHARED.threads) == (1, 3)
        second.__enter__()
        first.__exit__(None, None, None)
        assert (torch.get_num_threads(), _SHARED.threads) == (1, 3), "one of them is still at it"
        second.__exit__(None, None, None)
        assert (torch.get_num_threads(), _SHARED.threads) == (3, 3)
    finally:
        torch.set_num_threads(1)


def test_a_translation_begins_with_what_is_given(translator):
    for options in ({"beam": 1}, {}, {"sample": True}, {"no_repeat": 1, "shortest": 6}, {"longest": 1}):
        for one in translator.translate(TEXTS, prefix=" 눈을  눈을 ", **options):
            assert one.text.startswith("눈을 눈을")
            assert one.tokens[:2] == ("눈을", "눈을")
    plain = translator.translate(TEXTS)
    found = translator.translate(TEXTS, prefix=["배를", None, ""])
    assert found[0].tokens[0] == "배를"
    assert [one.text for one in found[1:]] == [one.text for one in plain[1:]]
    (two,) = translator.translate("I like snow. We saw a ship.", prefix="배를")
    (second,) = translator.translate("We saw a ship.")
    assert two.text.startswith("배를")
    assert two.text.endswith(second.text), "only what comes first begins with it"
    assert translator.translate("", prefix="배를")[0].text == ""
    (unseen,) = translator.translate("\u200b\n\nI like snow\nWe saw a ship.", prefix="배를")
    (seen,) = translator.translate("I like snow\nWe saw a ship.", prefix="배를")
    assert unseen.tokens == seen.tokens, "the first part that is translated, not the first of all, begins with it"
    assert translator.translate(TEXTS, prefix=iter(["배를"] * 3)) == translator.translate(TEXTS, prefix="배를")


def test_a_whole_translation_is_scored(translator):
    text, target = "I like snow. We saw a ship.", "나는 눈을 좋아한다"
    for options in ({"beam": 1}, {}, {"sample": True}, {"shortest": 9}, {"longest": 2}):
        (found,) = translator.translate(text, prefix=f"{target}<eos>", **options)
        assert (found.text, found.finished) == (target, True)
        assert found.score == pytest.approx(translator.look(text, target=target).score, abs=1e-5)
        assert len(found.probabilities) == 4


def test_a_prefix_that_cannot_be_written_is_refused(translator):
    with pytest.raises(UsageError) as caught:
        translator.translate(TEXTS, prefix="나는 zebras 눈을 quokkas")
    assert str(caught.value) == ("prefix: not in the model's vocabulary, so that it cannot be written: zebras, quokkas")
    with pytest.raises(UsageError) as caught:
        translator.translate(TEXTS, prefix=["나는", "눈을"])
    assert str(caught.value) == "prefix: 2 given for 3 texts; give one for each, or one text for all"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([3], "prefix 1 is no text but int"),
        (3, "prefix: a text, or one for each text, is expected, not int"),
        (b"snow", "prefix: a text, or one for each text, is expected, not bytes"),
    ],
    ids=str,
)
def test_a_prefix_that_is_no_text_is_refused(translator, given, said):
    with pytest.raises(UsageError) as caught:
        translator.translate(["I like snow"], prefix=given)
    assert str(caught.value) == said


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "pairs of two texts are expected, as [('snow', '눈')], not NoneType"),
        ("ab", "pairs of two texts are expected, as [('snow', '눈')], not str"),
        ({"a": "b"}, "pairs of two texts are expected, as [('snow', '눈')], not dict"),
        ([("snow", "눈"), ("a", "b", "c")], "pair 2 is not two texts but ('a', 'b', 'c')"),
        (["ab"], "pair 1 is not two texts but 'ab'"),
        ([("a", None)], "pair 1 is not two texts but ('a', None)"),
        ([("a", "b"), ("a", " ")], "pair 2 has an empty text: ('a', ' ')"),
    ],
    ids=str,
)
def test_what_is_no_pair_is_refused(translator, given, said):
    for ask in (translator.align, lambda pairs: next(translator.look_at_pairs(pairs)), translator.badge):
        with pytest.raises(UsageError) as caught:
            ask(given)
        assert str(caught.value) == said


def test_pairs_may_come_from_a_zip(translator):
    pairs = list(zip(TEXTS, ["나는 눈을"] * 3, strict=True))
    assert translator.align(zip(*zip(*pairs, strict=True), strict=True)) == translator.align(pairs)


def test_layers_and_heads_that_are_no_numbers_are_refused(translator):
    for ask in (
        lambda: translator.align([("I like snow", "나는")], head="x"),
        lambda: translator.lens("I like snow", head="x"),
        lambda: translator.explain("I like snow", head="x"),
        lambda: translator.explain("I like snow", step="x"),
        lambda: translator.lens("I like snow", None),
    ):
        with pytest.raises(UsageError, match=r"no head x|no step x|no lens None"):
            ask()


def test_search_settings_of_another_type_are_refused(translator):
    with pytest.raises(UsageError) as caught:
        translator.translate(TEXTS, {"beam": 3})
    assert str(caught.value) == "translate() takes search settings, not dict; give options by their names, as beam=3"


def test_more_tokens_than_usual_can_be_asked_for(translator):
    for one in translator.translate(TEXTS, shortest=60, beam=2):
        assert len(one.tokens) >= 60


def test_settings_and_options_beside_them_are_refused(translator):
    with pytest.raises(UsageError, match=r"search settings and beam beside them; put it into the settings, or give"):
        translator.translate(TEXTS, SearchSettings(beam=2), beam=3)
    with pytest.raises(UsageError, match="n_best, seed beside them; put them into the settings"):
        translator.translate(TEXTS, SearchSettings(), seed=3, n_best=2)


def test_options_and_settings_are_the_same_and_mistakes_are_named(translator):
    assert translator.translate(TEXTS, beam=3) == translator.translate(TEXTS, SearchSettings(beam=3))
    with pytest.raises(ConfigError) as caught:
        translator.translate(TEXTS, beams=3, n_best=9)
    assert "beams: no such setting; did you mean beam?" in str(caught.value)


def test_a_paragraph_is_translated_sentence_by_sentence_and_its_breaks_stay(translator):
    first, second, third = (one.text for one in translator.translate(["I like snow.", "We saw a ship!", "A pear"]))
    (found,) = translator.translate("  I like snow. We saw a ship!\n\nA pear ")
    assert found.text == f"{first} {second}\n\n{third}".strip()
    assert found.source == "I like snow. We saw a ship!\n\nA pear"
    (outer,) = translator.translate("\n\nI like snow. We saw a ship!\n\nA pear\n")
    assert (outer.text, outer.source) == (found.text, found.source), "a text ends where its words do"
    (whole,) = translator.translate("I like snow. We saw a ship!", split=False)
    assert whole.source_tokens.count("<eos>") == 1
    assert found.source_tokens.count("<eos>") == 3


def test_links_count_words_from_zero_and_only_on_request(translator):
    (plain,), (linked,) = translator.translate(TEXTS[2]), translator.translate(TEXTS[2], align=True)
    assert plain.links is None
    pairs = [tuple(map(int, link.split("-"))) for link in linked.links.split()]
    assert sorted(target for _, target in pairs) == list(range(len(linked.text.split())))
    assert all(0 <= source < 5 for source, _ in pairs)
    (two,) = translator.translate("I like snow. We saw a ship.", align=True)
    apart = translator.translate(["I like snow.", "We saw a ship."], align=True)
    assert two.links == joined_links(apart, sentences_of("I like snow. We saw a ship."))


def test_links_count_the_words_of_the_source_that_is_told(translator):
    (found,) = translator.translate("I like \u200b snow. We \u200b saw a ship.", align=True)
    assert found.source == "I like snow. We saw a ship."


def test_a_coverage_penalty_needs_attention(tmp_path):
    plain = load(translator_folder(tmp_path / "plain", {**LUONG, "decoder": "plain"}))
    with pytest.raises(UsageError) as caught:
        plain.translate(TEXTS, coverage_penalty=0.5)
    assert str(caught.value) == (
        "this translator has a plain decoder: it has no attention that a coverage penalty counts"
    )


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "a text or several are expected, not NoneType"),
        (b"snow", "a text or several are expected, not bytes"),
        (["snow", None], "text 2 is no text but NoneType"),
    ],
    ids=str,
)
def test_what_is_no_text_is_refused(translator, given, said):
    with pytest.raises(UsageError) as caught:
        translator.translate(given)
    assert str(caught.value) == said


@pytest.mark.parametrize(("number", "said"), [(0, "0 updates"), (1, "1 update"), (1_000, "1,000 updates")])
def test_one_is_no_plural(number, said):
    assert counted(number, "update") == said


def test_links_of_sentences_are_joined():
    one = Translation("가 나", 0.0, (), "a b c", (), links="0-1 2-0")
    two = Translation("다", 0.0, (), "d", (), links="0-0")
    cut = [Sentence("a b c", " "), Sentence("d", "")]
    assert joined_links([one, two], cut) == "0-1 2-0 3-2"
    assert joined_links([one, two], [Sentence("a b c", ""), cut[1]]) == "0-1 2-0 2-2", "c and d are one word: cd"
    assert joined_links([one, two._replace(links=None)], cut) is None


def test_words_it_has_never_seen_are_named(translator):
    (found,) = translator.translate("I like zebras and zebras and quokkas")
    assert found.unknown == tuple(dict.fromkeys(word for word in found.source.split() if word not in KNOWN))
    assert "zebras" in found.unknown
    assert translator.translate("I like snow")[0].unknown == ()


KNOWN = {"I", "like", "snow", "The", "child", "ate", "a", "pear", "We", "saw", "ship", "yesterday"}


def test_a_word_that_it_cannot_write_is_copied_from_where_it_looks():
    weights = np.array([[0.1, 0.2, 0.6, 0.1], [0.7, 0.1, 0.1, 0.1], [0.2, 0.5, 0.2, 0.1]])
    looked = AttentionRecord.from_matrix(weights, ["<sos>", "Kim", "<unk>", "<eos>"], ["<unk>", "나는", "<unk>"])
    assert copied(["<unk>", "나는", "<unk>"], looked, ["Kim", "Zaphod"]) == ["Zaphod", "나는", "Kim"]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Mr. Kim came. He left! Did he? Yes.", ["Mr. Kim came.", "He left!", "Did he?", "Yes."]),
        (
            "나는 눈을 좋아한다. 그러나 비는 싫다.\n\n새 문단이다.",
            ["나는 눈을 좋아한다.", "그러나 비는 싫다.", "새 문단이다."],
        ),
        ('He said "Go." Then he went.', ['He said "Go."', "Then he went."]),
        ("今日は。雪です！", ["今日は。", "雪です！"]),
        ("It costs 3.50 dollars. Am 3. Mai kam er.", ["It costs 3.50 dollars.", "Am 3. Mai kam er."]),
        ("J. R. Smith, e.g. the one", ["J. R. Smith, e.g. the one"]),
        ("one line", ["one line"]),
        ("  ", []),
    ],
)
def test_where_sentences_end(text, parts):
    found = sentences_of(text)
    assert [one.text for one in found] == parts
    assert "".join(one.text + one.after for one in found) == text.strip()
