"""What is remembered of files and of repositories that are not compared by git."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class PathState:
    """What ``lstat`` says, and what is in a file.

    Attributes:
        facts: mode, size, inode, and the times of modification and change in ns; () if missing.
        digest: of the content of a file or the target of a link; b"" where nobody looked.
    """

    facts: tuple[int, ...] = ()
    digest: bytes = b""

    @property
    def exists(self) -> bool:
        """Something lies there."""
        return bool(self.facts)


@dataclass(frozen=True, slots=True)
class InsideState:
    """A repository inside, as it stood.

    Attributes:
        head: what its HEAD says, and the branch that it names.
        own: its configuration and hooks.
        rules: what it ignores.
        files: state of every file that it does not ignore.
        inside: repositories in it in turn.
    """

    head: tuple[bytes | None, ...] = ()
    own: tuple[object, ...] = ()
    rules: bytes = b""
    files: Mapping[bytes, PathState] = field(default_factory=dict)
    inside: Mapping[bytes, InsideState] = field(default_factory=dict)
