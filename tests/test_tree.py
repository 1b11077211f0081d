"""The tree of a beam search: what was kept, pruned and ended, with the numbers of the search itself."""

import pytest
import torch
from model_folders import LUONG, TRANSFORMER, translator_folder
from small_models import TRANSLATORS, B, source_batch

from nungil.decoding.beam import beam_search
from nungil.decoding.constraints import Constraints
from nungil.decoding.settings import SearchSettings
from nungil.decoding.tree import Trees
from nungil.pipeline import load
from nungil.text.tokenizers.base import EOS

K = 3
LONGEST = Constraints(torch.tensor([2, 9, 5]))


def searched(name, **chosen):
    model, (source, keep) = TRANSLATORS[name]().eval(), source_batch()
    settings, trees = SearchSettings(beam=K, n_best=K, **chosen), Trees(B, K)
    found = beam_search(model, source, keep, LONGEST, settings, trees)
    return found, trees, beam_search(model, source, keep, LONGEST, settings)


def path(nodes, place):
    before = nodes[place].parent
    return ([] if before is None else path(nodes, before)) + [nodes[place]]


@pytest.mark.parametrize("name", ["luong, fed", "bahdanau", "transformer"])
def test_a_tree_changes_nothing_and_every_translation_is_a_path_in_it(name):
    found, trees, without = searched(name)
    assert found == without
    for ranked, nodes in zip(found, trees.nodes, strict=True):
        ends = [place for place, node in enumerate(nodes) if node.score is not None]
        paths = {tuple(node.token for node in path(nodes, place)): place for place in ends}
        for one in ranked:
            place = paths[(*one.ids, EOS) if one.finished else tuple(one.ids)]
            assert nodes[place].fate == ("ended" if one.finished else "cut")
            assert nodes[place].score == one.score
            paid = [node.log_probability for node in path(nodes, place)]
            assert paid == pytest.approx(one.log_probabilities, abs=1e-9)


@pytest.mark.parametrize("name", ["luong", "transformer"])
def test_each_step_considers_twice_the_beam_and_keeps_no_more_than_it(name):
    _, trees, _ = searched(name)
    for nodes in trees.nodes:
        for depth in range(1, 10):
            level = [place for place in range(len(nodes)) if len(path(nodes, place)) == depth]
            assert len(level) <= 2 * K
            going = [
                nodes[place] for place in level if nodes[place].fate in ("kept", "cut") and nodes[place].token != EOS
            ]
            assert len(going) <= K
            if going and (pruned := [place for place in level if nodes[place].fate == "pruned"]):
                total = {place: sum(node.log_probability for node in path(nodes, place)) for place in level}
                words = [total[place] for place in pruned if nodes[place].token != EOS]
                least = min(total[place] for place in level if nodes[place] in going)
                assert all(one <= least + 1e-12 for one in words)
        assert any(node.fate == "pruned" for node in nodes)
        parents = {node.parent for node in nodes} - {None}
        assert all(nodes[parent].fate in ("kept", "cut") for parent in parents)


@pytest.mark.parametrize("kind", [LUONG, TRANSFORMER], ids=["luong", "transformer"])
def test_a_record_has_the_beam_and_the_probabilities_of_what_was_written(kind, tmp_path):
    model = load(translator_folder(tmp_path / "model", kind))
    (translation,), record = model.translate("I like snow"), model.look("I like snow")
    best = record.beam.best
    assert record.beam.tokens(best) == list(record.target_tokens)
    assert record.beam.width == 5
    assert tuple(step.token for step in record.steps) == record.target_tokens
    assert [step.probability for step in record.steps] == pytest.approx(translation.probabilities, rel=1e-4)
    for step in record.steps:
        values = [one.probability for one in step.candidates]
        assert values == sorted(values, reverse=True)
        assert len(values) == 5
        assert all(one.probability == step.probability for one in step.candidates if one.token == step.token)
    given = model.look("I like snow", "우리는 배를 봤다")
    assert given.beam is None
    assert [step.token for step in given.steps] == ["우리는", "배를", "봤다", "<eos>"]


@pytest.mark.parametrize("kind", [LUONG, TRANSFORMER], ids=["luong", "transformer"])
def test_a_sentence_alone_and_in_a_padded_batch_give_the_same_map(kind, tmp_path):
    model = load(translator_folder(tmp_path / "model", kind))
    pairs = [
        ("I like snow", "나는 눈을 좋아한다"),
        ("We saw a ship yesterday snow fell", "우리는 어제 배를 봤다 눈이 내렸다"),
    ]
    for place, record in model.look_at_pairs(pairs):
        alone = model.look(*pairs[place])
        assert record.target_tokens == (*(f"▁{word}" for word in pairs[place][1].split()), "<eos>"), "▁ begins a word"
        for one in alone.maps:
            assert record.map_of(one.kind, one.layer).weights == pytest.approx(one.weights, abs=1e-6)
