"""A server that tells the words that it was started with; the first is its port."""

from __future__ import annotations

import json
import socketserver
import sys
from http.server import BaseHTTPRequestHandler


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(sys.argv[1:]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


if __name__ == "__main__":
    socketserver.TCPServer(("127.0.0.1", int(sys.argv[1])), _Handler).serve_forever()
