"""What a driver is handed: every case keeps to the protocol, and says what its setting says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from looptck.catalogue.agents import agent
from looptck.drivers.case_message import API_KEY, RunOptions, case, with_files
from looptck.drivers.protocol import complaint
from looptck.values.cell import Cell
from looptck.values.framing import MODEL

URL = "http://127.0.0.1:1/r1"
CELL = Cell("openai-chat", stream=True, mode="async")
SETTINGS = {
    "usual": RunOptions(),
    "no-question": RunOptions(question=None),
    "bound": RunOptions(agent="bound", inputs={"user_id": None, "more": [1, {"a": "é"}]}),
    "parent": RunOptions(agent="parent", inputs={"audience": "kings"}),
    "kinds": RunOptions(kinds=("collection", "function"), limit=0),
    "no-tools": RunOptions(tools=()),
    "context": RunOptions(
        context=[
            {"type": "text", "text": "Go."},
            {"type": "data", "kind": "user", "data": [None], "_instance": "①"},
            {"type": "input", "input": {"city": "Paris"}},
            {"type": "state", "any": 1},
            {"type": "plan", "plan": [{"_tool": "ping"}], "mode": "lazy"},
        ],
        output_schema={"type": "string"},
        confirms=True,
    ),
    "empty-context": RunOptions(context=[], output_schema={}),
    "all-of-a-tool": RunOptions(tools=[replace(agent("parent").tools[0], strict=True, handled=True, handler="async")]),
}


def told(options: RunOptions) -> dict[str, Any]:
    """The case of a setting."""
    return case(options, CELL, URL, name="a-case", profile="prompty-spec", id="r.1")


@pytest.mark.parametrize("options", SETTINGS.values(), ids=list(SETTINGS))
def test_every_case_keeps_to_the_protocol(options: RunOptions, tmp_path: Path) -> None:
    """With and without files."""
    by_value, by_path = told(options), told(options)
    with_files(by_path, options, CELL, tmp_path)

    for one in (by_value, by_path):
        assert complaint("to-driver", {"type": "run", "id": "r1", "case": one}) is None


def test_the_usual_case_says_no_more_than_it_has_to() -> None:
    """What only some cases are about is not in the others."""
    usual = told(RunOptions())

    assert not {"kinds", "handlers", "telemetry", "context", "output_schema", "confirm"} & usual.keys()
    assert "path" not in usual["agent"]
    assert {"name", "kind", "description", "parameters", "url"} == set(usual["tools"][0])
    assert ({"question": "Go."}, {}) == (usual["inputs"], usual["options"])
    assert ("a-case", "prompty-spec", f"{URL}/v1", API_KEY, MODEL) == tuple(
        usual[key] for key in ("name", "profile", "base_url", "api_key", "model")
    )
    assert ("openai-chat", True, "async") == (usual["wire"], usual["stream"], usual["mode"])


def test_a_question_that_is_not_given_is_left_to_its_default() -> None:
    """It is no input of the run, and the messages have the default of the agent."""
    without = told(RunOptions(agent="elsewhere", question=None))

    assert {} == without["inputs"]
    assert "Where am I?" == without["messages"][-1]["content"]
    assert ["Where am I?", "at home"] == [one["default"] for one in without["agent"]["inputs"]]
    assert "{{question}}" == without["agent"]["template"][-1]["content"]


def test_instructions_stay_where_they_are() -> None:
    """Instructions further down are no part of the beginning; a history goes before what follows the first."""
    earlier = {"role": "user", "content": "Hello."}
    plain, further = (told(RunOptions(agent="redirected", history=given))["messages"] for given in ([], [earlier]))

    assert ["system", "user", "assistant", "system", "user"] == [one["role"] for one in plain]
    assert [plain[0], earlier, *plain[1:]] == further


def test_an_input_without_a_default_has_none() -> None:
    """An absent default is absent, and not null."""
    (user,) = (one for one in told(RunOptions(agent="bound"))["agent"]["inputs"] if one["name"] == "user_id")

    assert {"name": "user_id", "kind": "string", "description": "Who the user is."} == user


def test_bindings_are_told_beside_the_whole_schema() -> None:
    """The loop is told all parameters and which are bound to what; a tool without bindings says nothing of them."""
    weather, measure, note = told(RunOptions(agent="bound"))["tools"]

    assert {"unit": "preferred_unit"} == weather["bindings"]
    assert {"unit": "preferred_unit", "user": "user_id"} == measure["bindings"]
    assert ["degrees", "unit", "user"] == list(measure["parameters"]["properties"])
    assert "bindings" not in note


def test_kinds_have_toolbox_urls() -> None:
    """One for each kind."""
    kinds = told(RunOptions(kinds=("collection", "function")))["kinds"]

    assert {"collection": f"{URL}/kinds/collection", "function": f"{URL}/kinds/function"} == kinds


def test_prompty_tools_have_no_handler_and_their_childrens_tools_do() -> None:
    """A prompty tool runs its child; what the children call is registered beside the tools of the run."""
    parent = told(RunOptions(agent="parent"))

    wanted = [
        ("consult", "prompty", None, "children/expert.prompty", "agentic"),
        ("summarize", "prompty", None, "children/summary.prompty", "single"),
    ]
    keys = ("name", "kind", "url", "path", "mode")
    assert wanted == [tuple(tool[key] for key in keys) for tool in parent["tools"]]
    assert {"lookup": f"{URL}/tools/lookup"} == parent["handlers"]


def test_a_tool_says_what_is_special_about_it() -> None:
    """Whether it is strict, and what to register for it."""
    (tool,) = told(SETTINGS["all-of-a-tool"])["tools"]

    assert (True, "async", f"{URL}/tools/consult") == (tool["strict"], tool["handler"], tool["url"])


def test_a_file_is_named_by_its_copy(tmp_path: Path) -> None:
    """The path leads to a file in the folder of the run."""
    options = RunOptions(agent="parent")
    parent = told(options)
    with_files(parent, options, CELL, tmp_path / "r1")

    assert str(tmp_path / "r1" / "parent.prompty") == parent["agent"]["path"]
    assert (tmp_path / "r1" / "children" / "expert.prompty").is_file()


def test_a_context_stands_in_place_of_the_prompt() -> None:
    """A run that begins with messages has no prompt and no question; its inputs are what the check gives it."""
    options = SETTINGS["context"]
    with_context = told(options)

    assert [*(options.context or ())] == with_context["context"]
    assert ([], {}) == (with_context["messages"], with_context["inputs"])
    assert ([], []) == (with_context["agent"]["template"], with_context["agent"]["inputs"])
    assert ({"type": "string"}, f"{URL}/confirm") == (with_context["output_schema"], with_context["confirm"])
    assert {"a": 1} == told(replace(options, inputs={"a": 1}))["inputs"]


@pytest.mark.parametrize(
    "message",
    [{}, {"type": "tool", "tool": {}}, {"type": "text", "text": 1}, {"type": "plan", "plan": {}}],
    ids=["no-type", "tool", "text", "plan"],
)
def test_a_message_that_is_none_is_refused(message: dict[str, Any]) -> None:
    """A check that writes a message wrong is found out before a driver sees it; tools are handed over by themselves."""
    wrong = {"type": "run", "id": "r1", "case": told(RunOptions(context=[message]))}

    assert "/case/context/0" in (complaint("to-driver", wrong) or "")
