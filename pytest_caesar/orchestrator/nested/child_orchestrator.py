"""How an orchestrator serves the agents that it runs when they ask for others."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from caesar_agent.documents import Task
from caesar_agent.documents.delegation import DelegationFile
from caesar_agent.task_directory import TaskDirectory
from pytest_caesar.agents.selection_context import Place
from pytest_caesar.agents.target import AgentTarget
from pytest_caesar.orchestrator.nested.permission import Asker, Mode
from pytest_caesar.orchestrator.nested.server import Inherited, Nesting, Team
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.pending_run import PendingRun
from pytest_caesar.orchestrator.starting import search_path
from pytest_caesar.workspace.values import Workspace

if TYPE_CHECKING:
    from pytest_caesar.orchestrator.delegation import Delegation


def nest(
    above: Orchestrator,
    parent: Delegation,
    *,
    directory: TaskDirectory,
    task: Task,
    workspace: Workspace,
) -> Nesting:
    """Return what serves one agent while it runs.

    Whom it may ask for is looked up in the project under test, and its policy is the one
    that held when it started: neither lies where the agent can write.

    Args:
        above: the orchestrator that runs it.
        parent: its delegation.
        directory: its task directory.
        task: its task.
        workspace: where it works, and those that it asks for too.
    """
    settings = above.settings
    root = settings.agents_root or above.project
    # Taken down now: an agent in this process has an environment of its own.
    place = Place(
        project=root,
        start=root,
        path=search_path(settings.path_first),
        user_config=settings.user_config,
        home=Path(os.environ["HOME"]) if os.environ.get("HOME") else None,
        runner=settings.runner,
    )
    below = Below(
        above=above,
        parent=parent,
        task=task,
        workspace=workspace,
        inherited=Inherited(tasks=directory.path.parent, config=parent.config),
    )
    return Nesting(
        directory,
        asker=Asker(
            agent=parent.agent,
            depth=parent.depth,
            mode=parent.request.mode,
            policy=parent.config.policy,
            left=task.deadline_ms / 1000,
        ),
        team=Team(members=above.team, place=place, start=Path.cwd()),
        start=below.start,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Below:
    """Starts what one agent asks for.

    Attributes:
        above: the orchestrator that runs it.
        parent: its delegation.
        task: its task.
        workspace: where it works.
        inherited: what the others have from it.
    """

    above: Orchestrator
    parent: Delegation
    task: Task
    workspace: Workspace
    inherited: Inherited

    def start(
        self,
        request: DelegationFile,
        target: AgentTarget,
        mode: Mode,
        left: Callable[[], float],
    ) -> PendingRun:
        """Start one agent in the background.

        Args:
            request: what it is to do.
            target: who does it.
            mode: what it may do.
            left: gives the seconds until the deadline of the one who asks.

        Raises:
            CaesarError: policy forbids it, or it cannot be planned.
        """
        above, parent = self.above, self.parent

        def seconds_left() -> float:
            outer = above.settings.seconds_left()
            return left() if outer is None else min(left(), outer)

        below = Orchestrator(
            project=above.project,
            settings=replace(
                above.settings,
                seconds_left=seconds_left,
                # What shows events may print, which an agent in this process would catch.
                on_event=None,
                model=None,
                agents_root=above.settings.agents_root or above.project,
            ),
            clock=above.clock,
            new_id=above.new_id,
            answers=above.answers,
            inherited=self.inherited,
        )
        below.team = above.team
        wish = left() if request.timeout_ms is None else request.timeout_ms / 1000
        return below.start(
            request.objective,
            agent=target,
            context=request.context,
            constraints=request.constraints,
            acceptance_criteria=request.acceptance_criteria,
            mode=mode,
            isolation="inplace",
            timeout=min(wish, left()),
            network="auto" if self.task.network else "off",
            channel=parent.request.channel,
            workspace=self.workspace.path,
            placed=self.workspace.placed,
            depth=parent.depth + 1,
        )
