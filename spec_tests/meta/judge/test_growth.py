"""A service that knows the request before judges and reads as one that does not."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from looptck.values.growth import Bodies, Growth
from looptck.values.problem import Problem
from looptck.values.turns import Call, Text, Thinking, Turn, turn
from looptck.wires import WIRES, grown
from looptck.wires.schema_judge import Rule, SchemaJudge
from looptck.wires.wire import Service
from meta.judge.growing import Sent, echoed, runs
from meta.judge.judged import Body, JudgedWire
from meta.judge.messages import bodies as messages
from meta.judge.responses import bodies as responses
from meta.judge.wires import EACH

OLDER, NEWER = "mcp-client-2025-04-04", "mcp-client-2025-11-20"
SERVER = {"type": "url", "name": "m", "url": "https://m.example/sse"}
THOUGHT = turn(Thinking("hm"), Call.of("f"))
SEALED = Thinking("hm", id="one", recorded_signature="sealed")
SEALED_ECHOED = [responses.thought("rs_one", encrypted_content="sealed"), responses.says(id="msg_looptck0001_1")]
EMPTY = {"role": "assistant", "content": ""}
SAID = responses.says(id="msg_a")
ECHOED = [
    {"type": "reasoning", "id": "rs_thought_1a", "summary": []},
    responses.call("call_1a", id="fc_call_1a"),
    responses.output("call_1a"),
]
"""A thought and what followed, as a loop returns them that leaves it to the service to store the thought."""


def sent(body: Body, reply: Turn | None = None, *, betas: str = "", forgets: bool = False) -> Sent:
    """A request and what follows."""
    return Sent(json.dumps(body).encode(), {"anthropic-beta": betas}, reply, forgets)


def play(knowing: Service, whole: Service, run: list[Sent]) -> list[list[str]]:
    """Send the requests of a run to both services; the rules that each of them breaks, which both have to say."""
    bodies = Bodies()
    broken = []
    for n, one in enumerate(run, 1):
        if one.forgets:
            knowing.lose_state()
            whole.lose_state()
        body, growth = bodies.parse(one.raw)
        expected = whole.judge(json.loads(one.raw), one.headers)

        assert expected == knowing.judge(body, one.headers, growth)
        assert repr(whole.read(json.loads(one.raw))) == repr(knowing.read(body, growth))

        if one.reply is not None and not expected:
            knowing.replied(body, n, one.reply.numbered(n))
            whole.replied(json.loads(one.raw), n, one.reply.numbered(n))
        broken.append([problem.rule for problem in expected])
    return broken


@EACH
@given(st.data())
def test_what_is_known_changes_nothing(wire: JudgedWire, data: st.DataObject) -> None:
    """However a history goes on, problems and items are those of a service that takes each request as a whole."""
    play(wire.service(), wire.service(), data.draw(runs(wire), label="run"))


RUNS: dict[str, tuple[str, list[Sent], list[str]]] = {
    "a message without content is the last no more": (
        "anthropic-messages",
        [
            sent(messages.request(messages.USER, EMPTY)),
            sent(messages.request(messages.USER, EMPTY, messages.USER)),
        ],
        ["content-is-present"],
    ),
    "a blank text": (
        "anthropic-messages",
        [
            sent(messages.request(messages.USER)),
            sent(messages.request(messages.USER, messages.assistant("a"), messages.user(" "))),
        ],
        ["texts-say-something"],
    ),
    "a thought that was never sent": (
        "anthropic-messages",
        [
            sent(messages.request(messages.USER), turn(Thinking("hm"), "hi")),
            sent(messages.request(messages.USER, messages.assistant(messages.THOUGHT), messages.USER)),
        ],
        ["thoughts-are-genuine"],
    ),
    "other betas": (
        "anthropic-messages",
        [
            sent(messages.request(messages.USER, mcp_servers=[SERVER]), betas=OLDER),
            sent(messages.request(messages.USER, messages.assistant("a"), mcp_servers=[SERVER]), betas=NEWER),
        ],
        ["mcp-servers-are-used-once"],
    ),
    "an item that was there": (
        "openai-responses",
        [
            sent(responses.request(responses.USER), turn(Text("hi", item="msg_a"))),
            sent(responses.request(responses.USER, SAID)),
            sent(responses.request(responses.USER, SAID, SAID)),
        ],
        ["items-come-once"],
    ),
    "an item that is sent once more, after a thought": (
        "openai-responses",
        [
            sent(responses.request(responses.USER), turn(Text("hi", item="msg_a"))),
            sent(
                responses.request(responses.USER, SAID),
                turn(Thinking("hm"), Text("", item="msg_a")),
            ),
            sent(responses.request(responses.USER, SAID, responses.USER)),
        ],
        ["items-come-with-their-thought"],
    ),
    "an item that is sent only then, after a thought": (
        "openai-responses",
        [
            sent(responses.request(responses.USER)),
            sent(
                responses.request(responses.USER, SAID),
                turn(Thinking("hm"), Text("", item="msg_a")),
            ),
            sent(responses.request(responses.USER, SAID, responses.USER)),
        ],
        ["items-come-with-their-thought"],
    ),
    "an item of a request before that one": (
        "openai-responses",
        [
            sent(responses.request(SAID)),
            sent(responses.request(SAID, responses.USER)),
            sent(responses.request(SAID, responses.USER), turn(Thinking("hm"), Text("", item="msg_a"))),
            sent(responses.request(SAID, responses.USER, responses.USER)),
        ],
        ["items-come-with-their-thought"],
    ),
    "a sealed thought that is sent once more as another": (
        "openai-responses",
        [
            sent(responses.request(responses.USER), turn(SEALED, "hi")),
            sent(responses.request(*SEALED_ECHOED), turn(replace(SEALED, id="other"), "hi")),
            sent(responses.request(*SEALED_ECHOED, responses.USER)),
        ],
        ["thoughts-are-the-services"],
    ),
    "a thought that the service has lost": (
        "openai-responses",
        [
            sent(responses.request(responses.USER), THOUGHT),
            sent(responses.request(responses.USER, *ECHOED)),
            sent(responses.request(responses.USER, *ECHOED, responses.USER), forgets=True),
        ],
        ["items-are-kept"],
    ),
    "a second output beside a prompt": (
        "openai-responses",
        [
            sent(responses.request(responses.call("a"), responses.output("a"), prompt={"id": "p"})),
            sent(
                responses.request(responses.call("a"), responses.output("a"), responses.output("a"), prompt={"id": "p"})
            ),
        ],
        ["one-output-per-call"],
    ),
}
"""Runs whose last request breaks a rule that neither what was judged before nor what is new breaks by itself."""


@pytest.mark.parametrize("what", RUNS)
def test_what_lies_between_old_and_new_is_found(what: str) -> None:
    """A rule that old and new entries break together is broken, as is one that new entries break."""
    name, run, rules = RUNS[what]

    assert rules == play(WIRES[name].service(True), WIRES[name].service(True), run)[-1]


@EACH
def test_what_is_new_is_judged(wire: JudgedWire) -> None:
    """Each history that breaks a rule breaks it after another one, too, with all that follows for the whole."""
    (first,) = wire.request()[wire.history]
    for _, refused, _ in wire.cases:
        if isinstance(refused, dict) and isinstance(new := refused.get(wire.history), list):
            others = {name: value for name, value in refused.items() if name != wire.history}
            bodies = [{**others, wire.history: history} for history in ([first], [first, *new])]
            play(wire.service(), wire.service(), [sent(wire.request()), *map(sent, bodies)])


@EACH
def test_a_list_of_tools_is_no_history(wire: JudgedWire) -> None:
    """Where another list than the history goes on, the request is taken as a whole."""
    tools = [offer for _, offer in zip(range(2), _offers(wire), strict=False)]
    bodies = [wire.request(*wire.request()[wire.history], tools=tools[:count]) for count in (1, 2)]

    assert [[], []] == play(wire.service(), wire.service(), [sent(body) for body in bodies])


def _offers(wire: JudgedWire) -> list[Body]:
    parameters = {"type": "object", "properties": {}}
    match wire.name:
        case "openai-chat":
            return [{"type": "function", "function": {"name": name, "parameters": parameters}} for name in "fg"]
        case "openai-responses":
            return [{"type": "function", "name": name, "parameters": parameters} for name in "fg"]
        case _:
            return [{"name": name, "input_schema": parameters} for name in "fg"]


@EACH
def test_only_the_latest_request_is_known(wire: JudgedWire) -> None:
    """A request that goes on from one which the service has not seen last is taken as a whole."""
    service = wire.service()
    (first,) = wire.request()[wire.history]
    before = wire.request(first, {"role": "nobody"})

    assert [] == service.judge(wire.request(first))
    assert service.judge(wire.request(first, {"role": "nobody"}, first), None, Growth(before, wire.history))


def goes_on(wire: JudgedWire, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Which requests of a run whose history goes on without a problem are judged as a whole."""
    service, bodies = wire.service(), Bodies()
    history = list(wire.request()[wire.history])
    judged: list[object] = []
    whole = SchemaJudge.judge

    def judge(judge: SchemaJudge, body: object, *rules: Rule) -> list[Problem]:
        judged.append(body)
        return whole(judge, body, *rules)

    monkeypatch.setattr(SchemaJudge, "judge", judge)
    requests = []
    for n in range(1, 5):
        body, growth = bodies.parse(json.dumps(wire.request(*history)).encode())
        requests.append(body)

        assert [] == service.judge(body, {}, growth)

        reply = turn(Call.of("f")).numbered(n)
        service.replied(body, n, reply)
        history += echoed(wire, reply, n)
    return [body in judged for body in requests]


@EACH
def test_what_goes_on_is_not_judged_again(wire: JudgedWire, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a history that goes on without a problem, only the new entries are judged."""
    assert [True, False, False, False] == goes_on(wire, monkeypatch)


@EACH
def test_a_long_history_is_taken_as_a_whole(wire: JudgedWire, monkeypatch: pytest.MonkeyPatch) -> None:
    """A history near the number of entries that services allow is judged as a whole, because no entry breaks that."""
    monkeypatch.setattr(grown, "LONG", 4)

    assert [True, False, True, True] == goes_on(wire, monkeypatch)


@EACH
def test_a_schema_judges_each_entry_by_itself(wire: JudgedWire) -> None:
    """No keyword of a history but its length, and none of a request, depends on more than one entry."""
    of_request = {"type", "required", "properties", "additionalProperties", "if", "else"}

    assert {"type", "items"} <= wire.schema["properties"][wire.history].keys()
    assert wire.schema["properties"][wire.history].keys() <= {"type", "items", "minItems", "maxItems"}
    assert {name for name in wire.schema if name[0] != "$" and name != "title"} <= of_request
