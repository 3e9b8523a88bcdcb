"""What supervision costs: time after the agent's end, and memory beside a flood."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import Row
from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.workspace.repository import Repository

ENDS = """#!/bin/sh
printf '{"protocol":"caesar.report/v1","status":"success","summary":"done"}' > "$CAESAR_REPORT_PATH"
date +%s.%N > "$CAESAR_TASK_DIR/ended"
"""
FLOOD = """
import resource, sys, time
from pathlib import Path
from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.workspace.repository import Repository
folder, size = Path(sys.argv[1]), sys.argv[2]
repository = Repository.create(folder)
repository.commit({"a.txt": "a"})
agent = ProcessAgent(id="flood", origin="command",
                     argv=("/bin/sh", "-c", f"head -c {size} /dev/zero | tr '\\\\0' x"))
run = Orchestrator(agent, project=repository.path).start("Flood.", mode="read-only")
peak = 0
def rss():
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
while run._thread.is_alive():
    sizes = list(repository.path.glob(".caesar/tasks/*/raw.log"))
    if sizes and sizes[0].stat().st_size < int(size):
        peak = max(peak, rss())
    time.sleep(0.02)
print(peak)
"""


def rows() -> list[Row]:
    """Time from the agent's exit to the run; memory while a gigabyte is printed."""
    return [_after_exit(), *_memory()]


def _after_exit() -> Row:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "agent.sh")
        script.write_text(ENDS)
        script.chmod(0o755)
        repository = Repository.create(Path(folder, "repository"))
        repository.commit({"a.txt": "a\n"})
        orchestrator = Orchestrator(
            ProcessAgent(id="ends", origin="path", argv=(str(script),)), project=repository.path
        )
        times = []
        for _ in range(20):
            run = orchestrator.delegate("End.")
            now = time.time()
            times.append(now - float((run.task_dir / "ended").read_text()))
    return Row("from the agent's exit to the Run", f"{statistics.median(times) * 1000:.1f} ms")


def _memory() -> list[Row]:
    if not Path("/proc/self/statm").exists():
        return []
    peaks = []
    with tempfile.TemporaryDirectory() as folder:
        for size in (1, 10**9):
            result = subprocess.run(
                [sys.executable, "-c", FLOOD, f"{folder}/{size}", str(size)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            peaks.append(int(result.stdout) / 2**20)
    extra = peaks[1] - peaks[0]
    return [
        Row(
            "memory while an agent prints 1 GB",
            f"+ {max(extra, 0):.1f} MB ({peaks[1]:.0f} MB)",
            f"{peaks[0]:.0f} MB",
            "+ 30 MB",
            extra <= 30,
        )
    ]
