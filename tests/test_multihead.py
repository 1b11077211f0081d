"""Multi-head attention against torch's own, and against one step at a time."""

import subprocess
import sys

import pytest
import torch
from mechanisms import keep_first
from torch import nn

from nungil.attention import Look, MultiHeadAttention, causal_keep

B, T, S, M, H = 2, 3, 5, 12, 4


def pair(dtype=torch.float64, **options):
    """Ours and torch's, with the same weights (biases too)."""
    ours = MultiHeadAttention(M, H, **options).to(dtype)
    theirs = nn.MultiheadAttention(M, H, batch_first=True, dtype=dtype)
    with torch.no_grad():
        for layer in (ours.query, ours.key, ours.value, ours.output):
            layer.bias.normal_()
        theirs.in_proj_weight.copy_(torch.cat([ours.query.weight, ours.key.weight, ours.value.weight]))
        theirs.in_proj_bias.copy_(torch.cat([ours.query.bias, ours.key.bias, ours.value.bias]))
        theirs.out_proj.weight.copy_(ours.output.weight)
        theirs.out_proj.bias.copy_(ours.output.bias)
    return ours, theirs


def batch(dtype=torch.float64):
    return torch.randn(B, T, M, dtype=dtype), torch.randn(B, S, M, dtype=dtype), torch.randn(B, S, M, dtype=dtype)


@pytest.mark.parametrize("keep", [None, keep_first([5, 2], S)], ids=["whole", "padded"])
@pytest.mark.parametrize(("dtype", "atol"), [(torch.float64, 1e-12), (torch.float32, 1e-5), (torch.bfloat16, 0.1)])
def test_equals_torch_with_the_same_weights(keep, dtype, atol):
    (ours, theirs), (q, k, v) = pair(dtype), batch(dtype)
    output, weights = ours(q, k, v, keep)
    expected, expected_weights = theirs(
        q, k, v, key_padding_mask=None if keep is None else ~keep, average_attn_weights=False
    )
    assert weights.shape == (B, H, T, S)
    assert torch.allclose(output, expected, atol=atol)
    assert torch.allclose(weights, expected_weights, atol=atol)


def test_gradients_equal_torch_with_the_same_weights():
    (ours, theirs), (q, k, v) = pair(), batch()
    keep = keep_first([5, 2], S)
    leaves = [part.requires_grad_() for part in (q, k, v)]
    upstream = torch.randn(B, T, M, dtype=torch.float64)
    found = torch.autograd.grad(ours(q, k, v, keep)[0], leaves, upstream)
    expected = torch.autograd.grad(theirs(q, k, v, key_padding_mask=~keep)[0], leaves, upstream)
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, atol=1e-12)


def test_causal_self_attention_equals_torch():
    ours, theirs = pair()
    x = torch.randn(B, S, M, dtype=torch.float64)
    later = torch.ones(S, S, dtype=torch.bool).triu(1)
    expected, expected_weights = theirs(x, x, x, attn_mask=later, average_attn_weights=False)
    output, weights = ours(x, x, x, causal=True)
    assert torch.allclose(output, expected, atol=1e-12)
    assert torch.allclose(weights, expected_weights, atol=1e-12)


@pytest.mark.parametrize("causal", [False, True])
def test_equals_the_fused_kernel(causal):
    ours, (q, k, v) = MultiHeadAttention(M, H).double(), batch()
    mask = causal_keep(T, S) & keep_first([5, 3], S)[:, None] if causal else keep_first([5, 2], S)[:, None]
    parts = [
        layer(part).unflatten(-1, (H, M // H)).transpose(1, 2)
        for layer, part in zip((ours.query, ours.key, ours.value), (q, k, v), strict=True)
    ]
    fused = nn.functional.scaled_dot_product_attention(*parts, attn_mask=mask[:, None])
    keep = keep_first([5, 3] if causal else [5, 2], S)
    assert torch.allclose(ours(q, k, v, keep, causal)[0], ours.output(fused.transpose(1, 2).flatten(2)), atol=1e-12)


def test_causal_is_aligned_at_the_lower_right():
    assert causal_keep(3, 5)[0].int().tolist() == [[1, 1, 1, 0, 0], [1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]


def test_later_words_change_nothing_before_them():
    attention = MultiHeadAttention(M, H).double()
    x = torch.randn(B, S, M, dtype=torch.float64)
    other = x.clone()
    other[:, 3:] = torch.randn(B, 2, M, dtype=torch.float64)
    one, two = attention(x, x, x, causal=True)[0], attention(other, other, other, causal=True)[0]
    assert torch.allclose(one[:, :3], two[:, :3], atol=1e-14)
    assert not torch.allclose(one[:, 3:], two[:, 3:], atol=1e-3)


def test_one_step_at_a_time_with_cached_keys():
    attention = MultiHeadAttention(M, H).double()
    x = torch.randn(B, S, M, dtype=torch.float64)
    whole = attention(x, x, x, causal=True)
    heads = attention.prepare(x[:, :0], x[:, :0])
    for t in range(S):
        heads = heads.append(attention.prepare(x[:, t, None], x[:, t, None]))
        output, weights = attention.read(x[:, t, None], heads)
        assert torch.allclose(output, whole.context[:, t, None], atol=1e-12)
        assert torch.allclose(weights, whole.weights[:, :, t, None, : t + 1], atol=1e-12)


def test_a_single_causal_step_sees_everything_before_it():
    attention, (q, k, v) = MultiHeadAttention(M, H), batch(torch.float32)
    assert torch.equal(attention(q[:, :1], k, v, causal=True)[0], attention(q[:, :1], k, v)[0])


def test_heads_select_sentences():
    attention, (q, k, v) = MultiHeadAttention(M, H), batch(torch.float32)
    rows = torch.tensor([1, 1, 0])
    selected = attention.read(q[rows], attention.prepare(k, v).select(rows)).context
    assert torch.allclose(selected, attention(q, k, v).context[rows], atol=1e-6)


def test_gradcheck_with_padding_and_order():
    attention = MultiHeadAttention(4, 2).double()
    x = torch.randn(3, 5, 4, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: attention(x, x, x, keep_first([5, 2, 4], 5), True)[0], [x])


def test_dropout_is_for_training_only_and_leaves_the_weights_whole():
    attention, (q, k, v) = MultiHeadAttention(M, H, dropout=0.5), batch(torch.float32)
    one, two = attention(q, k, v), attention(q, k, v)
    assert not torch.equal(one.context, two.context)
    assert torch.allclose(one.weights.sum(-1), torch.ones(()))
    attention.eval()
    assert torch.equal(attention(q, k, v).context, attention(q, k, v).context)


def test_an_eye_sees_the_heads_and_may_change_them():
    attention, (q, k, v) = MultiHeadAttention(M, H, kind="cross", layer=2).double(), batch()
    looks = []

    def forget_head_one(look: Look):
        looks.append(look)
        weights = look.weights.clone()
        weights[:, 1] = 0
        return weights

    output, weights = attention(q, k, v, eye=forget_head_one)
    (look,) = looks
    assert (look.kind, look.layer, look.query.shape) == ("cross", 2, (B, H, T, M // H))
    assert torch.allclose(look.scores.softmax(-1), look.weights)
    assert (weights[:, 1] == 0).all()
    without = attention.output.weight[:, [c for c in range(M) if c // (M // H) != 1]]
    context = (look.weights @ look.values).transpose(1, 2).flatten(2)[..., [c for c in range(M) if c // (M // H) != 1]]
    assert torch.allclose(output, context @ without.T + attention.output.bias, atol=1e-12)


def test_a_mask_for_each_step_together_with_order():
    attention, x = MultiHeadAttention(M, H).double(), torch.randn(B, S, M, dtype=torch.float64)
    own = torch.rand(B, S, S) > 0.4
    own[:, :, 0] = True
    both = own & torch.ones(S, S, dtype=torch.bool).tril()
    assert torch.equal(attention(x, x, x, own, causal=True)[0], attention(x, x, x, both)[0])
    assert (attention(x, x, x, own, causal=True).weights.masked_select(~both[:, None].expand(B, H, S, S)) == 0).all()


def test_one_step_at_a_time_in_float32():
    attention, x = MultiHeadAttention(M, H), torch.randn(B, S, M)
    whole = attention(x, x, x, causal=True)
    for t in range(S):
        step = attention(x[:, t, None], x[:, : t + 1], x[:, : t + 1], causal=True)
        assert torch.allclose(step.context, whole.context[:, t, None], atol=1e-6)


@pytest.mark.slow
def test_compiles_whole_with_a_mask():
    """In a process of its own: the shape checks of the test run cannot be compiled."""
    script = """
import torch
from nungil.attention import MultiHeadAttention
attention, x = MultiHeadAttention(12, 4), torch.randn(2, 5, 12)
keep = torch.tensor([[True] * 5, [True, True, False, False, False]])
compiled = torch.compile(attention, fullgraph=True, backend="eager")
assert torch.equal(compiled(x, x, x, keep, True)[0], attention(x, x, x, keep, True)[0])
print("compiled")
"""
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert found.stdout == "compiled\n", found.stderr
