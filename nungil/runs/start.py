"""Start: a run that starts from the weights and tokenizers of another model, to adapt it to other data."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from safetensors.torch import save

from nungil.errors import ConfigError, CorpusError
from nungil.model.folder import Loaded, ModelConfig, load_model
from nungil.runs.data import open_data
from nungil.runs.kept import count_seen
from nungil.runs.prepare import Prepared, Taken
from nungil.runs.recipe import Recipe
from nungil.text.atomic import whole_bytes
from nungil.text.opened import Opened
from nungil.training.checkpoint import weights_of

START = "start.safetensors"  # kept with the data: the run can resume at update 0 even without the other model
FREE = {
    "dropout",
    "attention_dropout",
    "inner_dropout",
    "coverage_loss",
}  # what may differ: it is about training, not about what the weights mean


@dataclass(frozen=True)
class Start:
    """The model that a run starts from."""

    folder: Path
    loaded: Loaded

    @property
    def config(self) -> ModelConfig:
        """Its config."""
        return self.loaded.config

    @property
    def taken(self) -> Taken:
        """What is taken over instead of learned from the data."""
        return Taken(self.loaded.tokenizers, self.config.labels)

    def taken_over(self, recipe: Recipe) -> Recipe:
        """The recipe with tokenizer, model and languages of this model; contradicting settings are refused."""
        task = open_data(recipe.data).task
        if task != self.config.task:
            raise CorpusError(f"{self.folder} is a model to {self.config.task}, but the data is to {task}")
        mistakes = self._mistakes(recipe)
        if mistakes:
            raise ConfigError("recipe", mistakes)
        said = recipe.model.model_dump(include=recipe.model.model_fields_set & FREE) if recipe.model else {}
        data = {
            "longest": recipe.data.longest or self.config.longest,
            "source": recipe.data.source or self.config.source or None,
            "target": recipe.data.target or self.config.target or None,
        }
        return recipe.model_copy(
            update={
                "data": recipe.data.model_copy(update=data),
                "tokenizer": self.config.tokenizer,
                "marks": self.config.marks,
                "model": self.config.model.model_copy(update=said),
            }
        )

    def refuse_other_languages(self, opened: Opened) -> None:
        """Refuse data in other languages."""
        ours, theirs = (self.config.source, self.config.target), tuple(opened.languages)
        if any(one and other and one != other for one, other in zip(ours, theirs, strict=True)):
            raise CorpusError(
                f"{self.folder} translates from {' to '.join(ours)}, but the data is from {' to '.join(theirs)}"
            )

    def write_weights(self, folder: Path) -> None:
        """Keep the weights with the data of the run."""
        whole_bytes(folder / START, save(weights_of(self.loaded.model)))

    def known(self, prepared: Prepared) -> Iterator[str]:
        """A sentence for each held-out set that overlaps with the training set of this model."""
        tokenizer = prepared.tokenizers.source
        for name, records in (("validation", prepared.valid_records), ("test", prepared.test_records)):
            count = count_seen(self.folder, tokenizer, [record[0] for record in records], self.config.longest)
            if count:
                yield (
                    f"{count:,} of the {len(records):,} of the {name} set are in the training set of {self.folder}, "
                    "which it starts from: scores on them are too good."
                )

    def _mistakes(self, recipe: Recipe) -> list[str]:
        config, found = self.config, []
        if recipe.tokenizer.model_fields_set and recipe.tokenizer != config.tokenizer:
            found.append(f"tokenizer: it starts from {self.folder} and goes on with its tokenizer; leave it out")
        if recipe.marks not in (None, config.marks):
            found.append(f"marks: it starts from {self.folder}, where they are {config.marks}; leave them out")
        if recipe.training.recut is not None and config.tokenizer.unit != "unigram":
            found.append(
                f"[training] recut: needs unigram pieces, but it starts from {self.folder}, whose tokenizer is of unit "
                f"{config.tokenizer.unit}; leave it out"
            )
        given = recipe.model
        for name in sorted(given.model_fields_set - FREE) if given is not None else ():
            if getattr(given, name) != (has := getattr(config.model, name, None)):
                found.append(f"[model] {name}: it starts from {self.folder}, where it is {has}; leave it out")
        return found


def open_start(recipe: Recipe) -> Start | None:
    """The model that the recipe starts from, if it names one."""
    if recipe.start_from is None:
        return None
    folder = Path(recipe.start_from)
    return Start(folder, load_model(folder))
