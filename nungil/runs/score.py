"""What `nungil score` does: systems, which are models or files of answers, on the same sentences.

Loads torch only if one of them is a model.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nungil.errors import CorpusError, UsageError, did_you_mean
from nungil.records import Pair
from nungil.runs.answers import Answers, read_answers, read_side
from nungil.runs.asked import Asked, Places, read_asked, read_training
from nungil.runs.kept import count_seen, kept_training
from nungil.scoring.classifiers import LabelReport, report_labels
from nungil.scoring.measures import Way
from nungil.scoring.nearest import nearest
from nungil.scoring.resampling import SAMPLES, SEED
from nungil.scoring.translators import NEAREST, Given, TranslationReport, report_translations
from nungil.text.languages import Languages

if TYPE_CHECKING:
    from nungil.decoding.settings import SearchSettings
    from nungil.pipeline import Classifier, Translator

Say = Callable[[str], None]
FEW = 100  # records with which an interval is itself uncertain


@dataclass(frozen=True)
class ScoreRequest:
    """What is to be scored, and how. A system is a model folder or a file of answers."""

    system: Path
    places: Places
    against: Path | None = None
    train: tuple[str, ...] = ()  # where the nearest sentence is looked for; by default in what the run has kept
    links: Path | None = None
    way: Way = field(default_factory=Way)  # its language is worked out
    search: "SearchSettings | None" = None
    split: bool = True
    nearest: bool = True
    samples: int = SAMPLES
    seed: int = SEED


class Scored(NamedTuple):
    """What was scored on what, and the report."""

    name: str
    languages: Languages
    report: TranslationReport | LabelReport
    seen: Mapping[str, int]  # by model: how many of the sentences stand in what is kept of its training set


class Beside(NamedTuple):
    """What is known beside the sentences: word links, and the pairs among which the nearest is sought."""

    links: list[str] | None
    training: list[Pair]


def score(request: ScoreRequest, say: Say) -> Scored:
    """Have every system answer, and compare."""
    systems = [place for place in (request.system, request.against) if place is not None]
    if len(systems) > 1 and systems[0].resolve() == systems[1].resolve():
        raise UsageError(f"{request.against} is compared with itself; --against takes another one")
    models = {place: _load(place) for place in systems if place.is_dir()}
    ready = {place: read_answers(place, request.places.encoding) for place in systems if place not in models}
    home = next(iter(models), None)  # the model whose data is looked for, and whose languages count
    asked = read_asked(request.places, home, models[home] if home is not None else None, ready, say)
    beside = _beside(request, asked, home, models, say)  # whatever may be wrong is found before minutes are spent
    _refuse_uneven(ready, asked)
    answers = {
        str(place): ready[place] if place in ready else _answer(place, models[place], asked, request, say)
        for place in systems
    }
    seen = {str(place): _seen(place, model, asked, say) for place, model in models.items()}
    if len(asked.references) < FEW:
        say(f"Only {len(asked.references)} records: the scores may be far off, and so may their intervals.")
    if asked.task == "classify":
        return Scored(asked.name, asked.languages, _labels(request, asked, answers), seen)
    return Scored(asked.name, asked.languages, _translations(request, asked, answers, beside), seen)


def _load(folder: Path) -> "Translator | Classifier":
    from nungil.pipeline import load

    return load(folder)


def _answer(place: Path, model: "Translator | Classifier", asked: Asked, request: ScoreRequest, say: Say) -> Answers:
    """Have a model answer."""
    from nungil.pipeline import Classifier

    if model.config.task != asked.task:
        what = "translator" if model.config.task == "translate" else "classifier"
        raise UsageError(f"{place} holds a {what}; that cannot {asked.task}")
    if asked.sources is None:
        raise UsageError(f"{place} is a model: it needs what it is to {asked.task}; give --sources FILE")
    count = len(asked.sources)
    if isinstance(model, Classifier):
        _refuse_unknown(place, model, asked)
        say(f"Classifying {count:,} texts with {place} …")
        found = model.classify(asked.sources)
        return Answers([one.label for one in found], [one.probability for one in found], "classify")
    if model.config.target and asked.languages.target and model.config.target != asked.languages.target:
        raise UsageError(
            f"{place} translates to {model.config.target}, but the references are in {asked.languages.target}"
        )
    say(f"Translating {count:,} sentences with {place} …")
    translated = model.translate(asked.sources, request.search, split=request.split)
    cut = sum(not one.finished for one in translated if one.source)
    if cut:
        say(f"{cut:,} of them did not come to an end and were cut off; they are scored as they are.")
    return Answers([" ".join(one.text.split("\n")) for one in translated], None, "translate")


def _seen(place: Path, model: "Translator | Classifier", asked: Asked, say: Say) -> int:
    """How much of what is asked a model has learned by heart; a word on it if there is any."""
    from nungil.pipeline import Classifier

    tokenizer = model.tokenizer if isinstance(model, Classifier) else model.tokenizers.source
    count = count_seen(place, tokenizer, asked.sources or [], model.config.longest)
    if count:
        say(
            f"{count:,} of the {len(asked.references):,} stand in the training set of {place}, which makes it look "
            "better than it is."
        )
    return count


def _refuse_unknown(place: Path, model: "Classifier", asked: Asked) -> None:
    """A label that a model cannot give says that it was trained on other data."""
    for number, label in enumerate(asked.references):
        if label not in model.config.labels:
            raise CorpusError(
                f"{asked.where(number)}: the label {label!r} is none that {place} knows"
                f"{did_you_mean(label, model.config.labels[:20])}"
            )


def _refuse_uneven(ready: Mapping[Path, Answers], asked: Asked) -> None:
    for path, found in ready.items():
        if len(found.texts) != len(asked.references):
            raise CorpusError(
                f"{path}: {len(found.texts):,} lines for the {len(asked.references):,} of {asked.name}; there must be "
                "one for each, in the same order"
            )
        if asked.task == "classify" and "" in found.texts:
            raise CorpusError(f"{path}:{found.texts.index('') + 1}: there is no label in this line")


def _labels(request: ScoreRequest, asked: Asked, answers: Mapping[str, Answers]) -> LabelReport:
    return report_labels(
        {name: found.texts for name, found in answers.items()},
        asked.references,
        probabilities={name: one.probabilities for name, one in answers.items() if one.probabilities is not None},
        samples=request.samples,
        seed=request.seed,
    )


def _translations(
    request: ScoreRequest, asked: Asked, answers: Mapping[str, Answers], beside: Beside
) -> TranslationReport:
    systems = {name: found.texts for name, found in answers.items()}
    if beside.training and asked.sources is not None:
        found = nearest(asked.sources, [pair.source for pair in beside.training])
        systems[NEAREST] = [beside.training[one.number].target if one.number >= 0 else "" for one in found]
    return report_translations(
        systems,
        asked.references,
        request.way._replace(language=asked.languages.target),
        Given(asked.sources, asked.languages.source, beside.links),
        request.samples,
        request.seed,
    )


def _beside(
    request: ScoreRequest, asked: Asked, home: Path | None, models: "Mapping[Path, Translator | Classifier]", say: Say
) -> Beside:
    """The links that were given, and the training set, given or kept, if they can be had."""
    if asked.task == "classify":
        return Beside(None, [])
    links = read_side(request.links, request.places.encoding) if request.links is not None else None
    if links is not None and len(links) != len(asked.references):
        raise CorpusError(f"{request.links}: {len(links):,} lines of links for {len(asked.references):,} references")
    if not request.nearest:
        return Beside(links, [])
    if request.train:
        if asked.sources is None:
            raise UsageError("--train is for finding what is nearest to a source; give --sources FILE too")
        return Beside(links, read_training(request.train, asked.languages, request.places.encoding, say))
    if home is None:
        return Beside(links, [])
    from nungil.pipeline import Translator  # it has been loaded

    model = models[home]
    pairs = kept_training(home, model.tokenizers) if isinstance(model, Translator) else []
    if not pairs:
        say(
            f"{home} has not kept its training set, so the nearest training sentence is not scored; "
            "--train FILE gives it."
        )
    return Beside(links, pairs)
