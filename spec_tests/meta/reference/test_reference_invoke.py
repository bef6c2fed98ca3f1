"""Prompts as agents: the names of both documents, one core, and nothing that outlasts its run."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import respx

from looptck_reference import (
    REGISTRY,
    Tool,
    execute_agent,
    execute_agent_async,
    invoke_agent,
    invoke_agent_async,
)
from looptck_reference.prompty.models import service_of
from looptck_reference.prompty.prompts import Model, load
from looptck_reference.vocabulary.errors import ChildCalledTools, UnknownModel
from meta.reference.reference_files import child, write
from meta.reference.reference_messages import MESSAGES
from meta.reference.reference_provider import replies
from meta.reference.reference_replies import CHAT, call, plain

Call = Callable[..., Any]


def awaited(function: Call) -> Call:
    """An async entry point for callers that wait."""
    return lambda *arguments, **named: asyncio.run(function(*arguments, **named))


INVOKE = [pytest.param(invoke_agent, id="sync"), pytest.param(awaited(invoke_agent_async), id="async")]
EXECUTE = [pytest.param(execute_agent, id="sync"), pytest.param(awaited(execute_agent_async), id="async")]


def asked(route: respx.Route, n: int = -1) -> dict[str, Any]:
    """The body of a request."""
    body: dict[str, Any] = json.loads(route.calls[n].request.content)
    return body


def sunny(city: str) -> str:
    """A tool that is called by keyword."""
    return f"sunny in {city}"


@respx.mock
@pytest.mark.parametrize("invoke", INVOKE + EXECUTE)
def test_a_prompt_runs_by_path_and_by_value(invoke: Call, tmp_path: Path) -> None:
    """Both are asked alike, and the text of the answer comes back."""
    path = write(tmp_path)
    route = replies(*[plain(None, call()), plain("18 °C")] * 3)

    answers = [invoke(one, {"question": "?"}, {"weather": sunny}) for one in (str(path), path, load(path))]

    assert ["18 °C"] * 3 == answers
    assert asked(route, 1) == asked(route, 3) == asked(route, 5)
    messages = asked(route)["messages"]
    assert [("system", "Be brief."), ("user", "?")] == [(one["role"], one["content"]) for one in messages[:2]]
    assert "sunny in Paris" == messages[-1]["content"]


@respx.mock
@pytest.mark.parametrize("invoke", INVOKE)
def test_tools_that_are_given_last_one_run(invoke: Call, tmp_path: Path) -> None:
    """A second run does not find them, and neither does the registry."""
    path = write(tmp_path)
    replies(plain(None, call()), plain("x"), plain(None, call()))

    invoke(path, None, {"weather": sunny})

    with pytest.raises(ValueError, match=r"^No handler registered for tool: weather \(kind: function\)$"):
        invoke(path)
    assert REGISTRY.get_tool("weather") is None


@respx.mock
@pytest.mark.parametrize("invoke", INVOKE)
def test_whole_tools_are_offered_beside_those_of_the_prompt(invoke: Call, tmp_path: Path) -> None:
    """With their handlers, for this run."""
    route = replies(plain(None, call(name="time", arguments="{}")), plain("x"))

    invoke(write(tmp_path), None, [Tool("time", handler=lambda: "noon")])

    assert ["weather", "time"] == [tool["function"]["name"] for tool in asked(route)["tools"]]
    assert "noon" == asked(route)["messages"][-1]["content"]


@respx.mock
@pytest.mark.parametrize(("given", "limit"), [({}, 10), ({"max_iterations": 2}, 2)])
@pytest.mark.parametrize("execute", EXECUTE)
def test_the_guides_limit_is_the_callers(execute: Call, given: dict[str, int], limit: int, tmp_path: Path) -> None:
    """So many model calls, ten unless the caller says so, and then the error in the guide's words."""
    route = replies(*[plain(None, call())] * (limit + 1))

    with pytest.raises(ValueError, match=rf"^Agent loop exceeded max_iterations \({limit}\)$"):
        execute(write(tmp_path), {}, {"weather": sunny}, **given)

    assert limit == route.call_count


@respx.mock
def test_sync_and_async_tools_mix(tmp_path: Path) -> None:
    """An async caller may bring both; coroutine functions are awaited."""

    async def time() -> str:
        return "noon"

    path = write(tmp_path, more="tools: [{name: weather, kind: function}, {name: time, kind: function}]\n")
    route = replies(plain(None, call("c1"), call("c2", "time", "{}")), plain("x"))

    tools: dict[str, Call] = {"weather": sunny, "time": time}

    asyncio.run(execute_agent_async(path, {}, tools))

    assert ["sunny in Paris", "noon"] == [one["content"] for one in asked(route)["messages"][-2:]]


@respx.mock
@pytest.mark.parametrize("invoke", INVOKE)
def test_an_agentic_child_is_a_loop_with_the_handlers_of_the_run(invoke: Call, tmp_path: Path) -> None:
    """It runs its tools, and its answer is the result of the tool that it is."""
    write(tmp_path, "child")
    parent = write(tmp_path, more=child("agentic"))
    ask = call("c1", "ask", '{"question": "Where?"}')
    route = replies(plain(None, ask), plain(None, call("c2")), plain("In Paris."), plain("x"))

    assert "x" == invoke(parent, {}, {"weather": sunny})

    assert [2, 2, 4, 4] == [len(asked(route, n)["messages"]) for n in range(4)]
    assert "Where?" == asked(route, 1)["messages"][1]["content"]
    assert "sunny in Paris" == asked(route, 2)["messages"][3]["content"]
    assert "In Paris." == asked(route, 3)["messages"][3]["content"]


@respx.mock
@pytest.mark.parametrize("invoke", INVOKE)
def test_a_single_child_is_asked_once(invoke: Call, tmp_path: Path) -> None:
    """Its answer is the result; if its model calls tools instead, they do not run, and that is told."""
    write(tmp_path, "child")
    parent = write(tmp_path, more=child("single"))
    ask = call("c1", "ask", '{"question": "Where?"}')
    route = replies(plain(None, ask), plain("In Paris."), plain("x"), plain(None, ask), plain(None, call("c2")))

    assert "x" == invoke(parent)
    assert "In Paris." == asked(route, 2)["messages"][3]["content"]

    with pytest.raises(ChildCalledTools, match=r"'ask' called weather, which requires the mode agentic"):
        invoke(parent, {}, {"weather": sunny})
    assert 5 == route.call_count


@respx.mock
@pytest.mark.parametrize("invoke", INVOKE)
def test_a_child_finds_the_handler_of_a_whole_tool(invoke: Call, tmp_path: Path) -> None:
    """Its own file offers a tool of that name, and the caller has brought what runs it."""
    write(tmp_path, "child")
    parent = write(tmp_path, more=child("agentic"))
    route = replies(plain(None, call("c1", "ask", "{}")), plain(None, call("c2")), plain("In Paris."), plain("x"))

    invoke(parent, {}, [Tool("weather", handler=sunny)])

    assert "sunny in Paris" == asked(route, 2)["messages"][3]["content"]


@respx.mock
@pytest.mark.parametrize("invoke", INVOKE)
def test_a_single_child_that_pauses_is_not_asked_to_go_on(invoke: Call, tmp_path: Path) -> None:
    """One model call is all that it has."""
    path = write(tmp_path, "child")
    path.write_text(path.read_text(encoding="utf-8").replace("  id: m\n", "  id: m\n  provider: anthropic\n"), "utf-8")
    paused = {"type": "message", "role": "assistant", "content": [], "stop_reason": "pause_turn"}
    route = respx.post(MESSAGES).respond(json=paused)
    replies(plain(None, call("c1", "ask", "{}")), plain("x"))

    with pytest.raises(RuntimeError, match="exceeded 1 iterations"):
        invoke(write(tmp_path, more=child("single")))

    assert 1 == route.call_count


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("invoke", INVOKE)
def test_a_child_may_stream(invoke: Call, tmp_path: Path, stream: bool) -> None:
    """Whether it does is its own file's to say; what it streams is the tool's value, and no caller's chunk."""
    write(tmp_path, "child", stream=stream)
    parent = write(tmp_path, more=child("agentic"))
    route = replies(plain(None, call("c1", "ask", "{}")), plain("In Paris."), plain("x"))

    invoke(parent)

    assert [None, stream or None, None] == [asked(route, n).get("stream") for n in range(3)]
    assert "In Paris." == asked(route)["messages"][3]["content"]


MODELS = [
    ("provider: openai", CHAT, "max_completion_tokens", "Bearer k"),
    ("provider: openai\n  apiType: responses", CHAT.replace("chat/completions", "responses"), "max_output_tokens", ""),
    ("provider: anthropic", CHAT.replace("chat/completions", "messages"), "max_tokens", ""),
]


@respx.mock
@pytest.mark.parametrize(("model", "url", "word", "authorization"), MODELS)
def test_the_model_section_decides_where_and_how(
    tmp_path: Path, model: str, url: str, word: str, authorization: str
) -> None:
    """Provider and API choose the wire, and options are said in its words; an Anthropic endpoint has no version."""
    path = write(tmp_path)
    text = path.read_text(encoding="utf-8").replace("  id: m\n", f"  id: m\n  {model}\n")
    options = "{maxOutputTokens: 7, temperature: 0.5, additionalProperties: {user: u}}"
    text = text.replace("options: {stream: false}", f"options: {options}")
    if "anthropic" in model:
        text = text.replace("/v1", "")
    path.write_text(text, encoding="utf-8")
    route = respx.post(url).mock(return_value=httpx.Response(500, json={"error": {"message": "enough"}}))

    with pytest.raises(Exception, match="enough"):
        invoke_agent(path)

    told = asked(route)
    assert ("m", 7, 0.5, "u") == (told["model"], told[word], told["temperature"], told["user"])
    assert authorization in route.calls[0].request.headers.get("authorization", "")


@pytest.mark.parametrize(
    ("provider", "endpoint", "base_url"),
    [
        ("anthropic", "http://a.test", "http://a.test/v1"),
        ("anthropic", "http://a.test/v1/", "http://a.test/v1"),
        ("openai", "http://a.test/", "http://a.test"),
    ],
)
def test_a_version_is_added_where_the_vendors_client_adds_it(provider: str, endpoint: str, base_url: str) -> None:
    """Behind an Anthropic endpoint that has none."""
    model = Model("m", provider=provider, endpoint=endpoint, api_key="k")

    assert base_url == service_of(model).base_url


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("  id: m\n", "  id: m\n  provider: elsewhere\n", "no wire supports API 'chat' of 'elsewhere'"),
        (", apiKey: k", "", "the model 'm' has no key; give model.connection an apiKey"),
        ("{stream: false}", "{topQ: 1}", "this wire does not support the option 'topQ'"),
    ],
)
def test_a_model_that_cannot_be_asked_is_told(tmp_path: Path, old: str, new: str, words: str) -> None:
    """Before anything is sent."""
    path = write(tmp_path)
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")

    with pytest.raises(UnknownModel, match=words):
        invoke_agent(path)
