"""One run between its loop and the provider, without I/O: steps for the runner, and their results.

    steps = Exchange(loop, endpoint, spans, stream=True).steps()
    came = None
    while True:                      # until StopIteration: the loop has its answer, or is suspended
        step = steps.send(came)
        came = ...                   # see the table

    step        action of the runner                                   result that it sends back
    --------    ---------------------------------------------------    ------------------------
    Send        sends the request                                      the response, not read
    Read        reads the next bytes of the latest response            them, or None at the end
    RunTools    runs the tools                                         how each of them ended
    Decide      lets someone decide about these calls                  a decision for each, or None: later
    str         hands this text to the caller of the loop              None
    News        tells it the caller of the loop                        None

An `httpx.HTTPError` of a `Send` or `Read` is thrown into the generator. Both runners drive this generator, so their
only own task is to wait.
"""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

from looptck_reference.http.reception import Reception
from looptck_reference.http.spans import answered
from looptck_reference.http.texts import Texts
from looptck_reference.vocabulary.actions import Ask, Decide, Fail, Finish, RunTools, Suspend
from looptck_reference.vocabulary.errors import MalformedReply, ProviderError, StreamBroken
from looptck_reference.vocabulary.news import News
from looptck_reference.vocabulary.values import Delta
from looptck_reference.wires.text import error_message

if TYPE_CHECKING:
    from looptck_reference.http.endpoint import Endpoint
    from looptck_reference.http.spans import RunSpans
    from looptck_reference.loop.loop import Loop
    from looptck_reference.vocabulary.values import Turn

__all__ = ["Exchange", "Read", "Send", "Step"]


@dataclass(frozen=True, slots=True)
class Send:
    """Send this request; the previous response is no longer needed."""

    request: httpx.Request


@dataclass(frozen=True, slots=True)
class Read:
    """Read the next bytes of the response."""


Step = Send | Read | RunTools | Decide | str | News


class Exchange:
    """Asks the model in one run, and turns its replies into turns."""

    def __init__(self, loop: Loop, endpoint: Endpoint, spans: RunSpans, *, stream: bool) -> None:
        self.loop = loop
        self.endpoint = endpoint
        self.spans = spans
        self.stream = stream
        self.texts = Texts()

    def steps(self) -> Generator[Step, Any, None]:
        """The whole run."""
        action = self.loop.start()
        while True:
            while self.loop.news:
                yield self.loop.news.popleft()
            match action:
                case Ask():
                    with self.spans.model_call() as span:
                        turn = yield from self.ask(action)
                        answered(span, turn)
                    action = self.loop.model_answered(turn)
                case RunTools():
                    action = self.loop.tools_ended((yield action))
                case Decide():
                    decisions = yield action
                    action = self.loop.suspend() if decisions is None else self.loop.decided(decisions)
                case Finish() | Suspend():
                    return
                case Fail(error):
                    raise error
            self.spans.not_run()

    def ask(self, ask: Ask) -> Generator[Step, Any, Turn]:
        """One model call. A failed call is not repeated: only the caller knows whether it may be, and at what cost.

        Raises:
            ConnectionLost, StreamBroken: the connection failed.
            ProviderError: the provider answered with an error.
            MalformedReply: the reply violates this wire.
        """
        with self.endpoint.reached():
            response: httpx.Response = yield Send(self.request(ask))
        if self.comes_in_events(response):
            return (yield from self.receive())
        turn = self.turn(response, (yield from self.content()))
        if self.stream and turn.text and self.loop.forwards(Delta(turn.text, calling=bool(turn.calls))):
            yield turn.text
        return turn

    def request(self, ask: Ask) -> httpx.Request:
        """The HTTP request for a model call."""
        wire, agent = self.endpoint.wire, self.loop.agent
        body = {**wire.request(agent, ask.history, stream=self.stream), **ask.carried}
        return self.endpoint.request(self.texts.of(body), wire.headers_for(agent))

    def content(self) -> Generator[Step, Any, bytes]:
        """The body of a plain reply."""
        pieces: list[bytes] = []
        with self.endpoint.reached():
            while piece := (yield Read()):
                pieces.append(piece)
        return b"".join(pieces)

    def comes_in_events(self, response: httpx.Response) -> bool:
        """Whether to read the response as an event stream: one was requested, and this is no error and no JSON body."""
        if not self.stream or not response.is_success:
            return False
        return not response.headers.get("content-type", "").lower().startswith("application/json")

    def receive(self) -> Generator[Step, Any, Turn]:
        """The turn of an event stream, whose text is yielded on the way; errors after the end mark are ignored."""
        reception = self.reception()
        try:
            while piece := (yield from self.read()):
                yield from reception.feed(piece)
        except StreamBroken:
            if not reception.complete:
                raise
        return reception.close()

    def reception(self) -> Reception:
        """A reader for an event stream."""
        return Reception(self.endpoint.wire, self.loop.forwards)

    def read(self) -> Generator[Step, Any, bytes | None]:
        """The next bytes of an event stream."""
        with self.endpoint.reached(StreamBroken):
            piece: bytes | None = yield Read()
        return piece

    def turn(self, response: httpx.Response, content: bytes) -> Turn:
        """The turn in a plain reply."""
        place = f"POST {response.request.url}"
        if not response.is_success:
            message = f"{place} answered {response.status_code}: {_words(response, content)}"
            raise ProviderError(message, status=response.status_code)
        try:
            reply = json.loads(content)
        except ValueError as error:
            raise MalformedReply(f"{place} sent a reply that is not JSON: {error}") from error
        if not isinstance(reply, dict):
            raise MalformedReply(f"{place} sent JSON that is not an object")
        return self.endpoint.wire.decode(reply)


def _words(response: httpx.Response, content: bytes) -> str:
    try:
        return error_message(json.loads(content))[:500]
    except ValueError:
        return content.decode(errors="replace")[:500] or response.reason_phrase
