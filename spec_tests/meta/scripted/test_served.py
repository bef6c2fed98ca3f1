"""The scripted model behind a real server: what goes over the wire is what the case says."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from looptck.bench.cases import cases
from looptck.catalogue.agents import Tool, agent
from looptck.commands.recording.children import child
from looptck.commands.recording.scripted.scripts import scenarios
from looptck.commands.recording.scripted.vocabulary import FALLBACKS, MISPLACED, UNKNOWN
from looptck.values.turns import Turn
from looptck.wires import WIRES

pytest.importorskip("xllamacpp", reason="needs the extra scripted")
pytest.importorskip("gguf", reason="needs the extra scripted")

SERVE = [sys.executable, "-P", "-m", "looptck.commands.recording.scripted.serve"]
PARALLEL = cases()["parallel-calls"]
TOOLS = agent("assistant").tools


@pytest.fixture(scope="module", name="server")
def _server() -> Iterator[dict[str, Any]]:
    """The line in which it says that it is ready."""
    with child(SERVE) as said:
        yield said


def body(wire: str, history: Sequence[Any], *, stream: bool = False, most: int = 1000) -> dict[str, Any]:
    """A request."""
    about = {"model": "scripted", "stream": stream, "tools": [offered(wire, tool) for tool in TOOLS]}
    match wire:
        case "openai-chat":
            return about | {"messages": history, "max_tokens": most, "parallel_tool_calls": True}
        case "openai-responses":
            return about | {"input": history, "max_output_tokens": most}
        case _:
            return about | {"messages": history, "max_tokens": most}


def offered(wire: str, tool: Tool) -> dict[str, Any]:
    """A tool in the wire's format."""
    about = {"name": tool.name, "description": tool.description}
    match wire:
        case "openai-chat":
            return {"type": "function", "function": about | {"parameters": tool.parameters}}
        case "openai-responses":
            return {"type": "function", "strict": False} | about | {"parameters": tool.parameters}
        case _:
            return about | {"input_schema": tool.parameters}


def asked(question: str) -> list[Any]:
    """A history with nothing in it but a question."""
    return [{"role": "user", "content": question}]


def results(wire: str, reply: str, ids: Sequence[str | None]) -> list[Any]:
    """A turn with calls and results for these ids, in the format of the next request."""
    said = json.loads(reply)
    match wire:
        case "openai-chat":
            told = [{"role": "tool", "tool_call_id": id, "content": "fine"} for id in ids]
            return [said["choices"][0]["message"], *told]
        case "openai-responses":
            return [*said["output"], *({"type": "function_call_output", "call_id": id, "output": "fine"} for id in ids)]
        case _:
            blocks = [{"type": "tool_result", "tool_use_id": id, "content": "fine"} for id in ids]
            return [{"role": "assistant", "content": said["content"]}, {"role": "user", "content": blocks}]


def reply(server: dict[str, Any], wire: str, request: dict[str, Any]) -> str:
    """The body of the reply."""
    answer = httpx.post(server["base_url"] + WIRES[wire].route, json=request, timeout=60)
    assert 200 == answer.status_code, answer.text
    return answer.text


def said(turn: Turn) -> tuple[str, list[tuple[str, Any]]]:
    """Text and calls of a turn."""
    return turn.text or "", [(call.tool, json.loads(call.arguments)) for call in turn.calls]


@pytest.mark.parametrize("wire", list(WIRES))
@pytest.mark.parametrize("mode", ["plain", "stream"])
def test_a_turn_is_said(server: dict[str, Any], wire: str, mode: str) -> None:
    """Three parallel calls, as they are declared, on every wire."""
    stream = mode == "stream"

    got = WIRES[wire].turn(reply(server, wire, body(wire, asked(PARALLEL.question), stream=stream)), stream)

    assert PARALLEL.steps[0].turn is not None
    assert said(PARALLEL.steps[0].turn) == said(got)
    assert "calls" == got.stopped


@pytest.mark.parametrize("wire", list(WIRES))
def test_results_lead_to_the_next_turn(server: dict[str, Any], wire: str) -> None:
    """Results in the order of the calls are what the model waits for; in another order it says so."""
    question = asked(PARALLEL.question)
    first = reply(server, wire, body(wire, question))
    ids = [call.id for call in WIRES[wire].turn(first, False).calls]

    right = reply(server, wire, body(wire, question + results(wire, first, ids)))
    wrong = reply(server, wire, body(wire, question + results(wire, first, ids[::-1])))

    assert ("All done.", []) == said(WIRES[wire].turn(right, False))
    assert (FALLBACKS[MISPLACED], []) == said(WIRES[wire].turn(wrong, False))


@pytest.mark.parametrize("wire", list(WIRES))
def test_a_strange_question(server: dict[str, Any], wire: str) -> None:
    """A question of no scenario has an answer that says so."""
    got = WIRES[wire].turn(reply(server, wire, body(wire, asked("What?"))), False)

    assert (FALLBACKS[UNKNOWN], []) == said(got)


def test_the_count_of_tokens_cuts_a_turn(server: dict[str, Any]) -> None:
    """A turn for which no more tokens are asked than it has ends for its length, with all of its text."""
    case = cases()["answer-cut-by-length"]
    ((most),) = server["tokens"][case.name]

    got = WIRES["openai-chat"].turn(
        reply(server, "openai-chat", body("openai-chat", asked(case.question), most=most)), False
    )

    assert ("The capital of France is", "length") == (got.text, got.stopped)


def test_every_turn_is_counted(server: dict[str, Any]) -> None:
    """There is a count for each turn of each scenario."""
    assert {one.name: len(one.turns) for one in scenarios(cases())} == {
        name: len(counts) for name, counts in server["tokens"].items()
    }


def test_usage_does_not_depend_on_what_was_asked_before(server: dict[str, Any]) -> None:
    """The same request twice is counted the same."""
    request = body("anthropic-messages", asked(PARALLEL.question))
    first, second = (json.loads(reply(server, "anthropic-messages", request)) for _ in range(2))

    assert first["usage"] == second["usage"]


def test_it_stops_with_its_caller(tmp_path: Path) -> None:
    """Where its standard input is closed it ends, and leaves nothing behind."""
    ended = subprocess.run(
        SERVE, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=True, env={"TMPDIR": str(tmp_path)}
    )

    assert "llama.cpp" == json.loads(ended.stdout)["dialect"]
    assert [] == list(tmp_path.iterdir())
