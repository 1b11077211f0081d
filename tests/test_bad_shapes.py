"""Bad input is refused in a sentence that names the sizes, not in a stack of torch frames."""

import subprocess
import sys

import pytest
import torch
from mechanisms import keep_first

from nungil.attention import (
    Additive,
    Attention,
    Concat,
    Coverage,
    Dot,
    General,
    LocalM,
    LocalP,
    Location,
    MultiHeadAttention,
    causal_keep,
)
from nungil.errors import ShapeError, UsageError

pytestmark = pytest.mark.usefixtures("as_installed")


def random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Dot()(random(2, 3, 7), random(2, 5, 11)),
            "Dot compares a query with keys of its own width: query (2, 3, 7), keys (2, 5, 11); "
            "General(query_size, key_size) takes two widths",
        ),
        (
            lambda: General(7, 11)(random(2, 3, 8), random(2, 5, 11)),
            "General was built for queries of width 7, not query (2, 3, 8) (keys (2, 5, 11))",
        ),
        (
            lambda: Additive(7, 11, 13)(random(2, 3, 7), random(2, 5, 12)),
            "Additive was built for keys of width 11, not keys (2, 5, 12)",
        ),
        (
            lambda: Concat(7, 11, 13)(random(2, 3, 7), random(4, 5, 11)),
            "Concat takes a query (batch, steps, width) and keys (batch, steps, width) of one batch size, "
            "not query (2, 3, 7) and keys (4, 5, 11)",
        ),
        (
            lambda: Dot()(random(3, 7), random(2, 5, 7)),
            "Dot takes a query (batch, steps, width) and keys (batch, steps, width) of one batch size, "
            "not query (3, 7) and keys (2, 5, 7)",
        ),
        (
            lambda: Location(7, 4)(random(2, 3, 7), random(2, 5, 11)),
            "Location was built for at most 4 source steps, not keys (2, 5, 11)",
        ),
        (
            lambda: Attention(Dot())(random(2, 3, 7), random(2, 5, 7), keep=keep_first([3, 4], 6)),
            "keep (2, 6) does not fit keys (2, 5, 7): it is (batch, source steps) or "
            "(batch, target steps, source steps)",
        ),
        (
            lambda: Attention(Dot())(random(2, 3, 7), random(2, 5, 7), random(2, 4, 9)),
            "each key needs one value: keys (2, 5, 7), values (2, 4, 9)",
        ),
        (
            lambda: Attention(Coverage(7, 11, 13))(random(2, 1, 7), random(2, 5, 11), coverage=random(2, 4)),
            "coverage (2, 4) does not fit keys (2, 5, 11)",
        ),
        (
            lambda: Attention(Dot())(random(2, 3, 7), random(2, 5, 7), keep=keep_first([3, 0], 5)),
            "keep (2, 5) has a row with nothing to keep (sentence 1, counted from 0): every source step is hidden, so "
            "there is nothing to attend to; leave empty sentences out of the batch",
        ),
        (
            lambda: MultiHeadAttention(12, 4)(random(2, 3, 12), random(2, 5, 12), random(2, 4, 12)),
            "q, k and v need one batch size, and each key one value: q (2, 3, 12), k (2, 5, 12), v (2, 4, 12)",
        ),
        (
            lambda: MultiHeadAttention(12, 4)(random(2, 3, 10), random(2, 5, 12), random(2, 5, 12)),
            "MultiHeadAttention takes (batch, steps, d_model=12), not q (2, 3, 10), k (2, 5, 12), v (2, 5, 12)",
        ),
        (
            lambda: MultiHeadAttention(12, 4)(*[random(2, 5, 12)] * 3, keep_first([2, 3], 6)),
            "keep (2, 6) does not fit keys (2, 5, 12): it is (batch, source steps) or "
            "(batch, target steps, source steps)",
        ),
        (
            lambda: MultiHeadAttention(12, 4)(*[random(2, 3, 12)] * 3, torch.tensor([[False, True, True]] * 2), True),
            "keep (2, 3, 3) has a row with nothing to keep (sentence 0, target step 0, counted from 0): every source "
            "step is hidden, so there is nothing to attend to; leave empty sentences out of the batch",
        ),
        (
            lambda: MultiHeadAttention(12, 4)(*[random(2, 5, 12)] * 3, torch.ones(2, 4, 5, dtype=torch.bool)),
            "keep (2, 4, 5) and query (2, 5, 12) have different numbers of target steps",
        ),
        (
            lambda: Attention(Dot())(
                random(2, 1, 7), Attention(Dot()).prepare(random(2, 5, 7), torch.ones(2, 3, 5).bool())
            ),
            "keep (2, 3, 5) and query (2, 1, 7) have different numbers of target steps",
        ),
        (
            lambda: Attention(Dot())(random(2, 3, 7), random(2, 5, 7), keep=torch.ones(2, 5)),
            "keep must be of torch.bool, True where there is a real token, not torch.float32",
        ),
        (
            lambda: Attention(Dot())(random(2, 3, 7), random(2, 5, 7).double()),
            "query is of torch.float32 and keys of torch.float64; make them one with .to()",
        ),
        (
            lambda: Additive(7, 11, 13)(random(2, 3, 7), random(2, 0, 11)),
            "there is no source step to attend to: keys (2, 0, 11)",
        ),
        (
            lambda: MultiHeadAttention(12, 4)(random(2, 3, 12), random(2, 0, 12), random(2, 0, 12)),
            "there is no source step to attend to: q (2, 3, 12), k (2, 0, 12), v (2, 0, 12)",
        ),
        (lambda: causal_keep(5, 3), "causal attention needs at least as many keys as queries: queries 5, keys 3"),
    ],
)
def test_sizes_that_do_not_fit_are_named(call, message):
    with pytest.raises(ShapeError) as error:
        call()
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: MultiHeadAttention(10, 3),
            "d_model 10 is not divisible by num_heads 3; these would fit: 1, 2, 5, 10",
        ),
        (lambda: MultiHeadAttention(0, 1), "d_model and num_heads must be at least 1, not 0 and 1"),
        (lambda: LocalM(Dot(), 0), "LocalM: reach must be at least 1, not 0"),
        (lambda: LocalP(Dot(), 7, -2), "LocalP: reach must be at least 1, not -2"),
        (lambda: Location(7, 0), "Location: longest must be at least 1, not 0"),
        (lambda: Additive(7, 11, 0), "Additive: size must be at least 1, not 0"),
        (
            lambda: LocalM(Dot(), 1)(random(1, 2, 7), random(1, 3, 7), position=-5),
            "LocalM: position counts from 0; it cannot be -5",
        ),
        (
            lambda: Attention(Dot())(random(1, 2, 7), Dot().prepare(random(1, 3, 7)), keep=torch.ones(1, 3).bool()),
            "a prepared memory has its own keep; pass keep to prepare()",
        ),
        (lambda: General(0, 11), "General: query_size must be at least 1, not 0"),
        (
            lambda: Attention(LocalM(Dot(), 1))(
                random(1, 2, 7), random(1, 3, 7), keep=torch.tensor([[False, True, True]])
            ),
            "LocalM needs padding on the right only: keep hides a step before one that it keeps",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(call, message):
    with pytest.raises(UsageError) as error:
        call()
    assert str(error.value) == message


@pytest.mark.parametrize("given", ["'dot'", "None", "nungil.attention.General"])
def test_what_is_no_score_is_refused_when_it_is_given(given):
    """In a process of its own: here, types are checked before that."""
    code = f"import nungil\ntry: nungil.attention.Attention({given})\nexcept nungil.errors.UsageError as e: print(e)"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.startswith("Attention needs a score, such as Dot() or General(7, 11), not ")


def test_users_may_catch_it_as_a_value_error():
    with pytest.raises(ValueError, match="not divisible"):
        MultiHeadAttention(512, 7)
