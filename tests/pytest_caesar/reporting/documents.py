"""Documents as ``--caesar-json`` writes them, with something of everything."""

from __future__ import annotations

from typing import Any


def told_test(test: str, outcome: str = "passed", **fields: Any) -> dict[str, Any]:
    """Return what a document says of one execution of a test."""
    return {
        "test": test,
        "execution": 1,
        "agent": "codex",
        "outcome": outcome,
        "duration": 0.25,
        "path": test.partition("::")[0],
        "line": 12,
        "again": f"pytest '{test}'",
        **fields,
    }


def run_entry(test: str, status: str = "success", **fields: Any) -> dict[str, Any]:
    """Return one run of a test; it changed one file, and declared it."""
    return {
        "test": test,
        "phase": "call",
        "execution": 1,
        "number": 1,
        "status": status,
        "source": "file",
        "process": "succeeded",
        "mode": "write",
        "isolation": "worktree",
        "objective": "Fix the parser on empty input",
        "task_id": "t_0001",
        "agent": "codex",
        "report": {"status": status, "summary": "One file fixed.", "details": "Long story."},
        "declared": [{"path": "src/a.py", "action": "modified", "summary": "guard"}],
        "changes": [{"path": "src/a.py", "action": "modified", "outside": False}],
        "changes_verified_by": "git",
        "undeclared": [],
        "phantom": [],
        "outcome": {"status": "succeeded", "exit_code": 0, "duration_ms": 1200, "leaked": []},
        "diagnostics": [],
        "questions": [],
        "events": {"started": 1, "finished": 1},
        "timeline": [
            {"at": "2026-12-01T03:10:57.117Z", "type": "started", "text": "started codex exec"},
            {"at": "2026-12-01T03:10:58.517Z", "type": "finished", "text": "finished done"},
        ],
        "log_end": "working\ndone\n",
        "log_bytes": 13,
        "patch": "diff --git a/src/a.py b/src/a.py\nindex 1..2 100644\n--- a/src/a.py\n"
        "+++ b/src/a.py\n@@ -1,2 +1,2 @@\n def parse(s):\n-    return s[0]\n+    return s[:1]\n",
        "patch_bytes": 147,
        "children": [],
        "task_dir": "/tmp/x/.caesar/tasks/t_0001",
        "workspace": "/tmp/x/.caesar/wt/t_0001",
        **fields,
    }


def document(
    tests: list[dict[str, Any]], runs: list[dict[str, Any]], **fields: Any
) -> dict[str, Any]:
    """Return a whole document."""
    return {
        "format": 1,
        "agents": ["codex"],
        "exit_status": 0,
        "session": {
            "commit": "a" * 40,
            "collected": [entry["test"] for entry in tests],
            "deselected": [],
            "selection": [],
            "shard": None,
        },
        "tests": tests,
        "runs": runs,
        **fields,
    }
