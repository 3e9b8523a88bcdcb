from __future__ import annotations

import asyncio
import importlib
import json
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from freezegun import freeze_time

from caesar_agent.clock import monotonic, pause
from pytest_caesar.orchestrator.in_process.function_run import InProcessError, run_function
from pytest_caesar.orchestrator.in_process.loading import (
    FunctionMissingError,
    ModuleNotImportedError,
    load_function,
)
from pytest_caesar.supervision.cancellation import Cancellation
from pytest_caesar.supervision.outcome import Outcome
from pytest_caesar.supervision.start_errors import WorkspaceMissingError
from tests.pytest_caesar.plugin.running import QUIET
from tests.pytest_caesar.supervision.supervising import CHILDREN, Bench, is_alive

# What such a function leaves open is reported whenever it is collected.
untidy = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


class Stage:
    """A bench with a task on it, for functions."""

    def __init__(self, bench: Bench) -> None:
        folder = bench.task_directory
        self.bench = bench
        self.report_file = folder / "report.json"
        task = {
            "protocol": "caesar.task/v1", "id": "t_1", "created_at": "2026-01-01T00:00:00Z",
            "agent": "a", "objective": "o", "mode": "write", "isolation": "inplace",
            "workspace": str(bench.workspace), "deadline_ms": 60000,
            "report_path": str(self.report_file), "events_path": str(folder / "events.jsonl"),
        }  # fmt: skip
        (folder / "task.json").write_text(json.dumps(task))
        self.environ = {
            "PATH": os.environ["PATH"],
            "CAESAR_TASK_DIR": str(folder),
            "CAESAR_TASK_FILE": str(folder / "task.json"),
            "CAESAR_REPORT_PATH": str(self.report_file),
            "CAESAR_EVENTS_PATH": str(folder / "events.jsonl"),
            "CAESAR_TASK_ID": "t_1",
            "CAESAR_AGENT": "a",
            "CAESAR_DEPTH": "1",
            "CAESAR_PROTOCOL_VERSION": "1",
        }

    def run(self, name: str, **options: Any) -> Outcome:
        settings = {
            "import_root": str(CHILDREN), "environ": self.environ, "cwd": self.bench.workspace,
            "stdout": self.bench.log.fd, "stderr": self.bench.log.fd, "timeout": 20, "grace": 0.1,
        }  # fmt: skip
        return run_function(name if ":" in name else f"functions:{name}", **{**settings, **options})

    @property
    def output(self) -> str:
        return self.bench.output.decode()

    @property
    def report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self.report_file.read_text())
        return report


@pytest.fixture
def stage(bench: Bench) -> Iterator[Stage]:
    yield Stage(bench)
    sys.modules.pop("functions", None)


@pytest.fixture
def loaded(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> Stage:
    """A stage whose functions are imported: a short deadline is theirs, however busy the machine."""
    monkeypatch.setattr(sys, "path", [str(CHILDREN), *sys.path])
    importlib.import_module("functions")
    return stage


def open_descriptors() -> list[str]:
    return sorted(entry.name for entry in Path("/dev/fd").iterdir())


def state() -> tuple[Any, ...]:
    umask = os.umask(0o077)
    os.umask(umask)
    handlers = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM)]
    descriptors = [(os.fstat(n).st_dev, os.fstat(n).st_ino) for n in range(3)]
    return (
        dict(os.environ), Path.cwd(), list(sys.path), list(sys.argv), umask, handlers, descriptors,
        sys.stdin, sys.stdout, sys.stderr, sys.breakpointhook, signal.getitimer(signal.ITIMER_REAL),
    )  # fmt: skip


def test_a_function_that_takes_no_agent_is_told_how_to(stage: Stage) -> None:
    outcome = stage.run("take_nothing")
    assert outcome.exit_code == 1
    assert "write it as def take_nothing(agent): …" in stage.report["summary"]
    assert "Traceback" not in stage.output


# -- what it sees, and what is left of it


def test_it_sees_what_a_process_would(stage: Stage) -> None:
    outcome = stage.run("look_around")
    assert (outcome.status, outcome.exit_code, outcome.leaked) == ("succeeded", 0, ())
    assert outcome.diagnostics == ()
    assert stage.report["status"] == "success"
    assert stage.output.splitlines() == [
        "printed",
        "complained",
        "written",
        "by a child",
        f"cwd {stage.bench.workspace}",
        "argv ['functions:look_around']",
        "stdin '' b''",
        "terminal [False, False, False] False",
        f"variables {sorted(stage.environ)}",
    ]


@untidy
@pytest.mark.parametrize("name", ["look_around", "make_a_mess", "fail", "leave", "leave_children"])
def test_everything_is_given_back(stage: Stage, name: str) -> None:
    before = state()
    stage.run(name)
    # A timer cannot be compared while it runs: pytest-timeout's goes on.
    assert state()[:-1] == before[:-1]


@pytest.mark.parametrize("name", ["sleep", "break_off"])
def test_everything_is_given_back_after_an_interruption(loaded: Stage, name: str) -> None:
    before = state()
    try:
        loaded.run(name, timeout=0.4)
    except KeyboardInterrupt:
        assert name == "break_off"
    assert state()[:-1] == before[:-1]


def test_the_capture_around_it_goes_on(stage: Stage, capfd: pytest.CaptureFixture[str]) -> None:
    print("before")
    stage.run("look_around")
    print("after")
    os.write(1, b"and below\n")
    assert capfd.readouterr().out == "before\nafter\nand below\n"


def test_a_closed_standard_descriptor_stays_closed(stage: Stage) -> None:
    saved = os.dup(0)
    os.close(0)
    try:
        stage.run("look_around")
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(0)
    finally:
        os.dup2(saved, 0)
        os.close(saved)


def test_a_log_may_lie_where_a_standard_descriptor_was_closed(stage: Stage) -> None:
    saved = os.dup(0)
    os.dup2(stage.bench.log.fd, 0)
    try:
        stage.run("look_around", stdout=0, stderr=0)
        assert os.path.sameopenfile(0, stage.bench.log.fd)
    finally:
        os.dup2(saved, 0)
        os.close(saved)
    assert stage.output.startswith("printed\ncomplained\n")
    assert "stdin '' b''" in stage.output


def test_no_descriptor_is_left_open(stage: Stage) -> None:
    stage.run("look_around")
    before = open_descriptors()
    stage.run("look_around")
    assert open_descriptors() == before


def test_a_working_folder_that_is_gone_is_named(stage: Stage) -> None:
    before = state()
    with pytest.raises(WorkspaceMissingError, match="its workspace does not exist"):
        stage.run("look_around", cwd=stage.bench.workspace / "gone")
    assert state()[:-1] == before[:-1]


# -- how it ends


def test_an_exception_is_a_failed_report(stage: Stage) -> None:
    outcome = stage.run("fail")
    assert (outcome.status, outcome.exit_code) == ("failed", 1)
    assert stage.report["status"] == "failed"
    assert "in_process.py" not in stage.report["details"]
    assert "no luck" in stage.report["summary"]
    assert "ValueError: no luck" in stage.output


def test_system_exit_is_an_exit_code(stage: Stage) -> None:
    outcome = stage.run("leave")
    assert (outcome.status, outcome.exit_code) == ("failed", 7)


def test_ctrl_c_writes_the_report_and_goes_on(stage: Stage) -> None:
    with pytest.raises(KeyboardInterrupt):
        stage.run("break_off")
    assert stage.report["status"] == "failed"


@pytest.mark.parametrize(
    ("name", "summary"),
    [
        ("be_cancelled", "The agent failed: CancelledError"),
        ("skip", "The agent failed: Skipped: not today"),
        ("close_standard_streams", "The agent is wrong: main() returned nothing"),
    ],
)
def test_what_no_agent_should_do_is_a_failed_run_as_in_a_process_of_its_own(
    stage: Stage, name: str, summary: str
) -> None:
    *before, _timer = state()

    outcome = stage.run(name)

    assert list(state()[:-1]) == before
    assert (outcome.status, outcome.exit_code) == ("failed", 1)
    assert stage.report["status"] == "failed"
    assert stage.report["summary"].startswith(summary)


def test_it_is_interrupted_at_its_deadline(loaded: Stage) -> None:
    outcome = loaded.run("sleep", timeout=0.4)
    assert (outcome.status, outcome.timed_out) == ("timed_out", True)
    assert [finding.code for finding in outcome.diagnostics] == ["deadline-exceeded"]
    assert "stopped at its deadline" in loaded.report["summary"]


def test_an_interruption_that_is_swallowed_is_repeated(loaded: Stage) -> None:
    outcome = loaded.run("swallow", timeout=0.4)
    assert (outcome.status, outcome.timed_out, outcome.exit_code) == ("timed_out", True, 0)
    assert loaded.report["summary"] == "gave in"


def test_who_takes_the_alarm_away_is_told_to_be_late(loaded: Stage) -> None:
    outcome = loaded.run("take_the_alarm", timeout=0.4)
    assert (outcome.status, outcome.timed_out) == ("timed_out", True)
    assert "deadline-not-enforced" in [finding.code for finding in outcome.diagnostics]


def test_a_frozen_clock_does_not_stop_the_deadline(loaded: Stage) -> None:
    with freeze_time("2001-01-01"):
        assert loaded.run("sleep", timeout=0.4).status == "timed_out"


def test_it_can_be_cancelled_from_another_thread(loaded: Stage) -> None:
    cancelled = Cancellation()
    canceller = threading.Timer(0.4, cancelled.set)
    canceller.start()
    outcome = loaded.run("sleep", cancelled=cancelled)
    canceller.join()
    assert (outcome.status, outcome.timed_out) == ("cancelled", False)
    assert loaded.report["status"] == "failed"


def test_cancelled_before_it_began_it_is_not_called(stage: Stage) -> None:
    cancelled = Cancellation()
    cancelled.set()
    assert stage.run("look_around", cancelled=cancelled).status == "cancelled"
    assert stage.output == ""


def test_an_async_function_is_awaited(stage: Stage) -> None:
    assert stage.run("wait_async").status == "succeeded"
    assert stage.output == "awaited in True\n"


def test_an_async_function_inside_a_running_loop_gets_a_thread(stage: Stage) -> None:
    import asyncio

    async def test() -> Outcome:
        return stage.run("wait_async")

    outcome = asyncio.run(test())
    assert (outcome.status, outcome.diagnostics) == ("succeeded", ())
    assert stage.output == "awaited in False\n"


# -- beside another timer


@pytest.fixture
def _no_timer() -> Iterator[None]:
    handler = signal.getsignal(signal.SIGALRM)
    left, interval = signal.setitimer(signal.ITIMER_REAL, 0)
    yield
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, left, interval)


@pytest.mark.usefixtures("_no_timer")
def test_an_outer_timer_goes_on_where_it_was(loaded: Stage) -> None:
    handler = lambda *_: None  # noqa: E731 - compared below
    signal.signal(signal.SIGALRM, handler)
    signal.setitimer(signal.ITIMER_REAL, 50, 7)
    begun = monotonic()
    loaded.run("sleep", timeout=0.4)
    left, interval = signal.getitimer(signal.ITIMER_REAL)
    assert signal.getsignal(signal.SIGALRM) is handler
    assert 50 - (monotonic() - begun) - 0.5 < left <= 50 - 0.4
    assert interval == 7


@pytest.mark.usefixtures("_no_timer")
def test_an_outer_timer_that_is_due_first_rings_for_its_owner(loaded: Stage) -> None:
    class OuterError(BaseException):
        pass

    def ring(*_: object) -> None:
        raise OuterError

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.4)
    with pytest.raises(OuterError):
        loaded.run("sleep", timeout=20)
    assert loaded.report["status"] == "failed"
    assert signal.getsignal(signal.SIGALRM) is ring


# -- what it leaves behind


@untidy
def test_processes_it_leaves_are_found_and_ended(stage: Stage) -> None:
    outcome = stage.run("leave_children")
    assert outcome.status == "succeeded"
    assert sorted(item.name for item in outcome.leaked) == [
        "/bin/sh -c sleep 61 & sleep 62",
        "/bin/sleep 60",
        "sleep 61",
        "sleep 62",
    ]
    assert not any(is_alive(item.pid) for item in outcome.leaked)


@untidy
def test_children_of_other_threads_are_left_alone(stage: Stage) -> None:
    import subprocess

    started: list[subprocess.Popen[bytes]] = []
    over = threading.Event()
    waiting = threading.Event()

    def neighbour() -> None:
        waiting.set()
        over.wait(10)
        started.append(subprocess.Popen(["/bin/sleep", "60"], env={}))
        waiting.set()
        over.clear()
        over.wait(10)

    thread = threading.Thread(target=neighbour)
    thread.start()
    waiting.wait(10)
    waiting.clear()
    timer = threading.Timer(0.0, over.set)
    timer.start()
    outcome = stage.run("leave_children")
    waiting.wait(10)
    with started[0] as process:
        assert process.pid not in [item.pid for item in outcome.leaked]
        assert process.poll() is None
        process.kill()
    over.set()
    thread.join()
    timer.join()


def test_a_thread_it_leaves_is_told(stage: Stage) -> None:
    outcome = stage.run("leave_thread")
    assert [finding.code for finding in outcome.diagnostics] == ["thread-left"]
    assert "'left-over'" in outcome.diagnostics[0].message
    while any(thread.name == "left-over" for thread in threading.enumerate()):
        pause(0.01)


@untidy
def test_what_it_logs_later_goes_nowhere(stage: Stage, capfd: pytest.CaptureFixture[str]) -> None:
    import logging

    stage.run("make_a_mess")
    logger = logging.getLogger("mess")
    try:
        logger.warning("late")
    finally:
        logger.handlers.clear()
    assert "late" not in capfd.readouterr().err
    assert "late" not in stage.output


# -- where it cannot run


def test_only_the_main_thread_can_run_it(stage: Stage) -> None:
    caught: list[BaseException] = []

    def work() -> None:
        try:
            stage.run("look_around")
        except InProcessError as error:
            caught.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert "this is not the main thread" in str(caught[0])
    assert "--caesar-subprocess" in str(caught[0])


def test_one_runs_at_a_time(stage: Stage) -> None:
    assert stage.run("nest").status == "failed"
    assert "functions:nest still runs in it" in stage.report["summary"]
    assert stage.run("look_around").status == "succeeded"


# -- what cannot be loaded


@pytest.mark.parametrize(
    ("target", "error", "reason"),
    [
        ("functions", FunctionMissingError, "'functions' does not name a function"),
        (":fail", FunctionMissingError, "does not name a function"),
        ("functions:", FunctionMissingError, "does not name a function"),
        ("no_such_module:f", ModuleNotImportedError, "there is no module 'no_such_module'"),
        ("functions.sub:f", ModuleNotImportedError, "there is no module 'functions.sub'"),
        ("functions:nothing", FunctionMissingError, "has no 'nothing'"),
        ("functions:fail.x", FunctionMissingError, "has no 'fail.x'"),
        ("functions:not_callable", FunctionMissingError, "is of type int, which cannot be called"),
    ],
)
def test_what_names_no_function(
    stage: Stage, target: str, error: type[Exception], reason: str
) -> None:
    before = state()
    with pytest.raises(error) as caught:
        stage.run(target) if ":" in target else load_function(target, "")
    assert reason in str(caught.value)
    assert state()[:-1] == before[:-1]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import nothing_of_that_name", "imports 'nothing_of_that_name', which is not installed"),
        ("1 / 0", "fails while it is imported: ZeroDivisionError: division by zero (…:1)"),
        ("\ndef broken(:", "fails while it is imported: SyntaxError: invalid syntax (…:2)"),
        ("import json\n\njson.loads('{')", "line 1 column 2 (char 1) (…:3)"),
        (
            "import caesar_agent\n\ndef main(agent: caesar_agent.Agnt): ...",
            "AttributeError: module 'caesar_agent' has no attribute 'Agnt' (…:3)",
        ),
        ("raise SystemExit(3)", "exits while it is imported (…:1). Put what runs or exits there "),
        (
            "import caesar_agent\ncaesar_agent.run(lambda agent: agent.success('x'))",
            'exits while it is imported (…:2). Put what runs or exits there below `if __name__ == "',
        ),
    ],
)
def test_a_module_that_fails(stage: Stage, tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "failing.py").write_text(text)
    with pytest.raises(ModuleNotImportedError) as caught:
        stage.run("failing:main", import_root=str(tmp_path))
    assert reason.replace("…", str(tmp_path / "failing.py")) in str(caught.value)
    assert "failing" not in sys.modules


def test_a_module_that_hangs_while_it_is_imported_is_interrupted(
    stage: Stage, tmp_path: Path
) -> None:
    (tmp_path / "hanging.py").write_text("import time; time.sleep(60)")
    outcome = stage.run("hanging:main", import_root=str(tmp_path), timeout=0.4)
    assert (outcome.status, outcome.exit_code) == ("timed_out", None)


def test_a_module_of_the_same_name_from_elsewhere_is_not_mistaken(
    stage: Stage, tmp_path: Path
) -> None:
    stage.run("look_around")
    (tmp_path / "functions.py").write_text("def look_around(agent): return agent.success('x')")
    with pytest.raises(ModuleNotImportedError) as caught:
        stage.run("look_around", import_root=str(tmp_path))
    assert "was imported before from" in str(caught.value)
    assert str(tmp_path / "functions.py") in str(caught.value)


# -- under pytest's own captures, and with a debugger

CONFTEST = """
import pytest
from pytest_caesar.orchestrator.in_process.function_run import enter_debugger, leave_debugger

def pytest_enter_pdb():
    enter_debugger()

def pytest_leave_pdb():
    leave_debugger()
"""

TEST = """
import json, os, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from pytest_caesar.orchestrator.in_process.function_run import run_function
from pytest_caesar.supervision.logs import Log

import functions, pdb  # here: a deadline is for what the function does

def test_it(tmp_path):
    print("from the test, before")
    with Log.create(tmp_path / "raw.log") as log:
        task = json.loads({task!r})
        task.update(
            report_path=str(tmp_path / "report.json"), events_path=str(tmp_path / "events.jsonl")
        )
        (tmp_path / "task.json").write_text(json.dumps(task))
        environ = {environ!r}
        environ.update(
            CAESAR_TASK_DIR=str(tmp_path), CAESAR_TASK_FILE=str(tmp_path / "task.json"),
            CAESAR_REPORT_PATH=task["report_path"], CAESAR_EVENTS_PATH=task["events_path"],
        )
        outcome = run_function(
            "functions:{name}", import_root={root!r}, environ=environ, cwd=tmp_path,
            stdout=log.fd, stderr=log.fd, timeout={timeout}, grace=0.1,
        )
        # In some modes pytest announces its debugger before it asks for the terminal.
        lines = log.read_tail(9999)[0].decode().splitlines()
        logged = [line for line in lines if line and not line.startswith(">>>")]
    print("from the test, after")
    assert (outcome.status, logged) == {expected!r}
"""


def run_inner(
    pytester: pytest.Pytester,
    stage: Stage,
    *options: str,
    name: str,
    expected: tuple[str, list[str]],
    stdin: bytes = b"",
    timeout: float = 20,
) -> pytest.RunResult:
    pytester.makeconftest(CONFTEST)
    task = (stage.bench.task_directory / "task.json").read_text()
    pytester.makepyfile(
        TEST.format(
            task=task, environ=stage.environ, name=name, root=str(CHILDREN), expected=expected,
            timeout=timeout,
        )
    )  # fmt: skip
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "pytest_timeout")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        return pytester.run(*command, *options, stdin=stdin)


@pytest.mark.parametrize(
    ("capture", "timeout", "thinking"), [("fd", 2.0, 2.2), ("sys", 20, 0), ("no", 20, 0)]
)
def test_a_breakpoint_reaches_the_terminal_and_the_deadline_rests(
    pytester: pytest.Pytester, stage: Stage, capture: str, timeout: float, thinking: float
) -> None:
    result = run_inner(
        pytester, stage, f"--capture={capture}", "-rP",
        name="debug",
        stdin=f"p 6 * 7\nimport time; time.sleep({thinking})\nc\n".encode(),
        timeout=timeout,
        expected=("succeeded", ["before the breakpoint", "after the breakpoint"]),
    )  # fmt: skip
    result.assert_outcomes(passed=1)
    assert result.ret == 0
    text = result.stdout.str()
    assert "(Pdb) 42" in text
    assert "the breakpoint" not in text.replace('print("after the breakpoint")', "")
    result.stdout.fnmatch_lines(["*from the test, before*", "*from the test, after*"])


def test_leaving_the_debugger_by_quit_gives_everything_back(
    pytester: pytest.Pytester, stage: Stage
) -> None:
    result = run_inner(pytester, stage, name="debug", stdin=b"q\n", expected=("succeeded", []))
    result.stdout.fnmatch_lines(["*Exit: Quitting debugger*"])


@pytest.mark.parametrize("method", ["signal", "thread"])
def test_the_timeout_of_the_test_itself_still_works(
    pytester: pytest.Pytester, stage: Stage, method: str
) -> None:
    result = run_inner(
        pytester, stage, "--timeout=1", f"--timeout-method={method}",
        name="sleep", expected=("succeeded", []),
    )  # fmt: skip
    assert result.ret == 1
    line = "*Timeout (>1.0s)*" if method == "signal" else "*+ Timeout +*"
    result.stdout.fnmatch_lines([line])


def test_a_breakpoint_in_the_agent_under_test_reaches_the_terminal(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(
        test_it="""
        def test_it(caesar_repo, caesar_orchestrator):
            caesar_repo.commit({"a.txt": "a"})
            run = caesar_orchestrator.delegate("Look around")
            assert run.succeeded
            log = (run.task_dir / "raw.log").read_text()
            assert log.splitlines() == ["before the breakpoint", "after the breakpoint"]
        """,
        functions=(CHILDREN / "functions.py").read_text(),
    )
    result = pytester.run(
        *(sys.executable, "-m", "pytest", *QUIET),
        "--caesar-agent=functions:debug",
        stdin=b"p 6 * 7\nc\n",
    )
    result.assert_outcomes(passed=1)
    assert "(Pdb) 42" in result.stdout.str()


def test_a_function_may_run_a_loop_of_its_own_in_a_running_one(stage: Stage) -> None:
    async def main() -> Outcome:
        return stage.run("runs_a_loop")

    assert asyncio.run(main()).status == "succeeded"
