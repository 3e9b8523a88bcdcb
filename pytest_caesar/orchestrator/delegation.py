"""One delegation, from a request to a run; it reads like the cycle in the specification."""

from __future__ import annotations

import contextlib
import os
import shutil
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents import Change, Task
from caesar_agent.documents.timestamps import format_timestamp
from caesar_agent.errors import CaesarError
from caesar_agent.task_directory import (
    MAX_DOCUMENT_BYTES,
    TaskDirectory,
    read_bounded,
    write_atomic,
)
from pytest_caesar.agents.catalogue import explain_exit
from pytest_caesar.agents.command import find_program
from pytest_caesar.agents.config import Config
from pytest_caesar.agents.launch import FINAL_MESSAGE, Source
from pytest_caesar.agents.target import AgentTarget, ProcessAgent
from pytest_caesar.orchestrator.answers import ScriptedAnswers
from pytest_caesar.orchestrator.attendance import Attendance
from pytest_caesar.orchestrator.brief import render_brief
from pytest_caesar.orchestrator.left_behind import LeftBehind, noted
from pytest_caesar.orchestrator.logs import Log
from pytest_caesar.orchestrator.narration import Narration
from pytest_caesar.orchestrator.nesting import Inherited, Nesting
from pytest_caesar.orchestrator.outcome import Outcome
from pytest_caesar.orchestrator.performing import LiveAgent, Performer
from pytest_caesar.orchestrator.places import caesar_root
from pytest_caesar.orchestrator.plan import DelegationError, Request
from pytest_caesar.orchestrator.record import write_record
from pytest_caesar.orchestrator.return_channel import channel_coordinates
from pytest_caesar.orchestrator.run import Events, Run
from pytest_caesar.orchestrator.starting import Start, search_path
from pytest_caesar.orchestrator.time_left import fit
from pytest_caesar.orchestrator.verdict import settle
from pytest_caesar.recovery.evidence import Evidence
from pytest_caesar.recovery.tiers import MAX_LOG_BYTES, recover
from pytest_caesar.va.findings import judgement_findings
from pytest_caesar.workspace.isolation import prepare, release, remove
from pytest_caesar.workspace.observation import ignored_paths, observe
from pytest_caesar.workspace.reconciliation import document_path
from pytest_caesar.workspace.values import Observation, Workspace, WorkspaceRequest

if TYPE_CHECKING:
    from pytest_caesar.orchestrator.orchestrator import OrchestratorSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Delegation:
    """Everything that is known before anything is written.

    Attributes:
        request: what was asked for.
        agent: who does it.
        project, config: what is delegated on, and its configuration.
        settings: of the orchestrator.
        depth: of the agent.
        task_id: new, safe as a file name.
        clock: gives the times written into documents.
        expected: how the agent can best hand in its report.
        network: whether the task has it.
        model: for the agent's command line, or None.
        system_prompt: put in front of the context, or "".
        remarks: what the decisions above had to say.
        answers: a script for the questions of the agent, or None.
        cancelled: set to end the agent.
        inherited: what it has from the agent that asked for it, or None.
        nest: makes what serves the agent when it asks for others, or None.
        performer: carries the task out: the agent, or what stands in for it.
    """

    request: Request
    agent: AgentTarget
    project: Path
    config: Config
    settings: OrchestratorSettings
    depth: int
    task_id: str
    clock: Callable[[], datetime]
    expected: Source = "file"
    network: bool
    model: str | None
    system_prompt: str = ""
    remarks: tuple[Diagnostic, ...] = ()
    answers: ScriptedAnswers | None = None
    cancelled: threading.Event
    inherited: Inherited | None = None
    nest: Callable[..., Nesting] | None = None
    performer: Performer = field(default_factory=LiveAgent)

    def carry_out(self) -> Run:
        """Run the whole cycle: prepare, start, end, recover, observe, reconcile.

        Raises:
            CaesarError: refused, or not startable; nothing was left behind.
        """
        self.check()
        with contextlib.ExitStack() as undo, contextlib.ExitStack() as closing:
            directory = self._make_task_directory(undo, closing)
            workspace = prepare(self._workspace_request(directory))
            undo.callback(remove, workspace, task_id=self.task_id)
            closing.callback(release, workspace)
            task = self._task(directory, workspace)
            write_atomic(directory.task_file, task.to_json().encode(), durable=False)
            brief = render_brief(task, expected=self.expected)
            log = closing.enter_context(Log.create(directory.raw_log))
            narration = Narration(
                task=task,
                directory=directory,
                dialect=self.agent.dialect if isinstance(self.agent, ProcessAgent) else None,
                log=log,
                on_event=self.settings.on_event,
                now=self.clock,
            )
            start = Start(
                agent=self.agent,
                task=task,
                directory=directory,
                brief=brief,
                expected=self.expected,
                model=self.model,
                log=log,
                narration=narration,
                settings=self.settings,
                cancelled=self.cancelled,
                frozen=getattr(self.clock, "frozen", contextlib.nullcontext),
            )
            closing.enter_context(noted(LeftBehind(directory.path, workspace.path)))
            try:
                with (
                    self._attendance(directory) as attendance,
                    self._nesting(directory, task, workspace) as nesting,
                ):
                    outcome = self.performer.perform(start, workspace)
            except CaesarError:
                raise
            except BaseException:
                undo.pop_all()  # the agent has run: what it left is evidence
                raise
            undo.pop_all()
            narration.close(outcome)
            evidence = self._evidence(task, directory, brief, outcome, log)
            # Gates are asked of this very tree, so nobody else may write to it before.
            kept = replace(workspace, lock=None) if self.request.gates else workspace
            observation = observe(kept)
            if observation.verified:
                evidence = replace(evidence, changes=as_declared(observation))
            recovered = recover(evidence)
            findings = (
                *self.remarks,
                *workspace.diagnostics,
                *outcome.diagnostics,
                *filter(None, (log.check(),)),
                *narration.diagnostics,
                *(attendance.diagnostics if attendance else ()),
                *(nesting.diagnostics if nesting else ()),
                *observation.diagnostics,
            )
            findings = self.performer.findings(findings)
            declared = [change.path for change in recovered.report.changes]
            verdict = settle(
                recovered,
                observation=observation,
                outcome=outcome,
                task=task,
                harness_findings=findings,
                ignored=ignored_paths(workspace, declared),
            )
            run = Run(
                task=task,
                observation=observation,
                events=Events(narration.events),
                questions=attendance.questions if attendance else (),
                outcome=outcome,
                task_dir=directory.path,
                workspace=workspace.path,
                brief=brief,
                evidence=evidence,
                harness_findings=findings,
                promised=self.request.promised,
                children=nesting.children if nesting else (),
                **verdict,
            )
            run = self._judged(self.performer.complete(run))
            return self._recorded(run, directory, workspace)

    def _judged(self, run: Run) -> Run:
        """Ask the gates, on the tree as it was observed, and lay what they say beside the report."""
        if not self.request.gates:
            return replace(run, diagnostics=(*run.diagnostics, *judgement_findings(run)))
        from pytest_caesar.va.judging import judge_run  # noqa: PLC0415 - seldom needed

        return judge_run(run, self.request.gates, settings=self.settings, cancelled=self.cancelled)

    def check(self) -> None:
        """Refuse a program that cannot be found while there is nothing to clean up.

        Raises:
            CaesarError: that of a gate, or the agent's own.
        """
        if self.request.gates:
            from pytest_caesar.va.gates import check_programs  # noqa: PLC0415 - as above

            check_programs(self.request.gates, path=search_path(self.settings.path_first))
        if self.performer.starts_agent and isinstance(self.agent, ProcessAgent):
            find_program(self.agent, path=search_path(self.settings.path_first))

    # -- prepare

    def _make_task_directory(
        self, undo: contextlib.ExitStack, closing: contextlib.ExitStack
    ) -> TaskDirectory:
        base = self.request.workspace or self.project
        if not base.is_dir():
            raise DelegationError(problem=f"the workspace {base} does not exist")
        tasks = self.inherited.tasks if self.inherited else caesar_root(base) / ".caesar" / "tasks"
        path = tasks / self.task_id
        for folder in (tasks.parent, tasks):
            # Another delegation may make it at the same moment.
            with contextlib.suppress(FileExistsError):
                folder.mkdir()
                undo.callback(_remove_empty, folder)
        ignore = path.parent / ".gitignore"
        # Exclusively: an earlier agent may have left a link of that name to anywhere.
        with contextlib.suppress(FileExistsError), ignore.open("x", encoding="utf-8") as file:
            undo.callback(_remove_alone, ignore)
            file.write("*\n")
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            raise DelegationError(
                problem=f"the task directory {path} exists already: task ids must be new"
            ) from None
        undo.callback(shutil.rmtree, path, ignore_errors=True)
        parent = os.open(tasks, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        closing.callback(_close, parent)
        return TaskDirectory(path, parent)

    def _workspace_request(self, directory: TaskDirectory) -> WorkspaceRequest:
        request, worktree = self.request, self.config.worktree
        return WorkspaceRequest(
            task_id=self.task_id,
            project=self.project,
            isolation=request.isolation,
            mode=request.mode,
            native_read_only=isinstance(self.agent, ProcessAgent) and self.agent.native_read_only,
            label=request.role or self.agent.id,
            objective=request.objective,
            task_directory=directory.path,
            copy=worktree.copy,
            link=worktree.link,
            setup=worktree.setup,
            adopt=request.workspace,
            base_ref=request.base_ref,
            placed=request.placed,
            lock_held=self.inherited is not None,
        )

    def _task(self, directory: TaskDirectory, workspace: Workspace) -> Task:
        request = self.request
        return Task(
            protocol="caesar.task/v1",
            id=self.task_id,
            created_at=format_timestamp(self.clock()),
            role=request.role,
            agent=self.agent.id,
            objective=request.objective,
            context="\n\n---\n\n".join(filter(None, (self.system_prompt, request.context))),
            constraints=request.constraints,
            acceptance_criteria=request.acceptance_criteria,
            mode=request.mode,
            isolation=workspace.isolation,
            network=self.network,
            workspace=str(workspace.path),
            base_ref=workspace.base_ref,
            deadline_ms=self._deadline_ms(),
            depth=self.depth,
            report_path=str(directory.report_file),
            events_path=str(directory.events_file),
            channel=channel_coordinates(directory.path) if request.channel else None,
            **request.task_fields,
        )

    def _deadline_ms(self) -> int:
        """Return the deadline asked for, cut to what is left of a surrounding test."""
        left = self.settings.seconds_left()
        timeout, _ = fit(self.request.deadline_ms / 1000, self.settings.grace, left)
        return max(1, round(timeout * 1000))

    def _attendance(
        self, directory: TaskDirectory
    ) -> contextlib.AbstractContextManager[Attendance | None]:
        """Answer questions while the agent runs; without a script, somebody else does."""
        if not self.request.channel:
            return contextlib.nullcontext()
        answers = self.answers or ScriptedAnswers(unscripted="wait")
        return answers.attend(directory, task_id=self.task_id, abort=self.cancelled)

    def _nesting(
        self, directory: TaskDirectory, task: Task, workspace: Workspace
    ) -> contextlib.AbstractContextManager[Nesting | None]:
        """Carry out what the agent hands on to others while it runs."""
        if self.nest is None:
            return contextlib.nullcontext()
        return self.nest(self, directory=directory, task=task, workspace=workspace)

    # -- recover, observe, reconcile

    def _evidence(
        self, task: Task, directory: TaskDirectory, brief: str, outcome: Outcome, log: Log
    ) -> Evidence:
        raw_log, offset = log.read_tail(MAX_LOG_BYTES)
        report = directory.read_report()
        submission = directory.read_submission()
        return Evidence(
            task_id=task.id,
            mode=task.mode,
            raw_log=raw_log,
            raw_log_offset=offset,
            brief=brief,
            dialect=self.agent.dialect if isinstance(self.agent, ProcessAgent) else None,
            report_file=report.data,
            report_file_problem=report.problem,
            submission=submission.data,
            submission_problem=submission.problem,
            final_message=self._final_message(directory),
            schema_expected=self.expected == "schema",
            exit_code=outcome.exit_code,
            signal=outcome.signal,
            timed_out=outcome.timed_out,
            cancelled=outcome.status == "cancelled",
            killed_after_report=outcome.killed_after_report,
            exit_meaning=(
                explain_exit(self.agent.cli, outcome.exit_code)
                if isinstance(self.agent, ProcessAgent)
                else ""
            ),
        )

    def _final_message(self, directory: TaskDirectory) -> bytes | None:
        """Return what the CLI itself wrote as its last message, or None."""
        path = directory.path / FINAL_MESSAGE
        return read_bounded(path, max_bytes=MAX_DOCUMENT_BYTES).data

    def _recorded(self, run: Run, directory: TaskDirectory, workspace: Workspace) -> Run:
        """Keep the run in its task directory; where the agent took that away, say so."""
        try:
            write_record(run, directory=directory, workspace=workspace)
        except OSError as error:
            lost = Diagnostic(
                code="record-unwritable",
                message="the run could not be kept in its task directory: "
                f"{error.strerror or error}",
                path=str(run.task_dir),
            )
            return replace(run, diagnostics=(*run.diagnostics, lost))
        return run


def as_declared(observation: Observation) -> tuple[Change, ...]:
    """Return observed changes in the words of a report."""
    return tuple(
        Change(
            path=document_path(change.path),
            action=change.action,
            summary=f"renamed from {document_path(change.old_path)}" if change.old_path else "",
        )
        for change in observation.changes
    )


def _close(descriptor: int) -> None:
    """Close a descriptor that an agent in this process may have closed already."""
    with contextlib.suppress(OSError):
        os.close(descriptor)


def _remove_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _remove_alone(ignore: Path) -> None:
    """Take a ``.gitignore`` away again where nothing else came to lie beside it."""
    if [entry.name for entry in ignore.parent.iterdir()] == [ignore.name]:
        ignore.unlink()
