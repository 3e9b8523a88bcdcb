"""The object behind ``caesar_model``: a script, the server that plays it, what reached it."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Protocol

from pytest_caesar.model.conversation import ModelRequest
from pytest_caesar.model.player import MAX_REQUESTS, Player, Refused, Said
from pytest_caesar.model.script import Conversation, Script, ScriptedModelError
from pytest_caesar.model.server import ModelServer
from pytest_caesar.model.upstream import Upstream
from pytest_caesar.model.words import Words

if TYPE_CHECKING:
    import socket

    from pytest_caesar.recovery.tool_call import ToolCall
    from pytest_caesar.recovery.usage import Usage


class Recording(Protocol):
    """What is kept of a real model beside a test."""

    def begin(self) -> bool:
        """Tell whether the conversation is recorded now, instead of played."""

    def read(self) -> Script:
        """Return what was recorded; ``ScriptedModelError`` where there is nothing."""


class ScriptedModel(Words):
    """A model that says what it was told to say, on a port of 127.0.0.1.

    The server starts when its address is first asked for, and ends with ``close``.

    Args:
        script: what is played; an empty one to be filled by default.
        max_requests: requests of one task before its CLI is told to stop.
        port: 0 takes a free one.
        recording: what was recorded of the test, for ``record``; or None.
    """

    def __init__(
        self,
        script: Script | None = None,
        *,
        max_requests: int = MAX_REQUESTS,
        port: int = 0,
        recording: Recording | None = None,
    ) -> None:
        self.script = script or Script()
        super().__init__(self.script.main)
        self.player = Player(self.script, max_requests=max_requests)
        self._port = port
        self._lock = threading.Lock()
        self._server: ModelServer | None = None
        self._recording = recording
        self.upstream: Upstream | None = None

    def __repr__(self) -> str:
        return (
            f"<ScriptedModel of {len(self.script.main.turns)} turns, "
            f"{len(self.player.requests)} requests>"
        )

    def __enter__(self) -> ScriptedModel:  # noqa: PYI034 - Self is newer than Python 3.10
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def on(self, text: str) -> Words:
        """Script the conversation in which a message of the user holds ``text``."""
        if not isinstance(text, str) or not text:
            raise ScriptedModelError(problem=f"on({text!r:.60}): expected a text of the brief")
        known = (other for other in self.script.others if other.match == text)
        conversation = next(known, None)
        if conversation is None:
            conversation = Conversation(match=text)
            self.script.others.append(conversation)
        return Words(conversation)

    def record(self, url: str, *, headers: Mapping[str, str] | None = None) -> None:
        """Play what was recorded of a real model; with ``--caesar-record``, record it.

        Args:
            url: of the API, such as ``https://api.openai.com/v1``.
            headers: its login, instead of OPENAI_API_KEY, ANTHROPIC_API_KEY or
                GEMINI_API_KEY; never kept.

        Raises:
            ScriptedModelError: nothing was recorded, or there is a script already.
        """
        if self._recording is None:
            raise ScriptedModelError(problem="record() needs the fixture caesar_model")
        if any(conversation.turns for conversation in self.script):
            raise ScriptedModelError(
                problem="record() takes the place of a script: use one of both"
            )
        if self._recording.begin():
            self.upstream = Upstream(url, headers)
            return
        read = self._recording.read()
        self.script.main = self._conversation = read.main
        self.script.others[:] = read.others

    def _answer(self, request: ModelRequest) -> Said | Refused:
        if self.upstream is None:
            return self.player.answer(request)
        self.player.requests.append(request)
        return self.upstream.ask(request)

    @property
    def max_requests(self) -> int:
        """Requests of one task before its CLI is told to stop."""
        return self.player.max_requests

    @max_requests.setter
    def max_requests(self, number: int) -> None:
        if isinstance(number, bool) or number < 1:
            raise ScriptedModelError(problem=f"max_requests={number!r}: expected one or more")
        self.player.max_requests = number

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        """What reached the model so far, side requests too, in order of arrival."""
        return tuple(self.player.requests)

    @property
    def url(self) -> str:
        """The address of the server, without a slash at its end; it serves from now on."""
        return self._serving().url

    def url_for(self, agent: str, task: str) -> str:
        """Return the address for one task of one agent; requests to it say whose they are."""
        return self._serving().url_for(agent, task)

    def listen_at(self, listening: socket.socket) -> None:
        """Answer at another listening socket too, one from inside a sandbox."""
        self._serving().listen_at(listening)

    def witness(self, task: str) -> tuple[tuple[ToolCall, ...], Usage]:
        """Return the calls that came back to the model for one task, and what it said that cost."""
        from pytest_caesar.model.witness import calls_seen, used_for  # noqa: PLC0415 - at the end

        return calls_seen(self.requests, task), used_for(self.player.used.get(task, ()))

    def judge(self, *, stopped: bool = False) -> str | None:
        """Return what went wrong with the script, in one message, or None.

        Args:
            stopped: the agent was stopped on purpose, so that it may have left out turns.
        """
        return None if self.upstream is not None else self.player.judge(stopped=stopped)

    def close(self) -> None:
        """Stop serving; waits for nobody."""
        if self._server is not None:
            self._server.close()

    def _serving(self) -> ModelServer:
        with self._lock:
            if self._server is None:
                self._server = ModelServer(self._answer, port=self._port)
            return self._server
