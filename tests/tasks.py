"""Tasks that a sound model must learn, and the shortest way to train and judge one with the real training loop."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
import torch
from numpy.random import Generator

from nungil.batches.batch import LabelledBatch, PairBatch, pad, surround
from nungil.decoding.constraints import Constraints
from nungil.decoding.greedy import greedy
from nungil.model.build import build_classifier, build_translator
from nungil.model.classifier import AttentionClassifier, ClassifierSettings
from nungil.model.recurrent import RecurrentSettings, RecurrentTranslator
from nungil.model.transformer import TransformerSettings, TransformerTranslator
from nungil.model.vocabulary import Vocabulary
from nungil.text.tokenizers import EOS, SOS, SPECIALS
from nungil.training.course import Place
from nungil.training.losses import Loss, classification_loss, translation_loss
from nungil.training.optimizer import OptimizerSettings, make_optimizer
from nungil.training.schedule import ScheduleSettings, rate_at
from nungil.training.steps import Group, Rules, train

LETTERS = 12
FIRST = len(SPECIALS)  # the first id that is a letter
VOCABULARY = FIRST + LETTERS
BATCH = 64
HELD_OUT = 500  # fresh examples that a model is judged by
TRAINING, JUDGING = 1, 2  # seeds of two streams that have nothing in common but the rule
SPARE = 4  # tokens that a model may write beyond the right ones before it is stopped

# Each model is as small as learns its task in seconds. Dropout would only slow it: every batch is new, none is learned
# by heart. Embeddings of so few letters are learned sooner as they are: times √32 they move far at rates this high.
RECURRENT = {"embedding": 32, "width": 64, "dropout": 0.0, "scale_embedding": False}
TRANSFORMER = {"width": 32, "heads": 2, "feed_forward": 64, "encoder_layers": 1, "decoder_layers": 1, "dropout": 0.0}
CLASSIFIER = {"embedding": 32, "width": 32, "heads": 2, "feed_forward": 64, "dense": 16, "dropout": 0.0}


def recurrent(**chosen: object) -> RecurrentTranslator:
    settings = RecurrentSettings.model_validate({**RECURRENT, **chosen})
    return build_translator(settings, Vocabulary(source=VOCABULARY, target=VOCABULARY))


def transformer(**chosen: object) -> TransformerTranslator:
    settings = TransformerSettings.model_validate({**TRANSFORMER, **chosen})
    return build_translator(settings, Vocabulary(source=VOCABULARY, target=VOCABULARY))


def classifier(vocabulary: int, classes: int, **chosen: object) -> AttentionClassifier:
    settings = ClassifierSettings.model_validate({**CLASSIFIER, **chosen})
    return build_classifier(settings, vocabulary, classes)


class Rewriting(NamedTuple):
    """Random letters, and what a rule makes of them."""

    rule: Callable[[list[int]], list[int]]
    shortest: int = 2
    longest: int = 8

    def batch(self, randomness: Generator, count: int) -> PairBatch:
        """New examples, of all lengths alike, marked and padded as the rows of a store are."""
        lengths = randomness.integers(self.shortest, self.longest + 1, count)
        sources = [randomness.integers(FIRST, VOCABULARY, length).tolist() for length in lengths]
        targets = [self.rule(source) for source in sources]
        source, source_keep = pad([np.array(surround(ids, "both")) for ids in sources])
        target_in, target_keep = pad([np.array([SOS, *ids]) for ids in targets])
        target_out, _ = pad([np.array([*ids, EOS]) for ids in targets])
        return PairBatch(source, source_keep, target_in, target_out, target_keep)


COPY = Rewriting(list)
REVERSE = Rewriting(lambda letters: letters[::-1])
SORT = Rewriting(sorted)


class Labelling(NamedTuple):
    """Texts of ids with their class; `draw` gives one of them."""

    draw: Callable[[Generator], tuple[list[int], int]]

    def batch(self, randomness: Generator, count: int) -> LabelledBatch:
        """So many examples, padded as the rows of a store are."""
        return labelled([self.draw(randomness) for _ in range(count)])


def labelled(examples: list[tuple[list[int], int]]) -> LabelledBatch:
    source, keep = pad([np.array(text) for text, _ in examples])
    return LabelledBatch(source, keep, torch.tensor([label for _, label in examples]))


EARLY, LATE = FIRST, FIRST + 1  # two letters that every text has once, among others that say nothing


def which_comes_first(randomness: Generator) -> tuple[list[int], int]:
    """Two letters anywhere: both classes have the same bags of letters, and only the order tells them apart."""
    text = _noise(randomness)
    here, there = sorted(randomness.choice(len(text), 2, replace=False))
    label = int(randomness.integers(2))
    text[here], text[there] = (EARLY, LATE) if label else (LATE, EARLY)
    return text, label


def which_pair_is_in_it(randomness: Generator) -> tuple[list[int], int]:
    """The two letters side by side, one way or the other: the same bags again, but not the same bigrams."""
    text = _noise(randomness)
    here = int(randomness.integers(len(text) - 1))
    label = int(randomness.integers(2))
    text[here : here + 2] = (EARLY, LATE) if label else (LATE, EARLY)
    return text, label


def _noise(randomness: Generator) -> list[int]:
    return randomness.integers(LATE + 1, VOCABULARY, randomness.integers(4, 9)).tolist()


ORDER = Labelling(which_comes_first)
BIGRAM = Labelling(which_pair_is_in_it)


def learn_to_rewrite(model, task: Rewriting, updates: int, rate: float = 0.01) -> float:
    """Train on endless new examples; the share of right tokens that greedy search then writes for others.

    The shortest examples may come in both streams; of those with five letters or more hardly one does.
    """
    learn(model, endless(task), partial(translation_loss, model), updates, rate)
    return tokens_right(model, task.batch(np.random.default_rng(JUDGING), HELD_OUT))


def learn_to_label(model: AttentionClassifier, task: Labelling, updates: int, rate: float = 0.01) -> float:
    """Train on endless examples; the share of others that are then labelled right."""
    learn(model, endless(task), partial(classification_loss, model), updates, rate)
    return labels_right(model, task.batch(np.random.default_rng(JUDGING), HELD_OUT))


def endless(task: Rewriting | Labelling) -> Iterator[PairBatch | LabelledBatch]:
    randomness = np.random.default_rng(TRAINING)
    while True:
        yield task.batch(randomness, BATCH)


def learn(model, batches: Iterator, loss_of: Callable[..., Loss], updates: int, rate: float) -> None:
    """So many updates: warm up for a tenth of them, then fall along a cosine, as short runs do."""
    chosen = OptimizerSettings()
    schedule = ScheduleSettings(shape="cosine", rate=rate, warmup=max(1, updates // 10))
    rules = Rules(lambda update: rate_at(update, schedule, updates), chosen.clip, seed=TRAINING)
    groups = (Group([batch], predictions_of(batch), 0, Place(0, 0)) for batch in batches)
    for step in islice(train(model, groups, loss_of, make_optimizer(model, chosen), rules), updates):
        assert not step.skipped
    model.eval()


def predictions_of(batch: PairBatch | LabelledBatch) -> int:
    return int(batch.target_keep.sum()) if isinstance(batch, PairBatch) else len(batch.label)


def tokens_right(model, batch: PairBatch) -> float:
    """The share of tokens in their right place; one that is missing or too many is wrong."""
    lengths = batch.target_keep.sum(dim=1) - 1  # without <eos>
    written = greedy(model, batch.source, batch.source_keep, Constraints(lengths + SPARE))
    right = places = 0
    for found, length, out in zip(written, lengths, batch.target_out, strict=True):
        expected = out[:length].tolist()
        right += sum(one == other for one, other in zip(found.ids, expected, strict=False))
        places += max(len(found.ids), len(expected))
    return right / places


def labels_right(model: AttentionClassifier, batch: LabelledBatch) -> float:
    with torch.inference_mode():
        found = model(batch.source, batch.source_keep).logits.argmax(dim=-1)
    return float((found == batch.label).double().mean())
