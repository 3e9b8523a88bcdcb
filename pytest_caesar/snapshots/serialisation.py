"""From values to the bytes of snapshot files; pure."""

from __future__ import annotations

import json
import re
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any, Final

from caesar_agent.console import printable
from caesar_agent.documents.base import Part
from caesar_agent.documents.report import Report
from pytest_caesar.recovery.tool_call import ToolCall
from pytest_caesar.recovery.usage import Usage
from pytest_caesar.runs.command_reconciliation import Command
from pytest_caesar.runs.run import Events, Run
from pytest_caesar.snapshots.normalisation import Normaliser
from pytest_caesar.workspace.values import Patch

if TYPE_CHECKING:
    from caesar_agent.va.evidence import GateResult

KINDS: Final = {
    "run": "run.md",
    "report": "report.json",
    "patch": "patch.diff",
    "events": "events.json",
    "evidence": "evidence.json",
    "messages": "messages.json",
    "value": "value.json",
}
"""What can be recorded, and how its files end."""


_VARYING: Final[dict[type, frozenset[str]]] = {
    Command: frozenset({"started_at", "duration"}),
    ToolCall: frozenset({"at", "duration", "begun", "done"}),
    Usage: frozenset({"duration"}),
}
"""What differs each time, and is left out."""

OF_THE_MACHINE: Final = frozenset({"variable-not-passed"})
"""Findings that depend on where a test runs."""

VERDICTS: Final = {"matched": "as declared", "wrong-action": "wrong action"}
"""How a page says what is not plain from the verdict's own name."""


def kind_of(value: object) -> str:
    """Return the kind of a value, one of ``KINDS``.

    Raises:
        TypeError: it is neither a run, a part of one, nor a JSON value.
    """
    if isinstance(value, Run):
        return "run"
    if isinstance(value, Report):
        return "report"
    if isinstance(value, Patch):
        return "patch"
    if isinstance(value, Events):
        return "events"
    # Of the other protocol nothing is imported where nobody uses it.
    told = getattr(value, "caesar_snapshot_kind", None)
    if isinstance(told, str) and told in KINDS:
        return told
    if _is_plain(value):
        return "value"
    raise TypeError(
        f"caesar_snapshot compares a run, run.report, run.patch, run.events, a part of them, "
        f"evidence, messages, or a JSON value; found {type(value).__name__}"
    )


def serialise(value: object, normaliser: Normaliser) -> bytes:
    """Return the bytes of a value's snapshot file.

    Raises:
        TypeError: as for ``kind_of``.
    """
    kind = kind_of(value)
    if kind == "run":
        assert isinstance(value, Run)
        return _encoded(_run_page(value, normaliser))
    if kind == "patch":
        assert isinstance(value, Patch)
        return bytes(value)
    return _encoded(_json(normaliser.document(_plain(value))))


def _is_plain(value: object) -> bool:
    """Tell whether a value is JSON, or made of JSON and parts of a run."""
    if value is None or isinstance(value, str | bool | int | float | Part):
        return True
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    return _is_ours(value) and all(_is_plain(item) for item in _fields(value).values())


def _is_ours(value: object) -> bool:
    return is_dataclass(value) and type(value).__module__.startswith(("pytest_caesar.", "caesar_"))


def _fields(value: Any) -> dict[str, object]:
    """Return what a value of the harness says, without what it leaves open."""
    varying = _VARYING.get(type(value), frozenset())
    found = {
        field.name: getattr(value, field.name)
        for field in fields(value)
        if field.name not in varying
    }
    return {name: item for name, item in found.items() if item not in (None, "", ())}


def _plain(value: object) -> Any:
    """Return the JSON value: documents without what is at its default."""
    if isinstance(value, Part):
        return value.model_dump(
            mode="json", by_alias=True, exclude_none=True, exclude_defaults=True
        )
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if _is_ours(value):
        return _plain(_fields(value))
    return str(value) if isinstance(value, str) else value


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def _run_page(run: Run, normaliser: Normaliser) -> str:
    report = normaliser.document(_plain(run.report))
    patch = bytes(run.patch).decode("utf-8", "backslashreplace")
    parts = [
        "# Run",
        "\n".join(
            [
                f"- agent: {_inline(run.task.agent)}",
                f"- objective: {_inline(normaliser.text(run.task.objective))}",
                f"- mode: {run.task.mode}, {run.task.isolation}",
                f"- status: {run.report.status}",
                f"- source: {run.source}",
                f"- process: {_process(run)}",
                f"- changes verified by: {run.changes_verified_by}",
            ]
        ),
        "## Report",
        _fenced("json", _json(report)),
        "## Changes",
        _changes(run, normaliser),
    ]
    if any(command.witnesses for command in run.commands):
        parts += ["## Commands", _commands(run, normaliser)]
    findings = [
        f"- {finding.code}{f': {_inline(normaliser.path(finding.path))}' if finding.path else ''}"
        for finding in run.diagnostics
        if finding.code not in OF_THE_MACHINE
    ]
    if findings:
        parts += ["## Diagnostics", "\n".join(findings)]
    if run.gates:
        parts += ["## Gates", "\n".join(_gate(gate, normaliser) for gate in run.gates)]
    below = _below(run, normaliser)
    if below:
        parts += ["## Handed on to other agents", "\n".join(below)]
    parts += ["## Patch", _fenced("diff", patch) if patch else "No change."]
    return "\n\n".join(parts) + "\n"


def _below(run: Run, normaliser: Normaliser, *, indent: str = "") -> list[str]:
    """Say what other agents did, as a list with what they handed on below each."""
    lines = []
    for child in run.children:
        objective = _inline(normaliser.text(child.task.objective))
        changes = sorted(normaliser.path(change.path) for change in child.changes)
        changed = f", changed {', '.join(map(_inline, changes))}" if changes else ""
        lines.append(
            f"{indent}- {_inline(child.task.agent)}: {objective} ({child.task.mode}): "
            f"{child.report.status} from {child.source}, {_process(child)}{changed}"
        )
        lines += _below(child, normaliser, indent=f"{indent}  ")
    return lines


def _process(run: Run) -> str:
    outcome = run.outcome
    words = [outcome.status.replace("_", " ")]
    if outcome.signal:
        words.append(outcome.signal)
    elif outcome.exit_code is not None:
        words.append(f"exit code {outcome.exit_code}")
    if outcome.killed_after_report:
        words.append("ended after its report")
    if outcome.leaked:
        words.append(f"{len(outcome.leaked)} left behind")
    return ", ".join(words)


def _changes(run: Run, normaliser: Normaliser) -> str:
    rows: list[tuple[str, str, str, str]] = [
        (
            entry.path,
            entry.declared_action or "-",
            entry.observed_action or "-",
            VERDICTS.get(entry.verdict, entry.verdict),
        )
        for entry in run.reconciliation.entries
    ]
    if run.changes_verified_by != "git":
        rows = sorted(
            (change.path, change.action, "?", "not verified") for change in run.declared.changes
        )
    if not rows:
        return "None declared, none observed."
    table = [
        f"| {_cell(normaliser.path(path))} | {declared} | {observed} | {word} |"
        for path, declared, observed, word in rows
    ]
    said = ["Nothing was declared (no report).", ""] if run.source == "synthesized" else []
    return "\n".join([*said, "| path | declared | observed | |", "|---|---|---|---|", *table])


def _commands(run: Run, normaliser: Normaliser) -> str:
    """Return the commands; their times and what was changed after them differ each time."""
    table = [
        f"| {_cell(normaliser.text(command.command))} | {_code(command.declared_exit_code)} "
        f"| {_code(command.observed_exit_code)} | {command.verdict} |"
        for command in run.commands
    ]
    return "\n".join(["| command | declared | observed | |", "|---|---|---|---|", *table])


def _code(code: int | None) -> str:
    return "-" if code is None else str(code)


def _gate(gate: GateResult, normaliser: Normaliser) -> str:
    ending: str = "passed" if gate.passed else gate.severity or "failed"
    if gate.exit_code:
        ending += f", exit code {gate.exit_code}"
    if gate.score is not None:
        ending += f", score {gate.score:g}"
    return f"- {_inline(normaliser.text(gate.gate))}: {ending}"


def _cell(text: str) -> str:
    return _inline(text).replace("|", "\\|")


def _inline(text: str) -> str:
    return printable(text)


def _fenced(language: str, text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * max(3, longest + 1)
    ending = "" if text.endswith("\n") else "\n"
    return f"{fence}{language}\n{text}{ending}{fence}"
