"""Engines: other ways to run the same translators. What `nungil.load` gives."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from nungil.decoding.ensemble import Ensemble
from nungil.engines.ctranslate2 import CTranslate2, positions_of
from nungil.engines.library import possible_compute
from nungil.engines.specification import transformer_of
from nungil.errors import UsageError, did_you_mean
from nungil.pipeline import Classifier, Translator
from nungil.pipeline import load as load_native

__all__ = ["CTranslate2", "Engine", "load"]
Engine = Literal["nungil", "ctranslate2"]


def load(
    folder: str | Path,
    engine: Engine = "nungil",
    compute: str | None = None,
    probabilities: bool = False,
    others: Sequence[str | Path] = (),
) -> Translator | Classifier:
    """The translator or classifier of a model folder.

    With `engine="ctranslate2"` CTranslate2 searches in place of nungil, in float32 or as `compute` says ("int8"), and
    `probabilities` has it tell those of each token, which takes longer; nungil always tells. Attention is nungil's own.
    With `others`, models of the same tokenizers, translations are those of all of them together; attention is that of
    the first.
    """
    if engine not in get_args(Engine):
        raise UsageError(f"there is no engine {engine!r}{did_you_mean(engine, get_args(Engine))}")
    if engine == "nungil":
        if compute is not None:
            raise UsageError(f"compute {compute}: only with engine ctranslate2; nungil's own search has float32")
        return _together(folder, others) if others else load_native(folder)
    if others:
        raise UsageError(
            f"{others[0]}: CTranslate2 has one model at a time; several translate with nungil's own search"
        )
    name = possible_compute(compute)  # what cannot be is said before the model is read
    model, transformer = transformer_of(folder, load_native(folder))
    return replace(model, engine=CTranslate2(transformer, positions_of(model.config), name, probabilities))


def _together(folder: str | Path, others: Sequence[str | Path]) -> Translator:
    """The translator of a folder, whose searches are those of several."""
    first = _translator(folder)
    members = [first.model]
    for place in others:
        other = _translator(place)
        if (other.config.files, other.config.marks) != (first.config.files, first.config.marks):
            raise UsageError(
                f"{place} cuts text otherwise than {folder}; models that translate together need the same tokenizers: "
                "train them on the same files with another --seed, and name the validation and test sets, which are "
                "set aside by chance otherwise"
            )
        members.append(other.model)
    return replace(first, engine=Ensemble(members))


def _translator(folder: str | Path) -> Translator:
    found = load_native(folder)
    if isinstance(found, Translator):
        return found
    raise UsageError(f"{folder} holds a classifier; only translators work together")
