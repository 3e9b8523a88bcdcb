"""``caesar-agent validate``: say of files whether they are valid documents, and if not, why."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from caesar_agent import documents, va
from caesar_agent.console import printable
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.errors import DocumentError, FieldProblem
from caesar_agent.task_directory import MAX_DOCUMENT_BYTES, read_bounded

if TYPE_CHECKING:
    from caesar_agent.commands.dispatcher import Subparsers

VALID, INVALID, UNREADABLE = 0, 1, 2
"""Exit codes; of several files the highest counts."""

STDIN = "-"

SUFFIXES = (".json", ".jsonl")
"""How the names of documents in a folder end."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found in one document.

    Attributes:
        problems: what makes it invalid, at least the first few; empty when it is valid.
        remarks: what is odd and yet valid.
        count: how many problems there are, also of those that are not in ``problems``.
    """

    problems: tuple[Diagnostic | FieldProblem, ...] = ()
    remarks: tuple[Diagnostic, ...] = ()
    count: int = 0


def _document(package: ModuleType, name: str) -> Callable[[bytes], Verdict]:
    def validate(data: bytes) -> Verdict:
        # Its names are imported when they are first used, so only what is asked for is.
        flagged = getattr(package, name).parse_flagged(data)
        return Verdict(remarks=flagged.diagnostics)

    return validate


def _events(data: bytes) -> Verdict:
    from caesar_agent.events.reading import read_events  # noqa: PLC0415 - slow
    from caesar_agent.events.remarks import remarks  # noqa: PLC0415 - as above

    reading = read_events(data)
    found = reading.diagnostics
    odd = {"byte-order-mark", "unusual-encoding"}
    whole = not any(item.code == "events-cut" for item in found)
    return Verdict(
        problems=tuple(item for item in found if item.code not in odd),
        remarks=(
            *(item for item in found if item.code in odd),
            *remarks(reading.events, whole=whole),
        ),
    )


KINDS: dict[str, Callable[[bytes], Verdict]] = {
    "report": _document(documents, "Report"),
    "task": _document(documents, "Task"),
    "event": _document(documents, "Event"),
    "events": _events,
    "question": _document(documents, "QuestionFile"),
    "answer": _document(documents, "AnswerFile"),
    "va-task-unit": _document(va, "TaskUnit"),
    "va-evidence": _document(va, "Evidence"),
    "va-lifecycle": _document(va, "TaskExecution"),
    "va-message": _document(va, "ProtocolMessage"),
}
"""What validates each kind: bytes to a verdict, or ``DocumentError``.

Whoever adds a kind adds it here, and to ``recognise`` if it can be told from the bytes."""


_MAILBOX = {"answer": {"id", "answer"}, "question": {"id", "question"}}
_VA = {
    "va-task-unit": {"objective", "acceptanceCriteria"},
    "va-lifecycle": {"taskId", "currentState"},
    "va-evidence": {"taskId", "status"},
}


def recognise(path: str, data: bytes) -> str | None:
    """Tell the kind of a file from its name and its ``protocol``; None when neither says."""
    if path.endswith(".jsonl"):
        return "events"
    from caesar_agent.documents.decoding import decode  # noqa: PLC0415 - slow

    try:
        value = decode(data).value
    except DocumentError:
        value = None
    fields = value if isinstance(value, dict) else {}
    name = Path(path).name
    named = next((kind for kind in ("report", "task") if name == f"{kind}.json"), None)
    return _by_protocol(fields) or _by_fields(fields, _MAILBOX) or named or _by_fields(fields, _VA)


def _by_protocol(fields: dict[str, Any]) -> str | None:
    protocol = fields.get("protocol")
    if not isinstance(protocol, str):
        return None
    if protocol == "va-agent-protocol":
        return "va-message"
    for kind in ("report", "task", "event"):
        if protocol.strip().lower().startswith(f"caesar.{kind}"):
            return kind
    return None


def _by_fields(fields: dict[str, Any], marks: dict[str, set[str]]) -> str | None:
    """Tell a document without a protocol by fields that no other has."""
    if "protocol" in fields:
        return None
    return next((kind for kind, marking in marks.items() if fields.keys() >= marking), None)


def add_parser(subparsers: Subparsers) -> None:
    """Add ``validate`` to the command line."""
    parser = subparsers.add_parser(
        "validate",
        help="say whether files are valid documents",
        description="Say of each file whether it is a valid document, and if not, where and why.",
        epilog="A folder stands for every .json and .jsonl file in it, also further down. exit code: 0 all valid, 1 some invalid, 2 some unreadable or of unknown kind",
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="a document, or a folder; - for stdin"
    )
    parser.add_argument(
        "--as",
        dest="kind",
        choices=tuple(KINDS),
        help="what the files are; by default the file's own protocol and name say it",
    )
    parser.add_argument(
        "--strict", action="store_true", help="what is odd and yet valid makes a file invalid too"
    )
    parser.add_argument(
        "--json", action="store_true", help="one JSON object for each file, one a line"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Validate the files and print one line for each."""
    paths = [path for name in args.files for path in _files(name)]
    return max(_validate(path, args.kind, as_json=args.json, strict=args.strict) for path in paths)


def _files(name: str) -> list[str]:
    """Return the documents in a folder, also further down; a file, and an empty folder, itself."""
    if name == STDIN or not Path(name).is_dir() or Path(name).is_symlink():
        return [name]
    found = []
    for folder, folders, names in os.walk(name):
        folders[:] = sorted(one for one in folders if one != ".git")
        found += [str(Path(folder, one)) for one in sorted(names) if one.endswith(SUFFIXES)]
    return found or [name]


def _validate(path: str, kind: str | None, *, as_json: bool, strict: bool) -> int:
    data, problem = _read(path)
    if data is None:
        return _report(
            path, kind, UNREADABLE, Verdict((problem,) if problem else ()), as_json=as_json
        )
    kind = kind or recognise(path, data)
    if kind is None:
        unknown = FieldProblem(
            "unknown-kind", "", f"cannot tell what it is; say --as {'|'.join(KINDS)}"
        )
        problems = (*_broken(data), unknown)
        return _report(path, kind, UNREADABLE, Verdict(problems), as_json=as_json)
    lines = path.endswith(".jsonl") and kind.startswith("va-")
    verdict = _line_by_line(kind, data) if lines else _verdict(kind, data)
    if strict and verdict.remarks:
        verdict = Verdict((*verdict.problems, *verdict.remarks), count=verdict.count)
    code = INVALID if verdict.problems else VALID
    return _report(path, kind, code, verdict, as_json=as_json)


def _verdict(kind: str, data: bytes) -> Verdict:
    try:
        return KINDS[kind](data)
    except DocumentError as error:
        first = FieldProblem(error.code, error.where, error.problem)
        return Verdict(error.problems or (first,), count=error.count)


def _line_by_line(kind: str, data: bytes) -> Verdict:
    """Validate each line as a document of its own; a problem says which line it is in."""
    problems: list[Diagnostic | FieldProblem] = []
    remarks: list[Diagnostic] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            found = _verdict(kind, line)
            problems += [
                Diagnostic(code=one.code, message=_sentence(one), line=number)
                for one in found.problems
            ]
            remarks += [replace(one, line=number) for one in found.remarks]
    return Verdict(tuple(problems), tuple(remarks))


def _broken(data: bytes) -> tuple[FieldProblem, ...]:
    """Say why the kind cannot be told from the contents: they are no JSON at all."""
    from caesar_agent.documents.decoding import decode  # noqa: PLC0415 - slow

    try:
        decode(data)
    except DocumentError as error:
        return (FieldProblem(error.code, error.where, error.problem),)
    return ()


def _read(path: str) -> tuple[bytes | None, Diagnostic | None]:
    if path == STDIN:
        data = sys.stdin.buffer.read(MAX_DOCUMENT_BYTES + 1)
        if len(data) <= MAX_DOCUMENT_BYTES:
            return data, None
        message = f"stdin holds more than {MAX_DOCUMENT_BYTES} bytes"
        return None, Diagnostic(code="file-too-large", message=message)
    reading = read_bounded(Path(path), max_bytes=MAX_DOCUMENT_BYTES)
    if reading.data is None and reading.problem is None:
        return None, Diagnostic(code="file-unreadable", message="there is no such file", path=path)
    return reading.data, reading.problem


def _report(path: str, kind: str | None, code: int, verdict: Verdict, *, as_json: bool) -> int:
    if as_json:
        value: dict[str, Any] = {
            "file": path,
            "as": kind,
            "valid": code == VALID,
            "problem_count": max(len(verdict.problems), verdict.count),
            "problems": [_as_value(problem) for problem in verdict.problems],
            "remarks": [_as_value(remark) for remark in verdict.remarks],
        }
        sys.stdout.write(json.dumps(value) + "\n")
        return code
    state = {VALID: "valid", INVALID: "invalid", UNREADABLE: "not read"}[code]
    line = f"{printable(path)}: {state} {kind or ''}".rstrip()
    told = verdict.problems or verdict.remarks
    if told:
        line += f": {_sentence(told[0])} [{told[0].code}]"
    more = max(len(told), verdict.count) - 1
    if more > 0:
        line += f" (and {more} more)"
    sys.stdout.write(line + "\n")
    return code


def _sentence(problem: Diagnostic | FieldProblem) -> str:
    if isinstance(problem, FieldProblem):
        return str(problem)
    place = f"line {problem.line}: " if problem.line is not None else ""
    return printable(place + problem.message)


def _as_value(problem: Diagnostic | FieldProblem) -> dict[str, object]:
    if isinstance(problem, FieldProblem):
        return {"code": problem.code, "where": problem.where, "message": problem.problem}
    value: dict[str, object] = {"code": problem.code, "where": "", "message": problem.message}
    if problem.line is not None:
        value["line"] = problem.line
    return value
