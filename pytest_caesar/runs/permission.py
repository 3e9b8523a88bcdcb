"""What an agent asked leave for, and what it was told."""

from __future__ import annotations

from dataclasses import dataclass

from caesar_agent.console import one_line


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionRequest:
    """A call of a tool that an agent asks leave for.

    Attributes:
        kind: ``edit``, ``delete``, ``move``, ``execute``, ``read``, ``search``, ``fetch``,
            ``think`` or ``other``, as the agent says.
        texts: what it is about, the most telling first: paths in the workspace, the command,
            the title. Cut to 400 characters each.
    """

    kind: str
    texts: tuple[str, ...]

    def __str__(self) -> str:
        return one_line(f"{self.kind} {self.texts[0] if self.texts else ''}".strip(), limit=200)


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """A request and its answer.

    Attributes:
        request: what was asked for.
        allowed: the answer.
        reason: why, where there is more to say; the agent does not hear it.
    """

    request: PermissionRequest
    allowed: bool
    reason: str = ""

    def __str__(self) -> str:
        because = f" ({one_line(self.reason, limit=200)})" if self.reason else ""
        return f"{'allowed' if self.allowed else 'refused'}: {self.request}{because}"
