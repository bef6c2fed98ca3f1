"""No fault: the last request that the limit allows has no tools, and says that an answer is wanted now."""

import http.client
import json
import time
from urllib.parse import urlsplit

from looptck.driver import error, handlers, started, value

NOW = {"role": "user", "content": "No more tools can be used. Give the best answer that you can."}
SHORT = 6000
"""How long a result may be; of a longer one the model gets the beginning, and is told so."""


class End(Exception):
    def __init__(self, reason, said):
        super().__init__(said)
        self.reason = reason


def asked(case, body):
    place = urlsplit(case["base_url"])
    headers = {"Authorization": f"Bearer {case['api_key']}", "Content-Type": "application/json"}
    for attempt in range(3):
        connection = http.client.HTTPConnection(place.hostname, place.port, timeout=60)
        try:
            connection.request("POST", place.path + "/chat/completions", json.dumps(body), headers)
            answer = connection.getresponse()
            status, wait, said = answer.status, answer.headers.get("Retry-After"), answer.read()
        except (OSError, http.client.HTTPException) as problem:
            raise End("stream", f"broken off: {problem!r}") from problem
        finally:
            connection.close()
        if status == 200:
            break
        if attempt == 2 or not (status in (408, 409, 429) or status >= 500):
            raise End("provider", f"{status}: {said.decode(errors='replace')}")
        time.sleep(float(wait) if (wait or "").replace(".", "", 1).isdigit() else 0.2 * 2**attempt)
    try:
        reply = json.loads(said)
    except ValueError as problem:
        raise End("stream", "no JSON") from problem
    if not reply.get("choices"):
        raise End("provider", f"no choices in {reply}")
    return reply["choices"][0]


def used(functions, call):
    name, text = call["function"]["name"], call["function"].get("arguments")
    if name not in functions:
        return f"error: {name} does not exist"
    try:
        arguments = json.loads(text or "{}")
    except ValueError:
        return f"error: the arguments of {name} are no JSON"
    if not isinstance(arguments, dict):
        return f"error: {name} takes an object"
    try:
        found = functions[name](**arguments)
    except Exception as problem:
        return f"error: {name} failed with {type(problem).__name__}: {problem}"
    found = found if isinstance(found, str) else json.dumps(found)
    return found if len(found) <= SHORT else found[:SHORT] + f"\n[{len(found) - SHORT} more signs are left out]"


def loop(case, limit):
    functions = handlers(case)
    tools = [
        {"type": "function", "function": {key: tool[key] for key in ("name", "description", "parameters")}}
        for tool in case["tools"]
    ]
    messages = [dict(one) for one in case["messages"]]
    for left in reversed(range(limit)):
        last = bool(tools) and not left and limit > 1
        body = {"model": case["model"], "messages": [*messages, NOW] if last else messages}
        if tools and not last:
            body["tools"] = tools
        choice = asked(case, body)
        message, finish = choice["message"], choice.get("finish_reason")
        if finish == "length":
            raise End("truncated", "the reply was cut")
        if finish == "content_filter" or message.get("refusal"):
            raise End("refusal", message.get("refusal") or "filtered")
        calls = [] if last else message.get("tool_calls") or []
        if not calls:
            return message.get("content") or ""
        messages.append({"role": "assistant", "content": message.get("content"), "tool_calls": calls})
        for call in calls:
            call["function"]["arguments"] = call["function"].get("arguments") or "{}"
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": used(functions, call)} for call in calls]
    raise End("limit", "no answer was given")


class Driver:
    def start(self):
        return started("last words", "1", wires=["openai-chat"], modes=["sync"], limit=True, concurrent=True)

    def run(self, case, emit):
        try:
            return value(loop(case, case["options"].get("limit", 12)))
        except End as end:
            return error(end, end.reason)
        except Exception as problem:
            return error(problem)
