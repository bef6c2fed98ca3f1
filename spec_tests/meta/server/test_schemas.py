"""The schemas of what servers write: they take what documents show and what is added to it, and refuse the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from looptck.bench.client import Reply, schemas
from looptck.catalogue.data import fixture
from looptck.values.transcript import ServerEvent

Json = dict[str, Any]

CALL: Json = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Paris"}'}}
USAGE = {"prompt_tokens": 119, "completion_tokens": 20, "total_tokens": 139, "avg_tok_per_sec": None}
RECORD: Json = {"round": 0, "name": "weather", "arguments": '{"city":"Paris"}', "result_content": "72F"}
FILE: Json = {
    "id": "file_0123456789ab_r0_0",
    "name": "a.csv",
    "format": "csv",
    "mime_type": "text/csv",
    "bytes": 3,
    "created_at": 1735632000,
    "purpose": "agent_output",
    "source": {"tool": "mistralrs_execute_python", "round": 0, "turn": 0},
}
APPROVAL: Json = {
    "type": "agentic_tool_approval_required",
    "approval_id": "appr_" + 32 * "a",
    "session_id": "s",
    "round": 0,
    "tool": {"source": "user", "kind": "custom", "label": "weather"},
    "arguments": {"city": "Paris"},
}
HISTORY: list[Json] = [
    {"role": "user", "content": "hi"},
    {"role": "assistant", "content": "", "tool_calls": [CALL]},
    {"role": "tool", "name": "weather", "content": "72F"},
]


def chat(message: Json, finish: str = "stop", **more: Any) -> Json:
    """A plain reply of Chat Completions."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}, "logprobs": None}
    head = {"id": "2", "object": "chat.completion", "created": 1, "model": "m", "system_fingerprint": "local"}
    return {**head, "choices": [choice], "usage": USAGE, **more}


def chunk(delta: Json, finish: str | None = None, **more: Any) -> Json:
    """A chunk of Chat Completions."""
    choice = {"index": 0, "finish_reason": finish, "delta": {"role": "assistant", **delta}, "logprobs": None}
    head = {"id": "2", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return {**head, "choices": [choice], "usage": None, **more}


def ending(type: str, status: str) -> Json:
    """The event that ends a stream of Responses."""
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "error": None}
    about = {"code": "server_error", "message": "m"} if status == "failed" else None
    why = {"reason": "max_output_tokens"} if status == "incomplete" else None
    response = {**head, "error": about, "status": status, "incomplete_details": why, "output": []}
    return {"type": f"response.{type}", "sequence_number": 9, "response": response}


def progress(phase: str, tool_type: str, **data: Any) -> Json:
    """The data of a progress event."""
    head = {"type": "agentic_tool_call_progress", "round": 0, "tool_name": "t", "phase": phase}
    return {**head, "data": {"tool_type": tool_type, **data}}


def tagged(message: Json) -> Json:
    """A message as the server of August 2026 exports it."""
    return {key: {"Right" if isinstance(value, list) else "Left": value} for key, value in message.items()}


GOOD: list[tuple[str, Any]] = [
    ("openai-chat.reply", chat({"content": "72F.", "tool_calls": None}, session_id="s", agentic_tool_calls=[RECORD])),
    ("openai-chat.reply", chat({"content": None, "tool_calls": [CALL]}, "tool_calls", agentic_tool_calls=[])),
    ("openai-chat.reply", chat({"content": ""}, agentic_tool_calls=[{**RECORD, "arguments": {"city": "Paris"}}])),
    ("openai-chat.reply", chat({"content": "Done."}, files=[{**FILE, "text": "a,b"}], something={"new": 1})),
    ("openai-chat.event", chunk({"content": "It is"})),
    ("openai-chat.event", chunk({"tool_calls": [{"index": 0, **CALL}]}, "tool_calls", usage=USAGE, session_id="s")),
    ("openai-chat.event", chunk({"tool_calls": [{"index": 0, "function": {"arguments": "ris"}}]})),
    ("openai-chat.event", {"error": {"message": "m", "type": "server_error", "param": None, "code": None}}),
    *(("openai-responses.event", ending(one, one)) for one in ("completed", "incomplete", "failed")),
    ("progress", progress("calling", "custom", arguments={"city": "Paris"})),
    ("progress", progress("calling", "custom", arguments='{"city":"Paris"}')),
    ("progress", progress("complete", "custom", arguments={}, content="72F", elapsed=3)),
    ("progress", progress("complete", "code_execution", code="1", exception=None, images_base64=["iVBORw0="])),
    ("progress", progress("complete", "web_search", query="q", results_count=3, sources=["a.org"])),
    ("progress", progress("complete", "shell", commands=["ls"], exit_code=-9, timed_out=True)),
    ("progress", progress("complete", "mcp", anything=[1])),
    ("file", {**FILE, "text": "a,b", "preview": "a"}),
    ("file", {**FILE, "bytes": 0, "code": "missing", "message": "never written"}),
    ("file", {**FILE, "id": "file-0f9c", "purpose": "user_data", "source": {"tool": "", "round": 0}}),
    ("approval-required", APPROVAL),
    ("approval.request", {"decision": "approve", "remember_for_session": False, "message": None}),
    ("approval.reply", {"status": "queued"}),
    ("error.reply", {"message": "Tool 'X' conflicts with a registered internal tool."}),
    ("error.reply", {"type": "error", "error": {"type": "api_error", "message": "m"}}),
    ("dispatch.request", {"name": "t", "arguments": '{"q": "h'}),
    ("session", {"messages": HISTORY}),
    ("session", {"messages": [tagged(one) for one in HISTORY], "images": [], "videos": [], "files": []}),
]
BAD: list[tuple[str, Any, str]] = [
    ("openai-chat.reply", chat({"content": ""}, agentic_tool_calls=[{**RECORD, "arguments": []}]), "arguments"),
    ("openai-chat.reply", chat({"content": ""}, agentic_tool_calls=[{"round": 0}]), "result_content"),
    ("openai-chat.reply", chat({"content": None, "tool_calls": None}, "tool_calls"), "tool_calls"),
    ("openai-chat.reply", chat({"content": ""}, files=[{"id": "f"}]), "/files/0"),
    ("openai-chat.event", chat({"content": "x"}), "chat.completion.chunk"),
    ("openai-chat.event", {"error": "boom"}, "/error"),
    ("openai-responses.event", ending("completed", "incomplete"), "/response/status"),
    ("openai-responses.event", ending("incomplete", "completed"), "/response/status"),
    ("openai-responses.event", ending("failed", "completed"), "/response/status"),
    ("progress", progress("done", "custom"), "/phase"),
    ("progress", {**progress("calling", "custom"), "round": -1}, "/round"),
    ("progress", progress("complete", "web_search", results_count="3"), "/data/results_count"),
    ("file", {**FILE, "text": "a", "data_base64": "YQ=="}, "data_base64"),
    ("file", {**FILE, "text": "a", "code": "missing", "message": "m"}, "/code"),
    ("file", {**FILE, "code": "missing"}, "message"),
    ("file", {key: value for key, value in FILE.items() if key != "source"}, "source"),
    ("approval-required", {**APPROVAL, "tool": {"source": "user"}}, "label"),
    ("approval.request", {"remember_for_session": True}, "decision"),
    ("approval.reply", {"status": "ok"}, "/status"),
    ("error.reply", {"error": "boom"}, "/error"),
    ("dispatch.request", {"name": "t", "arguments": []}, "/arguments"),
    ("session", {"messages": [tagged(HISTORY[2]), HISTORY[2]]}, "/messages/1"),
    ("session", {"messages": [{"role": "function", "content": "x"}]}, "/messages/0/role"),
]
SCHEMAS = {path.name: json.loads(path.read_text("utf-8")) for path in fixture("server").glob(f"*{schemas.ENDING}")}


@pytest.mark.parametrize(("schema", "value"), GOOD)
def test_what_documents_show(schema: str, value: Any) -> None:
    """Examples of the documents fit, and so do members that they do not know."""
    assert [] == schemas.faults(schema, value)


@pytest.mark.parametrize(("schema", "value", "place"), BAD)
def test_what_is_wrong(schema: str, value: Any, place: str) -> None:
    """A fault is told with its place, or with the member that is missing."""
    assert place in "; ".join(schemas.faults(schema, value))


def test_a_long_value_that_is_wrong() -> None:
    """A fault says what is wrong with a value, however long that is; of many faults a sentence has three."""
    found = schemas.faults("progress", progress("complete", "web_search", results_count="ß" * 9000))

    assert ['/data/results_count: "ßß', 'is not of type "integer"'] == [found[0][:24], found[0][-24:]]
    assert len(found[0]) < 200
    assert "1; 2; 3" == schemas.in_words(["1", "2", "3"])
    assert "1; 2; 3; and 2 more" == schemas.in_words(["1", "2", "3", "4", "5"])


@pytest.mark.parametrize(("schema", "value"), GOOD + [(schema, value) for schema, value, _ in BAD])
def test_second_opinion(schema: str, value: Any) -> None:
    """Another validator comes to the same."""
    found = Registry[Any]().with_resources((one["$id"], Resource.from_contents(one)) for one in SCHEMAS.values())
    second = Draft202012Validator(SCHEMAS[f"{schema}{schemas.ENDING}"], registry=found)

    assert second.is_valid(value) is (not schemas.faults(schema, value))


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas(name: str) -> None:
    """Each is a schema of its draft, under the id by which the others find it."""
    Draft202012Validator.check_schema(SCHEMAS[name])

    assert SCHEMAS[name]["$id"].endswith(f"/{name}")


def test_events_by_their_names() -> None:
    """Events of the loop are held to their own schemas on every wire; the end mark and strangers to none."""
    wrong = ServerEvent(0.0, "agentic_tool_call_progress", {})
    stranger = ServerEvent(0.0, "agentic_warning", {"message": "m"})
    stream = [stranger, ServerEvent(0.0, "", chunk({"content": "x"})), wrong, ServerEvent(0.0, "", "[DONE]")]
    reply = Reply("openai-chat", True, 200, events=stream)

    assert {"event 2 (agentic_tool_call_progress)"} == {
        fault.partition(":")[0] for fault in schemas.stream_faults(reply)
    }
    assert [] != schemas.event_faults("anthropic-messages", wrong)


def test_text_in_place_of_an_event() -> None:
    """An event that is no JSON object fits nothing."""
    assert [] != schemas.event_faults("openai-chat", ServerEvent(0.0, "", "boom"))


def test_errors_by_their_status() -> None:
    """What did not succeed is an error, whatever its body is like."""
    reply = Reply("openai-chat", False, 500, raw=json.dumps(chat({"content": "x"})).encode())

    assert [] != schemas.reply_faults(reply)
    reply.status = 200
    assert [] == schemas.reply_faults(reply)


def test_half_of_a_surrogate_pair() -> None:
    """Text that has no UTF-8 is told as a fault."""
    assert [] != schemas.faults("approval.reply", {"status": "\ud800"})
