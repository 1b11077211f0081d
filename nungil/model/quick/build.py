"""From a translator to the same one for searching."""

import torch

from nungil.model.products import Precision
from nungil.model.quick.recurrent import QuickRecurrent
from nungil.model.quick.transformer import QuickTransformer
from nungil.model.recurrent import RecurrentTranslator
from nungil.model.transformer import TransformerTranslator


@torch.inference_mode()
def quick(model: object, precision: Precision = "fp32", tokens: int = 0) -> QuickTransformer | QuickRecurrent | None:
    """Made of the weights as they are now, for about so many tokens; None where there is no quicker way."""
    kind = torch.bfloat16 if precision == "bf16" else None
    if isinstance(model, TransformerTranslator) and not model.training:
        return QuickTransformer(model, kind)
    if isinstance(model, RecurrentTranslator) and not model.training and QuickRecurrent.suits(model):
        return QuickRecurrent(model, kind, tokens)
    return None
