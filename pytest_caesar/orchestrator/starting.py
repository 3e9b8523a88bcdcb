"""From a task to a running agent: environment, command line, streams."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.task import Task
from caesar_agent.task_directory import TaskDirectory, write_atomic
from pytest_caesar.agents.cli_settings import general_variables
from pytest_caesar.agents.errors import PromptTooLong
from pytest_caesar.agents.launch import Launch, LaunchRequest, Source, prepare
from pytest_caesar.agents.spawning import BLOCKED_AGENT
from pytest_caesar.agents.target import AgentTarget, ProcessAgent
from pytest_caesar.files.folders import temporary_folder
from pytest_caesar.orchestrator.delivered_report import Delivery
from pytest_caesar.orchestrator.in_process.function_main import as_process
from pytest_caesar.orchestrator.in_process.function_run import run_function
from pytest_caesar.orchestrator.in_process.watching import watched
from pytest_caesar.orchestrator.live_events import Narration
from pytest_caesar.orchestrator.missing_home import missing_home
from pytest_caesar.orchestrator.missing_variables import LAST_WORDS, missing_variables
from pytest_caesar.orchestrator.nested.permission import guard_of
from pytest_caesar.orchestrator.start_findings import channel_not_started, start_findings
from pytest_caesar.runs.brief import short_brief
from pytest_caesar.runs.command_reconciliation import ObservedCommand
from pytest_caesar.runs.permission import Permission, PermissionRequest
from pytest_caesar.supervision.cancellation import Cancellation
from pytest_caesar.supervision.control_groups import Limits, group
from pytest_caesar.supervision.environment import build_environment, make_home, task_environment
from pytest_caesar.supervision.logs import Log, tail_of
from pytest_caesar.supervision.outcome import Outcome
from pytest_caesar.supervision.supervisor import ProcessSpec, supervise
from pytest_caesar.supervision.time_left import fit

if TYPE_CHECKING:
    from socket import socket

    from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
    from pytest_caesar.sandboxes.enclosure import Enclosure

ACP_LINGER = 1.0
"""Seconds that an agent which speaks ACP has to end by itself once its turn is over."""

SCHEMA_NAME = "report.schema.json"
"""JSON Schema of the report, for CLIs that are held to one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """All that starting an agent takes.

    Attributes:
        agent: who is run.
        task, directory: as written to disk.
        brief: the text of the task.
        expected: the source that the brief asks for.
        model: handed to a CLI that takes one, or None.
        log: ``raw.log``.
        narration: tells what happens.
        settings: of the orchestrator.
        cancelled: set to end the agent.
        permit: decides on what an agent asks leave for; or None.
        permissions: takes what it asked leave for, and what it was told.
        enclosure: the sandbox that it runs in, or None.
        commands: takes what it had us run for it.
        limits: on memory and processes of the task.
        frozen: makes a context in which an agent in this process sees the documents' clock.
    """

    agent: AgentTarget
    task: Task
    directory: TaskDirectory
    brief: str
    expected: Source
    model: str | None
    log: Log
    narration: Narration
    settings: OrchestratorSettings
    cancelled: Cancellation
    frozen: Callable[[], contextlib.AbstractContextManager[object]] = contextlib.nullcontext
    permit: Callable[[PermissionRequest], tuple[bool, str] | None] | None = None
    permissions: list[Permission] = field(default_factory=list)
    enclosure: Enclosure | None = None
    commands: list[ObservedCommand] = field(default_factory=list)
    limits: Limits = field(default_factory=Limits)

    @property
    def model_url(self) -> str | None:
        """The scripted model that the agent is to talk to, or None."""
        url_for = self.settings.model_url
        return None if url_for is None else url_for(self.agent.id, self.task.id)


def run_agent(start: Start) -> Outcome:
    """Run an agent until it and all that it started are gone.

    Raises:
        CaesarError: it could not be started.
    """
    programs = start.settings.programs
    with temporary_folder("caesar-home-") as home, contextlib.ExitStack() as serving:
        make_home(home)
        admit = serving.enter_context(programs.serving()) if programs else None
        environment = build_environment(
            parent=os.environ,
            task_environment=task_environment(start.task, start.directory),
            home=home,
            pass_env=start.settings.pass_env,
            without_logins=start.model_url is not None,
            path_first=(*(programs.folders if programs else ()), *start.settings.path_first),
        )
        if programs and environment["HOME"] == str(home):
            programs.furnish(home)
        guard = guard_of(start.agent)
        if guard:
            environment[BLOCKED_AGENT] = guard
        if isinstance(start.agent, ProcessAgent):
            if start.agent.import_root:
                folders = (start.agent.import_root, environment.get("PYTHONPATH", ""))
                environment["PYTHONPATH"] = os.pathsep.join(filter(None, folders))
            return _run_process(start, start.agent, environment, home, admit)
        if start.agent.subprocess:
            return _run_process(start, as_process(start.agent), environment, home, admit)
        if admit is not None:
            admit(os.getpid())
        if start.model_url is not None:
            environment.update(general_variables(start.model_url, start.model))
        start.narration.started(start.agent.target)
        timeout, grace = _times(start)
        with watched(start.narration.poll, start.settings.on_event), start.frozen():
            return run_function(
                start.agent.target,
                import_root=start.agent.import_root,
                environ=environment,
                cwd=Path(start.task.workspace),
                stdout=start.log.fd,
                stderr=start.log.fd,
                timeout=timeout,
                grace=grace,
                cancelled=start.cancelled,
            )


def _times(start: Start) -> tuple[float, float]:
    """Return timeout and grace, both over before a surrounding test is shot."""
    settings = start.settings
    return fit(start.task.deadline_ms / 1000, settings.grace, settings.seconds_left())


def _run_process(
    start: Start,
    agent: ProcessAgent,
    environment: dict[str, str],
    home: Path,
    admit: Callable[[int], None] | None,
) -> Outcome:
    launch = _launch(start, agent, environment)
    for path, text in launch.files.items():
        write_atomic(path, text.encode(), durable=False)
    own_home = environment["HOME"] == str(home)
    if own_home:
        for name, text in launch.home_files.items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text, encoding="utf-8")
    remarks = start_findings(
        agent,
        launch,
        environment=environment,
        own_home=own_home,
        channel=start.task.channel is not None,
        scripted=start.model_url is not None,
        enclosed=start.enclosure is not None and os.getuid() == 0,
    )
    given = {**environment, **launch.environment}
    programs = start.settings.programs
    with contextlib.ExitStack() as closing:
        stderr = start.log
        if agent.dialect is not None:
            stderr = closing.enter_context(Log.create(start.directory.stderr_log))
        start.narration.started(describe(launch.argv, start.brief, short_brief(start.task)))
        timeout, grace = _times(start)
        spec = ProcessSpec(
            argv=launch.argv,
            cwd=launch.cwd,
            env=given,
            stdin=None if launch.stdin is None else launch.stdin.encode(),
            stdout=start.log.fd,
            stderr=stderr.fd,
            task_directory=start.directory.path,
            home=home,
            groups=(bounded := closing.enter_context(group(start.limits))).entrances(),
        )
        enclose = functools.partial(
            _enclosed,
            start,
            writable=(home,),
            more=(agent.import_root, *(programs.folders if programs else ())),
        )
        spec = enclose(spec, listen=_served(start))
        work = functools.partial(
            supervise,
            timeout=timeout,
            grace=grace,
            cancelled=start.cancelled,
            on_start=admit,
        )
        if agent.protocol == "acp":
            outcome = _speak_acp(start, agent, spec, work, (timeout, grace, enclose))
        else:
            outcome = work(
                spec,
                linger=start.settings.linger,
                delivered=Delivery(start.directory, start.task.id),
                on_poll=start.narration.poll,
            )
        bounds = bounded.findings()
    failed = channel_not_started(agent, start.directory.path, outcome)
    missing = _missing_variables(start, outcome, given)
    return replace(
        outcome, diagnostics=(*remarks, *bounds, *outcome.diagnostics, *failed, *missing)
    )


def _enclosed(start: Start, spec: ProcessSpec, **shown: Any) -> ProcessSpec:
    """Put the sandbox of the task around a program, if there is one."""
    return spec if start.enclosure is None else start.enclosure.around(spec, **shown)


def _served(start: Start) -> dict[int, Callable[[socket], None]]:
    """Return which ports of its loopback an agent without network needs, and who serves them."""
    take = start.settings.model_listener
    port = urlsplit(start.model_url or "").port
    return {port: take} if take is not None and port else {}


def _speak_acp(
    start: Start,
    agent: ProcessAgent,
    spec: ProcessSpec,
    work: Callable[..., Outcome],
    bounds: tuple[float, float, Callable[[ProcessSpec], ProcessSpec]],
) -> Outcome:
    """Have an agent work that is spoken to by ACP; once its turn is over, it is ended."""
    from pytest_caesar.acp.client import AcpClient, Session  # noqa: PLC0415 - seldom needed

    task = start.task
    session = Session(
        brief=start.brief,
        workspace=Path(task.workspace),
        report=start.directory.report_file,
        read_only=task.mode == "read-only",
        channel=(task.channel.command, task.channel.args) if task.channel else None,
        environ=spec.env,
        auth_method=agent.auth_method,
        may_read=agent.acp_read,
        timeout=bounds[0],
        grace=bounds[1],
        enclose=bounds[2],
        scripted=start.permit,
        stopped=start.cancelled.is_set,
    )
    with contextlib.ExitStack() as closing:
        sent = closing.enter_context(Log.create(start.directory.path / "acp.jsonl"))
        client = AcpClient(session, spec=spec, log=start.log, sent=sent)
        told = itertools.count()

        def poll() -> None:
            while len(client.permissions) > len(start.permissions):
                start.permissions.append(client.permissions[next(told)])
                start.narration.tell(f"permission {start.permissions[-1]}")
            start.narration.poll()

        with client:
            outcome = work(
                replace(spec, stdin=client.stdin, stdout=client.stdout),
                linger=min(ACP_LINGER, start.settings.linger),
                delivered=client.delivered,
                on_poll=poll,
            )
        poll()
    start.commands.extend(client.commands())
    # An agent of this protocol serves until its client ends it.
    kept = [item for item in outcome.diagnostics if item.code != "killed-after-report"]
    status = outcome.status
    if client.failed and status == "succeeded":
        status = "failed"
    return replace(
        outcome,
        status=status,
        killed_after_report=False,
        diagnostics=(*kept, *client.diagnostics()),
    )


def _missing_variables(
    start: Start, outcome: Outcome, given: Mapping[str, str]
) -> list[Diagnostic]:
    """Return which variables the agent names where it has failed, or delivered nothing."""
    directory = start.directory
    delivered = (directory.report_file, directory.submission_file)
    if start.model_url is not None or (
        outcome.status == "succeeded" and any(os.path.lexists(path) for path in delivered)
    ):
        return []
    names = (directory.raw_log.name, directory.stderr_log.name)
    logs = tuple(tail_of(directory.path, name, LAST_WORDS)[0] for name in names)
    found = missing_variables(*logs, around=os.environ, given=given)
    return found + missing_home(*logs, home=Path.home(), given=given["HOME"])


def _launch(start: Start, agent: ProcessAgent, environment: Mapping[str, str]) -> Launch:
    task, directory = start.task, start.directory
    schema = directory.path / SCHEMA_NAME if start.expected == "schema" else None
    if schema is not None:
        from caesar_agent.documents import schema as documents  # noqa: PLC0415 - seldom needed

        text = documents.schema_text(documents.schema("report", strict=True))
        write_atomic(schema, text.encode(), durable=False)
    request = LaunchRequest(
        prompt=start.brief,
        workspace=Path(task.workspace),
        task_dir=directory.path,
        report_path=directory.report_file,
        model=start.model,
        network=task.network,
        path=environment["PATH"],
        mode=task.mode,
        source=start.expected,
        channel=(task.channel.command, task.channel.args) if task.channel else None,
        schema_path=schema,
        deadline_ms=task.deadline_ms,
        environ=environment,
        model_url=start.model_url,
        enclosed=start.enclosure is not None and os.getuid() == 0,
    )
    try:
        return prepare(agent, request)
    except PromptTooLong:
        return prepare(agent, replace(request, prompt=short_brief(task)))


def describe(argv: Sequence[str], *briefs: str) -> str:
    """Return a command line for the ``started`` event; ``<brief>`` stands for the brief."""
    return " ".join(_part(part, briefs) for part in argv)


def _part(part: str, briefs: Sequence[str]) -> str:
    for brief in briefs:
        if brief in part:
            return "<brief>".join(shlex.quote(text) if text else "" for text in part.split(brief))
    return shlex.quote(part)
