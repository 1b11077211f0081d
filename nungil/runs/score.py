"""What `nungil score` does: scores models or files of answers on the same sentences.

Loads torch only if one of them is a model.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from nungil.errors import CorpusError, UsageError, did_you_mean
from nungil.records import Pair
from nungil.runs.answers import Answers, read_answers, read_side
from nungil.runs.asked import Asked, Places, Say, read_asked, read_training, refuse_uneven
from nungil.runs.kept import count_seen, kept_training
from nungil.scoring.classifiers import LabelReport, report_labels
from nungil.scoring.measures import Way
from nungil.scoring.nearest import nearest
from nungil.scoring.resampling import SAMPLES, SEED
from nungil.scoring.translation import ENOUGH
from nungil.scoring.translators import NEAREST, Given, TranslationReport, report_translations
from nungil.text.counts import counted
from nungil.text.languages import Languages
from nungil.text.tidy import tidy

if TYPE_CHECKING:
    from nungil.decoding.settings import SearchSettings
    from nungil.engines import Engine
    from nungil.pipeline import Classifier, Translator

FEW = 100  # records; with fewer, even the intervals are uncertain


@dataclass(frozen=True)
class ScoreRequest:
    """What is to be scored, and how. A system is a model folder or a file of answers."""

    system: Path
    places: Places
    against: Path | None = None
    train: tuple[str, ...] = ()  # where to look for nearest sentences; by default in what the run kept
    links: Path | None = None
    way: Way = field(default_factory=Way)  # its language is set from the data
    search: "SearchSettings | None" = None
    engine: "Engine" = "nungil"  # searches for the first system; the other one always uses nungil
    compute: str | None = None
    others: tuple[Path, ...] = ()  # models that form an ensemble with the first system
    split: bool = True
    nearest: bool = True
    samples: int = SAMPLES
    seed: int = SEED


class Scored(NamedTuple):
    """What was scored on what, and the report."""

    name: str
    languages: Languages
    report: TranslationReport | LabelReport
    seen: Mapping[str, int]  # by model: how many of the sentences are in its training set, as far as that was kept
    engines: Mapping[str, "Run"]  # by model


class Run(NamedTuple):
    """The engine of a search and its compute type."""

    engine: "Engine" = "nungil"
    compute: str = "float32"


class System(NamedTuple):
    """A model folder or a file of answers, with a name that tells two uses of one model apart."""

    name: str
    place: Path
    run: Run = Run()
    others: tuple[Path, ...] = ()


class Beside(NamedTuple):
    """Further data: word links, and the pairs to look for nearest sentences in."""

    links: list[str] | None
    training: list[Pair]


def score(request: ScoreRequest, say: Say) -> Scored:
    """Have every system answer, and compare."""
    systems = _systems(request)
    models = {system: _load(system) for system in systems if system.place.is_dir()}
    files = [system.place for system in systems if system not in models]
    ready = {file: read_answers(file, request.places.encoding) for file in files}
    home = next(iter(models), None)  # the model whose data and languages are used
    place, model = (home.place, models[home]) if home is not None else (None, None)
    asked = read_asked(request.places, place, model, ready, say)
    if asked.task == "classify":
        ready = {file: found._replace(texts=list(map(tidy, found.texts))) for file, found in ready.items()}
    _refuse_answers(ready, asked)  # before minutes are spent on translating
    for system, one in models.items():
        _refuse_unfit(system.place, one, asked)
    beside = _beside(request, asked, place, model, say)
    answers = {
        system.name: _answer(system, models[system], asked, request, say) if system in models else ready[system.place]
        for system in systems
    }
    seen = {system.name: _seen(system, one, asked, say) for system, one in models.items()}
    count = len(asked.references)
    if count < ENOUGH:
        bleu = ", and BLEU of so few may be 0 however good they are" if asked.task == "translate" else ""
        say(f"Only {counted(count, 'record')}: too few to tell how good it is{bleu}.")
    elif count < FEW:
        say(f"Only {counted(count, 'record')}: the scores may be far off, and so may their intervals.")
    engines = {system.name: system.run for system in models}
    report = (
        _labels(request, asked, answers) if asked.task == "classify" else _translations(request, asked, answers, beside)
    )
    return Scored(asked.name, asked.languages, report, seen, engines)


def _systems(request: ScoreRequest) -> list[System]:
    """The one or two systems to score; engine and ensemble belong to the first."""
    first = _first(request)
    if request.against is None:
        return [first]
    if first.name == str(request.system) and first.place.resolve() == request.against.resolve():
        raise UsageError(
            f"{request.against} is compared with itself; give another system, or --engine or --with, which apply "
            "only to the first"
        )
    return [first, System(str(request.against), request.against)]


def _first(request: ScoreRequest) -> System:
    if request.engine == "nungil":
        if request.compute is not None:
            raise UsageError(f"--compute {request.compute}: only with --engine ctranslate2; nungil has float32")
        if request.others and not request.system.is_dir():
            raise UsageError(f"--with {request.others[0]}: {request.system} is a file of answers, not a model")
        names = " + ".join(map(str, (request.system, *request.others)))
        return System(names, request.system, others=request.others)
    if not request.system.is_dir():
        raise UsageError(f"--engine {request.engine} runs a model; {request.system} is a file of answers")
    from nungil.engines.library import possible_compute

    run = Run(request.engine, possible_compute(request.compute))
    return System(f"{request.system} ({', '.join(run)})", request.system, run, request.others)


def _load(system: System) -> "Translator | Classifier":
    from nungil.engines import load

    run = system.run
    return load(system.place, run.engine, run.compute if run.engine != "nungil" else None, others=system.others)


def _refuse_unfit(place: Path, model: "Translator | Classifier", asked: Asked) -> None:
    """Refuse a model that cannot answer, or whose answers cannot be scored."""
    from nungil.pipeline import Classifier

    if model.config.task != asked.task:
        what = "translator" if model.config.task == "translate" else "classifier"
        raise UsageError(f"{place} holds a {what}; that cannot {asked.task}")
    if asked.sources is None:
        raise UsageError(f"{place} is a model: it needs texts to {asked.task}; give --sources FILE")
    if isinstance(model, Classifier):
        _refuse_unknown(place, model, asked)
        _refuse_empty(asked, asked.sources)
    elif model.config.target and asked.languages.target and model.config.target != asked.languages.target:
        raise UsageError(
            f"{place} translates to {model.config.target}, but the references are in {asked.languages.target}"
        )


def _answer(system: System, model: "Translator | Classifier", asked: Asked, request: ScoreRequest, say: Say) -> Answers:
    """The answers of a model."""
    from nungil.pipeline import Classifier

    sources = asked.sources or []
    if isinstance(model, Classifier):
        say(f"Classifying {counted(len(sources), 'text')} with {system.name} …")
        found = model.classify(sources)
        return Answers([one.label for one in found], [one.probability for one in found], "classify")
    say(f"Translating {counted(len(sources), 'sentence')} with {system.name} …")
    translated = model.translate(sources, request.search, split=request.split)
    cut = sum(not one.finished for one in translated if one.source)
    if cut:
        say(f"{cut:,} of them reached their maximum length and were cut off; they are scored as they are.")
    return Answers([" ".join(one.text.split("\n")) for one in translated], None, "translate")


def _seen(system: System, model: "Translator | Classifier", asked: Asked, say: Say) -> int:
    """How many of the sentences are in a model's training set; says so if there are any."""
    from nungil.pipeline import Classifier

    tokenizer = model.tokenizer if isinstance(model, Classifier) else model.tokenizers.source
    counts = [
        count_seen(place, tokenizer, asked.sources or [], model.config.longest)
        for place in (system.place, *system.others)
    ]
    count = max(counts)
    if count:
        say(
            f"{count:,} of the {len(asked.references):,} are in the training set of {system.name}, which makes it look "
            "better than it is."
        )
    return count


def _refuse_unknown(place: Path, model: "Classifier", asked: Asked) -> None:
    """Refuse references with labels that the model does not have."""
    for number, label in enumerate(asked.references):
        if label not in model.config.labels:
            raise CorpusError(
                f"{asked.where(number)}: the label {label!r} is none that {place} knows"
                f"{did_you_mean(label, model.config.labels[:20])}"
            )


def _refuse_empty(asked: Asked, sources: Sequence[str]) -> None:
    """Refuse empty texts to classify."""
    for number, text in enumerate(sources):
        if not tidy(text):
            raise CorpusError(
                f"{asked.where_asked(number)}: there is no text to classify in this line; remove it, and its label"
            )


def _refuse_answers(ready: Mapping[Path, Answers], asked: Asked) -> None:
    for path, found in ready.items():
        refuse_uneven(path, found.texts, asked.name, asked.references)
        if asked.task == "classify" and "" in found.texts:
            raise CorpusError(
                f"{path}:{found.texts.index('') + 1}: there is no label in this line; `nungil classify` gives none to "
                "an empty text: remove the line here and in the references"
            )


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
    request: ScoreRequest, asked: Asked, home: Path | None, model: "Translator | Classifier | None", say: Say
) -> Beside:
    """The given links, and the training set, if it was given or kept."""
    if asked.task == "classify":
        return Beside(None, [])
    links = read_side(request.links, request.places.encoding) if request.links is not None else None
    if links is not None and len(links) != len(asked.references):
        raise CorpusError(
            f"{request.links}: {counted(len(links), 'line')} of links for {counted(len(asked.references), 'reference')}"
        )
    if not request.nearest:
        return Beside(links, [])
    if request.train:
        if asked.sources is None:
            raise UsageError("--train is for finding sentences nearest to a source; give --sources FILE too")
        return Beside(links, read_training(request.train, asked.languages, request.places.encoding, say))
    if home is None:
        return Beside(links, [])
    from nungil.pipeline import Translator  # it has been loaded

    pairs = kept_training(home, model.tokenizers) if isinstance(model, Translator) else []
    if not pairs:
        say(
            f"{home} has not kept its training set, so the nearest training sentence is not scored; "
            "--train FILE gives it."
        )
    return Beside(links, pairs)
