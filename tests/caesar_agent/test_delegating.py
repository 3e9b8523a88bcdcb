"""``agent.delegate``: a part of the task is handed on, over files."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from caesar_agent import Agent, Delegated, MisuseError, Report
from caesar_agent.clock import pause
from caesar_agent.delegating import DelegationRequest
from caesar_agent.documents.base import Document
from caesar_agent.documents.delegation import DelegatedFile, DelegationFile
from caesar_agent.processes.interruption import Interrupted
from tests.caesar_agent.sdk import Desk, make_desk

REPORT = {
    "protocol": "caesar.report/v1",
    "status": "success",
    "summary": "Read it.",
    "changes": [{"path": "a.txt", "action": "modified", "summary": "a guard"}],
}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = make_desk(tmp_path)
    (desk.directory / "delegations").mkdir()
    return desk


@contextmanager
def answering(desk: Desk, answer: Callable[[dict[str, Any]], bytes | None]) -> Iterator[list[Any]]:
    """Answer the requests of an agent from a thread, as an orchestrator would."""
    asked: list[Any] = []
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            for path in (desk.directory / "delegations").glob("*.json"):
                request = json.loads(path.read_text())
                if request not in asked:
                    asked.append(request)
                    data = answer(request)
                    if data is not None:
                        (desk.directory / "delegated").mkdir(exist_ok=True)
                        temporary = desk.directory / "delegated" / "new.tmp"
                        temporary.write_bytes(data)
                        temporary.rename(desk.directory / "delegated" / path.name)
            time.sleep(0.002)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield asked
    finally:
        stop.set()
        thread.join(10)


def done(request: dict[str, Any], **fields: object) -> bytes:
    value = {
        "id": request["id"],
        "state": "done",
        "task_id": "t_0002",
        "report": REPORT,
        "source": "file",
        "process": "succeeded",
        "verified": True,
        **fields,
    }
    return json.dumps(value).encode()


def delegate(desk: Desk, *args: Any, **wishes: Any) -> Delegated:
    results: list[Delegated] = []

    def main(agent: Agent) -> Report:
        results.append(agent.delegate(*args, **wishes))
        return agent.success("Done.")

    assert desk.run(main) == 0, desk.stderr
    return results[0]


def test_the_request_says_all_that_was_asked(desk: Desk) -> None:
    with answering(desk, done) as asked:
        delegate(
            desk,
            "reviewer",
            "Read the parser",
            context="It is old.",
            constraints=["Touch nothing"],
            acceptance_criteria=["Findings are named"],
            mode="read-only",
            timeout=1.5,
        )
    [request] = asked
    assert len(request.pop("id")) == 36
    assert request.pop("asked_at").endswith("Z")
    assert request == {
        "agent": "reviewer",
        "objective": "Read the parser",
        "context": "It is old.",
        "constraints": ["Touch nothing"],
        "acceptance_criteria": ["Findings are named"],
        "mode": "read-only",
        "timeout_ms": 1500,
    }


@pytest.mark.parametrize("timeout", [float("inf"), 1e306, 2**63, pytest.param(10**400, id="huge")])
def test_a_timeout_beyond_what_can_be_written_is_all_the_time_that_is_left(
    desk: Desk, timeout: float
) -> None:
    with answering(desk, done) as asked:
        assert delegate(desk, "reviewer", "Read the parser", timeout=timeout).ok
    assert "timeout_ms" not in asked[0]


def test_the_report_of_the_other_agent_comes_back(desk: Desk) -> None:
    with answering(desk, done):
        result = delegate(desk, "reviewer", "Read the parser")
    assert result.ok
    assert (result.agent, result.task_id, result.refusal) == ("reviewer", "t_0002", "")
    assert (result.source, result.process, result.verified) == ("file", "succeeded", True)
    assert result.summary == "Read it."


def test_what_the_other_agent_changed_is_declared(desk: Desk) -> None:
    with answering(desk, done):
        delegate(desk, "reviewer", "Read the parser")
    assert desk.report["changes"] == REPORT["changes"]


def test_a_nameless_change_of_the_other_agent_is_passed_over(desk: Desk) -> None:
    report = {**REPORT, "changes": [{"path": " ", "action": "created"}]}
    with answering(desk, lambda request: done(request, report=report, verified=False)):
        assert delegate(desk, "reviewer", "Read the parser").ok
    assert desk.report["changes"] == []


def test_events_tell_of_it(desk: Desk) -> None:
    with answering(desk, done):
        delegate(desk, "reviewer", "Read the parser")
    told = [event for event in desk.events if event["type"] == "tool_use"]
    assert [(event["tool"], event["id"], event["status"]) for event in told] == [
        ("delegate", "delegate_1", "started"),
        ("delegate", "delegate_1", "succeeded"),
    ]
    assert told[0]["input_summary"] == "reviewer: Read the parser"


@pytest.mark.parametrize(
    ("process", "status"), [("timed_out", "success"), ("succeeded", "partial")]
)
def test_it_is_well_only_when_process_and_report_say_so(
    desk: Desk, process: str, status: str
) -> None:
    report = {**REPORT, "status": status}
    with answering(desk, lambda request: done(request, process=process, report=report)):
        assert not delegate(desk, "reviewer", "Read the parser").ok


def test_a_refusal_is_a_value_with_its_reason(desk: Desk) -> None:
    text = "Cannot spawn 'x'. Allowed: none"
    answer = {"state": "refused", "reason": text, "report": None}
    with answering(desk, lambda request: done(request, **answer)):
        result = delegate(desk, "x", "Read the parser")
    assert (result.ok, result.refusal, result.summary, result.report) == (False, text, text, None)


def test_without_anybody_who_answers_it_is_refused_at_once(tmp_path: Path) -> None:
    result = delegate(make_desk(tmp_path), "reviewer", "Read the parser")
    assert result.refusal == "This orchestrator takes no delegations; do the work yourself."


def test_it_waits_no_longer_than_the_deadline_and_withdraws(tmp_path: Path) -> None:
    desk = make_desk(tmp_path, deadline_ms=50)
    (desk.directory / "delegations").mkdir()
    result = delegate(desk, "reviewer", "Read the parser")
    assert result.refusal == "Nothing came back before the deadline; it was withdrawn."
    [request] = (desk.directory / "delegations").iterdir()
    note = json.loads((desk.directory / "delegated" / request.name).read_text())
    assert note["state"] == "withdrawn"


def test_an_agent_that_is_stopped_withdraws(desk: Desk) -> None:
    def main(agent: Agent) -> Report:
        threading.Thread(target=stop_when_asked, daemon=True).start()
        try:
            agent.delegate("reviewer", "Read the parser")
        except Interrupted:
            return agent.failed("Stopped.")
        return agent.success("Never.")

    def stop_when_asked() -> None:
        while not list((desk.directory / "delegations").glob("*.json")):
            pause(0.01)
        os.kill(os.getpid(), 15)

    assert desk.run(main, install_signals=True) == 1
    [note] = (desk.directory / "delegated").iterdir()
    assert json.loads(note.read_text())["state"] == "withdrawn"


def test_an_answer_that_was_first_is_waited_for_until_it_is_complete(desk: Desk) -> None:
    request = DelegationRequest(desk.directory, "reviewer")
    assert request.ask(request.encode("Read the parser")) is None
    (desk.directory / "delegated").mkdir()
    answer = desk.directory / "delegated" / f"{request.id}.json"
    whole = done({"id": request.id})
    answer.write_bytes(whole[:20])
    timer = threading.Timer(0.05, lambda: answer.write_bytes(whole))
    timer.start()
    try:
        assert request.wait(0.01).ok
    finally:
        timer.join(10)


def test_what_was_withdrawn_comes_to_nothing(desk: Desk) -> None:
    request = DelegationRequest(desk.directory, "reviewer")
    assert request.ask(request.encode("Read the parser")) is None
    assert request.withdraw()
    assert request.wait(10).refusal == "It was withdrawn."
    assert not request.withdraw()


def test_a_task_directory_that_is_gone_is_a_refusal(desk: Desk) -> None:
    request = DelegationRequest(desk.directory / "gone", "reviewer")
    assert request.withdraw()
    result = request.wait(0)
    assert result.refusal == "Nothing came back before the deadline; it was withdrawn."


@pytest.mark.parametrize("fake", ["link", "fifo", "folder"], ids=["a link", "a pipe", "a folder"])
def test_an_answer_that_is_no_file_is_a_refusal(desk: Desk, tmp_path: Path, fake: str) -> None:
    def answer(request: dict[str, Any]) -> None:
        folder = desk.directory / "delegated"
        folder.mkdir()
        path = folder / f"{request['id']}.json"
        if fake == "link":
            (tmp_path / "secret").write_bytes(done(request))
            path.symlink_to(tmp_path / "secret")
        elif fake == "fifo":
            os.mkfifo(path)
        else:
            path.mkdir()

    with answering(desk, answer):
        result = delegate(desk, "reviewer", "Read the parser")
    assert result.refusal.startswith("The answer cannot be read: ")


def test_a_folder_of_requests_that_is_a_link_is_not_entered(desk: Desk, tmp_path: Path) -> None:
    (desk.directory / "delegations").rmdir()
    (desk.directory / "delegations").symlink_to(tmp_path)
    result = delegate(desk, "reviewer", "Read the parser")
    assert result.refusal.startswith("The request cannot be written: ")
    assert not list(tmp_path.glob("*.json"))


@pytest.mark.parametrize(
    ("name", "wishes", "problem"),
    [
        ("", {}, "the name is empty"),
        ("x", {"mode": "rw"}, "mode is 'rw', expected read-only or write"),
        ("x", {"timeout": 0}, "timeout is 0 s, expected > 0"),
        ("x", {"timeout": float("nan")}, "timeout is nan s, expected > 0"),
        ("x", {"constraints": "one"}, "constraints must be a list of strings, not 'one'"),
        ("x", {"context": None}, "context must be a string, not NoneType"),
        ("x", {"context": "y" * 2**20}, "it takes "),
    ],
)
def test_a_misuse_is_said_at_once(
    desk: Desk, name: str, wishes: dict[str, Any], problem: str
) -> None:
    caught: list[MisuseError] = []

    def main(agent: Agent) -> Report:
        with pytest.raises(MisuseError) as raised:
            agent.delegate(name, "Read the parser", **wishes)
        caught.append(raised.value)
        return agent.success("Done.")

    desk.run(main)
    assert str(caught[0]).startswith(f"agent.delegate(): {problem}")
    assert not list((desk.directory / "delegations").iterdir())


@pytest.mark.parametrize(
    ("title", "document"),
    [("delegations/<id>.json", DelegationFile), ("delegated/<id>.json", DelegatedFile)],
)
def test_the_page_names_every_field_of_the_files(title: str, document: type[Document]) -> None:
    page = (Path(__file__).parents[2] / "docs" / "sdk.md").read_text("utf-8")
    table = page.partition(f"| `{title}` | |\n")[2].partition("\n\n")[0]
    assert set(document.model_fields) <= set(re.findall(r"`(\w+)`", table))
