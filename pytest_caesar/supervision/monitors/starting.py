"""From a request to a running program."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # without importing typing

if TYPE_CHECKING:
    import signal
    from typing import Any
else:
    import _signal as signal  # the same without enum

DEAF = (
    "SIGINT",
    "SIGTERM",
    "SIGHUP",
    "SIGQUIT",
    "SIGPIPE",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGUSR1",
    "SIGUSR2",
)
"""Signals that reaper and monitors ignore: what they watch must end first."""
_RESET = (*DEAF, "SIGCHLD", "SIGALRM", "SIGXFSZ")


def start(
    request: dict[str, Any], stdin: int, stdout: int, stderr: int
) -> tuple[int, tuple[str, int] | None]:
    """Execute the program; return the process id and, when it failed, the step and its errno."""
    try:
        os.chdir(request["cwd"])
    except OSError as error:
        return 0, ("cwd", error.errno or 0)
    streams = [
        (os.POSIX_SPAWN_DUP2, fd, target) for target, fd in enumerate((stdin, stdout, stderr))
    ]
    try:
        # Not fork: copying this process's page tables would double the time of a short run.
        pid = os.posix_spawn(
            request["program"],
            request["argv"],
            request["env"],
            file_actions=streams,
            setsid=True,
            setsigmask=(),
            setsigdef=[getattr(signal, name) for name in _RESET],
        )
    except OSError as error:
        return 0, ("execute", error.errno or 0)
    finally:
        os.chdir("/")
    return pid, None
