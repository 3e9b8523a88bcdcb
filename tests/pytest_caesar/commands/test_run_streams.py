"""``pytest-caesar run`` where nobody can read what it prints, or somebody breaks it off."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pytest_caesar.workspace.repository import Repository

AGENT = """#!/bin/sh
printf '{"protocol":"caesar.event/v1","seq":7,"at":"2026-01-01T00:00:00Z","task_id":"%s",' \
    "$CAESAR_TASK_ID" >> "$CAESAR_EVENTS_PATH"
echo '"type":"progress","message":"on"}' >> "$CAESAR_EVENTS_PATH"
printf '{"protocol":"caesar.report/v1","status":"STATUS","summary":"done"}' > "$CAESAR_REPORT_PATH"
sleep 0.3
touch "$CAESAR_TASK_DIR/was-not-killed"
"""

full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux has this device")


def call(tmp_path: Path, line: str, *, status: str = "success") -> tuple[int, str]:
    """Run a shell line, in which ``$RUN`` is the command, and return its exit code and output."""
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n"})
    agent = tmp_path / "agent.sh"
    agent.write_text(AGENT.replace("STATUS", status))
    agent.chmod(0o755)
    command = Path(sys.executable).with_name("pytest-caesar")
    result = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=repository.path,
        env={"RUN": f"{command} run {agent} Work.", "PATH": "/usr/bin:/bin"},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    tasks = repository.path / ".caesar" / "tasks"
    [task] = [path for path in tasks.iterdir() if path.is_dir()]
    assert (task / "was-not-killed").exists()
    assert (task / "run.json").exists()
    return result.returncode, result.stdout + result.stderr


@pytest.mark.parametrize("json", ["", "--json"])
@pytest.mark.parametrize(("status", "code"), [("success", 0), ("failed", 1)])
def test_a_reader_that_goes_away_does_not_change_the_exit_code(
    tmp_path: Path, status: str, code: int, json: str
) -> None:
    line = f"{{ $RUN {json} 2>/dev/null; echo code $? >&2; }} | true"

    assert call(tmp_path, line, status=status)[1] == f"code {code}\n"


def test_a_reader_of_both_streams_that_goes_away_does_not_end_the_agent(tmp_path: Path) -> None:
    line = "{ $RUN 2>&1; echo code $? > code; } | head -n 1; cat code"

    assert call(tmp_path, line, status="failed")[1].endswith("code 1\n")


@pytest.mark.parametrize("closing", ["2>&-", "2>&- <&-", pytest.param("2>/dev/full", marks=full)])
def test_errors_that_cannot_be_told_do_not_end_the_agent(tmp_path: Path, closing: str) -> None:
    code, output = call(tmp_path, f"$RUN {closing}")

    assert code == 0
    assert "success (from file): done" in output


@full
def test_a_result_that_cannot_be_written_is_told_in_a_sentence(tmp_path: Path) -> None:
    code, output = call(tmp_path, "$RUN >/dev/full")

    assert code == 2
    assert output.endswith("pytest-caesar: the output cannot be written: No space left on device\n")
    assert "Traceback" not in output
