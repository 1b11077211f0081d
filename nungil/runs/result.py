"""Run: the result of a finished run."""

import json
from dataclasses import dataclass
from pathlib import Path

from nungil.errors import CheckpointError
from nungil.model.folder import ModelConfig, read_config
from nungil.pipeline import Classifier, Translator, load
from nungil.runs.work import Validation
from nungil.settings import parse_json, read_text
from nungil.text.atomic import whole_file

RESULT = "result.json"


@dataclass(frozen=True)
class Run:
    """A finished run: its folder, and how good the model in it is."""

    folder: Path
    config: ModelConfig
    validation: Validation
    test: Validation | None
    updates: int
    seconds: float

    @classmethod
    def read(cls, folder: Path) -> "Run":
        """Read the finished run of a folder."""
        plain = parse_json(read_text(folder / RESULT), str(folder / RESULT))
        try:
            test = None if plain["test"] is None else Validation(**plain["test"])
            validation = Validation(**plain["validation"])
            return cls(folder, read_config(folder), validation, test, plain["updates"], plain["seconds"])
        except (KeyError, TypeError) as error:
            raise CheckpointError(f"{folder / RESULT}: not what a run leaves: {error}") from None

    def load(self) -> Translator | Classifier:
        """The model that was trained."""
        return load(self.folder)


def write_result(run: Run) -> None:
    """Write the numbers of a run as JSON."""
    plain = {
        "updates": run.updates,
        "seconds": run.seconds,
        "validation": run.validation._asdict(),
        "test": None if run.test is None else run.test._asdict(),
    }
    with whole_file(run.folder / RESULT) as file:
        file.write(json.dumps(plain, ensure_ascii=False, indent=1) + "\n")
