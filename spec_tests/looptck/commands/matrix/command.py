"""``looptck matrix`` and ``looptck target``: all implementations of a folder for the site, or one for its verdicts."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from rich.text import Text

from looptck.catalogue.data import fixture
from looptck.catalogue.yaml_files import BadFile
from looptck.commands.matrix.environments import Environment, NotInstalled
from looptck.commands.matrix.kept import Kept, Made, entry, kept, try_out_kept
from looptck.commands.matrix.known import with_known
from looptck.commands.matrix.playing import Playing
from looptck.commands.matrix.targets import NoSuchTarget, Target, chosen, targets
from looptck.report.console import could_not_run, output_console
from looptck.report.site.building import Site, build, try_out
from looptck.suite.summary import kit_version
from looptck.suite.units import Shard
from looptck.values.frozen import dataclass
from looptck.values.verdicts import AGAINST

ROOT = fixture("").parent
"""The top of a checkout."""
TARGETS = ROOT / "spec_tests" / "targets"
ENVIRONMENTS = ROOT / ".tox" / "targets"
WHOLE = Shard(1, 1)
PAGES = {"Fairness": ROOT / "docs" / "fairness.md"}
"""Pages of the documentation that the site has too."""


@dataclass(frozen=True, slots=True)
class MatrixOptions:
    """What ``looptck matrix`` was asked for."""

    names: Sequence[str] = ()
    """Names or patterns of targets; none: all in their first way."""
    folder: Path = TARGETS
    results: Path = ROOT / ".tox" / "matrix"
    site: Path | None = None
    workers: int = 1
    shard: Shard = WHOLE
    again: bool = False
    """Whether targets are played whose results are current."""
    plays: bool = True
    """Whether anything is played at all."""
    longest: float = 3600.0
    options: Sequence[str] = ()


def matrix(options: MatrixOptions) -> int:
    """Play what is not current, and build the site of all that is kept; returns the exit status: 0, 1 or 2.

    1: a failure is not known, or an entry of the known failures is stale, or a target could not be run to its end.
    """
    console = output_console()
    try:
        known = targets(options.folder)
        by_name = {target.name: target for target in known}
        wanted = _part(chosen(known, options.names), options.shard)
        found = [_marked(one, by_name, options.results) for one in kept(options.results)]
        if options.plays:
            try_out_kept(options.results)
        if options.site is not None:
            try_out(options.site)
    except (NoSuchTarget, BadFile) as error:
        return could_not_run(console, str(error))
    current = {one.made: one for one in found if one.is_whole}
    playing = Playing(ENVIRONMENTS, options.results, options.options, options.longest, ROOT)
    clean, count = True, 0
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        for target, one, is_new in _played(wanted, playing, current, options):
            clean &= _is_clean(one)
            count += 1
            console.print(_line(target, one, is_new=is_new), soft_wrap=True)
    except KeyboardInterrupt:
        return could_not_run(console, "it was interrupted; what is kept stays, and is not played again")
    finally:
        signal.signal(signal.SIGTERM, before)
    if options.site is not None:
        try:
            entries = [entry(one, by_name) for one in kept(options.results)]
            pages = {title: path.read_text(encoding="utf-8") for title, path in PAGES.items() if path.is_file()}
            made = build(Site(entries, kit_version(), pages), options.site)
        except BadFile as error:
            return could_not_run(console, str(error))
        console.print(f"{len(made)} pages: {options.site / 'index.html'}", markup=False, soft_wrap=True)
    if options.plays and not count:
        return could_not_run(console, "nothing was played, and nothing that is kept is current")
    return 0 if clean else 1


def play(names: Sequence[str], folder: Path, command: str, words: Sequence[str]) -> int:
    """Play targets one after the other with ``looptck run`` or ``smoke``, as they print; returns the exit status."""
    console = output_console()
    try:
        wanted = chosen(targets(folder), names)
    except (NoSuchTarget, BadFile) as error:
        return could_not_run(console, str(error))
    clean = True
    for target in wanted:
        console.print(f"== {target.name}", markup=False, soft_wrap=True)
        environment = Environment(target, ENVIRONMENTS)
        try:
            environment.install()
        except NotInstalled as error:
            could_not_run(console, str(error))
            clean = False
            continue
        environment.folder.mkdir(parents=True, exist_ok=True)
        results = ["--json", str(environment.folder / "results.json")] if command == "run" else []
        line = [*environment.words(command), *results, *words]
        clean &= subprocess.run(line, env=os.environ | environment.variables, check=False).returncode == 0
    return 0 if clean else 1


def _part(wanted: Sequence[Target], shard: Shard) -> list[Target]:
    """Every N-th target, so that the variants of one installation are spread."""
    return list(wanted[shard.number - 1 :: shard.of])


def _marked(one: Kept, known: Mapping[str, Target], folder: Path) -> Kept:
    """What is kept, with the failures that are known today, if its target has not changed; a change is written."""
    target = known.get(one.made.target)
    if target is None or target.digest != one.made.digest:
        return one
    marked = with_known(one, target)
    if marked != one:
        marked.write(folder)
    return marked


def _played(
    wanted: Sequence[Target], playing: Playing, current: Mapping[Made, Kept], options: MatrixOptions
) -> Iterator[tuple[Target, Kept, bool]]:
    """What there is of each target, played now or before, as it comes; variants of one installation come together."""
    left: list[Target] = []
    for target in wanted:
        one = current.get(playing.made_from(target))
        if one is not None and not options.again:
            yield target, one, False
        elif options.plays:
            left.append(target)
    by_place: dict[str, list[Target]] = {}
    for target in left:
        by_place.setdefault(target.installed, []).append(target)
    with ThreadPoolExecutor(options.workers) as pool:
        waiting = [pool.submit(_all_of, alike, playing) for alike in by_place.values()]
        try:
            for done in as_completed(waiting):
                yield from ((target, one, True) for target, one in done.result())
        except BaseException:
            playing.stop()
            pool.shutdown(cancel_futures=True)
            raise


def _all_of(alike: Iterable[Target], playing: Playing) -> list[tuple[Target, Kept]]:
    return [(target, playing.play(target)) for target in alike]


def _is_clean(one: Kept) -> bool:
    """Whether a run has come to its end with only failures that are known, none stale, and no fault of the driver."""
    if one.run is None or not one.is_whole:
        return False
    unknown = [row for row in one.run["results"] if row["verdict"] in AGAINST | {"error"} and "known" not in row]
    return not (unknown or one.run["stale_known_failures"] or one.run["driver_faults"])


def _line(target: Target, one: Kept, *, is_new: bool) -> Text:
    if one.run is None:
        return Text(f"{target.name}: {one.why_not}", style="bold red")
    rows = one.run["results"]
    against = [row for row in rows if row["verdict"] in AGAINST]
    unknown = sum("known" not in row for row in against)
    parts = [f"{one.run['summary']['pass']} pass", f"{len(against)} against", f"{unknown} of them not known"]
    if stale := len(one.run["stale_known_failures"]):
        parts.append(f"{stale} stale")
    if faults := one.run["summary"]["error"] + len(one.run["driver_faults"]):
        parts.append(f"{faults} faults of the driver")
    if not one.is_whole:
        parts.append("cut short")
    took = f"{one.seconds:.0f} s" if is_new else "kept"
    return Text(f"{target.name} {one.version}: {', '.join(parts)} ({took})", style="" if _is_clean(one) else "yellow")
