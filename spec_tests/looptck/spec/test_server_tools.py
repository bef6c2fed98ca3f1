"""Server-side loops: the tools that a server brings with it, when they are offered, and who runs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from looptck.checks import on, requirement
from looptck.guest import Guest
from looptck.history import Offered
from looptck.kit import Scene
from looptck.run import Run
from looptck.spec.built_in import (
    CHAT,
    CODE_INTERPRETER,
    PYTHON,
    SEARCH,
    Coder,
    asking_for_search,
    offered,
    searching,
    taking_code,
    with_interpreter,
)
from looptck.spec.served import phase
from looptck.turns import Call, calls, says
from looptck.verdicts import NotReached

ECHO = "looptck_echo"
FOUND, UNKNOWN = "Paris", "qzxwvkjq"
"""What the index of a server under test has something on, and a word that it has nothing on."""


@requirement("server-search-is-advertised")
def test_search_of_the_server(guest: Guest) -> None:
    """A request without tools, which does not ask for search either, is offered it."""
    tools = offered(guest, tools=())

    assert searching(tools), f"the model is offered {_names(tools)}, and none of them searches"


@requirement("server-search-is-asked-for-by-the-request")
def test_search_of_the_request(guest: Guest) -> None:
    """A request with web_search_options is offered search; what one without it is offered is recorded."""
    tools = offered(guest, tools=(), members={"web_search_options": {}})

    assert searching(tools), f"the model is offered {_names(tools)}, and none of them searches"
    always = searching(offered(guest, tools=()))
    guest.implementation.diverges("search_advertised", "by-the-server" if always else "by-the-request")


@requirement("server-code-execution-is-advertised")
def test_code_execution_enabled(guest: Guest) -> None:
    """A request that sets enable_code_execution is offered a tool that takes code."""
    tools = offered(guest, members={"enable_code_execution": True})

    assert taking_code(tools), f"the model is offered {_names(tools)}, and none of them takes code"


@requirement("server-code-interpreter-asks-for-python")
@pytest.mark.parametrize("beside", [True, False], ids=["beside-functions", "alone"])
def test_code_interpreter(guest: Guest, beside: bool) -> None:
    """A request whose tools hold a code_interpreter is offered a tool that takes code."""
    members = with_interpreter(guest.offers if beside else (), guest.implementation.cell.wire)

    tools = offered(guest, members=members)

    assert taking_code(tools), f"asked for {CODE_INTERPRETER}, the model is offered {_names(tools)}"


@requirement("server-code-execution-waits-to-be-asked-for")
@pytest.mark.parametrize("members", [{}, {"enable_code_execution": False}], ids=["unsaid", "false"])
def test_code_execution_not_asked_for(guest: Guest, members: dict[str, bool]) -> None:
    """A request that does not ask for code execution is offered no tool that takes code; one that asks is."""
    Coder.of(guest)

    tools = offered(guest, members=members)

    assert [] == taking_code(tools)


@requirement("server-python-tool-has-the-documents-name")
def test_name_of_the_python_tool(guest: Guest) -> None:
    """The tool that takes code is called as in the document."""
    assert PYTHON == Coder.of(guest).tool


@requirement("server-callbacks-are-advertised")
def test_callbacks_of_the_server(guest: Guest) -> None:
    """A request without tools is offered the registered ones, and one with tools is offered both."""
    assert ECHO in _names(offered(guest, tools=()))
    assert {ECHO, *_of(guest)} <= {*_names(offered(guest))}


@requirement("server-search-runs-in-the-server")
def test_search(provider: Scene, guest: Guest) -> None:
    """What the model reads of a search that finds something, and of one that does not; nothing is posted."""
    name = _search(guest)
    told = {}
    for query in (FOUND, UNKNOWN):
        provider.plays(calls(Call.of(name, {"query": query})), says("Done."))
        run = guest.ask(members=asking_for_search(guest))
        told[query] = "".join(answer.text for answer in run.new_answers(1))

        assert [] == run.tools_ran, f"{name} was posted to the dispatch URL"

    assert told[FOUND].replace(FOUND, "") != told[UNKNOWN].replace(UNKNOWN, "")
    assert FOUND in told[FOUND], f"the search for {FOUND} gave the model {told[FOUND]!r}"


@requirement("server-code-runs-in-the-server")
def test_code(provider: Scene, guest: Guest) -> None:
    """What the program works out is told to somebody, and nobody is posted."""
    coder = Coder.of(guest)
    provider.plays(calls(coder.call("print(6 * 7, 'seineewt'[::-1])")), says("Done."))

    run = coder.ask()

    assert "Done." == run.got.text
    assert [] == run.tools_ran, f"{coder.tool} was posted to the dispatch URL"
    assert "42 tweenies" in "".join(_texts(run)), "what the program printed is told nowhere"


@requirement("server-callback-runs-in-the-server")
@pytest.mark.parametrize("text", ["pong", 'Łódź, \'twas "5 °C" \\ ✓'], ids=["plain", "beyond-ascii"])
def test_callback(provider: Scene, guest: Guest, text: str) -> None:
    """What the registered tool makes of its arguments is told to somebody, and nobody is posted."""
    provider.plays(calls(Call.of(ECHO, {"text": text})), says("Done."))

    run = guest.ask()

    assert "Done." == run.got.text
    assert [] == run.tools_ran, f"{ECHO} was posted to the dispatch URL"
    assert f"echo: {text}" in _texts(run), "what the callback gave back is told nowhere"


@requirement("server-complete-of-search-tells-query-and-count")
@on(CHAT)
def test_complete_of_a_search(provider: Scene, guest: Guest) -> None:
    """Its data has the query, and a number of results that is not 0 where something was found."""
    name = _search(guest)
    provider.plays(calls(Call.of(name, {"query": FOUND})), says("Done."))

    run = guest.ask(members=asking_for_search(guest))

    assert run.got.ended
    data = _complete(run)
    assert FOUND == data.get("query")
    assert type(data.get("results_count")) is int, f"results_count is {data.get('results_count')!r}"
    assert data["results_count"] > 0


@requirement("server-complete-of-code-tells-the-code")
def test_complete_of_code(provider: Scene, guest: Guest) -> None:
    """Its data has the code as the model wrote it."""
    coder = Coder.of(guest)
    code = "x = 'Łódź'\nprint(x)\n"
    provider.plays(calls(coder.call(code)), says("Done."))

    run = coder.ask()

    assert run.got.ended
    assert code == _complete(run).get("code")


@requirement("server-complete-of-code-tells-what-it-wrote")
def test_outputs_of_code(provider: Scene, guest: Guest) -> None:
    """Its data has both outputs and the exception; a program that says nothing has none of them."""
    coder = Coder.of(guest)
    provider.plays(
        calls(coder.call("import sys", "print('to Łódź')", "print('from Łódź', file=sys.stderr)")),
        calls(coder.call("raise ValueError('no such town')")),
        calls(coder.call("pass")),
        says("Done."),
    )

    run = coder.ask()

    assert run.got.ended
    data = _completes(run)
    if len(data) != 3 or any(data[2].get(name) for name in ("stdout", "stderr", "exception")):
        raise NotReached(f"control: a program that does nothing is told as {data[2:]}")
    wrote, raised, silent = data
    assert "to Łódź" == str(wrote.get("stdout")).strip()
    assert "from Łódź" == str(wrote.get("stderr")).strip()
    assert not wrote.get("exception"), f"nothing was raised, and exception is {wrote['exception']!r}"
    assert "no such town" in str(raised.get("exception"))
    guest.implementation.diverges("empty_members", "present" if "stdout" in silent else "absent")


@requirement("server-complete-of-code-tells-where-and-how-long")
def test_place_and_time_of_code(provider: Scene, guest: Guest) -> None:
    """Its data has the directory in which the program found itself, and a number of milliseconds."""
    coder = Coder.of(guest)
    provider.plays(calls(coder.call("import os", "print(os.getcwd())")), says("Done."))

    run = coder.ask()

    assert run.got.ended
    data = _complete(run)
    took: Any = data.get("execution_time_ms")
    assert str(data.get("stdout")).strip() == data.get("working_directory")
    assert type(took) in (int, float), f"execution_time_ms is {took!r}"
    assert took >= 0


def _search(guest: Guest) -> str:
    """The name of the search tool, in the words of the request that is offered it."""
    if not guest.can("upstream"):
        return SEARCH
    found = searching(offered(guest, members=asking_for_search(guest)))
    if not found:
        raise NotReached("the model is offered no tool that searches")
    return found[0]


def _complete(run: Run) -> dict[str, Any]:
    """The data of the only complete event."""
    found = _completes(run)

    assert 1 == len(found), f"{len(found)} complete events in the stream"
    return found[0]


def _completes(run: Run) -> list[dict[str, Any]]:
    """The data of the complete events. Raises NotReached where there is none."""
    return [dict(progress.data) for progress in phase(run.got, "complete")]


def _texts(run: Run) -> list[str]:
    """The results in records, complete events and questions, as they were told."""
    if run.got.stream:
        data = [event.data for event in run.got.progress if event.phase == "complete"]
        told = [value for one in data for value in one.values() if isinstance(value, str)]
    else:
        told = [str(record.get("result_content")) for record in run.got.records]
    return told + [answer.text for received in run.requests for answer in received.request.answers]


def _names(tools: Sequence[Offered]) -> list[str]:
    return [tool.name for tool in tools]


def _of(guest: Guest) -> list[str]:
    return [tool.name for tool in guest.offers]
