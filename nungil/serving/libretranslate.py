"""An API like LibreTranslate's, for existing clients: libretranslatepy, Weblate, Mastodon.

Only here forms are accepted beside JSON, `q` may be a text or a list, `source` may be auto, `format` html,
the key may stand in the body, and unknown fields are ignored. An error is `{"error": "a sentence"}`.
"""

import json
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException

from nungil.serving.asked import Translate
from nungil.serving.desk import Desk
from nungil.serving.detecting import Detector
from nungil.serving.handlers import check_texts, translate
from nungil.serving.keys import bearer
from nungil.serving.languages import name_of
from nungil.serving.markup import joined, parts_of, prose_of
from nungil.serving.refusal import RefusedError
from nungil.serving.shelf import Shelf

AUTO = "auto"
FORM, FIELDS = "application/x-www-form-urlencoded", 200  # fields, at most


class Wanted(NamedTuple):
    """A request."""

    texts: list[str]
    several: bool  # whether `q` was a list; then the answer is one, too
    source: str
    target: str
    html: bool
    alternatives: int


def add_libretranslate(app: FastAPI, desk: Desk) -> None:
    """Add its paths, which are not in our OpenAPI document."""

    @app.get("/languages", include_in_schema=False)
    async def languages() -> JSONResponse:
        return await _told(lambda: _languages(desk.shelf))

    @app.get("/frontend/settings", include_in_schema=False)
    async def settings() -> JSONResponse:
        return await _told(lambda: _settings(desk))

    @app.post("/detect", include_in_schema=False)
    async def detect(request: Request) -> JSONResponse:
        return await _answered(_detect(desk, request))

    @app.post("/translate", include_in_schema=False)
    async def translated(request: Request) -> JSONResponse:
        return await _answered(_translate(desk, request))


async def _told(tell: Any) -> JSONResponse:
    async def answer() -> Any:
        return tell()

    return await _answered(answer())


async def _answered(work: Any) -> JSONResponse:
    """An answer, or an error in LibreTranslate's form."""
    try:
        return JSONResponse(await work)
    except RefusedError as error:
        status = 400 if error.status == 422 else error.status
        return JSONResponse({"error": error.message}, status, error.headers)


def directions(shelf: Shelf) -> dict[str, dict[str, str]]:
    """For each source language, its targets, each with the first model for it."""
    found: dict[str, dict[str, str]] = {}
    for served in shelf.served.values():
        config = served.model.config
        if served.task == "translate" and config.source and config.target:
            found.setdefault(config.source, {}).setdefault(config.target, served.name)
    return found


def _languages(shelf: Shelf) -> list[dict[str, Any]]:
    found = directions(shelf)
    codes = dict.fromkeys([*found, *(target for targets in found.values() for target in targets)])
    return [{"code": code, "name": name_of(code), "targets": list(found.get(code, {}))} for code in codes]


def _settings(desk: Desk) -> dict[str, Any]:
    found = directions(desk.shelf)
    source = next(iter(found), "")
    target = next(iter(found.get(source, {})), "")
    return {
        "charLimit": desk.limits.characters,
        "frontendTimeout": 500,
        "apiKeys": bool(desk.keys),
        "keyRequired": bool(desk.keys),
        "suggestions": False,
        "filesTranslation": False,
        "supportedFilesFormat": [],
        "language": {
            "source": {"code": source, "name": name_of(source)},
            "target": {"code": target, "name": name_of(target)},
        },
    }


async def _detect(desk: Desk, request: Request) -> list[dict[str, Any]]:
    given = await _given(desk, request)
    text = given.get("q")
    if not isinstance(text, str) or not text:
        raise RefusedError(400, "Invalid request: missing q parameter")
    check_texts([text], desk.limits, "q")
    codes = [one["code"] for one in _languages(desk.shelf)]
    return [one._asdict() for one in Detector(desk.shelf).detect(text, codes)]


async def _translate(desk: Desk, request: Request) -> dict[str, Any]:
    wanted = _wanted(await _given(desk, request))
    check_texts(wanted.texts, desk.limits, "q")
    sources = [wanted.source] * len(wanted.texts)
    detected: list[dict[str, Any]] = []
    if wanted.source == AUTO:
        detected = [_guess(desk.shelf, text, wanted.target) for text in wanted.texts]
        sources = [one["language"] for one in detected]
    texts: list[str] = [""] * len(wanted.texts)
    others: list[list[str]] = [[] for _ in wanted.texts]
    for source in dict.fromkeys(sources):
        places = [place for place, one in enumerate(sources) if one == source]
        answers = await _translated(desk, request, wanted, source, [wanted.texts[place] for place in places])
        for place, (text, more) in zip(places, answers, strict=True):
            texts[place], others[place] = text, more
    found: dict[str, Any] = {"translatedText": texts if wanted.several else texts[0]}
    if detected:
        found["detectedLanguage"] = detected if wanted.several else detected[0]
    if wanted.alternatives:
        found["alternatives"] = others if wanted.several else others[0]
    return found


async def _translated(
    desk: Desk, request: Request, wanted: Wanted, source: str, texts: list[str]
) -> list[tuple[str, list[str]]]:
    """The translation of each text, with alternatives. In HTML, the texts between tags are one batch."""
    if source == wanted.target:
        return [(text, []) for text in texts]
    model = _model(desk.shelf, source, wanted.target)
    more = {"n_best": wanted.alternatives + 1, "beam": max(5, wanted.alternatives + 1)} if wanted.alternatives else {}
    if not wanted.html:
        asked = Translate.model_validate({"model": model, "texts": texts, **more})
        answers = (await translate(desk, request, asked))["translations"]
        return [(one["text"], [other["text"] for other in one["n_best"][1:]]) for one in answers]
    pages = [parts_of(text) for text in texts]
    prose = [text for page in pages for text in prose_of(page)]
    found = iter(await _all(desk, request, model, prose))
    return [(joined(page, [next(found) for part in page if part.prose]), []) for page in pages]


async def _all(desk: Desk, request: Request, model: str, texts: list[str]) -> list[str]:
    """Translations of any number of texts, in as many requests as the limits require."""
    found: list[str] = []
    for start in range(0, len(texts), desk.limits.texts):
        asked = Translate.model_validate({"model": model, "texts": texts[start : start + desk.limits.texts]})
        found += [one["text"] for one in (await translate(desk, request, asked))["translations"]]
    return found


async def _given(desk: Desk, request: Request) -> dict[str, Any]:
    """The fields of a form or of JSON, after the key is checked."""
    if _kind(request) == "application/json":
        try:
            given: Any = json.loads(await request.body())
        except (ValueError, RecursionError):
            raise RefusedError(400, "Invalid request: the body is not JSON") from None
        if not isinstance(given, dict):
            raise RefusedError(400, "Invalid request: a JSON object is expected")
        fields: dict[str, Any] = given
    else:
        fields = await _form(request)
    key = fields.get("api_key")
    if not desk.keys.allow(key if isinstance(key, str) and key else bearer(request.headers.get("authorization"))):
        raise RefusedError(403, "Invalid API key" if key else "Please contact the server operator to get an API key")
    return fields


async def _form(request: Request) -> dict[str, Any]:
    fields = await (_encoded(request) if _kind(request) == FORM else _parts(request))
    given: dict[str, Any] = dict(fields)
    texts = [value for name, value in fields if name == "q"]
    return given | ({"q": texts} if len(texts) > 1 else {})


async def _encoded(request: Request) -> list[tuple[str, str]]:
    """The fields of an encoded form. The framework would decode raw UTF-8 in it wrongly."""
    body = (await request.body()).decode("utf-8", "replace")
    try:
        return parse_qsl(body, keep_blank_values=True, max_num_fields=FIELDS)
    except ValueError:
        raise RefusedError(400, f"Invalid request: more than {FIELDS} fields") from None


async def _parts(request: Request) -> list[tuple[str, str]]:
    """The fields of a multipart form, without files."""
    try:
        form = await request.form(max_files=0, max_fields=FIELDS)
    except HTTPException as error:
        raise RefusedError(400, f"Invalid request: {error.detail}") from None
    return [(name, value) for name, value in form.multi_items() if not isinstance(value, UploadFile)]


def _kind(request: Request) -> str:
    """The media type of the body."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _wanted(given: dict[str, Any]) -> Wanted:
    q, source, target = given.get("q"), given.get("source"), given.get("target")
    several = isinstance(q, list)
    texts: list[Any] = q if isinstance(q, list) else [q]
    if not texts or not all(isinstance(text, str) for text in texts) or (not several and not texts[0]):
        raise RefusedError(400, "Invalid request: missing q parameter")
    for name, value in (("source", source), ("target", target)):
        if not isinstance(value, str) or not value:
            raise RefusedError(400, f"Invalid request: missing {name} parameter")
    form = given.get("format") or "text"
    if form not in ("text", "html"):
        raise RefusedError(
            400, f"{form} format is not supported" if isinstance(form, str) else "format is not supported"
        )
    try:
        alternatives = min(4, max(0, int(given.get("alternatives") or 0)))
    except (TypeError, ValueError, OverflowError):  # Python's JSON reader accepts infinite numbers
        raise RefusedError(400, "Invalid request: alternatives parameter is not a number") from None
    return Wanted(texts, several, str(source), str(target), form == "html", alternatives)


def _guess(shelf: Shelf, text: str, target: str) -> dict[str, Any]:
    """The language of a text, among those with a model to the target."""
    among = [source for source, targets in directions(shelf).items() if target in targets]
    if not among:
        raise RefusedError(400, f"{target} is not supported")
    found = Detector(shelf).detect(text, [*among, target])
    if found:
        return {"confidence": found[0].confidence, "language": found[0].language}
    return {"confidence": 0.0, "language": among[0]}


def _model(shelf: Shelf, source: str, target: str) -> str:
    found = directions(shelf)
    if source not in found:
        raise RefusedError(400, f"{source} is not supported")
    if target not in found[source]:
        raise RefusedError(400, f"{target} is not supported as a translation of {source}")
    return found[source][target]
