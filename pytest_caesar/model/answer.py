"""What the model says in one turn, before a wire format is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one answer. The defaults are what a turn costs unless its script says otherwise."""

    input_tokens: int = 100
    output_tokens: int = 10

    @property
    def total(self) -> int:
        """Both together."""
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call as the CLI will see it.

    Attributes:
        id: unique in the conversation.
        name, namespace: of the tool.
        arguments: an object; or text, for a tool that takes plain text.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | str
    namespace: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One turn of the model.

    Attributes:
        turn: its number; ids are made from it, so that they are the same in every run.
        texts: what it says, message by message; formats with one message join them.
        thought: a summary of its reasoning, "" for none.
        calls: in order.
        usage: what it cost.
    """

    turn: int
    texts: tuple[str, ...] = ()
    thought: str = ""
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = field(default_factory=Usage)

    @property
    def text(self) -> str:
        """All it says, as one message."""
        return "\n\n".join(self.texts)


def usage_of(input_tokens: object, output_tokens: object) -> Usage:
    """Return what an answer says it cost; what it does not say is zero."""
    told = [
        number if isinstance(number, int) and not isinstance(number, bool) and number >= 0 else 0
        for number in (input_tokens, output_tokens)
    ]
    return Usage(input_tokens=told[0], output_tokens=told[1])


def pieces(text: str, *, parts: int = 8, smallest: int = 12) -> list[str]:
    """Cut a text into what a stream sends piece by piece; "" gives none."""
    size = max(smallest, -(-len(text) // parts))
    return [text[start : start + size] for start in range(0, len(text), size)]
