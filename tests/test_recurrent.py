"""The recurrent translator against the papers' formulas, sentence by sentence and step by step."""

import pytest
import references
import torch
from small_models import (
    LENGTHS,
    B,
    E,
    S,
    T,
    W,
    recurrent,
    sentences,
    source_batch,
    step_by_step,
    target_batch,
    weights_of,
)

from nungil.model.cells import CellState, Layers
from nungil.model.embedding import Embedding
from nungil.model.encoders import RecurrentEncoder, RecurrentEncoderSettings

EXACT = 1e-12
UNIDIRECTIONAL = {"bidirectional": False, "width": 9}

# Every value of every setting at least once, and every pair that shares a line of code.
ARCHITECTURES = {
    "post 000: LSTM, dot, [c; s] to the vocabulary": {"score": {"name": "dot"}, "output": "direct"},
    "luong, general": {"cell": "gru", "score": {"name": "general"}},
    "luong, general, fed": {"score": {"name": "general"}, "input_feeding": True, "decoder_layers": 2},
    "luong, direct, fed": {"cell": "rnn", "output": "direct", "input_feeding": True, **UNIDIRECTIONAL},
    "luong, scaled-dot, three layers": {"score": {"name": "scaled-dot"}, "encoder_layers": 3, "decoder_layers": 3},
    "luong, untied": {"cell": "gru", "score": {"name": "concat", "size": 8}, "tie": False},
    "luong, untied, fed": {"cell": "gru", "tie": False, "input_feeding": True, "encoder_layers": 2},
    "luong, location": {"cell": "rnn", "score": {"name": "location", "longest": 12}, **UNIDIRECTIONAL},
    "luong, coverage": {"cell": "gru", "score": {"name": "coverage", "size": 8}},
    "luong, coverage, fed": {"score": {"name": "coverage", "size": 8}, "input_feeding": True, **UNIDIRECTIONAL},
    "luong, local-m": {"score": {"name": "general", "window": "local-m", "reach": 1}},
    "luong, local-m, fed": {"score": {"name": "dot", "window": "local-m", "reach": 1}, "input_feeding": True},
    "luong, local-p": {"cell": "rnn", "score": {"name": "additive", "size": 8, "window": "local-p", "reach": 2}},
    "luong, local-p of coverage": {"score": {"name": "coverage", "window": "local-p", "reach": 2}},
    "bahdanau": {"cell": "gru", "decoder": "bahdanau", "score": {"name": "additive", "size": 8}},
    "bahdanau, two layers": {"decoder": "bahdanau", "score": {"name": "additive"}, "decoder_layers": 2},
    "bahdanau, direct": {"cell": "rnn", "decoder": "bahdanau", "output": "direct", **UNIDIRECTIONAL},
    "bahdanau, coverage": {"decoder": "bahdanau", "score": {"name": "coverage", "size": 8}, "tie": False},
    "bahdanau, local-m": {"decoder": "bahdanau", "score": {"name": "concat", "window": "local-m", "reach": 1}},
    "bahdanau, local-p": {"cell": "gru", "decoder": "bahdanau", "score": {"window": "local-p", "reach": 2}},
    "plain, LSTM": {"decoder": "plain", "encoder_layers": 2, "decoder_layers": 3},
    "plain, GRU": {"decoder": "plain", "cell": "gru", **UNIDIRECTIONAL},
    "plain, RNN": {"decoder": "plain", "cell": "rnn", "decoder_layers": 2, "tie": False},
    "luong, embeddings read as they are": {"scale_embedding": False},
}
each = pytest.mark.parametrize("chosen", ARCHITECTURES.values(), ids=list(ARCHITECTURES))


@each
def test_equals_the_papers_sentence_by_sentence(chosen):
    model, (source, keep), target = recurrent(**chosen), source_batch(), target_batch()
    decoded = model(source, keep, target)
    logits = model.logits(decoded.features)
    for row, words in enumerate(sentences(source, keep)):
        expected, looks = references.recurrent(
            weights_of(model), model.settings.model_dump(), words, target[row].tolist()
        )
        assert torch.allclose(logits[row], expected, atol=EXACT, rtol=0)
        if looks is None:
            assert decoded.weights is None
        else:
            assert torch.allclose(decoded.weights[row, :, : len(words)], looks, atol=EXACT, rtol=0)
            assert (decoded.weights[row, :, len(words) :] == 0).all()


@each
def test_the_whole_sentence_at_once_equals_one_step_at_a_time(chosen):
    model, (source, keep), target = recurrent(**chosen), source_batch(), target_batch()
    decoded = model(source, keep, target)
    log_probs, weights = step_by_step(model, source, keep, target)
    assert torch.allclose(log_probs, model.logits(decoded.features).log_softmax(-1), atol=EXACT, rtol=0)
    assert (weights is None) == (decoded.weights is None)
    if weights is not None:
        assert torch.allclose(weights, decoded.weights, atol=EXACT, rtol=0)


@pytest.mark.parametrize("cell", ["lstm", "gru", "rnn"])
@pytest.mark.parametrize("bidirectional", [True, False])
@pytest.mark.parametrize("layers", [1, 3])
def test_an_encoder_ends_where_each_sentence_ends(cell, bidirectional, layers):
    settings = RecurrentEncoderSettings(cell=cell, width=W, layers=layers, bidirectional=bidirectional)
    encoder = RecurrentEncoder(E, settings).double().eval()
    for parameter in encoder.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    embedded, keep = torch.randn(B, S, E, dtype=torch.float64), source_batch()[1]
    encoded = encoder(embedded, keep)
    assert encoded.states.shape == (B, S, W)
    assert encoded.last.shape == (layers, B, W)
    assert (encoded.cell is None) == (cell != "lstm")
    for row, length in enumerate(LENGTHS):
        words = list(embedded[row, :length])
        states, lasts, cells = references.encode(cell, words, weights_of(encoder), bidirectional)
        assert torch.allclose(encoded.states[row, :length], states, atol=EXACT, rtol=0)
        assert (encoded.states[row, length:] == 0).all()
        assert torch.allclose(encoded.last[:, row], lasts, atol=EXACT, rtol=0)
        if encoded.cell is not None:
            assert torch.allclose(encoded.cell[:, row], cells, atol=EXACT, rtol=0)


@pytest.mark.parametrize("cell", ["lstm", "gru", "rnn"])
def test_layers_give_the_same_at_once_and_step_by_step(cell):
    layers = Layers(cell, E, W, 2, 0.0).double()
    inputs = torch.randn(B, T, E, dtype=torch.float64)
    first = torch.randn(2, B, W, dtype=torch.float64)
    state = CellState(first, torch.randn_like(first) if cell == "lstm" else None)
    whole = layers(inputs, state)
    for t in range(T):
        top, state = layers.step(inputs[:, t], state)
        assert torch.allclose(top, whole[:, t], atol=EXACT, rtol=0)
        assert torch.equal(top, state.hidden[-1])


def test_an_lstm_begins_by_remembering():
    layer = Layers("lstm", E, W, 1, 0.0).layers[0]
    i, f, g, o = (layer.bias_ih_l0 + layer.bias_hh_l0).chunk(4)
    assert (f == 1).all()
    assert all((gate == 0).all() for gate in (i, g, o))


def test_recurrent_matrices_begin_orthogonal_gate_by_gate():
    layer = Layers("gru", E, W, 1, 0.0).layers[0]
    for gate in layer.weight_hh_l0.chunk(3):
        assert torch.allclose(gate @ gate.T, torch.eye(W), atol=1e-5)


def test_whoever_reads_embeddings_gets_numbers_of_about_one():
    torch.manual_seed(3)
    embedding, every = Embedding(4_001, 16), torch.arange(4_001)[None]
    read = embedding(every).detach()
    assert float(read.std()) == pytest.approx(1, rel=0.02)
    assert torch.equal(embedding.every(), read[0])
    assert torch.equal(read[0], 4 * embedding.table.weight.detach())
    plain = Embedding(4_001, 16, scaled=False)
    assert torch.equal(plain(every)[0], plain.table.weight)


def test_the_vocabulary_is_the_target_embedding_where_it_is_tied():
    def tied(**chosen):
        model = recurrent(**chosen)
        return model.output.weight is model.target_embedding.table.weight

    assert tied()
    assert tied(decoder="bahdanau", tie=True)
    assert not tied(tie=False)
    assert not tied(output="direct")
    assert not tied(decoder="plain")
