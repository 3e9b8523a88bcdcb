"""The coding CLIs that are known, by id.

An entry says for which version every flag was tried (``checked``); one without it was put
together from documentation and is labelled so wherever it is shown.
"""

from __future__ import annotations

from pytest_caesar.agents.capabilities import Capabilities
from pytest_caesar.agents.clis import (
    antigravity,
    claude,
    cn,
    codex,
    copilot,
    gemini,
    opencode,
    pi,
    qwen,
)
from pytest_caesar.agents.known_cli import KnownCli
from pytest_caesar.agents.target import AgentTarget, FunctionAgent
from pytest_caesar.agents.tokens import tokens_in

OWN_CLIS: tuple[KnownCli, ...] = tuple(
    entry.CLI for entry in (codex, opencode, gemini, copilot, qwen, pi, cn, claude, antigravity)
)
"""Those that come with this package, in the order in which they are shown."""

CATALOGUE: dict[str, KnownCli] = {cli.id: cli for cli in OWN_CLIS}
"""Every known CLI by its id, in the order in which they are shown. Others may add some."""


def explain_exit(cli: str | None, exit_code: int | None) -> str:
    """Return what an exit code of a known CLI means, or ""."""
    if cli is None or exit_code is None or cli not in CATALOGUE:
        return ""
    return CATALOGUE[cli].exit_codes.get(exit_code, "")


def capabilities_of(agent: AgentTarget) -> Capabilities:
    """Return what can be counted on for an agent.

    A program's own command line says nothing about streams, schemas or channels, so
    those are false for it; a function of this process has nothing to take flags.
    """
    if isinstance(agent, FunctionAgent):
        return Capabilities()
    if agent.cli is not None:
        return CATALOGUE[agent.cli].capabilities()
    return Capabilities(
        native_read_only=agent.native_read_only,
        model=any("model" in tokens_in(argument) for argument in agent.argv[1:]),
        network="toggle" if agent.network_args else "unknown",
    )
