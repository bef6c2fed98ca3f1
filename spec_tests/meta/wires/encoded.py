"""What the tests of the encoders need to know of a wire. A further wire is one more value of each class."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import SearchStrategy

from looptck.values.framing import DEFAULT, Framing, Quirk
from looptck.values.turns import Turn
from looptck.wires import Wire


@dataclass(frozen=True, kw_only=True)
class EncodedWire:
    """A wire, turns of it, and a reader of what it encodes that shares no code with it."""

    wire: Wire
    turns: Mapping[str, Turn]
    """Turns that it can say both ways."""
    streamed_only: Mapping[str, Turn]
    """Turns that it can say in streams only."""
    framings: Mapping[str, Framing]
    """The named framings that mean something on it."""
    any_turn: SearchStrategy[Turn]
    any_framing: SearchStrategy[Framing]
    shown_bodies: Sequence[str]
    """The turns whose default bodies were reviewed."""
    shown_streams: Sequence[str]
    """The turns whose default streams were reviewed."""
    in_body: Callable[[Turn], Any]
    """What the reader should take from the plain reply of a turn that is numbered."""
    in_stream: Callable[[Turn], Any]
    """What the reader should take from its stream."""
    read_body: Callable[[Any], Any]
    read_stream: Callable[[bytes], Any]
    quirks: Sequence[Quirk]
    """The quirks that change nothing for the reader."""
    quirk_turns: Sequence[str]
    """The turns that are read back from a recording with any quirk."""
    other_words: Collection[Quirk] = ()
    """The quirks with which a recording says something else."""
    recorded: Callable[[Turn], Any]
    """What a recorded reply can say of a turn."""
    read_back: Callable[[Turn], Any]
    """The same of a turn that was read from one."""
    is_ended: Callable[[Turn], bool] = lambda _: True
    """Whether the stream of a turn says that it is over, so that a recording of it can be read."""
    no_turn: Sequence[tuple[str, bool]]
    """Bodies that say no turn, and whether they are streams."""

    @property
    def name(self) -> str:
        """The word of the catalogue."""
        return self.wire.name

    def body(self, turn: Turn, framing: Framing = DEFAULT) -> dict[str, Any]:
        """The plain reply that is a numbered turn, the first of its run."""
        return self.wire.body(turn, 1, framing)

    def stream(self, turn: Turn, framing: Framing = DEFAULT) -> bytes:
        """The stream of a numbered turn, the first of its run, cut into pieces and joined again."""
        encoded = framing.encode(self.wire.events(turn, 1, framing), named=self.wire.named_events)
        return b"".join(framing.pieces(encoded))

    @property
    def named(self) -> dict[str, Turn]:
        """All the named turns."""
        return {**self.turns, **self.streamed_only}

    def is_plain(self, turn: Turn) -> bool:
        """Whether a plain reply can carry all of the turn, its arguments included."""
        return self.wire.can_say(Turn(turn.pieces), stream=False)

    def of_body(self, turn: Turn, framing: Framing = DEFAULT) -> Any:
        """What the wire reads from a recording of the plain reply."""
        text = json.dumps(self.body(turn, framing), ensure_ascii=framing.escaped)
        return self.read_back(self.wire.turn(text, False))

    def of_stream(self, turn: Turn, framing: Framing = DEFAULT) -> Any:
        """What the wire reads from a recording of the stream."""
        return self.read_back(self.wire.turn(self.stream(turn, framing).decode(), True))


@dataclass(frozen=True, kw_only=True)
class SecondOpinion:
    """An official SDK: its models, and what its client makes of a stream."""

    wire: Wire
    turns: Mapping[str, Turn]
    """Turns whose pieces the SDK has names for."""
    plain_only: Mapping[str, Turn]
    """Turns that it has models for in bodies only."""
    modelled: Mapping[str, Framing]
    """The named framings whose events are held to the models."""
    read: Mapping[str, Framing]
    """The named framings that the client reads."""
    any_turn: SearchStrategy[Turn]
    any_framing: SearchStrategy[Framing]
    can_read: Callable[[Framing], bool] = lambda _: True
    """Whether the client reads a framing at all."""
    undeclared_in_body: Callable[[Any], Any]
    """The members of a body that no model declares; empty: none. Raises where a value does not fit."""
    undeclared_in_events: Callable[[list[object]], Any]
    """The same of the events of a stream."""
    agrees: Callable[[Turn, Framing], None]
    """Asserts that the client comes to the turn that a stream was made from."""
    quirks: Sequence[Quirk]
    """The quirks that change nothing for the client."""
    quirk_turns: Sequence[str]
