"""Checks on single fields: name, description, model, thinking level, misspelt keys, the body."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from pytest_caesar.agents.checks.complaint import Complaint
from pytest_caesar.agents.checks.profiles import HostProfile
from pytest_caesar.agents.checks.source import SourceFile
from pytest_caesar.agents.errors import near_miss, shown
from pytest_caesar.agents.front_matter import JS_BLANKS

# Followed by what starts a new sentence or line, so that a path such as C:\new is none.
_LITERAL_NEWLINE = re.compile(r"\\n(?=\\n|[\s<A-Z*-]|$)")
_WIDENING = frozenset({"allowedtools", "allowtools", "toolsallowed", "toolset", "tool"})
_CLOSE = 0.9


def check_fields(source: SourceFile, profile: HostProfile) -> Iterator[Complaint]:
    """Check fields other than tools, spawns and output."""
    for field in ("name", "description"):
        yield from _required(source, field)
    yield from _name_form(source)
    yield from _literal_newlines(source)
    yield from _duplicates(source)
    yield from _misspelt(source, profile)
    yield from _thinking(source, profile)
    yield from _wrong_types(source)
    if not source.front.body:
        yield Complaint(
            code="empty-body",
            path=source.path,
            found="there is nothing after the front matter",
            effect="the agent starts with an empty system prompt",
            mend="write what the agent is to do below the closing ---",
        )


def kind(value: object) -> str:
    """Say what a value is, as an author would."""
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {shown(value, limit=40)}"
    return "a list" if isinstance(value, list) else "a mapping"


def _required(source: SourceFile, field: str) -> Iterator[Complaint]:
    fields = source.front.fields
    value = fields.get(field)
    line = source.line_of(field)
    if isinstance(value, str) and value:
        if not value.strip(JS_BLANKS):
            yield Complaint(
                code=f"{field}-blank",
                path=source.path,
                line=line,
                field=field,
                found=f"{field} holds nothing but blanks",
                effect="it takes the blanks as they are",
                mend=f"write a {field}",
            )
        return
    if field not in fields:
        keys = [key for name, key, _ in source.keys if name not in ("name", "description")]
        near = [key for key in keys if key.lower() == field or _similar(key, field)]
        hint = f" ({shown(near[0])} is another key)" if near else ""
        found = f"there is no {field}{hint}"
    else:
        found = f"{field} is {kind(value)}, not text"
        if isinstance(value, dict):
            found += " (a template placeholder that was not filled in?)"
    yield Complaint(
        code=f"{field}-missing",
        path=source.path,
        line=line or 1,
        field=field,
        found=found,
        effect="it leaves the file out",
        mend=f"write {field}: and a text" + (", in quotes" if field in fields else ""),
    )


def _name_form(source: SourceFile) -> Iterator[Complaint]:
    name = source.front.fields.get("name")
    if not isinstance(name, str) or not name.strip(JS_BLANKS):
        return
    problem: tuple[str, str] | None = None
    if name != name.strip(JS_BLANKS):
        problem = "blanks around it", "only a request with the same blanks finds it"
    elif "," in name:
        problem = "a comma", "a list of spawns splits there, so nobody can be allowed to start it"
    elif source.front.fallback and name[0] in "\"'":
        problem = "quotes", "the line reader keeps them, so only a request with quotes finds it"
    if problem:
        yield Complaint(
            code="name-form",
            path=source.path,
            line=source.line_of("name"),
            field="name",
            found=f"the name {shown(name, limit=60)} has {problem[0]}",
            effect=problem[1],
            mend="use letters, digits and dashes",
        )


def _literal_newlines(source: SourceFile) -> Iterator[Complaint]:
    value = source.front.fields.get("description")
    if isinstance(value, str) and (found := _LITERAL_NEWLINE.findall(value)):
        yield Complaint(
            code="literal-newline",
            path=source.path,
            line=source.line_of("description"),
            field="description",
            found=f"description holds \\n as two characters ({len(found)} times)",
            effect="it shows the backslashes to whoever chooses an agent",
            mend="write the description as a block (description: |), or in double quotes",
        )


def _duplicates(source: SourceFile) -> Iterator[Complaint]:
    first: dict[str, tuple[str, int]] = {}
    for name, key, line in source.keys:
        if name in first:
            before, number = first[name]
            other = "" if before == key else f" as {before}"
            yield Complaint(
                code="duplicate-key",
                path=source.path,
                line=line,
                field=name,
                found=f"{key} is already on line {number}{other}",
                effect="the last one wins without a word",
                mend="keep one of them",
            )
        first.setdefault(name, (key, line))


def _misspelt(source: SourceFile, profile: HostProfile) -> Iterator[Complaint]:
    fields = source.front.fields
    folded = {_fold(name): name for name in profile.fields}
    for name, key, line in source.keys:
        if name in profile.fields or name in profile.neighbours:
            continue
        meant = folded.get(_fold(key))
        if meant is None and _fold(key) in _WIDENING:
            meant = "tools"
        if meant is None and key == "spawn":
            meant = "spawns"
        if meant is None or meant in fields or meant in ("name", "description"):
            continue
        effect = "it passes over keys it does not know"
        if meant == "tools":
            effect += ", so the agent may use every tool"
        yield Complaint(
            code="misspelt-key",
            path=source.path,
            line=line,
            field=name,
            found=f"there is no key {key}",
            effect=effect,
            mend=f"write {'thinking-level' if meant == 'thinkingLevel' else meant}",
        )


def _thinking(source: SourceFile, profile: HostProfile) -> Iterator[Complaint]:
    fields = source.front.fields
    field = "thinkingLevel" if isinstance(fields.get("thinkingLevel"), str) else "thinking"
    if field not in fields and "thinkingLevel" in fields:
        field = "thinkingLevel"
    value = fields.get(field)
    if field not in fields or value is None or value in profile.thinking_levels:
        return
    guess = value.strip().lower() if isinstance(value, str) else ""
    hint = near_miss(guess, profile.thinking_levels) if guess else ""
    yield Complaint(
        code="thinking-level",
        path=source.path,
        line=source.line_of(field),
        field=field,
        found=f"the thinking level is {kind(value)}{hint}",
        effect="it drops the level without a word",
        mend=f"write one of {', '.join(profile.thinking_levels)}",
    )


def _wrong_types(source: SourceFile) -> Iterator[Complaint]:
    fields = source.front.fields
    model = fields.get("model")
    if model is not None and not isinstance(model, (str, list)):
        yield _ignored(source, "model", model, "write the model's name in quotes")
    blocking = fields.get("blocking")
    known = isinstance(blocking, bool) or (
        isinstance(blocking, str) and blocking.strip(JS_BLANKS).lower() in ("true", "false")
    )
    if blocking is not None and not known:
        yield _ignored(source, "blocking", blocking, "write true or false")


def _ignored(source: SourceFile, field: str, value: object, mend: str) -> Complaint:
    return Complaint(
        code=f"{field}-ignored",
        path=source.path,
        line=source.line_of(field),
        field=field,
        found=f"{field} is {kind(value)}",
        effect="it drops the field without a word",
        mend=mend,
    )


def _fold(key: str) -> str:
    return key.replace("-", "").replace("_", "").lower()


def _similar(key: str, field: str) -> bool:
    if field != "description":
        return False  # short words are too near to others
    return SequenceMatcher(None, key.lower(), field).ratio() >= _CLOSE
