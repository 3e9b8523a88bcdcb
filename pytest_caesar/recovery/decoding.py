"""From the bytes of one object to a report, strictly; what is wrong comes back as a value."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal

from caesar_agent.documents.report import Report
from caesar_agent.errors import DocumentError, UnsupportedVersionError

Flaw = Literal["malformed", "invalid", "version", "foreign"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one text turned out to be.

    Attributes:
        report: the report, when it is one for this task.
        flaw: why it is not: ``malformed`` (not JSON), ``invalid`` (JSON, not a
            report), ``version`` (another version), ``foreign`` (another task's).
        problem: one clause that says what was found; "" for a report.
        value: the decoded JSON, when it could be decoded.
        encoding: ``utf-8``, or the one it was read in.
    """

    report: Report | None = None
    flaw: Flaw | None = None
    problem: str = ""
    value: object = None
    encoding: str = "utf-8"


def read_report(data: bytes, *, task_id: str, bare: bool = False) -> Reading:
    """Read ``data`` as one report for the task ``task_id``; never raises.

    Args:
        data: a whole document.
        task_id: a report that names another task is that task's; "" accepts any.
        bare: the text stands inside a log, so it cannot have a byte order mark.
    """
    encoding = "utf-8" if bare else detect_encoding(data)
    try:
        value = decode(data.decode(encoding))
    except UnicodeDecodeError as error:
        return Reading(
            flaw="malformed",
            problem=f"byte {error.start} is not valid {encoding.removesuffix('-sig').upper()}",
            encoding=encoding,
        )
    except NotJsonError as error:
        return Reading(flaw="malformed", problem=str(error), encoding=encoding)
    return judge(value, task_id=task_id, encoding=encoding)


def judge(value: object, *, task_id: str, encoding: str = "utf-8") -> Reading:
    """Say whether a decoded JSON value is a report for the task ``task_id``; never raises."""
    if isinstance(value, dict):
        protocol = value.get("protocol")
        if isinstance(protocol, str) and protocol != Report.version:
            return Reading(
                flaw="version",
                problem=f"its protocol is {printable(protocol, 60)}, supported is {Report.version}",
                value=value,
                encoding=encoding,
            )
        found = value.get("task_id")
        if isinstance(found, str) and found and task_id and found != task_id:
            return Reading(
                flaw="foreign",
                problem=f"it names the task {printable(found, 80)}, this is {printable(task_id, 80)}",
                value=value,
                encoding=encoding,
            )
    try:
        report = Report.from_value(value)
    except UnsupportedVersionError as error:
        return Reading(flaw="invalid", problem=error.problem, value=value, encoding=encoding)
    except DocumentError as error:
        place = f"{error.where}: " if error.where else ""
        return Reading(
            flaw="invalid", problem=f"{place}{error.problem}", value=value, encoding=encoding
        )
    except RecursionError:
        return Reading(flaw="malformed", problem="it is nested too deeply", encoding=encoding)
    return Reading(report=report, value=value, encoding=encoding)


class NotJsonError(ValueError):
    """A text is not strict JSON; the message is one clause."""


def decode(text: str) -> object:
    """Decode strict JSON: no duplicate keys, no NaN or Infinity, nothing after the value.

    Raises:
        NotJsonError: for anything else, too deep nesting included.
    """
    try:
        return _DECODER.decode(text)
    except NotJsonError:
        raise
    except RecursionError:
        raise NotJsonError("it is nested too deeply") from None
    except ValueError as error:
        raise NotJsonError(f"it is not JSON: {error}") from None


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                raise NotJsonError(f"the key {printable(name, 60)} stands twice")
            seen.add(name)
    return value


def _constant(name: str) -> object:
    raise NotJsonError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_constant)


def detect_encoding(data: bytes) -> str:
    """Return the encoding that ``data`` says it is in, by its byte order mark or its zeros."""
    if data.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    if data.startswith((b"\xff\xfe\x00\x00", b"\x00\x00\xfe\xff")):
        return "utf-32"
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if data[1:2] == b"\0" and data[:1] != b"\0":
        return "utf-16-le"
    if data[:1] == b"\0" and data[1:2] != b"\0":
        return "utf-16-be"
    return "utf-8"


def canonical(value: object) -> str:
    """Return one spelling for equal JSON values, to compare them; "" when it is too deep."""
    try:
        return json.dumps(value, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    except (RecursionError, ValueError):
        return ""


def printable(text: str, limit: int) -> str:
    """Return ``text`` on one line, control characters escaped, at most ``limit`` characters."""
    cut = text[: limit + 1]
    shown = "".join(
        c if c.isprintable() else c.encode("unicode_escape", "surrogatepass").decode() for c in cut
    )
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"
