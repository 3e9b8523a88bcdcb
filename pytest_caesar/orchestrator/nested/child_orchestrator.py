"""How an orchestrator serves the agents that it runs when they ask for others."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from caesar_agent.documents.delegation import DelegationFile
from caesar_agent.documents.task import Task
from caesar_agent.task_directory import TaskDirectory
from pytest_caesar.agents.config import Config
from pytest_caesar.agents.paths import current_folder
from pytest_caesar.agents.selection_context import Place
from pytest_caesar.agents.target import AgentTarget
from pytest_caesar.orchestrator.nested.permission import Asker, Mode
from pytest_caesar.orchestrator.nested.server import Inherited, NestedServer, Team
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.orchestrator.pending_run import PendingRun
from pytest_caesar.orchestrator.request import Request, RequestFields
from pytest_caesar.supervision.environment import search_path
from pytest_caesar.workspace.values import Workspace

if TYPE_CHECKING:
    from typing_extensions import Unpack


class Child(Protocol):
    """An orchestrator, as far as it is needed here."""

    def start(
        self,
        objective: str,
        *,
        agent: AgentTarget | None = None,
        **fields: Unpack[RequestFields],
    ) -> PendingRun:
        """Start one agent in the background."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parent:
    """The agent that asks for others.

    Attributes:
        agent: what runs.
        depth: its own, 1 for the first that was delegated to.
        config: the configuration that held when it started.
        request: what it was asked for.
        directory: its task directory.
        task: its task.
        workspace: where it works, and those that it asks for too.
    """

    agent: AgentTarget
    depth: int
    config: Config
    request: Request
    directory: TaskDirectory
    task: Task
    workspace: Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Nest:
    """What an orchestrator gives to agents that ask for others.

    Attributes:
        project: what is delegated on.
        settings: of the orchestrator.
        team: agents of a test that can be asked for by name.
        make: makes the orchestrator of the agents that are asked for.
    """

    project: Path
    settings: OrchestratorSettings
    team: Mapping[str, AgentTarget | str | Path]
    make: Callable[[OrchestratorSettings, Inherited], Child]

    def serve(self, parent: Parent) -> NestedServer:
        """Return what serves one agent while it runs.

        Whom it may ask for is looked up in the project under test, and its policy is the
        one that held when it started: neither lies where the agent can write.
        """
        settings = self.settings
        root = settings.agents_root or self.project
        # Taken down now: an agent in this process has an environment of its own.
        place = Place(
            project=root,
            start=root,
            path=search_path(settings.path_first),
            user_config=settings.user_config,
            home=Path(os.environ["HOME"]) if os.environ.get("HOME") else None,
            runner=settings.runner,
        )
        return NestedServer(
            parent.directory,
            asker=Asker(
                agent=parent.agent,
                depth=parent.depth,
                mode=parent.request.mode,
                policy=parent.config.policy,
                left=parent.task.deadline_ms / 1000,
            ),
            team=Team(members=self.team, place=place, start=current_folder()),
            start=functools.partial(self._start, parent),
        )

    def _start(
        self,
        parent: Parent,
        request: DelegationFile,
        target: AgentTarget,
        mode: Mode,
        left: Callable[[], float],
    ) -> PendingRun:
        """Start one agent in the background.

        Args:
            parent: the agent that asks.
            request: what the new one is to do.
            target: who does it.
            mode: what it may do.
            left: gives the seconds until the deadline of the one who asks.

        Raises:
            CaesarError: policy forbids it, or it cannot be planned.
        """

        def seconds_left() -> float:
            outer = self.settings.seconds_left()
            return left() if outer is None else min(left(), outer)

        settings = replace(
            self.settings,
            seconds_left=seconds_left,
            # What shows events may print, which an agent in this process would catch.
            on_event=None,
            model=None,
            sandbox=parent.request.sandbox,
            agents_root=self.settings.agents_root or self.project,
        )
        child = self.make(
            settings, Inherited(tasks=parent.directory.path.parent, config=parent.config)
        )
        timeout = left() if request.timeout_ms is None else request.timeout_ms / 1000
        return child.start(
            request.objective,
            agent=target,
            context=request.context,
            constraints=request.constraints,
            acceptance_criteria=request.acceptance_criteria,
            mode=mode,
            isolation="inplace",
            timeout=min(timeout, left()),
            network="auto" if parent.task.network else "off",
            channel=parent.request.channel,
            workspace=parent.workspace.path,
            placed=parent.workspace.placed,
            depth=parent.depth + 1,
        )
