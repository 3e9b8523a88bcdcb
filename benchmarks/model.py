"""The scripted model: its fixture, its first answer, and a delegation with codex where it is there."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchmarks.measuring import Row, absolute, interleave, ratio
from pytest_caesar.agents.catalogue import CATALOGUE
from pytest_caesar.agents.cli_settings import CliTask
from pytest_caesar.model.scripted_model import ScriptedModel
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.workspace.repository import Repository
from tests.clis.programs import find
from tests.pytest_caesar.model.small_cli import ask

BRIEF = "Look around, write a file, and say that you are done."


def _script(model: ScriptedModel) -> None:
    model.say("Looking.").shell("ls")
    model.write("new.txt", "new\n")
    model.report("success", "Written.", changes=[("new.txt", "created")])


def _made_and_closed() -> None:
    with ScriptedModel() as model:
        assert model.url


def _codex(folder: str) -> Row:
    """Compare a delegation with the CLI's own time for the same script."""
    with tempfile.TemporaryDirectory() as room, ScriptedModel(max_requests=10_000) as model:
        _script(model)
        repository = Repository.create(Path(room) / "repo")
        repository.commit({"a.txt": "one\n"})
        settings = OrchestratorSettings(
            path_first=(folder, *OrchestratorSettings().path_first), model_url=model.url_for
        )
        orchestrator = Orchestrator("codex", project=repository.path, settings=settings)
        wired = CATALOGUE["codex"].configure(CliTask(model_url=model.url_for("codex", "bare")))
        program = shutil.which("codex", path=folder)
        assert program is not None
        path = f"{folder}{os.pathsep}{os.environ['PATH']}"

        def bare() -> None:
            # A new home each time, as a delegation has.
            home = Path(tempfile.mkdtemp(dir=room))
            for name, text in wired.home_files.items():
                (home / name).parent.mkdir(parents=True)
                (home / name).write_text(text)
            subprocess.run(
                [
                    program,
                    "exec",
                    "--json",
                    "-C",
                    str(repository.path),
                    "-s",
                    "workspace-write",
                    "-",
                ],
                input=BRIEF.encode(),
                env={"PATH": path, "HOME": str(home), "TERM": "dumb"},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                check=True,
                timeout=120,
            )

        def delegated() -> None:
            assert orchestrator.delegate(BRIEF).succeeded

        ours, own = interleave(delegated, bare, rounds=5)
    return ratio("a delegation with codex and three turns, over codex's own time", ours, own, 1.3)


def rows() -> list[Row]:
    """Without codex its figure is left out, and a line says how to have it."""
    made, _ = interleave(_made_and_closed, lambda: None, rounds=51)
    with ScriptedModel(max_requests=10_000) as model:
        model.say("Hello.")
        history = [{"role": "user", "content": BRIEF}]
        answered, _ = interleave(
            lambda: ask(model.url, "chat", history, stream=True), lambda: None, rounds=51
        )
    found = [
        absolute("caesar_model, made and closed", made, 20),
        absolute("a request answered, over a new connection", answered, 5),
    ]
    folder = find("codex")
    if folder is None:
        return [*found, Row("a delegation with codex", "codex is not installed: make clis")]
    return [*found, _codex(folder)]
