"""The fake orchestrator: one task, one agent, one run."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import pytest_caesar.supervision.supported_system  # noqa: F401 - before the rest fails
from caesar_agent.console import printable
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.errors import CaesarError
from pytest_caesar.agents.catalogue import capabilities_of
from pytest_caesar.agents.config import Config, Role, load_config
from pytest_caesar.agents.credentials import refused_beside_model
from pytest_caesar.agents.launch import expected_source
from pytest_caesar.agents.models import decide_model
from pytest_caesar.agents.network import decide_network
from pytest_caesar.agents.paths import current_folder
from pytest_caesar.agents.roles import elect_agent, role_named, role_prompt, task_defaults
from pytest_caesar.agents.runners import at_depth
from pytest_caesar.agents.selection import select
from pytest_caesar.agents.selection_context import Place
from pytest_caesar.agents.target import AgentTarget, FunctionAgent, ProcessAgent
from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.orchestrator.agent_argument import agent_argument, no_agent
from pytest_caesar.orchestrator.delegation import Delegation
from pytest_caesar.orchestrator.executor import LiveAgent, Performer
from pytest_caesar.orchestrator.nested.child_orchestrator import Nest
from pytest_caesar.orchestrator.nested.server import Inherited
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.orchestrator.pending_run import PendingRun
from pytest_caesar.orchestrator.policy import check_policy, next_depth
from pytest_caesar.orchestrator.request import Request, RequestFields, check_task_id
from pytest_caesar.runs.errors import DelegationError
from pytest_caesar.runs.run import Run
from pytest_caesar.sandboxes.invariants import closes_network
from pytest_caesar.supervision.cancellation import Cancellation, interruptible
from pytest_caesar.supervision.environment import search_path

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from pytest_caesar.sandboxes.probe import Proof
    from pytest_caesar.va.dispatched import Dispatched, DispatchedUnits
    from pytest_caesar.va.given_units import UnitLike


def _now() -> datetime:
    return datetime.now(timezone.utc)


def _unique_id() -> str:
    return f"t_{uuid.uuid4().hex}"


class Orchestrator:
    """Delegates tasks to agents and tells what came of them.

    Args:
        agent: who works when ``delegate`` names nobody; as there.
        project: the repository (or plain folder) that is delegated on.
        settings: how every delegation is treated.
        clock: gives the times written into documents, in UTC.
        new_id: gives task ids; each must be new in this project.
        answers: a script of answers; its being there opens the return channel.
        inherited: for agents that another agent asks for: what they have from its task.
        performer: makes what carries a delegation out; the agent itself by default.

    Attributes:
        team: agents that an agent may ask for by name, before those that can be selected;
            given as to ``delegate``. They imply the depth they need where no file says
            ``[policy] max_depth``.
        runs: every run so far, in the order in which they ended.
    """

    def __init__(
        self,
        agent: AgentTarget | str | Path | None = None,
        *,
        project: Path | str,
        settings: OrchestratorSettings | None = None,
        clock: Callable[[], datetime] = _now,
        new_id: Callable[[], str] = _unique_id,
        answers: ScriptedAnswers | None = None,
        inherited: Inherited | None = None,
        performer: Callable[[], Performer] = LiveAgent,
    ) -> None:
        self.agent = agent
        self.project = Path(project).absolute()
        self.settings = settings or OrchestratorSettings()
        self.clock = clock
        self.new_id = new_id
        self.answers = answers
        self.inherited = inherited
        self.performer = performer
        self.team: dict[str, AgentTarget | str | Path] = {}
        self.runs: list[Run] = []
        self._pending: list[PendingRun] = []

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Name the method that somebody meant who knows other tools' names."""
            __tracebackhide__ = True
            if name in {"run", "execute", "call", "task", "ask", "invoke"}:
                raise AttributeError(f"an orchestrator has no {name}: use delegate(objective, …)")
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        name = getattr(self.agent, "id", self.agent)
        return f"<Orchestrator of agent {name!r} on {self.project}>"

    def delegate(
        self,
        objective: str,
        *,
        agent: AgentTarget | str | Path | None = None,
        **fields: Unpack[RequestFields],
    ) -> Run:
        """Give one task to one agent and wait until everything about it is known.

        Mode, isolation, timeout and network that are None are what the role says, else
        what ``[policy]`` has as the default: ``write``, ``auto``, ten minutes, ``auto``.

        Args:
            objective: what the agent is to do.
            agent: who does it; a name is selected as ``--caesar-agent`` would, a path too.
            context: excerpts, history, links; any length.
            constraints: what must not happen, a sentence each.
            acceptance_criteria: what must hold afterwards, a sentence each; one that begins
                with ``$`` and a blank is a command, and a gate.
            mode: ``read-only`` or ``write``.
            isolation: ``worktree``, ``inplace``, or ``auto``.
            timeout: seconds until the agent is ended.
            role: the requested profile: without an agent, a role that elects one; with
                an agent, a ``[[role]]`` or any words.
            model: for agents whose command line takes one.
            network: ``on``, ``off``, or ``auto``.
            channel: open the return channel; None leaves it to the answers in use.
            workspace: a prepared workspace to adopt instead of making one.
            base_ref: with ``workspace``: the commit it started from; "" for the empty tree.
            placed: with ``workspace``: paths in it that are not the agent's work.
            depth: delegation depth of the agent; counted from ``CAESAR_DEPTH`` when None.
            gates: commands, or judges, asked of the tree once the agent is gone.
            promised: keys that ``outputs`` of a report of success must have.
            task_fields: fields of your own for ``task.json``.
            sandbox: in what the agent runs: ``none``, ``auto``, or the name of a sandbox.

        Raises:
            CaesarError: the delegation was refused, or the agent could not be started;
                no worktree, branch or folder is left behind.
            Interruption: Ctrl-C or a signal came; the run is recorded, as cancelled.
        """
        return self._carry_out(self._delegation(objective, agent, fields, Cancellation()))

    @overload
    def dispatch(self, units: UnitLike, **options: Any) -> Dispatched: ...

    @overload
    def dispatch(self, units: Iterable[UnitLike], **options: Any) -> DispatchedUnits: ...

    def dispatch(
        self,
        units: UnitLike | Iterable[UnitLike],
        **options: Any,
    ) -> Dispatched | DispatchedUnits:
        """Hand task units of va-agent-protocol to agents; takes what ``va.dispatch.dispatch`` takes.

        Returns:
            Evidence, messages and runs, of the one unit or of all of them.

        Raises:
            CaesarError: the units do not fit together, or as ``delegate``.
        """
        from pytest_caesar.va.dispatch import dispatch  # noqa: PLC0415 - another protocol

        return dispatch(self, units, **options)

    def start(
        self,
        objective: str,
        *,
        agent: AgentTarget | str | Path | None = None,
        **fields: Unpack[RequestFields],
    ) -> PendingRun:
        """Give one task to one agent in the background; takes what ``delegate`` takes.

        Returns:
            A handle that can be cancelled and waited for.

        Raises:
            CaesarError: the delegation was refused before anything was written.
        """
        cancelled = Cancellation()
        delegation = self._delegation(objective, agent, fields, cancelled)
        target = delegation.agent
        if isinstance(target, FunctionAgent) and not target.subprocess:
            raise DelegationError(
                problem=f"{target.target} runs in this process, which cannot be done in the "
                "background: use delegate(), or an agent that is a process of its own"
            )
        pending = PendingRun(lambda: self._carry_out(delegation), cancelled)
        self._pending.append(pending)
        return pending

    def finish(self) -> None:
        """Cancel what is still under way in the background, and wait until it is in ``runs``."""
        pending, self._pending = self._pending, []
        unfinished = [one for one in pending if not one.done]
        for one in unfinished:
            one.cancel()
        for one in unfinished:
            with contextlib.suppress(CaesarError):
                one.wait()

    def check(
        self,
        objective: str,
        *,
        agent: AgentTarget | str | Path | None = None,
        **fields: Unpack[RequestFields],
    ) -> AgentTarget:
        """Refuse what ``delegate`` would refuse without a look at the workspace; takes what it takes.

        Returns:
            The agent that would do it.

        Raises:
            CaesarError: as ``delegate``; nothing was written in any case.
        """
        planned = self._planned(objective, agent, fields, Cancellation())
        planned.check()
        return planned.agent

    def _request(
        self, objective: str, *, named: bool, fields: RequestFields, config: Config
    ) -> Request:
        """Return what is asked for, with what the role and the policy say where nobody did."""
        role = role_named(config, fields.get("role"))
        if role and role.builtin and named:
            role = None  # a word of the caller's, which elected nobody
        return Request.of(
            objective,
            fields,
            {
                **task_defaults(role, config.policy),
                "channel": self.answers is not None,
                "model": self.settings.model,
                "sandbox": self.settings.sandbox or config.policy.sandbox,
            },
        )

    def _config(self) -> Config:
        if self.inherited:
            return self.inherited.config
        config = load_config(self.project, user_config=self.settings.user_config)
        if not self.team or config.policy.depth_is_given:
            return config
        # A chain of all of them, one below the other, and the first agent above it.
        depth = max(config.policy.max_depth, len(self.team) + 2)
        return replace(config, policy=replace(config.policy, max_depth=depth))

    def _carry_out(self, delegation: Delegation) -> Run:
        """Carry a delegation out; Ctrl-C and the like end it, and take effect once it is known."""
        with interruptible(delegation.cancelled) as signals:
            run = delegation.carry_out()
            self.runs.append(run)
            signals.result, signals.record = run, printable(str(run.task_dir))
        return run

    def _delegation(
        self,
        objective: str,
        agent: AgentTarget | str | Path | None,
        fields: RequestFields,
        cancelled: Cancellation,
    ) -> Delegation:
        """Return all that is decided before anything is written, under a new id."""
        planned = self._planned(objective, agent, fields, cancelled)
        return replace(planned, task_id=check_task_id(self.new_id()))

    def _planned(
        self,
        objective: str,
        agent: AgentTarget | str | Path | None,
        fields: RequestFields,
        cancelled: Cancellation,
    ) -> Delegation:
        config = self._config()
        given = agent_argument(agent if agent is not None else self.agent)
        request = self._request(objective, named=given is not None, fields=fields, config=config)
        if not self.project.is_dir():
            raise DelegationError(problem=f"the project {self.project} does not exist")
        if self.inherited:
            # Criteria that an agent wrote are words: no command of ours comes from them.
            request = replace(request, gates=())
        role = role_named(config, request.role)
        target = self._target(given, role, config, wanted=request.role)
        if isinstance(target, FunctionAgent) and self.settings.subprocess:
            target = replace(target, subprocess=True)
        depth = request.depth if request.depth is not None else next_depth(os.environ)
        check_policy(config.policy, agent_id=target.id, depth=depth)
        if self.settings.model_url is not None:
            refused = refused_beside_model(self.settings.pass_env)
            if refused:
                raise DelegationError(problem=refused)
        target = at_depth(target, depth=depth, max_depth=config.policy.max_depth)
        proof, weak = self._sandbox(request, target)
        network = decide_network(
            request.network,
            mode=request.mode,
            control=capabilities_of(target).network,
            agent=target.id,
            sandboxed=proof is not None and closes_network(proof.held),
        )
        if network.refused:
            raise DelegationError(problem=f"{network.reason}: {network.remedy}")
        model = decide_model(
            target,
            explicit=request.model,
            role=role.model if role else None,
            configured=config.models,
        )
        if model.refusal:
            raise DelegationError(problem=model.refusal)
        warnings = (
            ("network-not-guaranteed", network.warning),
            ("model-not-applied", model.warning),
        )
        return Delegation(
            request=request,
            agent=target,
            project=self.project,
            config=config,
            settings=self.settings,
            depth=depth,
            task_id="",
            clock=self.clock,
            expected=(
                expected_source(target, mode=request.mode, channel=request.channel)
                if isinstance(target, ProcessAgent)
                else "file"
            ),
            network=network.available,
            model=model.model,
            system_prompt=self._system_prompt(target, role),
            remarks=(
                *weak,
                *(Diagnostic(code=code, message=text) for code, text in warnings if text),
            ),
            proof=proof,
            answers=self.answers,
            cancelled=cancelled,
            inherited=self.inherited,
            nest=Nest(
                project=self.project, settings=self.settings, team=self.team, make=self._child
            ),
            performer=self.performer(),
        )

    def _sandbox(
        self, request: Request, target: AgentTarget
    ) -> tuple[Proof | None, list[Diagnostic]]:
        """Return the sandbox that the agent is to run in, or None, and what is to be said of it."""
        if request.sandbox == "none":
            return None, []
        from pytest_caesar.sandboxes.choice import AUTO, chosen  # noqa: PLC0415 - seldom needed

        if isinstance(target, FunctionAgent) and not target.subprocess:
            problem = (
                f"{target.target} runs in this process, around which no sandbox can be put: run it "
                "in one of its own (--caesar-subprocess), or take sandbox 'none'"
            )
            if request.sandbox != AUTO:
                raise DelegationError(problem=problem)
            return None, [Diagnostic(code="sandbox-weak", message=problem)]
        return chosen(request.sandbox)

    def _child(self, settings: OrchestratorSettings, inherited: Inherited) -> Orchestrator:
        """Make the orchestrator of agents that one of ours asks for."""
        child = Orchestrator(
            project=self.project,
            settings=settings,
            clock=self.clock,
            new_id=self.new_id,
            answers=self.answers,
            inherited=inherited,
        )
        child.team = self.team
        return child

    def _target(
        self,
        agent: AgentTarget | str | None,
        role: Role | None,
        config: Config,
        *,
        wanted: str | None,
    ) -> AgentTarget:
        """Return who does the work: whom the call names, else the role's, else our own."""
        agents_root = self.settings.agents_root or self.project
        if isinstance(agent, str):
            return select(
                agent,
                project=agents_root,
                start=current_folder(),
                user_config=self.settings.user_config,
                runner=self.settings.runner,
                subprocess=self.settings.subprocess,
            )
        if agent is not None:
            return agent
        if role is None:
            raise no_agent(wanted, config)
        place = Place(
            project=agents_root,
            start=current_folder(),
            user_config=self.settings.user_config,
            path=search_path(self.settings.path_first),
            runner=self.settings.runner,
        )
        return elect_agent(role, place, config.policy)

    def _system_prompt(self, target: AgentTarget, role: Role | None) -> str:
        """Return what stands in front of the context: the role's text, then the agent's own."""
        own = target.system_prompt if isinstance(target, ProcessAgent) else ""
        text = role_prompt(role, self.project) if role else ""
        return own if not text or text in own else "\n\n".join(filter(None, (text, own)))
