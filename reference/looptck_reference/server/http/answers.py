"""JSON bodies, and error replies."""

from __future__ import annotations

import json
from collections.abc import Mapping

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from looptck_reference.server.api.words import anthropic_error, member_path, openai_error
from looptck_reference.server.dialects import ServerDialect
from looptck_reference.server.errors import Refused
from looptck_reference.vocabulary.values import Json

__all__ = ["add_handlers", "error_answer", "json_answer"]


def json_answer(body: Json, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A body in ASCII, like that of events: half a surrogate pair, which a model may write, has no UTF-8 form."""
    return Response(json.dumps(body, separators=(",", ":")), status, headers, "application/json")


def error_answer(error: Refused, path: str, dialect: ServerDialect) -> Response:
    """The error in the format of the API at this path, or in the dialect's form."""
    headers = {"retry-after": "1"} if error.status == 503 else {}
    if dialect.errors == "message":
        return json_answer({"message": error.message}, error.status, headers)
    words = anthropic_error if path == "/v1/messages" else openai_error
    return json_answer(words(error), error.status, headers)


def add_handlers(app: FastAPI) -> None:
    """Report all errors in the same form: the server's own, FastAPI's and Starlette's."""
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(HTTPException, _http)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return error_answer(error, request.url.path, request.app.state.simulator.config.dialect)


async def _invalid(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        message = f"the body is not JSON: {first['ctx'].get('error', first['msg'])}"
        return await _refused(request, Refused(400, message))
    param = member_path(first["loc"][1:])
    message = f"{param or 'the body'}: {first['msg']}"
    return await _refused(request, Refused(422, message, param=param or None))


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return await _refused(request, Refused(error.status_code, str(error.detail)))
