"""Roles: a profile that elects the first agent of a list that can run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_caesar.agents.command import find_program
from pytest_caesar.agents.config import Config, PolicyConfig, Role
from pytest_caesar.agents.errors import CommandError, SelectionError
from pytest_caesar.agents.selection import select
from pytest_caesar.agents.selection_context import Place
from pytest_caesar.agents.target import AgentTarget, ProcessAgent
from pytest_caesar.files.reading import read_regular

MAX_PROMPT_BYTES = 1 << 20
"""A longer prompt is another file by mistake."""


def elect_agent(role: Role, place: Place, policy: PolicyConfig) -> AgentTarget:
    """Return the first agent of a role that policy allows and whose command is there.

    The system prompt of the role is put in front of the agent's own.

    Raises:
        SelectionError: none of them; says for each why not.
    """
    reasons: list[str] = []
    for name in role.agents:
        if name in policy.denied or (policy.allowed and name not in policy.allowed):
            reasons.append(f"{name}: policy does not allow it")
            continue
        try:
            agent = select(
                name,
                project=place.project,
                start=place.start,
                user_config=place.user_config,
                runner=place.runner,
                environ={"PATH": place.path, "HOME": str(place.home or "")},
            )
            if isinstance(agent, ProcessAgent):
                find_program(agent, path=place.path)
        except (SelectionError, CommandError) as error:
            reasons.append(f"{name}: {error.problem}")
            continue
        return _with_prompt(agent, role_prompt(role, place.project))
    raise SelectionError(
        selected=role.name,
        problem=f"no agent of the role can run ({'; '.join(reasons) or 'it names none'})",
        fits=(),
        available=role.agents,
    )


def role_named(config: Config, name: str | None) -> Role | None:
    """Return the role of that name, or None."""
    return next((role for role in config.roles if role.name == name), None)


def task_defaults(role: Role | None, policy: PolicyConfig) -> dict[str, Any]:
    """Return what a task is that does not say it: as its role has it, else as policy has it.

    Returns:
        ``mode``, ``isolation``, ``network``, and ``timeout`` in seconds.
    """
    if role:
        mode, isolation, network = role.mode, role.isolation, role.network
        timeout_ms = role.timeout_ms
    else:
        mode, isolation = policy.default_mode, policy.default_isolation
        network, timeout_ms = policy.default_network, policy.default_timeout_ms
    timeout = timeout_ms / 1000
    return {"mode": mode, "isolation": isolation, "network": network, "timeout": timeout}


def role_prompt(role: Role, project: Path) -> str:
    """Return the system prompt of a role, "" when its file does not exist, or is no file.

    The file lies below ``.caesar/`` of the project; a longer text is cut at 1 MiB.
    """
    if role.system_prompt_file is None:
        return ""
    file = project / ".caesar" / role.system_prompt_file
    try:
        return read_regular(file, MAX_PROMPT_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        return ""


def _with_prompt(agent: AgentTarget, prompt: str) -> AgentTarget:
    if not prompt or not isinstance(agent, ProcessAgent):
        return agent
    return replace(agent, system_prompt="\n\n".join(filter(None, (prompt, agent.system_prompt))))
