"""What starting a program in a sandbox takes, with a monitor of ours as process 1 inside."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_caesar.supervision.environment import LOADER_VARIABLES
from pytest_caesar.supervision.monitors import inside
from pytest_caesar.supervision.plain_sockets import socket_pair

TAKE_WAIT = 30.0
"""Seconds in which listening sockets must have come: they are handed out before the agent starts."""

IMPORT_ROOT = Path(inside.__file__).parents[3]
"""The folder from which the monitor inside is imported; the sandbox must show it."""


@dataclass(frozen=True, slots=True)
class Sandboxing:
    """A sandbox around one program.

    Attributes:
        name: of the sandbox, for messages.
        command: put in front of the monitor's command line; ends in what ends its options.
        listen: ports of the loopback inside, and who takes the listening socket of each.
    """

    name: str
    command: tuple[str, ...]
    listen: Mapping[int, Callable[[socket.socket], None]] = field(default_factory=dict)
    _outlet: list[socket.socket] = field(
        default_factory=list, init=False, repr=False, compare=False
    )

    def request(self) -> dict[str, Any]:
        """Return what the relay is told."""
        monitor = [sys.executable, "-I", "-S", "-c", inside.START, str(IMPORT_ROOT)]
        return {
            "sandbox": [os.fsencode(part) for part in self.command],
            "monitor": [os.fsencode(part) for part in monitor],
            "listen": list(self.listen),
            "around": {
                os.fsencode(name): os.fsencode(os.environ[name])
                for name in LOADER_VARIABLES
                if name in os.environ
            },
        }

    def outlets(self) -> list[int]:
        """Return the descriptor on which listening sockets are handed out, if there are any."""
        self.close()
        if not self.listen:
            return []
        ours, theirs = socket_pair()
        self._outlet.extend((ours, theirs))
        return [theirs.fileno()]

    def take(self) -> None:
        """Take the listening sockets, once the monitor inside has started the program."""
        if not self._outlet:
            return
        ours = self._outlet[0]
        ours.settimeout(TAKE_WAIT)
        for _ in self.listen:
            port, fds, _, _ = socket.recv_fds(ours, 2, 1)
            if not fds:
                break
            self.listen[int.from_bytes(port, "big")](socket.socket(fileno=fds[0]))
        self.close()

    def close(self) -> None:
        """Close what sockets were to be handed out on."""
        while self._outlet:
            self._outlet.pop().close()
