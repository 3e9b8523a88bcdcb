"""Agents that speak ACP, under the contract: made with the official SDK, and odd ones."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from pytest_caesar.agents.schemes import ACP
from pytest_caesar.agents.selection import select
from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.cli import main
from pytest_caesar.orchestrator.orchestrator import Orchestrator
from pytest_caesar.orchestrator.orchestrator_settings import OrchestratorSettings
from pytest_caesar.runs.run import Run
from pytest_caesar.workspace.repository import Repository
from tests.pytest_caesar.supervision.supervising import is_alive

HERE = Path(__file__).parent
Work: TypeAlias = Callable[..., Run]


def acp_agent(*argv: str) -> ProcessAgent:
    text = " ".join([ACP + sys.executable, *argv])
    agent = select(text, project=HERE, start=HERE)
    assert isinstance(agent, ProcessAgent)
    return agent


@pytest.fixture
def work(caesar_repo: Repository) -> Work:
    """Return what has the SDK's agent do some steps in a repository with one file."""
    caesar_repo.commit({"README.md": "hello\n"})

    def work(*steps: list[Any], answers: ScriptedAnswers | None = None, **more: Any) -> Run:
        agent = more.pop("agent", None) or acp_agent("sdk_agent.py")
        settings = more.pop("settings", OrchestratorSettings())
        orchestrator = Orchestrator(
            agent, project=caesar_repo.path, settings=settings, answers=answers
        )
        more.setdefault("timeout", 60)
        return orchestrator.delegate(f"STEPS {json.dumps(steps)}", **more)

    return work


def said(run: Run) -> list[str]:
    return [event.dump()["text"] for event in run.events if event.type == "message"]


def test_an_agent_of_the_sdk_works_in_a_worktree(work: Work) -> None:
    run = work(
        ["say", "I look."],
        ["run", "pytest -q", 1],
        ["edit", "src/new.py"],
        ["touch", "undeclared.txt"],
        ["report", ["src/new.py"]],
    )
    assert run.succeeded
    assert (run.source, run.outcome.status) == ("file", "succeeded")
    assert [entry.path for entry in run.reconciliation.undeclared] == ["undeclared.txt"]
    assert sorted(change.path for change in run.changes) == ["src/new.py", "undeclared.txt"]
    assert said(run) == ["I look."]
    assert [(call.command, call.exit_code) for call in run.tool_calls] == [("pytest -q", 1)]
    assert run.commands[0].verdict == "contradicted"
    assert (run.usage.input_tokens, run.usage.output_tokens) == (120, 30)
    assert [str(one) for one in run.permissions] == ["allowed: edit src/new.py"]
    assert run.codes == {"undeclared-change", "command-contradicted"}
    sent = [json.loads(line) for line in (run.task_dir / "acp.jsonl").read_text().splitlines()]
    assert [one["method"] for one in sent if "method" in one] == [
        *("initialize", "session/new", "session/prompt")
    ]
    told = [event.dump()["message"] for event in run.events if event.type == "progress"]
    assert told == ["permission allowed: edit src/new.py"]
    assert b"the agent starts" in (run.evidence.stderr_log or b"")
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in run.raw_log.splitlines())


def test_a_read_only_task_refuses_what_writes_and_plans(work: Work) -> None:
    run = work(
        ["facts"], ["edit", "a.py"], ["write", "b.py"], mode="read-only", isolation="inplace"
    )
    assert json.loads(said(run)[0].partition("refused")[0]) == [[], "plan", None, False]
    assert run.changes == ()
    [permission] = run.permissions
    assert (permission.allowed, permission.reason) == (False, "the task is read-only")
    assert "acp-path-refused" in run.codes


def test_the_channel_is_among_the_servers_and_a_login_is_taken(work: Work) -> None:
    from dataclasses import replace

    agent = replace(acp_agent("sdk_agent.py"), auth_method="by-hand", acp_read=True)
    run = work(["facts"], agent=agent, channel=True)
    assert json.loads(said(run)[0]) == [["caesar"], None, "by-hand", True]


def test_an_agent_that_wants_another_login_is_told_by_name(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEEDS_LOGIN", "1")
    run = work(["facts"], settings=OrchestratorSettings(pass_env=("NEEDS_LOGIN",)))
    assert (run.status, run.outcome.status) == ("failed", "failed")
    [found] = [one for one in run.diagnostics if one.code == "acp-session-failed"]
    assert "it wants a login (Authentication required), and offers by-hand: name one" in (
        found.message
    )


def test_permissions_are_scripted(work: Work) -> None:
    answers = ScriptedAnswers()
    answers.permit("edit src/*").refuse("edit docs/*", "docs are written by hand")
    answers.permit("execute *")
    run = work(["edit", "src/a.py"], ["edit", "docs/a.md"], ["edit", "top.py"], answers=answers)
    assert [str(one) for one in run.permissions] == [
        "allowed: edit src/a.py",
        "refused: edit docs/a.md (docs are written by hand)",
        "refused: edit top.py (no script of the test is for it)",
    ]
    assert [change.path for change in run.changes] == ["src/a.py"]
    unscripted, unused = answers.problems()
    assert "the agent asked leave for 'edit top.py', and no script is for it" in unscripted
    assert "never asked: caesar_answers.permit('execute *') was not used" in unused


def test_nothing_is_written_outside_the_workspace(
    work: Work, caesar_repo: Repository, tmp_path: Path
) -> None:
    caesar_repo.commit({"in/x": ""})
    (caesar_repo.path / "out").symlink_to(tmp_path)
    caesar_repo.git("add", "-A")
    caesar_repo.git("commit", "-qm", "link")
    places = [
        *(str(tmp_path / "a"), "/nowhere/a", "out/a", "in/../../a", ".git/hooks/pre-commit"),
        *(".caesar/x", "README.md/x", "in", f"{caesar_repo.path}/b"),
    ]
    run = work(*[["write", place] for place in places])
    assert len(said(run)[0].split("refused: ")) == len(places) + 1
    assert run.changes == ()
    assert not (tmp_path / "a").exists()
    assert "; 8 more" in next(
        one.message for one in run.diagnostics if one.code == "acp-path-refused"
    )


def test_the_deadline_cancels_the_session_first(work: Work) -> None:
    run = work(["touch", "begun"], ["hang"], timeout=6)
    assert run.outcome.timed_out
    assert (run.task_dir / "cancelled").exists()
    assert [change.path for change in run.changes] == ["begun"]
    assert "acp-ended-early" in run.codes


ASKS = (
    '{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"toolCall":%s,'
    '"options":{}}}'
)
WRITES = (
    '{"jsonrpc":"2.0","id":7,"method":"fs/write_text_file","params":{"path":"%s","content":""}}'
)


@pytest.mark.parametrize(
    ("how", "code", "words"),
    [
        ({"initialize": ["HANG"]}, "acp-ended-early", "before it answered initialize"),
        ({"session/prompt": ["DIE"]}, "acp-ended-early", "before it answered session/prompt"),
        (
            {"initialize": ['{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":9}}']},
            "acp-session-failed",
            "it speaks version 9 of the protocol, and we 1",
        ),
        (
            {"session/new": ['{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no\\u001b"}}']},
            "acp-session-failed",
            "it refused session/new: no\\x1b",
        ),
        ({"initialize": ["Welcome!", "OK"]}, "acp-malformed", "JSON-RPC 2.0: Welcome!"),
        ({"initialize": ["[1]", "[" * 99999, "OK"]}, "acp-malformed", "; 1 more"),
        ({"initialize": ['{"jsonrpc":"2.0"}', "OK"]}, "acp-malformed", "has no method, result"),
        (
            {"initialize": ['{"jsonrpc":"2.0","id":[],"result":1}', "OK"]},
            "acp-stray-answer",
            "an answer to []",
        ),
        (
            {
                "session/prompt": ['{"jsonrpc":"2.0","id":"x","method":"terminal/resize"}'],
                "an answer": ['{"jsonrpc":"2.0","id":2,"result":{"stopReason":"refusal"}}'],
            },
            "acp-unknown-method",
            "terminal/resize, which is not offered",
        ),
        ({"session/prompt": ["FLOOD", "OK"]}, None, ""),
        (
            {"session/prompt": [ASKS % '{"locations":1,"rawInput":[]}', "OK"], "an answer": []},
            None,
            "refused: other {} (no option allows it)",
        ),
        (
            {"session/prompt": [WRITES % "/a/\\ud800", WRITES % "7", "OK"], "an answer": []},
            "acp-path-refused",
            "no file can have this name; 1 more",
        ),
    ],
)
def test_who_breaks_the_protocol_gets_a_true_run(
    work: Work, how: dict[str, list[str]], code: str | None, words: str
) -> None:
    agent = acp_agent("odd_agent.py", f"'{json.dumps(how)}'")
    run = work(agent=agent, timeout=4 if "HANG" in str(how) else 60)
    if code is None:
        assert run.outcome.status == "succeeded"
        assert [str(one) for one in run.permissions] == ([words] if words else [])
        return
    [found] = [one for one in run.diagnostics if one.code == code]
    assert words in found.message
    assert run.status in ("failed", "partial")
    assert run.source == "synthesized"


def test_a_project_names_an_agent_that_speaks_acp(pytester: pytest.Pytester) -> None:
    pytester.mkdir(".caesar")
    Path(".caesar/config.toml").write_text(
        f'[[agent]]\nid = "mine"\nbin = "{sys.executable}"\nargs = ["{HERE}/sdk_agent.py"]\n'
        'protocol = "acp"\nacp_read = true\nauth_method = "by-hand"\n'
    )
    pytester.makepyfile(
        """
        def test_it(caesar_repo, caesar_orchestrator):
            caesar_repo.commit({"a": ""})
            run = caesar_orchestrator.delegate('STEPS [["facts"], ["edit", "a"], ["report", []]]')
            assert run.source == "file"
            assert run.permissions[0].allowed
            assert '"by-hand", true' in run.raw_log.decode().replace('\\\\', "")
        """
    )
    result = pytester.runpytest_inprocess(
        "-p", "no:randomly", "--caesar-agent=mine", "--caesar-json=out.json"
    )
    result.assert_outcomes(passed=1)
    [run] = json.loads(Path("out.json").read_text())["runs"]
    assert run["permissions"] == [
        {"kind": "edit", "texts": ["a", "Edit a"], "allowed": True, "reason": ""}
    ]


def test_the_kit_asks_nothing_that_such_an_agent_cannot_meet() -> None:
    from pytest_caesar.conformance.checks.check import REGISTERED
    from pytest_caesar.conformance.judging import _does_not_apply

    agent = acp_agent("sdk_agent.py")
    reasons = {name: _does_not_apply(REGISTERED[name].scenario, agent) for name in REGISTERED}
    assert "reads no task file" in reasons["TASK-009"]
    assert reasons["PROCESS-008"] == "it is told its task on stdin"
    assert reasons["CHANGES-011"] == reasons["SURROUNDINGS-001"] == ""


def noted(run: Run) -> list[str]:
    return (run.task_dir / "noted").read_text().splitlines()


# -- programs that the client runs


def test_terminals_run_programs_whose_ends_we_see_ourselves(work: Work) -> None:
    run = work(
        ["terminal", "sh", "-c", "echo made > made.txt; echo one; exit 3"],
        ["terminal", "printf 'x%.0s' $(seq 100)"],
        ["terminal", "no-such-program"],
        ["kill"],
        ["report", ["made.txt"]],
    )
    assert noted(run)[0] == "3 None False one"
    assert noted(run)[1] == f"0 None True {'x' * 60}"
    assert noted(run)[2].startswith("refused: ")
    assert noted(run)[3] == "None SIGTERM"
    seen = [one for one in run.commands if "program" in one.witnesses]
    assert [(one.command, one.observed_exit_code) for one in seen][:2] == [
        ("sh -c 'echo made > made.txt; echo one; exit 3'", 3),
        ("/bin/sh -c 'printf '\"'\"'x%.0s'\"'\"' $(seq 100)'", 0),
    ]
    assert [change.path for change in run.changes] == ["made.txt"]
    assert "acp-terminal-refused" in run.codes


def test_what_a_terminal_still_runs_ends_with_the_agent(work: Work, tmp_path: Path) -> None:
    sign = tmp_path / "sign"
    run = work(
        ["leave", "sh", "-c", f"echo $$ > {sign}; sleep 300; echo late > late.txt"],
        ["terminal", "sh", "-c", f"until [ -s {sign} ]; do sleep 0.02; done"],
        ["report", []],
    )
    assert not is_alive(int(sign.read_text()))
    assert run.changes == ()


def test_a_terminal_begins_in_the_workspace_and_gets_no_secret(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    run = work(
        ["terminal", "sh", "-c", 'basename "$(pwd)"; echo "key:$OPENAI_API_KEY"'], ["report", []]
    )
    assert noted(run) == [f"0 None False {run.workspace.name}", "key:"]


# -- forms


def test_a_form_is_a_question_of_the_return_channel(work: Work) -> None:
    answers = ScriptedAnswers().on("Which one?", "b").on("How many?", "3")
    run = work(
        ["elicit", "Which one?", {"one": {"type": "string", "enum": ["a", "b"]}}],
        ["elicit", "How many?", {"n": {"type": "integer"}}],
        ["report", []],
        answers=answers,
    )
    assert noted(run) == ["accept {'one': 'b'}", "accept {'n': 3}"]
    assert [question.answer for question in run.questions] == ["b", "3"]
    assert list(run.questions[0].options) == ["a", "b"]


# -- kept and looked at again


def test_a_recording_and_recover_know_what_it_did(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        STEPS = [["edit", "src/new.py"], ["terminal", "sh", "-c", "exit 3"], ["report", ["src/new.py"]]]

        def test_it(caesar_repo, caesar_orchestrator, caesar_answers):
            import json
            caesar_answers.permit("edit src/*")
            caesar_repo.commit({"README.md": "x\\n"})
            run = caesar_orchestrator.delegate("STEPS " + json.dumps(STEPS), timeout=60)
            assert run.succeeded
            assert [(str(one.request), one.allowed) for one in run.permissions] == [
                ("edit src/new.py", True)
            ]
            seen = [one for one in run.commands if "program" in one.witnesses]
            assert [(one.command, one.observed_exit_code) for one in seen] == [("sh -c 'exit 3'", 3)]
            assert (run.recording is None) == {recorded}
        """.replace("{recorded}", "EXPECTED")
    )
    test = next(pytester.path.glob("test_*.py"))
    text = test.read_text()
    agent = f"--caesar-agent=acp:{sys.executable} {HERE / 'sdk_agent.py'}"
    test.write_text(text.replace("EXPECTED", "True"))
    recorded = pytester.runpytest("-p", "no:randomly", agent, "--caesar-record=once")
    recorded.assert_outcomes(passed=1)
    test.write_text(text.replace("EXPECTED", "False"))
    played = pytester.runpytest("-p", "no:randomly", agent, "--caesar-record=none")
    played.assert_outcomes(passed=1)


def test_recover_reads_what_an_acp_agent_left(
    work: Work, capsys: pytest.CaptureFixture[str]
) -> None:
    run = work(["say", "I look."], ["edit", "src/new.py"], ["report", ["src/new.py"]])
    assert main(["recover", str(run.task_dir), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"]["summary"] == "Done."


def test_one_is_run_from_the_command_line(
    caesar_repo: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    caesar_repo.commit({"README.md": "x\n"})
    monkeypatch.chdir(caesar_repo.path)
    steps = json.dumps([["edit", "src/new.py"], ["report", ["src/new.py"]]])
    agent = f"acp:{sys.executable} {HERE / 'sdk_agent.py'}"
    assert main(["run", agent, f"STEPS {steps}", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["path"] for one in told["changes"]] == ["src/new.py"]
    assert told["permissions"][0]["allowed"] is True
