"""`/v1/look`: one map of one text, with further results, as plain values."""

from dataclasses import replace
from typing import Any, NamedTuple

from nungil.errors import UsageError, did_you_mean
from nungil.inspection.coverage import coverage_of
from nungil.inspection.lensmap import LensMap
from nungil.inspection.links import links_of
from nungil.inspection.measuring import PERMUTATIONS
from nungil.inspection.record import AttentionRecord
from nungil.pipeline import Classifier, Translator
from nungil.pipeline.texts import by_words, named, not_empty
from nungil.serving.answering import pairs_of, plain_classification
from nungil.serving.asked import Look
from nungil.serving.cost import refuse_costly
from nungil.serving.known import offers
from nungil.serving.limits import Limits
from nungil.serving.plain import places, plain_picture, plain_side, plain_strip
from nungil.serving.shelf import Served

MAIN = ("cross", "pooling")
UNKNOWN = 12  # unknown words with suggestions
OFFERED_ONLY = "it would take a while to measure; ask for honesty `full`"


class Written(NamedTuple):
    """A translation or label: its tokens, its text, and its record, if known."""

    tokens: tuple[str, ...]
    text: str
    record: AttentionRecord | None


def look(served: Served, asked: Look, limits: Limits) -> dict[str, Any]:
    """Where a model looks."""
    model = served.model
    if isinstance(model, Classifier) and asked.target is not None and asked.target not in model.config.labels:
        raise UsageError(f"target: there is no label {asked.target!r}{did_you_mean(asked.target, model.config.labels)}")
    written = asked.target if isinstance(model, Translator) else None
    record = served.record(asked.text, written) if model.config.attends else None
    lens = asked.lens or ("raw" if record is not None else "gradient-input")
    if lens == "raw" and record is not None:
        tokens, output, drawn = record.target_tokens, record.target, _attention(record, asked)
    else:
        refuse_costly(served, model.example(asked.text, asked.target), limits, lens)
        found = model.lens(asked.text, lens, asked.target, layer=asked.layer, head=asked.head)
        tokens, output, drawn = found.rows, found.output, _lens(found, asked)
    return {
        "model": served.name,
        "task": served.task,
        **_texts(served, Written(tokens, output, record), asked),
        "maps": served.description["maps"],
        "lenses": served.description["lenses"],
        "map": drawn,
        **_said(served, asked, record),
        **_honesty(served, asked, limits, drawn["kind"]),
    }


def _attention(record: AttentionRecord, asked: Look) -> dict[str, Any]:
    read = record.read_as(asked.reading) if asked.reading != "output" else record
    shown = read.merged() if asked.words else read
    one = shown.map_of(asked.kind, asked.layer)
    plain = plain_picture(shown.picture(asked.kind, asked.layer, asked.head))
    return {
        "lens": "raw",
        "kind": one.kind,
        "layer": one.layer,
        "head": asked.head,
        "heads": one.heads,
        "reading": asked.reading,
        "reads": shown.reading_of(one),
        "merged": asked.words,
        **plain,
        "row_places": places(read.tokens_of(one.rows), asked.words),
        "column_places": places(read.tokens_of(one.columns), asked.words),
    }


def _lens(found: LensMap, asked: Look) -> dict[str, Any]:
    if asked.kind not in (None, *MAIN) or asked.reading != "output":
        raise UsageError("kind and reading are for raw attention: a lens is of what is written and of what is read")
    shown = found.merged() if asked.words else found
    return {
        "lens": found.lens,
        "kind": None,
        "layer": asked.layer,
        "head": asked.head,
        "heads": None,
        "reading": "output",
        "reads": found.reading,
        "merged": asked.words,
        "measures": found.measures,
        **plain_picture(shown.picture()),
        "row_places": places(found.rows, asked.words),
        "column_places": places(found.columns, asked.words),
    }


def _texts(served: Served, written: Written, asked: Look) -> dict[str, Any]:
    """Both sides, and the unknown words of the source with suggestions."""
    model, encoded, text = served.model, served.encoded(asked.text), not_empty(asked.text)
    tokens, output, record = written
    names = named(encoded.ids, served.reads, text)
    source = plain_side(text, served.reads.tokens(encoded.ids), names, by_words(names, served.reads))
    spelt = by_words(tokens, model.tokenizers.target) if isinstance(model, Translator) else list(tokens)
    return {
        "source": {**source, "cut": encoded.cut},
        "target": plain_side(output, tokens, tokens, spelt),
        "input": list(record.input_tokens) if record is not None else [],
        "output": output,
        "score": None if record is None else record.score,
        "unknown": [{"word": word, "offers": offers(word, served.known)} for word in encoded.unknown[:UNKNOWN]],
    }


def _said(served: Served, asked: Look, record: AttentionRecord | None) -> dict[str, Any]:
    """Probabilities, word links and coverage."""
    model = served.model
    steps = [] if record is None else [step.model_dump(mode="json") for step in record.steps]
    links: list[list[int]] | None = None
    coverage = None
    if isinstance(model, Translator) and record is not None:
        layer, head = _place(asked, record)
        found = coverage_of(record, layer, head)
        coverage = None if found is None else found.to_json()
        encoded = served.encoded(asked.text)
        left = by_words(named(encoded.ids, served.reads, not_empty(asked.text)), served.reads)
        right = by_words(record.target_tokens, model.tokenizers.target)
        spelt = replace(record, source_tokens=tuple(left), target_tokens=tuple(right))
        links = pairs_of(links_of(spelt, asked.reading, layer, head))
    labels = plain_classification(model.classify([asked.text])[0]) if isinstance(model, Classifier) else None
    readers = "" if record is None else record.readers
    beam = None if record is None or record.beam is None else record.beam.model_dump(mode="json")
    said = {"steps": steps, "links": links, "coverage": coverage, "beam": beam}
    return said | {"classification": labels, "readers": readers}


def _place(asked: Look, record: AttentionRecord) -> tuple[int | None, int | None]:
    """The layer and head of a map across; of any other map, those of the main one."""
    across = asked.kind in (None, "cross") and "cross" in record.kinds
    return (asked.layer, asked.head) if across and asked.lens in (None, "raw") else (None, None)


def _honesty(served: Served, asked: Look, limits: Limits, kind: str | None) -> dict[str, Any]:
    """The honesty strip, if asked for and meaningful."""
    if asked.honesty == "none":
        return {"honesty": None, "honesty_missing": None}
    if kind not in MAIN:
        why = "it is of raw attention between what is written and what is read"
        return {"honesty": None, "honesty_missing": why}
    place = {"layer": asked.layer, "head": asked.head}
    if asked.honesty == "quick":
        strip = served.model.quick_honesty(asked.text, asked.target, **place)
    else:
        refuse_costly(served, served.model.example(asked.text, asked.target), limits, "honesty")
        strip = served.model.honesty(asked.text, asked.target, **place, permutations=PERMUTATIONS, seed=asked.seed)
    if strip is None:
        return {"honesty": None, "honesty_missing": OFFERED_ONLY}
    return {"honesty": plain_strip(strip), "honesty_missing": None}
