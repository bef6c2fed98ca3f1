"""``looptck record``: cases, wires and modes one after the other, a line of progress for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from looptck.bench.cases import Case, cases
from looptck.cassettes.deviations import ServerDeviations, server_deviations
from looptck.cassettes.playback import case_followed
from looptck.catalogue.data import cassette
from looptck.catalogue.requirements import unknown
from looptck.catalogue.yaml_files import BadFile
from looptck.commands.recording.capture import Capture, CaptureTarget, NotRecorded, capture
from looptck.commands.recording.children import ChildFailed
from looptck.commands.recording.files import draft
from looptck.commands.recording.traffic_log import TrafficLog, traffic_log
from looptck.commands.recording.upstreams import NoUpstream, Upstream, upstream
from looptck.values.frozen import dataclass
from looptck.values.plain import amount
from looptck.wires import WIRES

FEWEST = 16
"""Tokens: Responses refuses a request for fewer."""


class CouldNotRecord(Exception):
    """Nothing was recorded; the text gives the reason."""


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """The options of the command; empty or None means all, or the default."""

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


def record(options: RecordOptions, say: Callable[[str], None]) -> int:
    """Record; returns 0, or 1 if a recording failed or differs.

    Raises:
        CouldNotRecord: the message is the reason.
    """
    counts: Counter[str] = Counter()
    try:
        chosen = _scenarios(options.scenarios)
        into = options.into or _of_the_project()
        with (
            upstream(options.upstream, options.model, options.name, options.dialect) as server,
            traffic_log(server.base_url, options.timeout) as log,
        ):
            known = server_deviations(server.dialect)
            for target in _targets(chosen, options, server):
                reason = _why_unsupported(target, server, known)
                what, *summary = ("skipped", reason) if reason else _recorded(target, server, log, options, into)
                counts[what] += 1
                say("\n    ".join([f"{target}  {what}: {summary[0]}", *summary[1:]]))
    except (BadFile, NoUpstream, ChildFailed) as error:
        raise CouldNotRecord(str(error)) from error
    if not counts:
        raise CouldNotRecord("nothing is left to record: no scenario is for a chosen wire that the server has")
    say(" · ".join(f"{count} {what}" for what, count in counts.items()))
    return 1 if counts["failed"] or counts["differs"] else 0


def _recorded(
    target: CaptureTarget, server: Upstream, log: TrafficLog, options: RecordOptions, into: Path
) -> Sequence[str]:
    """The outcome in a word, a summary, and the differences from the old recording, a line each."""
    try:
        one = capture(target, server, log, options.timeout)
        with draft(str(target), one, into) as new:
            summary = _summary(one, kept=case_followed(new.cassette) is not None)
            what, differences = new.keep(into / str(target), update=options.update)
    except NotRecorded as error:
        return ["failed", str(error)]
    except BadFile as error:
        return ["failed", f"would not be a cassette: {error.what}"]
    if what == "differs":
        summary = "from the old recording, which --update would overwrite"
    elif what == "unchanged":
        summary = "equals the old recording"
    return [what, summary, *differences]


def _summary(capture: Capture, *, kept: bool) -> str:
    chunks = sum(len(reply.ends) for reply in capture.chunks)
    summary = [amount(len(capture.interactions), "request"), amount(chunks, "chunk") if chunks else ""]
    summary += ["broken off" if capture.interactions[-1].broken else "" if kept else "not what the script says"]
    return ", ".join(filter(None, summary))


def _scenarios(names: Sequence[str]) -> list[Case]:
    known = {name: case for name, case in sorted(cases().items()) if case.record is not None}
    for name in names:
        if name not in known:
            raise CouldNotRecord(unknown("scenario", name, list(known)))
    return [known[name] for name in names or known]


def _targets(chosen: Sequence[Case], options: RecordOptions, server: Upstream) -> Iterator[CaptureTarget]:
    modes = (options.mode,) if options.mode else ("plain", "stream")
    for wire in options.wires or server.wires:
        for case in chosen:
            if wire in server.wires and wire in case.wires:
                yield from (CaptureTarget(case, wire, mode == "stream") for mode in modes)


def _why_unsupported(target: CaptureTarget, server: Upstream, known: ServerDeviations | None) -> str:
    """Why the wire or the server cannot play the case; ``""`` if they can."""
    case, wire = target.case, WIRES[target.wire]
    for n, step in enumerate(case.steps, 1):
        if step.turn is not None and not wire.can_say(step.turn, stream=target.stream):
            return f"{wire.name} cannot express turn {n}"
    if wire.name == "openai-responses":
        if case.record and case.record.stop:
            return f"{wire.name} has no stop sequences"
        for n, step in enumerate(case.steps):
            if server.tokens and step.turn and step.turn.stop == "length" and server.tokens[case.name][n] < FEWEST:
                return f"{wire.name} cannot cut a turn at {server.tokens[case.name][n]} tokens"
    return (known and known.why_unsupported(wire.name, case.name, stream=target.stream)) or ""


def _of_the_project() -> Path:
    """The folder of the project's own cassettes, in a checkout."""
    folder = cassette("")
    if not (folder.parent / "pyproject.toml").is_file():
        raise CouldNotRecord("--into is missing: outside of a checkout there is no folder for cassettes")
    return folder
