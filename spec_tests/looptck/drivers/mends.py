"""What mends the usual mistakes of a driver: a sentence for what it wrote or returned, or did not."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from looptck.driver import Stop

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
STOP = (
    'stop is one of the words above, whatever the loop calls it, as {"stop": "end", "tool_calls": "calls"}, '
    'with "other" for all further words; leave it out where the loop tells its caller nothing'
)
AWAITED = 'run() is not awaited: call it run_async, and declare modes=["async"]'
UTF_8 = "a message is text in UTF-8"


def of_line(line: str) -> str:
    """Of a line that is not JSON."""
    if "\ufffd" in line:
        return UTF_8
    text = line.strip()
    if not text.startswith("{"):
        return LOGS
    try:
        json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return ONE_LINE
    return LINE_END  # between this message and what follows it


def of_message(message: Any) -> str:
    """Of JSON that is no message, or of a run that has ended in no outcome; other messages have no usual mend."""
    if not isinstance(message, dict) or "type" not in message:
        return LOGS
    outcome = message.get("outcome")
    told = outcome if isinstance(outcome, dict) else {}
    if "stop" in told and told["stop"] not in get_args(Stop):
        return STOP
    is_outcome = "kind" in told and isinstance(told.get("text", ""), str)
    return OUTCOME if message["type"] == "finished" and not is_outcome else ""


def of_answer(answer: object) -> str:
    """Of what a method of a driver has returned in place of an outcome."""
    if inspect.isawaitable(answer):
        return AWAITED
    if isinstance(answer, Mapping) and answer.get("stop", "end") not in get_args(Stop):
        return STOP
    return OUTCOME


def of_word(driver: str) -> str:
    """How a driver is named that somebody has named in another way; empty where nobody can know it."""
    place, _, name = driver.partition(":")
    suffix = Path(place).suffix
    if suffix == ".py":
        return f"python:{place}:{name or 'Driver'}"
    if suffix in {".js", ".mjs", ".cjs"}:
        return f"'cmd:node {place}'"
    if suffix in {".yaml", ".yml"}:
        return f"server:{place}"
    if place in {"http", "https"}:
        return f"server:{driver}"
    kind, rest = place, name
    if kind == "python" and rest.endswith(".py"):
        return f"python:{rest}:Driver"
    near = get_close_matches(kind, ["python", "cmd", "server", "program"], n=1)
    return f"{near[0]}:{rest}" if near and rest and near[0] != kind else ""


def of_module(reference: str, error: BaseException) -> str:
    """Of a driver's module that is a file in this folder, or that has another class."""
    place, _, name = reference.rpartition(":")
    file = Path(*place.split(".")).with_suffix(".py")
    if isinstance(error, ModuleNotFoundError) and error.name == place and file.is_file():
        return f"name the file: python:{file}:{name}"
    module = sys.modules.get(Path(place).stem if place.endswith(".py") else place)
    if not isinstance(error, AttributeError) or error.obj is not module or error.name != name.partition(".")[0]:
        return ""
    classes = [one.__name__ for one in vars(module).values() if inspect.isclass(one) and hasattr(one, "start")]
    return f"it has {', '.join(classes)}" if classes else "it has no class with the methods start and run"


def of_program(word: str) -> str:
    """Of a command whose program cannot be started: a file that something else has to run."""
    ways = {
        ".py": "python",
        ".js": "node",
        ".mjs": "node",
        ".cjs": "node",
        ".ts": "npx tsx",
        ".sh": "sh",
        ".rb": "ruby",
    }
    way = ways.get(Path(word).suffix)
    if way and Path(word).is_file():
        return f"say what runs the file: cmd:{way} {word}"
    return "" if "/" in word else f"there is no program {word} in the folders of PATH"


def of_rest(rest: str) -> str:
    """Of what stands behind the last line end."""
    try:
        message = json.loads(rest)
    except (ValueError, RecursionError):
        return ""
    return LINE_END if isinstance(message, dict) else ""
