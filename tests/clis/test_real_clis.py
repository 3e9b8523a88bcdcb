"""What each real CLI does with the scripted model, and what the harness tells of it."""

from __future__ import annotations

import os
import re
from typing import Any

import psutil
import pytest

from pytest_caesar.answers.scripted_answers import ScriptedAnswers
from pytest_caesar.model.scripted_model import ScriptedModel
from pytest_caesar.sandboxes.choice import proof_of
from pytest_caesar.sandboxes.sandbox import SandboxError
from tests.clis.conftest import Delegate

pytestmark = [pytest.mark.timeout(300)]

EDITED = "def parse(s):\n    return s[:1]\n"


def test_a_question_and_the_report_over_the_channel(
    model: ScriptedModel, delegate: Delegate
) -> None:
    answers = ScriptedAnswers()
    answers.on("Keep the old behaviour?", "no")
    model.say("Looking.").shell("cat src/parser.py; exit 3")
    model.ask("Keep the old behaviour?", options=["yes", "no"])
    model.edit("src/parser.py", "s[0]", "s[:1]").expect(lambda asked: '"no"' in asked.last_result)
    model.write("src/parser.py", EDITED + "# done\n")
    model.report("success", "Parser fixed.", changes=["src/parser.py"])

    run = delegate(answers=answers)

    assert model.judge() is None
    assert answers.judge() is None
    assert (run.source, run.succeeded) == ("channel", True)
    assert run.reconciliation.undeclared == ()
    assert (run.workspace / "src" / "parser.py").read_text() == EDITED + "# done\n"
    assert "return s[0]" in model.requests[1].results[0]
    assert "Fix the parser" in model.requests[0].users[-1]


def test_a_report_by_schema_or_file(cli: str, model: ScriptedModel, delegate: Delegate) -> None:
    model.write("new.txt", "new\n")
    model.report("success", "Written.", changes=[("new.txt", "created")])

    run = delegate()

    assert model.judge() is None
    assert run.succeeded
    assert run.source == ("schema" if cli == "codex" else "file")
    assert [(change.path, change.action) for change in run.changes] == [("new.txt", "created")]
    told = [event.model_dump() for event in run.events if event.type == "file_changed"]
    assert [(event["path"].endswith("new.txt"), event["action"]) for event in told[:1]] == [
        (True, "created")
    ]


def test_a_read_only_mode_holds_and_reports_in_words(
    cli: str, model: ScriptedModel, delegate: Delegate
) -> None:
    if cli in ("codex", "copilot"):
        model.shell("echo changed > src/parser.py")
    elif cli == "gemini":
        model.write("src/parser.py", "changed\n")
    model.report("partial", "Only looked.", next_steps=["Write it."])

    run = delegate(mode="read-only")

    assert model.judge() is None
    assert run.changes == ()
    assert run.source == {"codex": "schema"}.get(cli, "extracted")
    if cli == "opencode":
        assert not {"bash", "write", "edit"} & set(model.requests[0].tools)


def test_the_network_is_what_the_task_says(
    cli: str, model: ScriptedModel, delegate: Delegate
) -> None:
    port = int(model.url.rpartition(":")[2])
    connect = f"import socket; socket.create_connection(('127.0.0.1', {port}), 5)"
    model.shell(f'python3 -c "{connect}" && echo reached')
    model.report("success", "Tried.")

    run = delegate(network="off")

    assert model.judge() is None
    reached = (
        re.search(r"^(Output: )?reached$", model.requests[-1].results[0], re.MULTILINE) is not None
    )
    assert reached is run.task.network, model.requests[-1].results[0]
    assert run.task.network is (cli != "codex")


def test_the_model_that_is_asked_for_is_asked(
    cli: str, model: ScriptedModel, delegate: Delegate
) -> None:
    name = {"opencode": "acme/large", "codex": "gpt-5.5", "gemini": "gemini-2.5-flash"}
    model.say("Nothing to do.")
    delegate(model=name.get(cli, "large"), mode="read-only")
    assert {request.model for request in model.requests if not request.side} == {
        {"opencode": "large"}.get(cli, name.get(cli, "large"))
    }


def test_a_login_that_is_refused_fails_at_once(model: ScriptedModel, delegate: Delegate) -> None:
    model.say("Never said.").fail(401, message="bad key")
    run = delegate()
    assert run.status == "failed"
    assert run.outcome.status == "failed"
    assert run.outcome.duration_ms < 80_000


@pytest.mark.parametrize("status", [429, 500])
def test_a_passing_error_ends_codex_and_is_overcome_by_the_others(
    cli: str, status: int, model: ScriptedModel, delegate: Delegate
) -> None:
    model.write("new.txt", "new\n").fail(status, times=1)
    model.report("success", "Written.", changes=[("new.txt", "created")])
    run = delegate()
    assert run.succeeded is (cli != "codex")


FAULTS: dict[str, dict[str, Any]] = {
    "cut at the start": {"where": "start"},
    "cut in the midst": {"where": "mid", "abrupt": True},
}


@pytest.mark.parametrize("fault", [*FAULTS, "malformed"])
def test_a_broken_answer_never_becomes_a_success(
    fault: str, model: ScriptedModel, delegate: Delegate
) -> None:
    model.max_requests = 8
    turn = model.say("Half of it, and then there is nothing more to be said of all this.")
    if fault == "malformed":
        turn.malformed()
    else:
        turn.cut(**FAULTS[fault])
    run = delegate(timeout=40)
    assert not run.succeeded


def test_a_deadline_leaves_nobody_behind(
    cli: str, model: ScriptedModel, delegate: Delegate
) -> None:
    marker = f"caesar-survivor-{cli}"
    ignoring = "import signal, time; [signal.signal(n, signal.SIG_IGN) for n in (2, 15, 1)]"
    model.shell(f"python3 -c '{ignoring}; time.sleep(300)' {marker}")
    model.say("Never said.")
    run = delegate(timeout=12)
    # codex goes on beside a slow command.
    assert run.outcome.timed_out or cli == "codex"
    lines = [
        " ".join(process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])
    ]
    assert [line for line in lines if marker in line] == []


def test_five_runs_have_equal_events(model: ScriptedModel, delegate: Delegate) -> None:
    model.say("Looking.").shell("cat src/parser.py")
    model.write("new.txt", "new\n")
    model.report("success", "Written.", changes=[("new.txt", "created")])
    told = []
    for _ in range(5):
        run = delegate()
        assert run.succeeded
        told.append(
            [
                (event.type, getattr(event, "tool", ""), getattr(event, "status", ""))
                for event in run.events
            ]
        )
    assert told == [told[0]] * 5


def test_it_works_in_the_sandbox_without_any_network(
    cli: str, model: ScriptedModel, delegate: Delegate
) -> None:
    try:
        proof_of("bubblewrap")
    except SandboxError as error:
        pytest.skip(str(error))
    answers = ScriptedAnswers()
    answers.on("Keep the old behaviour?", "no")
    model.shell("echo new > new.txt; git add new.txt; git commit -qm new")
    model.ask("Keep the old behaviour?", options=["yes", "no"])
    model.report("success", "Written.", changes=[("new.txt", "created")])

    run = delegate(answers=answers, sandbox="bubblewrap", network="off")

    assert model.judge() is None
    assert answers.judge() is None
    assert (run.source, run.succeeded) == ("channel", True)
    assert run.sandbox is not None
    assert run.task.network is False
    assert "commits-left-out" not in run.codes
    assert ("own-sandbox-off" in run.codes) == (cli == "codex" and os.getuid() == 0)
