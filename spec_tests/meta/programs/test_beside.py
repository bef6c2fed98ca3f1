"""Requests beside the script: which they are, and what they get."""

from __future__ import annotations

import json
from typing import Any

import pytest

from looptck.provider.faults import HttpError
from looptck.provider.http import HttpRequest
from looptck.provider.mock_run import BESIDE, MOST_BESIDE
from looptck.provider.program_run import ANOTHERS, BESIDE_WITH_TOOLS, ProgramMockRun
from looptck.provider.script import Script, Step, step
from looptck.provider.toolbox import Toolbox
from looptck.values.transcript import TOO_MUCH, Received, SideRequest, UnroutedRequest
from looptck.values.turns import says
from looptck.wires import WIRES
from meta.provider.mock_runs import noted

PARAMETERS: dict[str, Any] = {"type": "object", "properties": {}}
HEADERS = {"content-type": "application/json", "authorization": "Bearer a-key"}


def offered(*names: str) -> list[dict[str, Any]]:
    """Tools as a request offers them."""
    return [{"type": "function", "function": {"name": name, "parameters": PARAMETERS}} for name in names]


class Asking:
    """A mock run, and what comes of requests to it."""

    def __init__(self, *steps: Step) -> None:
        script = Script(steps or (Step(says("Warm.")), Step(says("Warm."))))
        self.run = ProgramMockRun(WIRES["openai-chat"], script, Toolbox())
        self.run.offers = ["sh"]

    def __call__(self, tools: list[Any], system: str = "Be brief.", text: str = "Go.", **members: Any) -> str:
        """Ask; returns the text of the reply."""
        messages = [{"role": "system", "content": system}, {"role": "user", "content": text}]
        body = {"model": "m", "messages": messages, **({"tools": tools} if tools else {}), **members}
        request = HttpRequest(
            "POST", "/v1/chat/completions", {"content-type": "application/json"}, json.dumps(body).encode()
        )
        reply = self.run.answer(request)
        if reply is None:
            return "nothing"
        whole = b"".join(part for part in reply.parts if isinstance(part, bytes)).partition(b"\r\n\r\n")[2]
        if reply.sent:
            reply.sent()
        said = json.loads(whole)
        return str(said["choices"][0]["message"]["content"] if "choices" in said else "refused")

    @property
    def beside(self) -> list[str]:
        return [event.answered for event in self.run.transcript.events if isinstance(event, SideRequest)]

    @property
    def asked(self) -> int:
        return sum(isinstance(event, Received) for event in self.run.transcript.events)


@pytest.fixture(name="ask")
def _ask() -> Asking:
    return Asking()


def test_a_request_without_the_tool_is_beside(ask: Asking) -> None:
    """It gets a word, or an object where it wants JSON, and costs no turn."""
    assert ["Fine.", "{}"] == [ask([]), ask(offered("other"), response_format={"type": "json_object"})]
    assert "Warm." == ask(offered("sh"))
    assert ([BESIDE, BESIDE], 1) == (ask.beside, ask.asked)


def test_another_agent_is_beside(ask: Asking) -> None:
    """A request with another prompt and other tools than the first is another agent's, even if it offers the tool."""
    ask(offered("sh", "read"))

    assert "Fine." == ask(offered("sh"), system="Keep what is worth it.")
    assert "Warm." == ask(offered("sh"))
    assert ([BESIDE_WITH_TOOLS], 2) == (ask.beside, ask.asked)


def test_a_refused_request_may_come_in_another_form() -> None:
    """A loop that was refused may ask again with another prompt and fewer tools: that is no other agent."""
    ask = Asking(step(HttpError(400)), step(HttpError(400)), Step(says("Warm.")))

    answers = [ask(offered("sh", "read")), ask(offered("sh"), system="Be short."), ask(offered("sh", "read"))]

    assert (["refused", "refused", "Warm."], []) == (answers, ask.beside)
    assert "Fine." == ask(offered("sh"), system="Be short.")


def test_another_task_is_beside(ask: Asking) -> None:
    """A process for all cases may still ask for an earlier one."""
    ask.run.task = "task-4."

    assert ["Fine.", "Warm."] == [ask(offered("sh"), text="task-3."), ask(offered("sh"), text="task-4.")]
    assert ([ANOTHERS], 1) == (ask.beside, ask.asked)


def test_requests_beside_are_bounded(ask: Asking) -> None:
    """After so many there is no answer any more, and the run is one that the kit has ended."""
    answers = [ask([]) for _ in range(MOST_BESIDE + 1)]

    assert ("Fine.", "nothing") == (answers[-2], answers[-1])
    assert [f"{TOO_MUCH} {MOST_BESIDE} beside the script"] == [one.why for one in noted(ask.run, UnroutedRequest)]


def test_members_may_be_accepted(ask: Asking) -> None:
    """A member that the vendor's service takes is not held against a request."""
    ask.run.accepts = ("client_metadata",)

    assert "Warm." == ask(offered("sh"), client_metadata={"a": "b"})
