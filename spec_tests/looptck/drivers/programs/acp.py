"""One process for all cases, over the Agent Client Protocol: a session for each case, in a folder of its own."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import tempfile
import threading
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import IO, Any, TypeVar

from acp import PROTOCOL_VERSION, RequestError, text_block
from acp.client.connection import ClientSideConnection
from acp.schema import (
    AgentMessageChunk,
    AllowedOutcome,
    DeniedOutcome,
    HttpMcpServer,
    McpServerStdio,
    PermissionOption,
    PromptResponse,
    RequestPermissionResponse,
    TextContentBlock,
)

from looptck.catalogue.yaml_files import reason
from looptck.drivers.faults import DriverFault
from looptck.drivers.idle import Pulse, pulse
from looptck.drivers.programs import household
from looptck.drivers.programs.description import Description, filled
from looptck.drivers.programs.once import LOOK, last_line
from looptck.drivers.programs.scratch import Case, Scratch, environment, write_files
from looptck.drivers.sockets import has_connection
from looptck.values.outcome import Failed, Nothing, Outcome, Value
from looptck.values.program import Exit

T = TypeVar("T")

ENDING = 5.0
"""Seconds until a killed process, and what waits for it, must have ended."""
STARTING = 60.0
"""Seconds until a process must have answered the first requests of the protocol."""
LINE = 16 * 1024 * 1024
"""The longest message, in bytes."""
KIT = "kit"
"""The name of the server of the kit's tools."""
KEPT = 4000
"""How many bytes of the end of its standard error are kept."""
LAST_WORDS = 1.0
"""Seconds in which the answer of a process that has ended, or the end of one that is cut off, must be there."""
STOPS = {"end_turn": None, "max_tokens": "length", "max_turn_requests": "limit", "refusal": "refusal"}
"""What the protocol's stop reasons are for the caller of a loop; any other is ``other``."""


class _Ended(Exception):
    """The process has ended before it answered; the text says how."""


class Acp:
    """A process, started for the first case and anew after one that was given up."""

    def __init__(self, description: Description) -> None:
        self._description = description
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="looptck acp", daemon=True)
        self._thread.start()
        self._process: Process | None = None
        self._errors: IO[bytes] | None = None
        self._connection: ClientSideConnection | None = None
        self._home: Scratch | None = None
        self._takes_http = False
        """Whether it takes servers of tools by their address."""
        self._said: dict[str, list[str]] = {}
        """The pieces of the answers, by session."""

    def run(
        self, scratch: Scratch, case: Case, before_the_end: Callable[[], None], on_exit: Callable[[Exit], None]
    ) -> Future[Outcome]:
        """Play a case in a new session; its base URL must be that of the first case."""

        async def play() -> Outcome:
            try:
                outcome, text = await self._play(scratch, case)
            except (OSError, ValueError, EOFError) as error:
                raise DriverFault("crashed", f"{type(error).__name__}: {error}", stderr=self._stderr()) from error
            before_the_end()
            on_exit(Exit(None, text, self._stderr()))
            return outcome

        return asyncio.run_coroutine_threadsafe(play(), self._loop)

    def pulse(self) -> Pulse:
        return pulse(self._process.pid) if self._process is not None else Pulse(known=True)

    def asks_from(self, port: int, to: int) -> bool | None:
        return has_connection(self._process.pid, port, to) if self._process is not None else False

    def kill(self) -> None:
        """End the process with all that it has started; the next case starts another."""
        self._process = self._connection = None
        if self._home is not None:
            household.end(self._home.home)

    def close(self) -> None:
        """End everything."""
        process, connection = self._process, self._connection
        self.kill()
        with contextlib.suppress(TimeoutError):
            asyncio.run_coroutine_threadsafe(self._end(process, connection), self._loop).result(ENDING)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(5)
        if not self._thread.is_alive():
            self._loop.close()
        if self._errors is not None:
            self._errors.close()

    async def _end(self, process: Process | None, connection: ClientSideConnection | None) -> None:
        """Wait for the end of the process, and of everything that waits for it; what it has not read is lost."""
        if connection is not None:
            with contextlib.suppress(OSError):
                await connection.close()
        if process is not None:
            await process.wait()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _play(self, scratch: Scratch, case: Case) -> tuple[Outcome, str]:
        """The outcome of a case, and all text of the answer."""
        connection = await self._connected(scratch, case)
        try:
            asked = connection.new_session(cwd=str(scratch.work), mcp_servers=self._servers(case))
            session = await self._answer(asked, STARTING)
        except (RequestError, TimeoutError, _Ended) as error:
            raise DriverFault("cannot-start", f"session/new: {_told(error)}", stderr=self._stderr()) from error
        said = self._said[session.session_id] = []
        try:
            prompting = connection.prompt(session_id=session.session_id, prompt=[text_block(case.prompt)])
            reply = await self._answer(prompting, self._description.seconds)
        except RequestError as error:
            return Failed("other", type(error).__name__, str(error)), "".join(said)
        except _Ended as error:
            return Failed("other", str(error), last_line(self._stderr())), "".join(said)
        except TimeoutError:
            return Nothing(self._description.seconds), "".join(said)
        return _outcome(reply, "".join(said)), "".join(said)

    def _servers(self, case: Case) -> list[Any]:
        """The server of the kit's tools, by its address or as a command; none for a program with tools of its own."""
        if not case.mcp_url:
            return []
        if self._takes_http:
            return [HttpMcpServer(type="http", name=KIT, url=case.mcp_url, headers=[])]
        words = ["-m", "looptck.drivers.programs.stdio", case.mcp_url]
        return [McpServerStdio(name=KIT, command=sys.executable, args=words, env=[])]

    async def _connected(self, scratch: Scratch, case: Case) -> ClientSideConnection:
        """The connection to the process, which is started if there is none."""
        if self._connection is not None and self._process is not None and self._process.returncode is None:
            return self._connection
        self._home = scratch
        places = scratch.places(self._description, case)
        write_files(self._description, scratch, places)
        words = [filled(word, places) for word in self._description.acp]
        if self._errors is not None:
            self._errors.close()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
        try:
            self._process = await asyncio.create_subprocess_exec(
                *words,
                stdin=PIPE,
                stdout=PIPE,
                stderr=self._errors,
                cwd=scratch.work,
                env=environment(self._description, scratch, places),
                start_new_session=True,
                limit=LINE,
            )
        except (OSError, ValueError) as error:
            raise DriverFault("cannot-start", f"{words[0]}: {reason(error)}") from error
        own: Any = self  # a client without files and terminals
        connection = ClientSideConnection(own, self._process.stdin, self._process.stdout)
        try:
            there = await self._answer(connection.initialize(protocol_version=PROTOCOL_VERSION), STARTING)
            can = there.agent_capabilities and there.agent_capabilities.mcp_capabilities
            self._takes_http = bool(can and can.http)
            if self._description.authenticate is not None:
                await self._answer(connection.authenticate(method_id=self._description.authenticate), STARTING)
        except (RequestError, TimeoutError, ConnectionError, _Ended) as error:
            self.kill()
            raise DriverFault("cannot-start", f"initialize: {_told(error)}", stderr=self._stderr()) from error
        self._connection = connection
        return connection

    async def _answer(self, asked: Coroutine[Any, Any, T], seconds: float) -> T:
        """What the process answers.

        Raises:
            _Ended: the process has ended, whoever holds its output open; its answer may still be on the way.
            TimeoutError: it has not answered in time.
        """
        assert self._process is not None
        answer, end = asyncio.ensure_future(asked), asyncio.ensure_future(_end_of(self._process))
        try:
            done, _ = await asyncio.wait({answer, end}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                raise TimeoutError
            if answer not in done:
                await asyncio.wait({answer}, timeout=LAST_WORDS)
            with contextlib.suppress(TimeoutError):
                if answer.done() and not isinstance(answer.exception(), ConnectionError):
                    return answer.result()
                raise _Ended(f"exit status {await asyncio.wait_for(asyncio.shield(end), LAST_WORDS)}")
            return answer.result()
        finally:
            answer.cancel()
            end.cancel()

    def _stderr(self) -> str:
        if self._errors is None or self._errors.closed:
            return ""
        size = self._errors.seek(0, 2)
        self._errors.seek(max(0, size - KEPT))
        return self._errors.read().decode(errors="replace")

    # -- what the process asks of its client --------------------------------------------------------------------------

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """A piece of the answer; everything else that is told about a session is not needed."""
        if isinstance(update, AgentMessageChunk) and isinstance(update.content, TextContentBlock):
            self._said.setdefault(session_id, []).append(update.content.text)

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[PermissionOption], **_: Any
    ) -> RequestPermissionResponse:
        """Allow it: nothing but the described tool is ever asked for."""
        for option in options:
            if option.kind in {"allow_once", "allow_always"}:
                return RequestPermissionResponse(outcome=AllowedOutcome(outcome="selected", option_id=option.option_id))
        return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))

    def on_connect(self, conn: Any) -> None:
        """The connection is there."""


async def _end_of(process: Process) -> int:
    """The exit status of a process once it has one. ``Process.wait`` waits for whoever holds its output open, too."""
    while process.returncode is None:  # noqa: ASYNC110  the system calls nobody
        await asyncio.sleep(LOOK)
    return process.returncode


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, _Ended | RequestError) else f"{type(error).__name__} {error}"


def _outcome(reply: PromptResponse, text: str) -> Outcome:
    return Value(text.strip(), STOPS.get(reply.stop_reason, "other"))


__all__ = ["Acp"]
