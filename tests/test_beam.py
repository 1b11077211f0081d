"""Beam search: what it finds, what it pays, and that sharing, growing and leaving change nothing."""

import itertools
import math

import pytest
import torch
from small_models import TARGET, TRANSLATORS, B, source_batch

from nungil.decoding.beam import beam_search, length_penalty
from nungil.decoding.constraints import Constraints, padded_prefix, repeats
from nungil.decoding.greedy import greedy
from nungil.decoding.native import search_batch
from nungil.decoding.sampling import Sampler, nucleus
from nungil.decoding.settings import SearchSettings
from nungil.decoding.top import top, top_sums
from nungil.errors import ConfigError
from nungil.settings import build_settings
from nungil.text.tokenizers.base import EOS, SOS

LONGEST = Constraints(torch.tensor([3, 9, 6]))


def model_of(name):
    model = TRANSLATORS[name]().eval()
    with torch.no_grad():
        model.output.bias[EOS] -= 0.5
    return model


def read_again(model, source, keep, found):
    """The log-probability that a model gives to each token when it reads them all at once."""
    expected = [*found.ids, EOS] if found.finished else found.ids
    with torch.inference_mode():
        features = model(source, keep, torch.tensor([[SOS, *expected[:-1]]])).features
        log_probs = model.logits(features).log_softmax(dim=-1)[0]
    return [log_probs[place, token].item() for place, token in enumerate(expected)]


@pytest.mark.parametrize("name", TRANSLATORS)
def test_a_beam_of_one_is_greedy(name):
    model, (source, keep) = model_of(name), source_batch()
    for one, (other,) in zip(
        greedy(model, source, keep, LONGEST),
        beam_search(model, source, keep, LONGEST, SearchSettings(beam=1)),
        strict=True,
    ):
        assert (one.ids, one.finished) == (other.ids, other.finished)
        assert other.log_probabilities == pytest.approx(one.log_probabilities, abs=1e-9)


@pytest.mark.parametrize("name", TRANSLATORS)
def test_alone_or_together_the_same_is_found(name):
    model, (source, keep) = model_of(name), source_batch()
    settings = SearchSettings(beam=3, n_best=3, coverage_penalty=0.2)
    together = beam_search(model, source, keep, LONGEST, settings)
    for row in range(B):
        length, one = int(keep[row].sum()), torch.tensor([row])
        (alone,) = beam_search(model, source[one, :length], keep[one, :length], LONGEST.select(one), settings)
        assert [found.ids for found in alone] == [found.ids for found in together[row]]
        assert [found.score for found in alone] == pytest.approx([found.score for found in together[row]], abs=1e-6)


@pytest.mark.parametrize("name", TRANSLATORS)
def test_every_token_costs_what_the_model_says(name):
    model, (source, keep) = model_of(name), source_batch()
    found = beam_search(model, source, keep, LONGEST, SearchSettings(beam=4, n_best=4, length_penalty=0.7))
    for row, ranked in enumerate(found):
        assert len(ranked) == 4
        assert len({tuple(one.ids) for one in ranked}) == 4
        keys = [(not one.finished, -one.score) for one in ranked]
        assert keys == sorted(keys)
        one = torch.tensor([row])
        for each in ranked:
            assert each.log_probabilities == pytest.approx(read_again(model, source[one], keep[one], each), abs=1e-9)
            assert each.score == pytest.approx(each.log_probability / ((5 + len(each.log_probabilities)) / 6) ** 0.7)


@pytest.mark.parametrize("name", ["plain", "luong, fed", "bahdanau", "transformer"])
@pytest.mark.parametrize("alpha", [0.0, 1.3])
def test_a_wide_beam_finds_what_exhaustive_search_finds(name, alpha):
    """Every sentence of up to three words out of four, and the end after each."""
    model, (source, keep) = model_of(name), source_batch()
    with torch.no_grad():
        model.output.bias[8:] = -1e9
        model.output.bias[1] = -1e9
    one, words = torch.tensor([1]), range(4, 8)
    sentences = [list(ids) for length in range(4) for ids in itertools.product(words, repeat=length)]
    scores = {}
    for ids in sentences:
        with torch.inference_mode():
            features = model(source[one], keep[one], torch.tensor([[SOS, *ids]])).features
            log_probs = model.logits(features).log_softmax(dim=-1)[0]
        paid = sum(log_probs[place, token].item() for place, token in enumerate([*ids, EOS]))
        scores[tuple(ids)] = paid / length_penalty(len(ids) + 1, alpha)
    settings = SearchSettings(beam=100, n_best=10, length_penalty=alpha, exhaustive=True)
    (found,) = beam_search(model, source[one], keep[one], Constraints(torch.tensor([3])), settings)
    ended = [each for each in found if each.finished]
    expected = sorted(scores, key=lambda ids: -scores[ids])[: len(ended)]
    assert len(ended) > 3
    short = [each for each in ended if len(each.ids) < 3]
    assert tuple(short[0].ids) == next(ids for ids in expected if len(ids) < 3)
    for each in short:
        assert each.score == pytest.approx(scores[tuple(each.ids)], abs=1e-9)


def test_a_beam_may_begin_in_the_middle():
    """A Transformer's beginnings share one past: each still reads only what it has written itself."""
    model, (source, keep) = model_of("transformer"), source_batch()
    written = torch.randint(4, TARGET, (B, 4, 5))  # four beginnings of each sentence
    with torch.inference_mode():
        state = model.start(source, keep)
        for t in range(2):  # the same two tokens for all
            written[..., t] = written[:, :1, t]
            state = model.step(written[:, 0, t], state).state
        state = state.spread(4)
        for t in range(2, 4):
            state = model.step(written[..., t].flatten(), state).state
        rows = torch.tensor([[8, 9, 9, 11], [2, 0, 0, 1]])  # of the third sentence and of the first
        state = state.regroup(rows.flatten(), torch.tensor([2, 0]))
        last = torch.randint(4, TARGET, (8,))
        found = model.step(last, state).logits
        for row, place in enumerate(rows.flatten().tolist()):
            whose = torch.tensor([place // 4])
            read = torch.cat([written.flatten(0, 1)[place, :4], last[row, None]])
            alone = model.logits(model(source[whose], keep[whose], read[None]).features)[0, -1]
            assert torch.allclose(found[row], alone, atol=1e-9, rtol=0)


def test_a_longer_sentence_is_worth_more_with_a_penalty():
    assert length_penalty(1, 0.9) == 1.0
    assert length_penalty(7, 1.0) == 2.0
    assert length_penalty(7, 0.0) == 1.0


def test_what_was_left_unread_costs():
    model, (source, keep) = model_of("luong"), source_batch()
    plain = beam_search(model, source, keep, LONGEST, SearchSettings(beam=3, n_best=3, length_penalty=0))
    covered = beam_search(
        model, source, keep, LONGEST, SearchSettings(beam=3, n_best=3, length_penalty=0, coverage_penalty=0.4)
    )
    for row, (before, after) in enumerate(zip(plain, covered, strict=True)):
        by_ids = {tuple(one.ids): one for one in before}
        for one in after:
            expected = [*one.ids, EOS] if one.finished else one.ids
            with torch.inference_mode():
                read = model(source[[row]], keep[[row]], torch.tensor([[SOS, *expected[:-1]]])).weights
            looked = read[0][:, keep[row]].sum(dim=0)
            cost = 0.4 * looked.clamp(max=1).log().sum().item()
            if one.finished:
                assert one.score == pytest.approx(one.log_probability + cost, abs=1e-5)
                assert cost < 0
        assert by_ids


# Constraints


def searches(model, source, keep, constraints):
    yield greedy(model, source, keep, constraints)
    yield from beam_search(model, source, keep, constraints, SearchSettings(beam=3))


@pytest.mark.parametrize("name", ["luong", "transformer"])
def test_a_sentence_is_not_shorter_than_asked(name):
    model, (source, keep) = model_of(name), source_batch()
    with torch.no_grad():
        model.output.bias[EOS] += 9.0  # it would rather say nothing
    assert all(one.ids == [] for one in greedy(model, source, keep, LONGEST))
    for found in searches(model, source, keep, Constraints(LONGEST.longest, shortest=2)):
        assert all(len(one.ids) >= 2 for one in found)


@pytest.mark.parametrize("name", ["bahdanau", "transformer"])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_no_run_of_words_comes_twice(name, size):
    model, (source, keep) = model_of(name), source_batch()
    with torch.no_grad():
        model.output.bias[EOS] -= 9.0
        model.output.bias[7] += 6.0  # a word that it would say again and again
    longest = torch.full((B,), 12)
    (plain, *_) = searches(model, source, keep, Constraints(longest))
    assert any(one.ids.count(7) > 2 for one in plain)
    for found in searches(model, source, keep, Constraints(longest, no_repeat=size)):
        for one in found:
            runs = [tuple(one.ids[place : place + size]) for place in range(len(one.ids) - size + 1)]
            assert len(runs) == len(set(runs))


def test_repeats_by_hand():
    rows, tokens = repeats(torch.tensor([[5, 6, 5, 6, 5], [4, 5, 6, 7, 8]]), 2)
    assert (rows.tolist(), tokens.tolist()) == ([0, 0], [6, 6])


@pytest.mark.parametrize("name", ["luong, fed", "transformer"])
def test_a_prefix_stands_first_and_a_whole_target_is_all(name):
    model, (source, keep) = model_of(name), source_batch()
    prefixes = [[9, 8], [], [5, 6, 7]]
    for found in searches(model, source, keep, Constraints(torch.full((B,), 9), prefix=padded_prefix(prefixes))):
        assert any(one.ids[: len(prefix)] == prefix for one in found for prefix in prefixes)
    for one, prefix in zip(
        greedy(model, source, keep, Constraints(torch.full((B,), 9), prefix=padded_prefix(prefixes))),
        prefixes,
        strict=True,
    ):
        assert one.ids[: len(prefix)] == prefix
    whole = [[9, 8, EOS], [4, EOS], [5, 6, 7, EOS]]
    forced = Constraints(torch.full((B,), 9), prefix=padded_prefix(whole))
    for row, (one, (other,)) in enumerate(
        zip(
            greedy(model, source, keep, forced),
            beam_search(model, source, keep, forced, SearchSettings(beam=3)),
            strict=True,
        )
    ):
        assert one.ids == other.ids == whole[row][:-1]
        again = read_again(model, source[[row]], keep[[row]], one)
        assert one.log_probabilities == pytest.approx(again, abs=1e-9)
        assert other.log_probabilities == pytest.approx(again, abs=1e-9)


@pytest.mark.parametrize("name", ["luong, fed", "transformer"])
@pytest.mark.parametrize(
    ("prefix", "rules"),
    [([5, 5, 6], {"no_repeat": 1}), ([5, 6, 5, 6], {"no_repeat": 2}), ([5, 6, EOS], {"shortest": 5})],
    ids=str,
)
def test_a_prefix_is_above_all_other_rules(name, prefix, rules):
    model, (source, keep) = model_of(name), source_batch()
    constraints = Constraints(torch.full((B,), 9), prefix=padded_prefix([prefix] * B), **rules)
    for settings in (SearchSettings(beam=1), SearchSettings(beam=3), SearchSettings(sample=True)):
        for row, (one,) in enumerate(search_batch(model, source, keep, constraints, settings)):
            assert [*one.ids, *[EOS] * one.finished][: len(prefix)] == prefix
            again = read_again(model, source[[row]], keep[[row]], one)
            assert one.log_probabilities == pytest.approx(again, abs=1e-9)
            rest = one.ids[len(prefix) :]
            assert len(one.ids) == 2 if prefix[-1] == EOS else len(rest) > 0


def test_where_every_word_would_come_twice_there_is_only_the_end():
    """More tokens are asked for than there are."""
    model, (source, keep) = model_of("luong"), source_batch()
    constraints = Constraints(torch.full((B,), 3 * TARGET), shortest=2 * TARGET, no_repeat=1)
    for settings in (SearchSettings(beam=1), SearchSettings(beam=2), SearchSettings(sample=True)):
        for (one,) in search_batch(model, source, keep, constraints, settings):
            assert sorted(one.ids) == [1, *range(4, TARGET)]
            assert one.finished


# Sampling


def test_the_same_seed_draws_the_same_and_another_one_something_else():
    model, (source, keep) = model_of("luong"), source_batch()
    drawn = [
        [one.ids for one in greedy(model, source, keep, LONGEST, Sampler(SearchSettings(sample=True, seed=seed)))]
        for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_tokens_are_drawn_as_often_as_they_are_probable():
    probabilities = torch.tensor([0.5, 0.3, 0.15, 0.05])
    draw = Sampler(SearchSettings(sample=True))(probabilities.log().expand(40_000, 4))
    assert (draw.bincount() / 40_000).tolist() == pytest.approx(probabilities.tolist(), abs=0.01)
    hot = Sampler(SearchSettings(sample=True, temperature=2.0))(probabilities.log().expand(40_000, 4))
    evened = probabilities.sqrt() / probabilities.sqrt().sum()
    assert (hot.bincount() / 40_000).tolist() == pytest.approx(evened.tolist(), abs=0.01)


def test_no_draw_of_a_seed_is_a_draw_of_another_seed_or_batch():
    model, (source, keep) = model_of("luong"), source_batch()
    longest, drawn = Constraints(torch.full((B,), 20), shortest=20), []
    for seed, batch in itertools.product((1, 2, 3), (0, 1)):
        settings = SearchSettings(sample=True, seed=seed, n_best=4)
        found = search_batch(model, source, keep, longest, settings, batch)
        drawn += [tuple(one.ids) for ranked in found for one in ranked]
    assert len(set(drawn)) == len(drawn) == 3 * 2 * 4 * B


def test_a_low_temperature_draws_the_most_probable():
    scores = torch.tensor([0.2, 0.3, 0.26, 0.24]).log().expand(500, 4)
    assert set(Sampler(SearchSettings(sample=True, temperature=1e-6))(scores).tolist()) == {1}


def test_only_the_most_probable_are_drawn_from():
    scores = torch.tensor([0.5, 0.3, 0.15, 0.05]).log().expand(2_000, 4)
    assert set(Sampler(SearchSettings(sample=True, top_k=2))(scores).tolist()) == {0, 1}
    assert set(Sampler(SearchSettings(sample=True, top_p=0.9))(scores).tolist()) == {0, 1, 2}
    assert nucleus(scores[:1], 0.5)[0].isfinite().tolist() == [True, False, False, False], "half is enough"
    assert nucleus(scores[:1].flip(1), 0.81)[0].isfinite().tolist() == [False, True, True, True]


# The largest


@pytest.mark.parametrize("size", [5, 63, 700, 8_001])
@pytest.mark.parametrize("count", [1, 5])
def test_the_largest_are_those_that_sorting_finds(size, count):
    values = torch.randn(13, size)
    found, places = top(values, count)
    assert torch.equal(found, values.sort(dim=-1, descending=True).values[:, :count])
    assert torch.equal(values.gather(1, places), found)


@pytest.mark.parametrize("size", [5, 63, 700, 8_001])
@pytest.mark.parametrize(("rows", "count"), [(1, 5), (3, 10), (4, 2)])
def test_the_largest_sums_are_those_that_sorting_finds(rows, size, count):
    values, added = torch.randn(13, rows, size), torch.randn(13, rows, dtype=torch.float64)
    added[:, 1:2] = -torch.inf  # a beginning that is none
    expected = (values + added[..., None]).flatten(1).sort(dim=-1, descending=True).values[:, :count]
    sums, places, tokens = top_sums(values, added, count)
    assert torch.equal(sums, expected)
    found = expected > -torch.inf
    groups = torch.arange(13)[:, None]
    assert torch.equal((values[groups, places, tokens] + added[groups, places])[found], expected[found])


# Settings


@pytest.mark.parametrize(
    ("given", "mistake"),
    [
        ({"beam": 2, "n_best": 3}, "n_best 3 is more than the beam of 2 can give; make the beam as large"),
        ({"temperature": 0.5, "top_p": 0.9}, "temperature, top_p: only for drawing; add sample"),
        ({"seed": 3}, "seed: only for drawing; add sample"),
        (
            {"sample": True, "beam": 5, "length_penalty": 1.0, "coverage_penalty": 0.0, "exhaustive": False},
            "beam, coverage_penalty, exhaustive, length_penalty: only for searching; leave out sample",
        ),
        ({"sample": True, "temperature": 1e-45}, "temperature: must be at least 1e-06"),
        ({"shortest": 5, "longest": 4}, "longest 4 is less than shortest 5"),
        ({"longest": 10**12}, "longest: must be at most 100000"),
        ({"shortest": 10**12}, "shortest: must be at most 100000"),
    ],
)
def test_what_cannot_be_meant_is_refused(given, mistake):
    with pytest.raises(ConfigError) as caught:
        build_settings(given, SearchSettings, "search")
    assert str(caught.value) == f"search:\n- {mistake}"


def test_sizes_differ():
    assert TARGET != B
    assert not math.isinf(SearchSettings().length_penalty)
