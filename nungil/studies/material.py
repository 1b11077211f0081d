"""Material: the sentences that a study trains and tests on, from snow or from a user's files. No torch."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from nungil.errors import CorpusError, UsageError
from nungil.records import Labelled, Pair
from nungil.runs.data import DataSettings, open_data
from nungil.runs.sets import PAIRS, TEXTS, Sets, gather
from nungil.scoring.alignment import parse_links
from nungil.studies.scale import Scale
from nungil.text.cleaning import CleaningSettings
from nungil.text.snow.corpus import Made, SnowPair, Split, make, turned
from nungil.text.snow.pieces import Mark
from nungil.text.snow.senses import sense_examples
from nungil.text.source import Task
from nungil.text.tokenizers.train import Sample, Tokenizers, TokenizerSettings, train_tokenizers

CORPUS_SEED = 1  # the corpus is one and the same for every seed of a study
VALIDATED = 200  # sentences that a learning rate is chosen by
WORDS = 4_000  # of a vocabulary
LEAST = 50  # records of a user's below which a study says nothing


class Homonym(NamedTuple):
    """A word with several senses: the one it has here, the word for it on the other side, how far the decider is."""

    written: str
    sense: str
    right: str  # the English that is linked to it
    distance: int
    rivals: frozenset[str] = frozenset()  # English of its other senses
    common: bool = False  # whether this is the sense that it mostly has in training


class Sentence(NamedTuple):
    """A sentence with its translation, or its label, and what is known about it."""

    source: str
    target: str
    links: str = ""
    group: str = ""
    homonym: Homonym | None = None


@dataclass(frozen=True)
class Material:
    """The three sets and how their text is cut."""

    task: Task
    train: tuple[Sentence, ...]
    valid: tuple[Sentence, ...]
    test: tuple[Sentence, ...]
    tokenizers: Tokenizers
    origin: str
    target_language: str = ""
    labels: tuple[str, ...] = ()

    @property
    def fingerprint(self) -> str:
        """Which sentences these are: runs on others do not belong together."""
        digest = hashlib.blake2b(digest_size=8)
        for one in (*self.train, *self.valid, *self.test):
            digest.update(f"{one.source}\t{one.target}\n".encode())
        return digest.hexdigest()

    @property
    def has_links(self) -> bool:
        """Whether the right word links of the test sentences are known."""
        return any(one.links for one in self.test)

    def sampled(self, tests: int) -> "Material":
        """With so many test sentences, spread evenly over the others."""
        stride = max(1, len(self.test) // max(1, tests))
        return replace(self, test=self.test[::stride])


def snow(scale: Scale, *, turn: bool = False, groups: Sequence[tuple[int, int]] = ()) -> Material:
    """Snow from English to Korean, or turned. With groups, the tests have as many sentences of each length."""
    train, valid = (_pairs(scale, split, turn) for split in ("train", "valid"))
    if groups:
        each = max(1, scale.tests // len(groups))
        test = tuple(
            one._replace(group=f"{low}–{high}")
            for low, high in groups
            for one in _made(make(each, CORPUS_SEED, (low, high), "test"), turn)
        )
    else:
        test = _pairs(scale, "test", turn)
    low, high = scale.lengths
    origin = f"snow, {'Korean to English' if turn else 'English to Korean'}, {low} to {high} English words"
    return _material("translate", train, valid, test, origin, "en" if turn else "ko")


def snow_homonyms(scale: Scale) -> Material:
    """Snow from Korean to English; each test sentence has one homonym whose sense is settled by a word in it."""
    whole = snow(scale, turn=True)
    known = _senses(make(scale.pairs, CORPUS_SEED, scale.lengths, "train"))
    settled = (one for one in _endless_tests(scale) if len(one.marks) == 1 and one.marks[0].deciders)
    test = tuple(islice((found for one in settled if (found := _homonym(one, known)) is not None), scale.tests))
    return replace(whole, test=test, origin=f"{whole.origin}; each test sentence has one homonym")


def snow_senses(scale: Scale) -> Material:
    """Which sense? Labelled sentences of snow."""

    def examples(count: int, split: Split) -> tuple[Sentence, ...]:
        return tuple(Sentence(one.text, one.label) for one in sense_examples(count, CORPUS_SEED, scale.lengths, split))

    train, valid, test = examples(scale.pairs, "train"), examples(VALIDATED, "valid"), examples(scale.tests, "test")
    return _material("classify", train, valid, test, "snow, which sense has the homonym", "")


def given(files: Sequence[str], scale: Scale, task: Task) -> Material:
    """A user's own pairs or labelled texts: cleaned, split so that near-duplicates stay together, and cut to size."""
    data = DataSettings(train=tuple(files), task=task)
    opened = open_data(data)
    found: Sets[Pair] | Sets[Labelled]
    try:
        if opened.task == "translate":
            found = gather(opened, PAIRS, data, CleaningSettings(), CORPUS_SEED)
        else:
            found = gather(opened, TEXTS, data, CleaningSettings(), CORPUS_SEED)
    except CorpusError as error:
        raise CorpusError(_explained(str(error), data)) from None
    sides: tuple[Sequence[Pair | Labelled], ...] = (list(found.train), found.valid, found.test)
    train, valid, test = ([Sentence(one[0], one[1]) for one in side] for side in sides)
    if len(train) < LEAST or len(valid) < 2 or len(test) < 2:
        raise CorpusError(
            f"{files[0]}: too few records to train on for a study: {len(train)}; {LEAST} or more are needed"
        )
    whole = _material(task, train, valid, test, ", ".join(files), opened.languages.target, words=False)
    return _short_enough(whole, scale)


def _explained(fault: str, data: DataSettings) -> str:
    """Why no sets can be made of a user's files: without options that a study has not; if it is other data, that."""
    looks = open_data(data.model_copy(update={"task": None})).task
    if looks == data.task:
        return re.sub("(; set fewer aside)?[;,] (or )?give a validation set with --valid$", "", fault)
    kinds = {"translate": "pairs of sentences", "classify": "labelled texts"}
    return f"{data.train[0]}: these look like {kinds[looks]}; this study takes {kinds[data.task or looks]}"


def _short_enough(found: Material, scale: Scale) -> Material:
    def kept(side: Iterable[Sentence], most: int) -> tuple[Sentence, ...]:
        cut = found.tokenizers
        short = [
            one
            for one in side
            if len(cut.source.encode(one.source)) <= scale.longest
            and (found.task == "classify" or len(cut.target.encode(one.target)) <= scale.longest)
        ]
        stride = max(1, len(short) // most)
        return tuple(short[::stride][:most])

    train, valid, test = kept(found.train, scale.pairs), kept(found.valid, VALIDATED), kept(found.test, scale.tests)
    if len(train) < LEAST or not valid or not test:
        raise CorpusError(
            f"{found.origin}: too few records have at most {scale.longest} tokens, which is what a study can afford"
        )
    return replace(found, train=train, valid=valid, test=test)


def refuse_data(name: str, files: Sequence[str], why: str) -> None:
    """A study that needs what only snow knows."""
    if files:
        raise UsageError(f"nungil study {name} needs {why}, which only snow has; leave out --data")


def _material(
    task: Task,
    train: Sequence[Sentence],
    valid: Sequence[Sentence],
    test: Sequence[Sentence],
    origin: str,
    language: str,
    words: bool = True,
) -> Material:
    left, right = Sample(), Sample()
    for one in train:
        left.add(one.source)
        right.add(one.target)
    settings = TokenizerSettings(unit="word", size=WORDS, joint=False) if words else TokenizerSettings(size=None)
    if task == "classify":
        right = left
        settings = settings.model_copy(update={"joint": True})
    cut = train_tokenizers(left, right, settings)
    labels = tuple(sorted({one.target for one in train})) if task == "classify" else ()
    return Material(task, tuple(train), tuple(valid), tuple(test), cut, origin, language, labels)


def _pairs(scale: Scale, split: Split, turn: bool) -> tuple[Sentence, ...]:
    count = {"train": scale.pairs, "valid": VALIDATED, "test": scale.tests}[split]
    return _made(make(count, CORPUS_SEED, scale.lengths, split), turn)


def _made(pairs: Iterable[Made], turn: bool) -> tuple[Sentence, ...]:
    return tuple(_sentence(turned(one.pair) if turn else one.pair) for one in pairs)


def _sentence(pair: SnowPair) -> Sentence:
    return Sentence(pair.english, pair.korean, pair.links)


def _endless_tests(scale: Scale) -> Iterable[Made]:
    return make(10**9, CORPUS_SEED + 1, scale.lengths, "test")


Senses = dict[str, dict[str, Counter[str]]]  # of each homonym, of each sense: the English words for it


def _senses(pairs: Iterable[Made]) -> Senses:
    found: Senses = {}
    for one in pairs:
        for mark in one.marks:
            word = _english(one, mark)
            if word:
                found.setdefault(mark.homonym, {}).setdefault(mark.sense, Counter())[word] += 1
    return found


def _english(one: Made, mark: Mark) -> str:
    """The English word that a homonym is linked to."""
    linked = sorted(source for source, target in parse_links(one.pair.links).sure if target == mark.position)
    return one.pair.english.split()[linked[-1]].strip(",").lower() if linked else ""


def _homonym(one: Made, known: Senses) -> Sentence | None:
    """The sentence from Korean to English, if its homonym has an English word of its own."""
    (mark,) = one.marks
    right, senses = _english(one, mark), known.get(mark.homonym, {})
    if not right or mark.sense not in senses:
        return None
    distance = min(abs(place - mark.position) for place in mark.deciders)
    rivals = frozenset(word for sense, words in senses.items() if sense != mark.sense for word in words) - {right}
    common = max(senses, key=lambda sense: senses[sense].total()) == mark.sense
    homonym = Homonym(mark.homonym, mark.sense, right, distance, rivals, common)
    return _sentence(turned(one.pair))._replace(homonym=homonym)
