"""Message formats: the assistant turn and the tool results as a loop sends them, against the document's own form.

The world is closed here: a key that the form does not have is a finding.
"""

from __future__ import annotations

from typing import Any

from looptck.checks import Implementation, requirement
from looptck.expectations import turn_echoed
from looptck.formats import as_sent, unlike
from looptck.kit import Scene
from looptck.run import Run
from looptck.turns import Call, Thinking, says, turn
from looptck.verdicts import NotApplicable, NotReached

WEATHER, NOTE = Call.of("weather", {"city": "Paris"}), Call.of("note", {"text": "bread"})


def _played(provider: Scene, implementation: Implementation, *pieces: Call | Thinking | str) -> Run:
    provider.plays(turn(*pieces), says("Done."))
    provider.returns("weather", "18 °C and clear")
    provider.returns("note", "Written down.")
    run = implementation.run()
    run.request(2)
    return run


def _is(wanted: Any, got: Any) -> None:
    found = unlike(wanted, got)
    assert not found, "\n".join(found)


def _nothing(value: Any) -> bool:
    return value in (None, "", [])


@requirement("spec-assistant-message-format")
def test_assistant_message(provider: Scene, implementation: Implementation) -> None:
    """The keys of the assistant message are those of the service, and content is empty where there was no text."""
    run = _played(provider, implementation, WEATHER, NOTE)
    functions = [{"name": call.tool, "arguments": ...} for call in (WEATHER, NOTE)]

    _is(
        {
            "role": "assistant",
            "content?": _nothing,
            "tool_calls": [{"id": ..., "type": "function", "function": one, "index?": ...} for one in functions],
            "name?": ...,
            "refusal?": _nothing,
            "audio?": _nothing,
            "annotations?": _nothing,
        },
        as_sent(run, 1)[0],
    )


@requirement("spec-tool-message-format")
def test_tool_message(provider: Scene, implementation: Implementation) -> None:
    """Role, content and id, with the content as text."""
    run = _played(provider, implementation, WEATHER)

    _is(
        [{"role": "tool", "content": "18 °C and clear", "tool_call_id": "call_1a", "name?": ...}],
        as_sent(run, 1)[1:],
    )


@requirement("spec-anthropic-keeps-all-blocks")
def test_all_blocks(provider: Scene, implementation: Implementation) -> None:
    """Thinking, text and two calls come back in one assistant message, in their order."""
    run = _played(provider, implementation, Thinking("Both."), "I look.", WEATHER, "And", NOTE)

    turn_echoed(run, 1)
    if run.request(2).request.continues is None:
        told = [message["content"] for message in as_sent(run, 1) if message["role"] == "assistant"]
        kinds = [[block["type"] for block in blocks] if isinstance(blocks, list) else blocks for blocks in told]
        assert [["thinking", "text", "tool_use", "text", "tool_use"]] == kinds


@requirement("spec-anthropic-results-share-a-message")
def test_results_message(provider: Scene, implementation: Implementation) -> None:
    """Two results in one user message, each with type, id and content, and nothing beside them."""
    run = _played(provider, implementation, WEATHER, NOTE)
    texts = {"call_1a": "18 °C and clear", "call_1b": "Written down."}

    _is(
        [
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": id, "content": _says(text), "is_error?": False}
                    for id, text in texts.items()
                ],
            }
        ],
        [message for message in as_sent(run, 1) if message["role"] == "user"],
    )


@requirement("spec-responses-keeps-the-call-item")
def test_call_item(provider: Scene, implementation: Implementation) -> None:
    """The call is in the input as the item that it was, with its id and its call_id."""
    run = _played(provider, implementation, WEATHER)
    if run.request(2).request.continues is not None:
        raise NotApplicable("the request goes on from a stored response, which holds the item")
    items = [item for item in as_sent(run, 1) if item.get("type") == "function_call"]

    _is(
        [
            {
                "type": "function_call",
                "id": "fc_call_1a",
                "call_id": "call_1a",
                "name": "weather",
                "arguments": {"city": "Paris"},
                "status?": "completed",
            }
        ],
        items,
    )


@requirement("spec-responses-output-by-call-id")
def test_call_output(provider: Scene, implementation: Implementation) -> None:
    """Each output has type, call_id and output, and stands behind its call."""
    run = _played(provider, implementation, WEATHER, NOTE)
    outputs = [item for item in as_sent(run, 1) if item.get("type") == "function_call_output"]
    if not outputs:
        raise NotReached("request 2 carries no output")

    texts = {"call_1a": "18 °C and clear", "call_1b": "Written down."}
    _is([{"type": "function_call_output", "call_id": id, "output": _says(text)} for id, text in texts.items()], outputs)


def _says(text: str) -> Any:
    """Text, or a list of blocks that say it together: the services take either."""

    def says_it(content: Any) -> bool:
        blocks = content if isinstance(content, list) else [{"text": content}]
        return "".join(str(block.get("text")) for block in blocks) == text

    return says_it
