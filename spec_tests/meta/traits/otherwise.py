"""A loop of its own on Chat Completions, in plain replies, that does wherever it may what the reference does not."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from typing import Any

import httpx

Json = dict[str, Any]
TRIES = 5
FOR_EVER = 1_000
LONG = 10_000


class Refused(Exception):
    """The service would not answer."""


class Run:
    """One run."""

    def __init__(self, case: Json, client: httpx.Client) -> None:
        self._case = case
        self._client = client
        self._tools = {tool["name"]: tool for tool in case["tools"]}
        self._known: dict[str, str] = {}
        """What calls have been answered, by what they say."""
        roles = {"system": "developer"}
        said = [{**message, "role": roles.get(message["role"], message["role"])} for message in case["messages"]]
        self._messages: list[Json] = [{"role": "developer", "content": "Be brief."}, *said]

    @property
    def _choice(self) -> Any:
        choice = self._case["options"].get("tool_choice", "auto")
        return {"type": "function", "function": {"name": choice["tool"]}} if isinstance(choice, dict) else choice

    def play(self) -> Json:
        """Ask and run until the model answers, or for a last time without tools."""
        limit = self._case["options"].get("limit")
        for _ in range((FOR_EVER if limit is None else limit) + 1):
            message = self._ask()
            every = {call["id"]: call for call in message.get("tool_calls") or ()}  # twins are one
            calls = {
                json.dumps(call["function"]): call for call in every.values()
            }  # and so are those that say the same
            if not calls:
                if text := message["content"] or message.get("refusal"):
                    return {"kind": "value", "text": text}
                continue
            if self._choice == "none" or not self._tools.keys() >= {
                call["function"]["name"] for call in calls.values()
            }:
                return {"kind": "value", "text": message["content"], "stop": "calls"}
            self._run(list(calls.values()))
        return {"kind": "value", "text": self._ask(tools=False)["content"]}

    def _ask(self, *, tools: bool = True) -> Json:
        last = {"name": "final_answer", "description": "Ends.", "parameters": {"properties": {}, "required": []}}
        functions = [
            {
                "type": "function",
                "function": {
                    "name": tool["name"],
                    "description": tool["description"],
                    "parameters": {"type": "object", **tool["parameters"], "additionalProperties": False},
                    "strict": True,
                },
            }
            for tool in (*self._tools.values(), last)
        ]
        choice = {"tools": functions, "tool_choice": self._choice, "parallel_tool_calls": False} if tools else {}
        body = {"model": self._case["model"], "messages": self._messages, "store": False, "temperature": 0, **choice}
        for _ in range(TRIES):
            with suppress(httpx.RemoteProtocolError):
                reply = self._client.post(f"{self._case['base_url']}/chat/completions", json=body)
                if reply.status_code == 200:
                    message: Json = reply.json()["choices"][0]["message"]
                    return message
        raise Refused("the service did not answer")

    def _run(self, calls: list[Json]) -> None:
        """Run calls together, and put their results down as they come; a failed one is told apart from them."""
        read = [(_renamed(call["id"]), call["function"]["name"], _read(call["function"])) for call in calls]
        echoed = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
            for id, name, arguments in read
        ]
        results, failed = [], list[str]()
        with ThreadPoolExecutor() as pool:
            running = {pool.submit(self._result, name, arguments): id for id, name, arguments in read}
            for one in as_completed(running):
                try:
                    results.append({"role": "tool", "tool_call_id": running[one], "content": one.result()})
                except ValueError as error:
                    failed.append(str(error))
        answered = {result["tool_call_id"] for result in results}
        if answered:
            told = [call for call in echoed if call["id"] in answered]
            self._messages += [{"role": "assistant", "content": None, "tool_calls": told}, *results]
        self._messages += [{"role": "user", "content": text} for text in failed]

    def _result(self, name: str, arguments: Json) -> str:
        key = f"{name}{json.dumps(arguments)}"
        if key not in self._known:
            fitting = _fitted(self._tools[name]["parameters"], arguments)
            reply = self._client.post(self._tools[name]["url"], json={"arguments": fitting}).json()
            if "error" in reply:
                raise ValueError("A tool did not work.")
            value = reply["value"]
            text = f"Result: {json.dumps(value)}"
            short = text if len(text) < LONG else f"{text[:LONG]} (truncated)"
            self._known[key] = "(no output)" if value in (None, "", []) else short
        return self._known[key]


def _renamed(id: str) -> str:
    return f"x_{id[:30]}"


def _read(function: Json) -> Any:
    """The arguments, mended where they can be; None where there are none."""
    text = re.sub(r"^```json|```$", "", function["arguments"]).strip()
    for written in (text, text.replace(",}", "}"), text.replace("'", '"')):
        with suppress(ValueError):
            value = json.loads(written, parse_int=lambda digits: int(float(digits)))
            return value if isinstance(value, dict) else {}
    return None if text == "" else {"city": text.rpartition('"')[2]}


def _fitted(schema: Json, arguments: Any) -> Json:
    """Arguments of the types that the schema names, none missing and none beside them."""
    if arguments is None:
        raise ValueError("A call had no arguments.")
    types = {"number": float, "string": str}
    given = {name: arguments.get(name) for name in schema["properties"]}
    return {
        name: None if value is None else types[schema["properties"][name]["type"]](value)
        for name, value in given.items()
    }


class Otherwise:
    """The driver."""

    def __init__(self) -> None:
        self._client = httpx.Client(trust_env=False, timeout=30.0)
        del self._client.headers["user-agent"]

    def start(self) -> Json:
        """What the loop is and can do."""
        return {
            "protocol": 1,
            "name": "otherwise",
            "version": "1.0",
            "language": "python",
            "wires": ["openai-chat"],
            "modes": ["sync"],
            "profiles": [],
            "capabilities": {"limit": True, "tool_choice": True},
            "dialect": {"limit_counts": "tool-rounds"},
        }

    def run(self, case: Json, emit: Any) -> Json:
        """Run one case."""
        try:
            return Run(case, self._client).play()
        except Exception as error:  # noqa: BLE001  whatever reaches the caller is the outcome
            return {"kind": "error", "reason": "other", "type": type(error).__name__, "message": str(error)}

    def stop(self) -> None:
        """Close the connections."""
        self._client.close()
