"""Export: writes a model for CTranslate2, with its tokenizers and a README on how to use them."""

from pathlib import Path

from nungil.engines.ctranslate2 import positions_of
from nungil.engines.library import known_compute, library
from nungil.engines.specification import Written, save, specification, transformer_of
from nungil.errors import ResourceError, UsageError
from nungil.model.folder import ModelConfig
from nungil.pipeline import load
from nungil.text.atomic import whole_bytes, whole_folder
from nungil.text.tokenizers.jamo import from_jamo
from nungil.text.tokenizers.pieces import PieceTokenizer
from nungil.text.tokenizers.train import Tokenizers, save_tokenizers


def export(folder: Path, out: Path, compute: str | None = None) -> None:
    """Write the new folder, complete or not at all."""
    library()
    name = known_compute(compute)
    if out.exists():
        raise UsageError(f"{out}: exists already, and is not overwritten; choose another --out")
    model, transformer = transformer_of(folder, load(folder))
    tokenizers = model.tokenizers
    written = Written(
        tokenizers.source.vocabulary, tokenizers.target.vocabulary, model.config.marks, positions_of(model.config)
    )
    found = specification(transformer, written)
    try:
        with whole_folder(out) as place:
            save(found, str(place), name)
            names = save_tokenizers(tokenizers, place)
            whole_bytes(place / "README.md", how_to(model.config, tokenizers, names, written.positions).encode())
    except OSError as error:
        raise ResourceError(f"{out}: cannot be written: {error.strerror or error}") from None


def how_to(config: ModelConfig, tokenizers: Tokenizers, files: list[str], positions: int) -> str:
    """The README of the folder, with a program that translates."""
    way = f", {config.source} to {config.target}" if config.source and config.target else ""
    lines = [
        f"# A translator{way}, for CTranslate2",
        "",
        "Made by `nungil export` from a Transformer that nungil trained. In this folder:",
        "",
        "```python",
        *_program(tokenizers, files),
        "```",
        "",
        f"- A source has {config.longest:,} tokens at most, and no sentence more than {positions:,}: cut longer ones.",
        f"- Marks around a source (here: {config.marks}) are added by CTranslate2, as config.json says.",
        "- `<pad>` and `<sos>` are never written.",
        "- CTranslate2 divides by length^α, nungil by ((5 + length) / 6)^α: with a beam, they may choose differently;"
        " greedy search (beam_size=1) is the same.",
        "- Attention is not in here: `nungil look`, `nungil align` and copied words need the model folder itself.",
        "",
    ]
    return "\n".join(lines)


def _program(tokenizers: Tokenizers, files: list[str]) -> list[str]:
    """Read a sentence, translate, print; with SentencePiece alone where the tokenizers are SentencePiece's."""
    first, last = files[0], files[-1]
    search = [
        'translator = ctranslate2.Translator(".", inter_threads=2, intra_threads=1)',
        "(found,) = translator.translate_batch([pieces], beam_size=5, max_input_length=0, min_decoding_length=0)",
    ]
    if not isinstance(tokenizers.source, PieceTokenizer):
        return [
            *("import sys", "from pathlib import Path", "", "import ctranslate2"),
            *("from nungil.text.tokenizers.vocabulary import vocabulary_from_bytes", ""),
            f'source, target = (vocabulary_from_bytes(Path(name).read_bytes()) for name in ("{first}", "{last}"))',
            "pieces = source.tokens(source.encode(sys.stdin.readline().strip()))",
            *search,
            "print(target.join(found.hypotheses[0]))",
        ]
    jamo = any(from_jamo(one) != one for side in tokenizers for one in side.vocabulary)
    text, answer = "sys.stdin.readline().strip()", "target.decode(found.hypotheses[0])"
    if jamo:  # the pieces are of letters, and a syllable is one character
        text = f're.sub("[가-힣]+", lambda found: unicodedata.normalize("NFD", found[0]), {text})'
        answer = f'unicodedata.normalize("NFC", {answer})'
    return [
        *(["import re"] if jamo else []),
        *(
            "import sys",
            *(["import unicodedata"] if jamo else []),
            "",
            "import ctranslate2",
            "import sentencepiece",
            "",
        ),
        f'source, target = (sentencepiece.SentencePieceProcessor(model_file=name) for name in ("{first}", "{last}"))',
        f"pieces = source.encode({text}, out_type=str)",
        *search,
        f"print({answer})",
    ]
