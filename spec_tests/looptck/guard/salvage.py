"""What a command came to that did not live to report it: the verdicts of its journal, as text, JSON and JUnit XML."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from looptck.guard.folder import Folder

_ILLEGAL = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
AGAINST = ("fail", "not-reached")
LONGEST = 300
"""The most characters of a reason that are printed."""
VERDICTS = ("pass", "fail", "not-reached", "not-applicable", "error", "divergence")


@dataclass(slots=True)
class _Journal:
    """What a journal says."""

    began: dict[str, Any] = field(default_factory=dict)
    """The driver, and the files that the results were to be written to."""
    head: dict[str, Any] = field(default_factory=dict)
    """The members of the JSON that are known before the first check."""
    chosen: int = 0
    """How many checks were to be judged."""
    judged: int = 0
    """How many of them have a verdict."""
    at: str = ""
    """The check that was begun last."""
    results: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, folder: Folder) -> _Journal:
        """Read the journal of a folder."""
        found = cls()
        for line in folder.journal():
            kind = line.pop("kind")
            if kind == "began":
                found.began = line
            elif kind == "head":
                found.head = line
            elif kind == "chosen":
                found.chosen = int(line["checks"])
            elif kind == "check":
                found.at = line["check"]
            elif kind == "result":
                found.judged = line.pop("judged")
                found.results.append(line)
        return found

    @property
    def unfinished(self) -> int:
        """How many of the chosen checks have no verdict."""
        return self.chosen - self.judged


def salvage(folder: Folder, end: str, words: Sequence[str], status: int) -> int:
    """Report on a command whose process has ended without saying that it had finished.

    Args:
        folder: the command's folder.
        end: how the process ended, in words.
        words: the command line, as far as the shell's ``looptck``.
        status: the exit status to return.
    """
    found = _Journal.of(folder)
    driver = found.began.get("driver") or ("the reference" if found.began else "the command")
    during = f" during {found.at}" if found.at else ""
    why = f"the process that ran {driver} {end}{during}: the driver, the loop, a library or the system ended it"
    lines = [f"looptck could not run: {why}"]
    if found.results:
        counts = Counter(one["verdict"] for one in found.results)
        told = " · ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS if counts[verdict])
        lines += _failed(found.results)
        lines.append(f"Until then: {told}; without a verdict: {found.unfinished}.")
    if not found.began:
        lines.append(f"The command was: {shlex.join(['looptck', *words])}")
    lines += _written(found, why)
    text = "\n".join(lines) + "\n"
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, ValueError):
        sys.stderr.write(text)
    return status


def _failed(results: Sequence[dict[str, Any]]) -> list[str]:
    """A line for each requirement that has failed, with its cells and the first reason."""
    failed: dict[str, list[dict[str, Any]]] = {}
    for one in results:
        if one["verdict"] in AGAINST:
            failed.setdefault(one["requirement"], []).append(one)
    lines = []
    for requirement, those in failed.items():
        cells = ", ".join(dict.fromkeys(one["cell"] for one in those))
        lines.append(f"FAIL  {requirement}  [{cells}]  {those[0]['reason'][:LONGEST]}")
    return lines


def _written(found: _Journal, why: str) -> list[str]:
    lines = []
    for key, text in (("json_file", _json), ("junit", _junit)):
        if (path := found.began.get(key)) is not None:
            try:
                Path(path).write_text(text(found, why), encoding="utf-8")
            except OSError as error:
                lines.append(f"{path} cannot be written: {error.strerror}")
    return lines


def _json(found: _Journal, why: str) -> str:
    counts = Counter(one["verdict"] for one in found.results)
    document = {
        "looptck": found.began["looptck"],
        "driver": found.began.get("driver") or "",
        "implementation": dict.fromkeys(("name", "version", "language"), "")
        | {key: [] for key in ("wires", "modes", "profiles", "capabilities")}
        | {"dialect": None},
        **found.head,
        "summary": {verdict: counts[verdict] for verdict in VERDICTS},
        "results": found.results,
        "driver_faults": [{"kind": "crashed", "detail": why, "run": None, "stderr": ""}],
        "stale_known_failures": [],
        "unfinished": {"checks": found.unfinished, "questions": 0},
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _junit(found: _Journal, why: str) -> str:
    """One test case for each verdict, and one that is an error: the run itself."""
    counts = Counter(one["verdict"] for one in found.results)
    suite = ET.Element("testsuite", name="looptck", tests=str(len(found.results) + 1))
    suite.set("failures", str(counts["fail"] + counts["not-reached"]))
    suite.set("errors", str(counts["error"] + 1))
    suite.set("skipped", str(counts["not-applicable"]))
    for one in found.results:
        case = ET.SubElement(suite, "testcase", classname=one["requirement"], name=f"{one['case']} [{one['cell']}]")
        kind = {"fail": "failure", "not-reached": "failure", "error": "error", "not-applicable": "skipped"}
        if one["verdict"] in kind:
            ET.SubElement(case, kind[one["verdict"]], message=_legal(str(one["reason"])))
    whole = ET.SubElement(suite, "testcase", classname="looptck", name="the run")
    ET.SubElement(whole, "error", message=_legal(why))
    root = ET.Element("testsuites")
    root.append(suite)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _legal(text: str) -> str:
    """A text without the characters that XML 1.0 does not allow."""
    return _ILLEGAL.sub("?", text)
