"""Server-side loops: built-in tools, when they are offered, and who runs them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from looptck.bench.checks import on, requirement
from looptck.bench.run import Run
from looptck.bench.scenario import Scenario
from looptck.bench.server import ServerUnderTest
from looptck.spec.server_loop.builtin_tools import (
    ASKS_FOR_CODE,
    ASKS_FOR_SEARCH,
    CHAT,
    CODE_INTERPRETER,
    PYTHON,
    SEARCH,
    Coder,
    code_tools,
    interpreter_members,
    offered_tools,
    search_members,
    search_tools,
)
from looptck.spec.server_loop.replies import NO_END, events_of_phase, in_calling_alone, results_of_all, went_on
from looptck.values.history import Offered
from looptck.values.plain import plain, without_bodies
from looptck.values.turns import Call, calls, says
from looptck.values.verdicts import NotApplicable, NotReached

ECHO = "looptck_echo"
FOUND, UNKNOWN = "Paris", "qzxwvkjq"
"""A word for which the index of a server under test has a page, and a word for which it has none."""


@requirement("server-search-is-advertised")
def test_search_of_the_server(server: ServerUnderTest) -> None:
    """A request that has no tools is offered search, or the server does this for requests that ask for search."""
    tools = offered_tools(server, tools=())

    if search_tools(tools):
        return
    if CHAT not in server.implementation.started.wires:
        raise NotApplicable("no document says how a request on this wire asks for search")
    asking = offered_tools(server, wire=CHAT, tools=(), members=ASKS_FOR_SEARCH)
    assert search_tools(asking), f"none of the tools searches that are offered, unasked or asked for: {_names(asking)}"
    raise NotApplicable("search is offered to requests that ask for it, as the later documents say")


@requirement("server-search-is-asked-for-by-the-request")
def test_search_of_the_request(server: ServerUnderTest) -> None:
    """A request with web_search_options is offered search; the offer without it is recorded."""
    tools = offered_tools(server, tools=(), members=ASKS_FOR_SEARCH)

    assert search_tools(tools), f"none of the offered tools searches: {_names(tools)}"
    always = search_tools(offered_tools(server, tools=()))
    server.implementation.diverges("search_advertised", "by-the-server" if always else "by-the-request")


@requirement("server-code-execution-is-advertised")
def test_code_execution_enabled(server: ServerUnderTest) -> None:
    """A request that sets enable_code_execution is offered a tool that takes code, or one that asks otherwise is."""
    tools = offered_tools(server, members=ASKS_FOR_CODE)

    if code_tools(tools):
        return
    asking = offered_tools(server, members=interpreter_members(server.offers))
    assert code_tools(asking), f"none of the offered tools takes code: {_names(tools)}"
    raise NotApplicable("Python is offered to requests with a code_interpreter, as the later documents say")


@requirement("server-code-interpreter-asks-for-python")
@pytest.mark.parametrize("with_functions", [True, False], ids=["beside-functions", "alone"])
def test_code_interpreter(server: ServerUnderTest, with_functions: bool) -> None:
    """A request whose tools contain a code_interpreter is offered a tool that takes code."""
    members = interpreter_members(server.offers if with_functions else (), server.implementation.cell.wire)

    tools = offered_tools(server, members=members)

    assert code_tools(tools), f"with {CODE_INTERPRETER} in the request, the offered tools are {_names(tools)}"


@requirement("server-code-execution-waits-to-be-asked-for")
@pytest.mark.parametrize("members", [{}, {"enable_code_execution": False}], ids=["unsaid", "false"])
def test_code_execution_not_asked_for(server: ServerUnderTest, members: dict[str, bool]) -> None:
    """A request without code execution is offered no tool that takes code; one with it is."""
    Coder.of(server)

    tools = offered_tools(server, members=members)

    assert [] == code_tools(tools)


@requirement("server-python-tool-has-the-documents-name")
def test_name_of_the_python_tool(server: ServerUnderTest) -> None:
    """The tool that takes code has the documented name."""
    assert PYTHON == Coder.of(server).tool


@requirement("server-callbacks-are-advertised")
def test_callbacks_of_the_server(server: ServerUnderTest) -> None:
    """A request without tools is offered the registered tools; a request with tools is offered both."""
    assert ECHO in _names(offered_tools(server, tools=()))
    assert {ECHO, *_of(server)} <= {*_names(offered_tools(server))}


@requirement("server-search-runs-in-the-server")
def test_search(scenario: Scenario, server: ServerUnderTest) -> None:
    """The results of a search with hits and of one without differ for the model; no call is posted."""
    name = _search(server)
    reported = {}
    for query in (FOUND, UNKNOWN):
        scenario.plays(calls(Call.of(name, {"query": query})), says("Done."))
        run = server.ask(members=search_members(server))
        if query == UNKNOWN:
            went_on(run, "a search that finds nothing")
        reported[query] = "".join(answer.text for answer in run.new_answers(1))

        assert [] == run.tools_ran, f"{name} was posted to the dispatch URL"

    assert reported[FOUND].replace(FOUND, "") != reported[UNKNOWN].replace(UNKNOWN, "")
    assert FOUND in reported[FOUND], f"the search for {FOUND} has the result {reported[FOUND]!r}"


@requirement("server-code-runs-in-the-server")
def test_code(scenario: Scenario, server: ServerUnderTest) -> None:
    """The program's output reaches the client or the model, and no call is posted."""
    coder = Coder.of(server)
    scenario.plays(calls(coder.call("print(6 * 7, 'seineewt'[::-1])")), says("Done."))

    run = coder.ask()

    assert "Done." == run.got.text
    assert [] == run.tools_ran, f"{coder.tool} was posted to the dispatch URL"
    assert "42 tweenies" in "".join(results_of_all(run)), "the program's output is reported nowhere"


@requirement("server-callback-runs-in-the-server")
@pytest.mark.parametrize("text", ["pong", 'Łódź, \'twas "5 °C" \\ ✓'], ids=["plain", "beyond-ascii"])
def test_callback(scenario: Scenario, server: ServerUnderTest, text: str) -> None:
    """The results of two calls of the registered tool reach the client or the model, and no call is posted."""
    scenario.plays(calls(Call.of(ECHO, {"text": "first"})), calls(Call.of(ECHO, {"text": text})), says("Done."))

    run = server.ask()

    assert "Done." == run.got.text
    assert [] == run.tools_ran, f"{ECHO} was posted to the dispatch URL"
    results = results_of_all(run)
    if not results and not server.can("upstream"):
        raise NotApplicable("the server reports no results to its client, and looptck does not see its model")
    lost = [said for said in ("first", text) if f"echo: {said}" not in results]
    assert [] == lost, f"the callback's result for the text {plain(lost[0])} is reported nowhere"


@requirement("server-failing-tool-is-fed-back")
def test_failing_callback(scenario: Scenario, server: ServerUnderTest) -> None:
    """The registered tool is called without its text: the run goes on, unless the server refuses such arguments."""
    if not server.can("callbacks"):
        raise NotApplicable("no tool is registered in the server")
    scenario.plays(calls(Call.of(ECHO, {"text": "pong"})), says("Done."))
    if not (control := server.ask()).got.ok:
        raise NotReached(f"control: a call of {ECHO} with its text should run; the client got {control.got}")
    scenario.plays(calls(Call.of(ECHO, {})), says("Done."))

    run = server.ask()

    server.reached(run, 1)
    if run.got.error is not None and re.search(REFUSES_ARGUMENTS, without_bodies(run.got.error), re.IGNORECASE):
        server.implementation.diverges("callback_without_its_text", "refused")
        return
    assert run.got.ok, f"a callback was called without its text, and the client got {run.got}"
    assert "Done." == run.got.text


REFUSES_ARGUMENTS = "argument|parameter|schema|valid|requir|missing"
"""What an error says that refuses a call's arguments, in any case."""


@requirement("server-complete-of-search-tells-query-and-count")
@on(CHAT)
def test_complete_of_a_search(scenario: Scenario, server: ServerUnderTest) -> None:
    """The event data has the query, and a number of results that is not 0 for a search with hits."""
    name = _search(server)
    scenario.plays(calls(Call.of(name, {"query": FOUND})), says("Done."))

    run = server.ask(members=search_members(server))

    assert run.got.ended, NO_END
    data = _complete(run)
    assert type(data.get("results_count")) is int, f"results_count is {data.get('results_count')!r}"
    assert data["results_count"] > 0
    in_calling_alone(run.got, "query", FOUND)
    assert FOUND == data.get("query")


@requirement("server-complete-of-search-tells-query-and-count")
@on(CHAT)
def test_complete_of_a_search_without_hits(scenario: Scenario, server: ServerUnderTest) -> None:
    """For a word that nothing contains the event data has no results, or no number of them."""
    name = _search(server)
    scenario.plays(calls(Call.of(name, {"query": UNKNOWN})), says("Done."))

    run = server.ask(members=search_members(server))

    assert run.got.ended, NO_END
    count = _complete(run).get("results_count")
    assert count in (None, 0), f"nothing contains {UNKNOWN}, and results_count is {count!r}"


@requirement("server-complete-of-code-tells-the-code")
def test_complete_of_code(scenario: Scenario, server: ServerUnderTest) -> None:
    """The event data has the code as the model wrote it."""
    coder = Coder.of(server)
    code = "x = 'Łódź'\nprint(x)\n"
    scenario.plays(calls(coder.call(code)), says("Done."))

    run = coder.ask()

    assert run.got.ended, NO_END
    data = _complete(run)
    in_calling_alone(run.got, "code", code)
    assert code == data.get("code")


@requirement("server-complete-of-code-tells-what-it-wrote")
def test_outputs_of_code(scenario: Scenario, server: ServerUnderTest) -> None:
    """The event data has both outputs and the exception; all are empty for a program without output."""
    coder = Coder.of(server)
    scenario.plays(
        calls(coder.call("import sys", "print('to Łódź')", "print('from Łódź', file=sys.stderr)")),
        calls(coder.call("raise ValueError('no such town')")),
        calls(coder.call("pass")),
        says("Done."),
    )

    run = coder.ask()

    assert run.got.ended, NO_END
    data = _completes(run)
    if len(data) != 3 or any(data[2].get(name) for name in ("stdout", "stderr", "exception")):
        raise NotReached(f"control: a program that does nothing is reported as {data[2:]}")
    wrote, raised, silent = data
    for name, text in (("stdout", "to Łódź"), ("stderr", "from Łódź")):
        told = wrote.get(name)
        assert text == str(told).strip(), f"the program wrote {text!r} to {name}, and the event's {name} is {told!r}"
    assert not wrote.get("exception"), f"the program raised no exception, and exception is {wrote['exception']!r}"
    exception = raised.get("exception")
    assert "no such town" in str(exception), (
        f"the exception 'no such town' ended the program, and exception is {exception!r}"
    )
    server.implementation.diverges("empty_members", "present" if "stdout" in silent else "absent")


@requirement("server-complete-of-code-tells-where-and-how-long")
def test_place_and_time_of_code(scenario: Scenario, server: ServerUnderTest) -> None:
    """The event data has the program's working directory, and a number of milliseconds."""
    coder = Coder.of(server)
    scenario.plays(calls(coder.call("import os", "print(os.getcwd())")), says("Done."))

    run = coder.ask()

    assert run.got.ended, NO_END
    data = _complete(run)
    took: Any = data.get("execution_time_ms")
    assert str(data.get("stdout")).strip() == data.get("working_directory")
    assert type(took) in (int, float), f"execution_time_ms is {took!r}"
    assert took >= 0


@requirement("server-complete-of-code-tells-where-and-how-long")
def test_time_of_slow_code(scenario: Scenario, server: ServerUnderTest) -> None:
    """A program that works for 0.4 s takes at least 300 ms, whichever clock the server reads."""
    coder = Coder.of(server)
    works = "while time.process_time() < began + 0.4: pass"
    scenario.plays(
        calls(coder.call("import time", "began = time.process_time()", works, "print('worked')")), says("Done.")
    )

    run = coder.ask()

    assert run.got.ended, NO_END
    data = _complete(run)
    if "worked" not in str(data.get("stdout")):
        raise NotReached(f"control: the program should work for 0.4 s, and is reported as {plain(data)}")
    took: Any = data.get("execution_time_ms")
    assert type(took) in (int, float), f"execution_time_ms is {took!r}"
    assert took >= 300, f"the program works for 0.4 s, and execution_time_ms is {took!r}"


def _search(server: ServerUnderTest) -> str:
    """The name of the search tool, as the model is offered it."""
    if not server.can("upstream"):
        return SEARCH
    found = search_tools(offered_tools(server, members=search_members(server)))
    if not found:
        raise NotReached("the model is offered no tool that searches")
    return found[0]


def _complete(run: Run) -> dict[str, Any]:
    """The data of the only complete event."""
    found = _completes(run)

    assert 1 == len(found), f"{len(found)} complete events in the stream"
    return found[0]


def _completes(run: Run) -> list[dict[str, Any]]:
    """The data of the complete events. Raises NotReached if there is none."""
    return [dict(progress.data) for progress in events_of_phase(run.got, "complete")]


def _names(tools: Sequence[Offered]) -> list[str]:
    return [tool.name for tool in tools]


def _of(server: ServerUnderTest) -> list[str]:
    return [tool.name for tool in server.offers]
