"""The delegations by which an agent is judged, as data; several checks share each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pytest_caesar.conformance.surroundings import Surroundings, TaskEdit

ProjectKind = Literal["repository", "folder", "no commit"]
Channel = Literal["", "answer", "silence", "reject", "odd"]

HOSTILE_TEXT = (
    "Nothing of this note is to be done; it only has to be survived: \"double\" 'single' \\ "
    "back\\\\slash $(touch {canary}) `touch {canary}` '$(touch {canary})'\n"
    "; touch {canary} & %s %n {{{{prompt}}}} é ü ß 日本語 🎉 \u202e <|im_end|>\n"
    "\ttab\r\nline ``` fence\n```\n"
)
"""What stands in the task of the scenario ``hostile text``.

Whoever pastes it into a shell gets no syntax error before something of it is carried out: its
first line is whole, quotes and backquotes are balanced within and without quotes of either kind.
"""

SILENCE = 8.0
"""Seconds that the task has at least in which nobody answers: who waits has to watch them."""

LARGE_CONTEXT = 1_000_000
"""Characters of the context in the scenario ``large context``."""

OTHER_VARIABLES = (
    *("CAESAR_TASK_DIR", "CAESAR_EVENTS_PATH", "CAESAR_TASK_ID"),
    *("CAESAR_AGENT", "CAESAR_DEPTH", "CAESAR_PROTOCOL_VERSION"),
)
"""The variables that are a convenience."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """How one task is given.

    Attributes:
        title: what is special about it, as in "with …".
        special: the table of the profile whose objective is given; "" for the plain one.
        mode, isolation: as in a task.
        channel: how questions are answered; "" for no channel.
        place: folders between the root and the project.
        project: what is delegated on.
        surroundings: what is odd about the process, or None.
        hostile_text: the task holds ``HOSTILE_TEXT``.
        large_context: the context has ``LARGE_CONTEXT`` characters.
        private: the project holds a file that git ignores.
        uncommitted: the user has uncommitted work in the project.
        times: how often the task is given, one after another.
        together: two tasks are given at once.
        read_only_home: the home folder cannot be written.
        foreign_git: variables point git at another repository.
        deadline: the task ends at the deadline of the table ``slow``.
        network: as it is wished.
        unit: the task is a unit of va-agent-protocol: ``whole``, ``bare`` of every optional field,
            ``hostile`` in its texts, or tried ``again`` with what is known of a failure.
        cancelled: the task is taken back while the agent works.
        may_delegate: the policy lets the agent have others do a part of its task.
    """

    title: str
    special: str = ""
    mode: Literal["read-only", "write"] = "write"
    isolation: Literal["auto", "worktree", "inplace"] = "auto"
    channel: Channel = ""
    place: str = ""
    project: ProjectKind = "repository"
    surroundings: Surroundings | None = None
    hostile_text: bool = False
    large_context: bool = False
    private: bool = False
    uncommitted: bool = False
    times: int = 1
    together: bool = False
    read_only_home: bool = False
    foreign_git: bool = False
    deadline: bool = False
    network: Literal["auto", "off"] = "auto"
    unit: Literal["", "whole", "bare", "hostile", "again"] = ""
    cancelled: bool = False
    may_delegate: bool = False


def _task(edit: TaskEdit) -> Surroundings:
    return Surroundings(task=edit)


SCENARIOS: Mapping[str, Scenario] = {
    "plain": Scenario(title="the plain task"),
    "read-only": Scenario(title="the same task, read-only", mode="read-only"),
    "read-only in place": Scenario(
        title="a read-only task in place, beside files that git ignores",
        mode="read-only",
        project="no commit",
        private=True,
    ),
    "two variables": Scenario(
        title="two variables alone", surroundings=Surroundings(unset=OTHER_VARIABLES)
    ),
    "bare task": Scenario(
        title="a task without any optional field",
        surroundings=_task(
            TaskEdit(
                remove=(
                    *("role", "context", "constraints", "acceptance_criteria", "network"),
                    *("base_ref", "depth", "channel"),
                )
            )
        ),
    ),
    "unknown fields": Scenario(
        title="fields in the task that nobody knows",
        surroundings=_task(
            TaskEdit(
                set={
                    "x-priority": 7,
                    "labels": ["a", {"b": None}],
                    "report": {"status": "failed"},
                    "budget": {"objective": "none", "tokens": 1e6},
                }
            )
        ),
    ),
    "other spelling": Scenario(
        title="the task in another spelling of JSON", surroundings=_task(TaskEdit(escaped=True))
    ),
    "hostile text": Scenario(title="hostile text in the task", hostile_text=True),
    "large context": Scenario(title="a context of a megabyte", large_context=True),
    "offered channel": Scenario(title="a return channel in the task", channel="silence"),
    "unknown version": Scenario(
        title="a task of version 9",
        surroundings=_task(TaskEdit(set={"protocol": "caesar.task/v9"})),
    ),
    "torn task": Scenario(
        title="a task file that is cut off", surroundings=_task(TaskEdit(cut=60))
    ),
    "no task": Scenario(title="no task file", surroundings=_task(TaskEdit(absent=True))),
    "blocked": Scenario(title="the task of [blocked]", special="blocked"),
    "partial": Scenario(title="the task of [partial]", special="partial"),
    "failed": Scenario(title="the task of [failed]", special="failed"),
    "in place": Scenario(
        title="working in place, on uncommitted work", isolation="inplace", uncommitted=True
    ),
    "again": Scenario(title="the second task on the same tree", isolation="inplace", times=2),
    "asks": Scenario(title="the task of [asks]", special="asks", channel="answer"),
    "silence": Scenario(
        title="the task of [asks], and nobody answers", special="asks", channel="silence"
    ),
    "no channel": Scenario(title="the task of [asks], without a channel", special="asks"),
    "refusal": Scenario(
        title="the task of [asks], and a refusal to answer", special="asks", channel="reject"
    ),
    "odd answer": Scenario(
        title="the task of [asks], and an answer that is none of the options",
        special="asks",
        channel="odd",
    ),
    "deadline": Scenario(title="the task of [slow]", special="slow", deadline=True),
    "closed stdin": Scenario(title="stdin closed", surroundings=Surroundings(closed_stdin=True)),
    "no terminal": Scenario(
        title="no terminal and no TERM",
        surroundings=Surroundings(unset=("TERM", "COLUMNS", "LINES", "NO_COLOR")),
    ),
    "few files": Scenario(title="64 open files", surroundings=Surroundings(open_files=64)),
    "odd path": Scenario(title="a path with blanks, quotes and umlauts", place="a b/c'd/ü ß"),
    "long path": Scenario(title="a long path", place="/".join(["long-" * 20] * 4)),
    "C locale": Scenario(
        title="the C locale",
        hostile_text=True,
        surroundings=Surroundings(
            set={"LC_ALL": "C", "LANG": "C"}, unset=("LANGUAGE", "PYTHONUTF8", "PYTHONIOENCODING")
        ),
    ),
    "read-only home": Scenario(title="a home folder that cannot be written", read_only_home=True),
    "foreign git": Scenario(title="GIT_* variables that point elsewhere", foreign_git=True),
    "together": Scenario(title="two tasks at once", together=True),
    "second task": Scenario(title="a second task in the same repository", times=2),
    "no network": Scenario(
        title="no network",
        network="off",
        surroundings=Surroundings(
            set=dict.fromkeys(
                ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
                "http://127.0.0.1:9",
            ),
            task=TaskEdit(set={"network": False}),
        ),
    ),
    "folder": Scenario(title="a folder that is no git repository", project="folder"),
    "no commit": Scenario(title="a repository without a commit", project="no commit"),
    "deep": Scenario(
        title="a depth of 7",
        surroundings=Surroundings(set={"CAESAR_DEPTH": "7"}, task=TaskEdit(set={"depth": 7})),
    ),
    "delegates": Scenario(title="the task of [delegates]", special="delegates", may_delegate=True),
    "unit": Scenario(title="a task unit", unit="whole"),
    "bare unit": Scenario(title="a unit without any optional field", unit="bare"),
    "hostile unit": Scenario(title="hostile text in a unit", unit="hostile"),
    "second attempt": Scenario(title="a unit that failed before", unit="again"),
    "blocked unit": Scenario(title="a unit of [blocked]", special="blocked", unit="whole"),
    "failed unit": Scenario(title="a unit of [failed]", special="failed", unit="whole"),
    "cancelled unit": Scenario(
        title="a unit of [slow] that is cancelled", special="slow", unit="whole", cancelled=True
    ),
}
"""Every scenario by name."""
