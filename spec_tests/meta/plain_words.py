"""What a reader of a message has to know Python for. No message of the kit may have it."""

from __future__ import annotations

import re

PYTHON = re.compile(
    r"""\bassert\s | Use\ -v | <looptck | <\w+(\.\w+)*\ object | \bwhere\ .+\ = | \+\ \ (where|and)\ |
    \b(Failed|Value|Nothing|Asked|Answered|Said|Kept|Owed|Turn|Text|Call|Cell|Framing|Offered|Ran|Received|Replied|
    Counter|frozenset|dict_keys|dict_values|mappingproxy|PosixPath|deque|defaultdict|Problem|Difference)\( |
    \b(True|False|None)\b | \[\('| \{\(' | \['\w+'[\],] | \bb'""",
    re.VERBOSE,
)
"""What only somebody who knows Python, or this kit's source, can read."""

ASSERTION = re.compile(r"\bassert\s")
"""The same of a check whose assertion has no message; such a reason may quote what a loop has said, in Python or not."""
