"""Faults of theme 1: what loops do with streams of Chat as compatible servers write them."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_stream
from chat_stream import Assembly, StreamedChat

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json


class DriverNullName(chat_stream.Driver):
    """A later piece of a call with `name: null` ends the run with a TypeError."""

    class loop(StreamedChat):
        """Streams with a name that may not be null."""

        class assembly(Assembly):
            """Takes a name that is null for a text: the default of `get` is for absent members only."""

            def on_function(self, function: Json, piece: Json) -> None:
                if (name := piece.get("name", "")) != function["name"]:
                    function["name"] = function["name"] + name
                super().on_function(function, {key: value for key, value in piece.items() if key != "name"})


class DriverRepeatedName(chat_stream.Driver):
    """A name that each piece repeats becomes one long name, which no tool has."""

    class loop(StreamedChat):
        """Streams with names that grow."""

        class assembly(Assembly):
            """Appends every name that comes, as it does with arguments."""

            def on_name(self, function: Json, name: str) -> None:
                function["name"] += name


class DriverNoIndex(chat_stream.Driver):
    """Several calls without index become one, with two names and two sets of arguments."""

    class loop(StreamedChat):
        """Streams in which an index tells calls apart, and nothing else does."""

        class assembly(Assembly):
            """Puts a piece without index into the call that was opened last, whatever its id is."""

            def call_of(self, piece: Json) -> Json:
                slot: Any = piece.get("index")
                if slot is None and self.calls:
                    return self.calls[-1]
                return super().call_of(piece)
