"""The mock plays one script on all wires, to the official SDKs and to any other client."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import anthropic
import openai
import pytest

from looptck import LLM, broken, calls, cut, errs, fails, refuses, says, thinks
from looptck.mock.requests import Request
from looptck.values.framing import PRESETS
from meta.mock.clients import ROUTES, WEATHER, ask, body, post, text

WIRES = list(ROUTES)
CHAT_TOOL: Any = {"type": "function", "function": {"name": "weather", "parameters": WEATHER}}
MESSAGES_TOOL: Any = {"name": "weather", "input_schema": WEATHER}
RESPONSES_TOOL: Any = {"type": "function", "name": "weather", "parameters": WEATHER, "strict": False}
SAID: Any = [{"role": "user", "content": "Hi."}]


@pytest.mark.parametrize("wire", WIRES)
def test_a_text_is_said(llm: LLM, wire: str) -> None:
    """The next request gets the text."""
    llm.plays("Hello.")

    status, reply = ask(llm.base_url, wire, "Hi.")

    assert (200, "Hello.") == (status, text(wire, reply))


def test_wires_share_the_position(llm: LLM) -> None:
    """Whichever wire asks gets the next answer."""
    llm.plays("one", "two", "three")

    assert ["one", "two", "three"] == [text(wire, ask(llm.base_url, wire, "Hi.")[1]) for wire in WIRES]
    assert WIRES == [request.wire for request in llm.requests]


@pytest.mark.parametrize("path", ["/chat/completions", "/v1/chat/completions", "/v1/v1/chat/completions"])
def test_v1_may_be_left_out_or_doubled(llm: LLM, path: str) -> None:
    """SDKs differ in whether a base URL has it."""
    llm.plays("Hello.")

    assert 200 == post(llm.base_url + path, body("openai-chat", "Hi."))[0]


def test_chat_completions_of_the_official_sdk(llm: LLM) -> None:
    """A call with its result, and then a stream."""
    llm.plays(says("Let me look.") + calls("weather", city="Paris"), says("Sunny."))
    client = openai.OpenAI()
    said = [*SAID]
    first = client.chat.completions.create(model="gpt-5", messages=said, tools=[CHAT_TOOL]).choices[0].message
    assert first.tool_calls
    said += [
        first.model_dump(exclude_none=True),
        {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "21"},
    ]
    stream = client.chat.completions.create(model="gpt-5", messages=said, tools=[CHAT_TOOL], stream=True)

    assert "Sunny." == "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    assert [{"city": "Paris"}] == [one.arguments for one in llm.requests[1].messages if one.arguments]
    assert {"call_1a": "21"} == llm.requests[1].results


def test_responses_of_the_official_sdk(llm: LLM) -> None:
    """A call, whose result is sent with the id of the response; and then a stream."""
    llm.plays(calls("weather", city="Paris"), says("Sunny."))
    client = openai.OpenAI()
    first = client.responses.create(model="gpt-5", input="Hi.", tools=[RESPONSES_TOOL])
    call: Any = first.output[0]
    result: Any = [{"type": "function_call_output", "call_id": call.call_id, "output": "21"}]
    with client.responses.stream(
        model="gpt-5", input=result, tools=[RESPONSES_TOOL], previous_response_id=first.id
    ) as stream:
        assert "Sunny." == stream.get_final_response().output_text

    assert ["user", "assistant", "tool"] == [one.role for one in llm.requests[1].messages]


def test_messages_of_the_official_sdk(llm: LLM) -> None:
    """Thinking and a call, whose result follows; and then a stream."""
    llm.plays(thinks("I look.") + calls("weather", city="Paris"), says("Sunny."))
    client = anthropic.Anthropic()
    asked: Any = {"model": "claude", "max_tokens": 2000, "tools": [MESSAGES_TOOL]}
    first = client.messages.create(messages=SAID, **asked)
    assert ["thinking", "tool_use"] == [block.type for block in first.content]
    result = [{"type": "tool_result", "tool_use_id": first.content[1].id, "content": "21"}]
    said = [*SAID, {"role": "assistant", "content": first.content}, {"role": "user", "content": result}]
    with client.messages.stream(messages=said, **asked) as stream:
        assert "Sunny." == stream.get_final_text()


def test_the_async_sdks(llm: LLM) -> None:
    """The same clients, async: plain on one, streamed on another."""
    llm.plays("plain", "streamed")

    async def both() -> tuple[str | None, str]:
        async with openai.AsyncOpenAI() as chat, anthropic.AsyncAnthropic() as messages:
            plain = await chat.chat.completions.create(model="gpt-5", messages=SAID)
            async with messages.messages.stream(model="claude", max_tokens=100, messages=SAID) as stream:
                return plain.choices[0].message.content, await stream.get_final_text()

    assert ("plain", "streamed") == asyncio.run(both())


def test_a_client_of_several_event_loops(llm: LLM) -> None:
    """A client that is kept from one async test to the next finds no connection of a loop that is closed."""
    llm.plays("one", "two")
    client = openai.AsyncOpenAI()

    async def ask_once() -> str:
        return (await client.responses.create(model="gpt-5", input="Hi.")).output_text

    assert ["one", "two"] == [asyncio.run(ask_once()) for _ in "12"]


def test_many_calls_in_one_turn(llm: LLM) -> None:
    """Calls are added up; arguments come by name, as a mapping, or as a text that is no JSON."""
    llm.plays(calls("weather", city="Paris") + calls("weather", {"self": 1}) + calls("weather", '{"city": "Os'))
    _, reply = ask(llm.base_url, "openai-chat", "Hi.", tools=[CHAT_TOOL])
    functions = [one["function"] for one in reply["choices"][0]["message"]["tool_calls"]]

    assert ['{"city": "Paris"}', '{"self": 1}', '{"city": "Os'] == [one["arguments"] for one in functions]


def test_ids_may_be_given(llm: LLM) -> None:
    """The calls of an answer have these ids, in order."""
    llm.plays((calls("weather", city="Paris") + calls("ping")).with_ids("call_x", "call_y"))
    _, reply = ask(llm.base_url, "openai-chat", "Hi.")

    assert ["call_x", "call_y"] == [one["id"] for one in reply["choices"][0]["message"]["tool_calls"]]


def test_an_answer_may_depend_on_the_request(llm: LLM) -> None:
    """A function of the request returns the answer, or its text."""

    def shout(request: Request) -> str:
        return request.text.upper()

    llm.plays(shout, lambda request: says(f"{request.model}, {request.number}"))

    assert "HI." == text("openai-chat", ask(llm.base_url, "openai-chat", "Hi.")[1])
    assert "m, 2" == text("anthropic-messages", ask(llm.base_url, "anthropic-messages", "Hi.")[1])


def test_conversations_advance_by_themselves(llm: LLM) -> None:
    """Requests with a text in them have answers of their own, in any order; all others have the rest."""
    llm.plays("Oslo 1", "Oslo 2", when="Oslo")
    llm.plays("a stream", when=lambda request: request.stream)
    llm.plays("another")
    asked = ["Oslo?", "Rome?", "Oslo!"]

    assert ["Oslo 1", "another", "Oslo 2"] == [
        text("openai-chat", ask(llm.base_url, "openai-chat", one)[1]) for one in asked
    ]
    assert (
        b'"content":"a stream"'
        in post(llm.openai_url + "/chat/completions", body("openai-chat", "Hi.", stream=True))[2]
    )


def test_answers_may_repeat(llm: LLM) -> None:
    """They begin again after the last, and need not be played to the end."""
    llm.plays("tick", "tock", repeat=True)

    assert ["tick", "tock", "tick"] == [text("openai-chat", ask(llm.base_url, "openai-chat", "Hi.")[1]) for _ in "123"]


@pytest.mark.parametrize("wire", WIRES)
def test_errors_of_the_service(llm: LLM, wire: str) -> None:
    """An error has its status, its headers, and the form of the wire."""
    llm.plays(fails(429, "Slow down.", retry_after=2), "Hello.")
    status, headers, raw = post(llm.base_url + ROUTES[wire], body(wire, "Hi."))

    assert (429, "2", "Slow down.") == (status, headers["retry-after"], json.loads(raw)["error"]["message"])
    assert 200 == ask(llm.base_url, wire, "Hi.")[0]


@pytest.mark.parametrize(("wire", "member"), [*zip(WIRES, ["code", "code", "type"], strict=True)])
def test_codes_of_errors(llm: LLM, wire: str, member: str) -> None:
    """An error may have a code of the service, in the member that the wire has for it."""
    llm.plays(fails(400, "Too long.", code="context_length_exceeded"))

    assert "context_length_exceeded" == ask(llm.base_url, wire, "Hi.")[1]["error"][member]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("wire", WIRES)
def test_replies_repeat_the_model(llm: LLM, wire: str, *, stream: bool) -> None:
    """A reply names the model that was asked, also where one answer is given to several models."""
    llm.plays("Hello.", repeat=True)
    raw = [
        post(llm.base_url + ROUTES[wire], {**body(wire, "Hi.", stream=stream), "model": name})[2]
        for name in ("model-a", "model-a", "model-a", "model-b")
    ]

    assert [b'"model":"model-a"'] * 3 + [b'"model":"model-b"'] == [
        name for one in raw for name in (b'"model":"model-a"', b'"model":"model-b"') if name in one
    ]
    assert not any(b"looptck-model" in one for one in raw)


def test_responses_repeat_what_was_asked(llm: LLM) -> None:
    """What a request asks for is in the reply, with the defaults of the rest."""
    llm.plays("Hello.")
    _, reply = ask(llm.base_url, "openai-responses", "Hi.", reasoning={"summary": "auto"}, temperature=0.5)

    assert ("auto", 0.5) == (reply["reasoning"]["summary"], reply["temperature"])
    assert "effort" in reply["reasoning"]


@pytest.mark.parametrize("place", [0.5, "before-finish", "finish", "last-piece"])
@pytest.mark.parametrize("wire", WIRES)
def test_streams_break(llm: LLM, wire: str, place: Any) -> None:
    """The connection ends before the stream does."""
    llm.plays(cut(says("A long text that comes in several pieces."), place))

    with pytest.raises(Exception, match=r"IncompleteRead|incomplete"):
        post(llm.base_url + ROUTES[wire], body(wire, "Hi.", stream=True))


@pytest.mark.parametrize("wire", WIRES)
def test_streams_end_in_an_error(llm: LLM, wire: str) -> None:
    """The stream has an error event in place of its end; a plain reply has status 500."""
    llm.plays(errs("Half.", "Overloaded."), errs("Half.", "Overloaded."))

    assert b"Overloaded." in post(llm.base_url + ROUTES[wire], body(wire, "Hi.", stream=True))[2]
    assert 500 == ask(llm.base_url, wire, "Hi.")[0]


def test_broken_proxies(llm: LLM) -> None:
    """A page of HTML with status 200, and a stream without its finish reason."""
    llm.plays(broken("Hello.", "not-json"), broken("Hello.", "no-finish"))
    url = llm.base_url + ROUTES["openai-chat"]

    assert b"<html>" in post(url, body("openai-chat", "Hi."))[2]
    assert b"stop" not in post(url, body("openai-chat", "Hi.", stream=True))[2]


@pytest.mark.parametrize("name", PRESETS)
def test_framings(llm: LLM, name: str) -> None:
    """The SDK reads the same text from each legal framing."""
    llm.plays(says("Grüße, 東京!").framed(name))
    stream = openai.OpenAI().chat.completions.create(model="gpt-5", messages=SAID, stream=True)

    if name == "byte-order-mark":
        pytest.skip("the SDK loses the first event behind a byte order mark")
    assert "Grüße, 東京!" == "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


def test_framings_by_their_fields(llm: LLM) -> None:
    """A framing may be given by what differs from the natural one."""
    llm.plays(says("Hello.").framed(fragment=1, newline="\r\n"))

    _, _, raw = post(llm.base_url + ROUTES["openai-chat"], body("openai-chat", "Hi.", stream=True))

    assert 2 == raw.count(b'"content":"l"')
    assert b"\r\n" in raw


@pytest.mark.parametrize("size", [{"fragment": -1}, {"every": -1}])
def test_sizes_are_not_below_nothing(size: dict[str, Any]) -> None:
    """The line that is wrong raises, and not the request that plays it."""
    with pytest.raises(ValueError, match="0 or more"):
        says("Hello.").framed(**size)


def test_gates_hold_a_stream(llm: LLM) -> None:
    """What comes behind a gate is sent when the test opens it."""
    gate = llm.gate("the first half was read")
    llm.plays(says("first half, second half").framed(fragment=5).held(gate, after="first half"))
    stream = openai.OpenAI().chat.completions.create(model="gpt-5", messages=SAID, stream=True)
    pieces = (chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)
    read = ""
    while "first half" not in read:
        read += next(pieces)

    assert not gate.is_open
    assert "second" not in read
    gate.open()
    assert "first half, second half" == read + "".join(pieces)


def test_refusals(llm: LLM) -> None:
    """The model declines, in the member that the wire has for it."""
    llm.plays(refuses("I will not."))

    assert "I will not." == ask(llm.base_url, "openai-chat", "Hi.")[1]["choices"][0]["message"]["refusal"]


def test_stop_reasons(llm: LLM) -> None:
    """A text may be cut by the limit of tokens."""
    llm.plays(says("Hel", stop="length"))

    assert "length" == ask(llm.base_url, "openai-chat", "Hi.")[1]["choices"][0]["finish_reason"]


def test_side_routes(llm: LLM) -> None:
    """Lists of models and counts of tokens are answered, in the form of the service that is asked."""
    assert ["looptck-model"] == [one.id for one in openai.OpenAI().models.list()]
    assert ["looptck-model"] == [one.id for one in anthropic.Anthropic().models.list()]
    assert anthropic.Anthropic().messages.count_tokens(model="claude", messages=SAID).input_tokens > 0


def test_requests_read_the_same_on_all_wires(llm: LLM) -> None:
    """Model, text, tools and messages do not depend on the wire."""
    llm.plays("a", "b", "c")
    ask(llm.base_url, "openai-chat", "Hi.", tools=[CHAT_TOOL])
    ask(llm.base_url, "openai-responses", "Hi.", tools=[RESPONSES_TOOL])
    ask(llm.base_url, "anthropic-messages", "Hi.", tools=[MESSAGES_TOOL])

    for request in llm.requests:
        assert ("m", "Hi.", False) == (request.model, request.text, request.stream)
        assert [("weather", WEATHER)] == [(tool.name, tool.parameters) for tool in request.tools]
        assert [("user", "Hi.")] == [(one.role, one.text) for one in request.messages]
        assert request.raw == json.dumps(request.body).encode()
        assert "application/json" == request.headers["content-type"]


def test_dialects(llm: LLM) -> None:
    """A compatible server accepts what the vendor refuses."""
    strange = body("openai-chat", "Hi.", top_k=20)
    with LLM(dialect="vllm") as server:
        server.plays("Hello.")

        assert 200 == post(server.openai_url + "/chat/completions", strange)[0]
    llm.allow("refused")
    assert 400 == post(llm.openai_url + "/chat/completions", strange)[0]


def test_a_dialect_frames_its_streams() -> None:
    """The streams of a compatible server are framed as that does it, unless the answer says how it is framed."""
    with LLM(dialect="openrouter") as server:
        server.plays("Hello.", says("Hello.").framed("padded"))

        told, padded = (
            post(server.openai_url + "/chat/completions", body("openai-chat", "Hi.", stream=True))[2] for _ in range(2)
        )

    assert [True, False] == [b": keep-alive" in told, b": keep-alive" in padded]


def test_no_judge() -> None:
    """Without a judge every request gets its answer."""
    with LLM(judge=False) as llm:
        llm.plays("Hello.")

        assert 200 == ask(llm.base_url, "openai-chat", "Hi.", top_k=20)[0]


def test_an_error_has_no_turn() -> None:
    """An error status can be neither cut nor added to."""
    with pytest.raises(ValueError, match="no turn"):
        cut(fails(503))
    with pytest.raises(ValueError, match="no turn"):
        fails(503) + "more"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: says("x").framed("singel-bytes"), "did you mean single-bytes"),
        (lambda: says("x", stop="lenght"), "did you mean length"),  # type: ignore[arg-type]
        (lambda: cut("x", "finnish"), "did you mean finish"),  # type: ignore[arg-type]
        (lambda: cut("x", 1.5), "share"),
        (lambda: broken("x", "malformd"), "did you mean malformed"),
        (lambda: fails(200), "no status of an error"),
        (lambda: calls("a").with_ids("x", "y"), "2 ids for 1 call"),
        (lambda: LLM(allow=["refusd"]), "did you mean refused"),
    ],
)
def test_mistakes_are_told_at_once(make: Any, words: str) -> None:
    """A word that there is not is told where it is written, with the nearest that there is."""
    with pytest.raises(ValueError, match=words):
        make()


def test_a_script_of_something_else(llm: LLM) -> None:
    """What is no answer is refused before anything is asked."""
    with pytest.raises(TypeError, match="no answer of a model"):
        llm.plays({"role": "assistant"})  # type: ignore[arg-type]
