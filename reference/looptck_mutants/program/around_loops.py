"""Programs around mutants of the loop, one for each requirement of a loop that programs are judged by."""

from __future__ import annotations

from looptck_mutants.cells import MESSAGES_STREAM, RESPONSES_STREAM
from looptck_mutants.core import (
    arguments,
    beside,
    broad,
    equals,
    faults,
    histories,
    limits,
    policies,
    results,
    sse,
    stops,
    streams_chat,
    streams_messages,
    turns,
)
from looptck_mutants.program.parts import breaks


@breaks("program-final-text-is-returned")
class ProgramAnswersBackwards(broad.CoreAnswersBackwards):
    """Returns the text of the answer reversed."""


@breaks("program-every-call-is-answered")
class ProgramTwoResultsAtMost(results.TwoResultsAtMost):
    """Sends at most two results of a turn."""


@breaks("program-results-follow-their-calls")
class ProgramWordBeforeResults(broad.CoreWordBeforeResults):
    """Adds a user message between a turn and its results."""


@breaks("program-results-keep-call-order")
class ProgramLastResultFirst(results.LastResultFirst):
    """Sends the results of a turn in reverse order."""


@breaks("program-calls-are-echoed")
class ProgramNumberedNames(histories.NumberedNames):
    """Appends numbers to the names of repeated tools when it sends calls back."""


@breaks("program-text-beside-calls-is-echoed")
class ProgramTextDropped(histories.TextDropped):
    """Sends the calls of a turn back without its text."""


@breaks("program-text-before-calls-runs-the-calls")
class ProgramCallBehindTextDropped(beside.CallBehindTextDropped):
    """Drops the only call of a turn that has text too, and asks the model again."""


@breaks("program-equal-calls-run-again")
class ProgramCachedAnswers(equals.CachedAnswers):
    """Answers a call with the result of an equal call of an earlier turn."""


@breaks("program-ids-may-come-again")
class ProgramKnownIdsAnsweredAtOnce(equals.KnownIdsAnsweredAtOnce):
    """Answers a call with an earlier result if its id was used before."""


@breaks("program-twin-ids-lose-nothing")
class ProgramOneCallForEachId(turns.OneCallForEachId):
    """Keeps only the last of the calls that share an id."""


@breaks("program-loop-is-finite-by-default")
class ProgramNoLimit(limits.NoLimit):
    """Asks the model without a limit."""


@breaks("program-thinking-is-echoed", cells=MESSAGES_STREAM)
class ProgramSignatureChanged(histories.SignatureChanged):
    """Removes the padding from signatures."""


@breaks("program-thinking-leads-its-turn", cells=MESSAGES_STREAM)
class ProgramThinkingLast(histories.ThinkingLast):
    """Moves the thinking of a turn to its end when it sends it back."""


@breaks("program-bad-arguments-are-not-lost")
class ProgramBadArgumentsUntold(policies.BadArgumentsUntold):
    """Sends an empty result for a call with invalid arguments."""


@breaks("program-unknown-tool-is-not-lost")
class ProgramUnknownToolUntold(policies.UnknownToolUntold):
    """Answers a call of an unknown tool as if it had run."""


@breaks("program-raising-tool-runs-once")
class ProgramTriesAgain(arguments.TriesAgain):
    """Runs a tool again after it raised."""


@breaks("program-calls-decide-not-the-finish-reason")
class ProgramWordDecides(stops.WordDecides):
    """Does not run the calls of a turn with the finish reason stop."""


@breaks("program-announced-calls-that-never-come-end-the-loop")
class ProgramAnnouncedIsCalled(turns.AnnouncedIsCalled):
    """Asks the model again after a turn that announced calls and has none."""


@breaks("program-truncated-call-never-runs")
class ProgramCutCallsAreMended(stops.CutCallsAreMended):
    """Completes a truncated call by guessing, and runs it."""


@breaks("program-filtered-turn-runs-nothing")
class ProgramFilteredTurnsRun(stops.FilteredTurnsRun):
    """Runs the complete calls of a turn that the content filter truncated."""


@breaks("program-lost-call-is-told")
class ProgramLostCallIsAnAnswer(stops.LostCallIsAnAnswer):
    """Returns the text of a turn whose calls were truncated as a complete answer."""


@breaks("program-truncated-answer-is-told")
class ProgramTruncationUntold(stops.TruncationUntold):
    """Returns an answer that the token limit truncated as complete."""


@breaks("program-filtered-answer-is-told")
class ProgramFilterUntold(stops.FilterUntold):
    """Returns an answer that the content filter truncated as complete."""


@breaks("program-refusal-is-told")
class ProgramRefusalUntold(stops.RefusalUntold):
    """Returns a refusal as an empty answer."""


@breaks("program-interleaved-calls-stay-apart")
class ProgramChatCallsMerged(streams_chat.ChatCallsMerged):
    """Appends every piece of arguments to the latest call."""


@breaks("program-interleaved-blocks-stay-apart", cells=MESSAGES_STREAM)
class ProgramMessagesBlocksMerged(streams_messages.MessagesBlocksMerged):
    """Appends every piece of input to the latest block."""


@breaks("program-calls-in-one-delta-all-run")
class ProgramOneCallADelta(streams_chat.OneCallADelta):
    """Reads only the first call of a delta."""


@breaks("program-crlf-line-ends-are-read")
class ProgramLinesEndInLineFeeds(sse.LinesEndInLineFeeds):
    """Ends lines only at LF."""


@breaks("program-comments-are-skipped")
class ProgramCommentsAreData(sse.CommentsAreData):
    """Treats a comment as data."""


@breaks("program-space-after-colon-is-optional")
class ProgramColonAndSpace(sse.ColonAndSpace):
    """Drops the character after the colon, even if it is not a space."""


@breaks("program-unknown-events-are-skipped", cells=MESSAGES_STREAM)
class ProgramUnknownEventsRefused(streams_messages.UnknownEventsRefused):
    """Fails on an event of an unknown type."""


@breaks("program-missing-end-marker-is-tolerated")
class ProgramEndMarkerAwaited(streams_chat.EndMarkerAwaited):
    """Treats a stream without `[DONE]` as incomplete."""


@breaks("program-chunks-without-choices-are-skipped")
class ProgramChoicelessStartRefused(streams_chat.ChoicelessStartRefused):
    """Fails if the first chunk of a stream has no choices."""


@breaks("program-one-index-two-ids-are-two-calls")
class ProgramIndexIsTheCall(streams_chat.IndexIsTheCall):
    """Treats all deltas of an index as one call, whatever their ids."""


@breaks("program-missing-index-is-one-call")
class ProgramNoIndexNoCall(streams_chat.NoIndexNoCall):
    """Drops pieces of calls without an index."""


@breaks("program-first-index-may-be-one")
class ProgramIndexIsThePlace(streams_chat.IndexIsThePlace):
    """Drops calls whose index is not the next list position."""


@breaks("program-repeated-finish-runs-once")
class ProgramEachFinishRuns(streams_chat.EachFinishRuns):
    """Runs the calls once for each finish reason."""


@breaks("program-stream-without-finish-runs-nothing")
class ProgramAnyEndRunsCalls(faults.AnyEndRunsCalls):
    """Runs the calls of a stream that ended without its end mark."""


@breaks("program-stream-without-finish-is-told")
class ProgramAnyEndIsTheAnswer(faults.AnyEndIsTheAnswer):
    """Returns the text of a stream that ended without its end mark as the answer."""


@breaks("program-error-event-runs-nothing")
class ProgramErrorRunsCalls(faults.ErrorRunsCalls):
    """Runs the calls that arrived before an error in a stream."""


@breaks("program-error-event-is-told")
class ProgramErrorIsTheEnd(faults.ErrorIsTheEnd):
    """Returns the text that arrived before an error in a stream as the answer."""


@breaks("program-malformed-event-is-told")
class ProgramMalformedEventsSkipped(faults.MalformedEventsSkipped):
    """Skips an event that is not JSON."""


@breaks("program-cut-reply-runs-nothing")
class ProgramLateCutIgnored(faults.LateCutIgnored):
    """Runs the calls of a stream whose connection broke after their last piece."""


@breaks("program-cut-reply-is-told")
class ProgramCutTextIsTheAnswer(faults.CutTextIsTheAnswer):
    """Returns the text that arrived before the connection broke as the answer."""


@breaks("program-broken-reply-reruns-no-tool")
class ProgramBreakRerunsTools(faults.BreakRerunsTools):
    """Runs the last calls again if the reply to their results broke off."""


@breaks("program-http-error-is-told")
class ProgramErrorIsTheAnswer(faults.ErrorIsTheAnswer):
    """Returns the provider's error message as the answer."""


@breaks("program-retry-never-reruns-a-tool")
class ProgramRetryRerunsTools(faults.RetryRerunsTools):
    """Runs the last calls again before it repeats a failed request."""


@breaks("program-call-runs-its-tool-once", "program-every-call-of-a-turn-runs")
class ProgramRunsThrice(broad.CoreRunsThrice):
    """Runs each tool three times."""


@breaks("program-answer-without-calls-ends-the-loop", "program-empty-answer-ends-the-loop")
class ProgramNeverEnds(broad.CoreNeverEnds):
    """Asks the model again after its answer."""


@breaks("program-reasoning-is-echoed", cells=RESPONSES_STREAM)
class ProgramEchoesGarbled(broad.CoreEchoesGarbled):
    """Sends turns back with changed texts and arguments."""
