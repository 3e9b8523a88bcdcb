"""How an agent is started for one task: argv, working folder, variables, files, stdin."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pytest_caesar.agents.catalogue import CATALOGUE
from pytest_caesar.agents.cli_settings import (
    CliSettings,
    CliTask,
    json_text,
    mcp_servers,
    no_settings,
)
from pytest_caesar.agents.command import build_command, check_arguments, find_program
from pytest_caesar.agents.known_cli import KnownCli
from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.agents.tokens import substitute

Mode = Literal["read-only", "write"]
Source = Literal["file", "schema", "channel", "extracted"]

CHANNEL_CONFIG = "mcp-config.json"
FINAL_MESSAGE = "final-message.txt"

_WRITERS = frozenset(
    {"write", "edit", "multiedit", "notebookedit", "patch", "apply_patch", "bash", "shell", "task"}
)
"""Tools that can change files; an agent with none of them needs no writing sandbox."""
_NO_ENVIRONMENT: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchRequest:
    """One task, as far as the command line depends on it.

    Attributes:
        prompt: the brief.
        workspace, task_dir, report_path: absolute.
        model: the model that was asked for, or None.
        network: the task has the network.
        path: PATH of the child process.
        mode: ``read-only`` or ``write``.
        source: where the report is expected to come from, see ``expected_source``.
        channel: command and arguments of the MCP server of the return channel, or None.
        schema_path: JSON Schema of the report, for ``schema``; or None.
        deadline_ms: time the task has.
        environ: environment of the child process, which settings are merged into.
        extra_args: put at the end as they are (before a prompt that is an argument).
        model_url: the scripted model that the agent is to talk to, or None.
        enclosed: it runs in a sandbox of ours, in which its own cannot work.
    """

    prompt: str
    workspace: Path
    task_dir: Path
    report_path: Path
    model: str | None
    network: bool
    path: str
    mode: Mode = "write"
    source: Source = "file"
    channel: tuple[str, tuple[str, ...]] | None = None
    schema_path: Path | None = None
    deadline_ms: int = 600_000
    environ: Mapping[str, str] = field(default_factory=lambda: _NO_ENVIRONMENT)
    extra_args: tuple[str, ...] = ()
    model_url: str | None = None
    enclosed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """Everything the supervisor needs to start the process.

    Attributes:
        argv: the program absolute.
        cwd: working folder.
        stdin: what is written to stdin before it is closed, or None.
        environment: variables to set, over the child's own.
        files: absolute path to text, written before the start, readable by the user alone.
        home_files: path relative to the child's HOME to text; only for a temporary HOME.
        final_message: the file its last message will be in, or None.
        unreached: why the channel cannot be offered by a file, or "".
    """

    argv: tuple[str, ...]
    cwd: Path
    stdin: str | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: _NO_ENVIRONMENT)
    files: Mapping[Path, str] = field(default_factory=dict)
    home_files: Mapping[str, str] = field(default_factory=dict)
    final_message: Path | None = None
    unreached: str = ""


def expected_source(agent: ProcessAgent, *, mode: Mode, channel: bool = False) -> Source:
    """Return the best way in which an agent can hand in its report.

    The brief has to ask for exactly that: a CLI whose sandbox is read-only cannot write
    ``report.json``, so it prints its report (``extracted``) or is held to the schema.
    """
    if agent.protocol == "acp":
        # Many of them write in the workspace alone.
        return "channel" if channel else "extracted"
    if agent.cli is None:
        return "schema" if agent.structured else "file"
    cli = CATALOGUE[agent.cli]
    if channel and cli.injection != "none":
        return "channel"
    if cli.schema_args:
        return "schema"
    writes = effective_mode(agent, mode) == "write"
    return "file" if writes or cli.reports_by_file_read_only else "extracted"


def effective_mode(agent: ProcessAgent, mode: Mode) -> Mode:
    """Return ``read-only`` also for a task that may write when the agent has no tool for it."""
    if agent.tools is not None and not _WRITERS.intersection(agent.tools):
        return "read-only"
    return mode


def prepare(agent: ProcessAgent, request: LaunchRequest) -> Launch:
    """Make the launch of any agent that is a program.

    Raises:
        CommandError: one of its kinds, which names the real cause.
    """
    if agent.cli is None:
        argv, cwd = build_command(
            agent,
            prompt=request.prompt,
            workspace=request.workspace,
            task_dir=request.task_dir,
            report_path=request.report_path,
            model=request.model,
            network=request.network,
            path=request.path,
            extra_args=request.extra_args,
            model_url=request.model_url,
        )
        if agent.settings_of is not None:
            return _with_settings(agent, request, argv, cwd)
        return Launch(
            argv=argv,
            cwd=cwd,
            stdin=request.prompt if agent.brief_on_stdin else None,
            environment=no_settings(_task(agent, request)).environment,
        )
    cli = CATALOGUE[agent.cli]
    settings = settings_for(agent, request)
    if settings.model:
        request = replace(request, model=settings.model)
    arguments = _arguments(cli, agent, request, settings.arguments)
    check_arguments(agent, arguments)
    program = find_program(agent, path=request.path)
    files = {request.task_dir / name: text for name, text in settings.files.items()}
    if request.channel and cli.injection == "file":
        files[request.task_dir / CHANNEL_CONFIG] = json_text(mcp_servers(_task(agent, request)))
    return Launch(
        argv=(str(program), *arguments),
        cwd=request.workspace,
        stdin=request.prompt if cli.brief_on_stdin else None,
        environment={**cli.environment, **settings.environment},
        files=files,
        home_files=settings.home_files,
        unreached=settings.unreached,
        final_message=request.task_dir / FINAL_MESSAGE if cli.final_message_args else None,
    )


def _with_settings(
    agent: ProcessAgent, request: LaunchRequest, argv: tuple[str, ...], cwd: Path
) -> Launch:
    """Return the launch of a known CLI that is started in a way of the user's own."""
    cli = CATALOGUE[agent.settings_of or ""]
    # It is offered the channel, and told the mode, by the protocol that it speaks.
    settings = cli.configure(replace(_task(agent, request), channel=None, read_only=False))
    return Launch(
        argv=argv,
        cwd=cwd,
        environment={**cli.environment, **settings.environment},
        files={request.task_dir / name: text for name, text in settings.files.items()},
        home_files=settings.home_files,
    )


def settings_for(agent: ProcessAgent, request: LaunchRequest) -> CliSettings:
    """Return what an agent is told beside its command line."""
    configure = no_settings if agent.cli is None else CATALOGUE[agent.cli].configure
    return configure(_task(agent, request))


def _task(agent: ProcessAgent, request: LaunchRequest) -> CliTask:
    return CliTask(
        read_only=effective_mode(agent, request.mode) == "read-only",
        channel=request.channel,
        environ=request.environ,
        model_url=request.model_url,
        model=request.model or agent.model,
    )


def _arguments(
    cli: KnownCli, agent: ProcessAgent, request: LaunchRequest, settings: tuple[str, ...]
) -> tuple[str, ...]:
    mode = effective_mode(agent, request.mode)
    channel_open = request.channel is not None and cli.injection != "none"
    template = (
        *agent.argv[1:],
        *cli.args,
        *_mode_args(cli, request, mode),
        *cli.model_args,
        *(cli.schema_args if request.source == "schema" else ()),
        *cli.final_message_args,
        *(cli.channel_args if channel_open else ()),
        *(cli.tools_args if agent.tools is not None else ()),
        *settings,
    )
    command, args = request.channel or ("", ())
    values = {
        "prompt": request.prompt,
        "workspace": str(request.workspace),
        "taskDir": str(request.task_dir),
        "reportPath": str(request.report_path),
        "model": request.model or agent.model,
        "schemaPath": None if request.schema_path is None else str(request.schema_path),
        "finalMessage": str(request.task_dir / FINAL_MESSAGE),
        "channelConfig": str(request.task_dir / CHANNEL_CONFIG),
        "channelCommand": _toml(command),
        "channelArgs": _toml(list(args)),
        "seconds": str(max(1, request.deadline_ms // 1000)),
        "tools": _tool_list(cli, agent),
        "modelUrl": request.model_url,
    }
    return (
        *substitute(template, values),
        *agent.extra_args,
        *request.extra_args,
        *substitute(cli.prompt_args, values),
    )


def _mode_args(cli: KnownCli, request: LaunchRequest, mode: Mode) -> tuple[str, ...]:
    """Return what tells a CLI what it may do."""
    if request.enclosed and cli.enclosed_args:
        return cli.enclosed_args
    args = cli.write_args if mode == "write" else cli.read_only_args
    return (*args, *(cli.network_args if request.network and _can_open(cli, mode) else ()))


def _can_open(cli: KnownCli, mode: Mode) -> bool:
    return cli.network != "write-only" or mode == "write"


def _tool_list(cli: KnownCli, agent: ProcessAgent) -> str:
    names = (cli.tool_names.get(tool) for tool in agent.tools or ())
    return ",".join(dict.fromkeys(name for name in names if name))


def _toml(value: object) -> str:
    """Return a string or a list of strings as TOML: JSON's form, which TOML shares."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
