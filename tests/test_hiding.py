"""Hidden words: which tokens of a batch are hidden while training, and which never are."""

import pytest
import torch

from nungil.batches.batch import LabelledBatch, PairBatch
from nungil.text.tokenizers.base import EOS, PAD, SOS, UNK
from nungil.training.hiding import with_hidden_words


def ids(rows, columns):
    words = torch.randint(EOS + 1, 50, (rows, columns))
    words[:, 0], words[:, -2], words[:, -1] = SOS, EOS, PAD
    return words


def pairs():
    source, target = ids(70, 31), ids(70, 23)
    return PairBatch(source, source > PAD, target, target.roll(-1, 1), target > PAD)


def test_a_share_of_the_words_is_hidden_on_both_sides_and_marks_never():
    torch.manual_seed(3)
    batch = pairs()
    shown = with_hidden_words(batch, 0.3)
    for before, after in ((batch.source, shown.source), (batch.target_in, shown.target_in)):
        words, changed = before > EOS, after != before
        assert torch.equal(after[changed].unique(), torch.tensor([UNK]))
        assert not changed[~words].any()
        assert changed.sum() / words.sum() == pytest.approx(0.3, abs=0.04)


def test_what_is_to_be_predicted_is_not_hidden():
    batch = pairs()
    shown = with_hidden_words(batch, 0.9)
    assert shown.target_out is batch.target_out
    labelled = LabelledBatch(batch.source, batch.source_keep, torch.arange(70))
    hidden = with_hidden_words(labelled, 0.9)
    assert hidden.label is labelled.label
    assert (hidden.source == UNK).any()


def test_none_is_hidden_by_default_and_torch_decides_which():
    batch = pairs()
    assert with_hidden_words(batch, 0.0) is batch
    draws = []
    for seed in (5, 5, 6):
        torch.manual_seed(seed)
        draws.append(with_hidden_words(batch, 0.2).source)
    assert torch.equal(draws[0], draws[1])
    assert not torch.equal(draws[0], draws[2])
