"""What plugins add to single delegations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.task import Task
from pytest_caesar.extensions.calls import call_each, is_implemented
from pytest_caesar.extensions.errors import HookError
from pytest_caesar.runs.extensions import Extensions, Findings, RunningTask
from pytest_caesar.runs.prices import Price, price_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import pluggy

    from caesar_agent.documents.event import Event
    from pytest_caesar.runs.run import Run

APPENDED: Final = ("constraints", "acceptance_criteria")
"""Fields of a task that a hook may add sentences to."""

CODE: Final = re.compile(r"[a-z0-9][a-z0-9-]*/[a-z0-9][a-z0-9-]*")
"""The form of a code that is not ours."""


def extensions_of(manager: pluggy.PluginManager) -> Extensions | None:
    """Return what a delegation calls, or None where no plugin adds anything."""
    hooks = ("pytest_caesar_task", "pytest_caesar_event", "pytest_caesar_run_finished")
    if not any(is_implemented(manager, hook) for hook in hooks):
        return None
    calls = _Calls(manager)
    listening = is_implemented(manager, "pytest_caesar_event")
    return Extensions(
        task=calls.task, event=calls.event if listening else None, finished=calls.finished
    )


def prices_of(manager: pluggy.PluginManager) -> Callable[[str], Price | None] | None:
    """Return what tells the price of a model, or None where no plugin knows any."""
    hook = "pytest_caesar_prices"
    if not is_implemented(manager, hook):
        return None

    def ask(model: str) -> Price | None:
        for plugin, given in call_each(manager, hook, model=model):
            if isinstance(given, HookError):
                raise given
            if given is None:
                continue
            price = price_of(given)
            if price is None:
                problem = (
                    f"returned {given!r} for {model!r}: expected US dollars for one token as "
                    "input_cost_per_token and output_cost_per_token, or None"
                )
                raise HookError(plugin=plugin, hook=hook, problem=problem)
            return price
        return None

    return ask


def _finding(error: HookError) -> Diagnostic:
    return Diagnostic(code="hook-failed", message=str(error))


class _Calls:
    def __init__(self, manager: pluggy.PluginManager) -> None:
        self._manager = manager

    def task(self, task: Task, note: Findings) -> Mapping[str, Any]:
        """Return the fields that a task has beside its own, or in their place."""
        hook = "pytest_caesar_task"
        fields: dict[str, Any] = {}
        for plugin, given in call_each(self._manager, hook, task=task):
            error = given if isinstance(given, HookError) else None
            if error is None and given is not None:
                problem = _problem_of_fields(given)
                if problem:
                    error = HookError(plugin=plugin, hook=hook, problem=problem)
            if error is not None:
                note(_finding(error))
            elif given:
                _merge(fields, given, task)
        return fields

    def event(self, run: RunningTask, event: Event, note: Findings) -> None:
        """Tell plugins of an event; one that raises is named once for each task."""
        for _, given in call_each(self._manager, "pytest_caesar_event", run=run, event=event):
            if isinstance(given, HookError):
                note(_finding(given))

    def finished(self, run: Run, note: Findings) -> Sequence[Diagnostic]:
        """Return what plugins find."""
        hook = "pytest_caesar_run_finished"
        found: list[Diagnostic] = []
        for plugin, given in call_each(self._manager, hook, run=run):
            if isinstance(given, HookError):
                note(_finding(given))
                continue
            if given is None:
                continue
            listed = list(given) if isinstance(given, Iterable) else [given]
            problem = next(filter(None, map(_problem_of_finding, listed)), "")
            if problem:
                note(_finding(HookError(plugin=plugin, hook=hook, problem=problem)))
            else:
                found += listed
        return found


def _merge(fields: dict[str, Any], given: Mapping[str, Any], task: Task) -> None:
    for name, value in given.items():
        if name == "context":
            before = fields.get("context", task.context)
            fields["context"] = "\n\n".join(filter(None, (before, value)))
        elif name in APPENDED:
            fields[name] = (*fields.get(name, getattr(task, name)), *value)
        else:
            fields[name] = value


def _problem_of_fields(given: object) -> str:
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        return f"returned {given!r}: expected fields by name, or None"
    for name, value in given.items():
        if name == "context":
            if not isinstance(value, str):
                return f"returned {value!r} for context: expected a string"
        elif name in APPENDED:
            if isinstance(value, str) or not all(isinstance(one, str) for one in value):
                return f"returned {value!r} for {name}: expected a list of strings"
        elif name in Task.model_fields:
            return (
                f"returned the field {name}, which is the orchestrator's: add to context, "
                "constraints or acceptance_criteria, or give a field of your own"
            )
        else:
            try:
                json.dumps(value, allow_nan=False)
            except (TypeError, ValueError, RecursionError) as error:
                return f"returned the field {name}, which is no JSON value: {error}"
    return ""


def _problem_of_finding(found: object) -> str:
    if not isinstance(found, Diagnostic):
        return f"returned {found!r}: expected a list of Diagnostic"
    if not CODE.fullmatch(found.code):
        return (
            f"returned a finding with the code {found.code!r}: expected a prefix of your own and "
            "a name, such as acme/no-changelog"
        )
    return ""
