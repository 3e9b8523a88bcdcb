"""``run(main)``: from the environment to an exit code, with a report in every case it can."""

from __future__ import annotations

import inspect
import os
import shlex
import sys
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn, TextIO

from caesar_agent.agent import Agent
from caesar_agent.clock import monotonic
from caesar_agent.console import printable, settle, tell
from caesar_agent.documents.report import Report
from caesar_agent.documents.report_builder import ReportBuilder
from caesar_agent.errors import CaesarError, DeliveryError, StartError
from caesar_agent.events.narration import Narrator
from caesar_agent.mailbox.delivery import Delivery
from caesar_agent.processes.interruption import Guard
from caesar_agent.processes.program import RunningPrograms
from caesar_agent.running.failures import MAX_SUMMARY, describe, trace_of
from caesar_agent.running.start import Start, read_start
from caesar_agent.running.waiting import await_result

Main = Callable[[Agent], Report | Awaitable[Report]]
"""What an agent is: a function, plain or async, from its handle to its report."""

DONE, FAILED, NO_TASK = 0, 1, 2
"""Exit codes: a report that says ``success``, ``partial`` or ``blocked``; one that says
``failed``; no task that could be read, or no report that could be written."""


def run(main: Main) -> NoReturn:
    """Do the task that the environment names, hand in the report, and exit.

    ``main`` is called with an ``Agent`` and returns a report; it may be ``async``. An
    exception becomes a ``failed`` report with the traceback in ``details``; SIGTERM
    and SIGINT become one too. The exit code is 0 for ``success``, ``partial`` and
    ``blocked``, 1 for ``failed``, and 2 when the task cannot be read or the report
    cannot be written, with one sentence on stderr.
    """
    sys.exit(execute(main, environ=os.environ))


def execute(
    main: Main,
    *,
    environ: Mapping[str, str],
    install_signals: bool = True,
    stderr: TextIO | None = None,
) -> int:
    """Do what ``run`` does, for a caller that goes on living.

    Args:
        main: the agent.
        environ: where ``CAESAR_TASK_FILE`` and its like are looked up.
        install_signals: False leaves signal handlers alone; the caller may stop the
            agent by ``interruption.interrupt(reason)`` in a handler of its own.
        stderr: where the one sentence and tracebacks go; ``sys.stderr`` unless given.

    Returns:
        The exit code.

    Raises:
        BaseException: what is neither an ``Exception`` nor ``SystemExit`` nor
            ``Interrupted``, such as a plain ``KeyboardInterrupt``, when
            ``install_signals`` is False: it is the caller's own. The report is
            written before.
    """
    started = monotonic()
    out = sys.stderr if stderr is None else stderr
    try:
        start = read_start(environ)
    except StartError as error:
        tell(f"caesar: {error}\n", out)
        return NO_TASK
    session = _Session(start, started, out)
    with Guard(session.save, session.abandon, install=install_signals) as guard:
        ending = session.call(main, guard)
        code = session.finish(ending)
    if session.forked and not install_signals:
        # The caller goes on in the parent, and must not go on twice.
        for stream in (sys.stdout, sys.stderr, out):
            settle(stream)
        os._exit(code)
    if ending.error is not None and not install_signals:
        raise ending.error
    return code


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ending:
    """How ``main`` ended.

    Attributes:
        report: what it returned, or what is said in its place.
        exit_code: what it asked for, or None for what the report says.
        own: the report is the agent's own word.
        problem: message of the ``error`` event, or "".
        error: an exception that belongs to the caller.
    """

    report: Report
    exit_code: int | None = None
    own: bool = False
    problem: str = ""
    error: BaseException | None = None


class _Session:
    """One agent at one task, with everything it holds."""

    def __init__(self, start: Start, started: float, stderr: TextIO) -> None:
        self._task = start.task
        self._process = os.getpid()
        self._stderr = stderr
        self._report_builder = ReportBuilder()
        self._narrator = Narrator(start.events, start.task.id)
        channel = start.task.channel is not None
        self._delivery = Delivery(start.report, start.directory if channel else None)
        self._programs = RunningPrograms()
        self._agent = Agent(
            start.task,
            report_builder=self._report_builder,
            narrator=self._narrator,
            delivery=self._delivery,
            programs=self._programs,
            directory=start.directory,
            started=started,
        )

    def call(self, main: Main, guard: Guard) -> _Ending:
        """Call ``main``, and make an ending of whatever comes of it."""
        __tracebackhide__ = True
        try:
            try:
                self._narrator.emit_started(agent=self._task.agent, command=shlex.join(sys.argv))
                if refusal := _refusal(main, self._agent):
                    return self._wrong(refusal)
                returned: object = await_result(main(self._agent))
            finally:
                guard.close()
                if not self.forked:
                    self._programs.end()
        except BaseException as error:  # noqa: BLE001 - everything becomes a report
            if guard.reason is not None:
                return self._stopped(guard.reason, error)
            if isinstance(error, SystemExit):
                return self._exited(error)
            return self._broken(error)
        return self._returned(returned)

    def _stopped(self, reason: str, error: BaseException | None) -> _Ending:
        summary = f"The agent was {reason} before it was done."
        details = ""
        if error is not None:
            details = f"It was here when it was stopped:\n\n{trace_of(error)}"
        return _Ending(report=self._failed(summary, details), problem=summary)

    def _exited(self, error: SystemExit) -> _Ending:
        code = _exit_code(error, self._stderr)
        if self._delivery.submitted is not None:
            return _Ending(report=self._delivery.submitted, own=True, exit_code=code)
        silent = error.code is None or isinstance(error.code, int)
        words = "" if silent else " ".join(str(error.code).split())
        summary = printable(
            f"The agent ended with exit code {code} before it returned a report"
            + (f": {words}" if words else "."),
            limit=MAX_SUMMARY,
        )
        return _Ending(
            report=self._failed(summary, trace_of(error)),
            problem=summary,
            exit_code=code if self.forked else code or FAILED,
        )

    def _broken(self, error: BaseException) -> _Ending:
        tell(trace_of(error, limit=None), self._stderr)
        summary = f"The agent failed: {describe(error)}"
        return _Ending(
            report=self._failed(summary, trace_of(error)),
            problem=summary,
            # After a report that stands, only the exit code tells that something broke.
            exit_code=FAILED,
            error=None if isinstance(error, Exception) else error,
        )

    def _returned(self, value: object) -> _Ending:
        __tracebackhide__ = True
        if isinstance(value, Report):
            if not value.task_id:
                value = value.model_copy(update={"task_id": self._task.id})
            try:
                value.to_json()
            except Exception as error:  # noqa: BLE001 - an agent may put anything into one
                return self._broken(error)
            return _Ending(report=value, own=True)
        if value is None and self._delivery.submitted is not None:
            return _Ending(report=self._delivery.submitted, own=True)
        what = "nothing" if value is None else f"a value of type {type(value).__name__}"
        return self._wrong(
            f"main() returned {what} instead of a report: end it with return "
            "agent.success('…'), or with agent.partial, agent.failed or agent.blocked"
        )

    def _wrong(self, problem: str) -> _Ending:
        """Say that the code of the agent is not what an agent is."""
        tell(f"caesar: {problem}\n", self._stderr)
        summary = f"The agent is wrong: {problem}."
        return _Ending(report=self._failed(summary, ""), problem=summary, exit_code=FAILED)

    def save(self, reason: str) -> None:
        """Leave a report for the case that the agent does not end in time."""
        self._programs.stop()
        if self._delivery.submitted is not None:
            return
        try:
            self._delivery.deliver(self._stopped(reason, None).report)
        except DeliveryError:
            # The end of the session tries again, and says so.
            return

    def abandon(self) -> None:
        """Say that the agent is ended by force; its report lies there already."""
        tell(
            "caesar: the agent was told to stop and did not end in time; it is ended now\n",
            self._stderr,
        )

    def finish(self, ending: _Ending) -> int:
        """Hand in the report, tell the end, and return the exit code."""
        report = ending.report
        if self.forked:
            # A child that the agent forked came out of ``main`` too; its parent reports.
            return self._exit_code(ending.exit_code, report)
        if ending.problem:
            self._narrator.tell("error", message=ending.problem, fatal=True)
        if not ending.own and self._delivery.submitted is not None:
            # It was handed in whole; what came afterwards does not unsay it.
            report = self._delivery.submitted
        try:
            self._delivery.deliver(report)
        except CaesarError as error:
            tell(f"caesar: {printable(str(error))}\n", self._stderr)
            return NO_TASK
        code = self._exit_code(ending.exit_code, report)
        self._narrator.tell(
            "finished", status=report.status, summary=report.summary, exit_code=code
        )
        return code

    @property
    def forked(self) -> bool:
        """Whether this is a child that the agent forked, and not the process that it began in."""
        return os.getpid() != self._process

    @staticmethod
    def _exit_code(asked: int | None, report: Report) -> int:
        if asked is not None:
            return asked
        return FAILED if report.status == "failed" else DONE

    def _failed(self, summary: str, details: str) -> Report:
        return self._report_builder.report(
            "failed", summary, task_id=self._task.id, details=details
        )


def _refusal(main: Main, agent: Agent) -> str:
    """Say why ``main(agent)`` is a call that cannot be made; "" where it can, or nobody can tell."""
    try:
        signature = inspect.signature(main)
    except (TypeError, ValueError):
        return ""
    try:
        signature.bind(agent)
    except TypeError:
        name = getattr(main, "__name__", "main")
        return (
            f"{name}({', '.join(signature.parameters)}) cannot be called with the agent as its "
            f"only argument: write it as def {name}(agent): …"
        )
    return ""


def _exit_code(error: SystemExit, stderr: TextIO) -> int:
    """Return what the interpreter would make of it."""
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 0xFF
    tell(f"{error.code}\n", stderr)
    return FAILED
