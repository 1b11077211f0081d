"""Translator: texts in, translations out."""

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple, cast

import torch
from jaxtyping import Float
from torch import Tensor

from nungil.batches.chance import seed_of
from nungil.decoding.beam import beam_search
from nungil.decoding.constraints import Constraints
from nungil.decoding.found import Found
from nungil.decoding.native import Native, Searcher, batches_of
from nungil.decoding.settings import SearchSettings
from nungil.decoding.stepper import Stepper
from nungil.decoding.tree import Trees
from nungil.errors import UsageError
from nungil.inspection.beam import BeamNode, BeamTree
from nungil.inspection.ledger import Ledger
from nungil.inspection.links import links_of
from nungil.inspection.measuring import Wanted
from nungil.inspection.record import AttentionRecord, Reading
from nungil.inspection.recorder import Recorder
from nungil.inspection.shown import Shown
from nungil.inspection.steps import Candidate, Step
from nungil.inspection.whole import Place, explain_model, settled
from nungil.inspection.worked.asked import Asked
from nungil.model.build import TranslatorModel, parameter_count
from nungil.model.folder import MORE, ModelConfig
from nungil.pipeline.insights import TranslatorInsight, ended
from nungil.pipeline.joining import joined
from nungil.pipeline.neighbours import Neighbours, Vectors, neighbours_of
from nungil.pipeline.prefixes import Prefix, at_beginnings, prefix_ids
from nungil.pipeline.texts import Marked, by_words, encode, evaluating, listed, named, not_empty, padded, paired, shown
from nungil.records import Translation
from nungil.settings import build_settings
from nungil.text.sentences import Sentence, sentences_of
from nungil.text.tidy import tidy
from nungil.text.tokenizers.base import EOS, PAD, SOS, SPECIALS, UNK
from nungil.text.tokenizers.train import Tokenizers
from nungil.text.tokenizers.vocabulary import WordTokenizer

ROWS = 64  # pairs of a batch while attention is recorded
CANDIDATES = 5  # most probable tokens of each step that a record keeps


class Draft(NamedTuple):
    """A sentence and one translation found for it."""

    source: str
    encoded: Marked
    found: Found


@dataclass(frozen=True, repr=False)
class Translator(TranslatorInsight):
    """Translates text. Calls leave no state, so that several threads may call at once."""

    config: ModelConfig
    model: TranslatorModel
    tokenizers: Tokenizers
    engine: Searcher | None = None  # searches in place of nungil's own search

    def __repr__(self) -> str:
        """One line; the whole network is `model`."""
        way = f"{self.config.source or '?'} → {self.config.target or '?'}"
        return f"<Translator {way}: {self.config.model.kind}, {parameter_count(self.model):,} parameters>"

    def translate(
        self,
        texts: str | Iterable[str],
        search: SearchSettings | None = None,
        *,
        split: bool = True,
        align: bool = False,
        prefix: Prefix = None,
        first: int = 0,
        **options: Any,
    ) -> list[Translation]:
        """A translation for each text, in the same order. An empty text stays empty.

        `options` are those of `SearchSettings`: `beam=1`, `n_best=3`, `sample=True, seed=7` … With `split`, a text is
        translated sentence by sentence; white space between sentences, line breaks included, is kept, at the ends of
        the text it is not. With `align`, each translation has its word links. A `prefix`, one for all or one for each,
        is what translations begin with; one that ends in `<eos>` is the whole translation. If texts are translated in
        chunks, `first` is the number of the first one, which gives each chunk random draws of its own.
        """
        if align and not self.config.attends:
            raise UsageError("this translator has a plain decoder: it has no attention to read links from")
        settings = _settings(search, options)
        if settings.coverage_penalty and not self.config.attends:
            raise UsageError("this translator has a plain decoder: it has no attention that a coverage penalty counts")
        if settings.sample:
            settings = settings.model_copy(update={"seed": seed_of(settings.seed, first)})
        given = [text.strip() if split else text for text in listed(texts)]
        begun = prefix_ids(prefix, len(given), self.tokenizers.target)
        parts = [
            sentences_of(text) if split and EOS not in ids else [Sentence(text, "")]
            for text, ids in zip(given, begun, strict=True)
        ]
        tidied = [[tidy(part.text) for part in cut] for cut in parts]
        sentences = list(chain.from_iterable(tidied))
        found = iter(self._sentences(sentences, settings, align, at_beginnings(begun, tidied)))
        return [joined([next(found) for _ in cut], cut) if cut else _empty(align) for cut in parts]

    def look(self, text: str, target: str | None = None, *, honesty: Wanted | bool = False) -> AttentionRecord:
        """Where the model looks while it writes its own translation, or a given one.

        The rows are its tokens, and `<eos>` if it is finished. With `honesty`, the record says how far its main map can
        be trusted, if measuring that takes no more than about a second; `Wanted` asks for more.
        """
        if not self.config.attends:
            raise UsageError("this translator has a plain decoder: it has no attention to look at")
        given = not_empty(text)
        encoded = encode(given, self.tokenizers.source, self.config)
        source, tree = shown(encoded.ids, self.tokenizers.source, given), None
        if target is not None:
            written = self._given(target)
        else:
            found, tree = self._watched_search(encoded)
            written = shown(ended(found), self.tokenizers.target)
        record = replace(self._read(given, source, written), beam=tree)
        return self._honest(record, self._of(source, written), honesty)

    def explain(
        self,
        text: str,
        step: int = 1,
        *,
        layer: int | None = None,
        head: int | None = None,
        kind: str | None = None,
        target: str | None = None,
    ) -> Ledger:
        """Every number of one step of the model's own translation, or a given one, checked against the model.

        Steps count from 1, layers and heads from 0; by default the last layer and its first head. With kind `self`, for
        Transformers, `step` is a token of the source whose self-attention is written out.
        """
        given = not_empty(text)
        encoded = encode(given, self.tokenizers.source, self.config)
        written = self._written(encoded, target)
        reads, writes = self.tokenizers
        asked = Asked(*shown(encoded.ids, reads, given), tuple(writes.tokens(range(writes.size))), *written, step=step)
        asked = settled(self.model, asked, Place(kind, layer, head))
        facts: dict[str, Any] = {"text": given, "target": writes.decode(written.ids), "cut": encoded.cut}
        if asked.kind != "self":
            facts["chosen_id"] = written.ids[step - 1]
        return explain_model(self.model, asked, facts)

    def _written(self, encoded: Marked, target: str | None) -> Shown:
        """The model's own translation, or a given one."""
        return shown(self._best(encoded.ids), self.tokenizers.target) if target is None else self._given(target)

    def align(
        self,
        pairs: Iterable[tuple[str, str]],
        reading: Reading = "output",
        layer: int | None = None,
        head: int | None = None,
    ) -> list[str]:
        """Word links of given translations, in Pharaoh's format: for each target word the source word with most weight.

        A row of attention can be read as that of the word being written, or of the word that was just put in.
        """
        given = paired(pairs)
        links = [""] * len(given)
        for place, looked in self.look_at_pairs(given):
            links[place] = links_of(looked, reading, layer, head)
        return links

    def look_at_pairs(self, pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[int, AttentionRecord]]:
        """Where the model looks while it writes given translations: the place and record of each pair, in any order.

        Made for many pairs: they are read in batches. The records have no probabilities, and their tokens have ▁ where
        a word begins, whatever the tokenizer, so that words can be counted.
        """
        if not self.config.attends:
            raise UsageError("this translator has a plain decoder: it has no attention to read links from")
        reads, writes = self.tokenizers
        texts = [(tidy(source), tidy(target)) for source, target in paired(pairs)]
        encoded = [encode(source, reads, self.config).ids for source, _ in texts]
        written = [[*writes.encode(target), EOS] for _, target in texts]
        for place, recorder, row in self._watch(encoded, written):
            source, target = texts[place]
            left = by_words(named(encoded[place], reads, source), reads)
            yield place, recorder.record(row, left, by_words(named(written[place], writes, target), writes))

    def neighbours(self, word: str, count: int = 10) -> list[Neighbours]:
        """The words nearest to a word by the angle between embeddings, on each side that knows it."""
        source, target = self.model.source_embedding.table.weight, self.model.target_embedding.table.weight
        if self.tokenizers.joint and source is target:
            return neighbours_of(word, [Vectors("both", self.tokenizers.source, source)], count)
        sides = [Vectors("source", self.tokenizers.source, source), Vectors("target", self.tokenizers.target, target)]
        return neighbours_of(word, sides, count)

    def _watch(
        self, sources: Sequence[Sequence[int]], written: Sequence[Sequence[int]], kinds: Collection[str] | None = None
    ) -> Iterator[tuple[int, Recorder, int]]:
        """Record many translations in batches of similar length: the place of each, its recorder, and its row there.

        One batch at a time, because a Transformer's attention takes megabytes per sentence.
        """
        lengths = [max(len(source), len(target)) for source, target in zip(sources, written, strict=True)]
        for places in batches_of(lengths, ROWS):
            texts = [sources[place] for place in places], [written[place] for place in places]
            recorder, _ = self._watched(*texts, kinds)
            yield from ((place, recorder, row) for row, place in enumerate(places))

    def _watched(
        self, sources: Sequence[Sequence[int]], written: Sequence[Sequence[int]], kinds: Collection[str] | None = None
    ) -> tuple[Recorder, Float[Tensor, "B T F"]]:
        """The attention of these translations, recorded, and the features that predict their tokens."""
        ids, keep = padded(sources)
        target, _ = padded([[SOS, *row[:-1]] for row in written])
        recorder = Recorder(kinds)
        with evaluating(self.model), torch.inference_mode():
            decoded = self.model(ids, keep, target, recorder)
        return recorder, decoded.features

    def _sentences(
        self, texts: Sequence[str], settings: SearchSettings, align: bool, prefixes: Sequence[Sequence[int]]
    ) -> list[Translation]:
        """The translation of each sentence; empty ones stay empty."""
        encoded = {place: encode(text, self.tokenizers.source, self.config) for place, text in enumerate(texts) if text}
        begun = [prefixes[place] for place in encoded]
        found = self._search(list(encoded.values()), settings, begun)
        drafts = [
            Draft(texts[place], encoded[place], one)
            for place, several in zip(encoded, found, strict=True)
            for one in several
        ]
        made = iter(self._translations(drafts, align))
        best = {place: _ranked([next(made) for _ in several]) for place, several in zip(encoded, found, strict=True)}
        return [best.get(place, _empty(align)) for place in range(len(texts))]

    def _search(
        self, encoded: Sequence[Marked], settings: SearchSettings, prefixes: Sequence[Sequence[int]] = ()
    ) -> list[list[Found]]:
        sources = [one.ids for one in encoded]
        longest = [self._longest(ids, settings) for ids in sources]
        if any(prefixes):
            longest = [max(most, len(prefix)) for most, prefix in zip(longest, prefixes, strict=True)]
        learning = self.model.training  # its weights change, so there is no use in caching
        engine = self.engine or (Native(self.model) if learning else self._native)
        with evaluating(self.model):
            return engine.search(sources, longest, settings, prefixes if any(prefixes) else None)

    @cached_property
    def _native(self) -> Native:
        """nungil's own search, which caches the quick counterpart of the model."""
        return Native(self.model)

    def _longest(self, ids: Sequence[int], settings: SearchSettings) -> int:
        """Most tokens that the translation of a source may have."""
        return settings.longest or max(math.ceil(self.config.stretch * len(ids)), settings.shortest) + MORE

    def _watched_search(self, encoded: Marked) -> tuple[Found, BeamTree | None]:
        """What is found, and the tree of the beam search, if the search is nungil's own."""
        settings = SearchSettings()
        if self.engine is not None:
            ((found, *_),) = self._search([encoded], settings)
            return found, None
        ids, keep = padded([encoded.ids])
        trees, model = Trees(1, settings.beam), cast(Stepper[Any], self.model)
        longest = Constraints(torch.tensor([self._longest(encoded.ids, settings)]))
        with evaluating(self.model):
            ((found, *_),) = beam_search(model, ids, keep, longest, settings, trees)
        (nodes,) = trees.nodes
        tokens = self.tokenizers.target.tokens([node.token for node in nodes])
        named = (BeamNode(**{**node._asdict(), "token": token}) for node, token in zip(nodes, tokens, strict=True))
        return found, BeamTree(width=settings.beam, nodes=tuple(named))

    def _room(self, source: Sequence[int]) -> int:
        return self._longest(source, SearchSettings())

    def _best(self, source: Sequence[int]) -> list[int]:
        ((found, *_),) = self._search([Marked(list(source), cut=False)], SearchSettings())
        return ended(found)

    def _translations(self, drafts: Sequence[Draft], align: bool) -> list[Translation]:
        """What was found, as translations. Links and unknown words need the attention, from a second pass."""
        looking = [
            place
            for place, draft in enumerate(drafts)
            if draft.found.ids and self.config.attends and (align or UNK in draft.found.ids)
        ]
        written = [[*drafts[place].found.ids, EOS] for place in looking]
        made: dict[int, Translation] = {}
        sources = [drafts[place].encoded.ids for place in looking]
        for number, recorder, row in self._watch(sources, written, kinds=("cross",)):
            draft = drafts[looking[number]]
            tokens = [self.tokenizers.source.tokens(draft.encoded.ids), self.tokenizers.target.tokens(written[number])]
            made[looking[number]] = self._translation(draft, align, recorder.record(row, *tokens))
        return [made.get(place) or self._translation(draft, align) for place, draft in enumerate(drafts)]

    def _translation(self, draft: Draft, align: bool, looked: AttentionRecord | None = None) -> Translation:
        source, encoded, found = draft
        reads, writes = self.tokenizers
        tokens, text = writes.tokens(found.ids), writes.decode(found.ids)
        if looked is not None and isinstance(reads, WordTokenizer) and isinstance(writes, WordTokenizer):
            tokens = copied(tokens, looked, reads.cut(source))
            text = writes.join(tokens)
        return Translation(
            text=text,
            score=None if math.isnan(found.score) else found.log_probability / max(1, found.length),
            tokens=tuple(tokens),
            source=source,
            source_tokens=tuple(reads.tokens(encoded.ids)),
            finished=found.finished,
            cut=encoded.cut,
            probabilities=tuple(math.exp(one) for one in found.log_probabilities),
            unknown=encoded.unknown,
            links=self._links(draft, tokens, looked) if align else None,
        )

    def _links(self, draft: Draft, tokens: Sequence[str], looked: AttentionRecord | None) -> str:
        """Links between the words of the source and those of these tokens."""
        if looked is None:
            return ""
        reads, writes = self.tokenizers
        left = by_words(named(draft.encoded.ids, reads, draft.source), reads)
        right = by_words([*tokens, SPECIALS[EOS]], writes)
        return links_of(replace(looked, source_tokens=tuple(left), target_tokens=tuple(right)))

    def _read(self, text: str, source: Shown, written: Shown) -> AttentionRecord:
        """The record of this translation, with the probabilities of its tokens."""
        recorder, features = self._watched([source.ids], [written.ids])
        with evaluating(self.model), torch.inference_mode():
            log_probs = self.model.logits(features).log_softmax(dim=-1)[0]
        record = recorder.record(
            0,
            source.tokens,
            written.tokens,
            source=text,
            target=self.tokenizers.target.decode(written.ids),
            score=float(log_probs.gather(-1, torch.tensor(written.ids)[:, None]).mean()),
        )
        return replace(record, steps=self._steps(written, log_probs))

    def _steps(self, written: Shown, log_probs: Tensor) -> tuple[Step, ...]:
        """The probability of each token, and the most probable ones at its place."""
        paid = log_probs.gather(-1, torch.tensor(written.ids)[:, None])[:, 0].tolist()
        values, ids = log_probs.topk(min(CANDIDATES, log_probs.shape[-1]), dim=-1)
        steps = []
        for token, cost, best, row in zip(written.tokens, paid, values.tolist(), ids.tolist(), strict=True):
            named = zip(self.tokenizers.target.tokens(row), best, strict=True)
            candidates = tuple(Candidate(token=name, probability=probability(value)) for name, value in named)
            steps.append(Step(token=token, probability=probability(cost), candidates=candidates))
        return tuple(steps)


def _settings(search: SearchSettings | None, options: dict[str, Any]) -> SearchSettings:
    """The settings, given as a whole or as options, but not both."""
    if search is None:
        return build_settings(options, SearchSettings, "translate")
    if not isinstance(search, SearchSettings):
        raise UsageError(
            f"translate() takes search settings, not {type(search).__name__}; give options by their names, as beam=3"
        )
    if options:
        raise UsageError(
            f"translate() was given search settings and {', '.join(sorted(options))} beside them; put "
            f"{'it' if len(options) == 1 else 'them'} into the settings, or give options only"
        )
    return search


def probability(logarithm: float) -> float:
    """From a logarithm; rounding must not make it more than 1."""
    return min(1.0, math.exp(logarithm))


EMPTY = Translation("", 0.0, (), "", ())


def _empty(align: bool) -> Translation:
    """The translation of an empty text; its links, if asked for, are empty."""
    return EMPTY._replace(links="" if align else None)


def copied(tokens: Sequence[str], looked: AttentionRecord, words: Sequence[str]) -> list[str]:
    """The tokens with each `<unk>` replaced by the source word with most weight. Luong et al. (2015), rare words."""
    marks = {SPECIALS[mark] for mark in (PAD, SOS, EOS)}
    places = [place for place, token in enumerate(looked.source_tokens) if token not in marks]
    most = looked.weights[:, places].argmax(axis=1)
    return [words[int(most[row])] if token == SPECIALS[UNK] else token for row, token in enumerate(tokens)]


def _ranked(found: Sequence[Translation]) -> Translation:
    """The best one, with all of them as `n_best` if there are several."""
    return found[0]._replace(n_best=tuple(found) if len(found) > 1 else ())
