"""A right program in Python on the vendor's SDK, which asks for plain replies."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from openai import OpenAI, OpenAIError

TOOLS: Any = [
    {
        "type": "function",
        "function": {
            "name": "write",
            "description": "Append to a file.",
            "parameters": {
                "type": "object",
                "properties": {"to": {"type": "string"}, "what": {"type": "string"}, "broken": {"type": "boolean"}},
                "required": ["to", "what"],
            },
        },
    }
]
ROUNDS = 30


def write(to: str, what: str, *, broken: bool = False) -> str:
    """The tool."""
    with Path(to).open("a", encoding="utf-8") as file:
        file.write(f"{what}\n")
    if broken:
        raise RuntimeError("the pen is broken")
    return f"wrote {len(what)} characters"


def run(name: str, arguments: str) -> str:
    """Run a call; what the model is told."""
    if name != "write":
        return f"unknown tool: {name}"
    try:
        return write(**json.loads(arguments or "{}"))
    except Exception as error:  # noqa: BLE001 - the model is told of any
        return f"failed: {error}"


def main() -> int:
    """Do the task; the exit status."""
    client = OpenAI(base_url=os.environ["BASE_URL"], api_key=os.environ["KEY"], max_retries=2, timeout=60)
    messages: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": sys.argv[1]}]
    for _ in range(ROUNDS):
        reply = client.chat.completions.create(model=os.environ["MODEL"], messages=messages, tools=TOOLS)
        if isinstance(reply, str) or not reply.choices:
            print("the service did not answer", file=sys.stderr)
            return 1
        choice = reply.choices[0]
        if choice.finish_reason not in {"stop", "tool_calls"} or choice.message.refusal:
            print(choice.message.refusal or choice.message.content or "")
            print(f"stopped by {choice.finish_reason}", file=sys.stderr)
            return 4
        if not choice.message.tool_calls:
            print(choice.message.content or "")
            return 0
        messages.append(choice.message.model_dump(exclude_none=True))
        for call in choice.message.tool_calls:
            done = (
                run(call.function.name, call.function.arguments) if call.type == "function" else "unknown kind of tool"
            )
            messages.append({"role": "tool", "tool_call_id": call.id, "content": done})
    print("too many rounds", file=sys.stderr)
    return 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except OpenAIError as error:
        sys.exit(f"{type(error).__name__}: {error}")
