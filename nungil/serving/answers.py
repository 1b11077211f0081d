"""Answers, for the OpenAPI document only: responses are not validated against these."""

from typing import Any

from pydantic import BaseModel, Field


class MapName(BaseModel):
    """One attention of a model."""

    kind: str
    layer: int
    heads: int


class ModelTold(BaseModel):
    """A model."""

    name: str
    task: str
    source: str
    target: str
    labels: list[str]
    kind: str
    attends: bool
    lenses: list[str]
    lenses_missing: dict[str, str]
    maps: list[MapName]
    unit: str
    longest: int
    vocabulary: dict[str, int]
    parameters: int
    examples: list[str]


class Models(BaseModel):
    """The models served."""

    models: list[ModelTold]


class Translated(BaseModel):
    """One translation."""

    text: str
    score: float | None = Field(description="The mean log-probability of its tokens; null if not computed.")
    source: str
    tokens: list[str]
    source_tokens: list[str]
    probabilities: list[float] = Field(description="Of each token, and of <eos> if finished.")
    finished: bool
    cut: bool = Field(description="Whether the source was longer than the model reads.")
    unknown: list[str] = Field(description="Words of the source not in the vocabulary.")
    links: list[list[int]] | None = Field(description="Pairs of a source word and a target word, from 0.")
    n_best: list[dict[str, Any]] = Field(description="This one and the next best, if several were asked for.")


class Translations(BaseModel):
    """One for each text."""

    model: str
    translations: list[Translated]


class Classified(BaseModel):
    """One label."""

    label: str
    probability: float
    probabilities: dict[str, float]
    source: str
    cut: bool
    unknown: list[str]


class Classifications(BaseModel):
    """One for each text."""

    model: str
    classifications: list[Classified]


class Side(BaseModel):
    """One side of a look."""

    text: str
    tokens: list[str] = Field(description="The model's tokens.")
    names: list[str] = Field(description="The same, with unknown words spelt out.")
    marks: list[int] = Field(description="The places of <sos> and <eos>.")
    words: list[dict[str, Any]] = Field(description="Each with its text and the places of its tokens.")


class Drawn(BaseModel):
    """A picture: rows look, columns are looked at."""

    title: str
    rows: list[str]
    columns: list[str]
    values: list[list[float]]
    notes: list[str]
    signed: bool
    bars: bool
    high: float = Field(description="The number at the end of the colour scale.")
    sums: list[float]
    spread: list[float | None] | None = Field(description="Entropy / ln n of each row.")


class Map(Drawn):
    """The map that was asked for."""

    lens: str
    kind: str | None
    layer: int | None
    head: int | None
    heads: int | None
    reading: str
    reads: str
    merged: bool
    measures: str | None = None
    row_places: list[list[int]]
    column_places: list[list[int]]


class Looked(BaseModel):
    """One map of one text, with further results."""

    model: str
    task: str
    source: Side
    target: Side
    input: list[str]
    output: str
    score: float | None
    unknown: list[dict[str, Any]]
    maps: list[MapName]
    lenses: list[str]
    map: Map
    steps: list[dict[str, Any]]
    links: list[list[int]] | None
    coverage: dict[str, Any] | None
    classification: Classified | None
    readers: str = Field(description="With n-grams: the probabilities by attention and by n-grams.")
    honesty: dict[str, Any] | None
    honesty_missing: str | None


class Explained(BaseModel):
    """A ledger, as `nungil explain --json` prints it, and its text for a page."""

    model: str
    mechanism: str
    kind: str | None = None
    layer: int | None = None
    numbers: dict[str, Any]
    steps: list[dict[str, Any]]
    residual: float = Field(description="The largest difference between these numbers and the model's own output.")
    against: str
    page: dict[str, Any]


class Intervened(BaseModel):
    """The result of an intervention; further fields depend on `question`."""

    model: str
    question: str
    picture: Drawn
    lines: list[str]
