"""Refusals: every answer that is not the one asked for, in one form. It says what is wrong and where, and no more."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, Field

from nungil.errors import EmptyError, NungilError

BUG = "this is a bug of ours; the server's log says where"
Fact = str | int | float
Code = Literal[
    "bug",
    "costly",
    "crowded",
    "deadline",
    "empty",
    "full",
    "host",
    "invalid",
    "key",
    "loading",
    "lost",
    "memory",
    "method",
    "origin",
    "slow",
    "too_large",
    "too_much",
    "unknown",
    "unreadable",
]
Unit = Literal[  # what a limit counts; the page has words for each
    "beginnings", "changes", "characters", "edits", "numbers", "texts", "tokens", "translations"
]
BY_STATUS: dict[int, Code] = {  # what a status means where nothing more exact is said
    400: "unreadable",
    401: "key",
    403: "origin",
    404: "unknown",
    405: "method",
    408: "slow",
    413: "too_large",
    421: "host",
    500: "bug",
    503: "full",
    504: "deadline",
}


class Mistake(BaseModel):
    """What is wrong, and where in the request."""

    where: str
    what: str


class Refusal(BaseModel):
    """Why a request was not answered."""

    status: int
    code: Code = Field(description="The same reason has the same code, whatever the message.")
    message: str
    facts: dict[str, Fact] = Field({}, description="What a program needs to tell it in its own words.")
    mistakes: list[Mistake] = []


class Refused(BaseModel):
    """The body of every answer with a status of 400 or more."""

    error: Refusal


class RefusedError(Exception):
    """A request that is not answered."""

    def __init__(
        self,
        status: int,
        message: str,
        mistakes: Sequence[Mistake] = (),
        headers: Mapping[str, str] | None = None,
        code: Code | None = None,
        facts: Mapping[str, Fact] | None = None,
    ) -> None:
        message = message.encode("utf-8", "replace").decode()  # half a character that a client gave cannot be sent back
        super().__init__(message)
        self.status, self.message, self.mistakes, self.headers = status, message, tuple(mistakes), dict(headers or {})
        self.code: Code = code or BY_STATUS.get(status, "invalid")
        self.facts = dict(facts or {})

    def body(self) -> dict[str, Any]:
        """As it is sent."""
        return Refused(
            error=Refusal(
                status=self.status,
                code=self.code,
                message=self.message,
                facts=self.facts,
                mistakes=list(self.mistakes),
            )
        ).model_dump()


def meant_otherwise(error: NungilError) -> RefusedError:
    """What a client caused by its own request."""
    return RefusedError(422, str(error), code="empty" if isinstance(error, EmptyError) else "invalid")


def too_much(where: str, given: int, most: int, unit: Unit, which: str = "", status: int = 422) -> RefusedError:
    """More than a limit allows: so many units, which may be told more closely. Every limit is refused by this."""
    what = f"{given:,} {unit}{which}"
    return RefusedError(
        status,
        f"{where}: {what}; this server takes {most:,} at most",
        [Mistake(where=where, what=f"{what}, at most {most:,}")],
        code="too_much",
        facts={"where": where, "given": given, "most": most, "unit": unit},
    )
