"""One delegation, from a request to a run; it reads like the cycle in the specification."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.task import Task
from caesar_agent.documents.timestamps import format_timestamp
from caesar_agent.errors import CaesarError
from caesar_agent.mailbox.reader import AskedQuestion
from caesar_agent.task_directory import (
    TaskDirectory,
    write_atomic,
)
from pytest_caesar.agents.command import find_program
from pytest_caesar.agents.config import Config
from pytest_caesar.agents.launch import Source
from pytest_caesar.agents.target import AgentTarget, ProcessAgent
from pytest_caesar.answers.question_responder import QuestionResponder
from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.orchestrator.collect_evidence import gather
from pytest_caesar.orchestrator.configuration_watch import ConfigurationWatch
from pytest_caesar.orchestrator.executor import LiveAgent, Performer
from pytest_caesar.orchestrator.interrupted_run import InterruptedRun, noted
from pytest_caesar.orchestrator.live_events import Narration
from pytest_caesar.orchestrator.nested.child_orchestrator import Nest, Parent
from pytest_caesar.orchestrator.nested.server import Inherited, NestedServer
from pytest_caesar.orchestrator.project_root import caesar_root
from pytest_caesar.orchestrator.request import Request
from pytest_caesar.orchestrator.return_channel import channel_coordinates
from pytest_caesar.orchestrator.starting import Start
from pytest_caesar.orchestrator.task_folder import make_task_directory
from pytest_caesar.recovery.evidence import Evidence
from pytest_caesar.recovery.tiers import recover
from pytest_caesar.recovery.usage import Usage
from pytest_caesar.runs.activity import Activity
from pytest_caesar.runs.brief import render_brief
from pytest_caesar.runs.errors import DelegationError
from pytest_caesar.runs.record import write_record
from pytest_caesar.runs.run import Events, Run
from pytest_caesar.runs.verdict import settle
from pytest_caesar.supervision.cancellation import Cancellation
from pytest_caesar.supervision.environment import search_path
from pytest_caesar.supervision.logs import Log
from pytest_caesar.supervision.outcome import Outcome
from pytest_caesar.supervision.time_left import fit
from pytest_caesar.workspace.change_times import change_times
from pytest_caesar.workspace.isolation import prepare, release, remove
from pytest_caesar.workspace.observation import ignored_paths, observe
from pytest_caesar.workspace.reconciliation import observed_changes
from pytest_caesar.workspace.values import Observation, Workspace, WorkspaceRequest

if TYPE_CHECKING:
    from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings


@dataclass(frozen=True, slots=True)
class _Company:
    """What came of those who attend to an agent while it works."""

    questions: tuple[AskedQuestion, ...] = ()
    children: tuple[Run, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @classmethod
    def of(cls, attendance: QuestionResponder | None, nesting: NestedServer | None) -> _Company:
        return cls(
            questions=attendance.questions if attendance else (),
            children=nesting.children if nesting else (),
            diagnostics=(
                *(attendance.diagnostics if attendance else ()),
                *(nesting.diagnostics if nesting else ()),
            ),
        )


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
    cancelled: Cancellation
    inherited: Inherited | None = None
    nest: Nest | None = None
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
            start = self._start(directory, workspace, closing)
            closing.enter_context(noted(InterruptedRun(directory.path, workspace.path)))
            tree = workspace.path.resolve()
            watch = ConfigurationWatch.begin(self.project)
            outcome, company = self._perform(start, workspace, undo)
            evidence = gather(start, outcome)
            # Gates are asked of this very tree, so nobody else may write to it before.
            kept = replace(workspace, lock=None) if self.request.gates else workspace
            observation = observe(kept)
            if observation.verified:
                evidence = replace(evidence, changes=observed_changes(observation))
            told = frozenset(tree / change.path for change in observation.changes)
            company = replace(company, diagnostics=(*company.diagnostics, *watch.findings(told)))
            run = self._run(start, workspace, company, outcome, evidence, observation)
            run = self._judged(self.performer.complete(run), tree)
            return self._recorded(run, directory, workspace)

    def _perform(
        self, start: Start, workspace: Workspace, undo: contextlib.ExitStack
    ) -> tuple[Outcome, _Company]:
        """Have the agent work; once it has started, what it leaves is evidence, and kept."""
        try:
            with (
                self._attendance(start.directory) as attendance,
                self._nesting(start.directory, start.task, workspace) as nesting,
            ):
                outcome = self.performer.perform(start, workspace)
        except CaesarError:
            raise
        except BaseException:
            undo.pop_all()
            raise
        undo.pop_all()
        start.narration.close(outcome)
        return outcome, _Company.of(attendance, nesting)

    def _run(
        self,
        start: Start,
        workspace: Workspace,
        company: _Company,
        outcome: Outcome,
        evidence: Evidence,
        observation: Observation,
    ) -> Run:
        recovered = recover(evidence)
        findings = self.performer.findings(
            (
                *self.remarks,
                *workspace.diagnostics,
                *outcome.diagnostics,
                *filter(None, (start.log.check(),)),
                *start.narration.diagnostics,
                *company.diagnostics,
                *observation.diagnostics,
            )
        )
        declared = [change.path for change in recovered.report.changes]
        activity = self.performer.activity(self._activity(start, workspace, observation))
        verdict = settle(
            recovered,
            observation=observation,
            outcome=outcome,
            task=start.task,
            harness_findings=findings,
            ignored=ignored_paths(workspace, declared),
            activity=activity,
        )
        return Run(
            activity=activity,
            task=start.task,
            observation=observation,
            events=Events(start.narration.events),
            questions=company.questions,
            outcome=outcome,
            task_dir=start.directory.path,
            workspace=workspace.path,
            brief=start.brief,
            evidence=evidence,
            harness_findings=findings,
            promised=self.request.promised,
            children=company.children,
            **verdict,
        )

    def _activity(self, start: Start, workspace: Workspace, observation: Observation) -> Activity:
        """Gather what others than the agent say of its work."""
        stream = start.narration.stream
        changes = observation.changes if observation.verified else ()
        return Activity(
            tool_calls=stream.calls if stream else (),
            whole=stream is None or stream.whole,
            usage=stream.usage if stream else Usage(),
            written=change_times(workspace.path, changes) if observation.verified else None,
            prices=self.settings.prices,
            model=self.model,
        )

    def _judged(self, run: Run, tree: Path) -> Run:
        """Ask the gates, on the tree as it was observed, and lay what they say beside the report."""
        if not self.request.gates:
            return run.judged()
        from pytest_caesar.gates.judging import judge_run  # noqa: PLC0415 - seldom needed

        return judge_run(
            run,
            self.request.gates,
            tree=tree,
            settings=self.settings,
            cancelled=self.cancelled,
        )

    def check(self) -> None:
        """Refuse a program that cannot be found while there is nothing to clean up.

        Raises:
            CaesarError: that of a gate, or the agent's own.
        """
        if self.request.gates:
            from pytest_caesar.gates.gates import check_programs  # noqa: PLC0415 - as above

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
        return make_task_directory(tasks, self.task_id, undo=undo, closing=closing)

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
            cancelled=self.cancelled.is_set,
            adopt=request.workspace,
            base_ref=request.base_ref,
            placed=request.placed,
            lock_held=self.inherited is not None,
        )

    def _start(
        self, directory: TaskDirectory, workspace: Workspace, closing: contextlib.ExitStack
    ) -> Start:
        """Write the task, and put together what starting its agent takes."""
        task = self._task(directory, workspace)
        write_atomic(directory.task_file, task.to_json().encode(), durable=False)
        log = closing.enter_context(Log.create(directory.raw_log))
        return Start(
            agent=self.agent,
            task=task,
            directory=directory,
            brief=render_brief(task, expected=self.expected),
            expected=self.expected,
            model=self.model,
            log=log,
            narration=Narration(
                task=task,
                directory=directory,
                dialect=self.agent.dialect if isinstance(self.agent, ProcessAgent) else None,
                log=log,
                on_event=self.settings.on_event,
                now=self.clock,
            ),
            settings=self.settings,
            cancelled=self.cancelled,
            frozen=getattr(self.clock, "frozen", contextlib.nullcontext),
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
    ) -> contextlib.AbstractContextManager[QuestionResponder | None]:
        """Answer questions while the agent runs; without a script, somebody else does."""
        if not self.request.channel:
            return contextlib.nullcontext()
        answers = self.answers or ScriptedAnswers(unscripted="wait")
        return QuestionResponder(answers, directory, task_id=self.task_id, abort=self.cancelled)

    def _nesting(
        self, directory: TaskDirectory, task: Task, workspace: Workspace
    ) -> contextlib.AbstractContextManager[NestedServer | None]:
        """Carry out what the agent hands on to others while it runs."""
        if self.nest is None:
            return contextlib.nullcontext()
        return self.nest.serve(
            Parent(
                agent=self.agent,
                depth=self.depth,
                config=self.config,
                request=self.request,
                directory=directory,
                task=task,
                workspace=workspace,
            )
        )

    # -- keep

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
