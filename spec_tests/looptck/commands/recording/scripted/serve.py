"""Serves the scripted model on 127.0.0.1 until standard input is closed.

The one line on standard output says where, and how many tokens each turn of each scenario has: a client that asks for
no more than so many sees a turn end for its length. What the server logs goes to standard error.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from looptck.bench.cases import cases

try:
    import xllamacpp

    from looptck.commands.recording.scripted.director import template
    from looptck.commands.recording.scripted.scripts import scenarios
    from looptck.commands.recording.scripted.vocabulary import due, vocabulary
    from looptck.commands.recording.scripted.weights import CONTEXT, write
except ImportError as error:
    sys.exit(f"the scripted model needs what `pip install 'looptck[scripted]'` installs: {error}")


def main() -> None:
    """Build, serve, and stop when the caller does."""
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # the server may log to either
    wanted = scenarios(cases())
    words = vocabulary(wanted)
    counts = {one.name: [len(words.said(due(one.name, at + 1))) for at in range(len(one.turns))] for one in wanted}
    with TemporaryDirectory(prefix="scripted-model-") as folder:
        path = Path(folder) / "scripted.gguf"
        write(path, words, template(wanted))
        server = xllamacpp.Server(_settings(path))
        ready = {
            "base_url": f"{server.listening_address}/v1",
            "model": "scripted",
            "upstream": f"llama.cpp server in xllamacpp {version('xllamacpp')}",
            "dialect": "llama.cpp",
            "tokens": counts,
        }
        print(json.dumps(ready), file=answer, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            sys.stdin.read()
    os._exit(0)  # the server's threads would keep the process


def _settings(path: Path) -> Any:
    settings = xllamacpp.CommonParams()
    settings.model.path = str(path)
    settings.model_alias = {"scripted"}
    settings.hostnames = ["127.0.0.1"]
    settings.port = 0  # a free one
    settings.n_ctx = CONTEXT
    settings.n_parallel = 1
    settings.cpuparams.n_threads = settings.cpuparams_batch.n_threads = 1
    settings.warmup = False
    settings.use_jinja = True
    settings.cache_prompt = False  # or what usage says would depend on the requests before
    settings.sampling.temp = 0.0
    return settings


if __name__ == "__main__":
    main()
