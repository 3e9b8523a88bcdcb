"""Plays a pytest that delegates and is ended from outside while its agents run.

Arguments: how it ends (``wait`` to be ended from outside), the task directory, the import root.
"""

import json
import os
import sys
import threading
from pathlib import Path

how, folder, root = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
sys.path.insert(0, root)

from caesar_agent.clock import monotonic, pause  # noqa: E402
from pytest_caesar.orchestrator.in_process.function_run import run_function  # noqa: E402
from pytest_caesar.supervision.reaper import watch_parent  # noqa: E402
from pytest_caesar.supervision.supervisor import ProcessSpec, supervise  # noqa: E402

CHILDREN = Path(__file__).parent
environment = {"CAESAR_TASK_DIR": str(folder), "PATH": os.environ["PATH"]}


def write_task(directory: Path) -> dict[str, str]:
    task: dict[str, object] = {
        "protocol": "caesar.task/v1",
        "id": "t_1",
        "created_at": "2026-01-01T00:00:00Z",
        "agent": "a",
        "objective": "o",
        "mode": "write",
        "isolation": "inplace",
        "workspace": str(directory),
        "deadline_ms": 60000,
        "report_path": str(directory / "report.json"),
        "events_path": str(directory / "events.jsonl"),
    }
    (directory / "task.json").write_text(json.dumps(task))
    return {
        "CAESAR_TASK_FILE": str(directory / "task.json"),
        "CAESAR_REPORT_PATH": str(directory / "report.json"),
        "CAESAR_EVENTS_PATH": str(directory / "events.jsonl"),
        "CAESAR_TASK_ID": "t_1",
        "CAESAR_AGENT": "a",
        "CAESAR_DEPTH": "1",
        "CAESAR_PROTOCOL_VERSION": "1",
    }


def agents_run() -> bool:
    noted = folder / "pids"
    return noted.exists() and len(noted.read_text().split()) >= 3


def end() -> None:
    until = monotonic() + 20
    while not agents_run() and monotonic() < until:
        pause(0.01)
    if how == "os._exit":
        os._exit(9)


def delegate() -> None:
    with (folder / "log").open("ab") as log:
        supervise(
            ProcessSpec(
                argv=(sys.executable, "-I", "-S", str(CHILDREN / "everything.py")),
                cwd=folder,
                env=environment,
                stdout=log.fileno(),
                stderr=log.fileno(),
                task_directory=folder,
                home=folder.with_name("home"),
            ),
            timeout=60,
        )


if __name__ == "__main__":
    if how == "watch":
        watch_parent()
        delegate()
        (folder / "returned").write_text("")
    elif how == "function":
        environment.update(write_task(folder))
        with (folder / "log").open("ab") as log:
            run_function(
                "functions:leave_everything",
                import_root=str(CHILDREN),
                environ=environment,
                cwd=folder,
                stdout=log.fileno(),
                stderr=log.fileno(),
                timeout=60,
            )
    else:
        threading.Thread(target=end, daemon=True).start()
        delegate()
