"""What a model knows: example texts, and known words to suggest for unknown ones."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from nungil.errors import NungilError
from nungil.inspection.merging import spell
from nungil.model.folder import ModelConfig
from nungil.pipeline.texts import encode
from nungil.runs.kept import kept_records
from nungil.text.tokenizers.base import SPECIALS, Tokenizer
from nungil.text.tokenizers.pieces import SPACE
from nungil.text.tokenizers.vocabulary import JOINER

EXAMPLES = 6
SHORT = 3, 12  # words of a good example text
OFFERS = 5  # words suggested for one
COMPARED = 3_000  # known words compared in spelling; more would take too long
BUILT_IN = (
    *("I like snow", "The child ate a pear", "We saw a ship yesterday", "I ate an apple at night"),
    *("눈이 내린다", "배가 가라앉았다", "그녀는 눈이 아프다", "나는 눈을 좋아한다"),
    *("This film is wonderful", "What a waste of time", "A dog runs through the snow"),
)


def words_known(tokenizer: Tokenizer) -> tuple[str, ...]:
    """The words of a vocabulary as people write them, the most frequent first where the tokenizer keeps that order."""
    tokens = tokenizer.tokens(range(tokenizer.size))[len(SPECIALS) :]
    pieces = any(token.startswith(SPACE) for token in tokens)
    whole = [token for token in tokens if (token.startswith(SPACE) if pieces else not token.startswith(JOINER))]
    return tuple(dict.fromkeys(word for word in (spell([token], [0]) for token in whole) if word.isalpha()))


def offers(word: str, known: Sequence[str]) -> list[str]:
    """Known words of similar spelling; if there are none, any known words."""
    first = word[:1].casefold()
    like = [one for one in known if abs(len(one) - len(word)) <= 3]
    like = [one for one in like if one[:1].casefold() == first] + [one for one in like if one[:1].casefold() != first]
    found = get_close_matches(word, like[:COMPARED], n=OFFERS, cutoff=0.5)
    return found or [one for one in known if len(one) > 1][:OFFERS]


def examples_for(folder: Path, config: ModelConfig, tokenizer: Tokenizer) -> list[str]:
    """A few texts that the model can read: from its own held-out data, or built-in ones that its vocabulary knows."""
    try:
        kept = kept_records(folder, config.task)
    except NungilError:  # a model is served even if its data is damaged
        kept = None
    texts = [] if kept is None else [record[0] for record in kept.records]
    built_in = [text for text in BUILT_IN if _readable(text, config, tokenizer)]
    found = [text for text in texts if SHORT[0] <= len(text.split()) <= SHORT[1]]
    found = [text for text in found[: 20 * EXAMPLES] if _readable(text, config, tokenizer)]
    first = built_in[:1] if config.task == "translate" else []
    chosen = list(dict.fromkeys([*first, *found[:EXAMPLES], *built_in]))[:EXAMPLES]
    return chosen or texts[:EXAMPLES] or [" ".join(words_known(tokenizer)[: SHORT[0]])]


def _readable(text: str, config: ModelConfig, tokenizer: Tokenizer) -> bool:
    encoded = encode(text, tokenizer, config)
    return not encoded.unknown and not encoded.cut
