"""What each broken loop breaks of the profile ``anthropic-loop``, and what falls with it."""

from __future__ import annotations

from meta.loops import broken, broken_history, broken_stops
from meta.loops import broken_anthropic as loops
from meta.loops.faults import Fault, because

PLAIN = ("anthropic-messages/plain/sync",)
STREAM = ("anthropic-messages/stream/sync",)

PRUNED = (
    "claude-pruning-keeps-the-prompt",
    "claude-pruning-keeps-the-latest-rounds",
    "claude-pruning-drops-older-rounds",
    "claude-pruning-beyond-the-rounds-drops-none",
    "claude-pruning-changes-no-tool-run",
)
"""What is judged by several rounds, one of them paused."""
FAILURES = (
    "claude-failed-results-are-marked",
    "claude-failed-results-tell-why",
    "claude-failing-call-leaves-the-others-whole",
)
"""What is judged by the result of a tool that failed."""
UNKNOWN_TOOLS = ("claude-unknown-tool-is-loud", "claude-unknown-tool-is-never-unanswered")
"""What is judged by a call that nobody can run."""
RESULTS = ("claude-results-carry-their-ids", "claude-results-keep-call-order")
"""What is judged by two results."""
STOPPED = (
    "claude-ended-turn-runs-nothing",
    "claude-stop-sequence-runs-nothing",
    "claude-unknown-stop-reason-runs-nothing",
    "claude-truncated-turn-runs-nothing",
    "claude-refused-turn-runs-nothing",
)
"""What is judged by a turn that is not to be run."""

STOPS = [
    Fault(broken_stops.CutCallsRun, ("claude-truncated-turn-runs-nothing",), PLAIN),
    Fault(broken_stops.RefusedCallsRun, ("claude-refused-turn-runs-nothing",), PLAIN),
    Fault(
        loops.UnknownStopsRun,
        ("claude-unknown-stop-reason-runs-nothing",),
        PLAIN,
        also=because("the loop goes on with their results", "claude-unknown-stop-reason-ends-the-loop"),
    ),
    Fault(
        loops.EmptyMessage,
        ("claude-paused-turn-is-resumed",),
        PLAIN,
        also=because(
            "the service refuses the empty message, and the run ends there",
            *PRUNED,
            "claude-pauses-are-bounded",
            "claude-pruning-to-none-drops-all",
        ),
    ),
    Fault(
        broken_stops.PauseIsTheEnd,
        ("claude-paused-turn-is-resumed",),
        PLAIN,
        also=because(
            "not reached: the run ends at the pause",
            *PRUNED,
            "claude-pauses-are-bounded",
            "claude-pruning-to-none-drops-all",
        ),
    ),
    Fault(loops.Nobody, ("claude-nothing-empty-is-sent",), PLAIN),
    Fault(
        broken.OneTooMany,
        ("claude-limit-counts-model-calls", "claude-default-limit-is-ten"),
        PLAIN,
        also=because("the limit takes hold too late", "claude-last-turn-runs-its-tools", "claude-limit-is-an-error"),
    ),
]
"""What a turn is, and how many there may be."""

CALLS = [
    Fault(
        loops.OneByOne,
        ("claude-calls-run-at-the-same-time",),
        PLAIN,
        also=because("not reached: needs a first call that ends after the second", *RESULTS),
    ),
    Fault(loops.AsTheyEnd, ("claude-results-keep-call-order",), PLAIN),
    Fault(
        loops.OneShort,
        ("claude-every-call-is-answered",),
        PLAIN,
        also=because(
            "needs two calls in a turn, and the service refuses an unanswered one",
            *PRUNED,
            *FAILURES,
            *UNKNOWN_TOOLS,
            *RESULTS,
            "claude-tool-errors-are-not-thrown",
            "claude-results-share-one-message",
        ),
    ),
    Fault(
        loops.OtherIds,
        ("claude-results-carry-their-ids",),
        PLAIN,
        also=because(
            "no result is found under its call's id, and the service refuses the request",
            *PRUNED,
            *FAILURES,
            *UNKNOWN_TOOLS,
            "claude-model-is-asked-until-it-answers",
            "claude-default-limit-is-ten",
            "claude-limit-counts-model-calls",
            "claude-last-turn-runs-its-tools",
            "claude-answer-in-the-last-turn-is-returned",
            "claude-limit-is-an-error",
            "claude-history-only-grows",
            "claude-tools-are-offered-every-time",
            "claude-tool-errors-are-not-thrown",
            "claude-hosted-calls-are-never-dispatched",
            "claude-mcp-stands-beside-tools",
            "claude-every-call-is-answered",
            "claude-results-keep-call-order",
            "claude-turn-precedes-its-results",
            "claude-answer-is-returned",
            "claude-thinking-goes-back",
            "claude-paused-turn-is-resumed",
        ),
    ),
    Fault(
        loops.ObjectsAsContent,
        ("claude-content-is-text-or-blocks",),
        PLAIN,
        also=because("the service reads nothing in such content", "claude-content-holds-the-value"),
    ),
    Fault(
        broken_history.HostedDispatched,
        ("claude-hosted-calls-are-never-dispatched",),
        PLAIN,
        also=because(
            "the service refuses results for what it has run itself",
            *PRUNED,
            "claude-mcp-stands-beside-tools",
            "claude-every-call-is-answered",
            "claude-results-carry-their-ids",
        ),
    ),
    Fault(
        loops.Throws,
        ("claude-tool-errors-are-not-thrown",),
        PLAIN,
        also=because("not reached: the run ends with the error", *FAILURES),
    ),
    Fault(
        loops.ErrorsUnmarked,
        ("claude-failed-results-are-marked",),
        PLAIN,
        also=because("what cannot be run has to be marked too", "claude-unknown-tool-is-loud"),
    ),
    Fault(loops.Reticent, ("claude-failed-results-tell-why",), PLAIN),
    Fault(loops.Ignored, ("claude-unknown-tool-is-never-unanswered", "claude-unknown-tool-is-loud"), PLAIN),
    Fault(
        broken_history.TextDropped,
        ("claude-turn-precedes-its-results",),
        PLAIN,
        also=because(
            "all of a turn goes back, wherever it stands",
            "claude-pruning-keeps-the-latest-rounds",
            "claude-pruning-beyond-the-rounds-drops-none",
            "claude-hosted-blocks-go-back",
            "claude-paused-turn-is-resumed",
        ),
    ),
    Fault(broken_history.OneMessageEach, ("claude-results-share-one-message",), PLAIN),
    Fault(
        broken_history.TextFirst,
        ("claude-results-come-first", "claude-results-stand-alone"),
        PLAIN,
        also=because(
            "the service refuses the request with the results, and the run ends there",
            *PRUNED,
            "claude-tool-errors-are-not-thrown",
            "claude-results-stand-alone-beside-a-pending-tool",
        ),
    ),
]
"""What runs, and what goes back of it."""

STREAMS = [
    Fault(loops.ParsesNothing, ("claude-empty-input-is-an-object",), STREAM),
    Fault(
        loops.Twice,
        ("claude-eager-calls-run-at-most-once",),
        STREAM,
        also=because(
            "every call of a stream runs twice",
            *RESULTS,
            *STOPPED,
            "claude-model-is-asked-until-it-answers",
            "claude-last-turn-runs-its-tools",
            "claude-calls-run-at-the-same-time",
            "claude-failing-call-leaves-the-others-whole",
            "claude-unknown-tool-is-never-unanswered",
            "claude-hosted-calls-are-never-dispatched",
            "claude-mcp-stands-beside-tools",
            "claude-pruning-keeps-the-latest-rounds",
            "claude-pruning-beyond-the-rounds-drops-none",
            "claude-every-call-is-answered",
            "claude-input-is-accumulated",
            "claude-input-is-accumulated-by-index",
            "claude-empty-input-is-an-object",
            "claude-pings-and-unknown-events-are-skipped",
            "claude-no-input-is-parsed-in-pieces",
            "claude-invalid-input-runs-nothing",
            "claude-every-call-runs",
            "claude-tool-use-runs-the-calls",
            "claude-paused-turn-is-resumed",
        ),
    ),
    Fault(
        loops.Secretly,
        ("claude-nothing-runs-before-the-stop-reason",),
        STREAM,
        also=because(
            "what has started early cannot be taken back, nor waited for together",
            *RESULTS,
            *STOPPED,
            "claude-calls-run-at-the-same-time",
            "claude-hosted-calls-are-never-dispatched",
            "claude-error-event-runs-nothing",
            "claude-cut-stream-runs-nothing",
        ),
    ),
]
"""What is made of deltas."""

PRUNING = [
    Fault(
        loops.HalfRounds,
        ("claude-pruning-leaves-no-orphan",),
        PLAIN,
        also=because(
            "the service refuses calls without results, and the run ends there",
            *PRUNED,
            "claude-pruning-to-none-drops-all",
        ),
    ),
    Fault(
        loops.NoneIsAll,
        ("claude-pruning-to-none-drops-all",),
        PLAIN,
        also=because("none is a number too", "claude-pruning-drops-older-rounds"),
    ),
    Fault(
        loops.Headless,
        ("claude-pruning-keeps-the-prompt",),
        PLAIN,
        also=because("what is left is not the prompt", "claude-pruning-to-none-drops-all"),
    ),
]
"""What is left out."""

FAULTS = [*STOPS, *CALLS, *STREAMS, *PRUNING]
