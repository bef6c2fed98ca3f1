"""Runs the kit against real implementations, each in an environment of its own.

    python spec_tests/targets/run.py [NAME ...]

A target is a folder here: what to install (``requirements.txt``), how to drive it (``driver.py``), and where present
what is known to be wrong with it (``known-failures.yaml``). Environments and results are kept in ``.tox/targets/``.
Exit status: 0 if every run was clean, 1 if one was not, 2 for a name that is no target.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import venv
from pathlib import Path

TARGETS = Path(__file__).resolve().parent
ROOT = TARGETS.parents[1]
KEPT = ROOT / ".tox" / "targets"
SERVE = ROOT / "spec_tests" / "looptck" / "drivers" / "serve.py"


def main(names: list[str]) -> int:
    """Run the named targets, or all of them."""
    known = sorted(path.parent.name for path in TARGETS.glob("*/requirements.txt"))
    if strangers := [name for name in names if name not in known]:
        print(f"no such target: {', '.join(strangers)}; there are {', '.join(known)}", file=sys.stderr)
        return 2
    clean = True
    for name in names or known:
        print(f"== {name}", flush=True)
        clean &= run(name, environment(name)) == 0
    return 0 if clean else 1


def environment(name: str) -> Path:
    """The Python of the target's environment, made anew where its requirements are not those that it was made for."""
    place = KEPT / name / "venv"
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    requirements = TARGETS / name / "requirements.txt"
    required = requirements.read_text(encoding="utf-8")
    made_for = place / "requirements.txt"
    if not made_for.is_file() or made_for.read_text(encoding="utf-8") != required:
        venv.create(place, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", requirements], check=True)
        made_for.write_text(required, encoding="utf-8")
    return python


def run(name: str, python: Path) -> int:
    """Run the suite against one target; its exit status."""
    driver = TARGETS / name / "driver.py"
    line = shlex.join([str(python), str(SERVE), f"{driver}:Driver"])
    command = [sys.executable, "-m", "looptck.cli", "run", "--driver", f"cmd:{line}"]
    command += ["--json", str(KEPT / name / "results.json")]
    known_failures = TARGETS / name / "known-failures.yaml"
    if known_failures.is_file():
        command += ["--known-failures", str(known_failures)]
    return subprocess.run(command, env=os.environ | surroundings(KEPT / name), check=False).returncode


def surroundings(folder: Path) -> dict[str, str]:
    """No proxy may stand between target and kit, and no client that it makes shall read a bundle of certificates.

    Prompty makes a client for each model call, and each would spend 20 ms on certificates that plain HTTP never uses.
    A folder without certificates in it costs nothing.
    """
    return {"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1", "SSL_CERT_FILE": "", "SSL_CERT_DIR": str(folder)}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
