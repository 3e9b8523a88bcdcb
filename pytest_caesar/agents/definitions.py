"""Agent definitions: markdown with front matter -> ``AgentDefinition``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from caesar_agent.errors import CaesarError
from pytest_caesar.agents.front_matter import JS_BLANKS, FrontMatter, parse_front_matter

Source = Literal["bundled", "user", "project"]
Level = Literal["off", "warn", "fatal"]

SUBMIT_TOOL = "submit_result"
"""The tool through which a result is handed in; every restricted agent gets it."""
TASK_TOOL = "task"
"""The tool through which an agent delegates."""
THINKING_LEVELS = ("inherit", "off", "minimal", "low", "medium", "high", "xhigh")
"""Exact spellings; anything else counts as absent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentDefinition:
    """One agent, as its file describes it.

    Attributes:
        name: exact, untrimmed, case-sensitive.
        description: when to use it.
        system_prompt: the body of the file; may be empty.
        source: who it belongs to.
        tools: the only tools it may use, lower case, or None for all of them.
        spawns: agents it may delegate to: ``"*"`` for all, names, or None for nobody.
        model: models in order of preference, or None.
        thinking_level: one of ``THINKING_LEVELS``, or None.
        output: schema of its result, untouched; None when it has none.
        blocking: whether the caller waits for it, or None.
        file_path: the file, ``embedded:NAME.md`` for bundled ones, or None.
    """

    name: str
    description: str
    system_prompt: str = ""
    source: Source = "project"
    tools: tuple[str, ...] | None = None
    spawns: Literal["*"] | tuple[str, ...] | None = None
    model: tuple[str, ...] | None = None
    thinking_level: str | None = None
    output: Any = field(default=None, compare=False)
    blocking: bool | None = None
    file_path: str | None = None


class FrontMatterError(CaesarError):
    """The front matter is not YAML, where that is fatal (bundled agents).

    Attributes:
        location: the file.
        problem: what YAML says.
    """

    location: str
    problem: str

    def message(self) -> str:  # noqa: D102  (see the base)
        return f"Failed to parse YAML frontmatter ({self.location}): {self.problem}"


class AgentParsingError(CaesarError):
    """A definition lacks a name or a description.

    Attributes:
        location: the file.
        missing: the fields that are missing, empty or no text.
        no_block: why there are no fields at all; "" where there are some.
    """

    location: str
    missing: tuple[str, ...]
    no_block: str = ""

    @property
    def cause(self) -> str:
        """What is wrong with the file."""
        return self.no_block or f"{' and '.join(self.missing)} must be text and not empty"

    def message(self) -> str:  # noqa: D102  (see the base)
        return f"Failed to parse agent: Invalid agent fields ({self.location}: {self.cause})"


def parse_agent(
    content: str, *, location: str, source: Source = "project", level: Level = "warn"
) -> AgentDefinition:
    """Read one definition.

    Args:
        content: the text of the file.
        location: where it comes from, for messages and ``file_path``.
        source: who it belongs to.
        level: ``fatal`` refuses front matter that is not YAML; otherwise it is read
            line by line.

    Raises:
        FrontMatterError: not YAML, at level ``fatal``.
        AgentParsingError: no usable name or description.
    """
    front = parse_front_matter(content)
    if front.fallback and level == "fatal":
        raise FrontMatterError(location=location, problem=front.problem)
    return agent_of_front_matter(front, location=location, source=source)


def agent_of_front_matter(
    front: FrontMatter, *, location: str, source: Source = "project"
) -> AgentDefinition:
    """Normalise front matter that was already read; raises ``AgentParsingError``."""
    fields = parse_agent_fields(front.fields)
    if fields is None:
        missing = tuple(key for key in ("name", "description") if not _text(front.fields, key))
        no_block = "" if front.present else _why_no_block(front.body)
        raise AgentParsingError(location=location, missing=missing, no_block=no_block)
    return AgentDefinition(system_prompt=front.body, source=source, file_path=location, **fields)


def _why_no_block(text: str) -> str:
    if text.startswith("\ufeff"):
        return "there is no front matter, since the file starts with a byte-order mark"
    if text.startswith("---"):
        return "its front matter is opened and never closed"
    return "there is no front matter, since the file does not start with ---"


def parse_agent_fields(fields: dict[str, Any]) -> dict[str, Any] | None:
    """Normalise the fields of the front matter.

    Returns:
        Keyword arguments for ``AgentDefinition``, absent fields left out; or None when
        name or description is missing, empty or no text.
    """
    name, description = _text(fields, "name"), _text(fields, "description")
    if not name or not description:
        return None
    tools = _tools(fields.get("tools"))
    found: dict[str, Any] = {
        "name": name,
        "description": description,
        "tools": tools,
        "spawns": _spawns(fields.get("spawns"), tools),
        "model": _models(fields.get("model")),
        "thinking_level": _thinking_level(fields),
        "output": fields.get("output"),
        "blocking": _blocking(fields.get("blocking")),
    }
    return {key: value for key, value in found.items() if value is not None}


def split_csv(text: str) -> tuple[str, ...]:
    """Split at commas, trim, drop what is empty; quotes and brackets mean nothing."""
    return tuple(item for part in text.split(",") if (item := part.strip(JS_BLANKS)))


def _text(fields: dict[str, Any], key: str) -> str:
    value = fields.get(key)
    return value if isinstance(value, str) else ""


def _items(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return split_csv(value)
    if isinstance(value, list):
        return tuple(item for item in value if isinstance(item, str))
    return ()


def _tools(value: object) -> tuple[str, ...] | None:
    tools = tuple(tool.lower() for tool in _items(value))
    if not tools:
        return None
    return tools if SUBMIT_TOOL in tools else (*tools, SUBMIT_TOOL)


def _spawns(value: object, tools: tuple[str, ...] | None) -> Literal["*"] | tuple[str, ...] | None:
    if isinstance(value, str) and value.strip(JS_BLANKS) == "*":
        return "*"
    names = _items(value)
    if names:
        return names
    return "*" if tools is not None and TASK_TOOL in tools else None


def _models(value: object) -> tuple[str, ...] | None:
    trimmed = (item.strip(JS_BLANKS) for item in _items(value))
    return tuple(item for item in trimmed if item) or None


def _thinking_level(fields: dict[str, Any]) -> str | None:
    value = fields.get("thinkingLevel")
    if not isinstance(value, str):
        value = fields.get("thinking")
    return value if isinstance(value, str) and value in THINKING_LEVELS else None


def _blocking(value: object) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.strip(JS_BLANKS).lower())
    return None
