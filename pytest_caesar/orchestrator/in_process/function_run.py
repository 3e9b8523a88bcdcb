"""A Python function played as an agent in this process, so that breakpoints and coverage work."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Mapping
from inspect import iscoroutinefunction
from pathlib import Path
from typing import Any

from caesar_agent.clock import monotonic
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.errors import CaesarError
from caesar_agent.processes.interruption import Interrupted
from caesar_agent.running.runner import FAILED, execute
from pytest_caesar.orchestrator.in_process.alarm import Alarm
from pytest_caesar.orchestrator.in_process.leaked_processes import Before, end_leaked_processes
from pytest_caesar.orchestrator.in_process.loading import load_function
from pytest_caesar.orchestrator.in_process.process_state import Streams, process_state
from pytest_caesar.supervision.cancellation import Cancellation, let_through
from pytest_caesar.supervision.monitor_results import (
    ending_findings,
    leaked_findings,
    unkillable_finding,
)
from pytest_caesar.supervision.outcome import LeakedProcess, Outcome
from pytest_caesar.supervision.plain_sockets import pairs_allowed
from pytest_caesar.supervision.reaper import guarded
from pytest_caesar.supervision.supervisor import GRACE


class InProcessError(CaesarError):
    """A function cannot be run in this process now.

    Attributes:
        target: ``module:function``.
        reason: what stands in the way.
    """

    __module__ = "pytest_caesar"

    target: str
    reason: str

    def message(self) -> str:
        """Say it in a sentence, with what to do."""
        return (
            f"{self.target} cannot be run in this process: {self.reason}; "
            "use --caesar-subprocess (or subprocess=True) to give it one of its own"
        )


_ALARM_FILE = Alarm.__init__.__code__.co_filename


class _Stage:
    """What runs in this process now: there is one standard output, one folder, one alarm."""

    lock = threading.Lock()
    target = ""
    streams: Streams | None = None
    alarm: Alarm | None = None


def run_function(  # noqa: PLR0913 - all by name, and all are facts of one call
    target: str,
    *,
    import_root: str,
    environ: Mapping[str, str],
    cwd: Path,
    stdout: int,
    stderr: int,
    timeout: float,
    grace: float = GRACE,
    cancelled: Cancellation | None = None,
) -> Outcome:
    """Call ``module:function`` as an agent, as if it had a process of its own.

    Descriptors 0 to 2, ``sys.std*``, working folder, environment, arguments,
    ``sys.path``, umask and signal handlers are the function's own while it
    runs, and restored whatever happens. Not everything can be: modules it
    imports stay imported, threads it leaves go on, ``os._exit`` ends pytest.

    Args:
        target: ``module:function``.
        import_root: folder put at the head of ``sys.path``; "" for none.
        environ: its whole environment, with the eight ``CAESAR_*``.
        cwd: its working folder.
        stdout: descriptor it prints to.
        stderr: likewise.
        timeout: seconds until it is interrupted.
        grace: seconds until an interruption that it swallowed is repeated.
        cancelled: set it, from another thread, to have it interrupted.

    Returns:
        How it ended; the exit code is what ``caesar_agent.run`` would exit with.

    Raises:
        TargetError: there is no such function, or its module fails.
        WorkspaceMissingError: ``cwd`` cannot be entered.
        InProcessError: this is not the main thread, or another function runs.
        BaseException: what is not the agent's to handle: Ctrl-C, a test's own
            timeout. Its report is written before.

    Source: DESIGN, "In this process".
    """
    if math.isnan(timeout) or timeout <= 0:
        message = f"timeout must be positive, not {timeout!r}"
        raise ValueError(message)
    if cancelled is not None and cancelled.is_set():
        return Outcome(status="cancelled")
    begun = monotonic()
    task_directory = environ.get("CAESAR_TASK_DIR", "")
    with _stage(target), guarded("CAESAR_TASK_DIR", task_directory):
        before = Before.now()
        threads = set(threading.enumerate())
        alarm = Alarm(timeout, max(grace, 0.0), cancelled)
        code: int | None = None
        try:
            with (
                process_state(environ=environ, cwd=cwd, target=target),
                pairs_allowed(),
                Streams(stdout, stderr) as streams,
                _debugger(streams, alarm),
                alarm,
            ):
                code = _call(target, import_root, alarm)
        finally:
            leaked, unkillable = end_leaked_processes(before, task_directory)
    return _outcome(
        alarm,
        code,
        duration_ms=round((monotonic() - begun) * 1000),
        leaked=leaked,
        diagnostics=[
            *(unkillable_finding(process.pid, process.name) for process in unkillable),
            *_thread_findings(set(threading.enumerate()) - threads),
        ],
    )


@contextlib.contextmanager
def _no_running_loop() -> Iterator[None]:
    """Hide the event loop of an async test: the function may run one of its own.

    The loop waits meanwhile, as it does for whatever does not await.
    """
    asyncio = sys.modules.get("asyncio.events")
    loop = asyncio._get_running_loop() if asyncio is not None else None  # noqa: SLF001 - see below
    if asyncio is None or loop is None:
        yield
        return
    # What implementers of event loops call; there is no public way to nest one.
    asyncio._set_running_loop(None)  # noqa: SLF001
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)  # noqa: SLF001


def enter_debugger() -> None:
    """Give the terminal to a debugger, and let the deadline rest; for ``pytest_enter_pdb``."""
    if _Stage.streams is not None:
        _Stage.streams.lend()
    if _Stage.alarm is not None:
        _Stage.alarm.suspend()
        let_through(allowed=True)


def leave_debugger() -> None:
    """Take it back: what the function prints goes to its log again; for ``pytest_leave_pdb``."""
    if _Stage.streams is not None:
        _Stage.streams.claim()
    let_through(allowed=False)


def _call(target: str, import_root: str, alarm: Alarm) -> int | None:
    exits: list[BaseException] = []
    try:
        main = load_function(target, import_root)
        alarm.loading = False
        # One that is async gets a thread, and a loop, of its own.
        own = contextlib.nullcontext() if iscoroutinefunction(main) else _no_running_loop()
        with own:
            code = execute(_noting_exit(main, exits), environ=os.environ, install_signals=False)
    except Interrupted:
        if not alarm.why:
            raise
        return None
    except BaseException as error:
        if alarm.loading or isinstance(error, (Exception, KeyboardInterrupt)) or _rang(error):
            raise
        # Its own, such as asyncio.CancelledError or pytest's Skipped: the report says so.
        return FAILED
    for wish in exits:
        raise wish
    return code


def _noting_exit(main: Callable[..., Any], exits: list[BaseException]) -> Callable[..., Any]:
    """Note the exception by which one leaves pytest's debugger: it is for pytest, not the agent."""

    @functools.wraps(main)
    def call(agent: Any) -> Any:
        __tracebackhide__ = True
        try:
            return main(agent)
        except Exception as error:
            outcomes = sys.modules.get("_pytest.outcomes")
            if outcomes is not None and isinstance(error, outcomes.Exit):
                exits.append(error)
            raise

    return call


def _rang(error: BaseException) -> bool:
    """Tell whether an exception came by the alarm of somebody around us: a test's own timeout."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(frame.f_code.co_filename == _ALARM_FILE for frame in frames)


@contextlib.contextmanager
def _stage(target: str) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        raise InProcessError(
            target=target,
            reason="this is not the main thread, and only that one can be interrupted",
        )
    if not _Stage.lock.acquire(blocking=False):
        raise InProcessError(target=target, reason=f"{_Stage.target} still runs in it")
    try:
        _Stage.target = target
        yield
    finally:
        _Stage.lock.release()


@contextlib.contextmanager
def _debugger(streams: Streams, alarm: Alarm) -> Iterator[None]:
    """Let ``breakpoint()`` reach the terminal: pytest's by its hooks, Python's own from here."""
    _Stage.streams, _Stage.alarm = streams, alarm
    hook = sys.breakpointhook
    if hook is sys.__breakpointhook__ and not _pdb_is_taken():
        sys.breakpointhook = _break
    try:
        yield
    finally:
        sys.breakpointhook = hook
        _Stage.streams = _Stage.alarm = None
        let_through(allowed=False)


def _pdb_is_taken() -> bool:
    """Tell whether somebody (pytest) put a function of its own in the place of pdb's."""
    set_trace = getattr(sys.modules.get("pdb"), "set_trace", None)
    return set_trace is not None and getattr(set_trace, "__module__", "") != "pdb"


def _break(*args: Any, **kwargs: Any) -> None:
    import pdb  # noqa: PLC0415, T100 - only who debugs pays for it

    if os.environ.get("PYTHONBREAKPOINT") == "0":
        return
    enter_debugger()
    pdb.Pdb(*args, **kwargs).set_trace(sys._getframe(1))  # noqa: SLF001


def _outcome(
    alarm: Alarm,
    code: int | None,
    *,
    duration_ms: int,
    leaked: list[LeakedProcess],
    diagnostics: list[Diagnostic],
) -> Outcome:
    late = alarm.overdue
    timed_out = alarm.why == "deadline" or late
    status: Any = "succeeded" if code == 0 else "failed"
    if timed_out:
        status = "timed_out"
        diagnostics = [*ending_findings("deadline", delivered=False), *diagnostics]
    elif alarm.why == "cancelled":
        status = "cancelled"
    if late:
        text = (
            "the function returned after its deadline and was not interrupted: it waited in code "
            "that is not Python, or used SIGALRM itself; --caesar-subprocess enforces the deadline"
        )
        diagnostics.append(Diagnostic(code="deadline-not-enforced", message=text))
    return Outcome(
        status=status,
        exit_code=code,
        timed_out=timed_out,
        duration_ms=duration_ms,
        leaked=tuple(leaked),
        diagnostics=(*diagnostics, *leaked_findings(leaked)),
    )


def _thread_findings(left: set[threading.Thread]) -> list[Diagnostic]:
    return [
        Diagnostic(
            code="thread-left",
            message=(
                f"the function left the thread {thread.name!r} running in this process; "
                "it cannot be ended, and may print into other tests"
            ),
        )
        for thread in sorted(left, key=lambda thread: thread.name)
        if thread.is_alive() and not thread.name.startswith("caesar-")
    ]
