"""The text of a failed assertion about a run, with the cause in its first line; pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from caesar_agent.console import one_line
from pytest_caesar.reporting.cause import cause, details

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_caesar.runs.run import Run

SUCCEEDED: Final = re.compile(
    r"^assert (?P<not>not )?(?P<value>True|False)\n \+  where (?P=value) = "
    r"<Run (?P<id>\S+) [^\n]*>\.succeeded$",
    re.MULTILINE,
)
"""What pytest says of ``assert run.succeeded``; a message of the test's own stands before it."""

STATEMENT: Final = 80
"""Characters of the assertion that are quoted."""


def reworded(
    text: str, *, statement: str, runs: Sequence[Run], headlines: Sequence[str]
) -> str | None:
    """Return the text of an ``AssertionError`` with the cause first, or None to leave it.

    Args:
        text: as pytest has it.
        statement: the assertion as it is written in the test.
        runs: all of the test, those of other agents too.
        headlines: first lines of explanations of ours that this test has had.

    Returns:
        A message of the test's own stays first. Where nothing says that the assertion is about
        a run, and exactly one run is no success, one line about that run is appended.
    """
    found = SUCCEEDED.search(text)
    if found is not None:
        run = _run_of(found[0], runs) or _last(runs, found["id"])
        if run is not None:
            return text[: found.start()] + _of_success(run, statement)
    lines = text.split("\n")
    for number, line in enumerate(lines):
        said = next((said for said in reversed(headlines) if _is_about(line, said)), None)
        if said is not None:
            run = _run_of(text, runs)
            colon = ":" if said.endswith(":") else ""
            written = _written(statement, run)
            lines[number] = f"{said.removesuffix(':')} {written}".rstrip() + colon
            return "\n".join(lines)
    failed = [run for run in runs if not run.succeeded]
    if len(failed) != 1:
        return None
    return "\n".join(filter(None, (text, f"{cause(failed[0])} (run {failed[0].task.id})")))


def _of_success(run: Run, statement: str) -> str:
    why = cause(run) or f"success: {one_line(run.report.summary, limit=120)}"
    below = details(run) if not run.succeeded else []
    return "\n".join([f"{why} {_written(statement, run)}", *(f"  {line}" for line in below)])


def _written(statement: str, run: Run | None) -> str:
    words = [one_line(" ".join(statement.split()), limit=STATEMENT)] if statement else []
    words += [run.task.id] if run is not None else []
    return f"({', '.join(words)})" if words else ""


def _is_about(line: str, headline: str) -> bool:
    return line.startswith(("assert ", "AssertionError: assert ")) and headline in line


def _run_of(text: str, runs: Sequence[Run]) -> Run | None:
    """Return the last run whose task directory the text names."""
    named = (run for run in reversed(runs) if re.search(rf"{re.escape(str(run.task_dir))}\b", text))
    return next(named, None)


def _last(runs: Sequence[Run], task_id: str) -> Run | None:
    return next((run for run in reversed(runs) if run.task.id == task_id), None)
