"""Model folders as training leaves them, with weights that were never trained: made in a blink."""

import json
from pathlib import Path
from typing import Any
from zlib import crc32

import torch
from torch.nn import Module

from nungil.decoding.native import Native
from nungil.decoding.settings import SearchSettings
from nungil.model.folder import ModelConfig, build_model, write_config, write_tokenizers, write_weights
from nungil.text.tokenizers import TokenizerSettings
from nungil.text.tokenizers.base import EOS, SOS
from nungil.text.tokenizers.train import Tokenizers
from nungil.text.tokenizers.vocabulary import count_words
from nungil.training.checkpoint import weights_of

ENGLISH = ("I like snow", "The child ate a pear", "We saw a ship yesterday", "snow fell")
KOREAN = ("나는 눈을 좋아한다", "아이가 배를 먹었다", "우리는 어제 배를 봤다", "눈이 내렸다")
LUONG = {"kind": "recurrent", "embedding": 7, "width": 10, "dropout": 0.3}
TRANSFORMER = {"kind": "transformer", "width": 12, "heads": 3, "feed_forward": 14, "encoder_layers": 1}
CLASSIFIER = {"kind": "classifier", "embedding": 7, "width": 10, "dense": 11}
LABELS = ("eye", "snow", "ship")


def translator_folder(folder: Path, model: dict[str, Any] = LUONG, joint: bool = False, **chosen: Any) -> Path:
    """A translator of words."""
    if joint:
        both = count_words(ENGLISH + KOREAN, 300)
        return _write(folder, Tokenizers(both, both), model, task="translate", source="en", target="ko", **chosen)
    tokenizers = Tokenizers(count_words(ENGLISH, 300), count_words(KOREAN, 300))
    return _write(folder, tokenizers, model, task="translate", source="en", target="ko", **chosen)


def classifier_folder(folder: Path, model: dict[str, Any] = CLASSIFIER, **chosen: Any) -> Path:
    """A classifier of words."""
    words = count_words(ENGLISH, 300)
    chosen = {"marks": "none", "labels": LABELS, "source": "en", **chosen}
    return _write(folder, Tokenizers(words, words), model, task="classify", **chosen)


def _write(folder: Path, tokenizers: Tokenizers, model: dict[str, Any], **chosen: Any) -> Path:
    folder.mkdir(parents=True)
    joint = tokenizers.joint and chosen["task"] == "translate"
    config = ModelConfig.model_validate(
        {
            "longest": 9,
            "vocabulary": {"source": tokenizers.source.size, "target": tokenizers.target.size, "joint": joint},
            "tokenizer": TokenizerSettings(unit="word"),
            "files": write_tokenizers(folder, tokenizers),
            "model": model,
            **chosen,
        }
    )
    write_config(folder, config)
    sources = [[SOS, *tokenizers.source.encode(text), EOS] for text in ENGLISH]
    write_weights(folder, weights_of(_drawn(config, folder.name, sources)))
    return folder


def _drawn(config: ModelConfig, name: str, sources: list[list[int]]) -> Module:
    """Another name is another model; the same name is the same, in every run. A translator has something to say."""
    model = build_model(config).eval()
    for number in range(11, 99):
        drawn = torch.Generator().manual_seed(number + crc32(name.encode()))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(std=0.5, generator=drawn)
        if config.task == "classify" or _says_something(model, sources):
            return model
    raise AssertionError(f"{name} always ends at once")


def _says_something(model: Any, sources: list[list[int]]) -> bool:
    found = Native(model).search(sources, [3] * len(sources), SearchSettings(beam=1))
    return all(len(best.ids) > 1 for (best,) in found)


def change_config(folder: Path, **changes: Any) -> None:
    """Write other values into config.json; `a__b` is b in section a."""
    path = folder / "config.json"
    plain = json.loads(path.read_text())
    for name, value in changes.items():
        *sections, last = name.split("__")
        place = plain
        for section in sections:
            place = place[section]
        place[last] = value
    path.write_text(json.dumps(plain, ensure_ascii=False))
