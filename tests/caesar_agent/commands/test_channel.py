from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.caesar_agent.channel.client import COMMAND, TIMEOUT, environment, make_task

HIDE = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("mcp", "mcp_types"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hide())
"""


def serve(task_dir: Path, *, first: str = "") -> subprocess.CompletedProcess[str]:
    start = f"{first}\nimport sys\nfrom caesar_agent.cli import main\nsys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", start, "channel", str(task_dir)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(),
        text=True,
        timeout=TIMEOUT,
        check=False,
    )


def test_without_the_extra_it_says_how_to_install_it(tmp_path: Path) -> None:
    done = serve(make_task(tmp_path), first=HIDE)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(
        "caesar-agent channel: the return channel needs the `mcp` package, version 2 or later"
    )
    assert done.stderr.endswith("install it with: pip install 'pytest-caesar[mcp]'\n")


def test_a_folder_that_is_not_there_is_a_usage_error(tmp_path: Path) -> None:
    done = serve(tmp_path / "gone")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"caesar-agent channel: '{tmp_path / 'gone'}' is not a folder; "
        "expected the directory of a task ($CAESAR_TASK_DIR)\n"
    )


def test_a_client_that_gives_no_input_and_no_stderr_is_served_to_its_end(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    command = " ".join(f"'{part}'" for part in (*COMMAND, make_task(tmp_path)))
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {command} <&- 2>&-"],
        stdout=subprocess.PIPE,
        env=environment(),
        timeout=TIMEOUT,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")


def test_it_works_from_any_folder_and_in_an_empty_environment(tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    from pytest_caesar.orchestrator.return_channel import channel_coordinates

    task_dir = make_task(tmp_path / "task with blank")
    channel = channel_coordinates(task_dir)
    assert channel.transport == "mcp-stdio"
    assert channel.server_name == "caesar"
    done = subprocess.run(
        [channel.command, *channel.args],
        input='{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n',
        cwd="/",
        env={},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=True,
    )
    assert json.loads(done.stdout)["result"] == {}
    assert done.stderr == ""
