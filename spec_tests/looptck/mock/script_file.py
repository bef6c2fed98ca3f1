"""Scripts in files: the vocabulary of the declared cases, with the faults of a service, in YAML or JSON.

What is wrong is told with its line and how to mend it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema_rs
import yaml

from looptck.bench.cases import cases, step_of
from looptck.catalogue import dialects
from looptck.catalogue.data import json_fixture
from looptck.catalogue.requirements import unknown
from looptck.catalogue.yaml_files import BadFile, faults, parse, parse_text, pointer
from looptck.mock.answers import Answer, broken, cut, errs, fails, says
from looptck.provider.script import Step
from looptck.values.frozen import dataclass

_SCHEMA = "script.schema.json"
MOST_FAULTS = 5


@dataclass(frozen=True, slots=True)
class Part:
    """The steps of one conversation."""

    when: str | None
    steps: tuple[Step, ...]
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class ScriptFile:
    """What a file says."""

    parts: tuple[Part, ...]
    dialect: str | None = None
    judges: bool = True


def read(path: Path) -> ScriptFile:
    """The script in a file. Raises BadFile where it is none, with the lines and how to mend them."""
    content = parse(path, foreign=True)
    return _script(path, content, path.read_text(encoding="utf-8"))


def read_text(name: str, text: str) -> ScriptFile:
    """The script in a text. Raises BadFile, as `read` does."""
    path = Path(name)
    return _script(path, parse_text(path, text, foreign=True), text)


def of_case(name: str) -> ScriptFile:
    """The script of a declared case of the kit. Raises ValueError where there is no such case."""
    if name not in cases():
        raise ValueError(unknown("case", name, list(cases())))
    return ScriptFile((Part(None, cases()[name].steps),))


def _script(path: Path, content: Any, text: str) -> ScriptFile:
    wrong = [*islice(_faults(path, content, text), MOST_FAULTS + 1)]
    if wrong:
        more = ["and more"] if len(wrong) > MOST_FAULTS else []
        raise BadFile(path, "\n".join(["is no script:", *(f"  {line}" for line in (*wrong[:MOST_FAULTS], *more))]))
    if (dialect := content.get("dialect")) is not None and dialect not in dialects.names():
        raise BadFile(path, f"line {_line(text, ['dialect'])}: {unknown('dialect', dialect, dialects.names())}")
    parts = [
        _part(path, one, text, ["conversations", place]) for place, one in enumerate(content.get("conversations", ()))
    ]
    if "script" in content:
        parts.append(_part(path, content, text, []))
    return ScriptFile(tuple(parts), dialect, content.get("judge", True))


def _part(path: Path, written: Mapping[str, Any], text: str, where: list[Any]) -> Part:
    steps = _steps(path, written["script"], text, [*where, "script"])
    return Part(written.get("when"), steps, written.get("repeat", False))


def _steps(path: Path, steps: Sequence[Any], text: str, where: list[Any]) -> tuple[Step, ...]:
    made = []
    for place, step in enumerate(steps):
        try:
            made.append(_answer(path, step).step)
        except (BadFile, ValueError) as error:
            what = error.what if isinstance(error, BadFile) else str(error)
            raise BadFile(path, f"line {_line(text, [*where, place])}: {what}") from error
    return tuple(made)


def _answer(path: Path, written: str | Mapping[str, Any]) -> Answer:
    """The answer that is written as a step. Raises ValueError and BadFile where it cannot be sent."""
    if isinstance(written, str):
        return says(written)
    if "fails" in written:
        if len(written) > 1:
            raise ValueError("a step that fails says nothing else; leave out the other members")
        return fails(**written["fails"])
    answer = Answer(step_of(path, {key: value for key, value in written.items() if key not in _FAULTS}))
    found = [key for key in _FAULTS if key in written]
    if len(found) > 1:
        raise ValueError(f"a step has one fault; leave out {' or '.join(found)}")
    for fault in found:
        answer = _FAULTS[fault](answer, written[fault])
    return answer


_FAULTS: Mapping[str, Callable[[Answer, Any], Answer]] = {"cut": cut, "errs": errs, "broken": broken}
"""The members of a step that say how its turn is broken."""


@cache
def _validator() -> jsonschema_rs.Validator:
    return jsonschema_rs.validator_for(json_fixture(_SCHEMA))


def _faults(path: Path, content: Any, text: str) -> Iterator[str]:
    """What the schema does not allow, each with its line and how to mend it."""
    for error in faults(path, content, _validator()):
        place = list(error.instance_path)
        yield f"line {_line(text, place)}, {pointer(place)}: {error.message}{_mend(error, content)}"


def _mend(error: Any, content: Any) -> str:
    """How to mend it, if that can be told."""
    names = getattr(error.kind, "unexpected", None)
    schema: Any = json_fixture(_SCHEMA)
    if not names:
        return ""
    known = list(_at(schema, list(error.schema_path)[:-1]).get("properties", {}))
    near = {name: get_close_matches(name, known, n=1, cutoff=0.5) for name in names}
    told = [f"write {found[0]!r} for {name!r}" for name, found in near.items() if found]
    return f"; {' and '.join(told)}" if told else f"; known are {', '.join(known)}"


def _at(schema: Any, path: Sequence[Any]) -> Any:
    here = schema
    for step in path:
        here = here[int(step) if isinstance(here, list) else step]
        while "$ref" in here:
            here = _at(schema, here["$ref"].split("/")[1:])
    return here


def _line(text: str, place: Sequence[Any]) -> int:
    """The line of a place in a file, from 1."""
    node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    for step in place:
        if isinstance(node, yaml.MappingNode):
            node = next((value for key, value in node.value if key.value == str(step)), node)
        elif isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
            node = node.value[step]
    return int(node.start_mark.line) + 1 if node is not None else 1
