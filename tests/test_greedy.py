"""Greedy search: against a model whose every answer is known, and against real ones read once more."""

import math
from dataclasses import dataclass, field

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as some
from small_models import TRANSLATORS, B, S, source_batch

from nungil.decoding.constraints import Constraints
from nungil.decoding.greedy import ROOM, greedy
from nungil.model.results import Stepped
from nungil.text.tokenizers.base import EOS, PAD, SOS

V = 17  # ids 4 … 16 are words


@dataclass(frozen=True)
class Count:
    """How far each sentence has still to count."""

    left: torch.Tensor

    def select(self, rows):
        return Count(self.left[rows])

    def spread(self, beam):
        return Count(self.left.repeat_interleave(beam))

    def regroup(self, rows, sentences=None):
        del sentences
        return self.select(rows)


@dataclass
class CountingDown:
    """Writes 4 + n, …, 6, 5, 4 and then the end, where n is the source's first id. Every word costs log 0.2."""

    vocabulary: int = V
    sizes: list[int] = field(default_factory=list)  # of the batch, at each step

    def start(self, source, keep, eye=None):
        del keep, eye
        return Count(source[:, 0])

    def step(self, last, state, eye=None):
        del eye
        self.sizes.append(len(last))
        begun = last == SOS
        assert bool((begun | (last == state.left + 5) | (state.left < 0)).all()), "each row goes on with its own word"
        token = torch.where(state.left >= 0, state.left + 4, EOS)
        probabilities = torch.zeros(len(last), self.vocabulary, dtype=torch.float64)
        probabilities[torch.arange(len(last)), token] = 0.2
        probabilities[:, [PAD, SOS]] = 0.4  # tempting, and never written
        return Stepped(probabilities.log(), Count(state.left - 1))


def watching(look):
    return look.weights


def count_down(starts, limits, eye=None, model=None):
    source = torch.tensor(starts)[:, None]
    keep = torch.ones_like(source, dtype=torch.bool)
    return greedy(model or CountingDown(), source, keep, Constraints(torch.tensor(limits)), eye=eye)


def test_it_writes_the_most_probable_word_until_the_end():
    found = count_down([2, 0, 5], [9, 9, 9])
    assert [one.ids for one in found] == [[6, 5, 4], [4], [9, 8, 7, 6, 5, 4]]
    assert all(one.finished for one in found)
    expected = [math.log(0.2) * words for words in (4, 2, 7)]  # the end is paid for too
    assert [one.log_probability for one in found] == pytest.approx(expected, rel=1e-12)


def test_a_sentence_has_no_more_words_than_its_limit():
    found = count_down([2, 0, 5, 2], [2, 1, 6, 3])
    assert [one.ids for one in found] == [[6, 5], [4], [9, 8, 7, 6, 5, 4], [6, 5, 4]]
    assert [one.finished for one in found] == [False, True, True, True]
    assert found[0].log_probability == pytest.approx(2 * math.log(0.2)), "what was not written is not paid for"
    assert found[1].log_probability == pytest.approx(2 * math.log(0.2)), "an end just at the limit is an end"


def test_there_is_room_for_all_that_is_written_and_not_for_all_that_might_be():
    """10¹⁵ tokens of three sentences would be petabytes."""
    starts = [ROOM + 3, 0, 2 * ROOM + 5]
    source = torch.tensor(starts)[:, None]
    found = greedy(CountingDown(V + 3 * ROOM), source, source > -1, Constraints(torch.full((3,), 10**15)))
    assert [one.ids for one in found] == [list(range(start + 4, 3, -1)) for start in starts]
    assert [len(one.log_probabilities) for one in found] == [start + 2 for start in starts]


def test_sentences_that_have_ended_leave_the_batch_when_they_are_a_quarter_of_it():
    model = CountingDown()
    count_down([0, 1, 5, 6], [20] * 4, model=model)
    assert model.sizes == [4, 4, 3, 2, 2, 2, 2, 1]
    watched = CountingDown()
    count_down([0, 1, 5, 6], [20] * 4, watching, watched)
    assert watched.sizes == [4] * 8, "to an eye, rows stay"


@given(some.lists(some.tuples(some.integers(0, 12), some.integers(1, 15)), min_size=1, max_size=9))
def test_leaving_the_batch_changes_no_result(rows):
    starts, limits = zip(*rows, strict=True)
    together = count_down(starts, limits)
    assert together == count_down(starts, limits, watching)
    assert together == [count_down([start], [limit])[0] for start, limit in rows]
    assert [one.ids for one in together] == [list(range(start + 4, 3, -1))[:limit] for start, limit in rows]
    assert [one.finished for one in together] == [start < limit for start, limit in rows]


def prefer_words(model):
    """Ends become less likely, so that sentences have some length, and not the same."""
    with torch.no_grad():
        model.output.bias[EOS] -= 0.5
    return model


@pytest.mark.parametrize("name", TRANSLATORS)
def test_alone_watched_or_together_a_real_model_writes_the_same(name):
    model, (source, keep) = prefer_words(TRANSLATORS[name]()).eval(), source_batch()
    limits = Constraints(torch.tensor([3, 9, 6]))
    together = greedy(model, source, keep, limits)
    watched = greedy(model, source, keep, limits, eye=watching)
    for row in range(B):
        length = int(keep[row].sum())
        one = torch.tensor([row])
        (alone,) = greedy(model, source[one, :length], keep[one, :length], limits.select(one))
        for other in (watched[row], alone):
            assert (other.ids, other.finished) == (together[row].ids, together[row].finished)
            assert other.log_probability == pytest.approx(together[row].log_probability, abs=1e-9)


@pytest.mark.parametrize("name", TRANSLATORS)
def test_the_log_probability_is_what_the_model_gives_when_it_reads_it(name):
    model, (source, keep) = prefer_words(TRANSLATORS[name]()).eval(), source_batch()
    for row, found in enumerate(greedy(model, source, keep, Constraints(torch.tensor([3, 9, 6])))):
        expected = [*found.ids, EOS] if found.finished else found.ids
        with torch.inference_mode():
            read = torch.tensor([[SOS, *expected[:-1]]])
            features = model(source[row : row + 1], keep[row : row + 1], read).features
            log_probs = model.logits(features).log_softmax(dim=-1)[0]
        forced = sum(log_probs[place, token].item() for place, token in enumerate(expected))
        assert found.log_probability == pytest.approx(forced, abs=1e-9)


def test_neither_padding_nor_a_beginning_is_ever_written():
    model, (source, keep) = TRANSLATORS["luong"]().eval(), source_batch()
    with torch.no_grad():
        model.output.bias[[PAD, SOS]] += 100.0
    written = [token for one in greedy(model, source, keep, Constraints(torch.full((B,), 7))) for token in one.ids]
    assert written
    assert not {PAD, SOS, EOS} & set(written)
    assert source.shape == (B, S)
