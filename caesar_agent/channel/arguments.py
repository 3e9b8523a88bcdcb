"""What a client gives to a tool of the return channel, checked by hand.

No guessing. Some clients write an array or object as a string of JSON: where one of those
is meant, that one level is decoded. Where a string is meant, it stays the string it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from caesar_agent.channel.tools import INPUT_SCHEMAS
from caesar_agent.documents.decoding import decode
from caesar_agent.documents.report import Report
from caesar_agent.errors import CaesarError, DocumentError, FieldProblem, UnsupportedVersionError

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)\s*", re.ASCII)
_STEP = re.compile(r"[^.\[\]]+")


class ArgumentError(CaesarError):
    """An argument of a tool is missing or wrong; the client may correct it and call again.

    Attributes:
        tool: name of the tool.
        where: path of the argument.
        problem: what was found and what was expected.
    """

    tool: str
    where: str
    problem: str

    def message(self) -> str:  # noqa: D102 - what it does is said by the base class
        return f"invalid arguments for {self.tool} at {self.where}: {self.problem}"


class RefusedReportError(CaesarError):
    """A report cannot be accepted; the client may correct it and submit it again.

    Attributes:
        problems: what is wrong, field by field, the first of ``count``; at least one.
        count: how many fields are wrong.
    """

    problems: tuple[FieldProblem, ...]
    count: int

    def message(self) -> str:  # noqa: D102 - what it does is said by the base class
        told = [f"{problem}{_allowed(problem)}" for problem in self.problems]
        if self.count == 1:
            return f"invalid report{' ' if self.problems[0].where else ': '}{told[0]}"
        left_out = self.count - len(told)
        return "\n".join(
            [
                "invalid report; what is wrong:",
                *(f"- {line}" for line in told),
                *([f"- and {left_out} more"] if left_out else []),
            ]
        )


def report(arguments: Mapping[str, Any]) -> Report:
    """Return the report that the arguments are.

    Raises:
        RefusedReportError: they are none; every field that is wrong is told, so that
            they can be corrected at once.
    """
    arguments = decoded(arguments, {"type": "object", **_REPORT_SCHEMA})
    try:
        return Report.from_value(dict(arguments))
    except DocumentError as error:
        problems, count = list(error.problems), error.count
        if not problems:
            problems = [FieldProblem(error.code, error.where, error.problem)]
        if isinstance(error, UnsupportedVersionError):
            # It is looked at first, and alone.
            try:
                Report.from_value({**arguments, "protocol": error.expected})
            except DocumentError as rest:
                problems += rest.problems
                count += rest.count if rest.problems else 0
        raise RefusedReportError(problems=tuple(problems), count=count) from None


_REPORT_SCHEMA: dict[str, Any] = INPUT_SCHEMAS["submit_report"]


def decoded(value: Any, schema: Mapping[str, Any]) -> Any:
    """Decode strings of JSON where a schema means an array or an object, one level of each.

    Args:
        value: as the client gave it.
        schema: of that value.

    Returns:
        The value with such strings replaced; what does not decode stays as it is.
    """
    kind = schema.get("type")
    if isinstance(value, str) and kind in ("array", "object"):
        try:
            inner = decode(value).value
        except DocumentError:
            return value
        return inner if isinstance(inner, list if kind == "array" else dict) else value
    if isinstance(value, list) and kind == "array":
        return [decoded(item, schema.get("items", {})) for item in value]
    if isinstance(value, dict) and kind == "object":
        fields = schema.get("properties", {})
        return {name: decoded(item, fields.get(name, {})) for name, item in value.items()}
    return value


def _allowed(problem: FieldProblem) -> str:
    """Say what a missing field may be, where only few values are allowed."""
    if problem.code != "missing":
        return ""
    schema: Any = INPUT_SCHEMAS["submit_report"]
    for step in _STEP.findall(problem.where):
        if step.isdecimal():
            schema = schema.get("items", {})
        else:
            schema = schema.get("properties", {}).get(step, {})
    values = [repr(value) for value in schema.get("enum", ())]
    return f"; expected {', '.join(values[:-1])} or {values[-1]}" if values else ""


def text(tool: str, arguments: Mapping[str, Any], name: str) -> str:
    """Return a text that must be there and not be empty.

    Raises:
        ArgumentError: it is not.
    """
    value = arguments.get(name)
    if value is None:
        raise ArgumentError(tool=tool, where=name, problem="missing; expected a text")
    if not isinstance(value, str):
        raise _wrong(tool, name, "a text", value)
    if not value.strip():
        raise ArgumentError(
            tool=tool, where=name, problem=f"expected some text, found {json.dumps(value)[:40]}"
        )
    return value


def texts(tool: str, arguments: Mapping[str, Any], name: str) -> tuple[str, ...]:
    """Return a list of texts, empty where there is none.

    Raises:
        ArgumentError: something else is there.
    """
    value = decoded(arguments.get(name), {"type": "array"})
    if value is None:
        return ()
    if not isinstance(value, list):
        raise _wrong(tool, name, "a list of texts", value)
    for index, item in enumerate(value):
        if not isinstance(item, str):
            raise _wrong(tool, f"{name}[{index}]", "a text", item)
    return tuple(value)


def percentage(tool: str, arguments: Mapping[str, Any], name: str) -> float | None:
    """Return a number from 0 to 100, None where there is none; ``"50"`` is a number too.

    Raises:
        ArgumentError: something else is there.
    """
    value = arguments.get(name)
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
        value = int(value) if value.is_integer() else value
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 100:
        raise _wrong(tool, name, "a number from 0 to 100", value)
    return value


def _wrong(tool: str, where: str, expected: str, found: object) -> ArgumentError:
    return ArgumentError(
        tool=tool, where=where, problem=f"expected {expected}, found {found!r:.80}"
    )
