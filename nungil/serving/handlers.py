"""The handlers of /v1, one function for each path: check a request, queue it, send the answer."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from nungil.pipeline import Classifier, Translator
from nungil.pipeline.prefixes import prefix_ids
from nungil.serving.answering import plain_classification, plain_translation
from nungil.serving.answers import Classifications, Explained, Intervened, Looked, Models, Translations
from nungil.serving.asked import Classify, Explain, Intervene, Look, Translate
from nungil.serving.desk import Desk
from nungil.serving.explaining import explain
from nungil.serving.intervening import intervene
from nungil.serving.limits import Limits
from nungil.serving.looking import look
from nungil.serving.refusal import Mistake, Refused, RefusedError, Unit, too_much
from nungil.serving.shelf import Served

LONG = 2_000  # characters above which texts are tokenized in a thread, not to block the event loop
REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": Refused, "description": what}
    for status, what in {
        400: "The body cannot be read.",
        401: "A key is needed.",
        403: "A page of another site asked.",
        404: "There is no such model.",
        408: "The request was not sent in time.",
        413: "The request is too large.",
        421: "The server does not go by this name.",
        422: "The request cannot be meant; `mistakes` says where.",
        500: "A bug of ours.",
        503: "Too much waits, or the models are being loaded; Retry-After says when to come again.",
        504: "There was no answer in time, and the work was dropped.",
    }.items()
}


def add_handlers(app: FastAPI, desk: Desk) -> None:
    """Add all paths of /v1."""
    limits = desk.limits
    told: dict[str, Any] = {"responses": REFUSALS, "tags": ["v1"]}

    @app.get("/v1/models", response_model=Models, **told)
    async def models() -> JSONResponse:
        """The models that are served, and what each can do."""
        return JSONResponse({"models": [one.description for one in desk.shelf.served.values()]})

    @app.post("/v1/translate", response_model=Translations, **told)
    async def v1_translate(asked: Translate, request: Request) -> JSONResponse:
        """Translate some texts."""
        return JSONResponse(await translate(desk, request, asked))

    @app.post("/v1/classify", response_model=Classifications, **told)
    async def v1_classify(asked: Classify, request: Request) -> JSONResponse:
        """Classify some texts."""
        return JSONResponse(await classify(desk, request, asked))

    @app.post("/v1/look", response_model=Looked, **told)
    async def v1_look(asked: Look, request: Request) -> JSONResponse:
        """Where a model looks: one map, with further results."""
        served = desk.shelf.find(asked.model)
        return await inspect(desk, request, served, asked, lambda: look(served, asked, limits))

    @app.post("/v1/explain", response_model=Explained, **told)
    async def v1_explain(asked: Explain, request: Request) -> JSONResponse:
        """Every number of one step."""
        served = desk.shelf.find(asked.model)
        return await inspect(desk, request, served, asked, lambda: explain(served, asked, limits))

    @app.post("/v1/intervene", response_model=Intervened, **told)
    async def v1_intervene(asked: Intervene, request: Request) -> JSONResponse:
        """What would be written if attention, or the text, were different."""
        served = desk.shelf.find(asked.model)
        if len(asked.changes) > limits.changes:
            raise too_much("changes", len(asked.changes), limits.changes, "changes")
        if len(asked.edits) > limits.changes:
            raise too_much("edits", len(asked.edits), limits.changes, "edits")
        return await inspect(desk, request, served, asked, lambda: intervene(served, asked, limits))


async def translate(desk: Desk, request: Request, asked: Translate) -> dict[str, Any]:
    """Texts with the same model and search settings are batched, across clients."""
    served = desk.shelf.find(asked.model, "translate")
    model = served.model
    if not isinstance(model, Translator):
        raise TypeError("a translator translates")
    check_texts(asked.texts, desk.limits)
    search = asked.search()
    _check_search(asked, desk.limits)
    prefixes = _prefixes(asked, model, desk.limits)
    align, split = asked.align, asked.split
    if align and not model.config.attends:
        raise RefusedError(422, "align: this model has no attention to read links from")

    def run(items: Sequence[tuple[str, str | None]]) -> list[dict[str, Any]]:
        texts, begun = [text for text, _ in items], [prefix for _, prefix in items]
        found = model.translate(texts, search, split=split, align=align, prefix=begun)
        return [plain_translation(one) for one in found]

    pairs = list(zip(asked.texts, prefixes, strict=True))
    lengths = await _lengths(served, asked.texts)
    if search.sample:  # what is sampled depends on the batch, so such a request is a batch of its own
        (answers,) = await desk.ask(request, lambda items: [run(items[0])], [(pairs, sum(lengths))])
    else:
        key = (served.name, "translate", search, align, split)
        answers = await desk.ask(request, run, list(zip(pairs, lengths, strict=True)), key)
    return {"model": served.name, "translations": answers}


async def classify(desk: Desk, request: Request, asked: Classify) -> dict[str, Any]:
    """Texts for one model are batched, across clients."""
    served = desk.shelf.find(asked.model, "classify")
    model = served.model
    if not isinstance(model, Classifier):
        raise TypeError("a classifier classifies")
    check_texts(asked.texts, desk.limits)

    def run(texts: Sequence[str]) -> list[dict[str, Any]]:
        return [plain_classification(one) for one in model.classify(texts)]

    lengths = await _lengths(served, asked.texts)
    items = list(zip(asked.texts, lengths, strict=True))
    answers = await desk.ask(request, run, items, (served.name, "classify"))
    return {"model": served.name, "classifications": answers}


async def inspect(
    desk: Desk, request: Request, served: Served, asked: Look | Explain | Intervene, job: Callable[[], dict[str, Any]]
) -> JSONResponse:
    """A look, ledger or intervention, which is not batched."""
    given = {"text": asked.text, "target": asked.target}
    for where, text in given.items():
        if text is not None:
            check_texts([text], desk.limits, where)
    added = asked.added() if isinstance(asked, Intervene) else []
    length, *more = await _lengths(served, [asked.text, *added])
    most = desk.limits.looked
    if length > most:
        raise too_much("text", length, most, "tokens")
    length += sum(more)
    if length > most:
        raise too_much("edits", length, most, "tokens", " with what they put in")
    if asked.target is not None and isinstance(served.model, Translator):
        written = len(served.model.tokenizers.target.encode(asked.target))
        if written > most:
            raise too_much("target", written, most, "tokens")
    # JSON is encoded in the worker: a large map would block the event loop.
    (answer,) = await desk.ask(request, lambda _: [JSONResponse(job())], [(None, length)])
    response: JSONResponse = answer
    return response


def check_texts(texts: Sequence[str], limits: Limits, where: str = "texts") -> None:
    """Refuse too many, too long, or invalid texts."""
    if len(texts) > limits.texts:
        raise too_much(where, len(texts), limits.texts, "texts")
    for number, text in enumerate(texts):
        place = f"texts[{number}]" if where == "texts" else where
        if len(text) > limits.characters:
            raise too_much(place, len(text), limits.characters, "characters")
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            what = "holds half of a surrogate pair, which is no character"
            raise RefusedError(422, f"{place}: {what}", [Mistake(where=place, what=what)])


def _check_search(asked: Translate, limits: Limits) -> None:
    counts: list[tuple[str, int | None, int, Unit]] = [
        ("beam", asked.beam, limits.beam, "beginnings"),
        ("n_best", asked.n_best, limits.beam, "translations"),
        ("longest", asked.longest, limits.longest, "tokens"),
        ("shortest", asked.shortest, limits.longest, "tokens"),
    ]
    for name, given, most, unit in counts:
        if given is not None and given > most:
            raise too_much(name, given, most, unit)


def _prefixes(asked: Translate, model: Translator, limits: Limits) -> list[str | None]:
    """A prefix for each text; bad ones are refused before they join a batch."""
    given = asked.prefix
    if given is not None:
        check_texts([one for one in ([given] if isinstance(given, str) else given) if one], limits, "prefix")
        prefix_ids(given, len(asked.texts), model.tokenizers.target)
    return [given] * len(asked.texts) if given is None or isinstance(given, str) else list(given)


async def _lengths(served: Served, texts: Sequence[str]) -> list[int]:
    """Source tokens of each text."""
    if sum(map(len, texts)) <= LONG:
        return [served.length(text) for text in texts]
    return await asyncio.to_thread(lambda: [served.length(text) for text in texts])
