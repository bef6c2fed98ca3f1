"""A program that does what its prompt says, for tests of how programs are started, watched and ended."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

ASLEEP = "import threading; threading.Event().wait()"
FREE = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def main(word: str) -> int:
    """Do it; the exit status."""
    match word:
        case "environment":
            print(json.dumps(dict(os.environ)))
        case "daemon":
            subprocess.Popen([sys.executable, "-c", ASLEEP, "the-daemon"], start_new_session=True, **FREE)  # type: ignore[call-overload]
        case "hang":
            threading.Event().wait()
        case "many":
            for _ in range(6):
                subprocess.Popen([sys.executable, "-c", ASLEEP], **FREE)  # type: ignore[call-overload]
            threading.Event().wait()
        case "fat":
            kept = bytearray(os.urandom(1 << 20) * 200)
            threading.Event().wait(timeout=60)
            print(len(kept))
        case "fail":
            print("it went wrong", file=sys.stderr)
            return 7
        case other:
            print(f"> {other}\nANSWER {other}.")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
