"""``looptck record``: cases, wires and modes one after the other, a line of progress for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from looptck.cases import Case, cases
from looptck.cassettes.dialects import Dialect, dialect
from looptck.cassettes.scenario import kept_case
from looptck.catalogue import unknown
from looptck.data import cassette
from looptck.recording.children import ChildFailed
from looptck.recording.files import draft
from looptck.recording.takes import NotRecorded, Slate, Take, take
from looptck.recording.tape import Tape, tape
from looptck.recording.upstreams import NoUpstream, Upstream, upstream
from looptck.wires import WIRES
from looptck.yamlfile import BadFile

FEWEST = 16
"""Tokens: Responses refuses a request for fewer."""


class CouldNotRecord(Exception):
    """Nothing was recorded; the text says why."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a person asked for; what is empty or None is all, or the usual."""

    upstream: str
    model: str | None = None
    name: str | None = None
    dialect: str = ""
    wires: Sequence[str] = ()
    scenarios: Sequence[str] = ()
    mode: str | None = None
    update: bool = False
    into: Path | None = None
    timeout: float = 120.0


def record(wanted: Wanted, say: Callable[[str], None]) -> int:
    """Record what is wanted; 0: all of it is as it should be, 1: some of it is not.

    Raises:
        CouldNotRecord: with the reason in words.
    """
    counts: Counter[str] = Counter()
    try:
        chosen = _scenarios(wanted.scenarios)
        into = wanted.into or _of_the_project()
        with (
            upstream(wanted.upstream, wanted.model, wanted.name, wanted.dialect) as server,
            tape(server.base_url, wanted.timeout) as taped,
        ):
            known = dialect(server.dialect)
            for slate in _slates(chosen, wanted, server):
                reason = _silent(slate, server, known)
                what, *told = ("skipped", reason) if reason else _recorded(slate, server, taped, wanted, into)
                counts[what] += 1
                say("\n    ".join([f"{slate}  {what}: {told[0]}", *told[1:]]))
    except (BadFile, NoUpstream, ChildFailed) as error:
        raise CouldNotRecord(str(error)) from error
    if not counts:
        raise CouldNotRecord("nothing is left to record: no scenario is for a wire that was asked for and is spoken")
    say(" · ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["failed"] or counts["differs"] else 0


def _recorded(slate: Slate, server: Upstream, taped: Tape, wanted: Wanted, into: Path) -> Sequence[str]:
    """What became of it: a word, what there is to say of it, and what is not the same as before, a line each."""
    try:
        one = take(slate, server, taped, wanted.timeout)
        with draft(str(slate), one, into) as new:
            told = _told(one, kept=kept_case(new.cassette) is not None)
            what, differences = new.keep(into / str(slate), update=wanted.update)
    except NotRecorded as error:
        return ["failed", str(error)]
    except BadFile as error:
        return ["failed", f"would be no cassette: {error.what}"]
    if what == "differs":
        told = "from what is there, which --update would overwrite"
    elif what == "unchanged":
        told = "says the same as what is there"
    return [what, told, *differences]


def _told(take: Take, *, kept: bool) -> str:
    chunks = sum(len(reply.ends) for reply in take.chunks)
    told = [f"{len(take.interactions)} requests", f"{chunks} chunks" if chunks else ""]
    told += ["broken off" if take.interactions[-1].broken else "" if kept else "not what the script says"]
    return ", ".join(filter(None, told))


def _scenarios(names: Sequence[str]) -> list[Case]:
    known = {name: case for name, case in sorted(cases().items()) if case.record is not None}
    for name in names:
        if name not in known:
            raise CouldNotRecord(unknown("scenario", name, list(known)))
    return [known[name] for name in names or known]


def _slates(chosen: Sequence[Case], wanted: Wanted, server: Upstream) -> Iterator[Slate]:
    modes = (wanted.mode,) if wanted.mode else ("plain", "stream")
    for wire in wanted.wires or server.wires:
        for case in chosen:
            if wire in server.wires and wire in case.wires:
                yield from (Slate(case, wire, mode == "stream") for mode in modes)


def _silent(slate: Slate, server: Upstream, known: Dialect | None) -> str:
    """Why the wire or the server cannot say the case, in words; ``""`` where they can."""
    case, wire = slate.case, WIRES[slate.wire]
    for n, step in enumerate(case.steps, 1):
        if step.turn is not None and not wire.can_say(step.turn, stream=slate.stream):
            return f"{wire.name} has no words for turn {n}"
    if wire.name == "openai-responses":
        if case.record and case.record.stop:
            return f"{wire.name} takes no stop sequences"
        for n, step in enumerate(case.steps):
            if server.tokens and step.turn and step.turn.stop == "length" and server.tokens[case.name][n] < FEWEST:
                return f"{wire.name} cuts no turn as short as {server.tokens[case.name][n]} tokens"
    return (known and known.silent(wire.name, case.name, stream=slate.stream)) or ""


def _of_the_project() -> Path:
    """The folder of the project's own cassettes, where there is a checkout."""
    folder = cassette("")
    if not (folder.parent / "pyproject.toml").is_file():
        raise CouldNotRecord("--into is missing: outside of a checkout there is no folder that is meant for cassettes")
    return folder
