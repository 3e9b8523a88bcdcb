"""``Agent``: the handle through which an agent works."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.clock import monotonic
from caesar_agent.console import one_line
from caesar_agent.documents.report import Action, Report, Severity
from caesar_agent.documents.report_builder import ReportBuilder, check_text, check_timeout, texts
from caesar_agent.documents.task import Task
from caesar_agent.errors import CommandFailedError, MisuseError
from caesar_agent.events.narration import MAX_SUMMARY, Narrator
from caesar_agent.mailbox.delivery import Delivery
from caesar_agent.processes.command_line import command_line, environment
from caesar_agent.processes.output import echo_to
from caesar_agent.processes.program import CommandResult, Program, RunningPrograms

if TYPE_CHECKING:
    from caesar_agent.delegating import Delegated
    from caesar_agent.documents.task import Mode

MAX_WAIT = 300.0
"""Longest wait for an answer unless the agent says otherwise, in seconds: five minutes, from
the specification."""

MAX_ERROR_OUTPUT = 2000
"""How much of a failed command's output its error repeats, in characters."""


class Agent:
    """One agent at work on one task; ``run`` makes it and hands it to ``main``.

    What is told here (files changed, commands, findings, …) is gathered and becomes
    part of the report that ``success``, ``partial``, ``failed`` and ``blocked`` return.
    A call with something the contract does not know raises ``MisuseError`` at once.

    Attributes:
        task: the task as the orchestrator wrote it.
    """

    def __init__(
        self,
        task: Task,
        *,
        report_builder: ReportBuilder,
        narrator: Narrator,
        delivery: Delivery,
        programs: RunningPrograms,
        directory: Path,
        started: float,
    ) -> None:
        self.task = task
        self._report_builder = report_builder
        self._narrator = narrator
        self._delivery = delivery
        self._programs = programs
        self._directory = directory
        self._started = started
        self._command_numbers = itertools.count(1)
        self._delegation_numbers = itertools.count(1)

    @property
    def remaining(self) -> float:
        """Seconds until the deadline, counted from when this process took the task up."""
        whole = self.task.deadline_ms / 1000
        return max(0.0, min(whole, whole - (monotonic() - self._started)))

    @property
    def workspace(self) -> Path:
        """The folder to work in, absolute; not always the current one."""
        return Path(self.task.workspace)

    @property
    def depth(self) -> int:
        """How deep in the chain of delegations: 0 is the main agent, 1 what it delegates to."""
        return self.task.depth

    # -- telling

    def progress(self, message: str, pct: float | None = None) -> None:
        """Tell how far the work is; ``pct`` is from 0 to 100."""
        check_text("progress", "the message", message)
        if pct is None:
            self._narrator.tell("progress", message=message)
            return
        if isinstance(pct, bool) or not isinstance(pct, int | float) or not 0 <= pct <= 100:
            raise MisuseError(method="progress", problem=f"pct is {pct!r}, expected 0 to 100")
        self._narrator.tell("progress", message=message, pct=pct)

    def thinking(self, text: str) -> None:
        """Tell a thought."""
        check_text("thinking", "the text", text)
        self._narrator.tell("thinking", text=text)

    def message(self, text: str) -> None:
        """Say something to whoever watches."""
        check_text("message", "the text", text)
        self._narrator.tell("message", text=text)

    def error(self, message: str, *, fatal: bool = False) -> None:
        """Tell of an error; the report is another matter."""
        check_text("error", "the message", message)
        self._narrator.tell("error", message=message, fatal=fatal)

    # -- working

    def command(
        self,
        command: Sequence[str | os.PathLike[str]] | str,
        *,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str | None] | None = None,
        timeout: float | None = None,
        check: bool = False,
    ) -> CommandResult:
        """Run a program in the workspace, and record that it was run.

        Its output is passed on to stdout and stderr as it comes; stdin is empty. What
        it started and left running is not waited for.

        Args:
            command: program and arguments, run without a shell; or one string, run by
                ``/bin/sh -c`` (never put text of the task into one).
            cwd: working folder, absolute or relative to the workspace.
            env: variables to add to those of this process; None takes one away.
            timeout: seconds after which its whole process tree is ended.
            check: raise when it does not exit with 0.

        Raises:
            CommandFailedError: with ``check`` only. That a program is not there is an
                exit code (127), and not an error.
        """
        argv, line = command_line(command)
        if timeout is not None:
            check_timeout("command", timeout)
        folder = self.workspace if cwd is None else self.workspace / cwd
        if not folder.is_dir():
            raise MisuseError(method="command", problem=f"cwd {str(folder)!r} is not a folder")
        told = {
            "tool": "command",
            "id": f"command_{next(self._command_numbers)}",
            "input_summary": one_line(line, limit=MAX_SUMMARY),
        }
        program = Program(argv, command=line, cwd=folder, env=environment(env))
        self._narrator.tell("tool_use", **told, status="started")
        code, note = None, "interrupted"
        status = "failed"
        with self._programs.running(program):
            try:
                result = program.run(
                    timeout=timeout, stdout=echo_to(sys.stdout), stderr=echo_to(sys.stderr)
                )
                code, note = result.exit_code, result.note
                status = "succeeded" if result.ok else "failed"
            finally:
                self._report_builder.command(line, code, note)
                self._narrator.tell("tool_use", **told, status=status)
        if check and not result.ok:
            output = (result.stderr.strip() or result.stdout.strip())[-MAX_ERROR_OUTPUT:]
            raise CommandFailedError(command=line, ending=result.ending, output=output)
        return result

    def ask(
        self, question: str, *, options: Sequence[str] = (), timeout: float | None = None
    ) -> str | None:
        """Ask the orchestrator, and wait for the answer.

        Args:
            question: what has to be decided.
            options: choices to pick from; the answer may be another.
            timeout: seconds to wait, five minutes unless given, and never beyond the
                deadline.

        Returns:
            The answer, or None where there is no return channel (at once) or nobody
            answered in time: go on by your own judgement. The question then stands in
            the report's ``questions``.
        """
        check_text("ask", "the question", question)
        choices = texts("ask", "options", options)
        if timeout is not None:
            check_timeout("ask", timeout, zero=True)
        answer = None
        if self.task.channel is not None:
            answer = self._ask(question, choices, MAX_WAIT if timeout is None else timeout)
        if answer is None:
            self._report_builder.question(question, choices, method="ask")
        return answer

    def _ask(self, question: str, options: tuple[str, ...], timeout: float) -> str | None:
        from caesar_agent.mailbox.errors import MailboxError  # noqa: PLC0415
        from caesar_agent.mailbox.mailbox import Mailbox  # noqa: PLC0415 - only where it is used
        from caesar_agent.mailbox.values import Answer  # noqa: PLC0415

        mailbox = Mailbox(self._directory)
        try:
            # Told before anybody can see it: whoever answers would tell it otherwise.
            question_id = mailbox.ask(
                question,
                options,
                announce=lambda question_id: self._narrator.tell(
                    "question", id=question_id, question=question, options=list(options)
                ),
            )
        except (OSError, MailboxError) as error:
            self.error(f"the question cannot be asked: {error}")
            return None
        try:
            reply = mailbox.wait(question_id, timeout=min(timeout, self.remaining))
        except BaseException:
            # Whoever would answer now must hear that nobody listens any more.
            mailbox.withdraw(question_id)
            raise
        return reply.text if isinstance(reply, Answer) else None

    def delegate(
        self,
        name: str,
        objective: str,
        *,
        context: str = "",
        constraints: Sequence[str] = (),
        acceptance_criteria: Sequence[str] = (),
        mode: Mode | None = None,
        timeout: float | None = None,
    ) -> Delegated:
        """Have another agent do a part of the task in the same workspace, and wait for it.

        What it changed is declared in the report of this agent too, as its work.

        Args:
            name: exact name of the other agent.
            objective: what it is to do, complete in itself: it sees nothing else.
            context: excerpts, history, links.
            constraints: what must not happen, a sentence each.
            acceptance_criteria: what must hold afterwards, a sentence each.
            mode: ``read-only`` or ``write``; that of this task unless given.
            timeout: seconds until it is ended; never beyond this agent's own deadline.

        Returns:
            Its report; or a refusal, which says why nothing was done: go on without.
        """
        from caesar_agent.delegating import Delegator  # noqa: PLC0415 - only where it is used

        delegator = Delegator(
            self._directory,
            narrator=self._narrator,
            report_builder=self._report_builder,
            remaining=lambda: self.remaining,
        )
        return delegator.delegate(
            name,
            objective,
            number=next(self._delegation_numbers),
            context=context,
            constraints=constraints,
            acceptance_criteria=acceptance_criteria,
            mode=mode,
            timeout=timeout,
        )

    # -- gathering

    def file_changed(
        self, path: str | os.PathLike[str], action: Action, *, summary: str = ""
    ) -> None:
        """Declare that a file was created, modified, deleted or renamed.

        Args:
            path: relative to the workspace, or absolute; the new one when renamed.
            action: what happened to it.
            summary: what was done, in a few words.
        """
        relative = self._relative("file_changed", path)
        self._report_builder.change(relative, action, summary)
        self._narrator.tell("file_changed", path=relative, action=action)

    def finding(
        self,
        severity: Severity,
        title: str,
        *,
        file: str | os.PathLike[str] | None = None,
        line: int | None = None,
        detail: str = "",
    ) -> None:
        """Report something that the reader should know; ``line`` counts from 1."""
        where = None if file is None else self._relative("finding", file)
        self._report_builder.finding(severity, title, where, line, detail)

    def artifact(self, path: str | os.PathLike[str], description: str = "") -> None:
        """Name a file worth keeping."""
        self._report_builder.artifact(self._relative("artifact", path), description)

    def next_step(self, text: str) -> None:
        """Name something that is left to do; ``partial`` needs one."""
        self._report_builder.next_step(text)

    def question(self, text: str, options: Sequence[str] = ()) -> None:
        """Leave a question open in the report; ``blocked`` needs one. To wait, see ``ask``."""
        self._report_builder.question(text, options)

    def usage(
        self,
        *,
        input_tokens: int | None = None,
        output_tokens: int | None = None,
        duration_ms: int | None = None,
        cost_usd: float | None = None,
    ) -> None:
        """Add to what the work consumed so far."""
        self._report_builder.add_usage(
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            duration_ms=duration_ms,
            cost_usd=cost_usd,
        )

    def output(self, key: str, value: object) -> None:
        """Put a JSON value of your own into the report, under ``outputs``."""
        self._report_builder.output(key, value)

    # -- reporting

    def success(self, summary: str, *, details: str = "", next_steps: Sequence[str] = ()) -> Report:
        """Return a report that says: the acceptance criteria are met."""
        return self._report_builder.report(
            "success", summary, task_id=self.task.id, details=details, next_steps=next_steps
        )

    def partial(self, summary: str, *, details: str = "", next_steps: Sequence[str] = ()) -> Report:
        """Return a report that says: a part is done, ``next_steps`` says what is left."""
        return self._report_builder.report(
            "partial", summary, task_id=self.task.id, details=details, next_steps=next_steps
        )

    def failed(self, summary: str, *, details: str = "", next_steps: Sequence[str] = ()) -> Report:
        """Return a report that says: it did not work, and there is no way on."""
        return self._report_builder.report(
            "failed", summary, task_id=self.task.id, details=details, next_steps=next_steps
        )

    def blocked(
        self,
        summary: str,
        *,
        question: str | None = None,
        options: Sequence[str] = (),
        details: str = "",
        next_steps: Sequence[str] = (),
    ) -> Report:
        """Return a report that says: somebody else must decide ``question`` first.

        Raises:
            MisuseError: there is no question, neither here nor asked before.
        """
        if question is not None:
            self._report_builder.question(question, options, method="blocked")
        elif not self._report_builder.questions:
            raise MisuseError(
                method="blocked",
                problem="a blocked report must ask something: give question='…', or call "
                "agent.question('…') before",
            )
        return self._report_builder.report(
            "blocked", summary, task_id=self.task.id, details=details, next_steps=next_steps
        )

    def submit(self, report: Report) -> Report:
        """Hand in a report now, through the return channel where the task has one.

        It stands, whatever becomes of the agent; a later one replaces it.

        Returns:
            The same report, so that ``main`` can end with ``return agent.submit(…)``.

        Raises:
            DeliveryError: it cannot be written.
        """
        if not isinstance(report, Report):
            raise MisuseError(
                method="submit", problem=f"expected a report, found {type(report).__name__}"
            )
        if not report.task_id:
            report = report.model_copy(update={"task_id": self.task.id})
        self._delivery.submit(report)
        return report

    def _relative(self, method: str, given: str | os.PathLike[str]) -> str:
        """Return a path as reports have it: relative to the workspace where it lies in it."""
        try:
            path = os.fsdecode(given)
        except TypeError:
            raise MisuseError(
                method=method, problem=f"a path must be a string or a Path, not {given!r:.80}"
            ) from None
        if not Path(path).is_absolute():
            return path
        for root in (self.task.workspace, os.path.realpath(self.task.workspace)):
            relative = os.path.relpath(path, root)
            if relative.split(os.sep, 1)[0] != os.pardir:
                return Path(relative).as_posix()
        return path
