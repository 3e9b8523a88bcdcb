"""What ``pytest-caesar init`` writes: a small agent of each language, and its tests."""

from __future__ import annotations

from typing import Final

LANGUAGES: Final = ("python", "bash", "node")
"""Languages that there is a first agent for."""

AGENTS: Final = {
    "python": ("agent.py", "agent:main"),
    "bash": ("agent.sh", "./agent.sh"),
    "node": ("agent.mjs", "./agent.mjs"),
}
"""File of the agent and how it is selected, by language."""

PYTHON_AGENT: Final = '''\
"""An agent: it writes what it was asked into NOTES.md, and says so in its report."""

import caesar_agent


def main(agent: caesar_agent.Agent) -> caesar_agent.Report:
    agent.progress("reading the task", pct=10)
    if agent.task.mode == "read-only":
        return agent.success("Read the task.")
    notes = agent.workspace / "NOTES.md"
    action = "modified" if notes.exists() else "created"
    notes.write_text(f"- {agent.task.objective}\\n", encoding="utf-8")
    agent.file_changed("NOTES.md", action)
    return agent.success("Wrote NOTES.md.")


if __name__ == "__main__":
    caesar_agent.run(main)
'''

BASH_AGENT: Final = r"""#!/usr/bin/env bash
# An agent: it writes NOTES.md, and says so in its report.
set -euo pipefail

# Written beside and renamed, so that nobody reads half a report.
report() {
  printf '{"protocol": "caesar.report/v1", "status": "success", "summary": "%s", "changes": [%s]}\n' \
    "$1" "${2:-}" >"$CAESAR_REPORT_PATH.new"
  mv -f "$CAESAR_REPORT_PATH.new" "$CAESAR_REPORT_PATH"
}

if grep -Eq '"mode"[[:space:]]*:[[:space:]]*"read-only"' "$CAESAR_TASK_FILE"; then
  report "Read the task."
  exit
fi

action=created
if [ -e NOTES.md ]; then action=modified; fi
echo "- the task was done" >>NOTES.md
report "Wrote NOTES.md." "{\"path\": \"NOTES.md\", \"action\": \"$action\"}"
"""

NODE_AGENT: Final = """\
#!/usr/bin/env node
// An agent: it writes what it was asked into NOTES.md, and says so in its report.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";

const task = JSON.parse(readFileSync(process.env.CAESAR_TASK_FILE, "utf8"));

// Written beside and renamed, so that nobody reads half a report.
function report(summary, changes = []) {
  const path = process.env.CAESAR_REPORT_PATH;
  const value = { protocol: "caesar.report/v1", status: "success", summary, changes };
  writeFileSync(`${path}.new`, JSON.stringify(value));
  renameSync(`${path}.new`, path);
}

process.chdir(task.workspace);
if (task.mode === "read-only") {
  report("Read the task.");
} else {
  const action = existsSync("NOTES.md") ? "modified" : "created";
  writeFileSync("NOTES.md", `- ${task.objective}\\n`);
  report("Wrote NOTES.md.", [{ path: "NOTES.md", action }]);
}
"""

TESTS: Final = '''\
"""What the agent does with a task: pytest"""

import pytest


@pytest.fixture(autouse=True)
def repo(caesar_repo):
    caesar_repo.commit({"README.md": "# A project\\n"})
    return caesar_repo


def test_it_writes_notes_and_declares_them(caesar_orchestrator):
    run = caesar_orchestrator.delegate("Take notes")

    assert run.succeeded
    assert run.source == "file"
    assert [change.path for change in run.changes] == ["NOTES.md"]
    assert run.reconciliation.undeclared == ()


def test_a_read_only_task_changes_nothing(caesar_orchestrator):
    run = caesar_orchestrator.delegate("Just look", mode="read-only")

    assert run.succeeded
    assert run.changes == ()


def test_its_report_is_the_recorded_one(caesar_orchestrator, caesar_snapshot):
    run = caesar_orchestrator.delegate("Take notes")

    assert run.report == caesar_snapshot  # after a wanted change: pytest --snapshot-update
'''

PROFILE: Final = """\
# What the agent is for, so that it can be judged: pytest --caesar-conformance
level = "minimal"
objective = "Take notes"
claims = ["writes", "declares"]
"""

PYTEST: Final = """\
# The agent under test; what it changes must be declared.
caesar_agent = ["{agent}"]
caesar_strict = true
testpaths = ["tests"]
"""

IGNORED: Final = """\
.caesar/
.pytest_cache/
__pycache__/
caesar.html
junit.xml
runs.json
"""

WORKFLOW: Final = """\
name: agent
on:
  push:
    branches: [main]
  pull_request:
permissions:
  contents: read
jobs:
  agent:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install pytest-caesar
      - name: Test the agent
        run: pytest --junitxml=junit.xml --caesar-json=runs.json --caesar-html=caesar.html
      - name: Check the contract
        if: ${{ !cancelled() }}
        run: pytest --caesar-conformance
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: caesar
          path: |
            caesar.html
            runs.json
            junit.xml
          if-no-files-found: ignore
"""

SNAPSHOT: Final = """\
{
  "changes": [
    {
      "action": "created",
      "path": "NOTES.md"
    }
  ],
  "protocol": "caesar.report/v1",
  "status": "success",
  "summary": "Wrote NOTES.md."
}
"""
"""The report of the last test; that of the SDK names its task, too."""

SNAPSHOT_PATH: Final = "tests/__caesar__/test_agent/test_its_report_is_the_recorded_one.report.json"
"""Where the snapshot of the last test is looked for."""


def starter_files(language: str) -> dict[str, str]:
    """Return the files of a first project but for pytest's configuration, by path."""
    summary = '"summary": "Wrote NOTES.md."'
    snapshot = SNAPSHOT
    if language == "python":
        snapshot = SNAPSHOT.replace(summary, f'{summary},\n  "task_id": "<task-1>"')
    code = {"python": PYTHON_AGENT, "bash": BASH_AGENT, "node": NODE_AGENT}[language]
    return {
        AGENTS[language][0]: code,
        "tests/test_agent.py": TESTS,
        SNAPSHOT_PATH: snapshot,
        "caesar-conformance.toml": PROFILE,
        ".gitignore": IGNORED,
        ".github/workflows/agent.yml": WORKFLOW,
    }
