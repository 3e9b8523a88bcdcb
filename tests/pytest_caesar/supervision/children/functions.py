"""Functions that are run as agents in a process of the tests."""

# What they do wrong is what they are for.
# ruff: noqa: BLE001, PERF203, PTH123, SIM115, T100

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from caesar_agent import Agent, Report

HERE = Path(__file__).parent


def look_around(agent: Agent) -> Report:
    print("printed")
    print("complained", file=sys.stderr)
    os.write(1, b"written\n")
    subprocess.run(["/bin/echo", "by a child"], check=True)
    print("cwd", Path.cwd())
    print("argv", sys.argv)
    print("stdin", repr(sys.stdin.read()), repr(os.read(0, 1)))
    print("terminal", [os.isatty(fd) for fd in range(3)], sys.stdout.isatty())
    print("variables", sorted(os.environ))
    return agent.success("looked")


def make_a_mess(agent: Agent) -> Report:
    os.environ["MESS"] = "1"
    os.environ.pop("PATH")
    os.chdir("/")
    os.umask(0)
    sys.path.insert(0, "/mess")
    sys.argv.append("mess")
    sys.stdout = open(os.devnull, "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.getLogger("mess").addHandler(logging.StreamHandler())
    return agent.success("made")


def take_nothing() -> Report:
    raise AssertionError


def fail(agent: Agent) -> Report:
    raise ValueError("no luck")


def leave(agent: Agent) -> Report:
    sys.exit(7)


def break_off(agent: Agent) -> Report:
    raise KeyboardInterrupt


async def be_cancelled(agent: Agent) -> Report:
    raise asyncio.CancelledError


def skip(agent: Agent) -> Report:
    import pytest

    pytest.skip("not today")


def close_standard_streams(agent: Agent) -> None:
    print("last words", flush=True)
    os.closerange(0, 3)


def sleep(agent: Agent) -> Report:
    time.sleep(60)
    return agent.success("slept")


def swallow(agent: Agent) -> Report:
    """Swallow the first two interruptions."""
    swallowed = 0
    while swallowed < 2:
        try:
            time.sleep(60)
        except BaseException:
            swallowed += 1
    return agent.success("gave in")


def take_the_alarm(agent: Agent) -> Report:
    """Use SIGALRM, so that no deadline comes through."""
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    time.sleep(0.7)
    return agent.success("slept well")


async def wait_async(agent: Agent) -> Report:
    await asyncio.sleep(0)
    print("awaited in", threading.current_thread() is threading.main_thread())
    return agent.success("awaited")


def leave_children(agent: Agent) -> Report:
    """Leave one without any mark, and one in a session of its own."""
    subprocess.Popen(["/bin/sleep", "60"], env={})
    subprocess.Popen("sleep 61 & sleep 62", shell=True, start_new_session=True)
    while not {"60", "61", "62"} <= set(_last_words()):
        time.sleep(0.01)
    return agent.success("left")


def _last_words() -> Iterator[str]:
    """Yield how the command lines below this process end; one amid its start has none."""
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            yield from process.cmdline()[-1:]


def leave_thread(agent: Agent) -> Report:
    threading.Thread(target=time.sleep, args=(0.5,), name="left-over", daemon=True).start()
    return agent.success("left")


def debug(agent: Agent) -> Report:
    print("before the breakpoint")
    breakpoint()
    print("after the breakpoint")
    return agent.success("debugged")


def nest(agent: Agent) -> Report:
    """Run another function in this process, which cannot be."""
    from pytest_caesar.orchestrator.in_process.function_run import run_function

    with open(os.devnull, "wb") as null:
        run_function(
            "functions:fail",
            import_root="",
            environ=os.environ,
            cwd=Path.cwd(),
            stdout=null.fileno(),
            stderr=null.fileno(),
            timeout=5,
        )
    return agent.success("nested")


def leave_everything(agent: Agent) -> Report:
    """Start what ``everything.py`` starts, and go on until it is all there and longer."""
    subprocess.Popen([sys.executable, "-I", "-S", str(HERE / "everything.py")])
    time.sleep(60)
    return agent.success("left")


not_callable = 3


def runs_a_loop(agent: Agent) -> Report:
    """Run an event loop of its own, as a ``main`` that is not async may."""
    asyncio.run(asyncio.sleep(0))
    return agent.success("Looped.")
