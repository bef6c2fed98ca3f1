"""Legal histories of the wire, and what can be done wrong to one."""

from __future__ import annotations

from hypothesis import strategies as st

from meta.judge.chat.bodies import USER, Message, asks, call, part, result

TEXT = st.text(max_size=5)
CONTENT = st.one_of(TEXT, TEXT.map(lambda text: [part("text", text=text)]))
BESIDE_CALLS = st.one_of(st.none(), CONTENT).map(lambda content: {"content": content})
MEMBERS = st.one_of(BESIDE_CALLS, st.just({"refusal": None, "annotations": []}))
SAID = st.builds(
    lambda role, content: {"role": role, "content": content},
    st.sampled_from(["user", "assistant", "system"]),
    CONTENT,
)


@st.composite
def rounds(draw: st.DrawFn, names: st.SearchStrategy[list[str]]) -> list[Message]:
    """An assistant message with calls of these ids, and their results in any order."""
    ids = draw(names, label="call ids")
    calls = [call(name, function={"name": "f", "arguments": draw(TEXT, label="arguments")}) for name in ids]
    answers = [
        result(name, content=draw(CONTENT, label="result")) for name in draw(st.permutations(ids), label="order")
    ]
    return [asks(*calls, **draw(MEMBERS, label="next to the calls")), *answers]


def histories(names: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[Message]]:
    """Texts and rounds in any order."""
    stretches = st.one_of(SAID.map(lambda message: [message]), rounds(names))
    return st.lists(stretches, min_size=1, max_size=5).map(lambda parts: [one for some in parts for one in some])


LEGAL = histories(st.lists(st.sampled_from("abc"), min_size=1, max_size=4))
"""Any history whose calls are all answered, with ids that are used again."""


@st.composite
def marked(draw: st.DrawFn) -> tuple[list[Message], int, int]:
    """A legal history, the place of one assistant message with calls in it, and the place of one of its results."""
    before = draw(histories(st.just(["before"])), label="before")
    ids = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True), label="ids")
    turn = draw(rounds(st.just(ids)), label="round")
    after = draw(histories(st.just(["after"])), label="after")
    asker = len(before)
    answer = asker + draw(st.integers(1, len(ids)), label="which result")
    return [*before, *turn, *after], asker, answer


Wrong = tuple[list[Message], list[str]]


def _drop(history: list[Message], _: int, answer: int) -> Wrong:
    del history[answer]
    return history, ["every-call-is-answered"]


def _rename(history: list[Message], _: int, answer: int) -> Wrong:
    history[answer]["tool_call_id"] = "x"
    return history, ["results-name-a-known-call", "every-call-is-answered"]


def _lose_the_id(history: list[Message], _: int, answer: int) -> Wrong:
    del history[answer]["tool_call_id"]
    return history, ["results-carry-a-call-id", "every-call-is-answered"]


def _repeat(history: list[Message], _: int, answer: int) -> Wrong:
    history.insert(answer, history[answer])
    return history, ["one-result-per-call"]


def _put_between(history: list[Message], _: int, answer: int) -> Wrong:
    history.insert(answer, USER)
    return history, ["results-follow-their-calls"]


def _move_to_the_end(history: list[Message], _: int, answer: int) -> Wrong:
    return [*history[:answer], *history[answer + 1 :], USER, history[answer]], ["results-follow-their-calls"]


def _move_to_the_front(history: list[Message], _: int, answer: int) -> Wrong:
    moved = history.pop(answer)
    return [moved, *history], ["results-answer-a-call", "every-call-is-answered"]


def _forget_the_calls(history: list[Message], asker: int, _: int) -> Wrong:
    count = len(history[asker]["tool_calls"])
    history[asker] = {"role": "assistant", "content": "x"}
    return history, ["results-answer-a-call"] * count


def _empty_the_calls(history: list[Message], asker: int, _: int) -> Wrong:
    count = len(history[asker]["tool_calls"])
    history[asker]["tool_calls"] = []
    return history, ["calls-are-a-filled-list", *["results-answer-a-call"] * count]


def _object_as_content(history: list[Message], _: int, answer: int) -> Wrong:
    history[answer]["content"] = {"x": 1}
    return history, ["tool-content-is-text"]


def _no_content(history: list[Message], _: int, answer: int) -> Wrong:
    history[answer]["content"] = None
    return history, ["content-is-present"]


def _object_as_arguments(history: list[Message], asker: int, _: int) -> Wrong:
    history[asker]["tool_calls"][0]["function"]["arguments"] = {"x": 1}
    return history, ["arguments-are-text"]


MUTATIONS = (
    _drop,
    _rename,
    _lose_the_id,
    _repeat,
    _put_between,
    _move_to_the_end,
    _move_to_the_front,
    _forget_the_calls,
    _empty_the_calls,
    _object_as_content,
    _no_content,
    _object_as_arguments,
)
