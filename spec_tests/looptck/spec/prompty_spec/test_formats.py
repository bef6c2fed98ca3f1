"""Message formats: the assistant turn and the tool results in exactly the documented form.

These checks are strict: a key that the documented form does not have fails them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from looptck.bench.assertions.turns import turn_echoed
from looptck.bench.checks import Implementation, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.wire_fragments import as_sent, unlike
from looptck.values.turns import Call, Thinking, says, turn
from looptck.values.verdicts import NotApplicable, NotReached

WEATHER, NOTE = Call.of("weather", {"city": "Paris"}), Call.of("note", {"text": "bread"})


def _played(scenario: Scenario, implementation: Implementation, *pieces: Call | Thinking | str) -> Run:
    scenario.plays(turn(*pieces), says("Done."))
    scenario.returns("weather", "18 °C and clear")
    scenario.returns("note", "Written down.")
    run = implementation.run()
    run.request(2)
    return run


def _is(what: str, wanted: Any, got: Any) -> None:
    found = unlike(wanted, got)
    assert not found, f"{what}: {'; '.join(found)}"


def _nothing(value: Any) -> bool:
    return value in (None, "", [])


@requirement("spec-assistant-message-format")
def test_assistant_message(scenario: Scenario, implementation: Implementation) -> None:
    """The assistant message has the documented keys, and its content is empty if there was no text."""
    run = _played(scenario, implementation, WEATHER, NOTE)
    functions = [{"name": call.tool, "arguments": ...} for call in (WEATHER, NOTE)]

    _is(
        "the assistant message",
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
def test_tool_message(scenario: Scenario, implementation: Implementation) -> None:
    """The message has role, content and id, with the content as a string."""
    run = _played(scenario, implementation, WEATHER)

    _is(
        "the tool messages",
        [{"role": "tool", "content": "18 °C and clear", "tool_call_id": "call_1a", "name?": ...}],
        as_sent(run, 1)[1:],
    )


@requirement("spec-anthropic-keeps-all-blocks")
def test_all_blocks(scenario: Scenario, implementation: Implementation) -> None:
    """Thinking, text and two calls come back in one assistant message, in their order."""
    run = _played(scenario, implementation, Thinking("Both."), "I look.", WEATHER, "And", NOTE)

    turn_echoed(run, 1)
    if run.request(2).request.continues is None:
        contents = [message["content"] for message in as_sent(run, 1) if message["role"] == "assistant"]
        kinds = [[block["type"] for block in blocks] if isinstance(blocks, list) else blocks for blocks in contents]
        assert [["thinking", "text", "tool_use", "text", "tool_use"]] == kinds


@requirement("spec-anthropic-results-share-a-message")
def test_results_message(scenario: Scenario, implementation: Implementation) -> None:
    """Two results are in one user message, each with type, id and content, and nothing else is in it."""
    run = _played(scenario, implementation, WEATHER, NOTE)
    texts = {"call_1a": "18 °C and clear", "call_1b": "Written down."}
    sent = [message for message in as_sent(run, 1) if message["role"] == "user"]

    assert len(sent) < 2, f"the results of one turn are spread over {len(sent)} user messages"
    _is(
        "the user messages",
        [
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": id, "content": _says(text), "is_error?": False}
                    for id, text in texts.items()
                ],
            }
        ],
        sent,
    )


@requirement("spec-responses-keeps-the-call-item")
def test_call_item(scenario: Scenario, implementation: Implementation) -> None:
    """The input contains the original call item, with its id and its call_id, of which neither follows the other."""
    run = _played(scenario, implementation, replace(WEATHER, item="fc_okapi"))
    if run.request(2).request.continues is not None:
        raise NotApplicable("the request continues a stored response, which already contains the item")
    items = [item for item in as_sent(run, 1) if item.get("type") == "function_call"]

    _is(
        "the function_call items",
        [
            {
                "type": "function_call",
                "id": "fc_okapi",
                "call_id": "call_1a",
                "name": "weather",
                "arguments": {"city": "Paris"},
                "status?": "completed",
            }
        ],
        items,
    )


@requirement("spec-responses-output-by-call-id")
def test_call_output(scenario: Scenario, implementation: Implementation) -> None:
    """Each output has type, call_id and output, and comes after its call."""
    run = _played(scenario, implementation, WEATHER, NOTE)
    outputs = [item for item in as_sent(run, 1) if item.get("type") == "function_call_output"]
    if not outputs:
        raise NotReached("request 2 carries no output")

    texts = {"call_1a": "18 °C and clear", "call_1b": "Written down."}
    wanted = [{"type": "function_call_output", "call_id": id, "output": _says(text)} for id, text in texts.items()]
    _is("the function_call_output items", wanted, outputs)


def _says(text: str) -> Any:
    """A check for this text, as a string or as a list of text blocks; the services accept both."""

    def says_it(content: Any) -> bool:
        blocks = content if isinstance(content, list) else [{"text": content}]
        return "".join(str(block.get("text")) for block in blocks) == text

    return says_it
