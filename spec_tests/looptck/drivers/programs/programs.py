"""The connection to a program: it declares what the description says, and plays cases one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from looptck.catalogue.extras import need
from looptck.driver import load
from looptck.drivers.connection import OnTold
from looptck.drivers.faults import DriverFault
from looptck.drivers.idle import Pulse
from looptck.drivers.limits import within
from looptck.drivers.programs.description import Description
from looptck.drivers.programs.once import Once
from looptck.drivers.programs.scratch import Case, Places, Scratch
from looptck.drivers.protocol import PLAIN, PROGRAM, Started
from looptck.values.outcome import Outcome
from looptck.values.program import Exit

if TYPE_CHECKING:
    from looptck.drivers.programs.acp import Acp

EXITS = "exits"
"""The capability of a program that is a process for each case: its exit status and its end can be seen."""
DESCRIBING = 60.0
"""Seconds that an object may take to describe its program."""
FAILS = "fails"
"""The capability of a description with a tool that fails, or with those of the kit."""
TAKES_TOOLS = "takes_tools"
"""The capability of a program that is given the kit's tools."""


class Programs:
    """A program as a `Connection`: `scratch` makes the places of a case, and `run` plays it there."""

    def __init__(self, description: Description) -> None:
        self.description = description
        self._places: Places
        self._playing: dict[str, Once] = {}
        self._exits: dict[str, Exit] = {}
        self._acp: Acp | None = None

    def start(self) -> Started:
        """The declaration of the program; no process is started yet."""
        self._places = Places(self.description)
        one = self.description
        return Started(
            name=one.name,
            version=one.version,
            language=one.language,
            wires=tuple(one.wires),
            modes=("sync",),
            profiles=(PROGRAM,),
            capabilities={
                "stream": not one.plain,
                PLAIN: one.plain,
                EXITS: not one.acp,
                FAILS: one.fail is not None or one.mcp is not None,
                TAKES_TOOLS: one.mcp is not None,
            },
            dialect={},
        )

    @property
    def is_one_process(self) -> bool:
        """Whether one process plays all cases, so that its base URL is the same for all."""
        return bool(self.description.acp)

    def scratch(self) -> Scratch:
        """The places of the next case."""
        return self._places.scratch()

    def run(self, id: str, case: dict[str, Any], on_told: OnTold) -> Future[Outcome]:
        """Play a case: wire, URLs, key, model, prompt, scratch places, and what to do before the outcome."""
        mcp_url = case["tools_url"] if self.description.mcp is not None else ""
        given = Case(case["wire"], case["base_url"], case["api_key"], case["model"], case["prompt"], mcp_url)
        if self.is_one_process:
            on_exit = partial(self._exits.__setitem__, id)
            return self._one_process().run(case["scratch"], given, case["before_the_end"], on_exit)
        try:
            one = self._playing[id] = Once(self.description, case["scratch"], given, case["before_the_end"])
        except DriverFault as fault:
            failed: Future[Outcome] = Future()
            failed.set_exception(fault)
            return failed
        return one.outcome

    def exit(self, id: str) -> Exit | None:
        """The end of a run's process; None if it has not ended."""
        return self._playing[id].exit if id in self._playing else self._exits.get(id)

    def cancel(self, id: str) -> None:
        """Cancel nothing: a program does not declare that its runs can be cancelled."""

    def renew(self) -> None:
        """Let the next run find nothing: a process for each run keeps nothing, and one for all declares no state."""

    def abandon(self, id: str, *, begun: bool = False) -> DriverFault | None:
        """End the process of a run that has not finished in time."""
        if self._acp is not None:
            self._acp.kill()
            return None
        one = self._playing.pop(id, None)
        if one is None:
            return None
        one.kill()
        return DriverFault("hung", "it was ended", stderr=one.exit.stderr if one.exit else "")

    def forget(self, id: str) -> None:
        """A run is over."""
        self._playing.pop(id, None)
        self._exits.pop(id, None)

    def pulse(self) -> Pulse:
        """The activity of the processes of all runs."""
        pulses = [one.pulse() for one in self._processes()]
        turns = {thread: turn for one in pulses for thread, turn in one.turns.items()}
        return Pulse(all(one.known for one in pulses), any(one.running for one in pulses), turns)

    def asks_from(self, port: int, to: int) -> bool | None:
        """Whether a process of a run has this connection; None: its process has closed it."""
        found = [one.asks_from(port, to) for one in self._processes()]
        return None if None in found else any(found)

    def kept_spans(self) -> Iterable[Any]:
        """None: a program keeps no spans in this process."""
        return ()

    def _processes(self) -> list[Once | Acp]:
        return [*self._playing.values(), *([self._acp] if self._acp is not None else [])]

    def _one_process(self) -> Acp:
        if self._acp is None:
            need("A program over ACP", "program")
            from looptck.drivers.programs.acp import Acp

            self._acp = Acp(self.description)
        return self._acp

    def stop(self) -> list[DriverFault]:
        for id in [*self._playing]:
            self.abandon(id)
        if self._acp is not None:
            self._acp.close()
        self._places.close()
        return []


def programs(word: str) -> Programs:
    """The program of a description: a file, or what ``described()`` of ``python:MODULE:NAME`` returns.

    Raises:
        ValueError: the name has none of these forms.
        BadFile: the file is not a description.
    """
    kind, _, rest = word.partition(":")
    if kind == "python" and ":" in rest:
        try:
            message = within(DESCRIBING, "described() did not return", lambda: load(rest).described())
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            raise ValueError(f"{word}: {type(error).__name__}: {error}") from error
        return Programs(Description.of(message, Path(rest)))
    if word.strip():
        return Programs(Description.read(Path(word)))
    raise ValueError("program: needs the file of a description, or python:MODULE:NAME")
