"""The reference's driver in cases of several runs: conversations, given histories, shared agents, approval."""

from __future__ import annotations

import asyncio
import copy
import json
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
import respx

from looptck_reference import PROMPTY_AGENT_MODE, Agent, Loop, Tool, ToolCall
from looptck_reference.kit.driver import Driver
from meta.reference.reference_driving import TOOL
from meta.reference.reference_provider import replies
from meta.reference.reference_replies import CHAT, Json, call, delta, plain, sse
from meta.reference.reference_talks import is_legal, talk
from meta.reference.reference_wires import PARIS, Side
from meta.reference.test_reference_driver import FROM_DRIVER, case

CONFIRM = "http://toolbox.test/confirm"
SYSTEM = {"role": "system", "content": "Be brief."}
CAREFUL_URL = "http://toolbox.test/careful"
CAREFUL: Json = {
    "name": "careful", "kind": "function", "description": "", "parameters": {"type": "object"},
    "url": CAREFUL_URL, "approval": True, "bindings": {"user": "user"},
}  # fmt: skip
WEATHER: Json = {**CAREFUL, "name": "weather", "url": TOOL, "approval": False, "bindings": {}}

Run = Callable[..., Json]


def question(text: str) -> Json:
    """A user's message."""
    return {"role": "user", "content": text}


@pytest.fixture(params=["sync", "async"])
def run(request: pytest.FixtureRequest) -> Run:
    """Run a case on a driver in each mode; give the outcome, which is legal."""

    def go(driver: Driver, chunks: list[str] | None = None, **more: Any) -> Json:
        one = case(mode=request.param, **more)
        emit = (chunks if chunks is not None else []).append
        outcome = asyncio.run(driver.run_async(one, emit)) if request.param == "async" else driver.run(one, emit)
        FROM_DRIVER.validate({"type": "finished", "id": "1", "outcome": outcome})
        return outcome

    return go


def requests(url: str) -> list[Json]:
    """The bodies of the requests to this URL."""
    return [json.loads(one.request.content) for one in list(respx.calls) if str(one.request.url) == url]


def history(side: Side, at: int = -1) -> list[Json]:
    """The history of a request."""
    body = requests(side.url)[at]
    found: list[Json] = body["messages"] if "messages" in body else body["input"]
    return found


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
def test_a_conversation_goes_on(run: Run, side: Side, *, stream: bool) -> None:
    """A later run sends all that was said, once, with the system's words; other conversations send nothing of it."""
    respx.post(TOOL).respond(json={"value": "sunny"})
    bodies = [side.body("", PARIS, stream=stream), *(side.body(text, stream=stream) for text in ("18", "19", "20"))]
    replies(*bodies, url=side.url)
    driver = Driver()
    named = {"wire": side.name, "stream": stream}
    run(driver, conversation="a", messages=[SYSTEM, question("Today?")], **named)
    run(driver, conversation="a", messages=[question("Tomorrow?")], **named)
    said = talk(side.name, [one for one in history(side) if one.get("role") != "system"])
    body = requests(side.url)[-1]
    run(driver, conversation="b", messages=[question("Who?")], **named)

    assert [
        ("question", "Today?", ()),
        ("turn", "", ("call_1",)),
        ("results", "sunny", ("call_1",)),
        ("turn", "18", ()),
        ("question", "Tomorrow?", ()),
    ] == said
    assert 1 == json.dumps(body).count("Be brief.")
    assert [question("Who?")] == history(side)
    assert "Be brief." not in json.dumps(requests(side.url)[-1])


@respx.mock
@pytest.mark.parametrize("raises", [True, False])
def test_a_conversation_goes_on_after_a_failed_run(run: Run, side: Side, *, raises: bool) -> None:
    """After a tool that ended the run, or its limit, every call has a result."""
    respx.post(TOOL).respond(json={"error": {"type": "KeyError", "message": "Paris"}})
    twice = [PARIS, ToolCall("call_2", "weather", "{}")]
    replies(side.body("", *twice), side.body("18"), url=side.url)
    driver = Driver()
    named = {"wire": side.name, "stream": True, "profile": "prompty-spec" if raises else "core", "conversation": "a"}
    outcome = run(driver, messages=[question("Today?")], options={"limit": 1}, **named)
    run(driver, messages=[question("And?")], **named)
    said = talk(side.name, history(side))

    assert ("tool" if raises else "limit") == outcome["reason"]
    assert is_legal(said)
    assert ["question", "turn", "results", "question"] == [kind for kind, *_ in said]
    assert "KeyError" in said[2][1]


@respx.mock
def test_answers_of_all_kinds_are_accepted_later(side: Side) -> None:
    """Truncated, refused or empty ones, and those with calls that the dialect does not run."""
    agent = Agent("m", [], [Tool("weather")])
    for stop in side.stops:
        for text in ("", "Once"):
            for calls in ((), (PARIS,)):
                loop = Loop(agent, wire=side.wire, dialect=PROMPTY_AGENT_MODE, messages=[question("?")])
                loop.start()
                try:
                    turn = side.turn_of(*side.events(text, *calls, stop=stop))
                except Exception:  # noqa: BLE001, S112 - the service has no such turn
                    continue
                loop.model_answered(turn)

                assert is_legal(talk(side.name, loop.conversation.history)), (stop, text, calls)


GIVEN = [
    question("Today?"),
    {
        "role": "assistant",
        "content": "I look.",
        "calls": [
            {"id": "a", "name": "weather", "arguments": {"city": "Paris"}},
            {"id": "b", "name": "weather", "arguments": {}},
        ],
    },
    {"role": "tool", "call_id": "a", "content": "sunny"},
    {"role": "tool", "call_id": "b", "content": "rainy"},
    {"role": "assistant", "content": "Both."},
    question("And?"),
]


@respx.mock
def test_given_history_is_sent_as_it_is(run: Run, side: Side) -> None:
    """Calls and results are in the form of the wire, and nothing is added."""
    replies(side.body("18", stream=False), url=side.url)
    run(Driver(), wire=side.name, messages=GIVEN)

    assert [
        ("question", "Today?", ()),
        ("turn", "I look.", ("a", "b")),
        ("results", "sunny|rainy", ("a", "b")),
        ("turn", "Both.", ()),
        ("question", "And?", ()),
    ] == talk(side.name, history(side))


@respx.mock
@pytest.mark.parametrize("left", [[2], [3], [2, 3]])
def test_a_given_call_without_a_result_gets_one(run: Run, side: Side, left: list[int]) -> None:
    """Wherever it is missing."""
    replies(side.body("18", stream=False), url=side.url)
    given = [message for at, message in enumerate(GIVEN) if at not in left]
    run(Driver(), wire=side.name, messages=given)
    said = talk(side.name, history(side))

    assert is_legal(said)
    assert len(left) == said[2][1].count("was not run")


@respx.mock
def test_one_agent_serves_runs_with_their_own_words(run: Run) -> None:
    """The agent object is one, and each run sends its own question and binds its own inputs."""
    given: list[Agent] = []

    class Noting(Loop):
        def __init__(self, agent: Any, **options: Any) -> None:
            super().__init__(agent, **options)
            given.append(agent)

    careful = respx.post(CAREFUL_URL).respond(json={"value": "done"})
    replies(plain(None, call(name="careful")), plain("x"), plain(None, call(name="careful")), plain("y"))
    respx.post(CONFIRM).respond(json={"decision": "approve"})
    driver = type("Shared", (Driver,), {"loop": Noting})()
    for name in ("Ada", "Bob"):
        run(
            driver,
            shared="s",
            tools=[CAREFUL],
            confirm=CONFIRM,
            inputs={"user": name},
            messages=[question(f"I am {name}.")],
        )

    assert given[0] is given[1]
    assert ["I am Ada.", "I am Bob."] == [requests(CHAT)[at]["messages"][0]["content"] for at in (0, 2)]
    assert ["Ada", "Bob"] == [json.loads(one.request.content)["arguments"]["user"] for one in careful.calls]


ASKED = plain(None, call("a", "careful"), call("b", "weather"), call("c", "careful", '{"city":"Rome"}'))
DECISIONS: list[Json] = [
    {"decision": "change", "parameters": {"city": "Oslo", "user": "nobody"}},
    {"decision": "reject", "feedback": "Too far."},
]


def tools_ran() -> list[tuple[str, Json]]:
    """The tools in the order in which they ran, with their arguments."""
    return [
        (str(one.request.url).rpartition("/")[2], json.loads(one.request.content)["arguments"])
        for one in list(respx.calls)
        if str(one.request.url) in (TOOL, CAREFUL_URL)
    ]


def approving(**more: Any) -> Json:
    """The members of a case with a tool that needs approval."""
    return {"tools": [CAREFUL, WEATHER], "inputs": {"user": "Ada"}, "options": {"limit": 2}, **more}


@respx.mock
def test_each_call_is_confirmed_once(run: Run) -> None:
    """A changed call runs with the new parameters, bindings win, and a rejected one does not run and says why."""
    respx.post(TOOL).respond(json={"value": "sunny"})
    respx.post(CAREFUL_URL).respond(json={"value": "done"})
    respx.post(CONFIRM).mock(side_effect=[httpx.Response(200, json=one) for one in DECISIONS])
    replies(ASKED, plain("18"))
    outcome = run(Driver(), confirm=CONFIRM, **approving())

    assert "18" == outcome["text"]
    assert [
        {"call": {"id": "a", "name": "careful", "arguments": {"city": "Paris"}}},
        {"call": {"id": "c", "name": "careful", "arguments": {"city": "Rome"}}},
    ] == requests(CONFIRM)
    assert [("weather", {"city": "Paris"}), ("careful", {"city": "Oslo", "user": "Ada"})] == tools_ran()
    assert ["done", "sunny", "The call of tool 'careful' was rejected, so it was not run: Too far."] == [
        one["content"] for one in requests(CHAT)[1]["messages"][2:]
    ]


@respx.mock
@pytest.mark.parametrize("stream", [False, True])
def test_a_resumed_run_equals_an_unbroken_one(run: Run, side: Side, *, stream: bool) -> None:
    """Requests, tools, answer and conversation, though another driver resumes it from JSON."""
    paris, rome = '{"city":"Paris"}', '{"city":"Rome"}'
    calls = [ToolCall("a", "careful", paris), ToolCall("b", "weather", paris), ToolCall("c", "careful", rome)]
    seen = []
    named = approving(wire=side.name, stream=stream, conversation="x")
    begun = {**named, "messages": [SYSTEM, question("Today?")]}
    for suspends in (False, True):
        respx.reset()
        respx.post(TOOL).respond(json={"value": "sunny"})
        respx.post(CAREFUL_URL).respond(json={"value": "done"})
        respx.post(CONFIRM).mock(side_effect=[httpx.Response(200, json=one) for one in DECISIONS])
        bodies = [side.body("", *calls, stream=stream), *(side.body(text, stream=stream) for text in ("18", "19"))]
        replies(*bodies, url=side.url)
        driver = Driver()
        if suspends:
            outcome = run(driver, **begun)
            assert ("suspended", ["a", "c"]) == (outcome["kind"], [one["id"] for one in outcome["calls"]])
            assert [("weather", {"city": "Paris"})] == tools_ran()
            state = json.loads(json.dumps(outcome["state"]))
            driver = Driver()
            made = [{"id": one["id"], **decision} for one, decision in zip(outcome["calls"], DECISIONS, strict=True)]
            outcome = run(driver, messages=[], resume={"state": state, "decisions": made}, **named)
        else:
            outcome = run(driver, confirm=CONFIRM, **begun)
        run(driver, messages=[question("And?")], **named)
        seen.append((outcome, tools_ran(), copy.deepcopy(requests(side.url))))

    assert seen[0] == seen[1]
    assert "18" == seen[0][0]["text"]
    assert 3 == len(seen[0][2])


@respx.mock
def test_a_suspended_run_keeps_its_limit(run: Run) -> None:
    """The model calls before it was suspended count."""
    respx.post(CAREFUL_URL).respond(json={"value": "done"})
    replies(plain(None, call("a", "careful")))
    driver = Driver()
    named = approving(options={"limit": 1})
    outcome = run(driver, **named)
    resume = {"state": outcome["state"], "decisions": [{"id": "a", "decision": "approve"}]}
    outcome = run(driver, messages=[], resume=resume, **named)

    assert "limit" == outcome["reason"]


@respx.mock
def test_calls_that_share_an_id_wait_under_two_names(run: Run) -> None:
    """So that each has a decision of its own."""
    respx.post(CAREFUL_URL).respond(json={"value": "done"})
    replies(plain(None, call("a", "careful"), call("a", "careful", "{")), plain("x"))
    one = run(Driver(), **approving())
    replies(plain(None, call("a", "careful"), call("a", "careful")), plain("x"))
    two = run(Driver(), **approving())

    assert (["a"], ["a", "a#1"]) == tuple([call["id"] for call in outcome["calls"]] for outcome in (one, two))


@respx.mock
def test_a_conversation_goes_on_without_the_decisions(run: Run) -> None:
    """The calls that waited were not run."""
    replies(plain(None, call("a", "careful")), plain("x"))
    driver = Driver()
    run(driver, conversation="a", **approving())
    run(driver, conversation="a", **approving(messages=[question("Never mind.")]))

    assert "Error: tool 'careful' was not run." == requests(CHAT)[1]["messages"][2]["content"]


@respx.mock
def test_a_failing_hook_lets_nothing_run(run: Run) -> None:
    """The run ends with its error."""
    respx.post(CONFIRM).respond(json={"decision": "maybe"})
    replies(plain(None, call("a", "careful")), plain("x"))
    outcome = run(Driver(), confirm=CONFIRM, **approving())

    assert ("error", "ValueError", []) == (outcome["kind"], outcome["type"], tools_ran())


@respx.mock
def test_a_stream_is_left_after_so_many_chunks(run: Run) -> None:
    """The caller gets these chunks, and the run is cancelled."""
    replies(sse(delta("Once "), delta("upon "), delta("a time")), plain("x"))
    driver, chunks = Driver(), list[str]()
    outcome = run(driver, chunks, stream=True, options={"leave_after": 2}, conversation="a")
    run(driver, conversation="a", messages=[question("And?")])

    assert (["Once ", "upon "], "cancelled") == (chunks, outcome["reason"])
    assert ["user", "user"] == [one["role"] for one in requests(CHAT)[1]["messages"]]


@respx.mock
def test_a_run_is_cancelled_by_its_id(run: Run) -> None:
    """While its tool runs; other ids cancel nothing."""
    driver = Driver()
    cancelled = threading.Event()

    def cancel(_: httpx.Request) -> httpx.Response | Awaitable[httpx.Response]:
        driver.cancel("another")
        driver.cancel("1")
        cancelled.set()
        answer = httpx.Response(200, json={"value": "sunny"})
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return answer
        return _later(answer)

    respx.post(TOOL).mock(side_effect=cancel)
    chat = replies(plain(None, call()), plain("x"))
    outcome = run(driver, id="1")

    assert cancelled.is_set()
    assert ("cancelled", 1) == (outcome["reason"], chat.call_count)


async def _later(answer: httpx.Response) -> httpx.Response:
    """The answer of a tool that takes as long as its run goes on."""
    await asyncio.Event().wait()
    return answer
