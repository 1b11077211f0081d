"""From a translator to the same one for searching."""

import torch

from nungil.model.products import Precision
from nungil.model.quick.transformer import QuickTransformer
from nungil.model.transformer import TransformerTranslator

Quick = QuickTransformer


@torch.inference_mode()
def quick(model: object, precision: Precision = "fp32") -> Quick | None:
    """Made of the weights as they are now; None where there is no quicker way, or dropout is on."""
    kind = torch.bfloat16 if precision == "bf16" else None
    if isinstance(model, TransformerTranslator) and not model.training:
        return QuickTransformer(model, kind)
    return None
