"""The model folder: config.json, model.safetensors, tokenizers. Nothing in it is executed or trusted.

Whatever does not fit is refused before memory is allocated for it: unknown settings, sizes out of range, tensors that
the settings do not imply, a tokenizer with another hash or size, links that lead out of the folder.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import Field, model_validator
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from nungil.batches.batch import Marks
from nungil.errors import CheckpointError, ConfigError, NungilError, ResourceError, UsageError
from nungil.model.build import Model, ModelSettings, build_classifier, build_translator, set_weights
from nungil.model.classifier import ClassifierSettings
from nungil.model.recurrent import RecurrentSettings
from nungil.model.vocabulary import Vocabulary
from nungil.settings import Settings, build_settings, parse_json
from nungil.text.atomic import whole_bytes
from nungil.text.source import Task
from nungil.text.tokenizers.train import Tokenizers, TokenizerSettings, load_tokenizers, save_tokenizers

CONFIG, WEIGHTS = "config.json", "model.safetensors"
MORE = 20  # tokens that any translation may have beyond `stretch` × the length of its source
LARGEST_CONFIG = 50_000_000  # bytes; a million labels fit
LARGEST_TOKENIZER = 200_000_000  # bytes; a million long words fit
TOKENIZER_FILES = tuple(f"{side}.{ending}" for side in ("tokenizer", "source", "target") for ending in ("spm", "json"))


class ModelConfig(Settings):
    """config.json: everything needed to rebuild the model."""

    format: Literal[1] = 1
    task: Task
    source: str = Field("", max_length=35, description="Language of the source, or of the texts to classify.")
    target: str = Field("", max_length=35, description="Language of the target.")
    marks: Marks = Field("both", description="What stands around a source: <sos> and <eos>, <eos>, or nothing.")
    longest: int = Field(ge=1, le=1_000_000, description="Source tokens, marks left out; a longer text is cut.")
    stretch: float = Field(
        2.0,
        gt=0,
        le=1_000,
        description=f"Target tokens for each source token, at most, and {MORE} more; a longer translation is cut off.",
    )
    vocabulary: Vocabulary
    labels: tuple[str, ...] = Field((), description="The classes, by number.")
    tokenizer: TokenizerSettings
    files: dict[str, str] = Field(description="SHA-256 of each tokenizer file.")
    model: ModelSettings

    @model_validator(mode="after")
    def _task_fits(self) -> "ModelConfig":
        classifies = isinstance(self.model, ClassifierSettings)
        if classifies != (self.task == "classify"):
            raise ValueError(f"task {self.task} does not go with a model of kind {self.model.kind}")
        if classifies and len(set(self.labels)) < max(2, len(self.labels)):
            raise ValueError("a classifier needs two labels or more, all different")
        return self

    @property
    def attends(self) -> bool:
        """Whether there is attention to look at."""
        if isinstance(self.model, ClassifierSettings):
            return self.model.pooling == "attention" or self.model.encoder == "transformer"
        return not isinstance(self.model, RecurrentSettings) or self.model.decoder != "plain"


@dataclass(frozen=True)
class Loaded:
    """A model with all that belongs to it."""

    config: ModelConfig
    model: Model
    tokenizers: Tokenizers


def build_model(config: ModelConfig) -> Model:
    """A model with fresh weights, as the config says."""
    if isinstance(config.model, ClassifierSettings):
        return build_classifier(config.model, config.vocabulary.source, len(config.labels))
    return build_translator(config.model, config.vocabulary)


def outline_of(config: ModelConfig) -> Model:
    """The model that the config implies, without allocating any of its weights."""
    with torch.device("meta"), _Unfilled():
        return build_model(config)


def shapes_of(config: ModelConfig) -> dict[str, tuple[int, ...]]:
    """The shape of every weight that the config implies."""
    return {name: tuple(part.shape) for name, part in outline_of(config).named_parameters()}


def write_tokenizers(folder: Path, tokenizers: Tokenizers) -> dict[str, str]:
    """Write the tokenizer files; their names and SHA-256."""
    try:
        names = save_tokenizers(tokenizers, folder)
    except OSError as error:
        raise ResourceError(f"{folder}: the tokenizer could not be written: {error.strerror or error}") from None
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}


def write_config(folder: Path, config: ModelConfig) -> None:
    """Write config.json, whole or not at all."""
    text = json.dumps(config.model_dump(mode="json"), ensure_ascii=False, indent=1)
    whole_bytes(folder / CONFIG, (text + "\n").encode())


def write_weights(folder: Path, weights: Mapping[str, Tensor]) -> None:
    """Write model.safetensors, whole or not at all: a reader finds the old one or the new one."""
    whole_bytes(folder / WEIGHTS, save(dict(weights)))


def load_model(folder: Path) -> Loaded:
    """Read a model folder; whatever does not fit is a CheckpointError."""
    config = read_config(folder)
    tokenizers = read_tokenizers(folder, config)
    weights = _checked_weights(folder / WEIGHTS, config)
    model = build_model(config)
    set_weights(model, weights)
    model.eval()
    return Loaded(config, model, tokenizers)


def read_config(folder: Path) -> ModelConfig:
    """The config of a model folder."""
    if not folder.exists():
        raise UsageError(f"{folder}: there is no such folder; a model folder is what `nungil train` leaves")
    path = folder / CONFIG
    if not folder.is_dir() or not path.is_file():
        raise CheckpointError(f"{folder}: not a model folder: there is no {CONFIG} in it")
    _refuse_links(folder, path)
    if path.stat().st_size > LARGEST_CONFIG:
        raise CheckpointError(f"{path}: too large to be a config")
    try:
        plain = parse_json(path.read_text(encoding="utf-8"), str(path))
        _refuse_foreign(folder, plain)
        return build_settings(_as_it_was(plain), ModelConfig, str(path))
    except ConfigError as error:
        raise CheckpointError(f"refused: {error}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise CheckpointError(f"{path}: cannot be read: {error}") from None


def _refuse_foreign(folder: Path, plain: Any) -> None:
    """Name the tool that wrote a config.json which is not ours, instead of listing every setting as unknown."""
    if not isinstance(plain, dict) or "task" in plain or "model" in plain:
        return
    what = f"{CONFIG} has neither task nor model"
    if "decoder_start_token" in plain or "add_source_bos" in plain:
        what = "a model for CTranslate2, as `nungil export` writes; nungil runs the folder that it was exported from"
    elif "model_type" in plain or "architectures" in plain:
        what = "a model for Hugging Face's transformers; nungil runs what `nungil train` leaves"
    raise CheckpointError(f"{folder}: not a nungil model folder: {what}")


def _as_it_was(plain: Any) -> Any:
    """Configs from before `scale_embedding`: their recurrent models and classifiers read embeddings unscaled."""
    if not isinstance(plain, dict) or not isinstance(plain.get("model"), dict):
        return plain
    if plain["model"].get("kind") not in ("recurrent", "classifier"):
        return plain
    return {**plain, "model": {"scale_embedding": False, **plain["model"]}}


def read_tokenizers(folder: Path, config: ModelConfig) -> Tokenizers:
    """The tokenizers of a model folder, which must be exactly those that the config names."""
    _refuse_other_files(folder, config)
    for name, digest in config.files.items():
        path = folder / name
        _refuse_links(folder, path)
        if path.stat().st_size > LARGEST_TOKENIZER:
            raise CheckpointError(f"{path}: too large to be a tokenizer")
        if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise CheckpointError(f"{path}: not the tokenizer that the model was trained with (its SHA-256 differs)")
    try:
        tokenizers = load_tokenizers(folder, config.tokenizer)
    except NungilError as error:
        raise CheckpointError(f"{folder}: {error}") from None
    sizes = tokenizers.source.size, tokenizers.target.size
    if sizes != (config.vocabulary.source, config.vocabulary.target):
        raise CheckpointError(
            f"{folder}: the tokenizers have {sizes[0]:,} and {sizes[1]:,} tokens, "
            f"the model {config.vocabulary.source:,} and {config.vocabulary.target:,}"
        )
    return tokenizers


def _refuse_other_files(folder: Path, config: ModelConfig) -> None:
    """Refuse a folder whose tokenizer files are not exactly those that the config names."""
    for name in config.files:
        if name not in TOKENIZER_FILES:
            raise CheckpointError(f"{folder / CONFIG}: {name!r} is not the name of a tokenizer of ours")
        if not (folder / name).is_file():
            raise CheckpointError(f"{folder}: the tokenizer {name} is missing")
    for name in TOKENIZER_FILES:
        if (folder / name).exists() and name not in config.files:
            raise CheckpointError(f"{folder / name}: a tokenizer that {CONFIG} does not know")


def _guess(path: Path) -> str:
    """What a file that is not safetensors probably is."""
    with path.open("rb") as file:
        begins = file.read(2)
    if begins in (b"PK", b"\x80\x02", b"\x80\x04", b"\x80\x05"):
        return "it holds pickled objects, as torch.save writes them; such files are never opened"
    return "it may have been cut off when it was copied; copy it again"


def _checked_weights(path: Path, config: ModelConfig) -> dict[str, Tensor]:
    """Exactly the tensors that the config implies, checked against the file's header before any is read."""
    if not path.is_file():
        raise CheckpointError(f"{path}: there are no weights yet; training writes them at its first validation")
    _refuse_links(path.parent, path)
    try:
        wanted = shapes_of(config)
        with safe_open(path, framework="pt") as file:
            found = {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
            kinds = {file.get_slice(name).get_dtype() for name in found}
            _refuse_others(path, found, wanted, kinds)
            weights = {name: file.get_tensor(name) for name in found}
    except NungilError as error:
        raise error if isinstance(error, CheckpointError) else CheckpointError(f"{path.parent}: {error}") from None
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read: {error.strerror or error}") from None
    except SafetensorError as error:
        raise CheckpointError(f"{path}: not a whole safetensors file: {_guess(path)} ({error})") from None
    for name, tensor in weights.items():
        if not bool(torch.isfinite(tensor).all()):
            raise CheckpointError(f"{path}: {name} holds numbers that are not finite")
    return weights


class _Unfilled(TorchFunctionMode):
    """Skips initialisation. On the meta device torch would import modules for seconds, only to draw nothing."""

    def __torch_function__(
        self, function: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        fills = getattr(function, "__module__", None) == nn.init.__name__
        if fills or function in (torch.Tensor.uniform_, torch.Tensor.normal_):
            return args[0] if args else named["tensor"]
        return function(*args, **named)


def _refuse_others(
    path: Path, found: dict[str, tuple[int, ...]], wanted: dict[str, tuple[int, ...]], kinds: set[str]
) -> None:
    if kinds - {"F32"}:
        raise CheckpointError(f"{path}: holds numbers of type {', '.join(sorted(kinds - {'F32'}))}; F32 is expected")
    for name in sorted(found.keys() | wanted.keys()):
        if found.get(name) != wanted.get(name):
            raise CheckpointError(
                f"{path}: does not hold the model that config.json describes: {name} is {found.get(name, 'missing')} "
                f"where {wanted.get(name, 'nothing')} is expected"
            )


def _refuse_links(folder: Path, path: Path) -> None:
    if not path.resolve().is_relative_to(folder.resolve()):
        raise CheckpointError(f"{path}: leads out of the folder")
