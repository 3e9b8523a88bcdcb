# mypy: ignore-errors
# ruff: noqa: FBT003, PTH101, PTH102, PTH103, PTH105, PTH108, PTH112, PTH114, PTH118, PTH120
# ruff: noqa: PTH104, PTH110, PTH123, PTH211, S103, UP031
"""The program behind a fake agent: carries out a list of steps, with the standard library alone.

Its text is copied into every fake agent, followed by the steps; nothing imports it.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time

DONE: dict = {}
SEQ = [0]
ASKED = [0]


def main(steps):
    """Carry out the steps in order."""
    for name, values in steps:
        STEPS[name](**values)


def write(path, data, executable, append):
    """Write a file of the workspace."""
    existed = os.path.lexists(path)
    folder = os.path.dirname(path)
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "ab" if append else "wb") as file:
        file.write(data)
    if executable:
        os.chmod(path, 0o755)
    _did(path, "modified" if existed else "created")


def delete(path):
    """Delete a file, or a folder with what is in it."""
    if os.path.isdir(path) and not os.path.islink(path):
        for folder, _, names in os.walk(path):
            for name in names:
                _did(os.path.join(folder, name), "deleted")
        shutil.rmtree(path)
    else:
        os.unlink(path)
        _did(path, "deleted")


def rename(path, to):
    """Move a file."""
    folder = os.path.dirname(to)
    if folder:
        os.makedirs(folder, exist_ok=True)
    os.rename(path, to)
    DONE.pop(path, None)
    _did(to, "renamed")


def symlink(path, target):
    """Put a symbolic link, also in the place of something else."""
    existed = os.path.lexists(path)
    if existed:
        os.unlink(path)
    os.symlink(target, path)
    _did(path, "modified" if existed else "created")


def _did(path, action):
    before = DONE.get(path)
    if before == "created" and action == "deleted":
        del DONE[path]
    elif before == "created" and action == "modified":
        pass
    else:
        DONE[path] = action


def git(args):
    """Run git in the workspace."""
    identity = ["-c", "user.name=Fake Agent", "-c", "user.email=fake@example.invalid"]
    subprocess.run(["git", *identity, *args], check=True, stdout=subprocess.DEVNULL)


def commit(message):
    """Commit everything."""
    git(["add", "-A"])
    git(["commit", "-q", "--no-gpg-sign", "-m", message])


def program(argv, check):
    """Run a program in the workspace; its output is the agent's."""
    sys.stdout.flush()
    subprocess.run(argv, check=check)


def output(data, times, stderr):
    """Print bytes."""
    stream = sys.stderr.buffer if stderr else sys.stdout.buffer
    for _ in range(times):
        stream.write(data)
    stream.flush()


def brief(prefix):
    """Print the brief, every line with a prefix."""
    for line in sys.argv[1].splitlines():
        sys.stdout.buffer.write((prefix + line + "\n").encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()


def stdin():
    """Read stdin to its end, and print it."""
    data = sys.stdin.buffer.read()
    output(b"stdin: %d bytes\n" % len(data) + data, 1, False)


def environment(path):
    """Write the whole environment into a file of the workspace, as JSON."""
    write(path, json.dumps(dict(os.environ), sort_keys=True).encode(), False, False)


def event(kind, fields):
    """Log one event."""
    value = {
        "protocol": "caesar.event/v1",
        "seq": SEQ[0],
        "at": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
        "task_id": os.environ["CAESAR_TASK_ID"],
        "type": kind,
    }
    value.update(fields)
    SEQ[0] = value["seq"] + 1 if isinstance(value["seq"], int) else SEQ[0] + 1
    raw_event((json.dumps(value) + "\n").encode())


def raw_event(data):
    """Append bytes to the event log."""
    with open(os.environ["CAESAR_EVENTS_PATH"], "ab") as file:
        file.write(data)


def ask(question, options, timeout):
    """Ask over the files of the return channel, and print the answer."""
    ASKED[0] += 1
    name = "q%d" % ASKED[0]
    folder = os.environ["CAESAR_TASK_DIR"]
    value = {"id": name, "question": question, "options": options}
    os.makedirs(os.path.join(folder, "questions"), exist_ok=True)
    path = os.path.join(folder, "questions", name + ".json")
    with open(path + ".tmp", "w", encoding="utf-8") as file:
        json.dump(value, file)
    os.replace(path + ".tmp", path)
    answer = os.path.join(folder, "answers", name + ".json")
    if not _has_channel():
        timeout = 0
        sys.stderr.write(
            "fake agent: ask() found no return channel, so nobody answers: "
            "open it with the fixture caesar_answers\n"
        )
    end = time.monotonic() + timeout
    while not os.path.exists(answer) and time.monotonic() < end:
        time.sleep(0.01)
    try:
        with open(answer, encoding="utf-8") as file:
            told = json.load(file).get("answer")
    except (OSError, ValueError):
        told = None
    output(("%s: %s\n" % (name, told)).encode("utf-8"), 1, False)


def _has_channel():
    """Tell whether the task has a return channel."""
    with open(os.environ["CAESAR_TASK_FILE"], encoding="utf-8") as file:
        return json.load(file).get("channel") is not None


def report(fields, changes, to, encoding, cut):
    """Hand in a report."""
    value = {"protocol": "caesar.report/v1", "task_id": os.environ["CAESAR_TASK_ID"]}
    value.update(fields)
    if changes is None:
        changes = [{"path": path, "action": DONE[path]} for path in sorted(DONE)]
    value.setdefault("changes", changes)
    value = {name: item for name, item in value.items() if item is not None}
    text = json.dumps(value, indent=None if to == "stdout" else 2)
    if to == "fence":
        text = "```json caesar:report\n" + text + "\n```"
    data = (text + "\n").encode(encoding)
    report_bytes(data if cut is None else data[:cut], to)


def report_bytes(data, to):
    """Hand in bytes where a report is expected."""
    if to in ("stdout", "fence"):
        output(data, 1, False)
        return
    path = report_path(to)
    with open(path + ".tmp", "wb") as file:
        file.write(data)
    os.replace(path + ".tmp", path)


def report_path(to):
    """Return the file that a report is handed in as."""
    names = {"submission": "submission.json", "message": "final-message.txt"}
    if to in names:
        return os.path.join(os.environ["CAESAR_TASK_DIR"], names[to])
    return os.environ["CAESAR_REPORT_PATH"]


def report_as(kind, target, to):
    """Put something that is no file where the report is expected."""
    path = report_path(to)
    if kind == "directory":
        os.mkdir(path)
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        os.symlink(target, path)


def sleep(seconds):
    """Wait; None waits until something ends this process."""
    if seconds is None:
        while True:
            signal.pause()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(max(0.0, end - time.monotonic()))


def wait_for(path, timeout):
    """Wait until a file is there."""
    end = time.monotonic() + timeout
    while not os.path.lexists(path):
        if time.monotonic() > end:
            sys.exit("fake agent: %s did not appear within %s s" % (path, timeout))
        time.sleep(0.01)


def ignore(names):
    """Ignore signals."""
    for name in names:
        signal.signal(getattr(signal, name), signal.SIG_IGN)


def on_signal(name, steps):
    """Carry out steps when a signal comes."""
    signal.signal(getattr(signal, name), lambda *_: main(steps))


def sometimes(rate, steps, otherwise, seed):
    """Carry out steps by a chance that the seed and the task decide."""
    import hashlib  # noqa: PLC0415 - seldom needed

    drawn = hashlib.sha256(f"{seed} {os.environ.get('CAESAR_TASK_ID', '')}".encode()).digest()
    main(steps if int.from_bytes(drawn[:8], "big") < rate * 2**64 else otherwise)


def leave(steps, new_session, quiet):
    """Leave a process behind that carries out steps."""
    sys.stdout.flush()
    if os.fork():
        return
    if new_session:
        os.setsid()
    if quiet:
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
    main(steps)
    os._exit(0)


def leave_code(code):
    """Exit."""
    sys.stdout.flush()
    sys.exit(code)


def kill(name):
    """End this process by a signal."""
    sys.stdout.flush()
    os.kill(os.getpid(), getattr(signal, name))


STEPS = {
    "write": write,
    "delete": delete,
    "rename": rename,
    "symlink": symlink,
    "git": git,
    "commit": commit,
    "program": program,
    "output": output,
    "brief": brief,
    "stdin": stdin,
    "environment": environment,
    "event": event,
    "raw_event": raw_event,
    "ask": ask,
    "report": report,
    "report_bytes": report_bytes,
    "report_as": report_as,
    "sleep": sleep,
    "wait_for": wait_for,
    "ignore": ignore,
    "on_signal": on_signal,
    "leave": leave,
    "sometimes": sometimes,
    "exit": leave_code,
    "kill": kill,
}
