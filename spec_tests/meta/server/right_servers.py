"""Right servers that answer otherwise than the reference where the documents leave a choice: benches of the kit."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from looptck_reference.server.bench import Bench
from looptck_reference.server.config import Config
from looptck_reference.server.dialects import TODAY
from looptck_reference.server.errors import Refused
from looptck_reference.server.loop import ServerLoop
from looptck_reference.server.serving import Run, Simulator
from looptck_reference.server.steps import Fail, Step
from looptck_reference.server.tools import Workshop
from looptck_reference.server.values import Record, RunRequest
from looptck_reference.vocabulary.values import Json, Turn

__all__ = [
    "CapIsAnError",
    "CapturesWhatIsNamed",
    "CountsItself",
    "ForgetsVariables",
    "Later",
    "ReadingIsNoUse",
    "RecordsObjects",
    "TellsUsageIfAsked",
]


class Later(Bench):
    """The server of a later version of the documents."""

    def config(self, setup: str, upstream: str, dispatch: str) -> Config:
        """With its dialect."""
        return replace(super().config(setup, upstream, dispatch), dialect=TODAY)


class RecordsObjects(Bench):
    """Records the arguments of a call as the object that they are."""

    class simulator(Simulator):  # noqa: N801
        class loop(ServerLoop):  # noqa: N801
            def _entry(self, record: Record) -> Json:
                return {**super()._entry(record), "arguments": record.called.arguments}


class CapIsAnError(Bench):
    """Answers with an error where the model asks for one round more than the cap allows."""

    class simulator(Simulator):  # noqa: N801
        class loop(ServerLoop):  # noqa: N801
            def at_cap(self, turn: Turn) -> Step:
                pending = ", ".join(call.name for call in turn.calls)
                return Fail(Refused(422, f"all {self.cap} tool rounds are used up, and the model calls {pending}"))


class CountsItself(Bench):
    """Counts tokens with a tokenizer of its own, whatever its model reports."""

    class simulator(Simulator):  # noqa: N801
        class loop(ServerLoop):  # noqa: N801
            def total_usage(self) -> Json | None:
                written = sum(len(str(one)) for one in self.history)
                return {"prompt_tokens": written, "completion_tokens": 7, "total_tokens": written + 7}


class ForgetsVariables(Bench):
    """Runs each program in a process and a directory of its own."""

    class simulator(Simulator):  # noqa: N801  the bench's attribute
        def begin(self, request: RunRequest) -> Run:
            """With nothing of an earlier run."""
            return replace(super().begin(request), workshop=Workshop())


class CapturesWhatIsNamed(Bench):
    """Captures only the files that the request declares or the call lists, as the page of May 2026 says."""

    def config(self, setup: str, upstream: str, dispatch: str) -> Config:
        """With this answer of its dialect."""
        config = super().config(setup, upstream, dispatch)
        return replace(config, dialect=replace(config.dialect, captures="listed"))


class ReadingIsNoUse(Bench):
    """Does not count the export of a session as a use of it."""

    def app(self, simulator: Simulator) -> Any:
        """The order of the sessions is the same after an export as before it."""
        app = super().app(simulator)

        async def keeping(scope: Any, receive: Any, send: Any) -> None:
            order = [*simulator.sessions._kept]
            await app(scope, receive, send)
            if scope["type"] == "http" and scope["method"] == "GET":
                for key in order:
                    if key in simulator.sessions._kept:
                        simulator.sessions._kept.move_to_end(key)

        return keeping


class TellsUsageIfAsked(Bench):
    """Tells the usage of a stream only if the request asks with stream_options, as the service of OpenAI does."""

    def app(self, simulator: Simulator) -> Any:
        """What is sent has no usage unless the request's body says include_usage."""
        app = super().app(simulator)

        async def filtering(scope: Any, receive: Any, send: Any) -> None:
            heard: list[bytes] = []

            async def hear() -> Any:
                message = await receive()
                heard.append(message.get("body", b""))
                return message

            async def tell(message: Any) -> None:
                body = message.get("body", b"")
                if body.startswith(b"data: {") and b"include_usage" not in b"".join(heard):
                    chunk = {name: value for name, value in json.loads(body[6:]).items() if name != "usage"}
                    message = {**message, "body": b"data: " + json.dumps(chunk).encode() + b"\n\n"}
                await send(message)

            await app(scope, hear, tell)

        return filtering
