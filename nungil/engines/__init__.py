"""Engines: other ways to run the same translators. What `nungil.load` gives."""

from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from nungil.engines.ctranslate2 import CTranslate2, positions_of
from nungil.engines.library import possible_compute
from nungil.engines.specification import transformer_of
from nungil.errors import UsageError, did_you_mean
from nungil.pipeline import Classifier, Translator
from nungil.pipeline import load as load_native

__all__ = ["CTranslate2", "Engine", "load"]
Engine = Literal["nungil", "ctranslate2"]


def load(
    folder: str | Path, engine: Engine = "nungil", compute: str | None = None, probabilities: bool = False
) -> Translator | Classifier:
    """The translator or classifier of a model folder.

    With `engine="ctranslate2"` CTranslate2 searches in place of nungil, in float32 or as `compute` says ("int8"), and
    `probabilities` has it tell those of each token, which takes longer; nungil always tells. Attention is nungil's own.
    """
    if engine not in get_args(Engine):
        raise UsageError(f"there is no engine {engine!r}{did_you_mean(engine, get_args(Engine))}")
    if engine == "nungil":
        if compute is not None:
            raise UsageError(f"compute {compute}: only with engine ctranslate2; nungil's own search has float32")
        return load_native(folder)
    name = possible_compute(compute)  # what cannot be is said before the model is read
    model, transformer = transformer_of(folder, load_native(folder))
    return replace(model, engine=CTranslate2(transformer, positions_of(model.config), name, probabilities))
