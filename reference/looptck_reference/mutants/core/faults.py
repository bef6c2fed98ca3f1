"""Faults of the provider taken for something else: the seams `refuse_error` and `whole`, and what the runner does."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress

import httpx

from looptck_reference.actions import Ask
from looptck_reference.errors import (
    BadArguments,
    ConnectionLost,
    LoopError,
    MalformedReply,
    ProviderError,
    StreamBroken,
)
from looptck_reference.exchange import Exchange
from looptck_reference.loop import Loop
from looptck_reference.mutants.core.asking import Asker, asking, run_again
from looptck_reference.mutants.mutant import CHAT, CHAT_STREAM, Mutant
from looptck_reference.mutants.speaking import streaming
from looptck_reference.tools import parse_arguments
from looptck_reference.values import Delta, Json, ToolCall, Turn
from looptck_reference.wires import ChatStream


class AnyEndRunsCalls(Mutant):
    """Runs the calls of a stream that just ends: `stream-without-finish-runs-nothing`."""

    breaks = ("stream-without-finish-runs-nothing",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def whole(self) -> bool:
            return self.calling or super().whole()

    wires = streaming(chat=Stream)


class AnyEndIsTheAnswer(Mutant):
    """Takes the text of a stream that just ends for the answer: `stream-without-finish-is-told`."""

    breaks = ("stream-without-finish-is-told",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def whole(self) -> bool:
            return (bool(self._text) and not self.calling) or super().whole()

    wires = streaming(chat=Stream)


class ErrorRunsCalls(Mutant):
    """Runs the calls that came before an error in a stream: `error-event-runs-nothing`."""

    breaks = ("error-event-runs-nothing",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def refuse_error(self, event: Json) -> None:
            if not self.calling:
                super().refuse_error(event)
            elif "error" in event:
                self._finish_reason = "tool_calls"

    wires = streaming(chat=Stream)


class ErrorIsTheEnd(Mutant):
    """Takes the text that came before an error in a stream for the answer: `error-event-is-told`."""

    breaks = ("error-event-is-told",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def refuse_error(self, event: Json) -> None:
            if self.calling:
                super().refuse_error(event)
            elif "error" in event:
                self._finish_reason = "stop"

    wires = streaming(chat=Stream)


class MalformedEventsSkipped(Mutant):
    """Passes over an event that is no JSON: `malformed-event-is-told`."""

    breaks = ("malformed-event-is-told",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        def add(self, data: str) -> Delta:
            with suppress(StreamBroken):
                return super().add(data)
            return Delta(calling=self.calling)

    wires = streaming(chat=Stream)


class LateCutIgnored(Mutant):
    """Runs the calls of a stream whose connection broke behind their last piece: `cut-reply-runs-nothing`."""

    breaks = ("cut-reply-runs-nothing",)
    cells = CHAT_STREAM

    class Stream(ChatStream):
        broke = False
        """Whether the connection of the latest stream did."""

        def __init__(self) -> None:
            super().__init__()
            LateCutIgnored.Stream.broke = False

        def whole(self) -> bool:
            return super().whole() or (self.broke and self.calling and all(_reads(one.whole()) for one in self._calls))

    class Runs(Asker):
        def _bytes(self, response: httpx.Response) -> Iterator[bytes]:
            try:
                yield from super()._bytes(response)
            except StreamBroken:
                LateCutIgnored.Stream.broke = True

    invoker = asking(Runs)
    wires = streaming(chat=Stream)


class CutTextIsTheAnswer(Mutant):
    """Takes the text that came before the connection broke for the answer: `cut-reply-is-told`."""

    breaks = ("cut-reply-is-told",)
    cells = CHAT_STREAM

    class Runs(Asker):
        def _receive(self, exchange: Exchange, response: httpx.Response) -> Generator[str | Turn]:
            said = ""
            try:
                for piece in super()._receive(exchange, response):
                    said += piece if isinstance(piece, str) else ""
                    yield piece
            except StreamBroken as error:
                if not said or not isinstance(error.__cause__, httpx.HTTPError):
                    raise
                yield Turn(said)

    invoker = asking(Runs)


class ErrorIsTheAnswer(Mutant):
    """Answers with the provider's own words where a request fails: `http-error-is-told`."""

    breaks = ("http-error-is-told",)
    cells = CHAT

    class Runs(Asker):
        def _ask(self, exchange: Exchange, ask: Ask) -> Generator[str | Turn]:
            try:
                yield from super()._ask(exchange, ask)
            except ProviderError as error:
                if error.status is None:
                    raise
                yield Turn(str(error))

    invoker = asking(Runs)


class GivesUpInSilence(Mutant):
    """Returns nothing at all once it has asked eight times in vain: `http-error-is-told`."""

    breaks = ("http-error-is-told",)
    cells = CHAT

    class Runs(Asker):
        def _ask(self, exchange: Exchange, ask: Ask) -> Generator[str | Turn]:
            for _ in range(8):
                try:
                    yield from super()._ask(exchange, ask)
                except ProviderError as error:
                    if error.status != 500:
                        raise
                else:
                    return
            yield Turn("")

    invoker = asking(Runs)


class NeverGivesUp(Mutant):
    """Asks again and again while the service errs: `http-error-is-told`."""

    breaks = ("http-error-is-told",)
    cells = CHAT

    class Runs(Asker):
        def _ask(self, exchange: Exchange, ask: Ask) -> Generator[str | Turn]:
            while True:
                try:
                    yield from super()._ask(exchange, ask)
                except ProviderError as error:
                    if error.status != 500:
                        raise
                else:
                    return

    invoker = asking(Runs)


class PageIsTheAnswer(Mutant):
    """Takes a reply that is no JSON for the answer: `page-instead-of-json-is-told`."""

    breaks = ("page-instead-of-json-is-told",)
    cells = CHAT

    class Runs(Asker):
        def _ask(self, exchange: Exchange, ask: Ask) -> Generator[str | Turn]:
            try:
                yield from super()._ask(exchange, ask)
            except MalformedReply as error:
                if not isinstance(error.__cause__, ValueError):
                    raise
                yield Turn(str(error))

    invoker = asking(Runs)


class Retrying(Asker):
    """Asks once more where the service failed."""

    def _ask(self, exchange: Exchange, ask: Ask) -> Generator[str | Turn]:
        try:
            yield from super()._ask(exchange, ask)
        except ProviderError as error:
            if error.status not in {429, 500, 529}:
                raise
        else:
            return
        yield from super()._ask(exchange, self.again(ask))

    def again(self, ask: Ask) -> Ask:
        """What is asked the second time: the same."""
        return ask


class RetryRerunsTools(Mutant):
    """Runs the last calls again before it repeats a request: `retry-never-reruns-a-tool`."""

    breaks = ("retry-never-reruns-a-tool",)
    cells = CHAT

    class loop(Loop):  # noqa: N801  the driver's attribute
        ran: Sequence[ToolCall] = ()

        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            self.ran = super().calls_of(turn)
            return self.ran

    class Runs(Retrying):
        def again(self, ask: Ask) -> Ask:
            assert isinstance(self.loop, RetryRerunsTools.loop)
            run_again(self.loop, self.loop.ran)
            return ask

    invoker = asking(Runs)


class RetryForgets(Mutant):
    """Repeats a request with the prompt alone: `retried-request-is-the-same`."""

    breaks = ("retried-request-is-the-same",)
    cells = CHAT

    class Runs(Retrying):
        def again(self, ask: Ask) -> Ask:
            return Ask(ask.history[: self.loop.round_ends[0]])

    invoker = asking(Runs)


class AfterBreaks(Asker):
    """Asks once more where a reply broke."""

    def _ask(self, exchange: Exchange, ask: Ask) -> Generator[str | Turn]:
        try:
            yield from super()._ask(exchange, ask)
        except LoopError as error:
            in_stream = isinstance(error, ProviderError) and error.status is None
            if not (in_stream or isinstance(error, ConnectionLost | StreamBroken)):
                raise
        else:
            return
        yield from super()._ask(exchange, self.again(ask))

    def again(self, ask: Ask) -> Ask:
        """What is asked the second time: the same."""
        return ask


class BreakRerunsTools(Mutant):
    """Runs the last calls again where the reply to their results broke: `broken-reply-reruns-no-tool`."""

    breaks = ("broken-reply-reruns-no-tool",)
    cells = CHAT_STREAM

    class loop(Loop):  # noqa: N801
        ran: Sequence[ToolCall] = ()

        def calls_of(self, turn: Turn) -> Sequence[ToolCall]:
            self.ran = super().calls_of(turn)
            return self.ran

    class Runs(AfterBreaks):
        def again(self, ask: Ask) -> Ask:
            assert isinstance(self.loop, BreakRerunsTools.loop)
            run_again(self.loop, self.loop.ran)
            return ask

    invoker = asking(Runs)


class BreakForgets(Mutant):
    """Asks with the prompt alone where a reply broke: `retried-request-is-the-same`."""

    breaks = ("retried-request-is-the-same",)
    cells = CHAT_STREAM

    class Runs(AfterBreaks):
        def again(self, ask: Ask) -> Ask:
            return Ask(ask.history[: self.loop.round_ends[0]])

    invoker = asking(Runs)


def _reads(call: ToolCall) -> bool:
    try:
        parse_arguments(call.arguments)
    except BadArguments:
        return False
    return True
