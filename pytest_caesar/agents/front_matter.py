"""The front matter of a markdown file, cut and read exactly as the system does it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from pytest_caesar.agents.yaml_core import YamlProblem, load_yaml

JS_BLANKS = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript's ``trim`` takes away; ``str.strip`` differs in both directions."""

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_KEBAB = re.compile(r"-([a-z])")
_FALLBACK_KEY = re.compile(r"([A-Za-z0-9_-]+):")
_OPAQUE = "output"
_OPENING = "---"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What was found at the head of a file.

    Attributes:
        fields: keys in camel case; what lies under ``output`` is as written.
        body: the text after the block, or the whole text when there is no block.
        present: there is a block: opened at the first character, and closed.
        fallback: YAML could not read it, so it was read line by line.
        problem: what YAML says, or "".
        problem_line: 1-based line where YAML stopped, comments taken out; or None.
        metadata: the text of the block, comments taken out.
    """

    fields: dict[str, Any]
    body: str
    present: bool = False
    fallback: bool = False
    problem: str = ""
    problem_line: int | None = None
    metadata: str = ""


def parse_front_matter(content: str) -> FrontMatter:
    """Read the front matter of a file. Never raises; linear in the size of the text.

    Args:
        content: the text of the file; a byte-order mark counts as a character.
    """
    text = remove_comments(content.replace("\r\n", "\n").replace("\r", "\n"))
    end = text.find("\n" + _OPENING, 3) if text.startswith(_OPENING) else -1
    if end == -1:
        return FrontMatter(fields={}, body=text)
    metadata = text[4:end]
    first = 2 if text[3] == "\n" else 1
    body = text[end + 4 :].strip(JS_BLANKS)
    try:
        # The cut took the last line end; without it a block scalar loses its own.
        value = load_yaml(metadata.replace("\t", "  ") + "\n")
    except YamlProblem as error:
        return FrontMatter(
            fields=_camel_fields(_read_lines(metadata)),
            body=body,
            present=True,
            fallback=True,
            problem=error.text,
            problem_line=None if error.line is None else error.line + first,
            metadata=metadata,
        )
    return FrontMatter(
        fields=_camel_fields(_as_fields(value)), body=body, present=True, metadata=metadata
    )


def remove_comments(text: str) -> str:
    """Take ``<!-- … -->`` out, each up to the nearest end; one that is not closed stays."""
    if "<!--" not in text:
        return text
    last = text.rfind("-->")
    # Past the last end nothing can close, and each opening there would scan to the end.
    return _COMMENT.sub("", text[: last + 3]) + text[last + 3 :] if last != -1 else text


def camel(key: str) -> str:
    """Turn ``thinking-level`` into ``thinkingLevel``; only ASCII letters after a dash."""
    return _KEBAB.sub(lambda match: match[1].upper(), key)


def _as_fields(value: object) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    if isinstance(value, (list, str)):
        return {str(index): item for index, item in enumerate(value)}
    return {}


def _read_lines(metadata: str) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for line in metadata.split("\n"):
        match = _FALLBACK_KEY.match(line)
        value = line[match.end() :].lstrip(JS_BLANKS) if match else "\u2028"
        # JavaScript's `.` stops at these two, so such a line does not match there.
        if match and "\u2028" not in value and "\u2029" not in value:
            fields[match[1]] = value.rstrip(JS_BLANKS)
    return fields


def _camel_fields(fields: dict[str, Any]) -> dict[str, Any]:
    done: dict[int, Any] = {}
    result: dict[str, Any] = {}
    for key, value in fields.items():
        name = camel(key)
        result[name] = value if name == _OPAQUE else _camel_value(value, done)
    return result


def _camel_value(value: Any, done: dict[int, Any]) -> Any:
    """Camel-case nested keys; each aliased value once, or aliases of aliases would explode."""
    if not isinstance(value, (dict, list)):
        return value
    if id(value) in done:
        return done[id(value)]
    if isinstance(value, list):
        items: list[Any] = []
        done[id(value)] = items
        items.extend(_camel_value(item, done) for item in value)
        return items
    mapping: dict[str, Any] = {}
    done[id(value)] = mapping
    mapping.update((camel(key), _camel_value(item, done)) for key, item in value.items())
    return mapping
