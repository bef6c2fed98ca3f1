"""Traits of clients of MCP servers: the revision, the names of tools, double results, and servers that fail."""

from __future__ import annotations

from looptck.bench.run import Run
from looptck.catalogue.traits import trait
from looptck.provider.mcp import Server
from looptck.provider.mcp_results import Content
from looptck.spec.serving import FORECAST, SEEN, TOMORROW, TOWN, answer, asked, connected, is_of
from looptck.suite.asking import Loop, error_text
from looptck.values.history import holds, leaves
from looptck.values.outcome import Failed
from looptck.values.turns import calls
from looptck.values.verdicts import NotReached
from looptck.wires import WIRES

WORDS = "Rain in the morning, sun at noon."
FACTS = {"degrees": 22.5, "sky": "partly cloudy"}


def _called(loop: Loop) -> Run:
    """A run with a call whose result has a text and structured content, played once for all of these traits."""

    def play() -> Run:
        loop.scenario.serves(TOWN, forecast=Content.of(WORDS, structured=FACTS))
        return connected(loop.plays(calls(TOMORROW), SEEN, tools=()))

    return loop.once("called over MCP", play)


@trait("mcp-revision")
def test_revision(loop: Loop) -> None:
    """The server speaks all revisions."""
    heard = asked(_called(loop))
    begun = [one for one in heard if one.method == "initialize" and one.status == 200]
    if not begun and not any(one.status == 200 for one in heard):
        raise NotReached("the client and the server have agreed on no revision")
    loop.answers("with-a-handshake" if begun else "without")


@trait("mcp-tool-names")
def test_names(loop: Loop) -> None:
    """The name of the server's tool is legal for the service, and no other tool has it."""
    body = _called(loop).request(1).body
    there = WIRES[loop.cell.wire].service(True).read(body).tools
    found = [one.name for one in there if one.name == FORECAST.name or is_of(one, FORECAST)]
    if not found:
        raise NotReached(f"the server lists {FORECAST.name}, which is not offered")
    loop.answers("own" if found == [FORECAST.name] else "changed", ", ".join(found))


@trait("mcp-double-results")
def test_double_results(loop: Loop) -> None:
    """The result has a text, and structured content that says something else."""
    found = answer(_called(loop)).text
    words, facts = holds(found, WORDS), all(leaf in found for leaf in leaves(FACTS))
    if not words and not facts:
        raise NotReached(f"neither of the two is in the result, which is {found!r}")
    loop.answers({(True, True): "both", (True, False): "the-text", (False, True): "structured"}[words, facts])


@trait("mcp-server-that-fails")
def test_failing_server(loop: Loop) -> None:
    """The only server answers everything with status 500."""
    loop.scenario.serves(Server(tools=TOWN.tools, refuses=500))
    run = connected(loop.plays(SEEN, tools=()))
    if run.received and not run.failed:
        loop.answers("goes-on-without")
        return
    if run.received or not isinstance(run.outcome, Failed):
        raise NotReached(f"the run ends otherwise: the loop {run.outcome}")
    loop.answers("error-for-the-caller", error_text(run.outcome))
