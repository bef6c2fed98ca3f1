"""The three routes that start runs."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import APIRouter, Request
from starlette.responses import Response

from looptck_reference.server.api.chat import completion
from looptck_reference.server.api.chat_request import ChatBody, read_chat
from looptck_reference.server.api.frames import Frames
from looptck_reference.server.api.messages import message
from looptck_reference.server.api.messages_request import MessagesBody, read_messages
from looptck_reference.server.api.responses import response
from looptck_reference.server.api.responses_request import ResponsesBody, read_responses
from looptck_reference.server.http.clients import owner_of, passed_on
from looptck_reference.server.http.playing import PlainRun, StreamedRun
from looptck_reference.server.serving import Simulator
from looptck_reference.server.values import Answer, RunRequest
from looptck_reference.vocabulary.values import Json

__all__ = ["router"]

router = APIRouter(prefix="/v1")


@router.post("/chat/completions")
async def chat_completions(body: ChatBody, request: Request) -> Response:
    """Answer in the format of OpenAI Chat Completions; with `stream` as an event stream."""
    simulator = _simulator(request)
    return _play(simulator, request, read_chat(body), completion, simulator.chat)


@router.post("/messages")
async def messages(body: MessagesBody, request: Request) -> Response:
    """Answer in the format of Anthropic Messages; with `stream` as an event stream."""
    simulator = _simulator(request)
    return _play(simulator, request, read_messages(body), message, simulator.messages)


@router.post("/responses")
async def responses(body: ResponsesBody, request: Request) -> Response:
    """Answer in the format of OpenAI Responses; with `stream` as an event stream."""
    simulator = _simulator(request)
    return _play(simulator, request, read_responses(body), response, simulator.responses)


def _simulator(request: Request) -> Simulator:
    simulator: Simulator = request.app.state.simulator
    return simulator


def _play(
    simulator: Simulator, request: Request, members: Json, body: Callable[[Answer], Json], frames: type[Frames]
) -> Response:
    """Admit and execute a run; requests are refused before the first byte is sent."""
    asked = RunRequest(**members, owner=owner_of(request), headers=passed_on(request))
    run = simulator.begin(asked)
    if not asked.stream:
        return PlainRun(simulator, run, body)
    return StreamedRun(simulator, run, frames(run.loop.run_id, asked.model, run.loop.created))
