"""Who attends to an agent while it works: answers its questions, runs the agents it asks for."""

from __future__ import annotations

import contextlib
from types import TracebackType
from typing import TYPE_CHECKING

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.mailbox.reader import AskedQuestion
from pytest_caesar.answers.question_responder import QuestionResponder
from pytest_caesar.orchestrator.nested.server import NestedServer
from pytest_caesar.runs.run import Run

if TYPE_CHECKING:
    from typing_extensions import Self


class Attendants:
    """Both of them, in a ``with`` block around the agent's work; complete after it.

    Args:
        responder: answers questions, or None where there is no return channel.
        server: runs the agents that are asked for, or None where none may be.
    """

    def __init__(self, responder: QuestionResponder | None, server: NestedServer | None) -> None:
        self._responder = responder
        self._server = server
        self._entered = contextlib.ExitStack()

    def __enter__(self) -> Self:
        with contextlib.ExitStack() as entered:
            for attendant in (self._responder, self._server):
                if attendant is not None:
                    entered.enter_context(attendant)
            self._entered = entered.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._entered.__exit__(kind, error, traceback)

    @property
    def questions(self) -> tuple[AskedQuestion, ...]:
        """All that was asked, and how each question ended."""
        return self._responder.questions if self._responder else ()

    @property
    def children(self) -> tuple[Run, ...]:
        """The runs of the agents that were asked for."""
        return self._server.children if self._server else ()

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What was odd about questions and requests."""
        return tuple(
            found
            for attendant in (self._responder, self._server)
            if attendant is not None
            for found in attendant.diagnostics
        )
