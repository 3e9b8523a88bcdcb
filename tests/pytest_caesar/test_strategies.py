from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings

from caesar_agent.documents import Event, EventType, Report, Task
from pytest_caesar import strategies

EXAMPLES = settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])


@EXAMPLES
@given(strategies.tasks())
def test_tasks_are_tasks_with_files_below_their_workspace(task: Task) -> None:
    assert Task.parse(task.to_json()) == task
    assert task.report_path == f"{task.workspace}/.caesar/tasks/{task.id}/report.json"


@EXAMPLES
@given(strategies.reports(task_id="t_1"))
def test_reports_are_about_the_task_that_is_asked_for(report: Report) -> None:
    assert Report.parse(report.to_json()) == report
    assert report.task_id == "t_1"


@EXAMPLES
@given(strategies.events(type="tool_use", task_id="t_1"))
def test_events_are_of_the_type_and_task_that_are_asked_for(event: Event) -> None:
    assert Event.parse(event.to_line()) == event
    assert (event.type, event.task_id) == ("tool_use", "t_1")


@EXAMPLES
@given(strategies.reports(unknown_fields=False), strategies.tasks(unknown_fields=False))
def test_fields_that_are_not_known_can_be_left_out(report: Report, task: Task) -> None:
    parts = [report, *report.changes, *report.findings, task, *filter(None, [task.channel])]
    assert not any(part.model_extra for part in parts)


# Finding is enough; shrinking what was found takes seconds.
FINDING = settings(deadline=None, max_examples=1000, phases=[Phase.generate], database=None)


def test_the_corners_are_reached() -> None:
    find(strategies.reports(), lambda report: bool(report.model_extra), settings=FINDING)
    find(strategies.reports(), lambda report: report.usage is not None, settings=FINDING)
    find(strategies.tasks(), lambda task: not task.objective.isascii(), settings=FINDING)
    find(strategies.tasks(), lambda task: not task.context.isprintable(), settings=FINDING)


@pytest.mark.parametrize("kind", ["started", "finished"])
def test_every_type_is_made(kind: EventType) -> None:
    made = find(strategies.events(), lambda event: event.type == kind, settings=FINDING)
    assert made.type == kind


def test_without_hypothesis_the_error_says_how_to_get_it() -> None:
    code = "import sys; sys.modules['hypothesis'] = None\nimport pytest_caesar.strategies"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: pytest_caesar.strategies needs hypothesis: "
        "pip install 'pytest-caesar[hypothesis]'"
    )


def test_hypothesis_is_imported_by_this_module_alone() -> None:
    code = "import sys, caesar_agent.documents, pytest_caesar\nprint('hypothesis' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )

    assert done.stdout == "False\n"
