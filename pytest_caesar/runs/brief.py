"""The brief: a task as it is told to an agent that is given nothing but text."""

from __future__ import annotations

from typing import Literal

from caesar_agent.documents.task import Task
from pytest_caesar.recovery.example import example

Expected = Literal["file", "schema", "channel", "extracted"]

_PREAMBLE = (
    "You are a sub-agent. An orchestrator gives you one task, {id}, and waits for one report. "
    "Nobody reads along: work on your own until you are done, then report."
)

READ_ONLY = (
    "This task is read-only: do not create, change, delete or move any file of the workspace, "
    "and do not commit."
)
NO_NETWORK = "There is no network: do not try to reach one."


def render_brief(task: Task, *, expected: Expected = "file", report_path: str | None = None) -> str:
    """Tell a task in words.

    Args:
        task: the task.
        expected: how the report is to be handed in: written to a file, as the
            structured final message of the CLI, over the return channel, or
            (``extracted``) in a block of the last message.
        report_path: where the file goes; ``task.report_path`` unless given.

    Returns:
        Sections with headings. The example of a report in it is not JSON, so that
        whoever repeats the brief has not reported.
    """
    sections = [
        _PREAMBLE.format(id=task.id),
        _section("Objective", task.objective),
    ]
    if task.context.strip():
        sections.append(_section("Context", task.context))
    sections.append(_section("Constraints", _list(_constraints(task))))
    if task.acceptance_criteria:
        sections.append(_section("Acceptance criteria", _list(task.acceptance_criteria)))
    sections.append(_section("Reporting", _reporting(task, expected, report_path)))
    return "\n\n".join(sections) + "\n"


def short_brief(task: Task) -> str:
    """Tell an agent where its task is, for a brief that does not fit on a command line."""
    return (
        f"You are a sub-agent. Your task, {task.id}, is too long for a command line. Read it "
        "from the JSON file that the environment variable CAESAR_TASK_FILE names: objective, "
        "context, constraints, acceptance_criteria, mode and network are in it, and all of them "
        f"hold. Stay inside the workspace: {task.workspace}. When you are done, write your report "
        f"as JSON to {task.report_path}: protocol caesar.report/v1, a status (success, partial, "
        "failed or blocked), a summary, and whatever else the contract has room for.\n"
    )


def _constraints(task: Task) -> list[str]:
    constraints = [READ_ONLY] if task.mode == "read-only" else []
    constraints.extend(task.constraints)
    if not task.network:
        constraints.append(NO_NETWORK)
    constraints.append(f"Stay inside the workspace: {task.workspace}")
    return constraints


def _reporting(task: Task, expected: Expected, report_path: str | None) -> str:
    path = report_path or task.report_path
    block = (
        "end your last message with the report as JSON in a fenced code block of three "
        "back-ticks, whose info string is: json caesar:report"
    )
    ways = {
        "file": f"When you are done, write your report as JSON to this file: {path}\n"
        f"If you cannot write there, {block}",
        "extracted": f"When you are done, {block}",
        "schema": "Your last message must be your report and nothing else: one JSON object, "
        "without a fence and without prose around it.",
        "channel": "When you are done, hand in your report by calling the tool submit_report; it "
        "is checked at once, and what is wrong with it is told to you. Tell progress with "
        "report_progress; ask with ask_orchestrator when a decision is not yours.\n"
        f"If the tools are not there, write the report as JSON to this file: {path}",
    }
    rules = _list(
        [
            "Required are protocol, status and summary; leave out what you have nothing to say on.",
            "success: the acceptance criteria are met.",
            "partial: some of the work is done, and next_steps says what remains.",
            "failed: it did not work and there is no way on.",
            "blocked: somebody must decide, and questions says what.",
            "Declare every file that you changed; the orchestrator compares it with git.",
        ]
    )
    return (
        f"{ways[expected]}\n\n{rules}\n\nThe shape of a report, with angle brackets where your "
        f"own values belong:\n\n```\n{example(task.id)}\n```"
    )


def _section(title: str, body: str) -> str:
    return f"## {title}\n\n{body.strip()}"


def _list(entries: list[str] | tuple[str, ...]) -> str:
    return "\n".join(f"- {entry}" for entry in entries)
