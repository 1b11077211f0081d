"""Shelf: the models that are served, by name, and what is told of each."""

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from nungil.errors import UsageError, did_you_mean
from nungil.inspection.lenses import LENSES, missing_lenses
from nungil.inspection.record import AttentionRecord
from nungil.pipeline import Classifier, Translator, load
from nungil.pipeline.texts import Marked, encode, not_empty
from nungil.serving.known import examples_for, words_known
from nungil.serving.refusal import Mistake, RefusedError
from nungil.text.source import Task
from nungil.text.tokenizers.base import Tokenizer

KEPT, KEPT_CELLS = 8, 2_000_000  # looks that are remembered, and how large one may be


class Book(NamedTuple):
    """A model folder and the name that it is served by."""

    name: str
    folder: Path


def books_of(given: Sequence[str]) -> list[Book]:
    """`runs/demo` is served as demo, `name=runs/demo` by that name."""
    books: list[Book] = []
    for one in given:
        name, sign, rest = one.partition("=")
        named = bool(sign) and not Path(one).exists()
        folder = Path(rest if named else one)
        name = name if named else folder.resolve().name
        if not name or (named and not rest):
            raise UsageError(f"{one}: a model folder is expected, or a name and a folder: name=runs/demo")
        if any(book.name == name for book in books):
            raise UsageError(f"two models would be called {name}; give one another name: other={folder}")
        books.append(Book(name, folder))
    return books


@dataclass
class Served:
    """One model. Whatever computes is called by the worker only."""

    name: str
    folder: Path
    model: Translator | Classifier
    _looks: OrderedDict[tuple[str, str | None], AttentionRecord] = field(default_factory=OrderedDict)

    @property
    def task(self) -> Task:
        """What it does."""
        return self.model.config.task

    @property
    def reads(self) -> Tokenizer:
        """The tokenizer of what it reads."""
        return self.model.tokenizers.source if isinstance(self.model, Translator) else self.model.tokenizer

    @cached_property
    def known(self) -> tuple[str, ...]:
        """The words that it knows."""
        return words_known(self.reads)

    def encoded(self, text: str) -> Marked:
        """The ids of a text, and which of its words are unknown."""
        return encode(not_empty(text), self.reads, self.model.config)

    def length(self, text: str) -> int:
        """How many source tokens a text is counted as, at least one."""
        return max(1, len(self.reads.encode(text)))

    def record(self, text: str, target: str | None = None) -> AttentionRecord:
        """Where it looks. The last few are remembered: a page asks for one head after another."""
        key = (text, target)
        if key in self._looks:
            self._looks.move_to_end(key)
            return self._looks[key]
        found = self.model.look(text, target) if isinstance(self.model, Translator) else self.model.look(text)
        if sum(one.weights.size for one in found.maps) <= KEPT_CELLS:
            self._looks[key] = found
            if len(self._looks) > KEPT:
                self._looks.popitem(last=False)
        return found

    @cached_property
    def description(self) -> dict[str, Any]:
        """What is told of it."""
        config = self.model.config
        examples = examples_for(self.folder, config, self.reads)
        example = self.model.example(examples[0])
        missing = missing_lenses(example)
        maps = self.record(examples[0]).maps if config.attends else ()
        return {
            "name": self.name,
            "task": config.task,
            "source": config.source,
            "target": config.target,
            "labels": list(config.labels),
            "kind": config.model.kind,
            "attends": config.attends,
            "lenses": [lens for lens in LENSES if lens not in missing],
            "lenses_missing": dict(missing),
            "maps": [{"kind": one.kind, "layer": one.layer, "heads": one.heads} for one in maps],
            "unit": config.tokenizer.unit,
            "longest": config.longest,
            "vocabulary": {"source": config.vocabulary.source, "target": config.vocabulary.target},
            "parameters": sum(one.numel() for one in self.model.model.parameters()),
            "examples": examples,
        }


class Shelf:
    """All of them, in the order they were given."""

    def __init__(self, served: Sequence[Served]) -> None:
        self.served = {one.name: one for one in served}

    @classmethod
    def load(cls, books: Sequence[Book]) -> "Shelf":
        """Read every model, or say which cannot be."""
        served = [Served(book.name, book.folder, load(book.folder)) for book in books]
        for one in served:
            _ = one.description  # the first text warms the model up
        return cls(served)

    def find(self, name: str | None, task: Task | None = None) -> Served:
        """The model of this name, or the first that does this task."""
        if name is None:
            for one in self.served.values():
                if task is None or one.task == task:
                    return one
            raise RefusedError(404, f"no model that can {task} is served here; see GET /v1/models")
        if name not in self.served:
            what = f"there is no such model{did_you_mean(name, self.served)}"
            raise RefusedError(404, f"model: {what}", [Mistake(where="model", what=what)])
        found = self.served[name]
        if task is not None and found.task != task:
            what = f"{name} is there to {found.task}, not to {task}"
            raise RefusedError(422, f"model: {what}", [Mistake(where="model", what=what)])
        return found
