"""Limits of a request and of the server. All are on by default."""

from pydantic import Field

from nungil.settings import Settings


class Limits(Settings):
    """More than this is refused, with the limit in the answer."""

    body: int = Field(1_000_000, ge=1_000, description="Bytes of a request.")
    texts: int = Field(128, ge=1, description="Texts in a request.")
    characters: int = Field(10_000, ge=1, description="Characters of a text.")
    beam: int = Field(16, ge=1, le=100, description="Hypotheses of a beam search, or sampled translations.")
    longest: int = Field(1_000, ge=1, description="Tokens of a translation that a client may ask for.")
    looked: int = Field(512, ge=1, description="Tokens of a text that is looked at or explained.")
    changes: int = Field(64, ge=1, description="Changes or edits in a request.")
    products: float = Field(4e11, gt=0, description="Multiplications of one look; about ten seconds of one core.")
    numbers: int = Field(2_000_000, ge=1, description="Numbers of one explanation.")
    waiting: int = Field(50_000, ge=1, description="Source tokens in the queue; beyond, requests are turned away.")
    batch: int = Field(2_048, ge=1, description="Source tokens that are computed together.")
    wait: float = Field(0.003, ge=0, le=1, description="Seconds that a first text waits for others.")
    deadline: float = Field(30.0, gt=0, le=3_600, description="Seconds from the request to its answer, at most.")
    sending: float = Field(10.0, gt=0, description="Seconds in which a client sends its request whole.")
    idle: float = Field(15.0, gt=0, description="Seconds for which a client that asks nothing stays connected.")
    connections: int = Field(1_000, ge=1, description="Clients that are connected at a time.")
