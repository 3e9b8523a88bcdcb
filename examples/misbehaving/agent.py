#!/usr/bin/env python3
"""An agent that misbehaves in the way that its objective names.

Nothing of it is a mistake: each behaviour stands for a kind of agent that people have
met, and test_misbehaving.py shows what the harness says about it.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

TASK = json.loads(Path(os.environ["CAESAR_TASK_FILE"]).read_text(encoding="utf-8"))
REPORT = Path(os.environ["CAESAR_REPORT_PATH"])
EVENTS = Path(os.environ["CAESAR_EVENTS_PATH"])


def report(status="success", summary="All done.", **more):
    value = {"protocol": "caesar.report/v1", "status": status, "summary": summary, **more}
    REPORT.write_text(json.dumps(value), encoding="utf-8")


def lie():
    """Claim a change that never happened, and hide one that did."""
    Path("secret.txt").write_text("nobody will notice\n")
    report(changes=[{"path": "parser.py", "action": "modified", "summary": "fixed"}])


def mislabel():
    """Call a new file a modified one."""
    Path("new.py").write_text("x = 1\n")
    report(changes=[{"path": "new.py", "action": "modified"}])


def leak():
    """Leave a process behind that wants nothing to do with its parents."""
    subprocess.Popen(["sleep", "300"], start_new_session=True)
    report()


def write_in_read_only():
    """Change files although the task is read-only, whatever it is."""
    Path("parser.py").write_text("# improved\n")
    report()


def write_an_invalid_report():
    """Invent a status."""
    report(status="done")


def write_half_a_report():
    """Die in the middle of the report."""
    REPORT.write_text('{"protocol": "caesar.report/v1", "status": "succ')
    os.kill(os.getpid(), signal.SIGKILL)


def speak_of_another_task():
    """Hand in a report that was written for another task."""
    report(task_id="t_from_yesterday")


def speak_another_version():
    """Write a report of a version that nobody knows yet."""
    REPORT.write_text('{"protocol": "caesar.report/v2", "status": "success", "summary": "x"}')


def hang():
    """Never end."""
    while True:
        time.sleep(60)


def ignore_signals():
    """Never end, whatever anybody says, and neither may the child."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.run(["sleep", "300"], check=False)
    hang()


def report_and_hang():
    """Hand in a report, and never end."""
    report()
    hang()


def echo():
    """Print the prompt, with the example of a report that it holds, and do nothing."""
    print(*sys.argv[1:])


def say_nothing():
    """End well without a word."""


def block_without_a_question():
    """Wait for a decision that it does not name."""
    report("blocked", "I cannot go on.")


def fail_with_success():
    """Say success, and exit with 3."""
    report()
    raise SystemExit(3)


def garble_events():
    """Write what is no event into the log."""
    with EVENTS.open("a") as log:
        log.write('starting up…\n{"protocol": "caesar.event/v1", "seq": ')
    report()


def hide_in_git():
    """Commit, and tell git to look away."""
    Path("parser.py").write_text("# hidden\n")
    Path("ignored.txt").write_text("hidden too\n")
    subprocess.run(["git", "update-index", "--assume-unchanged", "parser.py"], check=True)
    found = subprocess.check_output(["git", "rev-parse", "--git-common-dir"], text=True)
    exclude = Path(found.strip(), "info", "exclude")
    exclude.parent.mkdir(exist_ok=True)
    exclude.write_text("ignored.txt\n")
    subprocess.run(["git", "commit", "-qm", "Nothing to see", "--allow-empty"], check=True)
    report()


BEHAVIOURS = {
    behaviour.__name__.replace("_", " "): behaviour
    for behaviour in (
        lie,
        mislabel,
        leak,
        write_in_read_only,
        write_an_invalid_report,
        write_half_a_report,
        speak_of_another_task,
        speak_another_version,
        hang,
        ignore_signals,
        report_and_hang,
        echo,
        say_nothing,
        block_without_a_question,
        fail_with_success,
        garble_events,
        hide_in_git,
    )
}

if __name__ == "__main__":
    behaviour = BEHAVIOURS.get(TASK["objective"])
    if behaviour is None:
        report("failed", f"Unknown objective; known are: {', '.join(BEHAVIOURS)}.")
        raise SystemExit(1)
    behaviour()
