"""Everything that is wrong fails a test, and nothing else: each kind is seen on a client that makes the mistake."""

from __future__ import annotations

import pytest

from looptck import LLM, Failed, calls, says, thinks
from meta.mock.clients import ORPHANS, ROUTES, ask, body, post


@pytest.mark.parametrize(
    ("wire", "words"),
    [
        (
            "openai-chat",
            ["OpenAI Chat Completions", "status 400", "/messages/1", "results-answer-a-call", "tool_calls"],
        ),
        ("openai-responses", ["OpenAI Responses", "No tool call found", "/input/1/call_id", "outputs-answer-a-call"]),
        ("anthropic-messages", ["Anthropic Messages", "tool_use_id", "/messages/0/content/0", "tool_result"]),
    ],
)
def test_a_refused_request(wire: str, words: list[str]) -> None:
    """The text has the service, its error, the place, the rule and the request; the client gets the error."""
    llm = LLM()
    with pytest.raises(Failed) as failed, llm:
        llm.plays("never said")
        assert 400 == ask(llm.base_url, wire, *ORPHANS[wire])[0]

    for word in (*words, "call_x", "POST"):
        assert word in str(failed.value)
    assert "not played" not in str(failed.value)


def test_a_refused_request_takes_no_answer() -> None:
    """A client that mends its request gets the answer."""
    with LLM(allow=["refused"]) as llm:
        llm.plays("Hello.")

        assert [400, 200] == [ask(llm.base_url, "openai-chat", *said)[0] for said in (ORPHANS["openai-chat"], ["Hi."])]


def test_a_request_too_many() -> None:
    """A request after the end of the script fails the test, and is shown."""
    llm = LLM()
    with pytest.raises(Failed, match=r"request 2 came when the one answer of the script was played(.|\n)*Again"), llm:
        llm.plays("Hello.")
        assert [200, 400] == [ask(llm.base_url, "openai-chat", text)[0] for text in ("Hi.", "Again?")]


def test_answers_that_are_left() -> None:
    """Answers that were not played fail the test, and are listed."""
    llm = LLM()
    words = r"2 of the script's answers were not played, after 1 request:\n  says 'b', calls weather\(.*Paris.*\)"
    with pytest.raises(Failed, match=words), llm:
        llm.plays("a", says("b") + calls("weather", city="Paris"), lambda _: "c")
        ask(llm.base_url, "openai-chat", "Hi.")


def test_a_route_that_there_is_not() -> None:
    """A request to another route fails the test."""
    llm = LLM()
    with pytest.raises(Failed, match="no such route: POST /v1/embeddings"), llm:
        assert 404 == post(llm.openai_url + "/embeddings", {})[0]


def test_a_body_that_is_not_read() -> None:
    """What is wrong with it is said, and that the route is there is not denied."""
    llm = LLM()
    said = "a request was not read: POST /v1/chat/completions: the body has the content-encoding gzip"
    with pytest.raises(Failed, match=said), llm:
        assert 415 == post(llm.openai_url + "/chat/completions", {}, headers={"content-encoding": "gzip"})[0]


def test_a_look_at_the_port() -> None:
    """Programs and browsers look whether a server is there; that fails no test."""
    with LLM() as llm:
        assert 404 == post(llm.base_url + "/", b"", method="GET")[0]


def test_a_gate_that_stays_closed() -> None:
    """The reply goes on after the patience, and the test fails."""
    llm = LLM(patience=0.05)
    with pytest.raises(Failed, match=r"the gate 'of mine' was not opened in 0\.05 s"), llm:
        llm.plays(says("Hello.").held(llm.gate("of mine")))
        assert 200 == ask(llm.base_url, "openai-chat", "Hi.")[0]


def test_a_function_that_raises() -> None:
    """The test fails with the error and its line; the client gets an error that it does not repeat the request for."""
    llm = LLM()
    with pytest.raises(Failed, match=r"ZeroDivisionError(.|\n)*test_findings.py:\d+: .*1 / 0") as failed, llm:
        llm.plays(lambda _: str(1 / 0))
        assert 400 == ask(llm.base_url, "openai-chat", "Hi.")[0]

    assert isinstance(failed.value.__cause__, ZeroDivisionError)


def test_a_condition_that_raises() -> None:
    """The failure names the request whose conversation was looked for."""
    llm = LLM()
    with pytest.raises(Failed, match="request 2 could not be answered: ZeroDivisionError"), llm:
        llm.plays("Hello.")
        ask(llm.base_url, "openai-chat", "Hi.")
        llm.plays("Hello again.", when=lambda _: 1 / 0 > 0)
        ask(llm.base_url, "openai-chat", "Hi.")


def test_an_answer_that_a_wire_cannot_send() -> None:
    """A turn with a stop reason of another wire fails the test."""
    llm = LLM()
    with pytest.raises(Failed, match="openai-chat cannot express the turn"), llm:
        llm.plays(says("x", stop="pause"))
        ask(llm.base_url, "openai-chat", "Hi.")


@pytest.mark.parametrize("kind", ["refused", "beyond", "unplayed", "unrouted"])
def test_each_kind_can_be_allowed(kind: str) -> None:
    """A test that is about the mistake says so, and passes."""
    with LLM(allow=[kind]) as llm:
        match kind:
            case "refused":
                ask(llm.base_url, "openai-chat", *ORPHANS["openai-chat"])
            case "beyond":
                ask(llm.base_url, "openai-chat", "Hi.")
            case "unplayed":
                llm.plays("Hello.")
            case _:
                post(llm.openai_url + "/embeddings", {})


def test_the_errors_of_the_block_come_first() -> None:
    """What the code raises is not covered up by what the mock found."""
    with pytest.raises(KeyError), LLM() as llm:
        llm.plays("never said")
        raise KeyError


def test_state_that_was_not_kept() -> None:
    """A response that the request forbade to store cannot be continued."""
    llm = LLM()
    with pytest.raises(Failed, match="not found"), llm:
        llm.plays("Hello.")
        _, first = ask(llm.base_url, "openai-responses", "Hi.", store=False)
        ask(llm.base_url, "openai-responses", "And?", previous_response_id=first["id"])


def test_thinking_that_was_changed() -> None:
    """A thought of the mock whose signature is lost is refused."""
    llm = LLM()
    with pytest.raises(Failed, match="thoughts-are-genuine"), llm:
        llm.plays(thinks("Well.") + says("Sunny."), "Rain.")
        _, first = ask(llm.base_url, "anthropic-messages", "Hi.")
        first["content"][0]["signature"] = "bWluZQ=="
        ask(llm.base_url, "anthropic-messages", "Hi.", {"role": "assistant", "content": first["content"]}, "And?")


def test_responses_of_elsewhere_are_no_mistake() -> None:
    """An id of a response that the mock never gave may be one that the service has."""
    result = {"type": "function_call_output", "call_id": "call_old", "output": "21"}
    with LLM() as llm:
        llm.plays("Sunny.")

        assert 200 == ask(llm.base_url, "openai-responses", result, previous_response_id="resp_old")[0]


@pytest.mark.parametrize("wire", ROUTES)
def test_histories_of_elsewhere_are_no_mistake(wire: str) -> None:
    """A conversation that begins in the middle, with ids and thinking that the mock never sent, is accepted."""
    begun = {
        "openai-chat": [
            {"role": "assistant", "tool_calls": [_function("call_old")], "content": None},
            {"role": "tool", "tool_call_id": "call_old", "content": "21"},
        ],
        "openai-responses": [
            {"type": "reasoning", "id": "rs_old", "summary": [], "encrypted_content": "old"},
            {"type": "function_call", "id": "fc_old", "call_id": "call_old", "name": "weather", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_old", "output": "21"},
        ],
        "anthropic-messages": [
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "old", "signature": "c2lnbmVk"},
                    {"type": "tool_use", "id": "toolu_old", "name": "weather", "input": {}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_old", "content": "21"}]},
        ],
    }
    tools = {"tools": [{"name": "weather", "input_schema": {"type": "object"}}]} if wire == "anthropic-messages" else {}
    with LLM() as llm:
        llm.plays(thinks("new") + says("Sunny."))

        status, _, raw = post(llm.base_url + ROUTES[wire], body(wire, "Hi.", *begun[wire], **tools))

        assert 200 == status, raw


def _function(id: str) -> dict[str, object]:
    return {"id": id, "type": "function", "function": {"name": "weather", "arguments": "{}"}}
