"""Run: what is left of a run when it is done."""

from dataclasses import dataclass
from pathlib import Path

from nungil.model.folder import ModelConfig
from nungil.pipeline import Classifier, Translator, load
from nungil.runs.work import Validation


@dataclass(frozen=True)
class Run:
    """A finished run: its folder, and how good the model in it is."""

    folder: Path
    config: ModelConfig
    validation: Validation
    test: Validation | None
    updates: int
    seconds: float

    def load(self) -> Translator | Classifier:
        """The model that was trained."""
        return load(self.folder)
