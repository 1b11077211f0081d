"""Refusals: every answer that is not the one asked for, in one form. It says what is wrong and where, and no more."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

BUG = "this is a bug of ours; the server's log says where"


class Mistake(BaseModel):
    """What is wrong, and where in the request."""

    where: str
    what: str


class Refusal(BaseModel):
    """Why a request was not answered."""

    status: int
    message: str
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
    ) -> None:
        message = message.encode("utf-8", "replace").decode()  # half a character that a client gave cannot be sent back
        super().__init__(message)
        self.status, self.message, self.mistakes, self.headers = status, message, tuple(mistakes), dict(headers or {})

    def body(self) -> dict[str, Any]:
        """As it is sent."""
        return Refused(
            error=Refusal(status=self.status, message=self.message, mistakes=list(self.mistakes))
        ).model_dump()


def too_much(where: str, given: int, most: int, what: str) -> RefusedError:
    """More than a limit allows."""
    message = f"{where}: {given:,} {what}; this server takes {most:,} at most"
    return RefusedError(422, message, [Mistake(where=where, what=f"{given:,} {what}, at most {most:,}")])
