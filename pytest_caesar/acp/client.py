"""The client of one ACP agent: reads what it printed, and answers on its stdin."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from typing_extensions import Self

from caesar_agent.clock import monotonic
from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.task_directory import TaskDirectory
from pytest_caesar.acp.elicitation import Elicitation
from pytest_caesar.acp.permissions import CANCELLED, Scripted, answer, decide, request_of
from pytest_caesar.acp.pipes import MAX_LINE, FloodError, Pipes
from pytest_caesar.acp.terminals import TerminalRefusedError, Terminals
from pytest_caesar.acp.workspace_files import PathRefusedError, WorkspaceFiles
from pytest_caesar.runs.command_reconciliation import ObservedCommand
from pytest_caesar.runs.permission import Permission
from pytest_caesar.supervision.logs import Log
from pytest_caesar.supervision.supervisor import ProcessSpec

VERSION: Final = 1
"""Of the protocol."""

MAX_REQUESTS: Final = 20_000
"""Requests of an agent that are answered; then none is."""

LOOK: Final = 0.1
"""Seconds after which the deadline is looked at, when nothing comes."""

LEAD: Final = 1.0
"""Seconds before its deadline at which an agent is told to stop, a tenth of them at most."""

READ_ONLY_MODES: Final = ("plan", "read-only", "readonly", "architect", "ask")
"""Modes of a session that write nothing, the best first."""

AUTH_REQUIRED: Final = -32000
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602

LOGINS: Final = (
    ("vertex-ai", ("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT")),
    ("gemini-api-key", ("GEMINI_API_KEY",)),
    ("openai-api-key", ("OPENAI_API_KEY",)),
    ("codex-api-key", ("CODEX_API_KEY",)),
    ("anthropic-api-key", ("ANTHROPIC_API_KEY",)),
)
"""Methods of known agents that take no person, and the variables of which one means them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """What an agent is told.

    Attributes:
        brief: the prompt.
        workspace: where it works, absolute.
        report: the file that the report is expected in.
        read_only: the task may not write.
        channel: command and arguments of the MCP server of the return channel, or None.
        environ: of the agent; says which login there is.
        auth_method: the login to use, or None.
        may_read: the client offers to read files for it.
        timeout: seconds until its deadline.
        scripted: decides on permissions, or None.
        stopped: tells that it is to end.
        grace: seconds between SIGTERM and SIGKILL of programs that it has us run.
        enclose: puts the sandbox of the task around such a program.
    """

    brief: str
    workspace: Path
    report: Path
    read_only: bool
    channel: tuple[str, tuple[str, ...]] | None
    environ: Mapping[str, str]
    auth_method: str | None
    may_read: bool
    timeout: float
    scripted: Scripted | None
    stopped: Callable[[], bool]
    grace: float = 5.0
    enclose: Callable[[ProcessSpec], ProcessSpec] = lambda spec: spec


@dataclass(slots=True)
class _Findings:
    """Findings by code: the first of each in words, the others counted."""

    first: dict[str, str] = field(default_factory=dict)
    count: dict[str, int] = field(default_factory=dict)

    def add(self, code: str, text: str) -> None:
        self.first.setdefault(code, text)
        self.count[code] = self.count.get(code, 0) + 1

    def diagnostics(self) -> list[Diagnostic]:
        told = []
        for code, text in self.first.items():
            more = self.count[code] - 1
            told.append(Diagnostic(code=code, message=text + (f"; {more} more" if more else "")))
        return told


class AcpClient:
    """Works off one session in a thread of its own, in a ``with`` block around the process.

    Args:
        session: what the agent is told.
        spec: how it is run.
        log: takes what it prints, byte for byte.
        sent: takes every message that is sent, a line each.

    Attributes:
        stdin, stdout: the descriptors that the agent reads from and writes to: pipes, since
            libraries of agents take nothing else.
        over: the agent's turn came to its end, so that it may be ended.
        failed: there was no turn, or it broke off.
        permissions: every request and its answer, in order.
    """

    def __init__(self, session: Session, *, spec: ProcessSpec, log: Log, sent: Log) -> None:
        self._pipes = Pipes(log=log, sent=sent)
        self.stdin, self.stdout = self._pipes.stdin, self._pipes.stdout
        self.over = False
        self.failed = False
        self.permissions: list[Permission] = []
        self._session = session
        self._files = WorkspaceFiles(session.workspace, session.report, read_only=session.read_only)
        self._terminals = Terminals(
            spec,
            session.workspace,
            enclose=session.enclose,
            timeout=session.timeout,
            grace=session.grace,
            wake=self._pipes.wake,
        )
        self._elicitation = (
            Elicitation(
                TaskDirectory(spec.task_directory),
                wake=self._pipes.wake,
                stopped=session.stopped,
            )
            if session.channel is not None
            else None
        )
        self._findings = _Findings()
        self._crash: BaseException | None = None
        self._offered = "none"
        self._ids = 0
        self._waiting: tuple[int, str] | None = None
        self._session_id: str | None = None
        self._tried_login = False
        self._cancelled = False
        self._requests = 0
        self._begun = monotonic()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._work, name="acp client", daemon=True)

    def __enter__(self) -> Self:
        self._ask(
            "initialize",
            {
                "protocolVersion": VERSION,
                "clientCapabilities": {
                    "fs": {"readTextFile": self._session.may_read, "writeTextFile": True},
                    "terminal": True,
                    **({"elicitation": {"form": {}}} if self._elicitation else {}),
                },
                "clientInfo": {"name": "pytest-caesar", "version": "1"},
            },
        )
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._done.set()
        self._pipes.wake()
        self._thread.join()
        if self._elicitation is not None:
            self._elicitation.close()
        self._terminals.close()
        while self._look():  # what came right before the end
            pass
        self._pipes.close()
        if self._crash is not None and exception[0] is None:
            raise self._crash

    def delivered(self) -> bool:
        """Tell that the turn is over, so that the process may be ended."""
        return self.over

    def commands(self) -> list[ObservedCommand]:
        """Return what it had us run, once the process is gone."""
        return self._terminals.observed()

    def diagnostics(self) -> list[Diagnostic]:
        """Return what was odd, once the process is gone."""
        pipes = self._pipes
        for _ in range(pipes.too_long):
            self._findings.add("acp-malformed", f"a line has more than {MAX_LINE} bytes")
        if pipes.log_problem:
            self._findings.add(
                "acp-log-incomplete",
                f"raw.log could not be written: {pipes.log_problem}; what the agent printed is lost",
            )
        found = self._findings.diagnostics()
        if self._waiting is not None and not self.failed:
            method = self._waiting[1]
            found.append(
                Diagnostic(
                    code="acp-ended-early",
                    message=f"the agent ended, or was ended, before it answered {method}",
                )
            )
        return found

    # -- the thread

    def _work(self) -> None:
        try:
            self._serve()
        except BaseException as error:  # noqa: BLE001 - it is raised where the block ends
            self._crash = error
            self.failed = self.over = True

    def _serve(self) -> None:
        while not self._done.is_set():
            self._pipes.wait(LOOK)
            for ident, result in self._later():
                self._send({"id": ident, "result": result})
            if not self._look() and self._pipes.ended:
                self._done.wait(LOOK)  # nobody writes any more
            self._pipes.flush()
            self._watch_the_deadline()

    def _later(self) -> list[tuple[object, dict[str, Any]]]:
        """Return answers that took their time."""
        asked = self._elicitation.answers() if self._elicitation is not None else []
        return [*self._terminals.answers(), *asked]

    def _watch_the_deadline(self) -> None:
        session = self._session
        lead = min(LEAD, session.timeout / 10)
        due = monotonic() - self._begun >= session.timeout - lead or session.stopped()
        if due and not self._cancelled and not self.over and self._session_id is not None:
            self._cancelled = True
            self._send({"method": "session/cancel", "params": {"sessionId": self._session_id}})

    def _look(self) -> bool:
        """Take up what was printed since the last look; tell whether there was anything."""
        lines = self._pipes.lines()
        for line in lines or ():
            self._take(line)
        return lines is not None

    def _take(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            self._take_message(line)
        except (TypeError, ValueError, AttributeError, KeyError, RecursionError) as error:
            self._findings.add(
                "acp-malformed", f"a message could not be understood ({type(error).__name__})"
            )

    def _take_message(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            shown = one_line(line[:300].decode("utf-8", "backslashreplace"), limit=120)
            self._findings.add("acp-malformed", f"a line is no message of JSON-RPC 2.0: {shown}")
            return
        method, ident = message.get("method"), message.get("id")
        if isinstance(method, str):
            if "id" in message:
                self._answer(ident, method, message.get("params"))
        elif "result" in message or "error" in message:
            if self._waiting is None or ident != self._waiting[0]:
                self._findings.add(
                    "acp-stray-answer",
                    f"an answer to {one_line(json.dumps(ident), limit=60)}, which was not asked",
                )
                return
            asked, self._waiting = self._waiting[1], None
            error = message.get("error")
            if error is not None:
                self._refused(asked, error if isinstance(error, dict) else {"message": error})
            else:
                result = message.get("result")
                self._go_on(asked, result if isinstance(result, dict) else {})
        else:
            self._findings.add("acp-malformed", "a message has no method, result or error")

    # -- what we ask

    def _go_on(self, asked: str, result: dict[str, Any]) -> None:
        if asked == "initialize":
            version = result.get("protocolVersion")
            if version != VERSION:
                self._fail(f"it speaks version {version!r:.40} of the protocol, and we {VERSION}")
                return
            method = self._login(result.get("authMethods"))
            if method is not None:
                self._log_in(method)
            else:
                self._open()
        elif asked == "authenticate":
            self._open()
        elif asked == "session/new":
            ident = result.get("sessionId")
            if not isinstance(ident, str):
                self._fail("its answer to session/new names no session")
                return
            self._session_id = ident
            mode = self._quiet_mode(result.get("modes"))
            if mode is not None:
                self._ask("session/set_mode", {"sessionId": ident, "modeId": mode})
            else:
                self._prompt()
        elif asked == "session/set_mode":
            self._prompt()
        elif not self._cancelled:
            # After a cancellation, the deadline has the word.
            self.over = True
            self._pipes.close_stdin()

    def _refused(self, asked: str, error: Mapping[str, Any]) -> None:
        said = one_line(str(error.get("message", "")), limit=300)
        if asked == "session/set_mode":
            self._prompt()
            return
        if asked == "session/new" and error.get("code") == AUTH_REQUIRED and not self._tried_login:
            method = self._session.auth_method
            if method is not None:
                self._log_in(method)
                return
            self._fail(
                f"it wants a login ({said}), and offers {self._offered}: name one as auth_method "
                "of its [[agent]], or pass the variables of a login that takes no person"
            )
            return
        if asked == "session/prompt" and self._cancelled:
            return
        self._fail(f"it refused {asked}: {said}")

    def _fail(self, why: str) -> None:
        self._findings.add("acp-session-failed", f"the agent could not be given its task: {why}")
        self.failed = self.over = True
        self._pipes.close_stdin()

    def _login(self, methods: object) -> str | None:
        """Return the login to use before a session is asked for, or None."""
        offered = [
            one["id"]
            for one in (methods if isinstance(methods, list) else ())
            if isinstance(one, dict) and isinstance(one.get("id"), str)
        ]
        self._offered = one_line(", ".join(offered[:10]), limit=200) or "none"
        if self._session.auth_method is not None:
            return self._session.auth_method
        environ = self._session.environ
        return next(
            (
                method
                for method, names in LOGINS
                if method in offered and any(environ.get(name) for name in names)
            ),
            None,
        )

    def _log_in(self, method: str) -> None:
        self._tried_login = True
        self._ask("authenticate", {"methodId": method})

    def _open(self) -> None:
        servers = []
        if self._session.channel is not None:
            command, arguments = self._session.channel
            servers = [{"name": "caesar", "command": command, "args": list(arguments), "env": []}]
        self._ask("session/new", {"cwd": str(self._session.workspace), "mcpServers": servers})

    def _quiet_mode(self, modes: object) -> str | None:
        if not self._session.read_only or not isinstance(modes, dict):
            return None
        there = modes.get("availableModes")
        ids = [one.get("id") for one in there if isinstance(one, dict)] if isinstance(
            there, list
        ) else []  # fmt: skip
        return next((mode for mode in READ_ONLY_MODES if mode in ids), None)

    def _prompt(self) -> None:
        prompt = [{"type": "text", "text": self._session.brief}]
        self._ask("session/prompt", {"sessionId": self._session_id, "prompt": prompt})

    def _ask(self, method: str, params: dict[str, Any]) -> None:
        ident, self._ids = self._ids, self._ids + 1
        self._waiting = (ident, method)
        self._send({"id": ident, "method": method, "params": params})

    # -- what it asks

    def _answer(self, ident: object, method: str, params: object) -> None:
        self._requests += 1
        if self._requests > MAX_REQUESTS:
            self._findings.add("acp-malformed", f"more than {MAX_REQUESTS} requests")
            return
        given = params if isinstance(params, dict) else {}
        handler = {
            "session/request_permission": self._permit,
            "fs/write_text_file": self._write,
            "terminal/create": self._terminals.create,
            "terminal/output": self._terminals.output,
            "terminal/kill": self._terminals.kill,
            "terminal/release": self._terminals.release,
            **({"fs/read_text_file": self._read_file} if self._session.may_read else {}),
        }.get(method)
        if method == "terminal/wait_for_exit":
            self._wait(ident, given)
            return
        if method == "elicitation/create" and self._elicitation is not None:
            self._elicitation.ask(ident, given)
            return
        if handler is None:
            shown = one_line(method, limit=80)
            self._findings.add("acp-unknown-method", f"it asked for {shown}, which is not offered")
            self._send_error(ident, METHOD_NOT_FOUND, f"{shown} is not offered")
            return
        try:
            result = handler(given)
        except PathRefusedError as error:
            path = one_line(str(given.get("path")), limit=200)
            self._findings.add("acp-path-refused", f"{method} of {path} was refused: {error}")
            self._send_error(ident, INVALID_PARAMS, f"{path}: {error}")
        except TerminalRefusedError as error:
            self._refuse_terminal(ident, method, error)
        else:
            self._send({"id": ident, "result": result})

    def _wait(self, ident: object, params: dict[str, Any]) -> None:
        """Have a program's end told when it comes."""
        try:
            self._terminals.wait(ident, params)
        except TerminalRefusedError as error:
            self._refuse_terminal(ident, "terminal/wait_for_exit", error)

    def _refuse_terminal(self, ident: object, method: str, error: TerminalRefusedError) -> None:
        said = one_line(str(error), limit=300)
        self._findings.add("acp-terminal-refused", f"{method} was refused: {said}")
        self._send_error(ident, INVALID_PARAMS, said)

    def _permit(self, params: dict[str, Any]) -> dict[str, Any]:
        request = request_of(params, str(self._session.workspace))
        permission = decide(
            request, read_only=self._session.read_only, scripted=self._session.scripted
        )
        told = CANCELLED if self._cancelled else answer(permission, params.get("options"))
        if permission.allowed and told is CANCELLED:
            why = "the session was cancelled" if self._cancelled else "no option allows it"
            permission = replace(permission, allowed=False, reason=why)
        self.permissions.append(permission)
        return dict(told)

    def _write(self, params: dict[str, Any]) -> None:
        self._files.write(params.get("path"), params.get("content"))

    def _read_file(self, params: dict[str, Any]) -> dict[str, Any]:
        text = self._files.read(
            params.get("path"), line=params.get("line"), limit=params.get("limit")
        )
        return {"content": text}

    # -- the pipe

    def _send_error(self, ident: object, code: int, text: str) -> None:
        self._send({"id": ident, "error": {"code": code, "message": text}})

    def _send(self, message: dict[str, Any]) -> None:
        try:
            self._pipes.send(message)
        except FloodError as error:
            self._fail(f"it does not read its stdin; {error}")
