"""Recipe: the settings of a run, from YAML or the options of a command. All but the data are optional."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, field_validator, model_validator

from nungil.batches.batch import Marks
from nungil.errors import NungilError, UsageError, did_you_mean
from nungil.model.build import ModelSettings
from nungil.model.folder import read_config
from nungil.runs.data import DataSettings, open_data
from nungil.settings import Settings, build_settings, read_plain
from nungil.text.cleaning import CleaningSettings
from nungil.text.tokenizers.train import TokenizerSettings
from nungil.training.settings import TrainingSettings

# What `--model NAME` and `model: NAME` stand for. Sizes that are not given depend on the corpus.
MODELS: dict[str, dict[str, Any]] = {
    "transformer": {"kind": "transformer"},
    "luong": {"kind": "recurrent", "decoder": "luong"},
    "bahdanau": {"kind": "recurrent", "decoder": "bahdanau", "score": {"name": "additive"}},
    "plain": {"kind": "recurrent", "decoder": "plain"},
    "lstm": {"kind": "classifier", "encoder": "lstm"},
    "gru": {"kind": "classifier", "encoder": "gru"},
    "bag": {"kind": "classifier", "encoder": "none"},
}


class Recipe(Settings):
    """One run. Settings left out are chosen from the data, printed, and stored with the model."""

    data: DataSettings
    cleaning: CleaningSettings = Field(default_factory=CleaningSettings, description="What is cleaned from the data.")
    tokenizer: TokenizerSettings = Field(default_factory=TokenizerSettings, description="How text is tokenized.")
    marks: Marks | None = Field(
        None, description="Around a source: both (<sos> and <eos>), eos or none; by default both, for classifiers none."
    )
    model: ModelSettings | None = Field(
        None,
        description="A name (transformer, luong, bahdanau, plain; for classifiers lstm, gru, transformer, bag) or "
        "`kind` and sizes; sizes that are not given depend on the corpus.",
    )
    start_from: str | None = Field(
        None, description="A model folder: training starts from its weights and tokenizers, and keeps its sizes."
    )
    training: TrainingSettings = Field(default_factory=TrainingSettings, description="How it is trained.")
    seed: int = Field(1, ge=0, lt=2**63, description="Of the split, the weights, the order and the dropout.")

    @field_validator("model", mode="before")
    @classmethod
    def _by_name(cls, given: object) -> object:
        return named_model(given) if isinstance(given, str) else given

    @model_validator(mode="after")
    def _only_unigram_is_recut(self) -> "Recipe":
        if self.training.recut is not None and self.tokenizer.unit != "unigram":
            raise ValueError(f"[training] recut: needs [tokenizer] unit: unigram, not {self.tokenizer.unit}")
        return self


def named_model(name: str) -> dict[str, Any]:
    """The settings that a name stands for."""
    if name not in MODELS:
        raise ValueError(f"there is no model {name!r}{did_you_mean(name, MODELS)}")
    return MODELS[name]


def read_recipe(path: Path | None, options: Mapping[str, Any], changes: Iterable[str] = ()) -> Recipe:
    """A recipe from a file, overridden by options of the command and `section.key=value` changes."""
    where = str(path) if path is not None else "command line"
    loaded: Any = None if path is None else read_plain(path)
    loaded = {} if loaded is None else loaded
    if isinstance(loaded, dict):
        loaded = _laid_over(loaded, options)
        for change in changes:
            loaded = _laid_over(loaded, _change(change))
        if isinstance(loaded.get("model"), dict) and "kind" not in loaded["model"]:
            loaded["model"] = {**loaded["model"], "kind": _kind_for(loaded, where)}
    return build_settings(loaded, Recipe, where)


def _kind_for(loaded: Mapping[str, Any], where: str) -> str:
    """The kind of model if only sizes are given: that of the model to start from, or the default for the task."""
    try:
        start = loaded.get("start_from")
        if isinstance(start, str | Path):
            return read_config(Path(start)).model.kind
        task = open_data(build_settings(loaded.get("data"), DataSettings, where)).task
    except NungilError:  # reported later, with all other mistakes
        return "transformer"
    return "classifier" if task == "classify" else "transformer"


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """Merge sections, replace everything else. `model: transformer` and a size become one section.

    A value in place of a section is kept, so that validation reports it.
    """
    found = dict(below)
    for key, value in above.items():
        under = found.get(key)
        if isinstance(value, Mapping) and isinstance(under, str) and key == "model":
            under = MODELS.get(under, {"kind": under})
        if not isinstance(value, Mapping) or under is None:
            found[key] = value
        elif isinstance(under, Mapping):
            found[key] = _laid_over(under, value)
    return found


def _change(text: str) -> dict[str, Any]:
    """`training.steps=500` as sections."""
    name, equals, written = text.partition("=")
    parts = name.strip().split(".")
    if not equals or not all(parts):
        raise UsageError(f"--set {text}: write it as section.key=value, such as --set training.steps=500")
    try:
        value: Any = yaml.safe_load(written)
    except (yaml.YAMLError, ValueError, RecursionError):  # ValueError: an impossible date, for example
        raise UsageError(f"--set {text}: {written!r} cannot be read as a value") from None
    for part in reversed(parts):
        value = {part: value}
    return dict(value)
