"""What the sandbox adds to a delegation."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from benchmarks.delegation import SCRIPT
from benchmarks.measuring import Row, difference, interleave
from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.sandboxes.choice import proof_of
from pytest_caesar.sandboxes.sandbox import SandboxError
from pytest_caesar.workspace.repository import Repository


def rows() -> list[Row]:
    """Start of an agent in the sandbox, over one without."""
    try:
        proof_of("bubblewrap")
    except SandboxError as error:
        return [Row(f"a delegation in the sandbox: {error}", "not taken")]
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "agent.sh"
        script.write_text(SCRIPT)
        script.chmod(0o755)
        repository = Repository.create(Path(folder) / "repo")
        repository.commit({"a.txt": "a\n"})
        orchestrator = Orchestrator(
            ProcessAgent(id="bench", origin="path", argv=(str(script),)), project=repository.path
        )

        def delegate(sandbox: str) -> None:
            run = orchestrator.delegate("Do nothing.", sandbox=sandbox)
            assert run.succeeded, run

        inside, without = interleave(
            functools.partial(delegate, "bubblewrap"),
            functools.partial(delegate, "none"),
            rounds=30,
        )
    return [difference("a delegation in the sandbox, over one without", inside, without, 25)]
