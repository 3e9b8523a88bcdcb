"""What a client may do to the server of the return channel, bytes first."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from caesar_agent.channel import boot
from caesar_agent.mailbox.errors import QuestionWithdrawnError
from caesar_agent.mailbox.mailbox import Mailbox
from tests.caesar_agent.channel.client import (
    COMMAND,
    TIMEOUT,
    RawClient,
    environment,
    events,
    make_task,
    question_ids,
    wait_for_question,
)

pytest.importorskip("mcp")

BANNER = "print('Starting …')\nimport os; os.system('echo banner of a child')\n"


@pytest.fixture(scope="module")
def task_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_task(tmp_path_factory.mktemp("channel") / "task")


@pytest.fixture(scope="module")
def client(task_dir: Path) -> Iterator[RawClient]:
    """One server for all that must not end it; each test proves that it still answers."""
    with RawClient(task_dir) as client:
        client.start()
        yield client
        assert client.end() == 0
        assert client.stray == []


@pytest.fixture(autouse=True)
def _still_answers(request: pytest.FixtureRequest) -> Iterator[None]:
    yield
    if "client" in request.fixturenames:
        client = request.getfixturevalue("client")
        client.request("still", "ping")
        assert client.answer("still")["result"] == {}


# -- what is no request


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"this is no JSON", -32700),
        (b"\xff\xfe\x00", -32700),
        (b"{" * 100_000, -32700),
        (b'{"jsonrpc": "2.0", "id": 1', -32700),
        (b"42", -32600),
        (b"{}", -32600),
        (b"[]", -32600),
        (b'"text"', -32600),
        (b'{"jsonrpc": "1.0", "method": "ping"}', -32600),
    ],
)
def test_a_line_that_is_no_message_is_refused_by_code(
    client: RawClient, line: bytes, code: int
) -> None:
    client.raw(line + b"\n")
    assert client.answer(None)["error"]["code"] == code


def test_a_refusal_names_the_request_where_it_has_an_id(client: RawClient) -> None:
    client.send({"jsonrpc": "2.0", "id": "odd", "method": 7})
    assert client.answer("odd")["error"]["code"] == -32600


def test_blank_lines_and_windows_line_ends_are_nothing(client: RawClient) -> None:
    client.raw(b'\n  \r\n\t\n{"jsonrpc": "2.0", "id": "crlf", "method": "ping"}\r\n')
    assert client.answer("crlf")["result"] == {}


def test_each_message_of_a_batch_is_answered(client: RawClient) -> None:
    ping = {"jsonrpc": "2.0", "method": "ping"}
    client.send([{**ping, "id": "b1"}, 42, {**ping, "id": "b2"}])
    assert client.answer("b1")["result"] == {}
    assert client.answer("b2")["result"] == {}
    assert client.answer(None)["error"]["code"] == -32600


def test_an_unknown_method_is_an_error_of_the_protocol(client: RawClient) -> None:
    client.request("um", "no/such/method")
    assert client.answer("um")["error"]["code"] == -32601


def test_an_unknown_notification_is_ignored(client: RawClient) -> None:
    client.send({"jsonrpc": "2.0", "method": "notifications/no_such_thing"})


def test_a_request_of_several_megabytes_arrives_whole(client: RawClient, task_dir: Path) -> None:
    details = "x" * (5 << 20)
    report = {"protocol": "caesar.report/v1", "status": "success", "summary": "Long."}
    client.call("large", "submit_report", **report, details=details)
    assert client.result("large") == {"ok": True, "task_id": "t_1"}
    assert json.loads((task_dir / "report.json").read_bytes())["details"] == details


def test_a_lone_surrogate_is_json_and_survives(client: RawClient, task_dir: Path) -> None:
    report = {"protocol": "caesar.report/v1", "status": "success", "summary": "half \ud83d"}
    client.call("surrogate", "submit_report", **report)
    assert client.result("surrogate") == {"ok": True, "task_id": "t_1"}
    assert json.loads((task_dir / "report.json").read_bytes())["summary"] == "half \ud83d"
    client.call("echo", "\ud83d")
    assert "'\\ud83d'" in client.result("echo")["error"]


def test_a_number_of_any_length_is_refused_where_it_stands(client: RawClient) -> None:
    client.raw(
        b'{"jsonrpc": "2.0", "id": 9001, "method": "tools/call", "params": {"name": '
        b'"report_progress", "arguments": {"message": "x", "pct": ' + b"9" * 10_000 + b"}}}\n"
    )
    assert "at pct: expected a number from 0 to 100" in client.result(9001)["error"]


def test_arguments_that_are_nested_too_deeply_are_refused(client: RawClient) -> None:
    deep = b"[" * 900 + b"]" * 900
    client.raw(
        b'{"jsonrpc": "2.0", "id": "deep", "method": "tools/call", "params": {"name": '
        b'"submit_report", "arguments": {"protocol": "caesar.report/v1", "status": "success", '
        b'"summary": "Deep.", "x": ' + deep + b"}}}\n"
    )
    assert "invalid report" in client.result("deep")["error"]


def test_a_request_that_comes_in_pieces_is_put_together(client: RawClient) -> None:
    for byte in b'{"jsonrpc": "2.0", "id": "slow", "method": "ping"}\n':
        client.raw(bytes([byte]))
    assert client.answer("slow")["result"] == {}


@pytest.mark.parametrize(
    "params",
    [{"name": "get_task", "arguments": [1]}, {"arguments": {}}, {"name": 7, "arguments": {}}],
)
def test_a_call_that_is_no_call_is_an_error_of_the_protocol(
    client: RawClient, params: dict[str, Any]
) -> None:
    client.request("bad", "tools/call", **params)
    assert client.answer("bad")["error"]["code"] == -32602


def test_the_server_answers_while_a_question_waits(client: RawClient, task_dir: Path) -> None:
    known = question_ids(task_dir)
    client.call("ask", "ask_orchestrator", question="Wait?")
    question = wait_for_question(task_dir, known)
    client.request("ping", "ping")
    client.call("tell", "report_progress", message="still here")
    client.request("list", "tools/list")
    assert client.answer("ping")["result"] == {}
    assert client.result("tell") == {"ok": True}
    assert len(client.answer("list")["result"]["tools"]) == 4
    assert not client.has_answered("ask")
    Mailbox(task_dir).answer(question, "go")
    assert client.result("ask") == {"id": question, "answered": True, "answer": "go"}


def test_a_cancelled_call_withdraws_its_question_and_is_not_answered(
    client: RawClient, task_dir: Path
) -> None:
    known = question_ids(task_dir)
    client.call("cancel me", "ask_orchestrator", question="Wait?")
    question = wait_for_question(task_dir, known)
    client.send(
        {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": "cancel me", "reason": "changed my mind"},
        }
    )
    client.request("after", "ping")
    assert client.answer("after")["result"] == {}
    reply = Mailbox(task_dir).wait(question, timeout=TIMEOUT)
    assert getattr(reply, "reason", None) == "withdrawn"
    assert not client.has_answered("cancel me")


def test_progress_is_told_while_a_question_waits_where_it_was_asked_for(
    client: RawClient, task_dir: Path
) -> None:
    known = question_ids(task_dir)
    client.request(
        "token",
        "tools/call",
        name="ask_orchestrator",
        arguments={"question": "Wait?"},
        _meta={"progressToken": "p1"},
    )
    question = wait_for_question(task_dir, known)
    while not client.notifications:
        assert client._take()
    Mailbox(task_dir).answer(question, "go")
    assert client.result("token")["answer"] == "go"
    [told] = client.notifications
    assert told["method"] == "notifications/progress"
    assert told["params"]["progressToken"] == "p1"
    assert 0 <= told["params"]["progress"] < told["params"]["total"] <= 600


# -- the beginning and the end


def test_a_call_before_the_handshake_is_refused_and_the_handshake_still_works(
    tmp_path: Path,
) -> None:
    with RawClient(make_task(tmp_path)) as client:
        client.call("early", "get_task")
        assert "error" in client.answer("early")
        assert client.start()["serverInfo"]["name"] == "caesar-channel"


def test_the_end_of_the_input_withdraws_a_waiting_question_and_ends_the_server(
    tmp_path: Path,
) -> None:
    with RawClient(make_task(tmp_path)) as client:
        client.start()
        client.call("ask", "ask_orchestrator", question="Which port?")
        question = wait_for_question(tmp_path)
        assert client.end() == 0
        with pytest.raises(QuestionWithdrawnError):
            Mailbox(tmp_path).answer(question, "8080")
        assert client.errors == ""


def test_what_came_before_the_end_of_the_input_is_still_answered(tmp_path: Path) -> None:
    with RawClient(make_task(tmp_path)) as client:
        client.start()
        for number in range(20):
            client.call(number, "report_progress", message=f"step {number}")
        assert client.end() == 0
        assert [client.result(number) for number in range(20)] == [{"ok": True}] * 20
    assert [event["message"] for event in events(tmp_path)] == [
        f"step {number}" for number in range(20)
    ]


def test_a_signal_withdraws_a_waiting_question_too(tmp_path: Path) -> None:
    with RawClient(make_task(tmp_path)) as client:
        client.start()
        client.call("ask", "ask_orchestrator", question="Which port?")
        question = wait_for_question(tmp_path)
        client.process.send_signal(signal.SIGTERM)
        assert client.process.wait(TIMEOUT) == 0
        assert getattr(Mailbox(tmp_path).poll(question), "reason", None) == "withdrawn"


def test_a_client_that_has_stopped_reading_ends_the_server(tmp_path: Path) -> None:
    with RawClient(make_task(tmp_path)) as client:
        client.start()
    process = subprocess.Popen(
        [*COMMAND, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment()
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdout.close()
    process.stdin.write(b"no JSON\n" + b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
    process.stdin.flush()
    assert process.wait(TIMEOUT) == 0
    process.stdin.close()


def test_requests_may_come_from_a_file(tmp_path: Path) -> None:
    task_dir = make_task(tmp_path / "task")
    (tmp_path / "input").write_text('{"jsonrpc": "2.0", "id": 1, "method": "ping"}')
    with (tmp_path / "input").open() as file:
        done = subprocess.run(
            [*COMMAND, str(task_dir)],
            stdin=file,
            capture_output=True,
            env=environment(),
            timeout=TIMEOUT,
            check=True,
        )
    assert json.loads(done.stdout)["result"] == {}


# -- nothing but the protocol on stdout


def test_what_prints_while_the_server_runs_goes_to_stderr(tmp_path: Path) -> None:
    # An event log that cannot be written makes the server complain; warnings are on.
    task_dir = make_task(tmp_path / "task")
    (task_dir / "events.jsonl").mkdir()
    env = environment(PYTHONWARNINGS="default", PYTHONASYNCIODEBUG="1", MCP_DEBUG="1")
    with RawClient(task_dir, env=env) as client:
        client.start()
        client.call("tell", "report_progress", message="hello")
        assert "error" in client.result("tell")
        client.call("ask", "ask_orchestrator", question="Heard?")
        Mailbox(task_dir).answer(wait_for_question(task_dir), "yes")
        assert client.result("ask")["answer"] == "yes"
        assert client.end() == 0
        assert client.stray == []
        assert "the question is not in the event log" in client.errors


@pytest.mark.parametrize("way", ["task.channel", "caesar-agent"])
def test_what_prints_while_python_starts_goes_to_stderr(tmp_path: Path, way: str) -> None:
    task_dir = make_task(tmp_path / "task")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(BANNER, encoding="utf-8")
    command: tuple[str, ...] = (sys.executable, "-S", boot.__file__)
    if way == "caesar-agent":
        command = (str(installed(tmp_path / "bin")), "channel")
    env = environment(PYTHONPATH=str(tmp_path / "site"))
    with RawClient(task_dir, command=command, env=env, cwd=Path(os.sep)) as client:
        client.start()
        client.call("task", "get_task")
        assert client.result("task")["objective"] == "Fix the parser."
        assert client.end() == 0
        assert client.stray == []
        assert "Starting" in client.errors
        assert "banner of a child" in client.errors


def installed(folder: Path) -> Path:
    """Lay the command out as an installation does, and return a link to it."""
    folder.mkdir()
    script = Path(__file__).parents[3] / "scripts" / "caesar-agent"
    shutil.copy(script, folder / "caesar-agent")
    # A link would lose its virtual environment.
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    link = folder.parent / "caesar-agent"
    link.symlink_to("bin/caesar-agent")
    return link


def test_the_command_in_a_shell_is_otherwise_the_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [installed(tmp_path / "bin"), "questions", tmp_path / "task that is not there"],
        capture_output=True,
        env=environment(),
        timeout=TIMEOUT,
        check=False,
    )
    assert done.returncode == 2
    assert b"task that is not there is not a folder" in done.stderr


def test_the_command_imports_nothing_from_the_folder_it_is_called_in(tmp_path: Path) -> None:
    (tmp_path / "caesar_agent").mkdir()
    (tmp_path / "caesar_agent" / "__init__.py").write_text("raise SystemExit('not ours')\n")
    done = subprocess.run(
        [installed(tmp_path / "bin"), "--version"],
        cwd=tmp_path,
        capture_output=True,
        env=environment(),
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"caesar-agent ")


@pytest.mark.parametrize("request_id", [None, 1.5, True, [1]])
def test_an_id_that_is_none_is_refused_and_told(
    client: RawClient, task_dir: Path, request_id: object
) -> None:
    client.send({"jsonrpc": "2.0", "id": request_id, "method": "ping"})
    assert client.answer(None)["error"]["code"] == -32600
    assert events(task_dir)[-1]["code"] == "request-unanswerable"
