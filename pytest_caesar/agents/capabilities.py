"""What an agent can do, derived from what is known about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_caesar.agents.tokens import tokens_in

if TYPE_CHECKING:
    from pytest_caesar.agents.network import Control
    from pytest_caesar.agents.target import AgentTarget


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What the orchestrator may count on.

    Attributes:
        json_events: it prints a native stream of JSON lines.
        output_schema: its last message can be held to a schema.
        final_message_file: it writes its last message to a file.
        native_read_only: it has a read-only mode of its own.
        add_dir: a second folder can be opened to it.
        mcp_injection: how the return channel reaches it: ``none``, ``arguments``,
            ``environment``, ``file`` or ``home``.
        model: a model can be asked for.
        network: what can be done about its network.
    """

    json_events: bool = False
    output_schema: bool = False
    final_message_file: bool = False
    native_read_only: bool = False
    add_dir: bool = False
    mcp_injection: str = "none"
    model: bool = False
    network: Control = "unknown"


def capabilities_of(agent: AgentTarget) -> Capabilities:
    """Return what can be counted on for an agent.

    A program's own command line says nothing about streams, schemas or channels, so
    those are false for it; a function of this process has nothing to take flags.
    """
    from pytest_caesar.agents.target import FunctionAgent  # noqa: PLC0415  (types only above)

    if isinstance(agent, FunctionAgent):
        return Capabilities()
    if agent.cli is not None:
        from pytest_caesar.agents.catalogue import CATALOGUE  # noqa: PLC0415  (seldom needed)

        return CATALOGUE[agent.cli].capabilities()
    return Capabilities(
        native_read_only=agent.native_read_only,
        model=any("model" in tokens_in(argument) for argument in agent.argv[1:]),
        network="toggle" if agent.network_args else "unknown",
    )
