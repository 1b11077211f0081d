"""Arm: one of the models that a study compares."""

from dataclasses import dataclass

from nungil.model.classifier import ClassifierSettings
from nungil.model.recurrent import RecurrentSettings
from nungil.model.transformer import TransformerSettings

# A study's models are small, and learn in a few hundred updates at high rates. Embeddings that are read times √width
# would move too far at each of them; `nungil train` has lower rates, and there they pay (docs/results.md).
AS_THEY_ARE = {"scale_embedding": False}


@dataclass(frozen=True)
class Arm:
    """A name and the settings of a model; None where nothing is trained by nungil."""

    name: str
    model: RecurrentSettings | TransformerSettings | ClassifierSettings | None
    frozen: bool = False  # its embeddings stay as they were drawn


def recurrent(name: str, *, frozen: bool = False, **chosen: object) -> Arm:
    """A small recurrent translator."""
    small: dict[str, object] = {**AS_THEY_ARE, "cell": "gru", "embedding": 64, "width": 96, "dropout": 0.1}
    return Arm(name, RecurrentSettings.model_validate({**small, **chosen}), frozen)


def transformer(name: str, **chosen: object) -> Arm:
    """A small Transformer."""
    small: dict[str, object] = {"width": 64, "heads": 4, "feed_forward": 128, "encoder_layers": 1, "decoder_layers": 1}
    return Arm(name, TransformerSettings.model_validate({"dropout": 0.1, **small, **chosen}))


def classifier(name: str, **chosen: object) -> Arm:
    """A small classifier."""
    small: dict[str, object] = {**AS_THEY_ARE, "embedding": 64, "width": 64, "dense": 32, "dropout": 0.2}
    return Arm(name, ClassifierSettings.model_validate({**small, **chosen}))
