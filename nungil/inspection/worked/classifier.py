"""A classifier from its embeddings to its labels: any encoder, any pooling, n-grams beside them or not."""

from dataclasses import replace

import numpy as np

from nungil.inspection.arithmetic import look
from nungil.inspection.ledger import Array
from nungil.inspection.sheet import Sheet
from nungil.inspection.worked.acts import act_of
from nungil.inspection.worked.asked import Asked, Worked
from nungil.inspection.worked.cells import NAMES, read
from nungil.inspection.worked.parameters import Parameters, times
from nungil.inspection.worked.transformer import Looks, embed, encode
from nungil.model.blocks import BlockSettings
from nungil.model.classifier import ClassifierSettings
from nungil.model.ngrams import MODULUS, MULTIPLIER, NOTHING, STRIDE, NgramSettings


def work_out(weights: Parameters, settings: ClassifierSettings, asked: Asked) -> Worked:
    """Every line from the tokens to the probability of each label."""
    sheet = Sheet()
    states, last, looks = _read(sheet, weights, settings, asked)
    sheet.open("pooling")
    if settings.pooling == "attention":
        vector, weighed = _attend(sheet, weights.under("pooling"), settings, (states, last), asked)
        looks["pooling", 0], symbol = weighed[None, None], "c"
    else:
        vector, symbol = _pool(sheet, settings, states, last, asked), "v"
    wide = None if settings.ngrams is None else _wide(sheet, weights.under("ngrams"), settings.ngrams, asked)
    sheet.open("output")
    dense = np.maximum(weights.linear("dense", vector), 0)
    dense = sheet.write("dense", f"d = relu(W {symbol} + b)", dense)
    logits = weights.linear("output", dense)
    if wide is None:
        sheet.write("logit", "z = W_s d + b_s", logits, asked.outputs)
    else:
        sheet.write("logit of the states", "z_d = W_s d + b_s", logits, asked.outputs)
        logits = sheet.write("logit", "z = (z_d + z_g) / 2", (logits + wide) / 2, asked.outputs)
    probabilities = sheet.softmax(logits, np.ones(len(logits)), asked.outputs, "probability")
    return Worked(tuple(sheet.steps), looks, probabilities)


def _read(
    sheet: Sheet, weights: Parameters, settings: ClassifierSettings, asked: Asked
) -> tuple[Array, Array | None, Looks]:
    """A state for each token; the last one where the encoder ends in one; and where it looks."""
    sheet.open("encoder")
    encoder = weights.under("encoder")
    if settings.encoder == "transformer":
        embedded = embed(
            sheet, weights.rows("embedding.table.weight", asked.source), settings.positions == "sinusoidal", asked.axis
        )
        blocks = BlockSettings(width=settings.width, heads=settings.heads, norm=settings.norm)
        states, looks = encode(sheet, encoder, blocks, embedded, asked)
        return states, None, looks
    vectors = weights.embedded("embedding", asked.source, settings.scales)
    formula = f"E[token]{times(vectors, settings.scales)}"
    if settings.encoder == "none":
        return sheet.write("hidden state", f"h_s = {formula}", vectors, asked.axis), None, {}
    sheet.write("embedding", f"x = {formula}", vectors, asked.axis)
    both = settings.bidirectional
    found = read(settings.encoder, vectors, encoder, settings.layers, both)
    sheet.write("hidden state", f"h_s = {'[→; ←]' if both else NAMES[settings.encoder]}", found.states, asked.axis)
    return found.states, sheet.write("last state", "h_n = [→; ←]" if both else "h_n", found.last.hidden), {}


def _attend(
    sheet: Sheet,
    weights: Parameters,
    settings: ClassifierSettings,
    read_: tuple[Array, Array | None],
    asked: Asked,
) -> tuple[Array, Array]:
    """One look at the whole text: context and weights."""
    states, last = read_
    if settings.asked_by == "learned":
        query, symbol = weights["query"], "q"
    elif last is not None:
        query, symbol = last, "h_n"
    else:
        query, symbol = sheet.write("mean state", "q = Σ h_s / S", states.mean(axis=0)), "q"
    act = act_of(weights.under("attention"), settings.score, query, states, asked.source_tokens)
    looked = look(sheet, replace(act, asks=symbol))
    return looked.context, looked.weights


def _pool(sheet: Sheet, settings: ClassifierSettings, states: Array, last: Array | None, asked: Asked) -> Array:
    """The poolings that do not look."""
    if settings.pooling == "mean":
        return sheet.write("pooled", "v = Σ h_s / S", states.mean(axis=0))
    if settings.pooling == "max":
        won = np.bincount(states.argmax(axis=0), minlength=len(states)).astype(np.float64)
        sheet.write("units won", "argmax = h_s", won, asked.axis)
        return sheet.write("pooled", "v = max h_s", states.max(axis=0))
    return sheet.write("pooled", "v = h_n" if last is not None else "v = h_S", states[-1] if last is None else last)


def _wide(sheet: Sheet, weights: Parameters, settings: NgramSettings, asked: Asked) -> Array:
    """What the reader of n-grams says: its own logits."""
    sheet.open("n-grams")
    buckets = sorted(_hashed(settings, asked))
    sheet.write("count of n-grams", "N", np.asarray(len(buckets)))
    counted, learned = weights.rows("ratios", buckets), weights.rows("table", buckets)
    length = np.maximum(np.sqrt((counted**2).sum(axis=0)), NOTHING)
    sheet.write("length of n-grams", "ℓ = √Σ r²", length, asked.outputs)
    said = sheet.write("sum of n-grams", "Σ r·w", (counted * learned).sum(axis=0), asked.outputs)
    logits = STRIDE * said / length + weights["bias"]
    return sheet.write("logit of n-grams", f"z_g = {STRIDE:g} Σ r·w / ℓ + b_g", logits, asked.outputs)


def _hashed(settings: NgramSettings, asked: Asked) -> set[int]:
    """The buckets of the distinct n-grams."""
    buckets = set()
    for n in range(1, settings.longest + 1):
        for first in range(len(asked.source) - n + 1):
            number = 0
            for count, token in enumerate(asked.source[first : first + n], start=1):
                number = (number * MULTIPLIER + token + count) % MODULUS
            buckets.add(number % settings.buckets)
    return buckets
