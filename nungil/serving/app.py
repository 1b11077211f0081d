"""The application: which path is answered by what."""

import asyncio
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException

from nungil import __version__
from nungil.errors import NungilError
from nungil.inspection.page import served_page
from nungil.serving.answering import plain_classification, plain_translation
from nungil.serving.asked import Classify, Explain, Intervene, Look, Translate
from nungil.serving.explaining import explain
from nungil.serving.intervening import intervene
from nungil.serving.limits import Limits
from nungil.serving.looking import look
from nungil.serving.mistakes import refusal_of
from nungil.serving.refusal import RefusedError
from nungil.serving.shelf import Shelf


def build(shelf: Shelf, limits: Limits) -> FastAPI:
    app = FastAPI(title="nungil", version=__version__, docs_url=None, redoc_url=None)
    lock = asyncio.Lock()

    async def work(job: Callable[[], Any]) -> Any:
        async with lock:
            return await asyncio.to_thread(job)

    @app.exception_handler(RefusedError)
    async def _refused(_: Request, error: RefusedError) -> JSONResponse:
        return JSONResponse(error.body(), error.status, error.headers)

    @app.exception_handler(NungilError)
    async def _usage(_: Request, error: NungilError) -> JSONResponse:
        return JSONResponse(RefusedError(422, str(error)).body(), 422)

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return JSONResponse(refusal_of(error).body(), 422)

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: HTTPException) -> JSONResponse:
        return JSONResponse(RefusedError(error.status_code, str(error.detail)).body(), error.status_code)

    @app.get("/v1/models")
    async def models() -> Any:
        return {"models": [one.description for one in shelf.served.values()]}

    @app.post("/v1/translate")
    async def translate(asked: Translate) -> Any:
        served = shelf.find(asked.model, "translate")
        found = await work(
            lambda: served.model.translate(  # type: ignore[union-attr]
                asked.texts, asked.search(), split=asked.split, align=asked.align, prefix=asked.prefix
            )
        )
        return {"model": served.name, "translations": [plain_translation(one) for one in found]}

    @app.post("/v1/classify")
    async def classify(asked: Classify) -> Any:
        served = shelf.find(asked.model, "classify")
        found = await work(lambda: served.model.classify(asked.texts))  # type: ignore[union-attr]
        return {"model": served.name, "classifications": [plain_classification(one) for one in found]}

    @app.post("/v1/look")
    async def _look(asked: Look) -> Any:
        served = shelf.find(asked.model)
        return JSONResponse(await work(lambda: look(served, asked, limits)))

    @app.post("/v1/explain")
    async def _explain(asked: Explain) -> Any:
        served = shelf.find(asked.model)
        return JSONResponse(await work(lambda: explain(served, asked)))

    @app.post("/v1/intervene")
    async def _intervene(asked: Intervene) -> Any:
        served = shelf.find(asked.model)
        return JSONResponse(await work(lambda: intervene(served, asked)))

    @app.get("/", include_in_schema=False)
    async def page() -> HTMLResponse:
        return HTMLResponse(served_page())

    return app
