"""What each broken loop breaks of the profile ``prompty-agent-mode``, and what else falls with it, and why."""

from __future__ import annotations

from meta.loops import broken, broken_history, broken_streams
from meta.loops import broken_agent_mode as loops
from meta.loops import broken_agent_mode_requests as requests
from meta.loops.faults import CHAT_STREAM, Fault, because

PLAIN = ("*/plain/sync",)
SAYABLE = ("openai-*/plain/sync", "anthropic-messages/stream/sync")
"""Where a model can write arguments that are no JSON."""
ONE = ("openai-chat/plain/sync",)
"""Enough where a fault is in the loop itself."""
ASYNC = ("openai-chat/*/async",)
OTHERS = "mode-failing-call-leaves-the-others-whole"
ONE_OF_THREE = {OTHERS: "one of the three ways in which a call fails"}

ERRORS = [
    Fault(
        loops.BadArgumentsRaise,
        ("mode-bad-arguments-are-fed-back",),
        SAYABLE,
        also={**ONE_OF_THREE, "mode-bad-arguments-have-the-documents-text": "there is no text at all"},
    ),
    Fault(
        loops.ToolErrorsRaise,
        ("mode-raising-tool-is-fed-back",),
        PLAIN,
        also={**ONE_OF_THREE, "mode-raising-tool-has-the-documents-text": "there is no text at all"},
    ),
    Fault(
        loops.UnknownToolsRaise,
        ("mode-unknown-tool-is-fed-back",),
        PLAIN,
        also={**ONE_OF_THREE, "mode-unknown-tool-has-the-documents-text": "there is no text at all"},
    ),
    Fault(
        loops.BadArgumentsAreNone,
        ("mode-bad-arguments-run-nothing",),
        SAYABLE,
        also={
            **ONE_OF_THREE,
            **because(
                "the tool's result stands where the error should",
                "mode-bad-arguments-are-fed-back",
                "mode-bad-arguments-have-the-documents-text",
            ),
        },
    ),
    Fault(
        loops.OtherWords,
        (
            "mode-bad-arguments-have-the-documents-text",
            "mode-raising-tool-has-the-documents-text",
            "mode-unknown-tool-has-the-documents-text",
            "mode-limit-error-has-the-documents-text",
        ),
        SAYABLE,
    ),
    Fault(
        loops.SkipsTheRest,
        (OTHERS,),
        ONE,
        also={"mode-raising-tool-is-fed-back": "the second of two raising tools is skipped"},
    ),
]
"""What is wrong with a call."""

LIMITS = [
    Fault(loops.RuntimeErrorAtTheLimit, ("mode-limit-raises-value-error",), PLAIN),
    Fault(
        broken.OneTooMany,
        ("mode-limit-counts-cycles", "mode-default-limit-is-ten"),
        PLAIN,
        also={"mode-last-cycle-runs-its-tools": "one model call more is one round more"},
    ),
    Fault(
        loops.OneTooFew,
        ("mode-answer-in-the-last-cycle-is-returned", "mode-limit-counts-cycles"),
        ONE,
        also={
            "mode-default-limit-is-ten": "the default is a limit too",
            **because(
                "not reached: the limit strikes before the last cycle",
                "mode-last-cycle-runs-its-tools",
                "mode-limit-raises-value-error",
                "mode-limit-error-has-the-documents-text",
            ),
        },
    ),
    Fault(loops.LastRoundLost, ("mode-last-cycle-runs-its-tools",), ONE),
]
"""How a loop gives up."""

ENDS = [
    Fault(loops.CallsDecide, ("mode-other-finish-reason-is-final",), ("openai-chat/*/sync",)),
    Fault(
        loops.TextDecides,
        ("mode-finish-reason-tool-calls-runs-tools",),
        ONE,
        also={"mode-turn-is-appended-as-it-came": "not reached: what is appended has text"},
    ),
    Fault(
        loops.StopsEarly,
        ("mode-model-is-asked-until-it-answers",),
        ONE,
        also={
            "mode-default-limit-is-ten": "it has enough before that",
            **because(
                "five cycles are allowed, and it has enough before",
                "mode-limit-counts-cycles",
                "mode-answer-in-the-last-cycle-is-returned",
                "mode-limit-error-has-the-documents-text",
            ),
        },
    ),
    Fault(loops.FirstLine, ("mode-answer-is-returned",), ONE),
]
"""What ends a loop."""

OFFERS = [
    Fault(
        requests.Unfilled,
        ("mode-inputs-fill-the-prompt", "mode-agent-file-is-the-prompt", "mode-input-default-is-used"),
        ONE,
    ),
    Fault(requests.Unresolved, ("mode-environment-default-is-used",), ONE),
    Fault(requests.FunctionsForgotten, ("mode-functions-run-for-a-loaded-agent",), ONE),
    Fault(requests.Undescribed, ("mode-declared-tools-are-offered", "mode-tools-are-offered-every-time"), ONE),
    Fault(
        requests.StrictIgnored,
        (
            "mode-strict-schema-is-closed",
            "mode-strict-schema-requires-optional-parameters",
            "mode-strict-flag-is-sent",
            "mode-declared-strict-tool-is-strict",
        ),
        PLAIN,
    ),
    Fault(
        requests.NothingRequired,
        ("mode-strict-schema-requires-its-parameters",),
        ONE,
        also={
            "mode-strict-schema-requires-optional-parameters": "nothing is required, so those are not",
            "mode-declared-strict-tool-is-strict": "a declared tool requires nothing either",
            "mode-strict-flag-is-sent": "the service would refuse such a schema with the flag",
        },
    ),
    Fault(
        requests.ToolsOnce,
        ("mode-tools-are-offered-every-time",),
        # Messages refuses a history with calls and no tools, and nothing of what comes then would tell of this fault.
        ("openai-*/plain/sync",),
        also={"mode-declared-tools-are-offered": "every request has to offer them"},
    ),
]
"""What the model is asked with."""

REFUSED = "the service refuses a history with unanswered calls"

HISTORY = [
    Fault(
        requests.Forgetful,
        ("mode-each-request-carries-all-messages",),
        ONE,
        also={"mode-model-is-asked-until-it-answers": "not reached: the results before the last are not there"},
    ),
    Fault(broken_history.TextDropped, ("mode-turn-is-appended-as-it-came",), ONE),
    Fault(requests.Respelled, ("mode-echoed-call-is-the-models-own",), ONE),
    Fault(
        requests.Joined,
        ("mode-one-result-for-each-call", "mode-tool-message-format"),
        ONE,
        also={
            "mode-functions-are-found-by-name": "the first call got the results of all",
            "mode-turn-is-appended-as-it-came": "two results are due behind it",
            OTHERS: "the others have no result of their own",
            "mode-raising-tool-is-fed-back": REFUSED,
        },
    ),
    Fault(requests.InParts, ("mode-tool-message-format",), ONE),
    Fault(loops.OneLine, ("mode-result-is-the-tools-text",), ONE),
]
"""What is appended."""

CALLS = [
    Fault(loops.AnyCase, ("mode-functions-are-found-by-name",), ONE),
    Fault(loops.ByPosition, ("mode-arguments-are-keywords",), ONE),
    Fault(loops.LastFirst, ("mode-tools-run-one-after-the-other",), ONE),
    Fault(
        broken.FirstCallOnly,
        ("mode-calls-are-executed",),
        ONE,
        also=because(
            "needs two calls in a turn",
            "mode-finish-reason-tool-calls-runs-tools",
            "mode-functions-are-found-by-name",
            "mode-one-result-for-each-call",
            "mode-raising-tool-is-fed-back",
            "mode-tool-message-format",
            "mode-tools-run-one-after-the-other",
            "mode-turn-is-appended-as-it-came",
            OTHERS,
        ),
    ),
    Fault(
        loops.Unawaited,
        ("mode-async-tools-are-awaited",),
        ASYNC,
        also=because(
            "no tool of an async run has run",
            "mode-arguments-are-keywords",
            "mode-bad-arguments-are-fed-back",
            "mode-bad-arguments-run-nothing",
            "mode-calls-are-collected-before-any-runs",
            "mode-calls-are-executed",
            "mode-finish-reason-tool-calls-runs-tools",
            "mode-functions-are-found-by-name",
            "mode-functions-run-for-a-loaded-agent",
            "mode-last-cycle-runs-its-tools",
            "mode-model-is-asked-until-it-answers",
            "mode-other-finish-reason-is-final",
            "mode-plain-tools-run-in-async-runs",
            "mode-raising-tool-has-the-documents-text",
            "mode-raising-tool-is-fed-back",
            "mode-result-is-the-tools-text",
            "mode-streamed-calls-are-accumulated",
            "mode-tool-message-format",
            "mode-tools-run-one-after-the-other",
            OTHERS,
        ),
    ),
    Fault(loops.OneForAll, ("mode-plain-tools-run-in-async-runs",), ASYNC),
]
"""How tools run."""

STREAMS = [
    Fault(
        requests.SilentStream,
        ("mode-plain-and-stream-ask-the-same",),
        CHAT_STREAM,
        also={"mode-turn-is-appended-as-it-came": "the text is not appended either"},
    ),
    Fault(requests.FewPieces, ("mode-streamed-calls-are-accumulated",), CHAT_STREAM),
    Fault(
        broken_streams.Eager,
        ("mode-calls-are-collected-before-any-runs",),
        CHAT_STREAM,
        also={
            "mode-other-finish-reason-is-final": "the call has run before the finish reason came",
            **because(
                "what a tool raises in the middle of a stream ends the run",
                "mode-raising-tool-has-the-documents-text",
                "mode-raising-tool-is-fed-back",
                OTHERS,
            ),
        },
    ),
]
"""How a stream is read."""

FAULTS = [*ERRORS, *LIMITS, *ENDS, *OFFERS, *HISTORY, *CALLS, *STREAMS]
