"""bubblewrap: namespaces of Linux, without any privilege."""

from __future__ import annotations

import functools
import os
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pytest_caesar.agents.executables import files_on_path
from pytest_caesar.sandboxes.sandbox import Sandbox, SandboxError, View

ORDINARY: Final = "1000"
"""User and group inside where the harness runs as root; nothing is mapped but these."""

VERSION_WAIT: Final = 10.0
"""Seconds that ``bwrap --version`` may take."""

TEMPORARY: Final = ("/tmp", "/var/tmp")  # noqa: S108 - these very places
"""What looks empty and may be written."""

RUN: Final = Path("/run")
"""Holds sockets of services; looks empty but for what name resolution needs."""

RESOLVERS: Final = ("systemd/resolve", "NetworkManager", "resolvconf", "nscd")
"""Below ``/run``: where ``/etc/resolv.conf`` may lead."""

_FORBIDDEN: Final = (
    "setting up uid map",
    "No permissions to create",
    "creating new namespace",
    "Creating new namespace",
    "loopback: Failed",
    "Can't mount proc",
)


class Bubblewrap(Sandbox):
    """bubblewrap (``bwrap``), on Linux."""

    name = "bubblewrap"
    monitor_inside = True

    @functools.cached_property
    def program(self) -> str:
        """Path of ``bwrap``, found once."""
        found = next(iter(files_on_path("bwrap", os.environ.get("PATH", os.defpath))), None)
        if found is None:
            raise SandboxError(
                name=self.name,
                problem="bwrap is not on PATH",
                remedy="install it (apt-get install bubblewrap, dnf install bubblewrap), or take "
                "sandbox 'none'",
            )
        return str(found)

    def version(self) -> str:
        """Return what ``bwrap --version`` says."""
        try:
            told = subprocess.run(
                [self.program, "--version"],
                capture_output=True,
                timeout=VERSION_WAIT,
                check=True,
                stdin=subprocess.DEVNULL,
            ).stdout
        except (OSError, subprocess.SubprocessError) as error:
            raise SandboxError(
                name=self.name,
                problem=f"{self.program} --version failed ({error})",
                remedy="see whether bubblewrap is installed as a whole, or take sandbox 'none'",
            ) from error
        return told.decode("utf-8", "replace").split()[-1]

    def command(self, view: View) -> Sequence[str]:
        """Return the command line of ``bwrap`` up to the program's own."""
        return (self.program, *_namespaces(view), *_mounts(view), "--")

    def explain(self, said: str) -> str:
        """Say what to do where namespaces are forbidden."""
        if not any(words in said for words in _FORBIDDEN):
            return ""
        return (
            "user namespaces are forbidden here: allow them (on Ubuntu "
            "`sysctl kernel.apparmor_restrict_unprivileged_userns=0` or a profile for bwrap, in a "
            "container its options `--security-opt seccomp=unconfined --security-opt "
            "apparmor=unconfined`, elsewhere `sysctl user.max_user_namespaces`), or take "
            "sandbox 'none'"
        )


def _namespaces(view: View) -> Iterator[str]:
    yield from ("--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts")
    yield "--unshare-cgroup-try"
    if not view.network:
        yield "--unshare-net"
    # A capability is enough to mount everything writable again, so root gets none either.
    yield from ("--uid", _inside(os.getuid()), "--gid", _inside(os.getgid()))
    yield from ("--cap-drop", "ALL", "--disable-userns", "--die-with-parent", "--as-pid-1")


def _inside(number: int) -> str:
    return str(number) if number else ORDINARY


def _closed_proc() -> Iterator[str]:
    """Close what of /proc is of the kernel, not of a process.

    Root without a capability is still its owner, and ``/proc/sys/kernel/core_pattern`` names a
    program that the kernel runs outside.
    """
    for entry in sorted(os.scandir("/proc"), key=lambda entry: entry.name):
        if entry.name.isdigit() or entry.is_symlink():
            continue
        mode = entry.stat().st_mode
        if stat.S_ISDIR(mode) or mode & 0o222:
            yield from ("--ro-bind", entry.path, entry.path)
        elif not mode & 0o004:  # kcore and kmsg, say
            yield from ("--ro-bind", os.devnull, entry.path)


def _outermost(readable: Sequence[Path], around: Sequence[Path]) -> list[Path]:
    """Return what must be mounted to be seen: in an emptied place, and not within another one.

    What lies in a folder that is shown is there already, and a link in it cannot be mounted over.
    """
    places = [f"{path}/" for path in around]
    shown: dict[str, Path] = {}
    for path in sorted(readable, key=lambda path: len(path.parts)):
        text = f"{path}/"
        outer = [each for each in (*places, *shown) if each != text and text.startswith(each)]
        innermost = max(outer, key=len, default="")
        if innermost and innermost not in shown:
            shown[text] = path
    return list(shown.values())


def _mounts(view: View) -> Iterator[str]:
    """Give the options that mount; what lies deeper comes later, over what is around it."""
    yield from ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
    yield from _closed_proc()
    cleared = [Path(os.path.realpath(path)) for path in (*TEMPORARY, tempfile.gettempdir())]
    cleared = [path for path in dict.fromkeys(cleared) if path.is_dir() and path != Path("/")]
    emptied = [path for path in view.hidden if path.is_dir()]
    around = [*cleared, RUN, *emptied]
    steps: list[tuple[Path, int, tuple[str, ...]]] = []
    for number, path in enumerate(cleared):
        own = view.temporary / str(number)
        own.mkdir(mode=0o700, exist_ok=True)
        steps.append((path, 0, ("--bind", str(own), str(path))))
    steps.append((RUN, 0, ("--tmpfs", str(RUN))))
    resolvers = [RUN / name for name in RESOLVERS]
    steps += [(path, 1, ("--ro-bind-try", str(path), str(path))) for path in resolvers]
    for path in view.hidden:
        empty = ("--tmpfs", str(path)) if path.is_dir() else ("--ro-bind", os.devnull, str(path))
        steps.append((path, 1, empty))
    again = _outermost(view.readable, around)
    steps += [(path, 2, ("--ro-bind", str(path), str(path))) for path in again]
    steps += [(path, 3, ("--bind", str(path), str(path))) for path in view.writable]
    steps += [(path, 4, ("--ro-bind", str(path), str(path))) for path in view.read_only]
    steps += [(target, 5, ("--bind", str(own), str(target))) for own, target in view.overlays]
    steps += [(target, 5, ("--ro-bind", str(path), str(target))) for path, target in view.shown]
    for _, _, option in sorted(steps, key=lambda step: (len(step[0].parts), step[1])):
        yield from option
    for path in (RUN, *emptied):
        yield from ("--remount-ro", str(path))
