"""The rules on options that contradict each other, and on the schemas that a request carries."""

from __future__ import annotations

from typing import Any

from looptck.values.problem import Problem
from looptck.wires import openai_schemas

RULES = {
    "choice-needs-tools": "The options tool_choice and parallel_tool_calls come only with tools.",
    "forced-tool-is-offered": "A tool choice that names a function names one of the tools.",
    "function-call-needs-functions": "The deprecated option function_call comes only with functions.",
    "forced-function-is-offered": "A function_call that names a function names one of the functions.",
    "parameters-describe-an-object": (
        "A function's parameters are a JSON Schema of type object with properties, no union, and arrays with items."
    ),
    "strict-schemas-are-closed": (
        "A strict schema forbids additional properties, requires every property and keeps to the keywords of its "
        "subset, at every depth."
    ),
    "stream-options-need-a-stream": "The option stream_options comes only with stream.",
    "one-token-limit": "Only one of max_tokens and max_completion_tokens is set.",
    "top-logprobs-need-logprobs": "The option top_logprobs comes only with logprobs.",
    "json-mode-mentions-json": "A request for a JSON object contains the word JSON in its messages.",
}


def problems(body: dict[str, Any]) -> list[Problem]:
    """The contradictions between options, in the order in which the service reports them."""
    found: list[Problem] = []
    tools = body.get("tools")
    if tools:
        for place, tool in enumerate(tools):
            if tool["type"] == "function":
                found += _function_schema(tool["function"], f"/tools/{place}/function/parameters")
    found += _choices(body, tools)
    if body.get("functions") or body.get("function_call"):
        found += _functions(body)
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        message = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        found.append(Problem("one-token-limit", "/max_tokens", message, code="invalid_parameter_combination"))
    if body.get("top_logprobs") is not None and not body.get("logprobs"):
        message = "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled."
        found.append(Problem("top-logprobs-need-logprobs", "/top_logprobs", message))
    if body.get("stream_options") is not None and not body.get("stream"):
        message = "The 'stream_options' parameter is only allowed when 'stream' is enabled."
        found.append(Problem("stream-options-need-a-stream", "/stream_options", message))
    if body.get("response_format"):
        found += _response_format(body)
    return found


def _choices(body: dict[str, Any], tools: list[dict[str, Any]] | None) -> list[Problem]:
    """The problems of the options that need tools. An empty list of tools counts as tools."""
    found = []
    if tools is None:
        for option in ("tool_choice", "parallel_tool_calls"):
            if body.get(option) is not None:
                message = f"Invalid value for '{option}': '{option}' is only allowed when 'tools' are specified."
                found.append(Problem("choice-needs-tools", f"/{option}", message))
        return found
    choice = body.get("tool_choice")
    if isinstance(choice, dict) and "function" in choice:
        name = choice["function"]["name"]
        if all(tool["type"] != "function" or tool["function"]["name"] != name for tool in tools):
            found.append(Problem("forced-tool-is-offered", "/tool_choice/function/name", _no_function(name)))
    return found


def _functions(body: dict[str, Any]) -> list[Problem]:
    found = []
    functions = body.get("functions")
    call = body.get("function_call")
    for place, function in enumerate(functions or ()):
        found += _function_schema(function, f"/functions/{place}/parameters")
    if call is not None and functions is None:
        message = "Invalid value for 'function_call': 'function_call' is only allowed when 'functions' are specified."
        found.append(Problem("function-call-needs-functions", "/function_call", message))
    elif isinstance(call, dict) and all(function["name"] != call["name"] for function in functions or ()):
        found.append(Problem("forced-function-is-offered", "/function_call/name", _no_function(call["name"])))
    return found


def _no_function(name: str) -> str:
    """The service's message, which names the deprecated option whichever of the two was used."""
    return f"Invalid value for 'function_call': no function named '{name}' was specified in the 'functions' parameter."


def _function_schema(function: dict[str, Any], pointer: str) -> list[Problem]:
    parameters = function.get("parameters")
    if not parameters:
        return []
    rule, fault = "parameters-describe-an-object", openai_schemas.of_function(parameters)
    if not fault and function.get("strict"):
        rule, fault = "strict-schemas-are-closed", openai_schemas.strict(parameters)
    if not fault:
        return []
    message = f"Invalid schema for function '{function['name']}': {fault}"
    return [Problem(rule, pointer, message, code="invalid_function_parameters")]


def _response_format(body: dict[str, Any]) -> list[Problem]:
    wanted = body["response_format"]
    if wanted["type"] == "json_object" and not _mentions_json(body["messages"]):
        message = (
            "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        )
        return [Problem("json-mode-mentions-json", "/messages", message)]
    asked = wanted.get("json_schema") or {}
    if asked.get("strict") and asked.get("schema") and (fault := openai_schemas.strict_output(asked["schema"])):
        message = f"Invalid schema for response_format '{asked['name']}': {fault}"
        return [Problem("strict-schemas-are-closed", "/response_format", message)]
    return []


def _mentions_json(messages: list[dict[str, Any]]) -> bool:
    return any("json" in str(message.get("content")).lower() for message in messages)
