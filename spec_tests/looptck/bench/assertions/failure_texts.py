"""Texts that stand in place of a result: whether a model learns of them that its call has failed.

Where there is no result, any words that a loop writes in its place are about that, in whatever language and in the
terms of whatever library: ``EOF``, ``socket hang up``, ``RemoteDisconnected``. So it is not asked which words they are,
but whether there are any beside those for a call that went well or came to nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from looptck.bench.limit_words import MISTAKES
from looptck.values.history import texts_in

READS_AS_ERROR = re.compile(
    r"error|fail|invalid|unknown|unavailable|unsupported|unrecogni|exist|not (found|available|defined|registered|known)"
    r"|no (such|tool)|cannot|can't|could not|missing",
    re.IGNORECASE,
)
"""Words by which a model or a person recognizes an error message."""
MISTAKE = re.compile(
    rf"\b({'|'.join(sorted(MISTAKES))}|NoneType)\b|has no attribute|must derive from"
    r"|is not (a function|callable|defined|iterable|subscriptable)|of (undefined|null)\b|local variable"
    r"|before assignment|nil pointer|index out of (range|bounds)|object reference not set"
    r"|expected \d+ arguments?, got|takes \d+ positional|missing \d+ required positional",
    re.IGNORECASE,
)
"""What a runtime says of a programming mistake, in various languages."""
ARGUMENT = r"(?<!\d )(?<!positional )argument"
"""The word, but not where a runtime counts the arguments of a function."""
NO_SUCH_TOOL = re.compile(
    r"unknown|unrecogni|exist|not (found|available|registered|known|defined)|not a (valid|known) (tool|function)"
    r"|no (such|tool|function|handler)",
    re.IGNORECASE,
)
"""Words by which a model is told that there is no tool of a name."""
OF_ARGUMENTS = re.compile(r"argument|parameter|input|json|pars|schema|syntax|delimiter|unexpected|brace", re.IGNORECASE)
"""Words that are about what a tool is called with."""
WORD = re.compile(r"[^\W\d_]+")
SUCCESS = frozenset(
    WORD.findall("ok okay success successful successfully succeeded done complete completed executed finished")
)
"""Words that say that all went well."""
SAY_NOTHING = SUCCESS | frozenset(
    WORD.findall(
        "null none undefined nil nan empty void true false object native code no any without ran called "
        "a the was were has have been is it and of with "
        "tool call function mcp result results output content data text value type returned status"
    )
)
"""The words of what a loop writes for a call that has returned nothing, or went well."""


def tells_of_failure(text: str, call: str = "") -> bool:
    """Whether a text in place of a result says more than that there is nothing, or that all is well.

    ``call``: the tool's name and its arguments; a text that only repeats words of them says nothing either.
    """
    if READS_AS_ERROR.search(text):
        return True
    words = {word.lower() for said in _said(text) for word in WORD.findall(said)}
    return bool(words - SAY_NOTHING - {word.lower() for word in WORD.findall(call)})


def tells_of_mistake(text: str) -> bool:
    """Whether a text has what a runtime says of a programming mistake."""
    return MISTAKE.search(text) is not None


def tells_of_no_such_tool(text: str) -> bool:
    """Whether a text says that there is no tool of a name, and nothing of what the tool was called with."""
    return NO_SUCH_TOOL.search(text) is not None and OF_ARGUMENTS.search(text) is None


def claims_success(text: str) -> bool:
    """Whether a text says that all went well, and nothing else."""
    words = {word.lower() for said in _said(text) for word in WORD.findall(said)}
    return bool(words & SUCCESS) and not words & {"no", "not", "without"} and not tells_of_failure(text)


def _said(text: str) -> Iterator[str]:
    """The texts of a JSON value without the names of its members, or else the text itself."""
    try:
        yield from texts_in(json.loads(text))
    except (ValueError, RecursionError):
        yield text
