"""Tokenizers: subwords, words, characters; trained on a corpus, reproducible to the byte."""

from nungil.text.tokenizers.base import EOS, PAD, SOS, SPECIALS, UNK, Ids, Tokenizer
from nungil.text.tokenizers.pieces import PieceTokenizer
from nungil.text.tokenizers.train import (
    Sample,
    Tokenizers,
    TokenizerSettings,
    load_tokenizers,
    save_tokenizers,
    train_tokenizer,
    train_tokenizers,
)
from nungil.text.tokenizers.vocabulary import CharacterTokenizer, WordTokenizer

__all__ = [
    "EOS",
    "PAD",
    "SOS",
    "SPECIALS",
    "UNK",
    "CharacterTokenizer",
    "Ids",
    "PieceTokenizer",
    "Sample",
    "Tokenizer",
    "TokenizerSettings",
    "Tokenizers",
    "WordTokenizer",
    "load_tokenizers",
    "save_tokenizers",
    "train_tokenizer",
    "train_tokenizers",
]
