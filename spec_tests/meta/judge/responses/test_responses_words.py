"""A refusal has the service's kind of words, and faults come in the service's order."""

from __future__ import annotations

import pytest

from looptck.wires.openai_responses.judge import judge, refusal
from meta.judge.responses.bodies import USER, call, custom, output, part, request, says, thought, tool

ROLES = "Invalid value: 'tool'. Supported values are: 'assistant', 'system', 'developer', and 'user'."
NO_ROLE = "Invalid value: ''. Supported values are: 'assistant', 'system', 'developer', and 'user'."
ASSISTANT_PART = "Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'."
USER_PART = (
    "Invalid value: 'output_text'. Supported values are: 'input_text', 'input_image', 'input_file', "
    "'scoped_content', and 'input_audio'."
)
NULL_CONTENT = (
    "Invalid type for 'input[0].content': expected one of an array of objects or string, but got null instead."
)
OBJECT_INPUT = "Invalid type for 'input': expected one of a string or array of input items, but got an object instead."
BELOW = "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got 15 instead."
COLD = "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead."
MANY = (
    "Invalid 'metadata': too many properties. Expected an object with at most 16 properties, but got an object with "
    "17 properties instead."
)
EMPTY = "One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation' must be provided."
TWO = "Mutually exclusive parameters: ''. Ensure you are only providing one of: 'pre..._id' or 'conversation'."
FOLLOWING = "Item 'rs_a' of type 'reasoning' was provided without its required following item."
TWICE = "Duplicate item found with id msg_a. Remove duplicate items from your input and try again."
PREFIX = "Invalid 'input[1].id': 'call_a'. Expected an ID that begins with 'fc'."
BLANK = (
    "Invalid 'tools[0].name': empty string. Expected a string with minimum length 1, but got an empty string instead."
)
STRICT = (
    "Invalid schema for function 'f': In context=(), 'required' is required to be supplied and to be an array "
    "including every key in properties. Missing 'x'."
)

REFUSALS = {
    "model": ({"input": "go"}, "model", "missing_required_parameter", "Missing required parameter: 'model'."),
    "no-model": (request(model=""), "model", "model_not_found", "The requested model '' does not exist."),
    "null-model": (
        request(model=None),
        "model",
        "invalid_type",
        "Invalid type for 'model': expected a string, but got an object instead.",
    ),
    "input": ({"model": "m"}, "input", "missing_required_parameter", "Missing required parameter: 'input'."),
    "object-input": (request(input={}), "input", "invalid_type", OBJECT_INPUT),
    "blank-name": (request(tools=[tool("")]), "tools[0].name", "empty_string", BLANK),
    "empty-input": (request(input=[]), None, "missing_required_parameter", EMPTY),
    "unknown": (request(n=2), "n", "unknown_parameter", "Unknown parameter: 'n'."),
    "unknown-in-item": (
        request({**USER, "tool_calls": []}),
        "input[0].tool_calls",
        "unknown_parameter",
        "Unknown parameter: 'input[0].tool_calls'.",
    ),
    "number": (
        request(7),
        "input[0]",
        "invalid_type",
        "Invalid type for 'input[0]': expected an input item, but got an integer instead.",
    ),
    "role": (request({"role": "tool", "content": "x"}), "input[0]", "invalid_value", ROLES),
    "no-role": (request({}), "input[0]", "invalid_value", NO_ROLE),
    "no-content": (
        request({"role": "user"}),
        "input[0].content",
        "missing_required_parameter",
        "Missing required parameter: 'input[0].content'.",
    ),
    "null-content": (request({**USER, "content": None}), "input[0].content", "invalid_type", NULL_CONTENT),
    "assistant-part": (
        request(says(content=[part("input_text")])),
        "input[0].content[0]",
        "invalid_value",
        ASSISTANT_PART,
    ),
    "user-part": (
        request({**USER, "content": [part("output_text")]}),
        "input[0].content[0]",
        "invalid_value",
        USER_PART,
    ),
    "arguments": (
        request(call(arguments={}), output()),
        "input[0].arguments",
        "invalid_type",
        "Invalid type for 'input[0].arguments': expected a string, but got an object instead.",
    ),
    "prefix": (request(USER, call(id="call_a"), output()), "input[1].id", "invalid_value", PREFIX),
    "chat-tool": (
        request(tools=[{"type": "function", "function": {"name": "f"}}]),
        "tools[0].name",
        "missing_required_parameter",
        "Missing required parameter: 'tools[0].name'.",
    ),
    "chat-choice": (
        request(tools=[tool()], tool_choice={"type": "function", "function": {"name": "f"}}),
        "tool_choice.name",
        "missing_required_parameter",
        "Missing required parameter: 'tool_choice.name'.",
    ),
    "choice": (
        request(tools=[tool()], tool_choice="any"),
        "tool_choice",
        "invalid_value",
        "Invalid value: 'any'. Supported values are: 'none', 'auto', and 'required'.",
    ),
    "forced": (
        request(tools=[tool()], tool_choice={"type": "function", "name": "g"}),
        "tool_choice",
        None,
        "Tool choice 'g' not found in 'tools' parameter.",
    ),
    "strict": (
        request(tools=[tool(strict=True)]),
        "tools[0].parameters",
        "invalid_function_parameters",
        STRICT,
    ),
    "bound": (request(max_output_tokens=15), "max_output_tokens", "integer_below_min_value", BELOW),
    "decimal": (request(temperature=-1), "temperature", "decimal_below_min_value", COLD),
    "metadata": (
        request(metadata={str(n): "v" for n in range(17)}),
        "metadata",
        "object_above_max_properties",
        MANY,
    ),
    "two-memories": (
        request(previous_response_id="resp_a", conversation="conv_a"),
        None,
        "mutually_exclusive_parameters",
        TWO,
    ),
    "unanswered": (request(USER, call()), "input", None, "No tool output found for function call a."),
    "unanswered-custom": (request(custom()), "input", None, "No tool output found for custom tool call a."),
    "orphan": (request(output()), "input", None, "No tool call found for function call output with call_id a."),
    "item-id": (
        request(call(id="fc_a"), output("fc_a")),
        "input",
        None,
        "No tool call found for function call output with call_id fc_a.",
    ),
    "following": (request(thought(), USER), "input", None, FOLLOWING),
    "twice": (request(says(id="msg_a"), says(id="msg_a")), "input", None, TWICE),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_has_the_services_words(name: str) -> None:
    """A refusal has the message, the param and the code that the service was seen to send."""
    body, param, code, message = REFUSALS[name]

    error = refusal(judge(body)[0])["error"]

    assert {"message": message, "type": "invalid_request_error", "param": param, "code": code} == error


def test_an_unknown_kind_of_item_names_the_known_ones() -> None:
    """The service names the kinds that it takes; those of our own provider are not among them."""
    problem = judge(request({"type": "tool_result"}))[0]

    assert "/input/0" == problem.pointer
    assert problem.message.startswith("Invalid value: 'tool_result'. Supported values are: 'additional_tools', ")
    assert problem.message.endswith(", and 'web_search_call'.")
    assert "x_unknown" not in problem.message


@pytest.mark.parametrize(
    ("body", "first"),
    [
        ({"input": [], "n": 1}, "/model"),
        ({"model": "m", "n": 1}, "/input"),
        (request(7, n=1), "/n"),
        (request(7, truncation="some"), "/input/0"),
        (request(tools="x", metadata="x"), "/tools"),
        (request(metadata="x", text="x"), "/metadata"),
        (request(text="x", temperature="x"), "/text"),
        (request(stream="x", background="x"), "/stream"),
        (request(store="x", instructions=7), "/instructions"),
        (request(output(), store="x"), "/store"),
        (request(input=[], store="x"), "/store"),
        (request(says(id="msg_a"), says(id="msg_a"), output()), "/input/1/id"),
    ],
)
def test_faults_come_in_the_services_order(body: object, first: str) -> None:
    """What is missing comes first, then what is unknown, then field by field, then the state and the history."""
    assert first == judge(body)[0].pointer


def test_all_faults_are_reported() -> None:
    """A body with a fault for each module has them all reported."""
    body = request(USER, output(), {"role": "tool", "content": "x"}, n=1, tool_choice="required")

    rules = [problem.rule for problem in judge(body)]

    assert ["parameters-are-known", "roles-are-known", "choice-needs-tools", "outputs-answer-a-call"] == rules


@pytest.mark.parametrize(
    ("body", "rules"),
    [
        (request(input=7), ["input-is-text-or-items"]),
        (request(tools="x", tool_choice="required"), ["values-fit"]),
        (request(call(call_id=7), output(call_id=7)), ["calls-are-whole", "outputs-are-whole"]),
        (request(input=7, text={"format": {"type": "json_object"}}), ["input-is-text-or-items"]),
        (request({"type": 5, "role": "user"}), ["items-are-of-known-kinds"]),
    ],
)
def test_one_fault_is_reported_once(body: object, rules: list[str]) -> None:
    """What only follows from a reported fault is not reported as well."""
    assert rules == [problem.rule for problem in judge(body)]
