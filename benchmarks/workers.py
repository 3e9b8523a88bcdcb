"""Two workers against one, for tests that delegate, with bare loops beside them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measuring import Row

TESTS = 200

DELEGATING = """
import pytest

@pytest.mark.parametrize("number", range({tests}))
def test_it(caesar_repo, caesar_orchestrator, number):
    caesar_repo.commit({{"a.txt": "a\\n"}})
    assert caesar_orchestrator.delegate("Work").succeeded
"""

LOOPING = """
import pytest

@pytest.mark.parametrize("number", range({tests}))
def test_it(number):
    total = 0
    for step in range(300_000):
        total += step
    assert total
"""

AGENT = """\
#!/bin/sh
printf '{"protocol": "caesar.report/v1", "status": "success", "summary": "Done."}' \\
    > "$CAESAR_REPORT_PATH"
"""


def _seconds(folder: Path, module: str, workers: int) -> float:
    """Return how long a whole test run takes."""
    command = [sys.executable, "-m", "pytest", "-q", "-n", str(workers), "-p", "no:cacheprovider"]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    start = time.perf_counter()
    subprocess.run(
        [*command, "-p", "no:randomly", "--caesar-agent=./agent.sh", module],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
    )
    return time.perf_counter() - start


def rows() -> list[Row]:
    """200 tests of one delegation each, and 200 that only count, with one worker and two."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        script = folder / "agent.sh"
        script.write_text(AGENT)
        script.chmod(0o755)
        for what, source in (("delegations", DELEGATING), ("bare loops", LOOPING)):
            module = f"test_{what.split()[-1]}.py"
            (folder / module).write_text(source.format(tests=TESTS))
            times = {workers: _seconds(folder, module, workers) for workers in (1, 2, 1, 2)}
            found.append(
                Row(
                    f"-n 2 over -n 1, {TESTS} {what}",
                    f"{times[2] / times[1]:.2f} x ({times[2]:.1f} s)",
                    f"{times[1]:.1f} s",
                )
            )
    return found
