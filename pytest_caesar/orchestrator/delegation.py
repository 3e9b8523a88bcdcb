"""One delegation, from a request to a run; it reads like the cycle in the specification."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.event import Event
from caesar_agent.documents.task import Task
from caesar_agent.documents.timestamps import format_timestamp
from caesar_agent.errors import CaesarError
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
from pytest_caesar.files.folders import temporary_folder
from pytest_caesar.orchestrator.attendants import Attendants
from pytest_caesar.orchestrator.collect_evidence import collect_evidence
from pytest_caesar.orchestrator.configuration_watch import ConfigurationWatch
from pytest_caesar.orchestrator.executor import LiveAgent, Performer
from pytest_caesar.orchestrator.interrupted_run import InterruptedRun, mark_interrupted
from pytest_caesar.orchestrator.live_events import Listeners, Narration
from pytest_caesar.orchestrator.nested.child_orchestrator import Nest, Parent
from pytest_caesar.orchestrator.nested.server import Inherited
from pytest_caesar.orchestrator.project_root import caesar_root
from pytest_caesar.orchestrator.request import Request
from pytest_caesar.orchestrator.return_channel import channel_coordinates
from pytest_caesar.orchestrator.starting import Start
from pytest_caesar.orchestrator.task_folder import make_task_directory
from pytest_caesar.recovery.evidence import Evidence
from pytest_caesar.recovery.sources import recover
from pytest_caesar.recovery.tool_call import ToolCall
from pytest_caesar.recovery.usage import Usage
from pytest_caesar.runs.activity import Activity, best_usage, usage_of
from pytest_caesar.runs.brief import render_brief
from pytest_caesar.runs.errors import DelegationError
from pytest_caesar.runs.extensions import RunningTask
from pytest_caesar.runs.record import keep_record
from pytest_caesar.runs.run import Events, Run
from pytest_caesar.runs.verdict import settle
from pytest_caesar.supervision.cancellation import Cancellation
from pytest_caesar.supervision.control_groups import Limits
from pytest_caesar.supervision.environment import search_path
from pytest_caesar.supervision.logs import Log
from pytest_caesar.supervision.monitor_results import doubt_of
from pytest_caesar.supervision.outcome import Outcome
from pytest_caesar.supervision.time_left import fit, format_seconds
from pytest_caesar.workspace.change_times import change_times
from pytest_caesar.workspace.isolation import prepare, release, remove
from pytest_caesar.workspace.known_paths import KnownPaths
from pytest_caesar.workspace.observation import ignored_paths, observe
from pytest_caesar.workspace.values import Observation, Workspace, WorkspaceRequest

if TYPE_CHECKING:
    from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
    from pytest_caesar.sandboxes.enclosure import Enclosure
    from pytest_caesar.sandboxes.probe import Proof


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
        hook_failures: what was wrong with hooks of plugins, as it comes.
        proof: of the sandbox in which the agent and the gates run, or None.
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
    hook_failures: list[Diagnostic] = field(default_factory=list)
    proof: Proof | None = None

    def carry_out(self) -> Run:
        """Run the whole cycle: prepare, start, end, recover, observe, reconcile.

        Raises:
            CaesarError: refused, or not startable; nothing was left behind.
        """
        self.check()
        if self.settings.budget:
            self.settings.budget.check()
        with contextlib.ExitStack() as undo, contextlib.ExitStack() as closing:
            directory = self._make_task_directory(undo, closing)
            workspace = prepare(self._workspace_request(directory))
            undo.callback(remove, workspace, task_id=self.task_id)
            closing.callback(release, workspace)
            enclosure = self._enclosure(directory, workspace, closing)
            start = self._start(directory, workspace, enclosure, closing)
            closing.enter_context(mark_interrupted(InterruptedRun(directory.path, workspace.path)))
            tree = workspace.path.resolve()
            watch = ConfigurationWatch.begin(self.project)
            attendants = self._attendants(start, workspace)
            outcome = self._supervise(start, workspace, attendants, undo)
            taken = enclosure.take_over() if enclosure is not None else ()
            # Gates are asked of this very tree, so nobody else may write to it before.
            kept = replace(workspace, lock=None) if self.request.gates else workspace
            if enclosure is not None and enclosure.closes_project:
                kept = replace(kept, project=None)
            observation = observe(kept, doubt=doubt_of(outcome))
            evidence = collect_evidence(start, outcome, observation)
            told = frozenset(tree / change.path for change in observation.changes)
            findings = (
                *self.remarks,
                *workspace.diagnostics,
                *outcome.diagnostics,
                *taken,
                *self._cut_short(start.task, outcome),
                *filter(None, (start.log.check(),)),
                *start.narration.diagnostics,
                *attendants.diagnostics,
                *watch.findings(told),
                *observation.diagnostics,
            )
            run = self._reconcile(start, workspace, outcome, evidence, observation, findings)
            run = replace(run, questions=attendants.questions, children=attendants.children)
            run = self._judged(self.performer.complete(run), tree, enclosure)
            run = self._extended(run)
            return keep_record(run, directory=directory, workspace=workspace)

    def _attendants(self, start: Start, workspace: Workspace) -> Attendants:
        """Return who answers the agent's questions and runs the agents that it asks for."""
        parent = Parent(
            agent=self.agent,
            depth=self.depth,
            config=self.config,
            request=self.request,
            directory=start.directory,
            task=start.task,
            workspace=workspace,
        )
        return Attendants(
            QuestionResponder(
                # Without a script, somebody else answers.
                self.answers or ScriptedAnswers(unscripted="wait"),
                start.directory,
                task_id=self.task_id,
                abort=self.cancelled,
            )
            if self.request.channel
            else None,
            self.nest.serve(parent) if self.nest else None,
        )

    def _supervise(
        self,
        start: Start,
        workspace: Workspace,
        attendants: Attendants,
        undo: contextlib.ExitStack,
    ) -> Outcome:
        """Have the agent work; once it has started, what it leaves is evidence, and kept."""
        try:
            with attendants:
                outcome = self.performer.perform(start, workspace)
        except CaesarError:
            raise
        except BaseException:
            undo.pop_all()
            raise
        undo.pop_all()
        start.narration.close(outcome)
        return outcome

    def _reconcile(
        self,
        start: Start,
        workspace: Workspace,
        outcome: Outcome,
        evidence: Evidence,
        observation: Observation,
        findings: tuple[Diagnostic, ...],
    ) -> Run:
        """Recover the report, and compare what it declares with what git and the stream show."""
        activity = self.performer.activity(self._activity(start, workspace, observation))
        programs = self.settings.programs
        unseen = programs.findings(self.task_id, activity.tool_calls) if programs else ()
        findings = self.performer.findings((*findings, *unseen))
        recovered = recover(evidence)
        if self.settings.budget:
            used = usage_of(activity, recovered.report)
            findings = (*findings, *self.settings.budget.close(self.task_id, used))
        declared = [change.path for change in recovered.report.changes]
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
            outcome=outcome,
            task_dir=start.directory.path,
            workspace=workspace.path,
            brief=start.brief,
            evidence=evidence,
            harness_findings=findings,
            promised=self.request.promised,
            permissions=tuple(start.permissions),
            sandbox=start.enclosure.use if start.enclosure is not None else None,
            **verdict,
        )

    def _activity(self, start: Start, workspace: Workspace, observation: Observation) -> Activity:
        """Gather what others than the agent say of its work."""
        stream = start.narration.stream
        programs = self.settings.programs
        calls, used = self._told_to_model()
        changes = observation.changes if observation.verified else ()
        return Activity(
            tool_calls=stream.calls if stream else (),
            whole=stream is None or stream.whole,
            usage=stream.usage if stream else Usage(),
            programs=(
                *(programs.observed(self.task_id) if programs else ()),
                *start.commands,
            ),
            written=change_times(workspace.path, changes) if observation.verified else None,
            model_calls=calls,
            model_usage=used,
            prices=self.settings.prices,
            model=self.model,
        )

    def _spent(self, stream: Usage) -> None:
        """Look after the budget while the agent works, and have it stopped at a bound."""
        _, used = self._told_to_model()
        seen = Activity(
            usage=stream, model_usage=used, prices=self.settings.prices, model=self.model
        )
        budget = self.settings.budget
        if budget is not None and budget.watch(self.task_id, best_usage(seen)):
            self.cancelled.set()

    def _told_to_model(self) -> tuple[tuple[ToolCall, ...], Usage]:
        witness = self.settings.model_witness
        return ((), Usage()) if witness is None else witness(self.task_id)

    def _judged(self, run: Run, tree: Path, enclosure: Enclosure | None) -> Run:
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
            enclosure=enclosure,
        )

    def _extended(self, run: Run) -> Run:
        """Add what plugins find, and what was wrong with them."""
        extensions = self.settings.extensions
        if extensions is None:
            return run
        failed: list[Diagnostic] = []
        found = extensions.finished(run, failed.append)
        # One that fails at every event is told once.
        told = dict.fromkeys((*self.hook_failures, *failed))
        return replace(run, diagnostics=(*run.diagnostics, *found, *told))

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

    def _enclosure(
        self, directory: TaskDirectory, workspace: Workspace, closing: contextlib.ExitStack
    ) -> Enclosure | None:
        """Make ready what the sandbox shows, or None without one."""
        if self.proof is None or not self.performer.starts_agent:
            return None
        from pytest_caesar.sandboxes.enclosure import (  # noqa: PLC0415 - seldom needed
            PathRules,
            enclose,
        )

        policy = self.config.policy
        return enclose(
            self.proof,
            workspace,
            task_dir=directory.path,
            folder=closing.enter_context(temporary_folder("caesar-sandbox-")),
            project=self.project,
            shown=(self.settings.agents_root,),
            rules=PathRules(read=policy.sandbox_read, write=policy.sandbox_write, hide=policy.hide),
            read_only=self.request.mode == "read-only",
            network=self.network,
        )

    def _start(
        self,
        directory: TaskDirectory,
        workspace: Workspace,
        enclosure: Enclosure | None,
        closing: contextlib.ExitStack,
    ) -> Start:
        """Write the task, and put together what starting its agent takes."""
        task = self._with_additions(self._task(directory, workspace))
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
                on_event=self._listener(task, directory),
                on_usage=self._spent if self.settings.budget else None,
                now=self.clock,
                existed=KnownPaths(workspace),
            ),
            settings=self.settings,
            cancelled=self.cancelled,
            enclosure=enclosure,
            limits=Limits(
                memory=self.config.policy.max_memory, processes=self.config.policy.max_processes
            ),
            permit=self.answers.permits if self.answers else None,
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

    def _with_additions(self, task: Task) -> Task:
        """Return a task with what plugins add to it."""
        extensions = self.settings.extensions
        fields = {} if extensions is None else extensions.task(task, self.hook_failures.append)
        return task.model_copy(update=dict(fields)) if fields else task

    def _listener(self, task: Task, directory: TaskDirectory) -> Callable[[Event], None] | None:
        """Return who is told of events: progress, and plugins."""
        extensions, shown = self.settings.extensions, self.settings.on_event
        if extensions is None or extensions.event is None:
            return shown
        return Listeners(
            shown,
            partial(
                extensions.event,
                RunningTask(task=task, task_dir=directory.path),
                note=self.hook_failures.append,
            ),
        )

    def _deadline_ms(self) -> int:
        """Return the deadline asked for, cut to what is left of a surrounding test."""
        left = self.settings.seconds_left()
        timeout, _ = fit(self.request.deadline_ms / 1000, self.settings.grace, left)
        return max(1, round(timeout * 1000))

    def _cut_short(self, task: Task, outcome: Outcome) -> list[Diagnostic]:
        """Say that the deadline which ended the agent was not the one that was asked for."""
        asked = self.request.deadline_ms
        if not outcome.timed_out or task.deadline_ms >= asked:
            return []
        text = (
            f"the agent was promised {format_seconds(asked)} and had {format_seconds(task.deadline_ms)}: "
            "no more was left of the test's own timeout"
        )
        return [Diagnostic(code="deadline-cut", message=text)]
