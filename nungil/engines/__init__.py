"""Engines: other ways to run the same translators. What `nungil.load` gives."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, get_args

from nungil.decoding.native import Native
from nungil.engines.ctranslate2 import CTranslate2, positions_of
from nungil.engines.library import possible_compute
from nungil.engines.specification import transformer_of
from nungil.errors import UsageError, did_you_mean
from nungil.model.folder import ModelConfig, read_config
from nungil.pipeline import MODEL_FOLDER, Classifier, Translator
from nungil.pipeline import load as load_native
from nungil.text.files import path_of

__all__ = ["CTranslate2", "Engine", "load"]
Engine = Literal["nungil", "ctranslate2"]


def load(
    folder: str | Path,
    engine: Engine = "nungil",
    compute: str | None = None,
    probabilities: bool = False,
    others: str | Path | Sequence[str | Path] = (),
) -> Translator | Classifier:
    """The translator or classifier of a model folder.

    With `engine="ctranslate2"`, CTranslate2 searches instead of nungil, in float32 or as `compute` says ("int8").
    `probabilities` makes it compute those of each token, which takes longer; nungil always does. Attention always comes
    from nungil. `others` are one or more folders of models with the same tokenizers; translations are then those of the
    ensemble, but attention, and what is said of given translations, is that of the first model.
    """
    more = _folders(others)
    if engine not in get_args(Engine):
        raise UsageError(f"there is no engine {engine!r}{did_you_mean(engine, get_args(Engine))}")
    if engine == "nungil":
        if compute is not None:
            raise UsageError(f"compute {compute}: only with engine ctranslate2; nungil's own search has float32")
        return _together(folder, more) if more else load_native(folder)
    if more:
        raise UsageError(f"{more[0]}: CTranslate2 has one model at a time; several translate with nungil's own search")
    name = possible_compute(compute)  # refuses bad types before the model is read
    model, transformer = transformer_of(folder, load_native(folder))
    return replace(model, engine=CTranslate2(transformer, positions_of(model.config), name, probabilities))


def _folders(others: str | Path | Sequence[str | Path]) -> list[Path]:
    """The folders as a list; a single one may be given as it is."""
    if isinstance(others, bytes) or not isinstance(others, str | Path | Iterable):
        raise UsageError(f"others: a folder or several are expected, not {type(others).__name__}")
    return [path_of(one, MODEL_FOLDER) for one in ([others] if isinstance(others, str | Path) else others)]


def _together(folder: str | Path, others: Sequence[Path]) -> Translator:
    """The translator of a folder, which searches with several models as an ensemble."""
    first = read_config(path_of(folder, MODEL_FOLDER))
    places = [Path(folder).resolve()]
    for place in others:  # before any weights are read
        _refuse_unlike(place, read_config(place), folder, first)
        places.append(place.resolve())
    if len(set(places)) < len(places):
        raise UsageError(f"{folder}: the same model is named twice")
    model, *members = map(_translator, (folder, *others))
    return replace(model, engine=Native(model.model, *(one.model for one in members)))


def _refuse_unlike(place: str | Path, config: ModelConfig, folder: str | Path, first: ModelConfig) -> None:
    """Refuse models that cannot form an ensemble: with other tasks, languages or tokenizers."""
    if "classify" in (first.task, config.task):
        which = folder if first.task == "classify" else place
        raise UsageError(f"{which} holds a classifier; only translators form an ensemble")
    ways = [(one.source, one.target) for one in (config, first)]
    if any(this and that and this != that for this, that in zip(*ways, strict=True)):
        (source, target), (from_, to) = ways
        raise UsageError(f"{place} translates from {source} to {target}, but {folder} from {from_} to {to}")
    if (config.files, config.marks) != (first.files, first.marks):
        raise UsageError(
            f"{place} has other tokenizers than {folder}; models of an ensemble need the same ones: "
            "train them on the same files with another --seed, and name the validation and test sets, which are set "
            "aside at random otherwise"
        )


def _translator(folder: str | Path) -> Translator:
    found = load_native(folder)
    assert isinstance(found, Translator)  # by its config
    return found
