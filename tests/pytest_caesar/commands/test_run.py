"""``pytest-caesar run``, ``diff`` and ``apply``, as a user calls them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from caesar_agent.documents.event import QuestionEvent
from pytest_caesar.agents.selection import select
from pytest_caesar.cli import main
from pytest_caesar.commands.run_page import describe_run, how_to_answer
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.asking import FILES_AGENT

KEYS = [
    "task_id", "agent", "source", "form", "report", "changes_verified_by", "changes", "undeclared",
    "phantom", "outcome", "diagnostics", "children", "task_dir", "workspace", "error", "commands",
    "tool_calls", "usage",
]  # fmt: skip

WORKER = """#!/bin/sh
echo more >> a.txt
printf '{"protocol":"caesar.report/v1","status":"success","summary":"done",'>"$CAESAR_REPORT_PATH"
printf '"changes":[{"path":"a.txt","action":"modified"}]}' >> "$CAESAR_REPORT_PATH"
"""


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a.txt": "one\n"})
    return repository


def script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "agent.sh"
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


def call(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    code = main([*argv, "--json"])
    value = json.loads(capsys.readouterr().out)
    assert sorted(value) == sorted(KEYS)
    return code, value


def test_json_tells_everything_about_a_run(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = script(tmp_path, WORKER)
    code, value = call(capsys, "run", agent, "Add a line.", "--repo", str(repository.path))
    assert code == 0
    assert (value["source"], value["report"]["status"]) == ("file", "success")
    assert value["changes"] == [{"path": "a.txt", "action": "modified", "outside": False}]
    assert value["changes_verified_by"] == "git"
    assert value["outcome"].pop("duration_ms") >= 0
    assert value["outcome"] == {
        "status": "succeeded", "exit_code": 0, "signal": None, "timed_out": False,
        "killed_after_report": False, "leaked": [],
    }  # fmt: skip
    assert value["error"] is None


def test_the_installed_command_works_from_inside_the_repository(
    repository: Repository, tmp_path: Path
) -> None:
    agent = script(tmp_path, WORKER)
    command = Path(sys.executable).with_name("pytest-caesar")
    result = subprocess.run(
        [str(command), "run", agent, "Add a line."],
        cwd=repository.path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    assert "success (from file): done" in result.stdout
    assert "  modified  a.txt" in result.stdout
    assert "started" in result.stderr
    assert "finished" in result.stderr


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["/nowhere/agent", "Do it."], "/nowhere/agent"),
        (["{agent}", "  "], "the objective is empty"),
        (["{agent}", "Do it.", "--deadline", "soon"], "soon"),
        (["{agent}", "Do it.", "--linger", "a while"], "a while"),
        (["{agent}", "Do it.", "--deadline", "0"], "--deadline is 0 s"),
        (["{agent}", "Do it.", "--deadline", "600h"], "deadline_ms"),
        (["{agent}", "Do it.", "--context", "@/no/such/file"], "--context @/no/such/file"),
        (["{agent}", "Do it.", "--repo", "/no/such/folder"], "/no/such/folder"),
        (
            ["{agent}", "Do it.", "--base-ref", "HEAD"],
            "--base-ref and --placed describe a prepared workspace: give --workspace too",
        ),
    ],
)
def test_a_refusal_is_told_in_json_with_exit_code_2(
    repository: Repository,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    argv: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(repository.path)
    agent = script(tmp_path, WORKER)
    code, value = call(capsys, "run", *[part.format(agent=agent) for part in argv])
    assert code == 2
    assert words in value["error"]["message"]
    assert value["report"] is None
    assert not (repository.path / ".caesar").exists()


def test_findings_advise_the_options_of_this_command(
    repository: Repository,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(repository.path)
    monkeypatch.setenv("ACME_API_KEY", "x")
    agent = script(tmp_path, "#!/bin/sh\necho ACME_API_KEY is not set\nexit 1\n")
    _, value = call(capsys, "run", str(agent), "Do it.")
    [found] = [one for one in value["diagnostics"] if one["code"] == "variable-not-passed"]
    assert found["message"].endswith(": --pass-env ACME_API_KEY")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["{agent}", "Do it.", "--placed", "x"], "give --workspace too"),
        (["reviewer", "Do it."], "name the CLI with --runner NAME"),
        (["{agent}", "Do it.", "--pass-env", "GIT_DIR"], "remove it from --pass-env\n"),
        (["{folder}", "Do it."], 'to run the package in it, write "python'),
        (
            [
                "{agent}",
                "Do it.",
                "--base-ref",
                "nothing",
                "--isolation",
                "worktree",
                "--workspace=.",
            ],
            "--base-ref 'nothing' is not a commit",
        ),
    ],
)
def test_refusals_speak_of_the_options_of_this_command(
    repository: Repository,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    argv: list[str],
    words: str,
) -> None:
    monkeypatch.chdir(repository.path)
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__main__.py").write_text("")
    agent, folder = script(tmp_path, WORKER), str(tmp_path / "pkg")
    assert main(["run", *[part.format(agent=agent, folder=folder) for part in argv]]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert "--caesar-" not in said


def test_a_function_gets_a_process_of_its_own_on_demand(
    repository: Repository,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "apart.py").write_text(
        "import os\ndef work(agent):\n    return agent.success(str(os.getpid()))\n"
    )
    monkeypatch.chdir(tmp_path)
    code, value = call(
        capsys, "run", "apart:work", "Do it.", "--repo", str(repository.path), "--subprocess"
    )
    assert code == 0
    assert value["report"]["summary"] != str(os.getpid())


def test_agents_and_policy_of_the_repository_count_in_every_folder_of_it(
    repository: Repository,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    agent = script(tmp_path, WORKER)
    repository.commit(
        {
            "src/b.txt": "b\n",
            ".caesar/config.toml": f"""[[agent]]
id = "worker"
bin = {json.dumps(agent)}
args = ["{{{{prompt}}}}"]

[policy]
default_mode = "read-only"
""",
        }
    )
    monkeypatch.chdir(repository.path / "src")

    code, value = call(capsys, "run", "worker", "Add a line.")
    assert code == 1
    assert [found["code"] for found in value["diagnostics"]].count("read-only-violation") == 1
    assert value["changes"] == [{"path": "a.txt", "action": "modified", "outside": False}]

    code, value = call(capsys, "run", "../worker.sh", "Add a line.")
    assert "../worker.sh" in value["error"]["message"]
    (repository.path / "worker.sh").symlink_to(agent)
    code, value = call(capsys, "run", "../worker.sh", "Add a line.", "--mode", "write")
    assert code == 0


def test_the_unit_of_a_bare_deadline_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", "--help"])
    assert "a bare number counts milliseconds" in " ".join(capsys.readouterr().out.split())


def test_an_agent_that_goes_on_after_its_report_is_ended_after_the_linger(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = script(tmp_path, WORKER + "sleep 60\n")
    code, value = call(
        capsys, "run", agent, "Do it.", "--repo", str(repository.path), "--linger", "200ms"
    )
    assert code == 0
    assert value["report"]["status"] == "success"
    assert (value["outcome"]["status"], value["outcome"]["signal"]) == ("succeeded", "SIGTERM")


def test_a_read_only_task_that_wrote_exits_with_1(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = script(tmp_path, WORKER)
    code, value = call(
        capsys, "run", agent, "Look.", "--repo", str(repository.path), "--mode", "read-only"
    )
    assert code == 1
    assert value["report"]["status"] == "success"
    assert "read-only-violation" in [item["code"] for item in value["diagnostics"]]


def test_a_read_only_task_that_cannot_be_verified_exits_with_1(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = script(tmp_path, WORKER.replace("echo more >> a.txt", 'rm -r "$PWD"'))
    argv = ("run", agent, "Look.", "--repo", str(repository.path), "--isolation", "worktree")
    code, value = call(capsys, *argv, "--mode", "read-only")
    assert (code, value["changes_verified_by"]) == (1, "declaration")
    assert (value["outcome"]["status"], value["report"]["status"]) == ("succeeded", "success")
    assert call(capsys, *argv)[0] == 0


def test_success_that_a_gate_does_not_bear_out_exits_with_1(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["run", script(tmp_path, WORKER), "Try.", "--repo", str(repository.path), "--accept"]
    assert main([*argv, "$ sh -c 'echo not there; exit 3'"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("success (from file)")
    assert (
        "gates:\n  sh -c 'echo not there; exit 3': failed: exit code 3\n    | not there\n" in said
    )
    assert main([*argv, "$ true"]) == 0
    assert "gates:\n  true: passed\n" in capsys.readouterr().out


def test_a_prepared_workspace_is_adopted(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = str(repository.head)
    repository.write("deps/x", "placed\n")
    agent = script(tmp_path, "#!/bin/sh\necho n > n.txt; echo y > deps/y; git commit -qam work\n")
    code, value = call(
        capsys, "run", agent, "Do it.", "--workspace", str(repository.path),
        "--base-ref", base, "--isolation", "inplace", "--placed", "deps",
    )  # fmt: skip
    assert code == 1
    assert value["source"] == "synthesized"
    assert [(c["path"], c["action"]) for c in value["changes"]] == [("n.txt", "created")]
    assert value["workspace"] == str(repository.path)


def test_diff_shows_and_apply_takes_over_what_was_changed_without_the_worktree(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = script(tmp_path, WORKER)
    _, value = call(capsys, "run", agent, "Add a line.", "--repo", str(repository.path))
    subprocess.run(
        ["git", "worktree", "remove", "--force", value["workspace"]],
        cwd=repository.path,
        check=True,
    )
    assert main(["diff", value["task_dir"]]) == 0
    assert "+more" in capsys.readouterr().out
    assert main(["apply", value["task_dir"]]) == 0
    assert repository.read("a.txt") == "one\nmore\n"
    named = f"the changes of {value['task_id']}"
    assert capsys.readouterr().out == f"Applied {named} to {repository.path}.\n"
    assert main(["apply", value["task_dir"]]) == 0
    assert repository.read("a.txt") == "one\nmore\n"
    assert capsys.readouterr().out == (
        f"Nothing to apply: {named} are in {repository.path} already.\n"
    )


def test_apply_refuses_a_conflict_and_changes_nothing(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = script(tmp_path, WORKER)
    _, value = call(capsys, "run", agent, "Add a line.", "--repo", str(repository.path))
    repository.commit({"a.txt": "something else altogether\n"})
    assert main(["apply", value["task_dir"]]) == 1
    assert "a.txt" in capsys.readouterr().err
    assert repository.read("a.txt") == "something else altogether\n"
    assert repository.git("status", "--porcelain").strip() == ""


def test_a_folder_that_is_no_task_directory_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", str(tmp_path)]) == 2
    assert f"{tmp_path}: run.json is missing" in capsys.readouterr().err


@pytest.mark.timeout(60)
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_question_is_told_with_the_command_that_answers_it(
    repository: Repository, tmp_path: Path, more: tuple[str, ...]
) -> None:
    agent = script(tmp_path, FILES_AGENT)
    command = [sys.executable, "-m", "pytest_caesar", "run", agent, "Ask.", "--channel", *more]
    with subprocess.Popen(
        command, cwd=repository.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as child:
        assert child.stderr is not None
        assert child.stdout is not None
        told = ""
        for line in child.stderr:
            if "answer it: " in line:
                told = line.partition("answer it: ")[2].strip()
                break
        assert told.startswith("caesar-agent answer .caesar/tasks/t_")
        program = f"{Path(sys.executable).parent}/{told}".replace("…", "keep it")
        subprocess.run(["/bin/sh", "-c", program], cwd=repository.path, check=True)
        assert "keep it" in child.stdout.read()
        child.stderr.read()
        assert child.wait() == 0


def test_of_an_agent_that_failed_the_end_of_its_log_is_shown(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = script(tmp_path, "#!/bin/sh\nseq 20\nprintf 'no \\033[31mluck'\nexit 3\n")
    assert main(["run", agent, "Try.", "--repo", str(repository.path)]) == 1
    page = capsys.readouterr().out
    assert "the end of raw.log:\n  | 10\n" in page
    assert "  | no \\x1b[31mluck\n" in page
    assert "  | 9\n" not in page


def test_no_log_is_shown_that_an_agent_put_in_the_place_of_its_own(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    for name in ("raw.log", "stderr.log"):
        (mine / name).write_text("of somebody else\n")
    text = (
        '#!/bin/sh\necho own words\nmv "$CAESAR_TASK_DIR" "$CAESAR_TASK_DIR.gone"\n'
        f'ln -s {mine} "$CAESAR_TASK_DIR"\nexit 3\n'
    )
    assert main(["run", script(tmp_path, text), "Try.", "--repo", str(repository.path)]) == 1
    page = capsys.readouterr().out
    assert "  | own words" in page
    assert "of somebody else" not in page


def test_of_an_agent_that_wrote_no_report_it_is_told_where_it_belongs(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = script(tmp_path, "#!/bin/sh\necho done\n")
    assert main(["run", agent, "Try.", "--repo", str(repository.path)]) == 1
    page = capsys.readouterr().out
    assert "report: none: there is no file at $CAESAR_REPORT_PATH\n" in page


def test_of_an_agent_that_succeeded_no_log_is_shown(
    repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = script(tmp_path, WORKER + "echo chatter\n")
    assert main(["run", agent, "Try.", "--repo", str(repository.path)]) == 0
    assert "chatter" not in capsys.readouterr().out


def test_sentences_are_folded_to_the_width_of_the_terminal(
    repository: Repository, tmp_path: Path
) -> None:
    agent = select(script(tmp_path, "#!/bin/sh\nexit 3\n"), project=tmp_path, start=tmp_path)
    run = Orchestrator(agent, project=repository.path).delegate("Try.")
    folded, whole = describe_run(run, width=60), describe_run(run)
    assert " ".join(folded.split()) == " ".join(whole.split())
    assert max(map(len, whole.splitlines()[:-1])) > 80
    assert max(map(len, folded.splitlines()[:-1])) <= 60


def test_of_long_lists_the_beginning_and_the_number_are_shown(
    repository: Repository, tmp_path: Path
) -> None:
    text = WORKER + "mkdir m; for n in $(seq 59); do echo $n > m/$n; done\n"
    target = select(script(tmp_path, text), project=tmp_path, start=tmp_path)
    run = Orchestrator(target, project=repository.path).delegate("Make many files")
    page = describe_run(run).splitlines()
    assert "changes: 60" in page
    assert sum(line.startswith(("  created", "  modified")) for line in page) == 50
    assert "  … and 10 more" in page
    assert sum(line.startswith("undeclared-change: git shows m/") for line in page) == 10
    assert "undeclared-change: … and 49 more like these" in page


@pytest.mark.parametrize("ident", ["q1; rm -rf /", "\x1b[2J", "-rf", "../q1"])
def test_no_command_is_made_of_a_hostile_id(tmp_path: Path, ident: str) -> None:
    (tmp_path / ".caesar" / "tasks" / "t_1").mkdir(parents=True)
    fields = {
        "protocol": "caesar.event/v1", "seq": 0, "at": "2026-01-01T00:00:00Z", "task_id": "t_1",
        "type": "question", "id": "q1", "question": "?",
    }  # fmt: skip
    for changed, answerable in (({}, True), ({"id": ident}, False), ({"task_id": ".."}, False)):
        event = QuestionEvent.model_validate({**fields, **changed})
        assert bool(how_to_answer(event, tmp_path)) is answerable
