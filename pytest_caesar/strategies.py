"""Hypothesis strategies for the documents, to fuzz agents and orchestrators with.

What they make is valid by construction and reaches into the corners: text in every
script, control characters, numbers at their bounds, fields that the contract does not
know. Needs the extra ``hypothesis``.

```python
from hypothesis import given
from pytest_caesar import strategies


@given(strategies.tasks())
def test_the_agent_understands_every_task(task): ...
```
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any, get_args

try:
    from hypothesis import strategies as st
except ModuleNotFoundError as error:
    if error.name != "hypothesis":
        raise
    message = "pytest_caesar.strategies needs hypothesis: pip install 'pytest-caesar[hypothesis]'"
    raise ModuleNotFoundError(message, name="hypothesis") from error

from caesar_agent.documents.event import Event, EventType
from caesar_agent.documents.fields import MAX_INTEGER
from caesar_agent.documents.report import Action, Report, Severity, Status
from caesar_agent.documents.task import Task
from caesar_agent.documents.timestamps import format_timestamp

__all__ = ["events", "reports", "tasks"]

_ID = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9_-]{0,15}", fullmatch=True)
_COUNT = st.integers(0, MAX_INTEGER)
_POSITIVE = st.integers(1, MAX_INTEGER)
_TEXT = st.text(max_size=30)
_SOME_TEXT = st.text(min_size=1, max_size=30)
_NOT_BLANK = st.builds(
    "{}{}{}".format, _TEXT, st.characters(categories=["L", "N", "P", "S"]), _TEXT
)
_NAME = st.text(st.characters(categories=["L", "N"], include_characters="._- "), min_size=1)
_PATH = st.lists(_NAME.filter(lambda name: name not in {".", ".."}), min_size=1, max_size=3).map(
    "/".join
)
# Hypothesis takes bounds without a time zone and adds it itself.
_FIRST, _LAST = datetime(1970, 1, 1), datetime(9999, 12, 31)  # noqa: DTZ001
_TIMESTAMP = st.datetimes(_FIRST, _LAST, timezones=st.just(timezone.utc)).map(format_timestamp)
_NUMBER = st.floats(0, 1e9) | st.integers(0, 1000)


def _lists(items: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(items, max_size=3)


def _one_of(names: Any) -> st.SearchStrategy[Any]:
    return st.sampled_from(get_args(names))


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXT,
    lambda inner: _lists(inner) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=4,
)


@st.composite
def _objects(
    draw: st.DrawFn,
    required: dict[str, st.SearchStrategy[Any]],
    optional: dict[str, st.SearchStrategy[Any]],
    unknown: bool,  # noqa: FBT001 - composite strategies are called with it by name
) -> dict[str, Any]:
    """Draw an object; fields beyond the known ones where ``unknown`` allows them."""
    value = draw(st.fixed_dictionaries(required, optional=optional))
    if unknown and draw(st.integers(0, 3)) == 3:
        known = required.keys() | optional.keys()
        names = _SOME_TEXT.filter(lambda name: name not in known)
        value |= draw(st.dictionaries(names, _JSON, max_size=2))
    return value


def tasks(*, unknown_fields: bool = True) -> st.SearchStrategy[Task]:
    """Make valid tasks.

    Args:
        unknown_fields: some tasks also have fields that the contract does not know,
            which readers must live with.
    """
    return _task_values(unknown_fields).map(Task.from_value)


@st.composite
def _task_values(draw: st.DrawFn, unknown: bool) -> dict[str, Any]:  # noqa: FBT001 - as above
    task_id = draw(_ID)
    workspace = "/" + draw(_PATH)
    folder = f"{workspace}/.caesar/tasks/{task_id}"
    channel = _objects(
        {"transport": st.just("mcp-stdio"), "command": _SOME_TEXT},
        {"args": _lists(_TEXT), "server_name": _ID},
        unknown=unknown,
    )
    required: dict[str, st.SearchStrategy[Any]] = {
        "protocol": st.just(Task.version),
        "id": st.just(task_id),
        "created_at": _TIMESTAMP,
        "agent": _ID,
        "objective": _SOME_TEXT,
        "mode": st.sampled_from(["read-only", "write"]),
        "isolation": st.sampled_from(["inplace", "worktree"]),
        "workspace": st.just(workspace),
        "deadline_ms": _POSITIVE,
        "report_path": st.just(f"{folder}/report.json"),
        "events_path": st.just(f"{folder}/events.jsonl"),
    }
    optional: dict[str, st.SearchStrategy[Any]] = {
        "role": _TEXT,
        "context": _TEXT,
        "constraints": _lists(_TEXT),
        "acceptance_criteria": _lists(_TEXT),
        "network": st.booleans(),
        "base_ref": st.from_regex(r"[0-9a-f]{40}", fullmatch=True),
        "depth": st.integers(0, 3),
        "channel": st.none() | channel,
    }
    return draw(_objects(required, optional, unknown=unknown))


def reports(
    *, task_id: str | None = None, unknown_fields: bool = True
) -> st.SearchStrategy[Report]:
    """Make valid reports.

    Args:
        task_id: the task that they are about; None for any, also for none.
        unknown_fields: as for ``tasks``.
    """

    def part(
        required: dict[str, st.SearchStrategy[Any]], optional: dict[str, st.SearchStrategy[Any]]
    ) -> st.SearchStrategy[dict[str, Any]]:
        return _objects(required, optional, unknown=unknown_fields)

    usage = {"input_tokens": _COUNT, "output_tokens": _COUNT, "duration_ms": _COUNT}
    severities, actions = _one_of(Severity), _one_of(Action)
    required: dict[str, st.SearchStrategy[Any]] = {
        "protocol": st.just(Report.version),
        "status": _one_of(Status),
        "summary": _NOT_BLANK,
    }
    optional: dict[str, st.SearchStrategy[Any]] = {
        "task_id": st.just("") | _ID,
        "details": _TEXT,
        "changes": _lists(part({"path": _PATH, "action": actions}, {"summary": _TEXT})),
        "commands_run": _lists(
            part({"command": _TEXT}, {"exit_code": st.none() | st.integers(-1, 255), "note": _TEXT})
        ),
        "findings": _lists(
            part(
                {"severity": severities, "title": _TEXT},
                {"file": _PATH, "line": _POSITIVE, "detail": _TEXT},
            )
        ),
        "questions": _lists(part({"id": _ID, "question": _TEXT}, {"options": _lists(_TEXT)})),
        "next_steps": _lists(_TEXT),
        "artifacts": _lists(part({"path": _PATH}, {"description": _TEXT})),
        "usage": part({}, {**usage, "cost_usd": _NUMBER}),
    }
    if task_id is not None:
        required["task_id"] = st.just(task_id)
        del optional["task_id"]
    return part(required, optional).map(Report.from_value)


_EVENT_FIELDS: dict[str, tuple[dict[str, st.SearchStrategy[Any]], dict[str, Any]]] = {
    "started": ({"agent": _ID}, {"command": _TEXT}),
    "thinking": ({"text": _TEXT}, {}),
    "message": ({"text": _TEXT}, {}),
    "tool_use": (
        {"tool": _TEXT},
        {
            "input_summary": _TEXT,
            "status": st.sampled_from(["started", "succeeded", "failed"]),
            "id": _TEXT,
        },
    ),
    "file_changed": ({"path": _PATH, "action": _one_of(Action)}, {}),
    "progress": ({"message": _TEXT}, {"pct": st.floats(0, 100) | st.integers(0, 100)}),
    "question": ({"id": _ID, "question": _TEXT}, {"options": _lists(_TEXT)}),
    "answer": ({"id": _ID, "answer": _TEXT}, {}),
    "error": ({"message": _TEXT}, {"fatal": st.booleans()}),
    "finished": (
        {"status": _one_of(Status)},
        {"summary": _TEXT, "exit_code": st.none() | st.integers(-1, 255)},
    ),
}


def events(
    *,
    type: EventType | None = None,  # noqa: A002 - the name in the contract
    task_id: str | None = None,
    unknown_fields: bool = True,
) -> st.SearchStrategy[Event]:
    """Make valid events, each of its own: their numbers are in no order.

    Args:
        type: the type of all of them; None for any.
        task_id: the task that they belong to; None for any.
        unknown_fields: as for ``tasks``.
    """

    def of(kind: str) -> st.SearchStrategy[Event]:
        required, optional = _EVENT_FIELDS[kind]
        common: dict[str, st.SearchStrategy[Any]] = {
            "protocol": st.just(Event.version),
            "seq": _COUNT,
            "at": _TIMESTAMP,
            "task_id": _ID if task_id is None else st.just(task_id),
            "type": st.just(kind),
        }
        return _objects({**common, **required}, optional, unknown=unknown_fields).map(
            Event.from_value
        )

    return st.sampled_from(list(_EVENT_FIELDS) if type is None else [type]).flatmap(of)
