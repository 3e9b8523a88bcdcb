"""The monitor as process 1 of a sandbox."""

from __future__ import annotations

import _socket
import os
import struct
import sys

from pytest_caesar.supervision.monitors.messages import Link
from pytest_caesar.supervision.monitors.monitor import Monitor
from pytest_caesar.supervision.monitors.starting import DEAF
from pytest_caesar.supervision.monitors.waiting import arm

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    import _signal as signal  # the same without enum

START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from pytest_caesar.supervision.monitors.inside import main; main()"
)
"""Program of the monitor (``python -I -S -c``); arguments: import root, then the descriptors of
the link, of stdin, stdout and stderr, and of the socket that listening sockets are handed out on."""

_PR_SET_DUMPABLE = 4

BACKLOG = 128
"""Connections that may wait at a listening socket."""


def main() -> None:
    """Watch over one agent, until nothing but this process is left."""
    fds = [int(text) for text in sys.argv[2:]]
    for fd in fds:
        os.set_inheritable(fd, False)  # noqa: FBT003 - the standard library takes no keyword
    _hide_memory()
    for name in DEAF:
        signal.signal(getattr(signal, name), signal.SIG_IGN)
    link = Link(_open(fds[0]))
    request = link.receive(60.0)
    if request is None:
        return
    if request["listen"]:
        _hand_out(request["listen"], fds.pop())
    Monitor(link, 0, arm(), alone=True).run(request, *fds[1:4])


def _hide_memory() -> None:
    """Keep the agent, who has the same user id, from tracing and stopping this process."""
    try:
        from _ctypes import call_function, dlopen, dlsym  # noqa: PLC0415 - half of ctypes' time

        prctl = dlsym(dlopen("", 0), "prctl")
        done = call_function(prctl, (_PR_SET_DUMPABLE, 0, 0, 0, 0))
    except (ImportError, OSError):
        import ctypes  # noqa: PLC0415 - as above

        done = ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    if done != 0:
        raise OSError


def _open(fd: int) -> Any:
    """Return the socket of a descriptor."""
    return _socket.socket(fileno=fd)


def _hand_out(ports: list[int], fd: int) -> None:
    """Listen on ports of the loopback in here, and give the sockets to the harness outside."""
    out = _open(fd)
    for port in ports:
        listening = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
        listening.setsockopt(_socket.SOL_SOCKET, _socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", port))
        listening.listen(BACKLOG)
        given = struct.pack("i", listening.fileno())
        rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, given)
        out.sendmsg([port.to_bytes(2, "big")], [rights])
        listening.close()
    out.close()
