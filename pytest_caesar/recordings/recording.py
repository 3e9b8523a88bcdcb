"""What is kept of one delegation, and the facts about its task that must match; pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, get_args

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.task import Task
from caesar_agent.mailbox.values import State, is_valid_id
from pytest_caesar.recovery.tool_call import from_text
from pytest_caesar.runs.command_reconciliation import ObservedCommand
from pytest_caesar.runs.permission import Permission, PermissionRequest
from pytest_caesar.supervision.outcome import LeakedProcess, Outcome
from pytest_caesar.workspace.change_times import ChangeTime

FORMAT = 1
"""Version of ``recording.json``."""

PATCH = "changes.patch"

FILES: Final = (
    PATCH,
    "report.json",
    "submission.json",
    "final-message.txt",
    "events.jsonl",
    "raw.log",
    "stderr.log",
)
"""What a recording may hold beside ``recording.json``, each as it was written."""

_VARYING: Final = frozenset(
    {
        *("protocol", "id", "created_at", "deadline_ms", "workspace", "base_ref"),
        *("report_path", "events_path", "channel"),
    }
)
"""Fields of a task that differ from run to run, or that say the same in other words."""

_STATUSES: Final = ("succeeded", "failed", "timed_out", "cancelled")
_FOUND_BY: Final = ("group", "descendant", "environment")


class FormatError(ValueError):
    """``recording.json`` is not what was written there; the text says what is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedQuestion:
    """A question over the return channel, and what became of it.

    Attributes:
        id: as it was given; safe as a file name.
        question, options, asked_at: as they were asked.
        state: what became of it.
        answer: where the state is ``answered``.
    """

    id: str
    question: str
    options: tuple[str, ...] = ()
    asked_at: str = ""
    state: State = "withdrawn"
    answer: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """One delegation as it is kept; every text with placeholders.

    Attributes:
        task: what must be the same when it is played back.
        outcome: how it ended.
        questions: in the order in which they were asked.
        findings: what the harness found, whatever the report says.
        programs: the calls of watched programs, as ``programs_value`` gives them.
        written: when the changed paths changed last; None where nobody could tell.
        permissions: what was asked leave for over ACP, with the answers.
        files: bytes by name, one of ``FILES``.
    """

    task: Mapping[str, Any]
    outcome: Mapping[str, Any]
    questions: tuple[RecordedQuestion, ...] = ()
    findings: tuple[Diagnostic, ...] = ()
    programs: tuple[ObservedCommand, ...] = ()
    written: tuple[ChangeTime, ...] | None = None
    permissions: tuple[Permission, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)


def task_facts(task: Task, *, base_tree: str | None, model: str | None) -> dict[str, Any]:
    """Return what makes two tasks the same for an agent: no ids, no times, no paths."""
    value = {name: item for name, item in task.dump().items() if name not in _VARYING}
    return {**value, "channel": task.channel is not None, "model": model, "base_tree": base_tree}


def differences(
    recorded: Mapping[str, Any], now: Mapping[str, Any]
) -> tuple[tuple[str, Any, Any], ...]:
    """Return the fields that differ, in the order of the task, with both values."""
    names = dict.fromkeys((*now, *recorded))
    return tuple(
        (name, recorded.get(name), now.get(name))
        for name in names
        if recorded.get(name) != now.get(name)
    )


def outcome_value(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as JSON, without what is at its default."""
    value = asdict(outcome)
    value["diagnostics"] = [item.as_dict() for item in outcome.diagnostics]
    value["leaked"] = [asdict(item) for item in outcome.leaked]
    return {
        name: item for name, item in value.items() if item not in (None, []) and item is not False
    }


def parse_outcome(value: object) -> Outcome:
    """Return the outcome that a JSON value tells.

    Raises:
        FormatError: a field is missing or wrong.
    """
    fields = _Fields("outcome", value)
    leaked = tuple(
        LeakedProcess(
            pid=item.get("pid", int),
            name=item.get("name", str),
            found_by=item.one_of("found_by", _FOUND_BY),
        )
        for item in fields.objects("leaked")
    )
    return Outcome(
        status=fields.one_of("status", _STATUSES),
        exit_code=fields.optional("exit_code", int),
        signal=fields.optional("signal", str),
        timed_out=fields.optional("timed_out", bool) or False,
        killed_after_report=fields.optional("killed_after_report", bool) or False,
        duration_ms=fields.optional("duration_ms", int) or 0,
        leaked=leaked,
        diagnostics=_diagnostics(fields, "diagnostics"),
    )


def head_text(recording: Recording) -> bytes:
    """Return ``recording.json``."""
    value = {
        "format": FORMAT,
        "task": recording.task,
        "outcome": recording.outcome,
        "questions": [asdict(item) for item in recording.questions],
        "findings": [item.as_dict() for item in recording.findings],
        **activity_value(recording.programs, recording.written),
        **_permissions_value(recording.permissions),
    }
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace")


def parse_head(data: bytes, files: Mapping[str, bytes]) -> Recording:
    """Read ``recording.json``.

    Raises:
        FormatError: it is not JSON, of another format, or a field is wrong.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        problem = f"it is not JSON: {error}"
        raise FormatError(problem) from error
    fields = _Fields("", value)
    if fields.get("format", int) != FORMAT:
        problem = f"it is of format {value['format']}, and this version reads format {FORMAT}"
        raise FormatError(problem)
    questions = []
    for item in fields.objects("questions"):
        question = RecordedQuestion(
            id=item.get("id", str),
            question=item.get("question", str),
            options=tuple(item.texts("options")),
            asked_at=item.optional("asked_at", str) or "",
            state=item.one_of("state", get_args(State)),
            answer=item.optional("answer", str),
        )
        if not is_valid_id(question.id):
            raise FormatError(f"questions: {question.id!r:.80} cannot be the id of a question")
        if not question.question or (question.state == "answered") != bool(question.answer):
            raise FormatError(f"questions: {question.id} lacks its text or its answer")
        questions.append(question)
    recording = Recording(
        task=fields.get("task", dict),
        outcome=fields.get("outcome", dict),
        questions=tuple(questions),
        findings=_diagnostics(fields, "findings"),
        programs=_programs(fields),
        written=_written(fields),
        permissions=_permissions(fields),
        files=files,
    )
    parse_outcome(recording.outcome)  # a wrong one is told before anything is done with it
    return recording


def activity_value(
    programs: Iterable[ObservedCommand], written: Iterable[ChangeTime] | None
) -> dict[str, Any]:
    """Return what was seen of the work as JSON, without what nobody saw."""
    calls = [
        {
            "command": call.command,
            "exit_code": call.exit_code,
            "started_at": None if call.started_at is None else call.started_at.isoformat(),
            "duration": call.duration,
        }
        for call in programs
    ]
    times = None if written is None else [list(time) for time in written]
    return {
        **({"programs": calls} if calls else {}),
        **({} if times is None else {"written": times}),
    }


def _programs(fields: _Fields) -> tuple[ObservedCommand, ...]:
    return tuple(
        ObservedCommand(
            command=item.get("command", str),
            exit_code=item.optional("exit_code", int),
            witnesses=("program",),
            started_at=from_text(item.optional("started_at", str)),
            duration=item.optional("duration", float),
        )
        for item in fields.objects("programs")
    )


def _permissions_value(permissions: Iterable[Permission]) -> dict[str, Any]:
    values = [
        {
            "kind": one.request.kind,
            "texts": list(one.request.texts),
            "allowed": one.allowed,
            **({"reason": one.reason} if one.reason else {}),
        }
        for one in permissions
    ]
    return {"permissions": values} if values else {}


def _permissions(fields: _Fields) -> tuple[Permission, ...]:
    return tuple(
        Permission(
            request=PermissionRequest(kind=item.get("kind", str), texts=tuple(item.texts("texts"))),
            allowed=item.get("allowed", bool),
            reason=item.optional("reason", str) or "",
        )
        for item in fields.objects("permissions")
    )


def _written(fields: _Fields) -> tuple[ChangeTime, ...] | None:
    listed = fields.optional("written", list)
    times = []
    for item in listed or ():
        if not isinstance(item, list) or len(item) != 3 or not isinstance(item[0], str):
            problem = "written holds something that is no path with its time"
            raise FormatError(problem)
        path, at, exact = item
        times.append(ChangeTime(path, at if isinstance(at, int) else None, exact is True))
    return None if listed is None else tuple(times)


class _Fields:
    """Takes fields out of an object that somebody may have edited."""

    def __init__(self, where: str, value: object) -> None:
        self._where = where
        if not isinstance(value, dict):
            raise FormatError(f"{where or 'it'} is {type(value).__name__}, expected an object")
        self._value = value

    def get(self, name: str, kind: type) -> Any:
        if name not in self._value:
            raise FormatError(f"{self._path(name)} is missing")
        return self._checked(name, kind)

    def optional(self, name: str, kind: type) -> Any:
        return None if self._value.get(name) is None else self._checked(name, kind)

    def one_of(self, name: str, allowed: tuple[str, ...]) -> Any:
        value = self.get(name, str)
        if value not in allowed:
            expected = ", ".join(allowed)
            raise FormatError(f"{self._path(name)} is {value!r:.80}, expected one of {expected}")
        return value

    def texts(self, name: str) -> list[str]:
        value = self.optional(name, list) or []
        if not all(isinstance(item, str) for item in value):
            raise FormatError(f"{self._path(name)} holds something that is no text")
        return list(value)

    def objects(self, name: str) -> list[_Fields]:
        return [_Fields(self._path(name), item) for item in self.optional(name, list) or []]

    def _checked(self, name: str, kind: type) -> Any:
        value = self._value[name]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            found, expected = type(value).__name__, kind.__name__
            raise FormatError(f"{self._path(name)} is {found}, expected {expected}")
        return value

    def _path(self, name: str) -> str:
        return f"{self._where}.{name}" if self._where else name


def _diagnostics(fields: _Fields, name: str) -> tuple[Diagnostic, ...]:
    return tuple(
        Diagnostic(
            code=item.get("code", str),
            message=item.get("message", str),
            path=item.optional("path", str),
            line=item.optional("line", int),
        )
        for item in fields.objects(name)
    )


Mapper = Callable[[Any], Any]


def mapped(
    recording: Recording, change: Mapper, change_bytes: Callable[[str, bytes], bytes]
) -> Recording:
    """Return a recording with every text changed: by ``change``, in files by ``change_bytes``."""
    return Recording(
        task=change(recording.task),
        outcome=change(recording.outcome),
        questions=tuple(
            RecordedQuestion(
                id=item.id,
                question=change(item.question),
                options=tuple(change(item.options)),
                asked_at=item.asked_at,
                state=item.state,
                answer=change(item.answer),
            )
            for item in recording.questions
        ),
        findings=tuple(
            replace(item, message=change(item.message), path=change(item.path))
            for item in recording.findings
        ),
        programs=tuple(replace(call, command=change(call.command)) for call in recording.programs),
        written=recording.written,
        permissions=tuple(
            Permission(
                request=replace(one.request, texts=tuple(change(list(one.request.texts)))),
                allowed=one.allowed,
                reason=change(one.reason),
            )
            for one in recording.permissions
        ),
        files={name: change_bytes(name, data) for name, data in recording.files.items()},
    )
