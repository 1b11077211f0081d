"""Examination: what a trained model makes of the test sentences, as counts of each of them."""

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import torch

from nungil.batches.batch import surround
from nungil.decoding.constraints import Constraints
from nungil.decoding.greedy import greedy
from nungil.decoding.native import batches_of
from nungil.decoding.stepper import Stepper
from nungil.inspection.heads import Desk as Heads
from nungil.inspection.heads import Which
from nungil.model.classifier import AttentionClassifier
from nungil.model.folder import ModelConfig
from nungil.model.recurrent import RecurrentSettings
from nungil.model.vocabulary import Vocabulary
from nungil.pipeline.texts import padded
from nungil.pipeline.translator import Translator
from nungil.scoring.alignment import score_parsed
from nungil.scoring.measures import Way, measure
from nungil.studies.job import Tally, tally
from nungil.studies.lesson import Trained
from nungil.studies.material import Material, Sentence
from nungil.text.tokenizers.train import TokenizerSettings

ROWS = 100
HALF = "every other"  # the sentences that alignment errors are counted on
SPARE, STRETCH = 5, 1.5  # tokens that a translation may have: so many for each of the source, and some more


class Translated(NamedTuple):
    """Translations of the test sentences, and how many a second."""

    texts: tuple[str, ...]
    per_second: float


@torch.inference_mode()
def translate(trained: Trained, material: Material, sentences: Sequence[Sentence] | None = None) -> Translated:
    """By greedy search, so that the model is measured and not the search."""
    chosen = material.test if sentences is None else sentences
    cut, found = material.tokenizers, [""] * len(chosen)
    ids = [surround(cut.source.encode(one.source), "both") for one in chosen]
    trained.model.eval()
    since = time.perf_counter()
    for places in batches_of([len(one) for one in ids], ROWS):
        source, keep = padded([ids[place] for place in places])
        longest = torch.tensor([math.ceil(STRETCH * len(ids[place])) + SPARE for place in places])
        for place, one in zip(
            places, greedy(cast(Stepper[Any], trained.model), source, keep, Constraints(longest)), strict=True
        ):
            found[place] = cut.target.decode(one.ids)
    return Translated(tuple(found), len(chosen) / max(1e-9, time.perf_counter() - since))


def quality(texts: Sequence[str], material: Material) -> dict[str, Tally]:
    """BLEU and chrF++ of the whole test set, and BLEU of each of its groups."""
    right = [one.target for one in material.test]
    found = measure(texts, right, Way(material.target_language, tokenizer="13a", ter=False))
    tallies = {
        "BLEU": tally("bleu", found["bleu"].counts.tolist()),
        "chrF++": tally("chrf", found["chrf++"].counts.tolist()),
    }
    for group in dict.fromkeys(one.group for one in material.test if one.group):
        rows = [
            row for row, one in zip(found["bleu"].counts.tolist(), material.test, strict=True) if one.group == group
        ]
        tallies[f"BLEU/{group}"] = tally("bleu", rows, group)
    return tallies


@torch.inference_mode()
def label(trained: Trained, material: Material) -> list[str]:
    """The label of each test sentence."""
    model = trained.model
    if not isinstance(model, AttentionClassifier):
        raise TypeError("labels come from a classifier")
    ids = [surround(material.tokenizers.source.encode(one.source), "both") for one in material.test]
    found = [""] * len(ids)
    model.eval()
    for places in batches_of([len(one) for one in ids], ROWS):
        best = model(*padded([ids[place] for place in places])).logits.argmax(dim=-1).tolist()
        for place, number in zip(places, best, strict=True):
            found[place] = material.labels[number]
    return found


def as_translator(trained: Trained, material: Material) -> Translator:
    """The model as the rest of nungil takes it, without a folder."""
    if isinstance(trained.model, AttentionClassifier):
        raise TypeError("a classifier translates nothing")
    cut = material.tokenizers
    config = ModelConfig(
        task="translate",
        target=material.target_language,
        longest=1_024,
        stretch=STRETCH,
        vocabulary=Vocabulary(source=cut.source.size, target=cut.target.size, joint=cut.joint),
        tokenizer=TokenizerSettings(unit="word"),
        files={},
        model=trained.model.settings,
    )
    return Translator(config, trained.model, cut)


def attends(trained: Trained) -> bool:
    """Whether there is a source attention to read links from."""
    settings = trained.arm.model
    return not isinstance(settings, RecurrentSettings) or settings.decoder != "plain"


def alignment(trained: Trained, material: Material) -> dict[str, Tally]:
    """The alignment error of the best head and reading: chosen on every other sentence, counted on the rest."""
    gold = [one.links for one in material.test]
    desk = Heads(gold)
    translator = as_translator(trained, material)
    for place, record in translator.look_at_pairs([(one.source, one.target) for one in material.test]):
        desk.add(place, record)
    best = desk.choose().chosen_on
    links = desk.links(Which(best.layer, best.head, best.reading), range(1, len(gold), 2))
    return {"AER": tally("aer", aer_counts(links, desk.gold[1::2]), HALF)}


def aer_counts(links: Sequence[frozenset[tuple[int, int]]], gold: Sequence[Any]) -> list[tuple[int, int, int, int]]:
    """Of each sentence: links in sure, in possible, made, sure ones there are."""
    rows = []
    for made, truth in zip(links, gold, strict=True):
        found = score_parsed([made], [truth])
        rows.append((len(made & truth.sure), len(made & truth.possible), found.links, found.sure))
    return rows
