"""The smallest histories that break each rule, beside the nearest ones that break none; each judged by itself."""

from __future__ import annotations

from meta.judge.responses.bodies import (
    USER,
    call,
    custom,
    custom_output,
    output,
    reference,
    request,
    says,
    thought,
    tool_search,
)

CASES: tuple[tuple[str, object, object], ...] = (
    ("every-call-is-answered", request(USER, call()), request(USER, call(), output())),
    ("every-call-is-answered", request(call("a"), call("b"), output("b")), request(call(), USER, says(), output())),
    ("every-call-is-answered", request(call(), call(), output()), request(call(), call(), output(), output())),
    ("every-call-is-answered", request(custom()), request(custom(), custom_output())),
    (
        "every-call-is-answered",
        request(call(), output(), call()),
        request(call(), output(), call(), output()),
    ),
    ("outputs-answer-a-call", request(USER, output()), request(output(), previous_response_id="resp_a")),
    ("outputs-answer-a-call", request(output(), call()), request(reference("fc_a"), output())),
    (
        "outputs-answer-a-call",
        request(call("a", id="fc_a"), output("fc_a")),
        request(call("a", id="fc_a"), output("a")),
    ),
    ("outputs-answer-a-call", request(custom(), output()), request(output(), conversation="conv_a")),
    (
        "outputs-answer-a-call",
        request(call(), output(), custom_output()),
        request(call(), output(), custom(), custom_output()),
    ),
    ("outputs-answer-a-call", request(tool_search(execution="server"), output()), request(tool_search(), output())),
    ("outputs-answer-a-call", request(output(), tool_search()), request(USER, tool_search())),
    (
        "outputs-answer-a-call",
        request(tool_search(), custom_output()),
        request(tool_search("a"), call("a"), output("a")),
    ),
    ("one-output-per-call", request(call(), output(), output()), request(call(), output())),
    ("one-output-per-call", request(tool_search(), output(), output()), None),
    ("item-ids-fit-their-kind", request(call(id="call_a"), output()), request(call(id="fc_a"), output())),
    ("item-ids-fit-their-kind", request(call(), output(id="ctc_a")), request(call(), output(id="fc_b"))),
    ("item-ids-fit-their-kind", request(says(id="resp_a")), request(says(id="msg_a"))),
    (
        "item-ids-fit-their-kind",
        request({"type": "computer_call", "id": []}),
        request({"type": "computer_call", "id": "cu"}),
    ),
    ("item-ids-fit-their-kind", request(thought("a"), says()), request(thought("rs_a"), says(id="msg_a"))),
    ("items-come-once", request(says(id="msg_a"), says(id="msg_a")), request(says(id="msg_a"), says(id="msg_b"))),
    ("items-come-once", request(says(id="msg_a"), reference("msg_a")), request(says(), says())),
    ("thoughts-come-with-what-followed", request(USER, thought()), request(USER, thought(None))),
    ("thoughts-come-with-what-followed", request(thought(), USER), request(thought(), says(id="msg_a"), USER)),
    (
        "thoughts-come-with-what-followed",
        request(call(), thought("rs_a", encrypted_content="x"), output(), store=False),
        request(thought("rs_a", encrypted_content="x"), call(), output(), store=False),
    ),
    (
        "thoughts-come-with-what-followed",
        request(thought("rs_a", encrypted_content="x"), call(), output()),
        request(thought(None, encrypted_content="x"), call(), output()),
    ),
    (
        "thoughts-come-with-what-followed",
        request(thought("rs_a", encrypted_content="x"), custom(), custom_output(), store=True),
        request(thought("rs_a", encrypted_content="x"), custom(), custom_output(), store=False),
    ),
    (
        "thoughts-come-with-what-followed",
        request(thought("rs_a", encrypted_content="x"), says(), USER, store=False),
        request(thought(None, encrypted_content="x"), says(), USER, store=False),
    ),
    (
        "thoughts-come-with-what-followed",
        request(thought("rs_a", encrypted_content="x"), says(), USER),
        request(thought("rs_a", encrypted_content="x"), says(id="msg_a"), USER),
    ),
    (
        "thoughts-come-with-what-followed",
        request(thought("rs_a", encrypted_content=""), call(), output(), store=False),
        request(thought("rs_a", encrypted_content=""), call(id="fc_a"), output(), store=False),
    ),
    (
        "thoughts-come-with-what-followed",
        request(thought(), call(), output()),
        request(thought(), call(id="fc_a"), output()),
    ),
)
"""The rule, a body that breaks it and no other before it, and a body that breaks none."""
