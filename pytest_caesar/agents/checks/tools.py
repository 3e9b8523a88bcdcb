"""Checks on what an agent is granted: tools, and whom it may start."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_caesar.agents.checks.complaint import Complaint
from pytest_caesar.agents.checks.fields import kind
from pytest_caesar.agents.checks.profiles import HostProfile
from pytest_caesar.agents.checks.source import SourceFile
from pytest_caesar.agents.definitions import (
    SUBMIT_TOOL,
    TASK_TOOL,
    parse_agent_fields,
)
from pytest_caesar.agents.front_matter import JS_BLANKS


def check_tools(source: SourceFile, profile: HostProfile) -> Iterator[Complaint]:
    """Check which tools a definition really grants."""
    fields = source.front.fields
    if "tools" not in fields:
        return
    value = fields["tools"]
    granted = _granted(source)
    if granted is None:
        yield _complain(
            source,
            "tools-grant-everything",
            f"tools is {_empty_kind(value)}",
            "it takes that for no restriction: the agent may use every tool",
            "leave the key out if every tool is meant; name the tools otherwise "
            f"({SUBMIT_TOOL} alone for none)",
            note=value is None,
        )
        return
    names = [tool for tool in granted if tool != SUBMIT_TOOL]
    if any(tool in ("*", "all") for tool in names):
        star = next(tool for tool in names if tool in ("*", "all"))
        others = len(names) > 1
        yield _complain(
            source,
            "tools-star",
            f"tools holds {star!r}",
            "it knows no tool of that name and drops it"
            + ("" if others else ", so the agent can do nothing but hand in a result"),
            "leave the key out to grant every tool",
        )
    broken = [tool for tool in names if "(" in tool or ")" in tool]
    if broken:
        yield _complain(
            source,
            "tool-specifier",
            f"tools holds {broken[0]!r}",
            "brackets are part of the name here (and a comma in them splits it), so the tool "
            "is unknown and dropped",
            "write the bare name of the tool",
        )
    brackets = [tool for tool in names if tool[:1] in "[\"'" or tool[-1:] in "]\"'"]
    if source.front.fallback and brackets:
        yield _complain(
            source,
            "tools-damaged",
            f"tools holds {brackets[0]!r}, because the block is not YAML",
            "the tool is unknown and dropped",
            "mend the block, or write the tools without brackets and quotes",
        )
    foreign = [tool for tool in names if tool in profile.foreign_tools]
    if foreign:
        here = [f"{tool} is {profile.foreign_tools[tool]} here" for tool in foreign]
        here = [text for text in here if not text.endswith("is  here")]
        yield _complain(
            source,
            "foreign-tools",
            f"tools names {', '.join(foreign)}, which other hosts have",
            "it drops tools it does not know",
            "; ".join(here) or "nothing, if the file is for another host",
            note=True,
        )


def check_spawns(source: SourceFile) -> Iterator[Complaint]:
    """Check whom a definition may start."""
    fields = source.front.fields
    granted = _granted(source)
    value = fields.get("spawns")
    delegates = granted is not None and TASK_TOOL in granted
    stated = isinstance(value, (str, list)) and _names(value)
    if "spawns" in fields and not stated and delegates:
        yield _complain(
            source,
            "spawns-none-means-all",
            f"spawns is {_empty_kind(value)} while tools holds {TASK_TOOL}",
            "it takes that for a missing key, and then task means spawns: every agent may be "
            "started",
            f"take {TASK_TOOL} out of tools",
            field="spawns",
        )
    elif "spawns" in fields and not stated and value not in (None, "", [], False):
        yield _complain(
            source,
            "spawns-ignored",
            f"spawns is {_empty_kind(value)}",
            "it drops the field without a word, so nobody may be started",
            'write "*" or names',
            field="spawns",
        )
    elif stated and "*" in [name.strip("\"'") for name in stated] and stated != ["*"]:
        yield _complain(
            source,
            "spawns-star-in-list",
            "spawns names * beside others",
            "among names, * is a name like any other and matches no agent",
            'write spawns: "*" alone',
            field="spawns",
        )
    elif "spawns" not in fields and delegates:
        yield _complain(
            source,
            "task-without-spawns",
            f"tools holds {TASK_TOOL} and there is no spawns",
            "the agent may start every other agent",
            "name those it needs in spawns",
            note=True,
        )


def _granted(source: SourceFile) -> tuple[str, ...] | None:
    tools = {"tools": source.front.fields.get("tools"), "name": "x", "description": "x"}
    parsed = parse_agent_fields(tools) or {}
    granted: tuple[str, ...] | None = parsed.get("tools")
    return granted


def _names(value: str | list[object]) -> list[str]:
    if isinstance(value, str):
        return [name for part in value.split(",") if (name := part.strip(JS_BLANKS))]
    return [item for item in value if isinstance(item, str)]


def _empty_kind(value: object) -> str:
    if value == []:
        return "an empty list"
    if isinstance(value, list):
        return "a list without text"
    return "empty text" if isinstance(value, str) else kind(value)


def _complain(
    source: SourceFile,
    code: str,
    found: str,
    effect: str,
    mend: str,
    *,
    field: str = "tools",
    note: bool = False,
) -> Complaint:
    return Complaint(
        code=code,
        severity="note" if note else "error",
        path=source.path,
        line=source.line_of(field) or source.line_of("tools"),
        field=field,
        found=found,
        effect=effect,
        mend=mend,
    )
