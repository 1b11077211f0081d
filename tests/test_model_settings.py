"""Settings of models: the sentences that refuse nonsense, and how many numbers are learned."""

import pytest
from small_models import (
    ADDITIVE,
    CLASSES,
    SOURCE,
    TARGET,
    A,
    E,
    F,
    W,
    classifier,
    recurrent,
    transformer,
)

from nungil.errors import ConfigError
from nungil.model.build import ModelSettings, parameter_count
from nungil.settings import Settings, build_settings


def layer_size(gates: int, inputs: int, width: int) -> int:
    """W x + U h and two biases, for every gate."""
    return gates * width * (inputs + width + 2)


def block_size(attentions: int) -> int:
    """Attentions of four projections, a feed-forward of two, and a norm around each."""
    return attentions * 4 * (W * W + W) + (W * F + F + F * W + W) + (attentions + 1) * 2 * W


EMBEDDINGS = SOURCE * E + TARGET * E
HALF = W // 2
COUNTS = {
    "luong, general, tied": (
        lambda: recurrent(),
        EMBEDDINGS
        + 2 * layer_size(4, E, HALF)  # encoder, two directions
        + 2 * (W * W + W)  # bridge, h and c
        + layer_size(4, E, W)
        + W * W  # general
        + 2 * W * E  # tanh(W[c; s]), as wide as the embedding that it is tied to
        + TARGET,
    ),
    "luong, coverage, fed, two layers": (
        lambda: recurrent(cell="gru", score={"name": "coverage", "size": A}, input_feeding=True, decoder_layers=2),
        EMBEDDINGS
        + 2 * layer_size(3, E, HALF)
        + (W * 2 * W + 2 * W)
        + layer_size(3, E + E, W)
        + layer_size(3, W, W)
        + (W * A + W * A + A + A)  # query, key, vector, coverage
        + 2 * W * E
        + TARGET,
    ),
    "bahdanau, local-p of additive, untied": (
        lambda: recurrent(
            cell="rnn", decoder="bahdanau", score={**ADDITIVE, "window": "local-p"}, tie=False, encoder_layers=2
        ),
        EMBEDDINGS
        + 2 * layer_size(1, E, HALF)
        + 2 * layer_size(1, W, HALF)
        + (W * W + W)
        + layer_size(1, E + W, W)
        + (W * A + W * A + A)
        + (W * W + W)  # the predicted centre
        + 2 * W * W
        + (W * TARGET + TARGET),
    ),
    "plain, one direction": (
        lambda: recurrent(decoder="plain", cell="gru", bidirectional=False),
        EMBEDDINGS + layer_size(3, E, W) + (W * W + W) + layer_size(3, E, W) + (W * TARGET + TARGET),
    ),
    "luong, direct, dot": (
        lambda: recurrent(cell="gru", output="direct", score={"name": "dot"}),
        EMBEDDINGS + 2 * layer_size(3, E, HALF) + (W * W + W) + layer_size(3, E, W) + (2 * W * TARGET + TARGET),
    ),
    "transformer": (
        lambda: transformer(),
        SOURCE * W + TARGET * W + 2 * block_size(1) + 3 * block_size(2) + 2 * 2 * W + TARGET,
    ),
    "transformer, post-norm, nothing tied": (
        lambda: transformer(norm="post", tie="none"),
        SOURCE * W + 2 * TARGET * W + 2 * block_size(1) + 3 * block_size(2) + TARGET,
    ),
    "transformer, all tied": (
        lambda: transformer(joint=True),
        TARGET * W + 2 * block_size(1) + 3 * block_size(2) + 2 * 2 * W + TARGET,
    ),
    "classifier of post 001": (
        lambda: classifier(score=ADDITIVE),
        SOURCE * E + 2 * layer_size(4, E, HALF) + (2 * W * A + A) + (W * 11 + 11) + (11 * CLASSES + CLASSES),
    ),
    "classifier, transformer, learned query, n-grams": (
        lambda: classifier(encoder="transformer", score={"name": "dot"}, ngrams={"buckets": 31}),
        SOURCE * W + block_size(1) + 2 * W + W + (W * 11 + 11) + (11 * CLASSES + CLASSES) + 2 * 31 * CLASSES + CLASSES,
    ),
    "classifier, embeddings, mean": (
        lambda: classifier(encoder="none", pooling="mean"),
        SOURCE * E + (E * 11 + 11) + (11 * CLASSES + CLASSES),
    ),
}


@pytest.mark.parametrize(("make", "expected"), COUNTS.values(), ids=list(COUNTS))
def test_parameters_are_counted_as_the_formulas_say(make, expected):
    assert parameter_count(make()) == expected


class Recipe(Settings):
    model: ModelSettings


@pytest.mark.parametrize(
    ("model", "mistakes"),
    [
        (
            {"kind": "recurrent", "width": 7},
            ["model: width 7 is odd, but two directions share it; choose an even one"],
        ),
        (
            {"kind": "classifier", "width": 7},
            ["model: width 7 is odd, but two directions share it; choose an even one"],
        ),
        (
            {"kind": "transformer", "width": 10, "heads": 4},
            ["model: width 10 cannot be shared by 4 heads; choose a multiple"],
        ),
        (
            {"kind": "classifier", "encoder": "transformer", "width": 10, "heads": 4},
            ["model: width 10 cannot be shared by 4 heads; choose a multiple"],
        ),
        (
            {"kind": "recurrent", "decoder": "bahdanau", "input_feeding": True},
            ["model: input_feeding is Luong's; with decoder bahdanau leave it out"],
        ),
        (
            {"kind": "recurrent", "decoder": "plain", "tie": True},
            ["model: tie needs decoder luong or bahdanau with output tanh: only then do the widths agree"],
        ),
        (
            {"kind": "recurrent", "output": "direct", "tie": True},
            ["model: tie needs decoder luong or bahdanau with output tanh: only then do the widths agree"],
        ),
        (
            {"kind": "transformer", "widht": 3, "norm": "past"},
            [
                "[model] norm: there is no 'past'; did you mean post?",
                "[model] widht: no such setting; did you mean width?",
            ],
        ),
        (
            {"kind": "recurrent", "score": {"name": "generel", "rech": 2}},
            [
                "[model.score] name: there is no 'generel'; did you mean general?",
                "[model.score] rech: no such setting; did you mean reach?",
            ],
        ),
        (
            {"kind": "classifier", "ngrams": {"longest": 9}},
            ["[model.ngrams] longest: must be at most 5"],
        ),
        ({"kind": "transfromer"}, ["[model] kind: there is no 'transfromer'; did you mean transformer?"]),
        ({"width": 4}, ["[model] kind: is missing; there is classifier, recurrent, transformer"]),
        (None, ["model: holds nothing where settings (`name: value`) are expected"]),
    ],
)
def test_settings_refuse_nonsense_in_a_sentence(model, mistakes):
    with pytest.raises(ConfigError) as error:
        build_settings({"model": model}, Recipe, "recipe.yaml")
    assert list(error.value.mistakes) == mistakes


@pytest.mark.parametrize("kind", ["recurrent", "transformer", "classifier"])
def test_a_kind_alone_is_a_whole_recipe_and_survives_being_written_down(kind):
    recipe = build_settings({"model": {"kind": kind}}, Recipe, "recipe.yaml")
    assert recipe.model.kind == kind
    assert build_settings(recipe.model_dump(mode="json"), Recipe, "recipe.yaml") == recipe
