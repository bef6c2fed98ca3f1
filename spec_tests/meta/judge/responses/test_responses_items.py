"""The service takes its items back in every form that is legal, and refuses the others."""

from __future__ import annotations

from typing import Any

import pytest

from looptck.values.turns import Call, Hosted, Thinking, Unknown, calls, turn
from looptck.wires.openai_responses.encode import items
from looptck.wires.openai_responses.encrypted import said_to
from looptck.wires.openai_responses.read import echo
from meta.judge.responses.backend import ASKED, BARE, SENT, THOUGHT, answered, error, first
from meta.judge.responses.bodies import USER, Item, call, output, reference, request, thought

UNREAD = "could not be verified. Reason: Encrypted content could not be decrypted or parsed."
OTHERS = "could not be verified. Reason: Encrypted content item_id did not match the target item id."
FOLLOWING = "Item 'rs_thought_1a' of type 'reasoning' was provided without its required following item."
OTHER = Thinking("another", id="thought_9a").signature


@pytest.mark.parametrize(
    "given",
    [
        [SENT, ASKED],
        [{**SENT, "summary": []}, ASKED],
        [{"type": "reasoning", "summary": [], "encrypted_content": SENT["encrypted_content"]}, ASKED],
        [{"type": "reasoning", "summary": [], "encrypted_content": SENT["encrypted_content"]}, BARE],
        [{"type": "reasoning", "summary": [], "id": "rs_thought_1a"}, ASKED],
        [reference("rs_thought_1a"), ASKED],
        [reference("rs_thought_1a"), reference("fc_call_1a")],
    ],
)
def test_a_turn_comes_back_in_many_forms(given: list[Item]) -> None:
    """Whole, sealed, by id or by reference: it is accepted, and it reads the same."""
    backend = answered()
    body = request(USER, *given, output("call_1a"))

    assert [] == backend.judge(body)
    assert echo(THOUGHT) == list(backend.read(body).items[1:3])


def test_a_sealed_thought_and_a_bare_call_come_back_where_nothing_is_stored() -> None:
    """A call may lack its id behind a sealed thought in a request that says so, and in no other."""
    given = [USER, SENT, BARE, output("call_1a")]

    assert [] == answered(store=False).judge(request(*given, store=False))
    assert (400, "thoughts-come-with-what-followed", False) == first(answered(), request(*given))


def test_a_thought_that_is_referred_to_may_have_a_bare_call_behind_it() -> None:
    """A refusal of it was reported, contested and never recorded, so there is none; a thought alone is refused."""
    given = [USER, reference("rs_thought_1a"), BARE, output("call_1a")]

    assert [] == answered().judge(request(*given))
    assert "thoughts-come-with-what-followed" == answered().judge(request(USER, given[1], USER))[0].rule


def test_a_message_that_was_built_anew_is_refused() -> None:
    """Behind a thought with its id, the text of the answer alone is not the message that followed; whole it is."""
    turn_of_text = turn(Thinking("hm"), "Warm.").numbered(1)
    recorded_signature, sent = items(turn_of_text, 1)
    anew = {"role": "assistant", "content": "Warm."}

    for options in ({}, {"store": False}):
        backend = answered(turn_of_text, **options)
        refused = request(USER, recorded_signature, anew, USER, **options)

        assert "thoughts-come-with-what-followed" == backend.judge(refused)[0].rule
        assert [] == backend.judge(request(USER, recorded_signature, sent, USER, **options))
        assert [] == backend.judge(request(USER, {**recorded_signature, "id": None}, anew, USER, **options))


@pytest.mark.parametrize(
    ("include", "why"),
    [(["reasoning.encrypted_content"], "sent back without it"), ([], "its request did not say `include")],
    ids=["asked-for", "not-asked-for"],
)
def test_a_thought_without_its_content_is_explained(include: list[str], why: str) -> None:
    """The service says only that it did not store the item; the report says what the item lacks, and by whose fault."""
    options: dict[str, Any] = {"store": False, "include": include}
    bare = {name: value for name, value in SENT.items() if name != "encrypted_content"}

    [problem, *_] = answered(THOUGHT, **options).judge(request(USER, bare, ASKED, output("call_1a"), **options))

    assert "items-are-kept" == problem.rule
    assert why in problem.hint


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, True),
        ({"store": True}, True),
        ({"store": False, "include": ["reasoning.encrypted_content"]}, True),
        ({"store": False}, False),
        ({"store": False, "include": ["message.output_text.logprobs"]}, False),
        ({"store": False, "include": None}, False),
    ],
)
def test_encrypted_content_is_asked_for(options: dict[str, Any], told: bool) -> None:
    """The service stores its reply, or tells the encrypted content to a request that asks for it."""
    [said, _] = items(said_to(THOUGHT, request(USER, **options)), 1)

    assert told == ("encrypted_content" in said)
    assert {**SENT, "encrypted_content": None} == {**said, "encrypted_content": None}


def test_an_open_thought_comes_back() -> None:
    """A recorded server that encrypts nothing has nothing to lose: its thought is taken back though it stored none."""
    shown = turn(Thinking("hm", id="thought_1a", recorded_signature=""), *THOUGHT.calls)
    given = [{**SENT, "encrypted_content": ""}, ASKED, output("call_1a")]

    assert [] == answered(shown, store=False).judge(request(USER, *given))
    assert (404, "items-are-kept", False) == first(answered(store=False), request(USER, *given))


@pytest.mark.parametrize("following", [BARE, {"role": "assistant", "content": "Warm."}], ids=["call", "message"])
def test_what_follows_an_open_thought_may_be_built_anew_where_nothing_is_stored(following: Item) -> None:
    """A server that seals no thoughts and stores nothing knows no ids of items."""
    shown = turn(Thinking("hm", id="thought_1a", recorded_signature=""), *THOUGHT.calls)
    given = [USER, {**SENT, "encrypted_content": ""}, following]
    given += [output("call_1a")] if following is BARE else []

    assert [] == answered(shown, store=False).judge(request(*given, store=False))
    assert (400, "thoughts-come-with-what-followed", False) == first(answered(shown), request(*given))


def test_a_thought_under_the_id_of_a_call_is_refused() -> None:
    """A loop that mixes items up may send a thought without a seal under the id of a call: the service has no such."""
    body = request(USER, thought("fc_call_1a"), BARE, output("call_1a"))

    rules = {problem.rule for problem in answered(store=False).judge(body)}
    assert {"item-ids-fit-their-kind", "items-are-kept"} <= rules


def test_a_thought_comes_back_under_either_signature() -> None:
    """A recorded thought that the stream's last event sealed anew may come back as it was done, or as it was there."""
    backend = answered(turn(Thinking("hm", id="thought_1a", final_signature=OTHER), *THOUGHT.calls))

    for signature in (SENT["encrypted_content"], OTHER):
        body = request(USER, {**SENT, "encrypted_content": signature}, ASKED, output("call_1a"))

        assert [] == backend.judge(body)
        assert echo(THOUGHT) == list(backend.read(body).items[1:3])


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        ([ASKED], "items-come-with-their-thought"),
        ([reference("fc_call_1a")], "items-come-with-their-thought"),
        ([ASKED, SENT], "items-come-with-their-thought"),
        ([{"type": "reasoning", "summary": [], "id": "rs_thought_1a"}, BARE], "thoughts-come-with-what-followed"),
        ([call("call_1a"), SENT], "thoughts-come-with-what-followed"),
        ([{**SENT, "encrypted_content": SENT["encrypted_content"][:24]}, ASKED], "thoughts-are-the-services"),
        ([{**SENT, "encrypted_content": OTHER}, ASKED], "thoughts-are-the-services"),
        ([{**SENT, "id": "rs_other"}, BARE], "thoughts-are-the-services"),
        ([thought("rs_other"), ASKED], "items-are-kept"),
        ([reference("rs_other"), BARE], "items-are-kept"),
        ([SENT, reference("rs_thought_1a"), ASKED], "items-come-once"),
        ([SENT, ASKED, {"type": "x_unknown", "id": "unknown_1a"}], "items-are-of-known-kinds"),
    ],
)
def test_half_a_turn_is_refused(given: list[Item], rule: str) -> None:
    """What comes back in part, out of order, twice or changed where it is sealed is refused."""
    assert rule == answered().judge(request(USER, *given, output("call_1a")))[0].rule


def test_a_turn_without_its_thought_and_ids_is_accepted() -> None:
    """Recorded clients send the bare call, and are served."""
    assert [] == answered().judge(request(USER, BARE, output("call_1a")))


def test_the_words_for_a_missing_thought() -> None:
    """The service says which item lacks which thought."""
    assert {
        "message": "Item 'fc_call_1a' of type 'function_call' was provided without its required 'reasoning' item: "
        "'rs_thought_1a'.",
        "type": "invalid_request_error",
        "param": "input",
        "code": None,
    } == error(answered(), request(ASKED, output("call_1a")))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {**SENT, "encrypted_content": "gAAAAbcd=="},
            f"The encrypted content for item rs_thought_1a {UNREAD}",
        ),
        (
            thought(None, encrypted_content="gAAAAbcd=="),
            f"The encrypted content gAAA...cd== {UNREAD}",
        ),
        (
            {**SENT, "id": "rs_b"},
            f"The encrypted content for item rs_b {OTHERS}",
        ),
    ],
)
def test_the_words_for_a_broken_signature(given: Item, message: str) -> None:
    """The service says whose encrypted content it could not read."""
    wrong = error(answered(), request(given, BARE, output("call_1a")))

    assert (message, None, "invalid_encrypted_content") == (wrong["message"], wrong["param"], wrong["code"])


def test_a_broken_signature_reads_as_a_changed_thought() -> None:
    """A thought whose encrypted content is not the one that was issued is not the thought that was sent."""
    changed = {**SENT, "encrypted_content": SENT["encrypted_content"][:24]}

    assert echo(THOUGHT)[0] != answered().read(request(changed)).items[0]


@pytest.mark.parametrize(
    ("options", "stateful", "state_missing", "hint"),
    [({"store": False}, True, False, True), ({}, False, True, False), ({"store": False}, False, False, True)],
)
def test_an_id_alone_is_not_enough_where_nothing_is_stored(
    options: dict[str, Any],
    stateful: bool,
    state_missing: bool,
    hint: bool,
) -> None:
    """It is want of memory if the service was to store the item, and the loop's own fault if it was told not to."""
    backend = answered(stateful=stateful, **options)
    body = request(reference("rs_thought_1a"), reference("fc_call_1a"), output("call_1a"))

    assert (404, "items-are-kept", state_missing) == first(backend, body)
    message = error(backend, body)["message"]
    assert message.startswith("Item with id 'rs_thought_1a' not found.")
    assert hint == ("Items are not persisted when `store` is set to false." in message)


def test_a_lost_thought_is_not_required() -> None:
    """Of an item that it does not store, the service does not know which thought belongs to it."""
    backend = answered(store=False)

    assert [] == backend.judge(request(ASKED, output("call_1a")))


def test_a_thought_that_led_to_nothing_may_stand_alone() -> None:
    """Where the service itself sent nothing behind a thought, nothing is required behind it."""
    backend = answered(turn(Thinking("hm"), stop="length").numbered(1))

    assert [] == backend.judge(request(SENT, USER))


@pytest.mark.parametrize("id", ["same", "call_1a", ""])
def test_ids_of_items_differ_where_those_of_calls_do_not(id: str) -> None:
    """A script may say one call id twice, in a turn and in the next; no two items have one id, and all come back."""
    doubled = calls(Call("f", "{}", id), Call("g", "{}", id), Call("g", "x", id, custom=True))
    backend = answered(doubled)
    backend.replied(request(), 2, doubled)
    sent = [*items(doubled, 1), *items(doubled, 2)]

    assert 6 == len({item["id"] for item in sent})
    assert {id} == {item["call_id"] for item in sent}
    if id:
        outputs = [output(id)] * 4 + [{**output(id), "type": "custom_tool_call_output"}] * 2
        assert [] == backend.judge(request(*sent, *outputs))


def test_the_number_of_a_call_is_in_its_items_id() -> None:
    """A call that the script has numbered tells its item by that number."""
    turns = [calls(Call("f"), Call("g", "x", custom=True), text="Well.").numbered(n) for n in (1, 12)]

    assert ["msg_looptck0001_0", "fc_call_1a", "ctc_call_1b"] == [item["id"] for item in items(turns[0], 1)]
    assert ["msg_looptck0012_0", "fc_call_12a", "ctc_call_12b"] == [item["id"] for item in items(turns[1], 12)]


def test_pieces_of_every_kind_come_back() -> None:
    """Hosted tools, unknown pieces and phased text are taken as they were sent."""
    pieces = turn(Hosted(), Hosted("mcp", done=False), Unknown(), "Wait.", Call("note", "free text", custom=True))
    sent = pieces.numbered(1)
    backend = answered(sent)
    body = request(USER, *items(sent, 1), {"type": "custom_tool_call_output", "call_id": "call_1a", "output": "x"})

    assert [] == backend.judge(body)
    assert echo(sent) == list(backend.read(body).items[1:-1])


@pytest.mark.parametrize(
    ("following", "kind"),
    [
        ([BARE, output("call_1a")], "function_call"),
        ([{"role": "assistant", "content": "Warm."}], "message"),
        ([USER], ""),
        ([ASKED, output("call_1a")], ""),
        ([], ""),
    ],
)
def test_an_item_without_its_id_is_pointed_out(following: list[Item], kind: str) -> None:
    """The service says that the item is missing; a report adds that it is there, without its id."""
    told = next((one.reported for one in answered().judge(request(USER, SENT, *following)) if one.hint), "")

    hint = f"the {kind} behind it has no `id`, by which the service would know it"
    assert (f"{FOLLOWING} [{hint}]" if kind else "") == told
    assert "id`" not in str(error(answered(), request(USER, SENT, BARE, output("call_1a"))))
