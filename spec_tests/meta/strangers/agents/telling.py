"""Right loops with several agents: what becomes of calls beside a handoff is told elsewhere, and tasks lie deeper."""

# mypy: disable-error-code="has-type, import-not-found, misc, no-any-return"

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, ClassVar

sys.path.insert(0, str(Path(__file__).resolve().parent))

from team import Driver, Json, Team

LEFT = "Not done, since the conversation goes to another agent."


class AloneTeam(Team):
    """A handoff leaves the calls beside it undone, and the next agent gets words alone."""

    def round(self, history: list[Json], calls: list[Json]) -> None:
        over = next((call for call in calls if self.target(call) is not None), None)
        self.left = [] if over is None else [call for call in calls if self.target(call) is None]
        super().round(history, calls if over is None else [call for call in calls if call not in self.left])

    def hand_over(self, target: str, history: list[Json]) -> None:
        super().hand_over(target, history)
        said = [one for one in history if one["role"] in ("user", "assistant")]
        history[:] = [one for one in said if "tool_calls" not in one]


class TellsTheCaller(Driver):
    """A right loop: an event tells the caller of a call beside a handoff that it was left undone."""

    able: ClassVar[Any] = {**Driver.able, "events": True}

    def run(self, case: Any, emit: Any) -> Any:
        class team(AloneTeam):
            def round(self, history: list[Json], calls: list[Json]) -> None:
                for call in calls:
                    emit({"kind": "call", "call_id": call["id"], "name": call["function"]["name"]})
                super().round(history, calls)
                for call in calls:
                    told = {"result": LEFT, "failed": True} if call in self.left else {}
                    emit({"kind": "result", "call_id": call["id"], **told})

        self.team = team
        return super().run(case, emit)


class TellsInWords(Driver):
    """A right loop: the next agent is told in words of a call that was left undone."""

    class team(AloneTeam):
        def hand_over(self, target: str, history: list[Json]) -> None:
            super().hand_over(target, history)
            names = [call["function"]["name"] for call in self.left]
            history += [{"role": "user", "content": f"({name}: {LEFT})"} for name in names]


class ListTeam(Team):
    """A sub-agent is asked with a list of messages."""

    def asking(self, target: str) -> Json:
        spoken: Json = {
            "type": "object",
            "properties": {"role": {"type": "string", "enum": ["user"]}, "content": {"type": "string"}},
            "required": ["role", "content"],
        }
        several = {"type": "object", "properties": {"messages": {"type": "array", "items": spoken}}}
        about = self.members[target]["description"]
        return self.offer({"name": f"ask_{target}", "description": about, "parameters": several})

    def called(self, call: Json) -> tuple[str, str] | None:
        if not call["function"]["name"].startswith("ask_"):
            return None
        said = json.loads(call["function"]["arguments"]).get("messages", [])
        return call["function"]["name"].removeprefix("ask_"), "\n".join(one["content"] for one in said)


class AskedWithAList(Driver):
    """A right loop: an agent is called with a list of messages."""

    team = ListTeam
