"""Writes models, each of one script, until standard input is closed.

A line of JSON on standard input says where and what: ``path``, and ``turns``, each a list of texts and calls. The line
on standard output that answers it says what is ``wrong`` with the turns; nothing: the file is there.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

try:
    from looptck.commands.recording.scripted.scripts import written
    from looptck.commands.recording.scripted.vocabulary import Vocabulary
    from looptck.commands.recording.scripted.weights import write
except ImportError as error:
    sys.exit(f"a model needs what `pip install 'looptck[scripted]'` installs: {error}")

from looptck.values.turns import Call, Piece, Text, Turn

OVER = "over"
TEMPLATE = Path(__file__).with_name("by_turn.jinja")


def main() -> None:
    """Write what is asked for."""
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps({"wrong": _write(Path(asked["path"]), asked["turns"])}), flush=True)


def _write(path: Path, turns: list[list[dict[str, Any]]]) -> str:
    """A call is one token: servers look for the marks around it, for which real models have tokens."""
    words = Vocabulary()
    try:
        words.learn(OVER, "The script is over.")
        for number, pieces in enumerate(turns, 1):
            turn = Turn(tuple(_piece(piece) for piece in pieces))
            words.learn(str(number), written(turn), [written(Turn((call,))) for call in turn.calls])
    except ValueError as error:
        return str(error)
    write(path, words, TEMPLATE.read_text(encoding="utf-8").replace("LAST", str(len(turns)), 1))
    return ""


def _piece(piece: dict[str, Any]) -> Piece:
    return Call(piece["tool"], piece["arguments"]) if "tool" in piece else Text(piece["text"])


if __name__ == "__main__":
    main()
