"""No fault: a history that grows long is told in short; a call never loses its result, and the question stays."""

import json
import time

import httpx

from looptck.driver import error, handlers, started, value

ROUNDS = 3
"""How many of the latest rounds stay as they were."""


class End(Exception):
    def __init__(self, reason, said):
        super().__init__(said)
        self.reason = reason


class TooLong(End):
    """The service takes no request as long as this one."""


def compacted(question, rounds, whole):
    """The items of a request: the question, what older rounds were about, and the latest rounds whole."""
    older, latest = (rounds[:-whole], rounds[-whole:]) if whole else (rounds, [])
    told = [f"{item['name']}({item['arguments']})" for one in older for item in one if item["type"] == "function_call"]
    results = [item["output"] for one in older for item in one if item["type"] == "function_call_output"]
    said = [f"- {call} returned: {result}" for call, result in zip(told, results, strict=True)]
    note = [{"role": "developer", "content": "Earlier calls in short:\n" + "\n".join(said)}] if said else []
    return [*question, *note, *(item for one in latest for item in one)]


class Session:
    def __init__(self, case):
        self.case, self.functions = case, handlers(case)
        headers = {"Authorization": f"Bearer {case['api_key']}"}
        self.http = httpx.Client(base_url=case["base_url"], headers=headers, timeout=60, trust_env=False)
        self.tools = [
            {"type": "function", "strict": False, **{key: tool[key] for key in ("name", "description", "parameters")}}
            for tool in case["tools"]
        ]

    def reply(self, items):
        body = {
            "model": self.case["model"],
            "input": items,
            "store": False,
            "include": ["reasoning.encrypted_content"],
        }
        if self.tools:
            body["tools"] = self.tools
        for attempt in range(3):
            answer = self.http.post("/responses", json=body)
            if answer.status_code == 200:
                break
            if "context length" in answer.text:
                raise TooLong("provider", answer.text)
            if attempt == 2 or answer.status_code not in (408, 429, 500, 502, 503, 504):
                raise End("provider", answer.text)
            time.sleep(pause(answer.headers.get("retry-after"), attempt))
        try:
            found = answer.json()
        except ValueError as problem:
            raise End("stream", f"no JSON: {problem}") from problem
        if found.get("status") == "incomplete":
            why = (found.get("incomplete_details") or {}).get("reason")
            raise End("refusal" if why == "content_filter" else "truncated", f"incomplete: {why}")
        if found.get("error") or found.get("status", "completed") != "completed":
            raise End("provider", json.dumps(found.get("error") or found.get("status")))
        return found["output"]

    def replied(self, question, rounds):
        """The reply to a request that is made shorter once if it is too long."""
        try:
            return self.reply(compacted(question, rounds, ROUNDS))
        except TooLong:
            return self.reply(compacted(question, rounds, 0))

    def answer(self, limit):
        question = [{"role": one["role"], "content": one["content"]} for one in self.case["messages"]]
        rounds = []
        for _ in range(limit):
            output = self.replied(question, rounds)
            calls = [item for item in output if item["type"] == "function_call"]
            if not calls:
                return text_of(output)
            results = [
                {"type": "function_call_output", "call_id": call["call_id"], "output": self.result(call)}
                for call in calls
            ]
            rounds.append([*output, *results])
        raise End("limit", f"{limit} requests were made")

    def result(self, call):
        try:
            arguments = json.loads(call["arguments"] or "{}")
        except ValueError:
            return "Error: the arguments are no JSON."
        if not isinstance(arguments, dict):
            return "Error: the arguments are no object."
        function = self.functions.get(call["name"])
        if function is None:
            return f"Error: no tool has the name {call['name']}."
        try:
            found = function(**arguments)
        except Exception as problem:
            return f"Error: {type(problem).__name__}: {problem}"
        return found if isinstance(found, str) else json.dumps(found)


def pause(header, attempt):
    try:
        return max(0.0, float(header))
    except (TypeError, ValueError):
        return 0.1 * 2**attempt


def text_of(output):
    parts = [part for item in output if item["type"] == "message" for part in item["content"]]
    refusals = [part["refusal"] for part in parts if part["type"] == "refusal"]
    if refusals:
        raise End("refusal", "".join(refusals))
    return "".join(part["text"] for part in parts if part["type"] == "output_text")


class Driver:
    def start(self):
        return started("what is told in short", "1", wires=["openai-responses"], modes=["sync"], limit=True)

    def run(self, case, emit):
        session = Session(case)
        try:
            return value(session.answer(case["options"].get("limit", 20)))
        except End as end:
            return error(end, end.reason)
        except Exception as problem:
            return error(problem)
        finally:
            session.http.close()
