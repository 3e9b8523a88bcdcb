"""What the commands of a run say against its report; pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.recovery.shell_words import words
from pytest_caesar.runs.command_reconciliation import Command
from pytest_caesar.runs.ran_commands import succeeded_as
from pytest_caesar.workspace.change_times import ChangeTime

TESTS: tuple[tuple[str, ...], ...] = (
    ("pytest",), ("py.test",), ("unittest",), ("nose2",), ("tox",), ("nox",), ("ctest",),
    ("npm", "test"), ("npm", "t"), ("npm", "run", "test"), ("yarn", "test"), ("pnpm", "test"),
    ("bun", "test"), ("deno", "test"), ("node", "--test"), ("jest",), ("vitest",), ("mocha",),
    ("go", "test"), ("cargo", "test"), ("cargo", "nextest"), ("make", "test"), ("make", "check"),
    ("just", "test"), ("rspec",), ("rake", "test"), ("phpunit",), ("mvn", "test"),
    ("mvn", "verify"), ("gradle", "test"), ("gradlew", "test"), ("dotnet", "test"),
    ("swift", "test"), ("mix", "test"), ("hatch", "test"), ("bats",),
)  # fmt: skip
"""First words of commands that run tests."""

PATHS = 3
"""Paths that a message names."""

_SEEN_BY = {
    "stream": "its stream",
    "program": "the watched program",
    "model": "what it told its model",
}


def command_findings(commands: Sequence[Command]) -> tuple[Diagnostic, ...]:
    """Tell which successes are contradicted, and which tests are older than the last change."""
    return (*_contradicted(commands), *_later_failures(commands), *_tested_before(commands))


def is_test(command: Command) -> bool:
    """Tell whether a command ran tests that were seen to pass."""
    return any(succeeded_as(command, argv) for argv in TESTS)


def with_changed_after(
    commands: Sequence[Command], written: Sequence[ChangeTime] | None
) -> tuple[Command, ...]:
    """Say of each command whose end is known what was written after it.

    Args:
        commands: of a run.
        written: when the paths that git shows changed last; None where nobody can tell.
    """
    return tuple(
        replace(command, changed_after=_changed_after(command, written)) for command in commands
    )


def _changed_after(
    command: Command, written: Sequence[ChangeTime] | None
) -> tuple[str, ...] | None:
    ended = command.ended_at
    if ended is None or written is None or not command.witnesses:
        return None
    moment = round(ended.timestamp() * 1_000_000) * 1000
    if ended.microsecond % 1000 == 0:
        moment += 999_999  # told in whole milliseconds: it ended somewhere within this one
    after = []
    for change in written:
        if change.at is None or (change.at > moment and not change.exact):
            return None
        if change.at > moment:
            after.append(change.path)
    return tuple(after)


def _contradicted(commands: Sequence[Command]) -> list[Diagnostic]:
    return [
        Diagnostic(
            code="command-contradicted",
            message=f"the report says that {one_line(command.command, limit=120)!r} ended with "
            f"exit code 0; {_SEEN_BY[command.witnesses[0]]} shows {command.observed_exit_code}, "
            "and no later run of it",
        )
        for command in commands
        if command.verdict == "contradicted"
    ]


def _later_failures(commands: Sequence[Command]) -> list[Diagnostic]:
    found = []
    for index, command in enumerate(commands):
        if command.verdict != "confirmed" or command.observed_exit_code != 0:
            continue
        if command.declared_exit_code != 0:
            continue
        key = words(command.command)
        later = [one for one in commands[index + 1 :] if words(one.command) == key]
        last = later[-1] if later else None
        if last is not None and last.verdict == "undeclared" and last.observed_exit_code:
            found.append(
                Diagnostic(
                    code="later-failure",
                    message=f"{one_line(command.command, limit=120)!r} succeeded as declared, and "
                    f"ended with exit code {last.observed_exit_code} when it ran again later",
                )
            )
    return found


def _tested_before(commands: Sequence[Command]) -> list[Diagnostic]:
    passed = [one for one in commands if is_test(one)]
    if not any(one.verdict == "confirmed" for one in passed) or not passed[-1].changed_after:
        return []
    last = passed[-1]
    paths = last.changed_after or ()
    named = ", ".join(one_line(path, limit=80) for path in paths[:PATHS])
    more = f" and {len(paths) - PATHS} more" if len(paths) > PATHS else ""
    return [
        Diagnostic(
            code="tested-before-last-change",
            message=f"{named}{more} changed after {one_line(last.command, limit=120)!r} "
            "had passed for the last time",
        )
    ]
