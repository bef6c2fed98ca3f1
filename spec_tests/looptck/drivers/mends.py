"""What mends the usual mistakes of a driver: a sentence for what it wrote or returned, or did not."""

from __future__ import annotations

import json
from typing import Any

LOGS = (
    "standard output is for messages alone; print all else to standard error: "
    "console.error(…), print(…, file=sys.stderr), or import looptck-driver.mjs first"
)
ONE_LINE = "a message is one line of JSON: JSON.stringify(message), json.dumps(message)"
LINE_END = "end each message with a line feed: write(JSON.stringify(message) + '\\n')"
STARTED = 'answer the first line of standard input, {"type": "start", …}, with one line {"type": "started", …}'
READING = 'keep reading lines from standard input until {"type": "stop"}: the main program came to its end'
FINISHED = "every run has to end in an outcome, also if the loop throws or its promise is rejected"

RAISED = "what the loop raises is an outcome: except Exception as exception: return error(exception)"
OUTCOME = "return value(text), in which the text of the answer is a string, or error(exception)"


def of_line(line: str) -> str:
    """Of a line that is not JSON."""
    text = line.strip()
    if not text.startswith("{"):
        return LOGS
    try:
        json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return ONE_LINE
    return LINE_END  # between this message and what follows it


def of_message(message: Any) -> str:
    """Of JSON that is no message; one that breaks its schema has no usual mend."""
    return "" if isinstance(message, dict) and "type" in message else LOGS


def of_rest(rest: str) -> str:
    """Of what stands behind the last line end."""
    try:
        message = json.loads(rest)
    except (ValueError, RecursionError):
        return ""
    return LINE_END if isinstance(message, dict) else ""
