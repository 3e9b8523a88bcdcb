"""All that is known about a delegation afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.event import Event
from caesar_agent.documents.report import Report
from caesar_agent.documents.task import Task
from caesar_agent.mailbox.reader import AskedQuestion
from pytest_caesar.recovery.evidence import Evidence, Form, Source, Status
from pytest_caesar.recovery.tool_call import ToolCall
from pytest_caesar.recovery.usage import Usage, added
from pytest_caesar.runs.activity import Activity, calls_of
from pytest_caesar.runs.command_reconciliation import Command
from pytest_caesar.runs.judgement import judgement_findings
from pytest_caesar.runs.permission import Permission
from pytest_caesar.runs.ran_commands import Commands, ran
from pytest_caesar.runs.run_reconciliation import RunReconciliation
from pytest_caesar.sandboxes.invariants import SandboxUse
from pytest_caesar.supervision.outcome import Outcome
from pytest_caesar.workspace.values import Observation, ObservedChange, Patch

if TYPE_CHECKING:
    from caesar_agent.va.evidence import DimensionFeedback, GateResult


REMARKS: Final = frozenset(
    {
        "hook-failed",
        "isolation-degraded",
        "later-failure",
        "limits-not-applied",
        "network-not-guaranteed",
        "no-credentials",
        "own-sandbox-off",
        "program-not-watched",
        "sandbox-weak",
        "tested-before-last-change",
        "uncommitted-work",
        "usage-contradicted",
    }
)
"""Findings that are not the cause of anything."""


MEANT: Final = {
    "success": "run.succeeded",
    "ok": "run.succeeded",
    "passed": "run.succeeded",
    "failed": "not run.succeeded",
    "exit_code": "run.outcome.exit_code",
    "exitcode": "run.outcome.exit_code",
    "returncode": "run.outcome.exit_code",
    "signal": "run.outcome.signal",
    "timed_out": "run.outcome.timed_out",
    "duration": "run.outcome.duration_ms",
    "stdout": "run.raw_log (bytes)",
    "output": "run.raw_log (bytes)",
    "log": "run.raw_log (bytes)",
    "logs": "run.raw_log (bytes)",
    "stderr": "run.evidence.stderr_log (bytes)",
    "diff": "run.patch (bytes)",
    "files": "run.changes",
    "changed_files": "run.changes",
    "findings": "run.report.findings (the agent's) or run.diagnostics (the harness's)",
    "outputs": "run.report.outputs",
    "undeclared": "run.reconciliation.undeclared",
    "phantom": "run.reconciliation.phantom",
    "error": "run.summary or run.diagnostics",
    "id": "run.task.id",
    "agent": "run.task.agent",
    "prompt": "run.brief",
}
"""Names that people try, and what they mean."""


class Events(tuple[Event, ...]):
    """The events of a run, in the order of the log.

    A type of its own, so that a snapshot of it is an ``.events.json`` file.
    """

    __slots__ = ()

    def of_type(self, name: str) -> Events:
        """Return the events of one type, in order."""
        return Events(event for event in self if event.type == name)

    def __repr__(self) -> str:
        return f"<Events: {', '.join(event.type for event in self) or 'none'}>"


@dataclass(frozen=True, kw_only=True)
class Run:
    """One task given to one agent, and everything that came of it.

    Attributes:
        task: as it was written to ``task.json``.
        report: as handed on: the agent's words, ``changes`` as observed, the
            harness's findings added.
        declared: the report as the agent gave it (or as it was synthesized).
        source: where the report came from.
        form: ``fence`` or ``object`` for an extracted report, else None.
        changes_verified_by: ``git`` when the changes were observed, else ``declaration``.
        observation: what git shows against ``base_ref``.
        reconciliation: declared laid beside observed: changes and commands.
        usage: tokens, cost and turns, each None where nobody tells.
        activity: what others than the agent say of its work.
        events: what ``events.jsonl`` holds.
        questions: what was asked over the return channel, and what became of it.
        outcome: how the process ended.
        diagnostics: findings of the harness, in the order of the cycle.
        task_dir: the task directory, absolute.
        workspace: where the agent worked, absolute.
        brief: the text that was handed to the agent.
        evidence: what the report was recovered from.
        harness_findings: the diagnostics that do not depend on the report.
        ignored: declared paths that git ignores, so that nobody can verify them.
        gates: what the gates of the delegation said, in order.
        dimensions: what judges said of the sides of the work, by name.
        promised: keys that the report was to hand over in ``outputs``.
        retried: another attempt at the same task unit followed.
        children: what other agents did that this one asked for, in that order.
        permissions: what it asked leave for over ACP, and what it was told, in order.
        recording: where it was played back from, or None when the agent worked.
        sandbox: in what it worked, and what was proved of that; None without a sandbox.
    """

    task: Task
    report: Report
    declared: Report
    source: Source
    form: Form | None = None
    changes_verified_by: Literal["git", "declaration"]
    observation: Observation = field(repr=False)
    reconciliation: RunReconciliation
    usage: Usage = field(default=Usage(), repr=False)
    activity: Activity = field(default=Activity(), repr=False)
    events: Events = field(default=Events(), repr=False)
    questions: tuple[AskedQuestion, ...] = ()
    outcome: Outcome
    diagnostics: tuple[Diagnostic, ...] = ()
    task_dir: Path
    workspace: Path
    brief: str = field(default="", repr=False)
    evidence: Evidence = field(repr=False)
    harness_findings: tuple[Diagnostic, ...] = field(default=(), repr=False)
    ignored: frozenset[str] = field(default=frozenset(), repr=False)
    gates: tuple[GateResult, ...] = ()
    dimensions: Mapping[str, DimensionFeedback] = field(default_factory=dict, repr=False)
    promised: tuple[str, ...] = field(default=(), repr=False)
    retried: bool = field(default=False, repr=False)
    children: tuple[Run, ...] = field(default=(), repr=False)
    recording: Path | None = field(default=None, repr=False)
    permissions: tuple[Permission, ...] = field(default=(), repr=False)
    sandbox: SandboxUse | None = field(default=None, repr=False)

    @property
    def changes(self) -> tuple[ObservedChange, ...]:
        """What git shows, in path order; empty when it could not be verified."""
        return self.observation.changes if self.observation.verified else ()

    @property
    def commands(self) -> tuple[Command, ...]:
        """Every command that the report declares or that was seen, in order."""
        return self.reconciliation.commands

    def ran(self, *argv: str, ok: bool = False) -> Commands:
        """Return the commands that ran a program with these first words.

        Args:
            argv: the program, and its first words: ``ran("uv", "add")``. Shells, assignments,
                ``cd``, ``env``, ``uv run`` and the like are taken off; ``python -m pytest``
                counts as ``pytest``.
            ok: only those that were seen to end with 0, the exit code being the program's
                own: not behind a pipe, ``;``, ``||`` or ``&``.

        Returns:
            Them in order, declared and observed ones; an empty answer is falsy, and says
            what was run instead.
        """
        return ran(self.commands, argv, ok=ok)

    @cached_property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """What the stream says of each call of a tool, else what the events say."""
        return self.activity.tool_calls or calls_of(self.events)

    @property
    def total_usage(self) -> Usage:
        """The usage of the run and of all below it; None where one of them does not know."""
        return added(run.usage for run in self.tree)

    @property
    def patch(self) -> Patch:
        """The changes against ``base_ref``, binary-safe; ``git apply`` takes it."""
        return self.observation.patch

    @property
    def status(self) -> Status:
        """What the report says."""
        return Status(self.report.status)

    @property
    def succeeded(self) -> bool:
        """The process succeeded and the report says ``success``."""
        return self.outcome.status == "succeeded" and self.report.status == "success"

    @property
    def summary(self) -> str:
        """The report's summary."""
        return self.report.summary

    @property
    def tree(self) -> tuple[Run, ...]:
        """Everything that happened: the run itself and all below it, each before its children."""
        return (self, *(run for child in self.children for run in child.tree))

    @property
    def raw_log(self) -> bytes:
        """The last part of ``raw.log`` that was read, at most 64 MiB."""
        return self.evidence.raw_log

    @cached_property
    def codes(self) -> frozenset[str]:
        """The codes of all diagnostics."""
        return frozenset(item.code for item in self.diagnostics)

    def without(self, *sources: str) -> Run:
        """Recover again from the same evidence with sources taken away.

        Args:
            sources: names among ``channel``, ``schema``, ``file``, ``extracted``.

        Returns:
            A run with the report of the best source that is left, reconciled anew.

        Raises:
            ValueError: a name is not that of a source that can be taken away.
        """
        from pytest_caesar.recovery.sources import recover_without  # noqa: PLC0415 - kept light
        from pytest_caesar.runs.verdict import settle  # noqa: PLC0415 - it builds runs

        verdict = settle(
            recover_without(self.evidence, *sources),
            observation=self.observation,
            outcome=self.outcome,
            task=self.task,
            harness_findings=self.harness_findings,
            ignored=self.ignored,
            activity=self.activity,
        )
        run = replace(self, **verdict)
        return run.judged()

    def judged(self) -> Run:
        """Return the run with what its gates and promised outputs say against a success."""
        found = judgement_findings(self.report, gates=self.gates, promised=self.promised)
        return replace(self, diagnostics=(*self.diagnostics, *found))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Name the attribute that somebody meant who knows other tools' names."""
            __tracebackhide__ = True
            if name in MEANT:
                raise AttributeError(f"a run has no {name}: use {MEANT[name]}")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        cause: str = f"process {self.outcome.status.replace('_', ' ')}"
        if self.outcome.exit_code:
            cause = f"exit code {self.outcome.exit_code}"
        elif self.outcome.signal:
            cause = f"{self.outcome.status.replace('_', ' ')}, {self.outcome.signal}"
        found = dict.fromkeys(item.code for item in self.diagnostics)
        codes = sorted(found, key=REMARKS.__contains__)
        more = [f"{len(codes) - 3} more findings"] if len(codes) > 3 else []
        # pytest cuts a long text in its middle: the cause comes first, the folder last.
        return (
            f"<Run {self.task.id} {self.task.agent}: {self.report.status} from {self.source}, "
            f"{', '.join([cause, *codes[:3], *more])}, in {self.task_dir}>"
        )
