"""Small models of every architecture, with weights that leave nothing at zero, and batches of unequal sentences."""

from collections.abc import Iterator

import torch
from mechanisms import keep_first
from torch import Tensor, nn

from nungil.model.build import build_classifier, build_translator
from nungil.model.classifier import AttentionClassifier, ClassifierSettings
from nungil.model.recurrent import RecurrentSettings, RecurrentTranslator
from nungil.model.transformer import TransformerSettings, TransformerTranslator
from nungil.model.vocabulary import Vocabulary

# All different: a swapped axis cannot pass.  The middle sentence fills the batch, the others are padded.
B, S, T, CLASSES = 3, 6, 4, 5
SOURCE, TARGET = 19, 23
LENGTHS = [4, 6, 2]
E, W, A, F = 7, 10, 8, 14  # embedding, width (two directions of 5), attention width, feed-forward
HEADS = 2
PAD = 0

RECURRENT = {"embedding": E, "width": W, "dropout": 0.0}
TRANSFORMER = {"width": W, "heads": HEADS, "feed_forward": F, "encoder_layers": 2, "decoder_layers": 3, "dropout": 0.0}
CLASSIFIER = {"embedding": E, "width": W, "heads": HEADS, "feed_forward": F, "dense": 11, "dropout": 0.0}


def scrambled(model: nn.Module) -> nn.Module:
    """Every weight at random, biases and norms too: a part that is left out cannot pass for a part that is zero."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.5)
    return model.double()


def recurrent(**chosen: object) -> RecurrentTranslator:
    settings = RecurrentSettings.model_validate({**RECURRENT, **chosen})
    return scrambled(build_translator(settings, Vocabulary(source=SOURCE, target=TARGET)))


def transformer(joint: bool = False, **chosen: object) -> TransformerTranslator:
    settings = TransformerSettings.model_validate({**TRANSFORMER, **chosen})
    vocabulary = Vocabulary(source=TARGET if joint else SOURCE, target=TARGET, joint=joint)
    return scrambled(build_translator(settings, vocabulary))


def classifier(**chosen: object) -> AttentionClassifier:
    settings = ClassifierSettings.model_validate({**CLASSIFIER, **chosen})
    return scrambled(build_classifier(settings, SOURCE, CLASSES))


def source_batch() -> tuple[Tensor, Tensor]:
    """Sources of unequal length, and which of their tokens are real."""
    keep = keep_first(LENGTHS, S)
    return torch.randint(4, SOURCE, (B, S)).masked_fill(~keep, PAD), keep


def target_batch() -> Tensor:
    return torch.randint(4, TARGET, (B, T))


def sentences(source: Tensor, keep: Tensor) -> Iterator[list[int]]:
    """Each sentence without its padding."""
    for row, kept in zip(source, keep, strict=True):
        yield row[kept].tolist()


def weights_of(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach() for name, value in model.state_dict().items()}


def step_by_step(model: nn.Module, source: Tensor, keep: Tensor, target: Tensor) -> tuple[Tensor, Tensor | None]:
    """Log-probabilities and weights of a translator that is asked for one word after another."""
    state = model.start(source, keep)
    probabilities, looks = [], []
    for t in range(target.shape[1]):
        stepped = model.step(target[:, t], state)
        state = stepped.state
        probabilities.append(stepped.log_probs)
        looks.append(stepped.weights)
    return torch.stack(probabilities, dim=1), None if looks[0] is None else torch.stack(looks, dim=1)


ADDITIVE = {"name": "additive", "size": A}
TRANSLATORS = {
    "plain": lambda: recurrent(decoder="plain", decoder_layers=2),
    "luong": lambda: recurrent(cell="gru"),
    "luong, fed": lambda: recurrent(input_feeding=True),
    "luong, direct": lambda: recurrent(output="direct", score={"name": "dot"}, cell="rnn", scale_embedding=False),
    "luong, coverage": lambda: recurrent(score={"name": "coverage", "size": A}),
    "luong, local-m": lambda: recurrent(score={"window": "local-m", "reach": 1}),
    "luong, local-p": lambda: recurrent(score={"window": "local-p", "reach": 2}),
    "luong, location": lambda: recurrent(score={"name": "location", "longest": 12}),
    "bahdanau": lambda: recurrent(decoder="bahdanau", score=ADDITIVE, cell="gru", encoder_layers=2, decoder_layers=2),
    "bahdanau, coverage": lambda: recurrent(decoder="bahdanau", score={"name": "coverage", "size": A}),
    "transformer": lambda: transformer(),
    "transformer, post-norm": lambda: transformer(norm="post", tie="none"),
    "transformer, joint": lambda: transformer(joint=True, positions="none"),
}
CLASSIFIERS = {
    "post 001": lambda: classifier(),
    "post 001, local-p": lambda: classifier(score={"window": "local-p", "reach": 2}),
    "GRU, learned query": lambda: classifier(encoder="gru", query="learned", layers=2, scale_embedding=False),
    "RNN, last": lambda: classifier(encoder="rnn", pooling="last", bidirectional=False),
    "LSTM, max": lambda: classifier(pooling="max", ngrams={"longest": 2, "buckets": 31}),
    "transformer": lambda: classifier(encoder="transformer", layers=2),
    "transformer, last": lambda: classifier(encoder="transformer", pooling="last"),
    "embeddings": lambda: classifier(encoder="none"),
    "embeddings, mean": lambda: classifier(encoder="none", pooling="mean"),
}
MODELS = TRANSLATORS | {f"classifier: {name}": make for name, make in CLASSIFIERS.items()}


def is_translator(model) -> bool:
    return hasattr(model, "step")


def answer(model, source, keep, target, eye=None):
    """Logits of any model: (B, T, V) of a translator, (B, C) of a classifier."""
    if is_translator(model):
        return model.logits(model(source, keep, target, eye).features)
    return model(source, keep, eye).logits
