"""Builds a model from its settings."""

from collections.abc import Mapping
from typing import Annotated

import torch
from pydantic import Field
from torch import Tensor, nn

from nungil.model.classifier import AttentionClassifier, ClassifierSettings
from nungil.model.recurrent import RecurrentSettings, RecurrentTranslator
from nungil.model.transformer import TransformerSettings, TransformerTranslator
from nungil.model.vocabulary import Vocabulary

ModelSettings = Annotated[RecurrentSettings | TransformerSettings | ClassifierSettings, Field(discriminator="kind")]
TranslatorModel = RecurrentTranslator | TransformerTranslator
Model = TranslatorModel | AttentionClassifier


def build_translator(settings: RecurrentSettings | TransformerSettings, vocabulary: Vocabulary) -> TranslatorModel:
    """A translator with fresh weights, drawn from torch's own randomness."""
    if isinstance(settings, RecurrentSettings):
        return RecurrentTranslator(settings, vocabulary)
    return TransformerTranslator(settings, vocabulary)


def build_classifier(settings: ClassifierSettings, vocabulary: int, classes: int) -> AttentionClassifier:
    """A classifier with fresh weights."""
    return AttentionClassifier(settings, vocabulary, classes)


def set_weights(model: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put weights into a model that has exactly these names and shapes."""
    own = dict(model.named_parameters())
    with torch.no_grad():
        for name, parameter in own.items():
            parameter.copy_(tensors[name])


def parameter_count(model: nn.Module) -> int:
    """The number of parameters; a tied matrix counts once."""
    return sum(parameter.numel() for parameter in model.parameters())
