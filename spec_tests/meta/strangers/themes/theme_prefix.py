"""Faults of theme 6: what loops change in the beginning of a request that the service has seen before."""

# mypy: disable-error-code="import-not-found, misc, no-any-return"

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import chat_plain
import messages_stream
import responses_plain
from chat_plain import Chat
from messages_stream import Talk
from responses_plain import Run

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python"))

from handlers import Json, read_arguments


class DriverRecentFirst(chat_plain.Driver):
    """The order of the tools changes from request to request."""

    class loop(Chat):
        """Offers the tool that was used last first, in the hope that the model likes it again."""

        def __post_init__(self) -> None:
            super().__post_init__()
            self.used: list[Any] = []

        def offers(self) -> list[Json]:
            return sorted(
                super().offers(),
                key=lambda offer: (
                    self.used.index(offer["function"]["name"])
                    if offer["function"]["name"] in self.used
                    else len(self.used)
                ),
            )

        def result(self, call: Json) -> Json:
            self.used.insert(0, (call.get("function") or {}).get("name"))
            return super().result(call)


class DriverClock(messages_stream.Driver):
    """The system prompt of each request differs from the last."""

    class talk(Talk):
        """Tells the model what time it is, in each request anew."""

        def system(self) -> str:
            return f"{super().system()}\n\nThe current time is {datetime.now(UTC).isoformat()}.".strip()


class DriverTidyArguments(responses_plain.Driver):
    """Arguments go back with other blanks and another order of keys than the model wrote."""

    class steps(Run):
        """Keeps the arguments of calls as objects, and writes them anew."""

        def kept(self, output: list[Json]) -> list[Json]:
            return [
                item | {"arguments": self.tidied(item["arguments"])} if "arguments" in item else item for item in output
            ]

        def tidied(self, raw: Any) -> Any:
            try:
                return json.dumps(read_arguments(raw), sort_keys=True)
            except ValueError:
                return raw
