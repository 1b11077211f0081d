"""Rows of attention changed by hand: what the row becomes, where the change goes, and what follows from it."""

from functools import partial

import pytest
import torch
from examples import example_of, spelled
from small_models import MODELS, TRANSLATORS, classifier, is_translator, recurrent, transformer
from tasks import COPY, endless, learn
from tasks import recurrent as small_recurrent
from test_lenses import LOOKING

from nungil.attention import Look
from nungil.errors import UsageError
from nungil.inspection.changes import Flatten, Force, Move, Permute, Zero
from nungil.inspection.changing import Changing, Several, Where
from nungil.inspection.example import Example
from nungil.inspection.intervention import intervene, place_of
from nungil.inspection.lenses import through
from nungil.inspection.rows import drawn, flattened, forced, moved, permuted, seeded, zeroed
from nungil.training.losses import translation_loss

each_looking = pytest.mark.parametrize("make", LOOKING.values(), ids=list(LOOKING))
ROW = torch.tensor([[0.5, 0.3, 0.2, 0.0]], dtype=torch.float64)
SEEN = torch.tensor([[True, True, True, False]])


def by_number(word):
    return [word - 1]


def changed(example, *changes, longest=7, **where):
    return intervene(example, changes, place_of(example, **where), by_number, longest)


def test_what_becomes_of_a_row():
    assert flattened(ROW, SEEN).tolist() == [[pytest.approx(1 / 3)] * 3 + [0]]
    assert forced(ROW, [1]).tolist() == [[0, 1, 0, 0]]
    assert forced(ROW, [1, 3]).tolist() == [[0, 0.5, 0, 0.5]]
    assert moved(ROW, [0], [2]).tolist() == [[0, pytest.approx(0.3), pytest.approx(0.7), 0]]
    assert zeroed(ROW, SEEN, [0]).tolist() == [[0, pytest.approx(0.6), pytest.approx(0.4), 0]]


def test_a_row_with_nothing_else_is_spread_over_the_others_that_may_be_seen():
    alone = torch.tensor([[0.0, 1.0, 0.0, 0.0]])
    assert zeroed(alone, SEEN, [1]).tolist() == [[0.5, 0, 0.5, 0]]
    only = torch.tensor([[False, True, False, False]])
    assert zeroed(alone, only, [1]).tolist() == [[pytest.approx(1 / 3), 0, pytest.approx(1 / 3), pytest.approx(1 / 3)]]


def test_a_sum_that_is_not_one_stays_what_it_is():
    half = ROW / 2
    for row in (
        flattened(half, SEEN),
        forced(half, [1]),
        moved(half, [0], [1]),
        zeroed(half, SEEN, [0]),
        permuted(half, SEEN, seeded(3)),
        drawn(half, SEEN, seeded(3)),
    ):
        assert float(row.sum()) == pytest.approx(0.5)
        assert float(row[0, 3]) == 0


def test_permutations_are_among_what_may_be_seen_and_repeatable():
    rows, seen = ROW.expand(200, -1), SEEN.expand(200, -1)
    found = permuted(rows, seen, seeded(5))
    assert torch.equal(found, permuted(rows, seen, seeded(5)))
    assert not torch.equal(found, permuted(rows, seen, seeded(6)))
    assert (found[:, 3] == 0).all()
    assert len({tuple(row) for row in found.tolist()}) == 6  # all orders of three different weights
    assert all(sorted(row) == [0.0, 0.2, 0.3, 0.5] for row in found.tolist())


def look(weights, kind="cross", layer=0):
    return Look(kind, layer, weights, weights, weights, torch.zeros_like(weights), weights)


def test_an_eye_changes_the_step_it_is_for_at_once_or_step_by_step():
    weights = torch.arange(24.0).view(1, 4, 6)
    whole = Changing(lambda rows, _: -rows, Where("cross", step=2))(look(weights))
    stepping = Changing(lambda rows, _: -rows, Where("cross", step=2))
    steps = torch.cat([stepping(look(weights[:, t, None])) for t in range(4)], dim=1)
    expected = weights.clone()
    expected[:, 2] *= -1
    assert torch.equal(whole, expected)
    assert torch.equal(steps, expected)


def test_an_eye_changes_only_its_kind_layer_and_head():
    weights = torch.arange(1.0, 49.0).view(1, 2, 4, 6)
    eye = Changing(lambda rows, _: -rows, Where("cross", layer=1, head=0))
    assert torch.equal(eye(look(weights, "self", 1)), weights)
    assert torch.equal(eye(look(weights, "cross", 0)), weights)
    found = eye(look(weights, "cross", 1))
    assert torch.equal(found[:, 0], -weights[:, 0])
    assert torch.equal(found[:, 1], weights[:, 1])


def test_several_eyes_see_what_the_one_before_left():
    weights = torch.ones(1, 1, 3)
    eyes = (Changing(lambda r, _: r + 1, Where("cross")), Changing(lambda r, _: r * 10, Where("cross")))
    assert Several(eyes)(look(weights)).tolist() == [[[20.0] * 3]]


@each_looking
def test_a_forced_row_is_read_from_the_forced_word_alone(make):
    """All weight on one word: the same as a model that has nothing else to look at, at this step."""
    example = example_of(make())
    step = example.steps  # the last
    found = changed(example, Force(step, 2), everywhere=True)
    (effect,) = found.effects
    total = sum(effect.row_before)
    assert effect.row_after == pytest.approx([0, total, 0, 0, 0])
    assert effect.row_before == pytest.approx(changed(example, Flatten(step)).effects[0].row_before)

    def eye(seen):
        if seen.kind not in ("cross", "pooling"):
            return seen.weights
        weights = torch.zeros_like(seen.weights)
        weights[..., 1] = seen.weights.sum(dim=-1)
        if is_translator(example.model) and seen.weights.shape[-2] > 1:  # only the last step
            weights[..., :-1, :] = seen.weights[..., :-1, :]
        return weights

    if is_translator(example.model) and any(part in make_name(make) for part in ("fed", "bahdanau", "coverage")):
        return  # one step at a time: this eye cannot tell which
    after = example.log_probs(example.read(), eye)[0, -1].exp().detach()
    assert effect.after == pytest.approx(float(after[example.written[-1]]), abs=1e-12)


def make_name(make):
    return next(name for name, other in MODELS.items() if other is make)


@each_looking
def test_a_change_that_changes_nothing_changes_nothing(make):
    example = example_of(make())
    found = changed(example, Move(1, 3, 3))
    (effect,) = found.effects
    assert effect.kl == pytest.approx(0, abs=1e-12)
    assert effect.after == pytest.approx(effect.before, abs=1e-12)
    assert not effect.flips
    assert not found.differs


def test_even_attention_cannot_be_made_more_even():
    model = recurrent()
    with torch.no_grad():
        model.decoder.attention.score.bridge.weight.zero_()  # every score is 0
    example = example_of(model)
    for step in range(1, 5):
        (effect,) = changed(example, Flatten(step)).effects
        assert effect.row_before == pytest.approx([0.2] * 5)
        assert (effect.kl, effect.flips) == (pytest.approx(0, abs=1e-15), False)


def test_only_steps_from_the_change_on_are_touched():
    example = example_of(TRANSLATORS["bahdanau"]())
    eye = Changing(lambda rows, _: forced(rows, [0]), Where("cross", step=2))
    own = example.log_probs(example.read())[0]
    found = example.log_probs(example.read(), eye)[0]
    assert torch.equal(found[:2], own[:2])
    assert not torch.allclose(found[2], own[2])
    assert not torch.allclose(found[3], own[3])  # the recurrence carries it on


def test_a_change_in_every_layer_is_more_than_in_the_last():
    example = example_of(transformer())
    last, all_of_them = changed(example, Force(4, 1)), changed(example, Force(4, 1), everywhere=True)
    assert last.where == "cross attention · layer 2 · all 2 heads"
    assert all_of_them.where == "cross attention · every layer and head"
    assert last.effects[0].kl != all_of_them.effects[0].kl
    assert changed(example, Force(4, 1), layer=0, head=1).where == "cross attention · layer 0 · head 1"


def test_a_permuted_step_is_the_same_with_the_same_seed():
    example = example_of(TRANSLATORS["luong"]())
    one, same, other = (changed(example, Permute(2, seed)).effects[0].row_after for seed in (1, 1, 4))
    assert one == same
    assert one != other
    assert sorted(one) == pytest.approx(sorted(changed(example, Flatten(2)).effects[0].row_before))


def test_several_changes_at_once():
    found = changed(example_of(transformer()), Zero(3, 1), Force(1, 2))
    assert [effect.step for effect in found.effects] == [1, 3]
    assert found.changes == ("step 3: no weight on word 1", "step 1: all weight on word 2")
    assert found.picture().rows == ("1 w5", "changed", "3 w11", "changed")
    plain = found.to_json()
    assert plain["steps"][0]["delta_p"] == found.effects[0].after - found.effects[0].before
    assert plain["steps"][0]["candidates_after"][0]["token"].startswith("w")


def test_what_stands_before_the_changed_step_stays():
    for output in (
        changed(example_of(TRANSLATORS["luong"]()), Flatten(3)),
        changed(example_of(transformer()), Flatten(3)),
    ):
        assert output.output_before.split()[:2] == output.output_after.split()[:2] == ["w5", "w8"]


def test_what_cannot_be_changed_is_refused():
    example = example_of(TRANSLATORS["luong"]())
    with pytest.raises(UsageError, match=r"there is no step 5: 4 tokens written, counted from 1"):
        changed(example, Flatten(5))
    with pytest.raises(UsageError, match=r"steps count from 1; there is no step 0"):
        Flatten(0)
    with pytest.raises(UsageError, match=r"nothing is to be changed"):
        changed(example)
    with pytest.raises(UsageError, match=r"word 1 is all there is to look at"):
        changed(example_of(classifier(), (5,)), Zero(1, 1))


@pytest.mark.slow
def test_a_copier_copies_what_it_is_made_to_look_at():
    """It has learned to write the letter it looks at: forced to look elsewhere, it writes what stands there."""
    model = small_recurrent(cell="rnn", score={"name": "dot"})
    learn(model, endless(COPY), partial(translation_loss, model), 300, 0.01)
    letters = (6, 9, 12, 7, 10)
    example = Example(model, (2, *letters, 3), (*letters, 3), spelled, spelled)
    for step, place in ((2, 4), (4, 1), (1, 5)):  # the place is a letter's, and <sos> stands before it
        found = intervene(example, [Force(step, place)], place_of(example), lambda word: [word], 9)
        (effect,) = found.effects
        assert effect.flips
        assert effect.candidates_after[0].token == f"w{letters[place - 1]}"
        assert effect.before > 0.9 > 0.5 > effect.after
        assert effect.kl > 1
        assert found.output_before == " ".join(spelled(letters))
        assert found.output_after.split()[step - 1] == f"w{letters[place - 1]}"
        assert found.differs


def test_a_change_everywhere_shows_the_row_of_every_layer():
    example = example_of(transformer())
    found = changed(example, Flatten(2), Force(3, 1), everywhere=True)
    picture = found.picture()
    assert picture.rows[:6] == (
        *("2 w8 · layer 0", "changed"),
        *("2 w8 · layer 1", "changed"),
        *("2 w8 · layer 2", "changed"),
    )
    assert picture.cells.shape == (2 * 2 * 3, 5)
    for layer in range(3):
        raw = through(example, "raw", layer=layer).values
        if layer == 0:  # what later layers look at has changed before
            assert picture.cells[0] == pytest.approx(raw[1])
        assert picture.cells[2 * layer] == pytest.approx(raw[1])
        assert picture.cells[2 * layer + 1] == pytest.approx([0.2] * 5)
        assert picture.cells[6 + 2 * layer + 1] == pytest.approx([1, 0, 0, 0, 0])
    assert "mean over the heads of its layer" in " ".join(picture.notes)
    plain = found.to_json()["steps"][0]["rows"]
    assert [one["layer"] for one in plain] == [0, 1, 2]
    assert plain[1]["after"] == pytest.approx([0.2] * 5)
    assert changed(example, Flatten(2)).picture().rows == ("2 w8", "changed")


def test_a_changed_classifier_has_a_label_and_no_steps():
    found = changed(example_of(classifier()), Flatten(1))
    said = " ".join((*found.lines(), *found.picture().notes, *found.picture().rows, *found.changes))
    assert found.lines()[0].startswith("Label “w2”: p ")
    assert f"Label before: {found.output_before}" in found.lines()
    assert "The label is " in found.lines()[-1]
    assert found.picture().rows == ("w2", "changed")
    for word in ("step", "Step", "output", "Output", "written", "greedily"):
        assert word not in said
    with pytest.raises(UsageError, match=r"there is no step 2: a classifier gives one label, and its row is step 1"):
        changed(example_of(classifier()), Flatten(2))
