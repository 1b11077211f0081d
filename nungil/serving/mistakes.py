"""Turns pydantic's errors into readable ones: where and what, never repeating the input."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

from fastapi.exceptions import RequestValidationError

from nungil.errors import did_you_mean
from nungil.serving.refusal import Mistake, RefusedError
from nungil.settings import in_words

DOINGS = {  # values of `do`, by list
    "changes": ("force", "move", "zero", "flatten", "permute", "set"),
    "edits": ("swap", "delete", "insert"),
}
TAGS = {*chain.from_iterable(DOINGS.values())}
BODY = "the body"


def refusal_of(error: RequestValidationError, known: Sequence[str] = ()) -> RefusedError:
    """All mistakes of a request at once; those of a union as one."""
    told: dict[str, list[str]] = {}
    for one in (_mistake(detail, known) for detail in error.errors()):
        told.setdefault(one.where, []).append(one.what)
    found = [Mistake(where=where, what=", or ".join(whats)) for where, whats in told.items()]
    first = f"{found[0].where}: {found[0].what}"
    more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
    empty = all(detail["type"] == "string_too_short" for detail in error.errors())
    return RefusedError(422, first + more, found, code="empty" if empty else "invalid")


def _mistake(detail: dict[str, Any], known: Sequence[str]) -> Mistake:
    what, place = str(detail["type"]), [part for part in detail["loc"] if part != "body"]
    if what == "json_invalid":
        return Mistake(where=BODY, what=f"not JSON: {detail.get('ctx', {}).get('error', 'it cannot be read')}")
    if what in ("model_attributes_type", "dict_type", "missing") and not place:
        return Mistake(where=BODY, what="a JSON object is expected, sent as application/json")
    where = _where(place)
    if what == "extra_forbidden":
        close = did_you_mean(str(place[-1]), known) if len(place) == 1 and known else ""
        return Mistake(where=where, what="no such field" + (close if close.startswith("; did") else ""))
    if what == "missing":
        return Mistake(where=where, what="is missing")
    if what.startswith("union_tag"):
        wrong = "is missing" if what == "union_tag_not_found" else "no such thing can be done"
        return Mistake(where=f"{where}.do", what=f"{wrong}; there is {', '.join(DOINGS[str(place[0])])}")
    return Mistake(where=where, what=in_words(what, detail.get("ctx", {}), str(detail["msg"])))


def _where(place: Sequence[int | str]) -> str:
    """`changes[0].step`, without the classes that pydantic tried."""
    found = ""
    for part in place:
        if isinstance(part, int):
            found += f"[{part}]"
        elif part.isidentifier() and part not in TAGS and part not in ("str", "int", "list"):
            found += f".{part}" if found else part
    return found or BODY
