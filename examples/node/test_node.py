"""An agent that knows nothing of this project: pytest --caesar-agent=./agent.mjs"""

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

AGENT = Path(__file__).with_name("agent.mjs")

pytestmark = pytest.mark.skipif(
    shutil.which("node") is None,
    reason="Node is not installed: apt install nodejs, or brew install node",
)

FILES = {
    "a.py": "x = 1  # TODO: name it\n",
    "src/b.js": "// TODO drop IE\nlet todo = 1; // not TODO at the start\n/* TODO: café */\n",
    "README.md": "TODO is only a word here\n",
}
LISTED = """\
# To do

- name it (a.py:1)
- drop IE (src/b.js:1)
- café (src/b.js:3)
"""


@pytest.fixture
def repo(caesar_repo):
    caesar_repo.commit(FILES)
    return caesar_repo


@pytest.mark.usefixtures("repo")
def test_it_lists_what_there_is_and_declares_it(caesar_orchestrator, caesar_snapshot):
    run = caesar_orchestrator.delegate("List the TODO comments")

    assert run.succeeded
    assert run.summary == "Listed 3 comments in TODO.md."
    assert (run.workspace / "TODO.md").read_text(encoding="utf-8") == LISTED
    assert [entry.path for entry in run.reconciliation.matched] == ["TODO.md"]
    assert run.diagnostics == ()
    assert run.report == caesar_snapshot


def test_what_is_as_it_was_is_not_declared_as_a_change(repo, caesar_orchestrator):
    repo.commit({"TODO.md": LISTED})

    run = caesar_orchestrator.delegate("List the TODO comments")

    assert run.summary == "TODO.md is up to date."
    assert run.changes == ()
    assert run.diagnostics == ()


def test_what_was_there_before_is_modified(repo, caesar_orchestrator):
    repo.commit({"TODO.md": "old\n"})

    run = caesar_orchestrator.delegate("List the TODO comments")

    assert [(change.path, change.action) for change in run.declared.changes] == [
        ("TODO.md", "modified")
    ]
    assert run.diagnostics == ()


@pytest.mark.usefixtures("repo")
def test_read_only_gives_findings_and_no_file(caesar_orchestrator):
    run = caesar_orchestrator.delegate("List the TODO comments", mode="read-only")

    assert run.succeeded
    assert run.changes == ()
    assert [(finding.file, finding.line) for finding in run.declared.findings] == [
        ("a.py", 1),
        ("src/b.js", 1),
        ("src/b.js", 3),
    ]


@pytest.mark.usefixtures("repo")
def test_it_can_be_watched(caesar_orchestrator):
    run = caesar_orchestrator.delegate("List the TODO comments")

    types = [event.type for event in run.events]
    assert types[:4] == ["started", "progress", "file_changed", "finished"]
    assert run.diagnostics == ()


def test_a_repository_without_any_is_no_trouble(caesar_repo, caesar_orchestrator):
    caesar_repo.commit({"empty.txt": ""})

    run = caesar_orchestrator.delegate("List the TODO comments")

    assert run.succeeded
    assert (run.workspace / "TODO.md").read_text() == "# To do\n\nNothing.\n"


def by_hand(tmp_path, path=os.environ["PATH"], **fields):
    """Start it as any orchestrator would, with the two variables that it needs."""
    task = {
        "protocol": "caesar.task/v1",
        "id": "t_1",
        "mode": "write",
        "workspace": str(tmp_path),
        **fields,
    }
    (tmp_path / "task.json").write_text(json.dumps(task))
    return subprocess.Popen(
        ["node", AGENT],
        cwd=tmp_path,
        env={
            "PATH": path,
            "CAESAR_TASK_FILE": str(tmp_path / "task.json"),
            "CAESAR_REPORT_PATH": str(tmp_path / "report.json"),
            "CAESAR_EVENTS_PATH": str(tmp_path / "events.jsonl"),
        },
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_task_of_another_version_is_refused(tmp_path):
    process = by_hand(tmp_path, protocol="caesar.task/v2")

    _, words = process.communicate(timeout=30)
    assert process.returncode == 2
    assert "caesar.task/v2" in words
    assert not (tmp_path / "report.json").exists()


def test_what_goes_wrong_becomes_a_failed_report(tmp_path):
    process = by_hand(tmp_path)  # a folder that is no repository

    process.communicate(timeout=30)
    assert process.returncode == 1
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["status"] == "failed"
    assert "git" in report["summary"]


def test_it_ends_properly_when_it_is_told_to(tmp_path):
    # A git that takes long, so that the signal finds the agent at work.
    (tmp_path / "bin").mkdir()
    slow = tmp_path / "bin" / "git"
    slow.write_text(f"#!/bin/sh\ntouch '{tmp_path}/started'\nexec sleep 60\n")
    slow.chmod(0o755)
    process = by_hand(tmp_path, path=f"{slow.parent}:{os.environ['PATH']}")
    deadline = time.monotonic() + 30
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.01)

    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)

    assert process.returncode == 1
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["summary"] == "Stopped by SIGTERM before the work was done."
