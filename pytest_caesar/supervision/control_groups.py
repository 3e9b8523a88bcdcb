"""Bounds on memory and processes of a task, by control groups of Linux where we may make some."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from caesar_agent.clock import monotonic, pause
from caesar_agent.diagnostics import Diagnostic

LEVELS: Final = 5
"""Groups that are tried, from our own upwards: systemd lends a user the ones above."""

REMOVAL_WAIT: Final = 5.0
"""Seconds in which the last process of a group must be gone."""

WATCHING: Final = 4
"""Processes and threads of ours that are counted with those of a task."""

_number = iter(range(1 << 62))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What all processes of a task may use together.

    Attributes:
        memory: bytes, or None.
        processes: how many there may be at one time, threads included; or None.
    """

    memory: int | None = None
    processes: int | None = None

    def __bool__(self) -> bool:
        return self.memory is not None or self.processes is not None

    def values(self) -> dict[str, tuple[str, int]]:
        """Return each bound by its controller, with the name of its setting."""
        bounds = {
            "memory": ("max_memory", self.memory),
            "pids": ("max_processes", self.processes),
        }
        return {name: (setting, value) for name, (setting, value) in bounds.items() if value}


@dataclass(slots=True)
class Group:
    """The group of one task.

    Attributes:
        applied: names of the settings that hold.
        problems: why others do not, a sentence each.
    """

    applied: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    _folders: dict[str, Path] = field(default_factory=dict)

    def entrances(self) -> tuple[Path, ...]:
        """Return the files that a process writes 0 to in order to be in the group."""
        return tuple(dict.fromkeys(folder / "cgroup.procs" for folder in self._folders.values()))

    def findings(self) -> list[Diagnostic]:
        """Say what does not hold, and which bounds were reached; before the group is removed."""
        found = [Diagnostic(code="limits-not-applied", message=text) for text in self.problems]
        memory, pids = self._folders.get("memory"), self._folders.get("pids")
        killed = _count(memory, ("memory.events", "memory.oom_control"), "oom_kill")
        if killed:
            text = f"{killed} of its processes were killed at the bound max_memory"
            found.append(Diagnostic(code="limit-reached", message=text))
        refused = _count(pids, ("pids.events",), "max")
        if refused:
            text = f"it was refused a further process {refused} times, at the bound max_processes"
            found.append(Diagnostic(code="limit-reached", message=text))
        return found

    def remove(self) -> None:
        """Remove the group once its last process is gone; bounded."""
        until = monotonic() + REMOVAL_WAIT
        for folder in dict.fromkeys(self._folders.values()):
            while True:
                try:
                    folder.rmdir()
                except OSError as error:
                    if error.errno == errno.EBUSY and monotonic() < until:
                        pause(0.005)
                        continue
                break

    def _take(self, controller: str, setting: str, value: int) -> None:
        problem = "no control group can be made here"
        for parent in _parents(controller):
            folder = self._folders.get(controller)
            shared = next((one for one in self._folders.values() if one.parent == parent), None)
            folder = shared or parent / f"caesar-{os.getpid()}-{next(_number)}"
            try:
                if shared is None:
                    folder.mkdir()
                _bound(folder, controller, value)
            except OSError as error:
                problem = f"{folder}: {error.strerror}"
                if shared is None:
                    with contextlib.suppress(OSError):
                        folder.rmdir()
                continue
            self._folders[controller] = folder
            self.applied.append(setting)
            return
        self.problems.append(
            f"{setting} does not hold: {problem}; it takes a control group that is lent to you "
            "(`systemd-run --user --scope -p Delegate=yes pytest …`), or root"
        )


@contextlib.contextmanager
def group(limits: Limits) -> Iterator[Group]:
    """Make a group for one task; what cannot be bounded is among its ``problems``."""
    made = Group()
    for controller, (setting, value) in limits.values().items():
        made._take(controller, setting, value)  # noqa: SLF001 - of this module
    try:
        yield made
    finally:
        made.remove()


def _bound(folder: Path, controller: str, value: int) -> None:
    if controller == "pids":
        (folder / "pids.max").write_text(str(value + WATCHING))
        return
    new = (folder / "memory.max").exists()
    (folder / ("memory.max" if new else "memory.limit_in_bytes")).write_text(str(value))
    # Without it, what does not fit goes to the swap; not every kernel counts that.
    with contextlib.suppress(OSError):
        swap = ("memory.swap.max", "0") if new else ("memory.memsw.limit_in_bytes", str(value))
        (folder / swap[0]).write_text(swap[1])


def _parents(controller: str) -> Iterator[Path]:
    """Give the groups in which one with this controller may be made, our own first."""
    for line in _lines(Path("/proc/self/cgroup")):
        _, controllers, path = line.split(":", 2)
        old = controller in controllers.split(",")
        if not old and controllers:
            continue
        mount = _mount(controller if old else "")
        if mount is None:
            continue
        own = Path(os.path.normpath(f"{mount}/{path}"))
        for level, parent in enumerate((own, *own.parents)):
            if level >= LEVELS or not parent.is_relative_to(mount):
                break
            enabled = " ".join(_lines(parent / "cgroup.subtree_control")).split()
            if old or controller in enabled:
                yield parent


def _mount(controller: str) -> Path | None:
    """Return where a hierarchy is mounted: that of a controller, or the unified one."""
    for line in _lines(Path("/proc/self/mountinfo")):
        words = line.split()
        kind, options = words[words.index("-") + 1], words[-1].split(",")
        if (kind == "cgroup2" and not controller) or (
            kind == "cgroup" and controller and controller in options
        ):
            return Path(re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), words[4]))
    return None


def _count(folder: Path | None, names: tuple[str, ...], key: str) -> int:
    for name in names if folder is not None else ():
        assert folder is not None
        for line in _lines(folder / name):
            words = line.split()
            if len(words) == 2 and words[0] == key:
                return int(words[1])
    return 0


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
