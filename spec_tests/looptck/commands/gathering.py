"""Gathers what the processes of a run come to: the record is in the end what one process would have written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from looptck.drivers import DriverFault
from looptck.suite.parts import take, take_faults
from looptck.suite.record import Record
from looptck.values.spent import Spent
from looptck.values.verdicts import Result


class Gathering:
    """What the processes that play a run between them have sent so far."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self._parts: dict[str, dict[str, Any]] = {}
        """What the processes have come to so far, or in all, by their names."""
        self.ids: Sequence[str] = ()
        """What there is to play, by pytest's ids, in the order in which one process would."""
        self._crashes: list[str] = []
        """How processes have ended, and during which checks."""
        self._idle_crashes: list[str] = []
        """The same of those that played none."""
        self.why: str | None = None
        """Why a process could not play at all."""

    def news(self, name: str, news: Mapping[str, Any]) -> None:
        """Take in what a process has added."""
        part = self._parts.setdefault(name, {"results": [], "findings": [], "answers": []})
        before = len(part["results"])
        part["results"] += news["results"]
        part["findings"] += [one | {"result": one["result"] + before} for one in news["findings"]]
        part["answers"] += news["answers"]
        part["judged"] = news["judged"]
        self.record.judged = sum(one.get("judged", 0) for one in self._parts.values())
        for one in news["results"]:
            self.record.add(Result(**one), noticed=True)  # the process has counted it

    def whole(self, name: str, part: dict[str, Any]) -> None:
        """Take in the whole of a process that has ended."""
        self._parts[name] = part

    def crashed(self, during: str = "", how: str = "has ended") -> None:
        """Note that a process has crashed during a check, by pytest's id; ``how``: in words."""
        if during:
            self._crashes.append(f"{how} during {during.partition('[')[2].removesuffix(']')}")
        else:
            self._idle_crashes.append(how)

    def finish(self) -> None:
        """Put the parts together, in place of what came in on the way."""
        record = self.record
        record.has_lost = bool(self._crashes or self._idle_crashes)
        for crash in self._crashes or self._idle_crashes[:1]:
            detail = f"a process of the run that ran {record.driver} {crash}"
            record.faults.append(DriverFault("crashed", detail))
        record.results.clear()
        record.spent = Spent()
        for part in self._parts.values():
            take(record, part)
            take_faults(record, {"faults": part.get("faults", [])})
            record.spent.add(Spent.of(part["spent"]) if "spent" in part else Spent())
            record.sampled += [tuple(one) for one in part.get("sampled", ())]
        record.judged = sum(one["judged"] for one in self._parts.values())
        whole = [part for part in self._parts.values() if "offered" in part]
        for part in whole[:1]:
            record.offered = part["offered"]
            record.left_out = [tuple(one) for one in part["left_out"]]

    def in_order(self, junit: str) -> str:
        """JUnit XML with the test cases in the order in which one process would play."""
        places = {(Path(id.partition("::")[0]).stem, id.rpartition("::")[2]): n for n, id in enumerate(self.ids)}
        root = ET.fromstring(junit)  # noqa: S314  pytest has written it
        for suite in root.iter("testsuite"):
            suite[:] = sorted(suite, key=lambda case: places.get(_named(case), len(places)))
        return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _named(case: ET.Element) -> tuple[str, str]:
    """The module and the name of a test case in JUnit XML."""
    return case.get("classname", "").rpartition(".")[2], case.get("name", "")
