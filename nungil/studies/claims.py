"""Claims: what is said about attention, by whom, and what is asked of it here. No torch."""

from typing import NamedTuple

from nungil.errors import UsageError, did_you_mean


class Claim(NamedTuple):
    """One claim: a short name, what is said, where, and the question that a study answers."""

    name: str
    said: str
    by: str
    question: str


_ALL = (
    Claim(
        "length",
        "A fixed vector cannot hold a long sentence, its first words least of all; attention repairs that.",
        "posts 000, 001 and 004",
        "Does translation get worse with length, and are early words lost, without and with attention?",
    ),
    Claim(
        "mechanisms",
        "There are many score functions; they differ in their formula, and the rest is nearly the same.",
        "posts 001 and 004",
        "How do the scores, the decoder styles and the Transformer differ in quality, alignment error and speed?",
    ),
    Claim(
        "gradient",
        "Attention does away with vanishing gradients.",
        "post 004",
        "How much gradient reaches a source word, by its distance, without and with attention?",
    ),
    Claim(
        "parallel",
        "A recurrent network waits for its last step; a Transformer does not, so it trains and predicts faster.",
        "post 002",
        "How fast do both train and decode as sentences and batches grow?",
    ),
    Claim(
        "order",
        "A Transformer does not know the order of words unless positions tell it.",
        "post 002",
        "What does a Transformer lose without positions?",
    ),
    Claim(
        "homonyms",
        "Self-attention tells words apart that are written alike.",
        "post 003",
        "Are 눈, 배, 밤 and others translated in their right sense, by model and by distance of the deciding word?",
    ),
    Claim(
        "heads",
        "Several heads side by side are better than one.",
        "post 003",
        "What do more heads add at equal width?",
    ),
    Claim(
        "looking",
        "The attention distribution shows where the decoder looks.",
        "posts 000 and 004",
        "Does attention point at the right word, and does the output depend on it?",
    ),
    Claim(
        "embedding",
        "Attention compares words by their embeddings, so the embedding layer decides.",
        "post 000",
        "How much is lost when embeddings are random and frozen, or narrow?",
    ),
    Claim(
        "classifier",
        "Attention over a bidirectional LSTM makes a better classifier.",
        "post 001",
        "Is attention pooling better than mean, max or last, and than TF-IDF with logistic regression?",
    ),
)
CLAIMS = {claim.name: claim for claim in _ALL}
EVERYTHING = "all"


def claim_named(name: str) -> Claim:
    """The claim of this name, or a sentence on what there is."""
    if name not in CLAIMS:
        raise UsageError(f"there is no study {name}{did_you_mean(name, [*CLAIMS, EVERYTHING])}")
    return CLAIMS[name]
