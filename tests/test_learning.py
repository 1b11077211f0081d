"""What must be learned is learned: toy tasks by every mechanism, the senses of snow. What cannot be is not."""

from typing import NamedTuple

import pytest
import torch
from tasks import (
    BIGRAM,
    COPY,
    HELD_OUT,
    ORDER,
    REVERSE,
    SORT,
    VOCABULARY,
    Labelling,
    Rewriting,
    classifier,
    endless,
    labelled,
    labels_right,
    learn,
    learn_to_label,
    learn_to_rewrite,
    recurrent,
    transformer,
)

from nungil.batches.batch import LabelledBatch
from nungil.text.snow.senses import SenseExample, sense_examples
from nungil.text.tokenizers import Sample, TokenizerSettings, train_tokenizer
from nungil.training.losses import classification_loss

pytestmark = pytest.mark.usefixtures("as_installed")

LEARNED = 0.99
GUESSED = 0.6  # of two classes that are equally frequent; luck does not reach it in 500 examples


def attending(score: str, **chosen: object):
    """A Luong decoder with plain cells: they learn in half the time of LSTM or GRU."""
    return recurrent(cell="rnn", score={"name": score}, **chosen)


def looking_through(window: str):
    return recurrent(cell="rnn", score={"window": window, "reach": 2})


def bahdanau(**chosen: object):
    return recurrent(decoder="bahdanau", score={"name": "additive"}, **chosen)


COPIERS = {
    "dot": lambda: attending("dot"),
    "scaled-dot": lambda: attending("scaled-dot"),
    "general": lambda: attending("general"),
    "concat": lambda: attending("concat"),
    "additive": lambda: attending("additive"),
    # Location sees no key, so it can only have learned positions that training had: the lengths here are the same.
    "location": lambda: recurrent(cell="rnn", score={"name": "location", "longest": 10}),
    # A coverage loss of 1 from the first update on can settle on reading nothing twice before it reads anything right;
    # See et al. (2017) add it only at the end.
    "coverage": lambda: attending("coverage", coverage_loss=0.1),
    "local-m": lambda: looking_through("local-m"),
    "local-p": lambda: looking_through("local-p"),
    "input feeding": lambda: attending("general", input_feeding=True),
    "output direct": lambda: attending("general", output="direct"),
    "GRU": lambda: recurrent(cell="gru"),
    "LSTM": lambda: recurrent(cell="lstm"),
    "Bahdanau": lambda: bahdanau(cell="rnn"),
    "Bahdanau, GRU": lambda: bahdanau(cell="gru"),
}
FAMILIES = {
    "Luong": (lambda: recurrent(score={"name": "additive"}), {"reverse": 150, "sort": 300}, 0.01),
    "Bahdanau": (bahdanau, {"reverse": 150, "sort": 250}, 0.01),
    "Transformer": (transformer, {"reverse": 400, "sort": 500}, 0.015),
}
TASKS = {"reverse": REVERSE, "sort": SORT}
SHORT, LONG = Rewriting(list, 2, 4), Rewriting(list, 12, 20)


def test_copying_is_learned_in_seconds():
    assert learn_to_rewrite(attending("general"), COPY, 80) >= LEARNED


@pytest.mark.slow
@pytest.mark.parametrize("make", COPIERS.values(), ids=list(COPIERS))
def test_copying_is_learned_by_every_score_window_cell_and_decoder(make):
    assert learn_to_rewrite(make(), COPY, 200) >= LEARNED


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_copying_is_learned_by_the_transformer(norm):
    assert learn_to_rewrite(transformer(norm=norm), COPY, 300, 0.015) >= LEARNED


@pytest.mark.slow
def test_copying_is_not_learned_by_a_transformer_that_knows_no_order():
    assert learn_to_rewrite(transformer(positions="none"), COPY, 300, 0.015) < 0.5


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("family", FAMILIES)
def test_reversing_and_sorting_are_learned_by_each_family(family, task):
    make, updates, rate = FAMILIES[family]
    assert learn_to_rewrite(make(), TASKS[task], updates[task], rate) >= LEARNED


@pytest.mark.slow
def test_without_attention_short_copies_are_learned_but_long_ones_are_not():
    assert learn_to_rewrite(recurrent(cell="rnn", decoder="plain"), SHORT, 250) >= LEARNED
    assert learn_to_rewrite(recurrent(cell="rnn", decoder="plain"), LONG, 250) < 0.5
    assert learn_to_rewrite(attending("general"), LONG, 250) >= LEARNED


@pytest.mark.slow
@pytest.mark.parametrize("encoder", ["lstm", "gru", "rnn"])
def test_the_order_of_two_words_is_learned_by_reading_them_in_order(encoder):
    assert learn_to_label(classifier(VOCABULARY, 2, encoder=encoder), ORDER, 150) >= LEARNED


@pytest.mark.slow
def test_the_order_of_two_words_is_learned_by_a_transformer_only_with_positions():
    with_positions = classifier(VOCABULARY, 2, encoder="transformer")
    without = classifier(VOCABULARY, 2, encoder="transformer", positions="none")
    assert learn_to_label(with_positions, ORDER, 200, 0.005) >= LEARNED
    assert learn_to_label(without, ORDER, 200, 0.005) <= GUESSED


@pytest.mark.parametrize("pooling", ["attention", "mean"])
def test_the_order_of_two_words_is_not_learned_from_a_bag(pooling):
    assert learn_to_label(classifier(VOCABULARY, 2, encoder="none", pooling=pooling), ORDER, 150) <= GUESSED


def test_hashed_bigrams_learn_which_word_follows_which_and_a_bag_does_not():
    def bag(**chosen: object):
        return classifier(VOCABULARY, 2, encoder="none", pooling="mean", **chosen)

    grams = {"buckets": 1_000}
    assert learn_to_label(bag(ngrams={**grams, "longest": 2}), BIGRAM, 100, 0.02) >= LEARNED
    assert learn_to_label(bag(ngrams={**grams, "longest": 1}), BIGRAM, 100, 0.02) <= GUESSED
    assert learn_to_label(bag(), BIGRAM, 100, 0.02) <= GUESSED


class Senses(NamedTuple):
    """The senses of snow: a task to train on, and examples that it has not."""

    training: Labelling
    held_out: LabelledBatch
    examples: list[SenseExample]
    vocabulary: int
    classes: int

    @property
    def majority(self) -> float:
        """How often the most frequent sense is right."""
        return float(self.held_out.label.bincount().max()) / len(self.examples)


@pytest.fixture(scope="module")
def senses() -> Senses:
    """A token is a word, so that the places of the deciding words are places of tokens."""
    examples = list(sense_examples(HELD_OUT + 3_000, lengths=(3, 12)))
    sample = Sample()
    for example in examples[HELD_OUT:]:
        sample.add(example.text)
    tokenizer = train_tokenizer(sample, TokenizerSettings(unit="word", size=2_000))
    labels = sorted({example.label for example in examples})
    encoded = [(tokenizer.encode(example.text), labels.index(example.label)) for example in examples]
    known, unseen = encoded[HELD_OUT:], encoded[:HELD_OUT]
    task = Labelling(lambda randomness: known[randomness.integers(len(known))])
    return Senses(task, labelled(unseen), examples[:HELD_OUT], tokenizer.size, len(labels))


def taught(senses: Senses, rate: float = 0.01, **chosen: object):
    """A classifier after 300 updates: six times through the examples."""
    model = classifier(senses.vocabulary, senses.classes, **chosen)
    learn(model, endless(senses.training), lambda batch: classification_loss(model, batch), 300, rate)
    return model


class Looks(NamedTuple):
    """Shares of the attention: what the homonym has of all, and what the deciding words have of the rest."""

    homonym: float
    deciding: float

    @property
    def telling(self) -> float:
        """What the words have that tell the sense: the homonym and those that settle it."""
        return self.homonym + (1 - self.homonym) * self.deciding


def looks(weights, senses: Senses) -> Looks:
    homonym, deciding = torch.zeros_like(weights), torch.zeros_like(weights)
    for row, example in enumerate(senses.examples):
        homonym[row, example.position] = 1
        deciding[row, list(example.deciders)] = 1
    at_homonym, at_deciding = (float((weights * places).sum(dim=1).mean()) for places in (homonym, deciding))
    return Looks(at_homonym, at_deciding / (1 - at_homonym))


def looks_of(model, senses: Senses) -> Looks:
    with torch.inference_mode():
        return looks(model(senses.held_out.source, senses.held_out.source_keep).weights, senses)


def looks_by_chance(senses: Senses) -> Looks:
    """The same of an attention that has no preference."""
    keep = senses.held_out.source_keep.float()
    return looks(keep / keep.sum(dim=1, keepdim=True), senses)


@pytest.mark.slow
def test_the_senses_of_snow_are_learned_and_the_words_that_tell_are_looked_at(senses):
    """A BiLSTM carries what a word says to its neighbours: the homonym's state may know what settles it, or the other
    way round, and which of them attention learns to read is left to the seed. So they are counted together.
    """
    model = taught(senses)
    assert labels_right(model, senses.held_out) >= 0.95 > 4 * senses.majority
    assert looks_of(model, senses).telling > 1.2 * looks_by_chance(senses).telling


@pytest.mark.slow
def test_without_an_encoder_attention_goes_to_the_homonym_and_to_what_settles_it(senses):
    model = taught(senses, encoder="none")
    assert labels_right(model, senses.held_out) >= 0.93
    found, chance = looks_of(model, senses), looks_by_chance(senses)
    assert found.homonym > 1.5 * chance.homonym
    assert found.deciding > 1.5 * chance.deciding


@pytest.mark.slow
def test_the_senses_are_learned_by_a_transformer_and_by_bigrams(senses):
    bigrams = {"longest": 2, "buckets": 10_000}
    assert labels_right(taught(senses, rate=0.005, encoder="transformer"), senses.held_out) >= 0.93
    assert labels_right(taught(senses, encoder="none", pooling="mean", ngrams=bigrams), senses.held_out) >= 0.95
