"""Every classic kind of attention: scores, windows, coverage, multi-head; and eyes, which watch it.

Shapes are (batch, steps, width); `keep` is True where there is a real token.
"""

from nungil.attention.attend import Attended, attend, causal_keep, weigh
from nungil.attention.coverage import Coverage, coverage_loss
from nungil.attention.eye import Eye, Look
from nungil.attention.layer import Attention
from nungil.attention.multihead import Heads, MultiHeadAttention
from nungil.attention.scores import Additive, Concat, Dot, General, Location, Memory, ScaledDot, Score, Weighed
from nungil.attention.windows import LocalM, LocalP, Window

__all__ = [
    "Additive",
    "Attended",
    "Attention",
    "Concat",
    "Coverage",
    "Dot",
    "Eye",
    "General",
    "Heads",
    "LocalM",
    "LocalP",
    "Location",
    "Look",
    "Memory",
    "MultiHeadAttention",
    "ScaledDot",
    "Score",
    "Weighed",
    "Window",
    "attend",
    "causal_keep",
    "coverage_loss",
    "weigh",
]
