"""The ASGI application: paths, errors, health and page."""

from collections.abc import Collection
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from nungil import __version__
from nungil.errors import NungilError
from nungil.inspection.page import policy_of, served_page
from nungil.serving.asked import Classify, Explain, Intervene, Look, Translate
from nungil.serving.desk import Desk, after
from nungil.serving.guard import Guard
from nungil.serving.handlers import add_handlers
from nungil.serving.libretranslate import add_libretranslate
from nungil.serving.mistakes import refusal_of
from nungil.serving.refusal import BUG, RefusedError, meant_otherwise

ABOUT = "Models that translate and classify, and where they look. Unknown fields are refused."

FIELDS = {
    f"/v1/{kind.__name__.lower()}": tuple(kind.model_fields) for kind in (Translate, Classify, Look, Explain, Intervene)
}


def build(desk: Desk, names: Collection[str] = ()) -> ASGIApp:
    """The whole application of a server."""
    app = FastAPI(title="nungil", version=__version__, description=ABOUT, docs_url=None, redoc_url=None)
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(NungilError, _meant_otherwise)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _unmet)
    app.add_exception_handler(Exception, _bug)
    add_health(app, desk)
    add_handlers(app, desk)
    add_libretranslate(app, desk)
    return Guard(app, desk, names, add_page(app))


def add_page(app: FastAPI) -> list[str]:
    """Serve the page, a single file. Its policy allows only its own script and style, and requests to this server."""
    page = served_page()
    headers = {
        "Content-Security-Policy": f"{policy_of(page)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        "Cache-Control": "no-cache",
    }

    async def index() -> HTMLResponse:
        return HTMLResponse(page, headers=headers)

    app.add_api_route("/", index, methods=["GET", "HEAD"], include_in_schema=False)
    return ["/"]


def add_health(app: FastAPI, desk: Desk) -> None:
    """Paths for monitoring."""

    @app.get("/livez", tags=["health"])
    async def livez() -> dict[str, str]:
        """The process answers."""
        return {"status": "alive"}

    @app.get("/readyz", tags=["health"], responses={503: {"description": "Not now; `why` says it."}})
    async def readyz() -> JSONResponse:
        """Ready: the models are loaded, the worker is alive, and the queue is not too full."""
        why = desk.unready()
        desk.metrics.ready.set(why is None)
        if why is None:
            return JSONResponse({"status": "ready"})
        return JSONResponse({"status": "not ready", "why": why}, 503, after(1))

    @app.get("/metrics", tags=["health"], response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """For Prometheus."""
        desk.metrics.ready.set(desk.unready() is None)
        desk.metrics.waiting_tokens.set(desk.queue.tokens)
        desk.metrics.waiting_requests.set(desk.queue.requests)
        return Response(desk.metrics.text(), media_type=CONTENT_TYPE_LATEST)


def _answer(error: RefusedError) -> JSONResponse:
    return JSONResponse(error.body(), error.status, error.headers)


async def _refused(_: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RefusedError):
        raise error
    return _answer(error)


async def _meant_otherwise(_: Request, error: Exception) -> JSONResponse:
    """Errors that a client can cause; anything else is a bug, which the guard logs."""
    if not isinstance(error, NungilError):
        raise error
    return _answer(meant_otherwise(error))


async def _bug(_: Request, __: Exception) -> JSONResponse:
    """Answer in our own format. The guard gets the error, too, and logs its place."""
    return _answer(RefusedError(500, BUG))


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, RequestValidationError):
        raise error
    return _answer(refusal_of(error, FIELDS.get(request.url.path, ())))


async def _unmet(_: Request, error: Exception) -> JSONResponse:
    """Errors of the framework: unknown path, wrong method."""
    if not isinstance(error, HTTPException):
        raise error
    told: dict[int, str] = {
        400: "the body cannot be read as JSON",
        404: "there is nothing here; see /openapi.json",
        405: "this path has no such method",
    }
    message = told.get(error.status_code, str(error.detail))
    headers: dict[str, Any] = dict(error.headers or {})
    return _answer(RefusedError(error.status_code, message, headers=headers))
