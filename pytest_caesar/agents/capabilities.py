"""What an agent can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_caesar.agents.network import Control


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
