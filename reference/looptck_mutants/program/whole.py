"""Faults of a program that no loop has: its exit status, its requests beside the loop, what it leaves behind."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from looptck_mutants.parts import streaming
from looptck_mutants.program.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.loop.tools import Tool
from looptck_reference.loop.values import Answer, Delta, ToolResult
from looptck_reference.program import Program
from looptck_reference.program.program import APPEND, DONE, FAILED, append
from looptck_reference.wires import ChatStream

LASTS = "import time; time.sleep(30)"
"""A process that would outlive every case; the kit ends it with the case."""


@breaks("program-exit-status-tells-success")
class ProgramAlwaysFails(Program):
    """Ends with the status 1 after an answer."""

    def answered(self, answer: Answer) -> int:
        super().answered(answer)
        return FAILED


@breaks("program-exit-status-tells-failure")
class ProgramAlwaysSucceeds(Program):
    """Ends with the status 0 after an error."""

    def failed(self, error: Exception) -> int:
        super().failed(error)
        return DONE


@breaks("program-leaves-no-process")
class ProgramLeavesADaemon(Program):
    """Starts a helper in a session of its own and never ends it."""

    def answered(self, answer: Answer) -> int:
        subprocess.Popen(  # noqa: S603  this interpreter, with the words above
            [sys.executable, "-c", LASTS],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        return super().answered(answer)


@breaks("program-asks-beside-without-tools")
class ProgramTitlesWithTools(Program):
    """Offers its tools in the request for a title, where the model may call them."""

    def ask_for_a_title(self) -> None:
        self.drive([*self.messages(), {"role": "user", "content": "Give this task a title."}], [APPEND])


@breaks("program-prompt-reaches-the-model")
class ProgramTidiesThePrompt(Program):
    """Makes one blank of several in the prompt."""

    def messages(self) -> list[dict[str, Any]]:
        *before, prompt = super().messages()
        return [*before, {**prompt, "content": " ".join(prompt["content"].split())}]


class _OtherTools(Loop):
    """Offers a further tool after the first round."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results)
        self.agent = replace(self.agent, tools=[*self.agent.tools, Tool("undo", "Undo the last step.")])


@breaks("program-offers-the-same-tools")
class ProgramAddsATool(Program):
    """Offers a further tool after the first round."""

    loop = _OtherTools


@breaks("program-tasks-do-not-leak")
class ProgramRemembers(Program):
    """Puts the prompt of the task before into the next one."""

    def messages(self) -> list[dict[str, Any]]:
        kept = Path.home() / "remembered"
        system, prompt = super().messages()
        before = kept.read_text(encoding="utf-8") if kept.is_file() else ""
        kept.write_text(prompt["content"], encoding="utf-8")
        return [{**system, "content": system["content"] + before}, prompt]

    @classmethod
    def described(cls) -> dict[str, Any]:
        """The description, with one HOME for all cases."""
        return {**super().described(), "home": "kept"}


@breaks("program-failed-call-is-told")
class ProgramHidesFailures(Program):
    """Answers a call that failed with nothing."""

    def append(self, path: str, text: str, *, fail: bool = False) -> str:
        super().append(path, text)
        return "" if fail else f"written: {text}"


class _Eager(ChatStream):
    """Runs a call as soon as its arguments are whole."""

    def __init__(self) -> None:
        super().__init__()
        self._ran: list[str] = []

    def add(self, data: str) -> Delta:
        delta = super().add(data)
        for call in self._calls:
            text = call.whole().arguments
            if text not in self._ran and _is_whole(text):
                self._ran.append(text)
                append(**json.loads(text))
        return delta


def _is_whole(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


@breaks("program-what-ran-is-told")
class ProgramRunsEarlyAndForgets(Program):
    """Runs calls while the stream goes on, and begins anew without them if it breaks."""

    wires = streaming(chat=_Eager)

    def drive(self, messages: list[dict[str, Any]], tools: list[Tool]) -> Answer:
        try:
            return super().drive(messages, tools)
        except Exception:  # noqa: BLE001 - the fault that it shows: whatever broke, it begins anew
            return super().drive(messages, tools)
