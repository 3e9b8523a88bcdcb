"""The whole cycle, with real agents in real repositories."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from caesar_agent.errors import CaesarError
from pytest_caesar.agents.target import FunctionAgent, ProcessAgent
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.workspace.repository import Repository

MINIMAL = """#!/bin/sh
printf '{"protocol":"caesar.report/v1","status":"success","summary":"done"}' > "$CAESAR_REPORT_PATH"
"""

Agent = Callable[[str], ProcessAgent]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n", "src/b.txt": "two\n"})
    return repository


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    """Make an agent from the text of a script."""

    def make(text: str, *, name: str = "agent") -> ProcessAgent:
        script = tmp_path / f"{name}.sh"
        script.write_text(text if text.startswith("#!") else f"#!/bin/sh\n{text}")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return ProcessAgent(id=name, origin="path", argv=(str(script),))

    return make


def python_agent(tmp_path: Path, text: str) -> ProcessAgent:
    script = tmp_path / "agent.py"
    script.write_text(text)
    return ProcessAgent(id="agent", origin="path", argv=(sys.executable, str(script)))


def left_behind(repository: Repository) -> list[str]:
    """What a refusal must not leave: folders, branches, refs, worktrees."""
    caesar = repository.path / ".caesar"
    found = [str(path.relative_to(repository.path)) for path in caesar.rglob("*")]
    refs = repository.git("for-each-ref", "--format=%(refname)").split()
    worktrees = repository.git("worktree", "list", "--porcelain").split("\n\n")
    return found + [ref for ref in refs if "caesar" in ref] + [w for w in worktrees[1:] if w]


def test_a_minimal_agent_gives_a_run_that_is_verified_by_git(
    repository: Repository, agent: Agent
) -> None:
    orchestrator = Orchestrator(agent(MINIMAL), project=repository.path)
    run = orchestrator.delegate("Do nothing at all.", mode="read-only")
    assert run.succeeded
    assert (run.source, run.status, run.summary) == ("file", "success", "done")
    assert run.changes_verified_by == "git"
    assert (run.changes, bytes(run.patch)) == ((), b"")
    assert run.outcome.exit_code == 0
    assert run.diagnostics == ()
    assert orchestrator.runs == [run]


def test_the_task_file_says_what_the_specification_asks_for(
    repository: Repository, agent: Agent
) -> None:
    run = Orchestrator(agent(MINIMAL), project=repository.path, new_id=lambda: "t_0001").delegate(
        "Look around.",
        context="Some context.",
        constraints=["Touch nothing."],
        acceptance_criteria=["Nothing changed."],
        mode="read-only",
        timeout=30,
        role="reviewer",
    )
    task = json.loads((run.task_dir / "task.json").read_bytes())
    assert run.task_dir == repository.path / ".caesar" / "tasks" / "t_0001"
    assert run.workspace == repository.path / ".caesar" / "wt" / "t_0001"
    created_at = task.pop("created_at")
    assert len(created_at) == 24
    assert created_at.endswith("Z")
    assert task == {
        "protocol": "caesar.task/v1",
        "id": "t_0001",
        "role": "reviewer",
        "agent": "agent",
        "objective": "Look around.",
        "context": "Some context.",
        "constraints": ["Touch nothing."],
        "acceptance_criteria": ["Nothing changed."],
        "mode": "read-only",
        "isolation": "worktree",
        "network": True,
        "workspace": str(run.workspace),
        "base_ref": repository.head,
        "deadline_ms": 30_000,
        "depth": 1,
        "report_path": str(run.task_dir / "report.json"),
        "events_path": str(run.task_dir / "events.jsonl"),
    }


def test_the_agent_sees_the_eight_variables_and_works_in_its_workspace(
    repository: Repository, agent: Agent
) -> None:
    run = Orchestrator(
        agent(
            'env | grep ^CAESAR_ | sort > "$CAESAR_TASK_DIR/seen"; pwd >> "$CAESAR_TASK_DIR/seen"'
        ),
        project=repository.path,
        new_id=lambda: "t_1",
    ).delegate("Look.", mode="read-only")
    directory = run.task_dir
    assert (directory / "seen").read_text().splitlines() == [
        "CAESAR_AGENT=agent",
        "CAESAR_DEPTH=1",
        f"CAESAR_EVENTS_PATH={directory}/events.jsonl",
        "CAESAR_PROTOCOL_VERSION=1",
        f"CAESAR_REPORT_PATH={directory}/report.json",
        f"CAESAR_TASK_DIR={directory}",
        f"CAESAR_TASK_FILE={directory}/task.json",
        "CAESAR_TASK_ID=t_1",
        str(run.workspace),
    ]


def test_declared_and_observed_changes_are_reconciled(repository: Repository, agent: Agent) -> None:
    run = Orchestrator(
        agent(
            """
            echo more >> a.txt
            echo new > new.txt
            rm src/b.txt
            git add -A && git commit -qm work
            printf '%s' '{"protocol":"caesar.report/v1","status":"success","summary":"s","changes":[
              {"path":"./a.txt","action":"modified","summary":"more"},
              {"path":"src/b.txt","action":"modified"},
              {"path":"ghost.txt","action":"created"}]}' > "$CAESAR_REPORT_PATH"
            """
        ),
        project=repository.path,
    ).delegate("Change things.")
    assert [(change.path, change.action) for change in run.changes] == [
        ("a.txt", "modified"),
        ("new.txt", "created"),
        ("src/b.txt", "deleted"),
    ]
    reconciliation = run.reconciliation
    assert [entry.path for entry in reconciliation.matched] == ["a.txt"]
    assert [entry.path for entry in reconciliation.undeclared] == ["new.txt"]
    assert [entry.path for entry in reconciliation.phantom] == ["ghost.txt"]
    assert [entry.path for entry in reconciliation.wrong_action] == ["src/b.txt"]
    assert {"undeclared-change", "phantom-change", "wrong-action"} <= run.codes
    assert next((change.path, change.summary) for change in run.report.changes) == ("a.txt", "more")
    assert len(run.declared.changes) == 3


def test_the_patch_applies_to_a_clean_checkout(
    repository: Repository, agent: Agent, tmp_path: Path
) -> None:
    run = Orchestrator(
        agent("printf 'a\\000b' > binary; echo more >> a.txt; rm src/b.txt"),
        project=repository.path,
    ).delegate("Change things.")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", str(repository.path), str(clone)], check=True)
    subprocess.run(["git", "apply", "--binary"], cwd=clone, input=run.patch, check=True)
    assert (clone / "binary").read_bytes() == b"a\0b"
    assert (clone / "a.txt").read_text() == "one\nmore\n"
    assert not (clone / "src/b.txt").exists()


@pytest.mark.parametrize(
    ("text", "status", "words"),
    [
        ("exit 0", "failed", "exit code 0"),
        ("echo x > x.txt", "partial", "exit code 0"),
        ("exit 3", "failed", "exit code 3"),
        ("kill -9 $$", "failed", "SIGKILL"),
    ],
)
def test_a_missing_report_is_synthesized_and_never_a_success(
    repository: Repository, agent: Agent, text: str, status: str, words: str
) -> None:
    run = Orchestrator(agent(text), project=repository.path).delegate("Do it.")
    assert (run.source, run.status) == ("synthesized", status)
    assert words in run.summary
    assert not run.succeeded


def test_the_deadline_ends_the_agent_and_its_children(repository: Repository, agent: Agent) -> None:
    run = Orchestrator(agent("sleep 60 & sleep 60"), project=repository.path).delegate(
        "Sleep.", timeout=0.3
    )
    assert run.outcome.timed_out
    assert run.outcome.status == "timed_out"
    assert run.status == "failed"
    assert [event.type for event in run.events][-1] == "error"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda tmp: ("/nowhere/agent",), "/nowhere/agent"),
        (lambda tmp: ("no-such-program-anywhere",), "no-such-program-anywhere"),
        (lambda tmp: (str(_file(tmp, "plain", "hello", 0o644)),), "executable"),
        (lambda tmp: (str(_file(tmp, "odd", "#!/no/such/interpreter\n", 0o755)),), "interpreter"),
        (lambda tmp: (str(tmp),), "folder"),
    ],
    ids=["missing-path", "missing-name", "not-executable", "bad-shebang", "a-folder"],
)
def test_an_agent_that_cannot_start_is_an_error_that_leaves_nothing(
    repository: Repository,
    tmp_path: Path,
    make: Callable[[Path], tuple[str, ...]],
    words: str,
) -> None:
    orchestrator = Orchestrator(
        ProcessAgent(id="x", origin="command", argv=make(tmp_path)), project=repository.path
    )
    with pytest.raises(CaesarError) as caught:
        orchestrator.delegate("Do it.")
    assert words in str(caught.value)
    assert left_behind(repository) == []


def _file(folder: Path, name: str, text: str, mode: int) -> Path:
    path = folder / name
    path.write_text(text)
    path.chmod(mode)
    return path


@pytest.mark.parametrize(
    ("wish", "words"),
    [
        ({"objective": "  "}, "the objective is empty"),
        ({"timeout": 0}, "the timeout is 0 s"),
        ({"timeout": -1.5}, "the timeout is -1.5 s"),
        ({"timeout": 2_200_001.0}, "is 2200001 s: deadline_ms may be at most 2147483647"),
        ({"depth": -1}, "the depth is -1"),
        ({"workspace": "/no/such/folder", "base_ref": ""}, "/no/such/folder does not exist"),
        ({"mode": "rw"}, "mode is 'rw': expected one of read-only, write"),
        ({"constraints": "one string"}, "constraints is 'one string': expected a list"),
        ({"base_ref": "HEAD"}, "give workspace= too"),
    ],
)
def test_what_cannot_be_delegated_is_refused_and_leaves_nothing(
    repository: Repository, agent: Agent, wish: dict[str, object], words: str
) -> None:
    orchestrator = Orchestrator(agent(MINIMAL), project=repository.path)
    with pytest.raises(CaesarError) as caught:
        orchestrator.delegate(**{"objective": "Do it.", **wish})  # type: ignore[arg-type]
    assert words in str(caught.value)
    assert left_behind(repository) == []


def test_a_worktree_where_there_is_no_commit_is_refused(tmp_path: Path, agent: Agent) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "empty")], check=True)
    orchestrator = Orchestrator(agent(MINIMAL), project=tmp_path / "empty")
    with pytest.raises(CaesarError, match="commit"):
        orchestrator.delegate("Do it.", isolation="worktree")
    assert not (tmp_path / "empty" / ".caesar").exists()


def test_a_repository_without_a_commit_is_worked_on_in_place(tmp_path: Path, agent: Agent) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path / "empty")], check=True)
    (tmp_path / "empty" / "mine.txt").write_text("there before\n")
    run = Orchestrator(agent("echo x > x.txt"), project=tmp_path / "empty").delegate("Do it.")
    assert run.task.isolation == "inplace"
    assert run.task.base_ref is None
    assert [(change.path, change.action) for change in run.changes] == [("x.txt", "created")]


def test_outside_any_repository_the_declaration_stands(tmp_path: Path, agent: Agent) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    run = Orchestrator(agent(MINIMAL), project=plain).delegate("Do it.")
    assert run.changes_verified_by == "declaration"
    assert run.task.isolation == "inplace"
    assert run.task_dir.parent == plain / ".caesar" / "tasks"


def test_a_context_of_300_kb_reaches_the_agent_and_the_brief_points_there(
    repository: Repository, tmp_path: Path
) -> None:
    context = "x" * 300_000
    reader = python_agent(
        tmp_path,
        "import json, os, sys\n"
        "task = json.load(open(os.environ['CAESAR_TASK_FILE']))\n"
        'said = f\'{len(task["context"])} {len(sys.argv[1]) < 131072} {"CAESAR_TASK_FILE" in sys.argv[1]}\'\n'
        "json.dump({'protocol': 'caesar.report/v1', 'status': 'success', 'summary': said},"
        " open(os.environ['CAESAR_REPORT_PATH'], 'w'))\n",
    )
    reader = ProcessAgent(id="reader", origin="path", argv=(*reader.argv, "{{prompt}}"))
    run = Orchestrator(reader, project=repository.path).delegate(
        "Count.", context=context, mode="read-only"
    )
    assert run.summary == "300000 True True"


def test_a_function_is_an_agent_in_this_process(
    repository: Repository, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    (tmp_path / "function_agent_here.py").write_text(
        "import os, pathlib\n"
        "def main(agent):\n"
        "    print('printed', os.getpid())\n"
        "    pathlib.Path('new.txt').write_text('new')\n"
        "    agent.file_changed('new.txt', 'created')\n"
        "    return agent.success('by a function')\n"
    )
    target = FunctionAgent(
        id="function", target="function_agent_here:main", import_root=str(tmp_path)
    )
    before = Path.cwd()
    run = Orchestrator(target, project=repository.path).delegate("Do it.")
    assert run.succeeded
    assert Path.cwd() == before
    assert "CAESAR_TASK_ID" not in os.environ
    assert run.raw_log == f"printed {os.getpid()}\n".encode()
    assert [(c.path, c.action) for c in run.changes] == [("new.txt", "created")]
    assert run.reconciliation.undeclared == ()


def test_a_function_can_be_forced_into_a_process(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "function_agent_there.py").write_text(
        "import os\ndef main(agent):\n    return agent.success(str(os.getpid()))\n"
    )
    target = FunctionAgent(
        id="function",
        target="function_agent_there:main",
        import_root=str(tmp_path),
        subprocess=True,
    )
    run = Orchestrator(target, project=repository.path).delegate("Do it.", mode="read-only")
    assert run.succeeded
    assert run.summary != str(os.getpid())


def test_events_hold_the_start_and_the_end_once(repository: Repository, agent: Agent) -> None:
    run = Orchestrator(agent(MINIMAL), project=repository.path).delegate("Do it.", mode="read-only")
    assert [event.type for event in run.events] == ["started", "finished"]
    assert [event.seq for event in run.events] == [0, 1]


def test_a_pending_run_can_be_cancelled_and_stays_cancelled(
    repository: Repository, agent: Agent
) -> None:
    pending = Orchestrator(agent("sleep 60"), project=repository.path).start("Sleep.")
    pending.cancel()
    run = pending.wait()
    assert run.outcome.status == "cancelled"
    assert run.status == "failed"
    assert not run.succeeded


def test_sources_can_be_taken_away(repository: Repository, agent: Agent) -> None:
    run = Orchestrator(
        agent(
            MINIMAL
            + """
printf '\\n```json caesar:report\\n{"protocol":"caesar.report/v1","status":"partial",'
printf '"summary":"from the log","next_steps":["more"]}\\n```\\n'
"""
        ),
        project=repository.path,
    ).delegate("Do it.", mode="read-only")
    assert (run.source, run.summary) == ("file", "done")
    extracted = run.without("file")
    assert (extracted.source, extracted.form, extracted.summary) == (
        "extracted",
        "fence",
        "from the log",
    )
    assert run.without("file", "extracted").source == "synthesized"


def test_a_nested_delegation_is_counted_and_refused_at_the_limit(
    repository: Repository, agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CAESAR_DEPTH", "1")
    with pytest.raises(CaesarError, match="max_depth"):
        Orchestrator(agent(MINIMAL), project=repository.path).delegate("Do it.")
    assert left_behind(repository) == []


def test_a_file_name_that_is_not_utf8_reaches_report_diagnostics_and_record(
    repository: Repository, agent: Agent
) -> None:
    run = Orchestrator(
        agent("touch \"$(printf 'a\\377\\033b')\""), project=repository.path
    ).delegate("Do it.")
    assert [change.path for change in run.changes] == ["a\udcff\x1bb"]
    assert [change.path for change in run.report.changes] == ["a\\xff\x1bb"]
    assert run.status == "partial"
    record = json.loads((run.task_dir / "run.json").read_bytes())
    assert record["changes"][0]["path"] == "a\udcff\x1bb"
