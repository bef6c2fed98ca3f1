"""``looptck merge``: the results of a run from those of its shards."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from looptck.catalogue.yaml_files import BadFile
from looptck.guard.folder import COULD_NOT_RUN
from looptck.report.console import could_not_run, output_console
from looptck.report.files import unwritable, write_all
from looptck.report.results import read_json
from looptck.report.terminal import Terminal
from looptck.suite.shards import NoWhole, whole
from looptck.suite.summary import as_json, exit_status


def merge(files: Sequence[Path], *, json_file: Path | None, quiet: bool) -> int:
    """Print the report of the whole run, and write its results; returns the run's exit status, or 2."""
    console = output_console()
    if (wrong := unwritable([json_file])) is not None:
        return could_not_run(console, wrong)
    try:
        record = whole({path: read_json(path) for path in files})
    except (BadFile, NoWhole) as error:
        return could_not_run(console, str(error))
    Terminal(console, record, quiet=quiet).finish()
    lost = write_all({json_file: as_json(record)} if json_file else {}, console)
    return COULD_NOT_RUN if lost else exit_status(record)
