"""The coordinates of the return channel, as an agent finds them in its task."""

from __future__ import annotations

import sys
from pathlib import Path

import caesar_agent.channel.boot
from caesar_agent.documents.task import Channel

SERVER_NAME = "caesar"
"""What the server is called in an agent's settings; its tools get names from it."""


def channel_coordinates(task_dir: Path) -> Channel:
    """Return how to start the server of the return channel of one task.

    The command works from any folder and in any environment: every path is absolute,
    and the Python is the one that runs now, with what is installed for it.
    """
    boot = Path(caesar_agent.channel.boot.__file__).absolute()
    return Channel(
        transport="mcp-stdio",
        command=sys.executable,
        args=("-S", str(boot), str(task_dir.absolute())),
        server_name=SERVER_NAME,
    )
