"""The vocabulary: every text that the model can produce, as a chain of tokens.

A text stands in a vocabulary once, and a token has one successor. So two texts share a token only where all that
follows in both is the same; elsewhere a border moves until the pieces are of their own. Where the borders fall depends
on the text alone, so that a new scenario leaves the old ones as they were but for such collisions.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from looptck.commands.recording.scripted.scripts import Scenario

UNKNOWN = "unknown question"
OVER = "over"
MISPLACED = "misplaced results"
FALLBACKS = {
    UNKNOWN: "I know no scenario with this question.",
    OVER: "The script of this scenario is over.",
    MISPLACED: "The results before me do not belong to my calls, one for each and in their order.",
}
"""The model's answers if no turn is due."""

_WORD = re.compile(r"\s*(?:\w{1,8}|[^\w\s]+)|\s+")
"""Much as the tokens of real models are: a word with the space before it, or punctuation."""
_MOST = 60
"""Characters of the longest piece that is tried, but for all that is left."""


def due(scenario: str, turn: int) -> str:
    """The name of a turn, counted from 1."""
    return f"{scenario}:{turn}"


@dataclass(slots=True)
class Vocabulary:
    """Pieces and the starts of texts, each with the piece that follows; ``""`` is the end."""

    starts: dict[str, str] = field(default_factory=dict)
    """By the name of the text: its first piece. Each is a control token."""
    pieces: dict[str, str] = field(default_factory=dict)
    """By the piece: the one after it."""
    _rests: dict[str, str] = field(default_factory=dict)
    """By the piece: all the text after it."""

    def learn(self, name: str, text: str, whole: Sequence[str] = ()) -> None:
        """Add a text, in which no border cuts these parts.

        Raises:
            ValueError: every way of cutting it collides with another text.
        """
        chain = self._cut(text, _inside(text, whole))
        self.starts[name] = chain[0] if chain else ""
        for at, piece in enumerate(chain):
            self.pieces.setdefault(piece, "".join(chain[at + 1 : at + 2]))
            self._rests.setdefault(piece, "".join(chain[at + 1 :]))

    def said(self, name: str) -> list[str]:
        """The pieces of a text, in order."""
        found, piece = [], self.starts[name]
        while piece:
            found.append(piece)
            piece = self.pieces[piece]
        return found

    def _cut(self, text: str, inside: Container[int]) -> list[str]:
        chain: list[str] = []
        trials = [_borders(text)]
        while text:
            size = next((size for size in trials[-1] if self._free(text, size, chain, inside)), None)
            if size:
                chain.append(text[:size])
                text = text[size:]
                trials.append(_borders(text))
            elif chain:  # nothing fits behind the border before: it has to move
                trials.pop()
                text = chain.pop() + text
            else:
                raise ValueError(f"cannot be cut into pieces of its own: {text!r}")
        return chain

    def _free(self, text: str, size: int, chain: list[str], inside: Container[int]) -> bool:
        piece, rest = text[:size], text[size:]
        of_its_own = piece not in self.pieces or self._rests[piece] == rest
        long = len(piece.encode()) > 1  # a single byte is a token already
        return of_its_own and piece not in chain and long and len(rest) not in inside


def vocabulary(scenarios: Iterable[Scenario]) -> Vocabulary:
    """Everything that the model has to say."""
    words = Vocabulary()
    for name, text in FALLBACKS.items():
        words.learn(name, text)
    for scenario in scenarios:
        for turn, text in enumerate(scenario.turns, 1):
            words.learn(due(scenario.name, turn), text)
    return words


def _inside(text: str, whole: Sequence[str]) -> set[int]:
    """The places inside these parts of a text, in characters before its end."""
    found = [place for part in whole for place in re.finditer(re.escape(part), text)]
    return {len(text) - at for place in found for at in range(place.start() + 1, place.end())}


def _borders(text: str) -> Iterator[int]:
    """Where the first piece of a text may end: after one to three words, or else after any character, or at its end."""
    words = [found.end() for _, found in zip(range(3), _WORD.finditer(text), strict=False)]
    yield from words
    yield from (size for size in range(1, min(len(text), _MOST) + 1) if size not in words)
    if len(text) > _MOST:
        yield len(text)
