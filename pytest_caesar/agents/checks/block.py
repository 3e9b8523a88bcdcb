"""Checks on the block itself: where it starts, where it ends, and whether it is YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_caesar.agents.checks.complaint import Complaint
from pytest_caesar.agents.checks.source import SourceFile, original_lines
from pytest_caesar.agents.fallback import fallback_damage
from pytest_caesar.agents.front_matter import JS_BLANKS, remove_comments

_NO_BLOCK = "it finds no front matter, so no name, and leaves the file out"
_PAGES = re.compile(r"(readme|changelog|license|contributing|index|claude|agents)\b", re.IGNORECASE)
_BLOCK_LATER = re.compile(
    r"^[ \t]*---[ \t]*\n(?:.*\n){0,30}?[ \t]*(?:name|description):", re.MULTILINE
)
_YAMLISH = re.compile(r"[A-Za-z0-9_-]+[ \t]*:|[ \t]|- ")
_FIELD = re.compile(r"(name|description|tools|spawns|model|output|thinking-?[lL]evel)[ \t]*:")
_TEMPLATE = re.compile(r"\{\{[#/]\w|\{%-?\s*\w+|\A\{\{\w")
_HEAD = 8_192
"""Characters at the head of a file in which a misplaced block is looked for."""


def is_template(source: SourceFile) -> bool:
    """Say whether a file is not a definition yet, but what one is made from."""
    return _TEMPLATE.search(source.text[:_HEAD]) is not None


def check_block(source: SourceFile) -> Iterator[Complaint]:
    """Check start, end and form of the block."""
    yield from _encoding(source)
    if not source.front.present:
        yield from _no_block(source)
        return
    yield from _end(source)
    if source.front.fallback:
        yield _not_yaml(source)
    yield from _comment_cuts_value(source)


def _encoding(source: SourceFile) -> Iterator[Complaint]:
    try:
        source.data.decode("utf-8")
    except UnicodeDecodeError as error:
        yield Complaint(
            code="not-utf8",
            path=source.path,
            line=source.data.count(b"\n", 0, error.start) + 1,
            found=f"the byte 0x{source.data[error.start]:02x} is not UTF-8",
            effect="it puts U+FFFD in the place of each such byte",
            mend="save the file as UTF-8",
        )


def _no_block(source: SourceFile) -> Iterator[Complaint]:
    text = source.text
    if text.startswith("\ufeff"):
        yield Complaint(
            code="byte-order-mark",
            path=source.path,
            line=1,
            found="the file starts with a byte-order mark",
            effect="the mark stands before the ---; " + _NO_BLOCK,
            mend="save the file as UTF-8 without a mark",
        )
        return
    if is_template(source):
        yield Complaint(
            code="template",
            severity="note",
            path=source.path,
            line=1,
            found="the file is a template: it holds placeholders that have to be filled in",
            effect=_NO_BLOCK,
            mend="move the template out of the folder",
        )
        return
    if remove_comments(text).startswith("---"):
        yield _never_closed(source)
        return
    later = _BLOCK_LATER.search(text[:_HEAD])
    if later:
        line = text.count("\n", 0, later.start()) + 1
        yield Complaint(
            code="text-before-block",
            path=source.path,
            line=1,
            found=f"{_what_is_before(text)} before the --- on line {line}"
            if line > 1
            else "the --- is indented",
            effect=_NO_BLOCK,
            mend="make --- the very first characters of the file",
        )
        return
    name = source.path.rsplit("/", 1)[-1]
    page = _PAGES.match(name) is not None
    yield Complaint(
        code="no-block",
        severity="note" if page else "error",
        path=source.path,
        line=1,
        found="there is no front matter",
        effect="it tries to read every .md file of this folder as an agent; " + _NO_BLOCK,
        mend="move the page out of the folder"
        if page
        else "start the file with ---, name:, description:, ---",
    )


def _what_is_before(text: str) -> str:
    first = text.lstrip(JS_BLANKS)
    if first.startswith("<!--"):
        return "there is a comment"
    if first.startswith("```"):
        return "there is a code fence"
    blank = len(text) - len(first)
    return (
        "there is a blank line or space" if blank and first.startswith("---") else "there is text"
    )


def _never_closed(source: SourceFile) -> Complaint:
    text = source.text
    found = "the front matter is opened and never closed"
    mend = "put --- on a line of its own, without blanks in front, after the last field"
    indented = re.search(r"\n[ \t]+---[ \t]*(?=\n|$)", text)
    if indented:
        line = text.count("\n", 0, indented.start() + 1) + 1
        found += f" (the --- on line {line} is indented)"
    elif re.search(r"<!--[^>]*\n---.*?-->", text[:_HEAD], re.DOTALL):
        found += " (a comment runs over the closing ---, and comments are taken out first)"
        mend = "end the comment with --> before the closing ---"
    return Complaint(
        code="block-not-closed", path=source.path, line=1, found=found, effect=_NO_BLOCK, mend=mend
    )


def _end(source: SourceFile) -> Iterator[Complaint]:
    text = remove_comments(source.text)
    end = text.find("\n---", 3)
    rest = text[end + 4 :]
    line = original_lines(source.text)[text.count("\n", 0, end + 1)]
    surplus = rest.split("\n", 1)[0].strip(JS_BLANKS)
    if surplus:
        yield Complaint(
            code="closing-line-with-text",
            path=source.path,
            line=line,
            found=f"the line that closes the front matter is {('---' + surplus)[:40]!r}",
            effect="it closes the block here all the same, and the surplus becomes the start "
            "of the system prompt",
            mend="write exactly --- there; inside a value, indent the line",
        )
    elif _fields_behind(rest):
        yield Complaint(
            code="fields-after-block",
            path=source.path,
            line=line,
            found="a --- at the start of this line ends the block, and fields follow after it",
            effect="those fields become text of the system prompt",
            mend="keep one block; inside a value, indent the ---",
        )


def _fields_behind(rest: str) -> bool:
    """Say whether nothing but fields stands between the end of the block and a further ---."""
    block, closed, _ = rest[:_HEAD].partition("\n---")
    lines = [line for line in block.split("\n") if line.strip()]
    return (
        bool(closed)
        and all(_YAMLISH.match(line) for line in lines)
        and any(_FIELD.match(line) for line in lines)
    )


def _not_yaml(source: SourceFile) -> Complaint:
    front = source.front
    lines = front.metadata.split("\n")
    first = 2 if source.text[3:4] == "\n" else 1
    number = min((front.problem_line or first) - first, len(lines) - 1)
    numbers = original_lines(source.text)
    line = lines[number] if lines else ""
    cause, mend = _cause(line, number)
    hurt = fallback_damage(front)
    damage = f" ({'; '.join(hurt)})" if hurt else ""
    return Complaint(
        code="not-yaml",
        path=source.path,
        line=numbers[min(number + first, len(numbers)) - 1],
        found=f"the front matter is not YAML: {cause or front.problem}",
        effect="it reads the block line by line instead, each value as plain text" + damage,
        mend=mend,
    )


def _cause(line: str, number: int) -> tuple[str, str]:
    """Say why YAML stopped at a line, in words of the author, and what helps."""
    key, colon, value = line.partition(":")
    value = value.strip()
    quote = f"put the value of {key.strip()} into quotes, or write it as a block (|)"
    if colon and re.match(r"[*&@`%]", value):
        return f"{value[0]!r} starts a value without quotes", quote
    if "{{" in value:
        return "there is a template placeholder", "fill the placeholder in, or " + quote
    if colon and value and ": " in value + " " and value[0] not in "\"'":
        return f"the value of {key.strip()} holds a colon without quotes", quote
    if colon and value and value[0] in "\"'":
        return (
            f"text stands after the closing quote of {key.strip()}",
            f"quote the whole value of {key.strip()}, and escape the quotes in it",
        )
    if re.match(r"[A-Za-z0-9_-]+:\S", line):
        return f"there is no blank after the colon of {key}", f"write {key}: with a blank after it"
    if line and not line[0].isspace() and not re.match(r"[A-Za-z0-9_-]+\s*:", line):
        return (
            "this line belongs to no key",
            "indent the lines of a value below its key (after key: | or key: >)",
        )
    if number and line[:1].isspace():
        return "", "quote the value, or write it as a block (key: |) with every line indented"
    return "", "quote values that hold : # [ ] { } or quotes"


def _comment_cuts_value(source: SourceFile) -> Iterator[Complaint]:
    """Find `` #12`` in a plain value: what was meant as text is a comment."""
    if source.front.fallback:
        return
    lines = source.text.split("\n")
    for name, key, number in source.keys:
        line = lines[number - 1] if number <= len(lines) else ""
        value = line.partition(":")[2].strip()
        cut = re.search(r"\s#[^\s#]", value)
        if name in ("name", "description") and cut and value[0] not in "\"'|>#[{":
            yield Complaint(
                code="comment-cuts-value",
                path=source.path,
                line=number,
                field=name,
                found=f"{key} goes on after a blank and #, which starts a comment in YAML",
                effect=f"the value ends before {value[cut.start() :].strip()[:30]!r}",
                mend=f"put the value of {key} into quotes",
            )
