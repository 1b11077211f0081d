"""nungil: train attention models, run them, and see exactly where they look.

`import nungil` is light: torch is imported when one of these names is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nungil.engines import load
    from nungil.inspection.record import AttentionRecord
    from nungil.pipeline import Classifier, Translator
    from nungil.runs.train import resume, train

__version__ = "0.1.0"
__all__ = ["AttentionRecord", "Classifier", "Translator", "__version__", "load", "resume", "train"]

_HOMES = {
    "AttentionRecord": "nungil.inspection.record",
    "Classifier": "nungil.pipeline",
    "Translator": "nungil.pipeline",
    "load": "nungil.engines",
    "resume": "nungil.runs.train",
    "train": "nungil.runs.train",
}
_PACKAGES = {"attention", "errors", "scoring"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES.keys() | _PACKAGES:
        raise AttributeError(f"module 'nungil' has no attribute {name!r}")
    from importlib import import_module

    if name in _PACKAGES:
        return import_module(f"nungil.{name}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_PACKAGES})
