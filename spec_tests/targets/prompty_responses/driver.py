"""The driver of Prompty's ``apiType: responses``, which cannot stream and so is a target of its own.

Prompty does ask the service for a stream where it is told to, but its stream processor (``_stream_generator`` in
``prompty/providers/openai/processor.py``) reads only the chunks of Chat Completions. Whatever the Responses API
streams, the caller gets empty text and no tool runs; so the driver declares no streams.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from prompty_turn import TurnDriver


class Driver(TurnDriver):
    """Runs the kit's cases on Prompty's provider ``openai`` with the Responses API."""

    name = "prompty on responses"
    wires = ("openai-responses",)
    streams = False
