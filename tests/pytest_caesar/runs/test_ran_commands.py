"""``run.ran(…)``."""

from __future__ import annotations

import pytest

from pytest_caesar.runs.command_reconciliation import Command
from pytest_caesar.runs.ran_commands import ran


def seen(command: str, code: int | None = 0) -> Command:
    return Command(
        command=command, observed_exit_code=code, witnesses=("stream",), verdict="undeclared"
    )


@pytest.mark.parametrize(
    "command",
    ["pytest -q", "python -m pytest", "bash -lc 'cd x && pytest'", "A=1 .venv/bin/pytest -x"],
)
def test_wrappers_are_taken_off(command: str) -> None:
    assert ran([seen("ls"), seen(command)], ["pytest"], ok=True) == (seen(command),)


def test_the_first_words_count() -> None:
    commands = [seen("uv add x"), seen("uv sync"), seen("uvx add")]

    assert ran(commands, ["uv", "add"], ok=False) == (commands[0],)
    assert ran(commands, ["uv"], ok=False) == tuple(commands[:2])


@pytest.mark.parametrize("command", ["pytest | tail", "pytest; true", "pytest || true", "pytest &"])
def test_the_exit_code_of_another_program_is_no_success(command: str) -> None:
    assert ran([seen(command)], ["pytest"], ok=False)
    assert not ran([seen(command)], ["pytest"], ok=True)


def test_a_success_that_was_only_declared_is_none() -> None:
    declared = Command(command="pytest -q", declared_exit_code=0, verdict="unseen")

    assert ran([declared], ["pytest"], ok=False) == (declared,)
    none = ran([declared], ["pytest"], ok=True)
    assert repr(none) == (
        "<nothing ran pytest and was seen to succeed; instead: pytest -q (declared 0, unseen)>"
    )


def test_an_empty_answer_says_what_was_run_instead() -> None:
    none = ran([seen("ruff check ."), seen("ls -1", None)], ["npm", "test"], ok=False)

    assert not none
    assert repr(none) == (
        "<nothing ran npm test; instead: ruff check . (exit code 0); ls -1 (no exit code)>"
    )
    assert repr(ran([], ["pytest"], ok=False)) == "<nothing ran pytest; no command is known>"
