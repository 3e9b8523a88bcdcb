"""What was seen of an agent's work: calls of tools, programs, tokens; pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from caesar_agent.documents.event import Event
from caesar_agent.documents.report import Report
from caesar_agent.events.tool_calls import pair_tools
from pytest_caesar.recovery.tool_call import CallStatus, ToolCall, from_text
from pytest_caesar.recovery.usage import Usage, usage
from pytest_caesar.runs.command_findings import with_changed_after
from pytest_caesar.runs.command_reconciliation import (
    Command,
    ObservedCommand,
    Witnessed,
    from_calls,
    joined,
    reconcile_commands,
)
from pytest_caesar.runs.prices import Prices, priced
from pytest_caesar.workspace.change_times import ChangeTime


@dataclass(frozen=True, slots=True, kw_only=True)
class Activity:
    """What others than the agent itself say of its work.

    Attributes:
        tool_calls: of its stream, in the order of their starts.
        whole: nothing of the stream was left unread.
        usage: what the stream tells.
        programs: calls of watched programs.
        model_calls: what was handed back to a model that is part of the harness.
        model_usage: what that model counted.
        written: when the changed paths changed last; None where nobody can tell.
        prices: of tokens, or None.
        model: whom the agent was told to ask, or None.
    """

    tool_calls: tuple[ToolCall, ...] = ()
    whole: bool = True
    usage: Usage = field(default_factory=Usage)
    programs: tuple[ObservedCommand, ...] = ()
    model_calls: tuple[ToolCall, ...] = ()
    model_usage: Usage = field(default_factory=Usage)
    written: tuple[ChangeTime, ...] | None = None
    prices: Prices | None = None
    model: str | None = None


def witnessed(activity: Activity) -> Witnessed:
    """Put all witnesses together."""
    calls = activity.tool_calls or activity.model_calls
    observed = from_calls(calls, "stream" if activity.tool_calls else "model")
    if activity.tool_calls:
        observed = joined(observed, from_calls(activity.model_calls, "model"))
    return Witnessed(joined(observed, activity.programs), calls, activity.whole)


def commands_of(activity: Activity, report: Report) -> tuple[Command, ...]:
    """Return the commands of either side, with what was changed after each."""
    commands = reconcile_commands(report.commands_run, witnessed(activity))
    return with_changed_after(commands, activity.written)


def best_usage(activity: Activity) -> Usage:
    """Return what is known without a report, while the agent works."""
    return _best(activity, Usage())


def usage_of(activity: Activity, report: Report) -> Usage:
    """Return what is known of tokens, cost and turns, from the best source that knows tokens.

    The stream first, then the model of the harness, then the report. Turns, duration and cost
    that this source does not know come from the stream.
    """
    told = report.usage
    declared = Usage()
    if told is not None:
        milliseconds = told.duration_ms
        declared = usage(
            input_tokens=told.input_tokens,
            output_tokens=told.output_tokens,
            cost_usd=told.cost_usd,
            duration=None if milliseconds is None else milliseconds / 1000,
            source="report",
        )
    return _best(activity, declared)


def _best(activity: Activity, declared: Usage) -> Usage:
    sources = (activity.usage, activity.model_usage, declared)
    best = next(
        (one for one in sources if one.input_tokens is not None or one.output_tokens is not None),
        next((one for one in sources if one.known), Usage()),
    )
    stream = activity.usage
    if best is not stream:
        best = replace(
            best,
            turns=best.turns if best.turns is not None else stream.turns,
            duration=best.duration if best.duration is not None else stream.duration,
            cost_usd=best.cost_usd if best.cost_usd is not None else stream.cost_usd,
            by_model=best.by_model or stream.by_model,
        )
    return priced(best, activity.prices, model=activity.model)


def calls_of(events: Iterable[Event]) -> tuple[ToolCall, ...]:
    """Return the calls of tools that events tell of, as far as events tell."""
    found = []
    for number, pair in enumerate(pair_tools(events)):
        first = pair.start or pair.end
        assert first is not None
        begun = from_text(pair.start.at) if pair.start else None
        ended = from_text(pair.end.at) if pair.end else None
        status: CallStatus = "started"
        if pair.end is not None:
            status = "failed" if pair.end.status == "failed" else "succeeded"
        found.append(
            ToolCall(
                tool=pair.tool,
                status=status,
                at=begun,
                duration=None
                if begun is None or ended is None
                else max(0.0, (ended - begun).total_seconds()),
                begun=number,
                done=None if pair.end is None else number,
            )
        )
    return tuple(found)
