"""Legal histories of the wire, and what can be done wrong to one."""

from __future__ import annotations

from hypothesis import strategies as st

from meta.judge.responses.bodies import Item, call, custom, custom_output, output, part, says, thought

TEXT = st.text(max_size=5)
SAID = st.one_of(
    st.builds(
        lambda role, text: {"role": role, "content": text}, st.sampled_from(["user", "system", "assistant"]), TEXT
    ),
    TEXT.map(says),
    TEXT.map(lambda text: {"type": "message", "role": "user", "content": [part("input_text", text=text)]}),
    st.just(thought(None, encrypted_content="sealed")),
)
OUTPUT = st.one_of(TEXT, TEXT.map(lambda text: [part("input_text", text=text)]))


@st.composite
def rounds(draw: st.DrawFn, names: st.SearchStrategy[list[str]]) -> list[Item]:
    """Calls with these call_ids, anything said, and their outputs in any order, perhaps with words between."""
    ids = draw(names, label="call ids")
    own = draw(st.booleans(), label="custom")
    ask, answer = (custom, custom_output) if own else (call, output)
    answers = [answer(name, output=draw(OUTPUT, label="output")) for name in draw(st.permutations(ids), label="order")]
    between = draw(st.lists(SAID, max_size=1), label="between")
    return [*(ask(name) for name in ids), *between, *answers]


def histories(names: st.SearchStrategy[list[str]]) -> st.SearchStrategy[list[Item]]:
    """Texts and rounds in any order, at least one of them."""
    stretches = st.one_of(SAID.map(lambda item: [item]), rounds(names))
    return st.lists(stretches, min_size=1, max_size=5).map(lambda parts: [one for some in parts for one in some])


LEGAL = histories(st.lists(st.sampled_from("abc"), min_size=1, max_size=4))
"""Any history whose calls are all answered, with ids that are used again."""


@st.composite
def marked(draw: st.DrawFn) -> tuple[list[Item], int, int]:
    """A legal history, the place of one function call in it, and the place of its output."""
    before = draw(histories(st.just(["before"])), label="before")
    ids = draw(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True), label="ids")
    answered = draw(st.permutations(ids), label="order")
    after = draw(histories(st.just(["after"])), label="after")
    which = draw(st.integers(0, len(ids) - 1), label="which call")
    history = [*before, *(call(name) for name in ids), *(output(name) for name in answered), *after]
    return history, len(before) + which, len(before) + len(ids) + answered.index(ids[which])


Wrong = tuple[list[Item], list[str]]


def _drop_the_output(history: list[Item], _: int, answer: int) -> Wrong:
    del history[answer]
    return history, ["every-call-is-answered"]


def _drop_the_call(history: list[Item], asker: int, _: int) -> Wrong:
    del history[asker]
    return history, ["outputs-answer-a-call"]


def _rename_the_output(history: list[Item], _: int, answer: int) -> Wrong:
    history[answer]["call_id"] = "x"
    return history, ["outputs-answer-a-call", "every-call-is-answered"]


def _answer_as_custom(history: list[Item], _: int, answer: int) -> Wrong:
    history[answer]["type"] = "custom_tool_call_output"
    return history, ["outputs-answer-a-call", "every-call-is-answered"]


def _repeat(history: list[Item], _: int, answer: int) -> Wrong:
    history.insert(answer, history[answer])
    return history, ["one-output-per-call"]


def _move_to_the_front(history: list[Item], _: int, answer: int) -> Wrong:
    moved = history.pop(answer)
    return [moved, *history], ["outputs-answer-a-call", "every-call-is-answered"]


def _lose_the_id(history: list[Item], _: int, answer: int) -> Wrong:
    del history[answer]["call_id"]
    return history, ["outputs-are-whole", "outputs-answer-a-call", "every-call-is-answered"]


def _object_as_output(history: list[Item], _: int, answer: int) -> Wrong:
    history[answer]["output"] = {"x": 1}
    return history, ["outputs-are-whole"]


def _object_as_arguments(history: list[Item], asker: int, _: int) -> Wrong:
    history[asker]["arguments"] = {"x": 1}
    return history, ["arguments-are-text"]


def _call_id_as_id(history: list[Item], asker: int, _: int) -> Wrong:
    history[asker]["id"] = "call_1a"
    return history, ["item-ids-fit-their-kind"]


def _same_id_twice(history: list[Item], asker: int, answer: int) -> Wrong:
    history[asker]["id"] = history[answer]["id"] = "fc_a"
    return history, ["items-come-once"]


def _thought_before_an_output(history: list[Item], _: int, answer: int) -> Wrong:
    history.insert(answer, thought("rs_a", encrypted_content="sealed"))
    return history, ["thoughts-come-with-what-followed"]


MUTATIONS = (
    _drop_the_output,
    _drop_the_call,
    _rename_the_output,
    _answer_as_custom,
    _repeat,
    _move_to_the_front,
    _lose_the_id,
    _object_as_output,
    _object_as_arguments,
    _call_id_as_id,
    _same_id_twice,
    _thought_before_an_output,
)
