from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest

from caesar_agent.processes.process_tree import ProcessTree
from tests.caesar_agent.sdk import Desk, make_desk

ENOUGH = 30
"""Seconds that no test needs, so that a hang is a failure."""


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return make_desk(tmp_path)


def stop_when_ready(
    process: subprocess.Popen[str], number: signal.Signals = signal.SIGTERM
) -> tuple[str, str]:
    """Send a signal when the agent has printed its first line; return what it printed."""
    assert process.stdout is not None
    first = process.stdout.readline()
    process.send_signal(number)
    out, err = process.communicate(timeout=ENOUGH)
    return first + out, err


def test_a_worker_that_the_agent_ends_says_nothing_for_the_agent(desk: Desk) -> None:
    # multiprocessing ends the workers of a pool like this.
    process = desk.start("""
        import os, signal, time
        def main(agent):
            ready, say = os.pipe()
            worker = os.fork()
            if worker == 0:
                os.write(say, b".")
                time.sleep(60)
                os._exit(0)
            agent.submit(agent.success("handed in"))
            # Python forgets a signal that comes while it makes a child of itself.
            os.read(ready, 1)
            os.kill(worker, signal.SIGTERM)
            status = os.waitpid(worker, 0)[1]
            print(os.waitstatus_to_exitcode(status))
        caesar_agent.run(main)
    """)
    out, err = process.communicate(timeout=ENOUGH)

    assert (process.returncode, out, err) == (0, "-15\n", "")
    assert desk.report["summary"] == "handed in"
    assert desk.told == ["started", "finished"]


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("sys.exit(0)", 0),
        ("sys.exit(7)", 7),
        ("raise RuntimeError", 1),
        ("return agent.failed('of the child')", 1),
    ],
)
def test_a_child_that_comes_out_of_main_reports_nothing(desk: Desk, end: str, code: int) -> None:
    process = desk.start(f"""
        import os, sys
        def main(agent):
            child = os.fork()
            if child == 0:
                {end}
            agent.submit(agent.success("of the parent"))
            status = os.waitpid(child, 0)[1]
            print(os.waitstatus_to_exitcode(status))
        caesar_agent.run(main)
    """)
    out, _ = process.communicate(timeout=ENOUGH)

    assert (process.returncode, out) == (0, f"{code}\n")
    assert desk.report["summary"] == "of the parent"
    assert desk.told == ["started", "finished"]


def test_a_child_that_comes_out_of_main_does_not_go_on_with_what_its_caller_does(
    desk: Desk,
) -> None:
    process = desk.start("""
        import os
        from caesar_agent.running.runner import execute
        def main(agent):
            child = os.fork()
            if child == 0:
                print("in the child")
                raise SystemExit(3)
            os.waitpid(child, 0)
            return agent.success("of the parent")
        code = execute(main, environ=os.environ, install_signals=False)
        print("went on", code)
    """)
    out, _ = process.communicate(timeout=ENOUGH)

    assert (process.returncode, out) == (0, "in the child\nwent on 0\n")
    assert desk.report["summary"] == "of the parent"


SYNC = """
    import time
    def main(agent):
        agent.file_changed("a.py", "modified")
        print("ready", flush=True)
        time.sleep(60)
        return agent.success("never")
    caesar_agent.run(main)
"""

ASYNC = """
    import asyncio
    async def main(agent):
        agent.file_changed("a.py", "modified")
        print("ready", flush=True)
        await asyncio.sleep(60)
        return agent.success("never")
    caesar_agent.run(main)
"""

ASYNC_CALLBACK = """
    import asyncio, time
    async def main(agent):
        agent.file_changed("a.py", "modified")
        def busy():
            print("ready", flush=True)
            time.sleep(60)
        asyncio.get_running_loop().call_soon(busy)
        await asyncio.sleep(60)
        return agent.success("never")
    caesar_agent.run(main)
"""

IN_COMMAND = """
    def main(agent):
        agent.file_changed("a.py", "modified")
        agent.command("echo ready; sleep 60; echo never")
        return agent.success("never")
    caesar_agent.run(main)
"""

IN_COMMAND_OF_A_THREAD = """
    import asyncio
    async def main(agent):
        agent.file_changed("a.py", "modified")
        await asyncio.to_thread(agent.command, "echo ready; sleep 60; echo never")
        return agent.success("never")
    caesar_agent.run(main)
"""

DEAF = """
    import time
    def main(agent):
        agent.file_changed("a.py", "modified")
        while True:
            try:
                print("ready", flush=True)
                time.sleep(60)
            except BaseException:
                pass
    caesar_agent.run(main)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize(
    "body",
    [SYNC, ASYNC, ASYNC_CALLBACK, IN_COMMAND, IN_COMMAND_OF_A_THREAD],
    ids=["sync", "async", "async-callback", "in-command", "in-command-of-a-thread"],
)
def test_a_signal_leaves_a_failed_report_that_says_so(
    desk: Desk, body: str, number: signal.Signals
) -> None:
    process = desk.start(body)

    _, err = stop_when_ready(process, number)

    assert process.returncode == 1, err
    assert desk.report["status"] == "failed"
    assert desk.report["summary"] == f"The agent was stopped by {number.name} before it was done."
    assert desk.report["changes"][0]["path"] == "a.py"
    assert desk.told[-2:] == ["error", "finished"]
    assert desk.events[-1]["status"] == "failed"
    assert err == ""


def test_an_agent_that_swallows_the_signal_is_ended_and_its_report_lies_there(desk: Desk) -> None:
    process = desk.start(DEAF)

    _, err = stop_when_ready(process)

    assert process.returncode == 1
    assert desk.report["summary"] == "The agent was stopped by SIGTERM before it was done."
    assert err == "caesar: the agent was told to stop and did not end in time; it is ended now\n"


def test_a_command_that_ignores_the_signal_is_ended_with_all_it_started(desk: Desk) -> None:
    process = desk.start("""
        def main(agent):
            agent.command("trap '' TERM; (trap '' TERM; sleep 60) & echo $! $$; wait; sleep 60")
            return agent.success("never")
        caesar_agent.run(main)
    """)

    out, _ = stop_when_ready(process)

    assert process.returncode == 1
    for pid in out.split():
        assert is_gone(int(pid))
    (command,) = desk.report["commands_run"]
    assert "exit_code" not in command
    assert command["note"] == "interrupted"


def is_gone(pid: int) -> bool:
    # A zombie that its new parent has not reaped is gone as well.
    return not ProcessTree({pid: ""}).alive(beside=0)


def test_what_an_agent_says_when_it_is_stopped_counts(desk: Desk) -> None:
    process = desk.start("""
        import time
        def main(agent):
            try:
                print("ready", flush=True)
                time.sleep(60)
            except caesar_agent.Interrupted as stop:
                return agent.partial(f"half: {stop.reason}", next_steps=["the rest"])
        caesar_agent.run(main)
    """)

    stop_when_ready(process)

    assert process.returncode == 0
    assert desk.report["summary"] == "half: stopped by SIGTERM"


def test_a_second_signal_does_not_disturb_the_tidying_up(desk: Desk) -> None:
    process = desk.start("""
        import os, signal, time
        def main(agent):
            try:
                print("ready", flush=True)
                time.sleep(60)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)
                os.kill(os.getpid(), signal.SIGINT)
                agent.file_changed("tidy", "created")
        caesar_agent.run(main)
    """)

    _, err = stop_when_ready(process)

    assert process.returncode == 1, err
    assert [change["path"] for change in desk.report["changes"]] == ["tidy"]


def test_a_signal_after_a_submitted_report_does_not_unsay_it(desk: Desk) -> None:
    process = desk.start("""
        import time
        def main(agent):
            agent.submit(agent.success("handed in"))
            print("ready", flush=True)
            time.sleep(60)
        caesar_agent.run(main)
    """)

    stop_when_ready(process)

    assert process.returncode == 0
    assert desk.report["summary"] == "handed in"


def test_a_signal_does_not_tear_an_event(desk: Desk) -> None:
    process = desk.start("""
        def main(agent):
            agent.progress("x")
            print("ready", flush=True)
            while True:
                agent.progress("x" * 10_000)
        caesar_agent.run(main)
    """)

    stop_when_ready(process)

    assert process.returncode == 1
    assert [event["seq"] for event in desk.events] == list(range(len(desk.events)))
    assert desk.told[-2:] == ["error", "finished"]


def test_a_question_that_waits_when_the_agent_is_stopped_is_withdrawn(tmp_path: Path) -> None:
    channel = {"transport": "mcp-stdio", "command": "unused", "args": [], "server_name": "caesar"}
    desk = make_desk(tmp_path, channel=channel)
    process = desk.start("""
        import threading, time
        def main(agent):
            def tell():
                while not list((agent.workspace.parent / "task").glob("questions/*.json")):
                    time.sleep(0.01)
                print("ready", flush=True)
            threading.Thread(target=tell, daemon=True).start()
            agent.ask("Which?")
            return agent.success("never")
        caesar_agent.run(main)
    """)

    stop_when_ready(process)

    from caesar_agent.mailbox.errors import QuestionWithdrawnError
    from caesar_agent.mailbox.mailbox import Mailbox

    (question,) = (desk.directory / "questions").glob("*.json")
    assert process.returncode == 1
    with pytest.raises(QuestionWithdrawnError):
        Mailbox(desk.directory).answer(question.stem, "too late")
