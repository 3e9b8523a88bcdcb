"""How commands and usage are shown to people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from caesar_agent.console import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_caesar.recovery.usage import Usage
    from pytest_caesar.runs.command_reconciliation import Command
    from pytest_caesar.runs.run import Run

WIDTH = 120
"""Characters of a command line that are shown."""

PATHS = 3
"""Paths that were changed after a command which are named."""


def command_lines(commands: Sequence[Command]) -> list[str]:
    """Say of every command what is declared and what was seen, in order."""
    return [f"  {command_line(command)}" for command in commands]


def command_line(command: Command) -> str:
    """Say what is declared about a command and what was seen."""
    text = one_line(command.command, limit=WIDTH)
    return f"{text}: {_sides(command)}{_after(command)}{_note(command.verdict)}"


def usage_line(run: Run) -> str:
    """Say what is known of tokens, cost and turns of a run, or "" where nothing is."""
    own = usage_text(run.usage)
    if not run.children:
        return own
    total = usage_text(run.total_usage)
    return f"{own or 'unknown'}; with all below it {total or 'unknown'}"


def usage_text(used: Usage) -> str:
    """Say what is known of tokens, cost and turns, or "" where nothing is."""
    parts = []
    if used.total_tokens is not None:
        parts.append(f"{used.total_tokens} tokens ({_parts(used)})")
    elif used.input_tokens is not None or used.output_tokens is not None:
        parts.append(_parts(used))
    if used.cost_usd is not None:
        parts.append(f"${used.cost_usd:.4f}".rstrip("0").rstrip("."))
    if used.turns is not None:
        parts.append(f"{used.turns} {'turn' if used.turns == 1 else 'turns'}")
    if not parts:
        return ""
    least = "at least " if used.at_least else ""
    return f"{least}{', '.join(parts)}, from the {used.source}" if used.source else ", ".join(parts)


def _parts(used: Usage) -> str:
    told = []
    if used.input_tokens is not None:
        cached = used.cached_input_tokens
        told.append(f"{used.input_tokens} in" + (f", {cached} of them cached" if cached else ""))
    if used.output_tokens is not None:
        told.append(f"{used.output_tokens} out")
    return ", ".join(told)


def _sides(command: Command) -> str:
    declared, observed = command.declared_exit_code, command.observed_exit_code
    if command.witnesses:
        seen = "no exit code seen" if observed is None else f"exit code {observed}"
        if declared is None:
            return seen
        return f"{seen}, as declared" if declared == observed else f"{seen}, declared {declared}"
    return "declared" if declared is None else f"declared exit code {declared}"


def _after(command: Command) -> str:
    paths = command.changed_after
    if not paths:
        return ""
    named = ", ".join(one_line(path, limit=60) for path in paths[:PATHS])
    more = f" and {len(paths) - PATHS} more" if len(paths) > PATHS else ""
    return f"; {named}{more} changed after it"


def _note(verdict: str) -> str:
    return "" if verdict == "confirmed" else f"  [{verdict}]"
