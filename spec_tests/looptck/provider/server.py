"""The provider: one HTTP server on loopback, in a separate thread, with a path prefix for every run."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import wait
from contextlib import suppress
from time import monotonic, perf_counter
from typing import Any, Self, TypeVar

from looptck.drivers.faults import DriverFault
from looptck.provider import otlp
from looptck.provider.http import Connection, HttpReply, HttpRequest
from looptck.provider.http_reader import MAX_BODY
from looptck.provider.mock_run import MockRun, is_aside
from looptck.provider.model_run import ModelRun
from looptck.provider.replies import whole
from looptck.provider.shared import PREFIX, Shared
from looptck.values.frozen import dataclass
from looptck.values.spent import Spent
from looptck.values.transcript import Transcript

Result = TypeVar("Result")

HOST = "127.0.0.1"
TURNS_TO_TAKE_IN = 6
"""Enough turns of the event loop to read everything that the sockets hold."""
ANSWERING = 30.0
"""Seconds after which a thread that does nothing is taken for one that can be woken no more."""
LOOK = 0.5
"""Seconds between two looks whether the thread of the provider is alive."""
ENDED = "the kit's server has ended: its sockets were closed, which only code in this process can do"
KEPT = "this function is one of another run, which is over; the loop has kept it"
"""What a function of a case says when its run is over, as where a loop has one registry for the tools of all runs."""
IS_OVER = {"error": {"type": "RunIsOver", "message": KEPT}}
MOST_LATE = 1000
"""The most late requests that are stored."""


@dataclass(frozen=True, slots=True)
class Late:
    """A request that came after the end of its run."""

    run: str
    method: str
    path: str


class Provider:
    """Serves the mock runs that are open. Use it as a context manager; ``most`` is the most bytes of a body.

    Raises:
        OSError: no port is available.
    """

    def __init__(
        self,
        port: int = 0,
        root: Callable[[HttpRequest], HttpReply | None] | None = None,
        *,
        most: int = MAX_BODY,
    ) -> None:
        self.spans = otlp.Receiver()
        self.shared = Shared()
        self.spent = Spent()
        self._port = port
        self._most = most
        self._root = root
        """Answers the requests that are below no run's prefix; None: only the kit's own do."""
        self._mock_runs: dict[str, list[ModelRun]] = {}
        """The open mock runs by their tokens; several where runs share a URL."""
        self._over: dict[str, tuple[str, Sequence[str]]] = {}
        """The ids of ended runs with the texts of their prompts, by the token of their mock run."""
        self.late: list[Late] = []
        """The requests that came after the end of their run."""
        self._tokens = itertools.count(1)
        self._loop: asyncio.AbstractEventLoop
        self._thread: threading.Thread
        self._is_stuck = False
        self._server: asyncio.Server | None = None
        self._connections: set[Connection] = set()

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="looptck provider", daemon=True)
        self._thread.start()
        try:
            self._server = asyncio.run_coroutine_threadsafe(self._listen(), self._loop).result()
        except BaseException:
            self._end_thread()
            raise
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(DriverFault):
            self._do(self._close())
        self._end_thread()

    def _do(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Do something in the thread of this provider, and wait for it.

        Raises:
            DriverFault: the thread has ended, which only code of a driver or loop in this process can bring about.
        """
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        until = monotonic() + ANSWERING
        while self.answers:
            if wait([future], timeout=LOOK).done:
                return future.result()
            self._is_stuck = monotonic() > until
        raise DriverFault("crashed", ENDED)

    @property
    def answers(self) -> bool:
        """Whether the thread of this provider works."""
        return self._thread.is_alive() and not self._is_stuck

    @property
    def port(self) -> int:
        return self._port

    @property
    def origin(self) -> str:
        return f"http://{HOST}:{self._port}"

    @property
    def telemetry(self) -> str:
        """The base URL for exports of spans, in all runs; spans go to ``/v1/traces`` below it."""
        return self.origin + otlp.PREFIX

    def transcripts(self) -> Sequence[Transcript]:
        """The events of all open runs."""
        return [mock_run.transcript for mock_runs in list(self._mock_runs.values()) for mock_run in list(mock_runs)]

    def open(self, mock_run: ModelRun, after: ModelRun | None = None) -> str:
        """Let a mock run answer requests; returns its URL, the prefix of the wire's base URL and of the toolbox.

        ``after``: the mock run whose URL it takes over, or shares while that is open.

        Raises:
            DriverFault: the thread that would answer has ended.
        """
        if not self.answers:
            raise DriverFault("crashed", ENDED)
        token = f"c{next(self._tokens)}" if after is None else after.prefix[1:]
        self._over.pop(token, None)
        self._mock_runs.setdefault(token, []).append(mock_run)
        mock_run.opened(f"/{token}")
        return f"{self.origin}/{token}"

    def share(self, mock_run: MockRun, question: str, tools: Sequence[str]) -> None:
        """Let a mock run answer a server's model requests with this question, and its calls of these tools."""
        self.open(mock_run)
        self.shared.open_runs = [*self.shared.open_runs, (mock_run, question, tools)]

    def close(self, mock_run: ModelRun, run: str = "") -> None:
        """Stop a mock run: its URLs are refused from now on, and its transcript gets no more replies.

        Requests that still come are stored under the id of the run, if there is one.
        """
        token = mock_run.prefix[1:]
        left = [one for one in self._mock_runs.pop(token, []) if one is not mock_run]
        if left:
            self._mock_runs[token] = left
        elif run:
            self._over[token] = run, mock_run.prompt
        self.shared.open_runs = [one for one in self.shared.open_runs if one[0] is not mock_run]
        self.spent.judge += mock_run.judging
        self.spent.held += mock_run.held
        mock_run.judging = mock_run.held = 0.0
        if mock_run.under_way:
            self._do(self._finish(mock_run))

    async def _finish(self, mock_run: ModelRun) -> None:
        mock_run.finish()

    @property
    def peers(self) -> list[tuple[int, int]]:
        """The open connections: the port of each client, and the provider's own."""
        return [(one.peer, self._port) for one in list(self._connections) if one.peer]

    @property
    def owes(self) -> bool:
        """Whether a request has not been read, or not been answered, to its end."""
        return not self.flush() or any(one.answering for one in list(self._connections))

    def flush(self) -> bool:
        """Read everything that has arrived; returns whether no request is incomplete.

        A turn of the event loop reads from every socket, and a connection needs three turns from the port
        to its first bytes.
        """
        return self._do(self._flush())

    async def _flush(self) -> bool:
        for _ in range(TURNS_TO_TAKE_IN):
            await asyncio.sleep(0)
        return not any(connection.receiving for connection in self._connections)

    def _answer(self, request: HttpRequest) -> HttpReply | None:
        began = perf_counter()
        try:
            return self._routed(request)
        finally:
            self.spent.provider += perf_counter() - began

    def _routed(self, request: HttpRequest) -> HttpReply | None:
        first = request.path[1:].partition("/")[0]
        mock_run = _marked(self._mock_runs.get(first, []), request.body)
        if mock_run is None and first in self._over:
            run, prompt = self._over[first]
            if len(self.late) < MOST_LATE and not is_aside(request.body, prompt):
                self.late.append(Late(run, request.method, request.path.removeprefix(f"/{first}")))
            return whole(200, IS_OVER) if request.path.startswith(f"/{first}/tools/") else None
        if mock_run is None and self._root is not None:
            return self._root(request)
        if mock_run is None and f"/{first}" == otlp.PREFIX:
            return self.spans.answer(request)
        if mock_run is None and f"/{first}" == PREFIX:
            return self.shared.answer(request)
        return mock_run.answer(request) if mock_run else None

    async def _listen(self) -> asyncio.Server:
        return await self._loop.create_server(self._connection, HOST, self._port)

    def _connection(self) -> Connection:
        return Connection(self._answer, self._loop, self._connections, self._most)

    async def _close(self) -> None:
        assert self._server is not None
        for listener in self._server.sockets:
            self._loop.remove_reader(listener.fileno())  # a half-open connection would be lost when the server closes
        while self._connections or len(asyncio.all_tasks()) > 1:  # replies and connections in progress
            for connection in list(self._connections):
                connection.abort()
            await asyncio.sleep(0)
        self._server.close()
        await self._server.wait_closed()

    def _end_thread(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(LOOK if self._is_stuck else None)
        if self._thread.is_alive():
            return
        with suppress(OSError):  # sockets that foreign code has closed already
            self._loop.close()


def _marked(mock_runs: Sequence[ModelRun], body: bytes) -> ModelRun | None:
    """The mock run whose mark comes last in a request, which ends with what is new; the first where none has one."""
    return max(mock_runs, key=lambda one: body.rfind(one.mark) if one.mark else -1, default=None)
