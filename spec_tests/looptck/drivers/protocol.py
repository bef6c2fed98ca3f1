"""The driver protocol: version, schemas in both directions, and the declaration of a driver."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import field
from functools import cache
from typing import Any, Literal

import jsonschema_rs

from looptck.catalogue.data import json_fixture
from looptck.catalogue.wrongs import wrong
from looptck.values.answer_tool import AnswerTool
from looptck.values.frozen import dataclass
from looptck.values.printable import printable
from looptck.values.team import AgentTool

VERSION = 1

Direction = Literal["to-driver", "from-driver"]


def complaint(direction: Direction, message: object) -> str | None:
    """Why the schema refuses a message, with the place in it; None if it accepts the message."""
    if not isinstance(message, dict):
        return "a message is a JSON object"
    kind = message.get("type")
    validators = _validators(direction)
    if not isinstance(kind, str) or kind not in validators:
        return f"type is {kind!r}, not one of {', '.join(sorted(validators))}"
    validator = validators[kind]
    try:
        json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # JSON can escape it, but it cannot be encoded
        return "it contains half of a surrogate pair, which is not a character"
    except (TypeError, ValueError, RecursionError) as error:  # from a driver in this process, which sends no JSON text
        return f"it is not JSON: {error}"
    if validator.is_valid(message):
        return None
    errors = [inner for error in validator.iter_errors(message) for inner in _of_its_kind(error)]
    return "; ".join(_worded(error, _schema(direction, kind)) for error in errors)


def _of_its_kind(error: jsonschema_rs.ValidationError) -> Iterator[jsonschema_rs.ValidationError]:
    """The errors of an outcome or event as one of its kind; the error itself where it is of no kind that there is."""
    found = error.kind
    if not isinstance(found, jsonschema_rs.ValidationErrorKind.OneOfNotValid):
        yield error
        return
    place = [*error.instance_path, "kind"]
    kinds = [one for one in found.context if all([*inner.instance_path] != place for inner in one)]
    yield from kinds[0] if len(kinds) == 1 else [error]


def _worded(error: jsonschema_rs.ValidationError, schema: Mapping[str, Any]) -> str:
    place = "".join(f"/{part}" for part in error.instance_path)
    return f"{place or 'the message'}: {wrong(error, schema)}"


@cache
def _validators(direction: Direction) -> dict[str, jsonschema_rs.Validator]:
    branches = json_fixture(f"protocol/{direction}.schema.json")["oneOf"]
    kinds = [branch["$ref"].rpartition("/")[2] for branch in branches]
    return {kind: jsonschema_rs.validator_for(_schema(direction, kind)) for kind in kinds}


@cache
def _schema(direction: Direction, kind: str) -> dict[str, Any]:
    """The schema of a kind of message."""
    return {"$ref": f"#/$defs/{kind}", "$defs": json_fixture(f"protocol/{direction}.schema.json")["$defs"]}


PLAIN = "plain"
"""The capability to ask for plain replies; only a loop that always streams lacks it."""
SERVER_LOOP = "server-loop"
"""The profile of servers that run the loop themselves: they take requests, not cases."""
AGENT_LOOP = "agent-loop-010"
"""The profile of loops whose model writes Solutions instead of tool calls."""
AGENT_MODE = "prompty-agent-mode"
"""The profile of the Agent Mode guide, whose agent files have a form of their own."""
PROGRAM = "program"
"""The profile of whole programs, which run tools of their own and write their answer to standard output."""
ALONE = frozenset({SERVER_LOOP, AGENT_LOOP, PROGRAM})
"""The standalone profiles: an implementation that claims one is judged by its claimed profiles and not by ``core``, and
only such an implementation is judged by the profile."""


LONGEST_NAME = 200
"""The most characters of a name or version that are kept."""


@dataclass(frozen=True, slots=True)
class Started:
    """The declaration of a driver: what the implementation is and can do."""

    name: str
    version: str
    language: str
    wires: tuple[str, ...]
    modes: tuple[str, ...]
    profiles: tuple[str, ...]
    capabilities: Mapping[str, bool]
    dialect: Mapping[str, Any]
    answer: AnswerTool | None = None
    """The tool by whose call alone it takes an answer; None: it takes a text."""
    agent_tools: Mapping[str, AgentTool] = field(default_factory=dict)
    """The tools by which its agents call on each other, by the way, where requests do not show them."""

    @classmethod
    def from_message(cls, message: Mapping[str, Any]) -> Started:
        """From a ``started`` message that the schema has accepted."""
        return cls(
            name=printable(message["name"], LONGEST_NAME),
            version=printable(message["version"], LONGEST_NAME),
            language=printable(message["language"], LONGEST_NAME),
            wires=tuple(message["wires"]),
            modes=tuple(message["modes"]),
            profiles=tuple(message["profiles"]),
            capabilities=message["capabilities"],
            dialect=message.get("dialect", {}),
            answer=AnswerTool.of(message["answer"]) if "answer" in message else None,
            agent_tools={way: AgentTool.of(one) for way, one in message.get("agent_tools", {}).items()},
        )

    @property
    def claimed(self) -> tuple[str, ...]:
        """The profiles that judge it: ``core`` and its own, or only its own if one of them is standalone."""
        return self.profiles if self.alone else ("core", *self.profiles)

    @property
    def alone(self) -> bool:
        """Whether only the profiles that it claims judge it."""
        return not ALONE.isdisjoint(self.profiles)

    def reads_guide(self, profile: str) -> bool:
        """Whether the agent files of this profile's cases have the form of the Agent Mode guide."""
        return profile == AGENT_MODE and self.dialect.get("agent_files") != "lists"

    @property
    def joins_rounds(self) -> bool:
        """Whether its answer is the text of all rounds of a run, and not of the last one alone."""
        return self.dialect.get("answer_text") == "all-rounds"

    def follows(self, profile: str) -> bool:
        """Whether its behaviour is always that of a profile, and not only in cases that name the profile."""
        return profile in self.profiles and self.dialect.get("profiles") != "apart"

    @property
    def is_program(self) -> bool:
        """Whether it is a whole program, judged with a tool of its own."""
        return PROGRAM in self.profiles

    @property
    def serves(self) -> bool:
        """Whether it is a server that runs the loop itself."""
        return SERVER_LOOP in self.profiles

    def can(self, capability: str) -> bool:
        """Whether a capability is declared; `PLAIN` is present by default."""
        return self.capabilities.get(capability, capability == PLAIN)

    def serializable(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "name": self.name,
            "version": self.version,
            "language": self.language,
            "wires": list(self.wires),
            "modes": list(self.modes),
            "profiles": list(self.profiles),
            "capabilities": dict(self.capabilities),
            "dialect": dict(self.dialect),
            **({} if self.answer is None else {"answer": self.answer.serializable()}),
            **(
                {"agent_tools": {way: one.serializable() for way, one in self.agent_tools.items()}}
                if self.agent_tools
                else {}
            ),
        }
