"""Other agents for an agent that asks for them, while it runs."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from caesar_agent.clock import monotonic, pause
from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.delegation import DelegationFile
from caesar_agent.errors import CaesarError
from caesar_agent.task_directory import TaskDirectory
from pytest_caesar.agents.config import Config
from pytest_caesar.agents.runners import run_definition
from pytest_caesar.agents.selection import select
from pytest_caesar.agents.selection_context import Place, safe_id
from pytest_caesar.agents.target import AgentTarget, FunctionAgent, ProcessAgent
from pytest_caesar.orchestrator.agent_argument import agent_argument
from pytest_caesar.orchestrator.in_process.function_main import as_process
from pytest_caesar.orchestrator.nested.permission import Asker, Mode, refuse
from pytest_caesar.orchestrator.nested.requests import NestedRequests
from pytest_caesar.runs.run import Run
from pytest_caesar.supervision.pace import interval

if TYPE_CHECKING:
    from typing_extensions import Self

    from pytest_caesar.orchestrator.pending_run import PendingRun

MAX_DELEGATIONS = 100
"""Most tasks that one agent hands on; one that wants more goes in a circle."""

JOIN_TIMEOUT = 300.0
"""Seconds until agents that were told to stop are gone and observed; far more than it takes."""

GONE = "The agent that asked for it has ended."
"""Why a request is not carried out that came too late."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Team:
    """Who can be asked for by name.

    Attributes:
        members: agents of a test, which come first, in any form that ``delegate`` takes.
        place: where ``[[agent]]`` entries, known CLIs and definitions are looked up.
        start: where relative paths of members begin.
    """

    members: Mapping[str, AgentTarget | str | Path]
    place: Place
    start: Path

    def names(self) -> tuple[str, ...]:
        """Return every name, found anew at each call; raises ``CaesarError``."""
        return tuple(dict.fromkeys((*self.members, *self.place.names())))

    def find(self, name: str) -> ProcessAgent:
        """Return what runs under a name that there is.

        A member of the team that is called like a definition runs it: the definition
        says what it may do, the member does it.

        Raises:
            CaesarError: it cannot be run.
        """
        target = agent_argument(self.members.get(name))
        if target is None or isinstance(target, str):
            target = select(
                name if target is None else target,
                project=self.place.project,
                start=self.place.start if target is None else self.start,
                user_config=self.place.user_config,
                runner=self.place.runner,
                home=self.place.home,
            )
        if isinstance(target, FunctionAgent):
            # This process has one standard output, one working folder and one alarm.
            target = as_process(target)
        if name in self.members and target.definition is None:
            found = self.place.discovery().get(name)
            if found is not None:
                target = run_definition(found.agent, target, ident=target.id)
        return replace(target, id=safe_id(name))


@dataclass(frozen=True, slots=True, kw_only=True)
class Inherited:
    """What a delegation has from the one that asked for it.

    Attributes:
        tasks: folder of the task directories, which the agents have no say in.
        config: as it was when the first of them started.
    """

    tasks: Path
    config: Config


@dataclass(slots=True)
class _NestedRun:
    request: DelegationFile
    mode: Mode
    pending: PendingRun


class NestedServer:
    """Carries out what an agent hands on, in a ``with`` block around the agent's run.

    A thread of its own, because an agent that runs in this process keeps the main one
    busy. Agents that write take turns, so that what each one changed is its own.

    Args:
        directory: the task directory of the agent.
        asker: who asks; its time is counted from the start of the block.
        team: who can be asked for.
        start: starts a task: name, target, mode, seconds left, and the request.

    Attributes:
        children: what came of it, in the order in which it was asked for; complete after
            the block.
        diagnostics: refusals, and what was odd; complete after the block.
    """

    def __init__(
        self,
        directory: Path | TaskDirectory,
        *,
        asker: Asker,
        team: Team,
        start: Callable[[DelegationFile, AgentTarget, Mode, Callable[[], float]], PendingRun],
    ) -> None:
        self.children: tuple[Run, ...] = ()
        self.diagnostics: tuple[Diagnostic, ...] = ()
        # So that an agent with too many hears of it, and one with thousands holds nobody up.
        self._box = NestedRequests(directory, limit=2 * MAX_DELEGATIONS)
        self._asker = asker
        self._team = team
        self._start = start
        self._ends = 0.0
        self._waiting: deque[DelegationFile] = deque()
        self._running: list[_NestedRun] = []
        self._runs: dict[str, Run] = {}
        self._order: list[str] = []
        self._found: list[Diagnostic] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="caesar-nesting", daemon=True)

    def __enter__(self) -> Self:
        self._ends = monotonic() + self._asker.left
        self._box.open()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # Nobody may work in the folder any more when it is observed.
        self._stop.set()
        self._thread.join(JOIN_TIMEOUT)
        if self._thread.is_alive():
            names = ", ".join(one_line(errand.request.agent, limit=60) for errand in self._running)
            self._note("delegation-unfinished", f"{names or 'a request'} did not come to an end")
        self.children = tuple(self._runs[key] for key in self._order if key in self._runs)
        self.diagnostics = (*self._found, *self._box.diagnostics)

    def left(self) -> float:
        """Return the seconds until the deadline of the agent that asks."""
        return self._ends - monotonic()

    # -- in the thread

    def _work(self) -> None:
        try:
            self._serve()
        except Exception as error:  # noqa: BLE001 - nobody would hear of it in a thread
            text = f"requests are served no longer: {type(error).__name__}: {error}"
            self._note("delegation-unfinished", text)
        finally:
            self._wind_up()

    def _serve(self) -> None:
        seen = monotonic()
        while not self._stop.is_set():
            self._receive()
            self._begin()
            self._heed()
            self._collect()
            now = monotonic()
            seen = now if self._running or self._waiting else seen
            # An agent that never asks costs next to nothing; one that asks is heard at once.
            self._stop.wait(interval(min(0.02, max(0.002, (now - seen) / 200))))

    def _wind_up(self) -> None:
        for errand in self._running:
            errand.pending.cancel()
        while self._running:
            self._collect()
            pause(0.005)
        for request in (*self._waiting, *self._box.new(final=True)):
            self._refuse(request, GONE)

    def _receive(self) -> None:
        for request in self._box.new():
            self._order.append(request.id)
            if len(self._order) > MAX_DELEGATIONS:
                self._refuse(
                    request,
                    f"This task has handed on {MAX_DELEGATIONS} tasks already, and no more are taken.",
                )
            else:
                self._waiting.append(request)

    def _begin(self) -> None:
        while self._waiting and self._may_begin(self._mode(self._waiting[0])):
            request = self._waiting.popleft()
            if self._box.is_closed(request.id):
                continue
            mode = self._mode(request)
            try:
                self._running.append(self._nested_run(request, mode))
            except CaesarError as error:
                self._refuse(request, str(error))
            except Exception as error:  # noqa: BLE001 - nobody would hear of it in a thread
                self._refuse(request, f"The orchestrator failed: {type(error).__name__}: {error}")

    def _may_begin(self, mode: Mode) -> bool:
        if not self._running:
            return True
        alone = mode == "write" or any(errand.mode == "write" for errand in self._running)
        return not alone and len(self._running) < self._asker.policy.max_parallel

    def _mode(self, request: DelegationFile) -> Mode:
        return request.mode or self._asker.mode

    def _nested_run(self, request: DelegationFile, mode: Mode) -> _NestedRun:
        asker = replace(self._asker, left=self.left())
        refusal = refuse(asker, name=request.agent, mode=mode, available=self._team.names())
        if refusal is not None:
            raise _RefusedError(reason=refusal)
        target = self._team.find(request.agent)
        return _NestedRun(request, mode, self._start(request, target, mode, self.left))

    def _heed(self) -> None:
        """End those for whom nobody waits any more."""
        for errand in self._running:
            if self._box.is_closed(errand.request.id):
                errand.pending.cancel()

    def _collect(self) -> None:
        """Answer for those that have come to their end."""
        for errand in tuple(self._running):
            if not errand.pending.done:
                continue
            self._running.remove(errand)
            try:
                run = errand.pending.wait()
            except CaesarError as error:
                self._refuse(errand.request, str(error))
            except BaseException as error:  # noqa: BLE001 - as above
                text = f"The orchestrator failed: {type(error).__name__}: {error}"
                self._refuse(errand.request, text)
            else:
                self._runs[errand.request.id] = run
                self._box.answer(errand.request.id, _result(run))

    def _refuse(self, request: DelegationFile, reason: str) -> None:
        self._box.answer(request.id, {"state": "refused", "reason": reason})
        name = one_line(request.agent, limit=80)
        self._note("delegation-refused", f"{name} was asked for: {one_line(reason, limit=600)}")

    def _note(self, code: str, message: str) -> None:
        self._found.append(Diagnostic(code=code, message=message))


class _RefusedError(CaesarError):
    """An agent may not hand something on.

    Attributes:
        reason: the sentence that it reads.
    """

    reason: str

    def message(self) -> str:
        """Return the reason as it is."""
        return self.reason


def _result(run: Run) -> dict[str, Any]:
    return {
        "state": "done",
        "task_id": run.task.id,
        "report": run.report.dump(),
        "source": str(run.source),
        "process": run.outcome.status,
        "verified": run.changes_verified_by == "git",
    }
