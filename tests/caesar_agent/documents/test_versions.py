from __future__ import annotations

from typing import Any

import pytest

from caesar_agent.documents import Event, Report, Task
from caesar_agent.errors import UnsupportedVersionError
from tests.caesar_agent.documents.examples import event, report, task

SUPPORTED = 'supported is "caesar.report/v1"'


@pytest.mark.parametrize(
    ("found", "code", "problem"),
    [
        ("caesar.report/v2", "unsupported-version", 'a newer version of this document: found "caesar.report/v2"'),
        ("caesar.report/v10", "unsupported-version", 'a newer version of this document: found "caesar.report/v10"'),
        ("caesar.report/v0", "unsupported-version", 'an unknown version of this document: found "caesar.report/v0"'),
        ("caesar.report/v1.1", "unsupported-version", 'not a version that exists: found "caesar.report/v1.1"'),
        ("caesar.report/v1-beta", "unsupported-version", 'not a version that exists: found "caesar.report/v1-beta"'),
        ("caesar.report/V1", "unsupported-version", 'not a version that exists: found "caesar.report/V1"'),
        (" caesar.report/v1", "unsupported-version", 'not a version that exists: found " caesar.report/v1"'),
        ("caesar.report/v1\n", "unsupported-version", r'not a version that exists: found "caesar.report/v1\n"'),
        ("caesar.report", "unsupported-version", 'not a version that exists: found "caesar.report"'),
        ("caesar.task/v1", "other-document", 'a caesar task, not a report: found "caesar.task/v1"'),
        ("mcp/v1", "not-a-caesar-document", 'not a caesar document: found "mcp/v1"'),
        ("", "not-a-caesar-document", 'not a caesar document: found ""'),
        (None, "not-a-caesar-document", "not a caesar document: found null"),
        (1, "not-a-caesar-document", "not a caesar document: found the number 1"),
        (["caesar.report/v1"], "not-a-caesar-document", "not a caesar document: found an array"),
    ],
)  # fmt: skip
def test_any_other_version_is_refused_by_name(found: Any, code: str, problem: str) -> None:
    with pytest.raises(UnsupportedVersionError) as caught:
        Report.from_value(report(protocol=found))
    error = caught.value

    assert str(error) == f"invalid report at protocol: {problem}, {SUPPORTED}"
    assert (error.code, error.found, error.expected) == (code, found, "caesar.report/v1")


def test_a_missing_version_is_not_guessed_at() -> None:
    value = report()
    del value["protocol"]

    with pytest.raises(UnsupportedVersionError) as caught:
        Report.from_value(value)
    assert str(caught.value) == (
        f"invalid report at protocol: not a caesar document: no protocol field; {SUPPORTED}"
    )


def test_a_version_within_another_object_is_not_the_documents() -> None:
    with pytest.raises(UnsupportedVersionError):
        Report.from_value({"__proto__": report()})


@pytest.mark.parametrize("document", [Task, Event])
def test_tasks_and_events_are_refused_alike(document: type[Task | Event]) -> None:
    for value in (task(protocol="caesar.task/v2"), event(protocol="caesar.event/v2")):
        with pytest.raises(UnsupportedVersionError):
            document.from_value(value)
