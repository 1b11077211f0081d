"""The sizes of both vocabularies, and whether they are one."""

from pydantic import Field, model_validator

from nungil.settings import Settings


class Vocabulary(Settings):
    """The sizes that a model takes from its tokenizers."""

    source: int = Field(ge=5, le=1_000_000, description="Tokens of the source, the four special ones included.")
    target: int = Field(ge=5, le=1_000_000, description="Tokens of the target.")
    joint: bool = Field(False, description="Both sides have one tokenizer.")

    @model_validator(mode="after")
    def _one_tokenizer_has_one_size(self) -> "Vocabulary":
        if self.joint and self.source != self.target:
            raise ValueError(f"a joint vocabulary has one size, not {self.source} and {self.target}")
        return self
