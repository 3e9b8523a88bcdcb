"""Settings of a CLI for one task: what it is told by variables and files instead of flags."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, TypeAlias

MODEL = "scripted"
"""What a scripted model is called where nobody asks for another name."""

_NO_ENVIRONMENT: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class CliTask:
    """One task, as far as the settings of a CLI depend on it.

    Attributes:
        read_only: the task may not write.
        channel: command and arguments of the MCP server of the return channel, or None.
        environ: environment of the child process, which settings are merged into.
        model_url: address of a scripted model, without a slash at its end, or None.
        model: the model that was asked for, or None.
    """

    read_only: bool = False
    channel: tuple[str, tuple[str, ...]] | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: _NO_ENVIRONMENT)
    model_url: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CliSettings:
    """What a CLI is told beside its command line.

    Attributes:
        environment: variables to set.
        home_files: path relative to the child's HOME to text; only for a temporary HOME.
        arguments: put behind those of the entry.
        files: name of a file in the task directory, to text.
        model: the name for the command line, where it differs from what was asked for.
        unreached: why the channel cannot be offered by a file, or "".
    """

    environment: Mapping[str, str] = field(default_factory=dict)
    home_files: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    model: str | None = None
    unreached: str = ""


Configure: TypeAlias = Callable[[CliTask], CliSettings]


def no_settings(task: CliTask) -> CliSettings:
    """Return none, but for the variables of a scripted model."""
    if task.model_url is None:
        return CliSettings()
    return CliSettings(environment=general_variables(task.model_url, task.model))


def general_variables(url: str, model: str | None) -> dict[str, str]:
    """Return the variables by which most programs and libraries find a model."""
    return {
        "OPENAI_BASE_URL": f"{url}/v1",
        "OPENAI_API_BASE": f"{url}/v1",
        "OPENAI_API_KEY": "none",
        "OPENAI_MODEL": model or MODEL,
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_API_KEY": "none",
    }


def mcp_servers(task: CliTask, **more: object) -> dict[str, Any]:
    """Return the server of the channel in the form that most CLIs share; {} without one."""
    if task.channel is None:
        return {}
    command, args = task.channel
    return {"mcpServers": {"caesar": {"command": command, "args": list(args), **more}}}


def json_object(text: str) -> dict[str, Any]:
    """Return the object that a text holds, or an empty one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Lay settings over others, object by object."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        if isinstance(below, dict) and isinstance(value, dict):
            merged[key] = merge(below, value)
        else:
            merged[key] = value
    return merged


def json_text(value: object) -> str:
    """Return JSON as it is written into a file."""
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
