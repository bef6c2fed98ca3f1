"""`looptck smoke` on a server that breaks: its log says why."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from click.testing import CliRunner

from looptck.cli.group import main

BREAKS = """
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        print("the table of models is empty", file=sys.stderr, flush=True)
        self.close_connection = True


HTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


def test_log_of_a_server_that_breaks(tmp_path: Path) -> None:
    """The last lines of the log stand below what the client got."""
    (tmp_path / "breaks.py").write_text(BREAKS)
    command = [sys.executable, str(tmp_path / "breaks.py"), "{port}"]
    described = {"name": "breaks", "version": "1", "wires": ["openai-chat"], "capabilities": ["upstream"]}
    file = tmp_path / "server.yaml"
    file.write_text(json.dumps({**described, "command": command, "setups": {"usual": []}}))

    done = CliRunner().invoke(main, ["smoke", "--driver", f"server:{file}"])

    assert 1 == done.exit_code
    assert "its log ends with:\n      the table of models is empty\n" in done.output
