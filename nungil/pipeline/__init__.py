"""Translator and Classifier: text in, records out. What `nungil.load` gives."""

from pathlib import Path

from nungil.model.classifier import AttentionClassifier
from nungil.model.folder import Loaded, load_model
from nungil.pipeline.classifier import Classifier
from nungil.pipeline.translator import Translator
from nungil.text.files import path_of

__all__ = ["MODEL_FOLDER", "Classifier", "Translator", "load", "opened"]
MODEL_FOLDER = "a model folder"


def load(folder: str | Path) -> Translator | Classifier:
    """The translator or classifier of a model folder."""
    return opened(load_model(path_of(folder, MODEL_FOLDER)))


def opened(loaded: Loaded) -> Translator | Classifier:
    """The same for a model already in memory."""
    if isinstance(loaded.model, AttentionClassifier):
        return Classifier(loaded.config, loaded.model, loaded.tokenizers.source)
    return Translator(loaded.config, loaded.model, loaded.tokenizers)
