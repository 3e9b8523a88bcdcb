"""What a sandbox is, and what it is told to show."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from caesar_agent.errors import CaesarError


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What a program sees and may write; every path is absolute and exists.

    The rest of the file system is there to read. Where two paths lie in each other, what is
    said of the inner one holds for it.

    Attributes:
        temporary: an empty folder that becomes ``/tmp`` and the like.
        writable: may be written.
        read_only: inside of what is writable, to be read alone.
        readable: shown although what is around them is hidden or temporary.
        hidden: looks empty.
        overlays: folders of the task's own, and the folders that they are laid over.
        shown: what is to be read at another place, and that place, which need not exist.
        network: whether there is one; without it, there is a loopback of its own.
    """

    temporary: Path
    writable: tuple[Path, ...] = ()
    read_only: tuple[Path, ...] = ()
    readable: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    overlays: tuple[tuple[Path, Path], ...] = ()
    shown: tuple[tuple[Path, Path], ...] = ()
    network: bool = False


class SandboxError(CaesarError):
    """A sandbox was asked for, and cannot be had or is not what it should be.

    Attributes:
        name: of the sandbox.
        problem: what was found.
        remedy: what to do about it.
    """

    __module__ = "pytest_caesar"

    name: str
    problem: str
    remedy: str

    def message(self) -> str:
        """Say it in a sentence, with what to do."""
        return f"the sandbox {self.name!r} cannot be used: {self.problem}; {self.remedy}"


class Sandbox(ABC):
    """A way to run a program apart from the rest of the machine.

    Attributes:
        name: what it is asked for by: a word, other than ``none`` and ``auto``.
        monitor_inside: our monitor runs as process 1 inside. That takes a Python of ours at the
            same path inside, and descriptors that are passed on; without it, the sandbox's
            program is taken for the agent, and must pass SIGTERM on.
    """

    name: ClassVar[str]
    monitor_inside: ClassVar[bool] = False

    @abstractmethod
    def version(self) -> str:
        """Return the version of what makes it, such as ``0.8.0``.

        Raises:
            SandboxError: it is not installed, or does not run here.
        """

    @abstractmethod
    def command(self, view: View) -> Sequence[str]:
        """Return what stands in front of the command line of what is to run in it.

        The first part is the path of a program. The working folder and the environment are those
        of the program that runs; it has to keep both.
        """

    def explain(self, said: str) -> str:
        """Return what to do about what the sandbox's program said when it failed, or ""."""
        del said
        return ""
