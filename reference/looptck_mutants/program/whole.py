"""Faults of a program that no loop has: its exit status, its requests beside the loop, what it leaves behind."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx

from looptck_mutants.parts import streaming
from looptck_mutants.program.parts import breaks
from looptck_reference.loop.loop import Loop
from looptck_reference.program import Program
from looptck_reference.program.program import APPEND, DONE, FAILED, append
from looptck_reference.vocabulary.actions import Action, Finish
from looptck_reference.vocabulary.agent import Agent
from looptck_reference.vocabulary.errors import BadArguments, LoopError, StreamBroken
from looptck_reference.vocabulary.tools import Tool
from looptck_reference.vocabulary.values import Answer, Delta, Json, Stop, ToolResult, Turn
from looptck_reference.wires import ChatStream, EventReader

CHUNK = {"id", "object", "created", "model", "choices", "usage", "system_fingerprint", "service_tier", "obfuscation"}
"""The documented fields of a chunk."""
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

    def failed(self, error: LoopError | httpx.HTTPError) -> int:
        super().failed(error)
        return DONE


@breaks("program-page-instead-of-json-is-told")
class ProgramHidesErrors(Program):
    """Ends with the status 0 and without a word after an error."""

    def failed(self, error: LoopError | httpx.HTTPError) -> int:
        return DONE


@breaks("program-text-before-calls-is-not-the-answer")
class ProgramPrintsTheFirstWord(Program):
    """Prints the first text of the model, even if it came with calls."""

    class FirstWord(Loop):
        """Ends with the first text."""

        said = ""

        def append_turn(self, turn: Turn) -> None:
            self.said = self.said or turn.text
            super().append_turn(turn)

        def stop(self, turn: Turn) -> Action:
            return Finish(Answer(self.said or turn.text, Stop.END))

    loop = FirstWord


@breaks("program-loop-goes-on-until-the-model-answers")
class ProgramStopsAfterThreeRounds(Loop):
    """Ends after three rounds of tools, as if that were the answer."""

    def close_round(self, results: Sequence[ToolResult]) -> Action:
        going_on = super().close_round(results)
        return self.stop(Turn("All done.")) if len(self.round_ends) == 3 else going_on


@breaks("program-bad-arguments-never-run-the-tool")
class ProgramMendsArguments(Loop):
    """Completes arguments that are cut off, and runs the call."""

    def parse_arguments(self, text: str) -> Json:
        try:
            return super().parse_arguments(text)
        except BadArguments:
            return super().parse_arguments(text + '"}')


@breaks("program-no-request-is-refused")
class ProgramAnswersOneCall(Loop):
    """Sends the result of the first call of a turn only."""

    def append_results(self, results: Sequence[ToolResult]) -> None:
        super().append_results(results[:1])


@breaks("program-fragmented-arguments-are-joined")
class ProgramDropsLetters(ChatStream):
    """Drops pieces of arguments of a single character."""

    def add_call(self, delta: Json) -> None:
        function = delta.get("function") or {}
        if len(function.get("arguments") or "") != 1:
            super().add_call(delta)


@breaks("program-bytes-may-be-cut-anywhere")
class ProgramReadsWholePieces(EventReader):
    """Drops bytes that come without the end of their line."""

    def feed(self, piece: bytes) -> list[str]:
        return super().feed(piece) if piece.endswith((b"\n", b"\r")) else []


@breaks("program-bytes-may-be-cut-anywhere")
class ProgramReadsEachPieceAsText(EventReader):
    """Decodes each piece of a stream for itself."""

    def feed(self, piece: bytes) -> list[str]:
        return super().feed(piece.decode(errors="replace").encode())


@breaks("program-unknown-fields-are-ignored")
class ProgramRefusesUnknownFields(ChatStream):
    """Fails on a chunk with an unknown field."""

    def take(self, event: Json) -> str:
        if unknown := event.keys() - CHUNK:
            raise StreamBroken(f"the chunk has unknown fields: {sorted(unknown)}")
        return super().take(event)


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
        self.agent = Agent(self.agent.model, self.agent.messages, [APPEND, Tool("undo", "Undo the last step.")])


@breaks("program-offers-the-same-tools")
class ProgramAddsATool(Program):
    """Offers a further tool after the first round."""

    loop = _OtherTools


@breaks("program-tasks-do-not-leak")
class ProgramRemembers(Program):
    """Puts the prompt of the task before into the next one."""

    def __init__(self, given: argparse.Namespace) -> None:
        super().__init__(given)
        kept = Path.home() / "remembered"
        self.before = kept.read_text(encoding="utf-8") if kept.is_file() else ""
        kept.write_text(given.prompt, encoding="utf-8")

    def messages(self) -> list[dict[str, Any]]:
        system, prompt = super().messages()
        return [{**system, "content": system["content"] + self.before}, prompt]

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


RAN_EARLY: list[str] = []
"""The arguments of the calls of this process that have run before the end of their stream."""


class _Eager(ChatStream):
    """Runs a call as soon as its arguments are whole."""

    def add(self, data: str) -> Delta:
        delta = super().add(data)
        for call in self._calls:
            text = call.whole().arguments
            if text not in RAN_EARLY and _is_whole(text):
                RAN_EARLY.append(text)
                given = json.loads(text)
                append(given["path"], given["text"])
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

    def append(self, path: str, text: str, *, fail: bool = False) -> str:
        early = any(text in one for one in RAN_EARLY)
        return f"written: {text}" if early else super().append(path, text, fail=fail)

    def drive(self, messages: list[dict[str, Any]], tools: list[Tool]) -> Answer:
        try:
            return super().drive(messages, tools)
        except Exception:  # noqa: BLE001 - the fault that it shows: whatever broke, it begins anew
            return super().drive(messages, tools)
