r"""Agents made from a short script of behaviours.

A fake agent is a real process: what it does, the orchestrator has to find out.

    def test_says_what_it_did(caesar_orchestrator, caesar_fake_agent):
        fake = caesar_fake_agent
        agent = fake(
            fake.write("src/a.py", "x = 1\n"),
            fake.report("success", "Added a."),
        )
        run = caesar_orchestrator.delegate("Add a", agent=agent)
        assert run.succeeded

A fake agent is honest unless it is told otherwise: its report declares what its steps
did. ``changes=`` makes it say something else.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from caesar_agent.console import one_line
from pytest_caesar.agents.target import ProcessAgent
from pytest_caesar.fake_agent.checks import (
    Kind,
    Place,
    StepError,
    known_encoding,
    known_kind,
    known_place,
    known_signal,
    literal,
    one_by_one,
)

Declared: TypeAlias = "str | tuple[str, str] | Mapping[str, object]"
"""One declared change: a path that was modified, a path and an action, or the whole entry."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that a fake agent does; made by the methods of ``FakeAgents``.

    Attributes:
        name: what is done.
        values: arguments, as literals of Python.
    """

    name: str
    values: Mapping[str, Any]


class FakeAgents:
    """Makes fake agents, and the steps they are made from.

    Args:
        folder: where the programs are written; made when the first one is.
        salt: makes the draws of ``sometimes`` others than those of another test or trial.
    """

    def __init__(self, folder: Path, *, salt: str = "") -> None:
        self._folder = folder
        self._salt = salt
        self._count = 0

    def __call__(
        self,
        *steps: Step,
        id: str = "fake",  # noqa: A002 - the word of the target
        native_read_only: bool = False,
        dialect: str | None = None,
        brief_on_stdin: bool = False,
        structured: bool = False,
    ) -> ProcessAgent:
        """Make an agent that carries out steps in order, and then exits with code 0.

        Args:
            steps: made by the methods of this object.
            id: names the agent in events and branches.
            native_read_only: as in ``ProcessAgent``.
            dialect: as in ``ProcessAgent``.
            brief_on_stdin: as in ``ProcessAgent``.
            structured: a structured final message is asked for, as of some CLIs.

        Raises:
            StepError: something is no step.
        """
        text = _program(steps)
        self._count += 1
        self._folder.mkdir(parents=True, exist_ok=True)
        program = self._folder / f"{self._count:02d}.py"
        program.write_text(text, encoding="utf-8", newline="\n")
        return ProcessAgent(
            id=id,
            origin="path",
            argv=(sys.executable, "-I", "-S", str(program), "{{prompt}}"),
            project=self._folder.as_posix(),
            native_read_only=native_read_only,
            dialect=dialect,
            brief_on_stdin=brief_on_stdin,
            structured=structured,
        )

    # --- the workspace -----------------------------------------------------------------

    @staticmethod
    def write(
        path: str, content: str | bytes = "", *, executable: bool = False, append: bool = False
    ) -> Step:
        """Write a file of the workspace; folders are made."""
        return _step("write", path=path, data=_bytes(content), executable=executable, append=append)

    @staticmethod
    def delete(path: str) -> Step:
        """Delete a file, or a folder with what is in it."""
        return _step("delete", path=path)

    @staticmethod
    def rename(path: str, to: str) -> Step:
        """Move a file."""
        return _step("rename", path=path, to=to)

    @staticmethod
    def symlink(path: str, target: str) -> Step:
        """Put a symbolic link, also in the place of a file."""
        return _step("symlink", path=path, target=target)

    @staticmethod
    def git(*args: str) -> Step:
        """Run git in the workspace."""
        one_by_one("git", args)
        return _step("git", args=list(args))

    @staticmethod
    def commit(message: str = "Work of the agent") -> Step:
        """Commit everything in the workspace."""
        return _step("commit", message=message)

    # --- output and events -------------------------------------------------------------

    @staticmethod
    def print(content: str | bytes, *, times: int = 1, stderr: bool = False) -> Step:
        r"""Print text or bytes as they are; a newline must be part of them."""
        return _step("output", data=_bytes(content), times=times, stderr=stderr)

    @staticmethod
    def print_brief(*, prefix: str = "") -> Step:
        """Print the brief, every line with a prefix."""
        return _step("brief", prefix=prefix)

    @staticmethod
    def run(*argv: str, check: bool = True) -> Step:
        """Run a program in the workspace; its output is the agent's.

        Args:
            argv: program and arguments.
            check: a program that fails ends the agent with an error.
        """
        one_by_one("run", argv)
        return _step("program", argv=list(argv), check=check)

    @staticmethod
    def read_stdin() -> Step:
        """Read stdin to its end, and print how much it was and what."""
        return _step("stdin")

    @staticmethod
    def environment(path: str = "environment.json") -> Step:
        """Write the whole environment into a file of the workspace."""
        return _step("environment", path=path)

    @staticmethod
    def event(type: str, **fields: object) -> Step:  # noqa: A002 - the word of the document
        """Log an event; ``seq``, ``at`` and ``task_id`` are filled in unless given."""
        return _step("event", kind=type, fields=fields)

    @staticmethod
    def event_bytes(content: str | bytes) -> Step:
        """Append bytes to the event log as they are: torn lines, garbage."""
        return _step("raw_event", data=_bytes(content))

    @staticmethod
    def ask(question: str, options: Iterable[str] = (), *, timeout: float = 10.0) -> Step:
        """Ask over the return channel, wait for the answer, and print it.

        Without a channel (a test opens it with the fixture ``caesar_answers``) nobody
        answers, so nothing is waited for, and ``raw.log`` says so.
        """
        return _step("ask", question=question, options=list(options), timeout=timeout)

    # --- reports -----------------------------------------------------------------------

    @staticmethod
    def report(
        status: str = "success",
        summary: str = "Done.",
        *,
        changes: Iterable[Declared] | None = None,
        to: Place = "file",
        encoding: str = "utf-8",
        cut: int | None = None,
        **fields: object,
    ) -> Step:
        """Hand in a report.

        Args:
            status: as it is; need not be valid.
            summary: as it is.
            changes: what is declared; None declares what the steps before really did.
            to: where it is handed in.
            encoding: of the text: ``utf-16``, ``utf-8-sig``, ``latin-1``, …
            cut: bytes after which it is torn off.
            fields: any other field; None leaves out ``protocol`` or ``task_id``.
        """
        known_place("report", to)
        known_encoding(encoding)
        declared = None if changes is None else [_declared(change) for change in changes]
        return _step(
            "report",
            fields={"status": status, "summary": summary, **fields},
            changes=declared,
            to=to,
            encoding=encoding,
            cut=cut,
        )

    @staticmethod
    def report_bytes(content: str | bytes, *, to: Place = "file") -> Step:
        """Hand in bytes where a report is expected."""
        known_place("report_bytes", to)
        return _step("report_bytes", data=_bytes(content), to=to)

    @staticmethod
    def report_as(kind: Kind, target: str = "", *, to: Place = "file") -> Step:
        """Put something that is no file where the report is expected."""
        known_kind(kind)
        known_place("report_as", to)
        return _step("report_as", kind=kind, target=target, to=to)

    # --- life and death ----------------------------------------------------------------

    @staticmethod
    def sleep(seconds: float) -> Step:
        """Wait."""
        return _step("sleep", seconds=seconds)

    @staticmethod
    def hang() -> Step:
        """Wait until something ends the agent."""
        return _step("sleep", seconds=None)

    @staticmethod
    def wait_for(path: str | Path, *, timeout: float = 10.0) -> Step:
        """Wait until a file is there; exit with an error after ``timeout`` seconds."""
        return _step("wait_for", path=str(path), timeout=timeout)

    @staticmethod
    def ignore(*names: str) -> Step:
        """Ignore signals from now on, such as ``SIGTERM`` (which is the default)."""
        for name in names:
            known_signal("ignore", name)
        return _step("ignore", names=list(names or ("SIGTERM",)))

    @staticmethod
    def on_signal(name: str, *steps: Step) -> Step:
        """Carry out steps when a signal comes."""
        known_signal("on_signal", name)
        return _step("on_signal", name=name, steps=_plain(steps))

    @staticmethod
    def leave(*steps: Step, new_session: bool = False, quiet: bool = False) -> Step:
        """Leave a process behind that carries out steps while the agent goes on.

        Args:
            steps: what it does; ``sleep`` first makes a report come late.
            new_session: it leaves the agent's process group.
            quiet: it lets go of the agent's output.

        Raises:
            StepError: without steps it would end at once, and nothing be left behind.
        """
        if not steps:
            raise StepError(
                step="leave()",
                problem="without steps nothing stays behind; say what it does, as in "
                "leave(caesar_fake_agent.hang())",
            )
        return _step("leave", steps=_plain(steps), new_session=new_session, quiet=quiet)

    def sometimes(
        self, rate: float, *steps: Step, otherwise: Sequence[Step] = (), seed: int = 0
    ) -> Step:
        """Carry out steps by chance, the same way whenever the same test is run again.

        The draw depends on the seed, the test (each trial is another), and the task's id.

        Args:
            rate: how often, from 0 (never) to 1 (always).
            steps: what is done then.
            otherwise: what is done in all other cases.
            seed: another one gives other draws.

        Raises:
            StepError: the rate is none.
        """
        if not 0 <= rate <= 1:
            raise StepError(
                step=f"sometimes({rate!r})", problem="expected a rate from 0 (never) to 1 (always)"
            )
        return _step(
            "sometimes",
            rate=float(rate),
            steps=_plain(steps),
            otherwise=_plain(otherwise),
            seed=f"{seed} {self._salt}",
        )

    @staticmethod
    def exit(code: int = 0) -> Step:
        """Exit now."""
        return _step("exit", code=code)

    @staticmethod
    def kill(signal: str = "SIGKILL") -> Step:
        """End by a signal now."""
        known_signal("kill", signal)
        return _step("kill", name=signal)


def _step(step: str, /, **values: Any) -> Step:
    try:
        return Step(step, {name: literal(value) for name, value in values.items()})
    except TypeError as error:
        raise StepError(
            step=f"a step of a fake agent ({step})",
            problem=f"it is written into a program, which {error} cannot be; give text, "
            "bytes, numbers, lists or dicts",
        ) from None


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content


def _declared(change: Declared) -> dict[str, object]:
    if isinstance(change, str):
        return {"path": change, "action": "modified"}
    if isinstance(change, tuple):
        path, action = change
        return {"path": path, "action": action}
    return dict(change)


def _plain(steps: Sequence[Step]) -> list[tuple[str, dict[str, Any]]]:
    for step in steps:
        if not isinstance(step, Step):
            raise StepError(
                step=one_line(repr(step), limit=120),
                problem="this is no step of a fake agent; make one with "
                "caesar_fake_agent.write(...), .report(...), …",
            )
    return [(step.name, dict(step.values)) for step in steps]


def _program(steps: Sequence[Step]) -> str:
    source = Path(__file__).with_name("script.py").read_text(encoding="utf-8")
    return f"{source}\n\nmain({_plain(steps)!r})\n"
