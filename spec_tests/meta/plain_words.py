"""What a reader of a message has to know Python for. No message of the kit may have it."""

from __future__ import annotations

import re

from meta.drivers.bench import Report

PYTHON = re.compile(
    r"""\bassert\s | Use\ -v | <looptck | <\w+(\.\w+)*\ object | \bwhere\ .+\ = | \+\ \ (where|and)\ |
    \b(Failed|Value|Nothing|Asked|Answered|Said|Kept|Owed|Turn|Text|Call|Cell|Framing|Offered|Ran|Received|Replied|
    Counter|frozenset|dict_keys|dict_values|mappingproxy|PosixPath|deque|defaultdict|Problem|Difference)\( |
    \b(True|False|None)\b | \[\('| \{\(' | \['\w+'[\],] | \bb'""",
    re.VERBOSE,
)
"""What only somebody who knows Python, or this kit's source, can read."""


def only_python_tells(report: Report) -> list[str]:
    """The lines that a reader sees of a report and would have to know Python for, the first five of them.

    A line on a case is no such line: the name of the case is a word of the suite's own.
    """
    against = [one for one in report.json["results"] if one["verdict"] in {"fail", "not-reached", "error"}]
    lines = [line for one in against for line in one["detail"].splitlines()]
    told = [*report.printed.splitlines(), *(line for line in lines if not line.startswith(("  case: ", "  again: ")))]
    return sorted({line for line in told if PYTHON.search(line) and "case" not in line})[:5]
