"""Answering the questions of one task while its agent runs."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import TYPE_CHECKING

from caesar_agent.clock import monotonic, pause
from caesar_agent.console import one_line
from caesar_agent.diagnostics import Diagnostic
from caesar_agent.errors import CaesarError
from caesar_agent.events.log import EventLog
from caesar_agent.mailbox.mailbox import Mailbox
from caesar_agent.mailbox.question_events import MailboxEvents
from caesar_agent.mailbox.reader import MAX_DIAGNOSTICS, AskedQuestion
from caesar_agent.task_directory import TaskDirectory
from pytest_caesar.supervision.cancellation import Cancellation
from pytest_caesar.supervision.pace import interval

if TYPE_CHECKING:
    from typing_extensions import Self

    from pytest_caesar.answers.scripted_answers import Script, ScriptedAnswers

JOIN_TIMEOUT = 10.0
"""How long, in seconds, a function of a script may still take when the agent has ended."""

UNSCRIPTED = "no answer is scripted for this question"
"""What an agent is told whose question fails its test."""

ENDINGS = {
    "rejected": "none is scripted for it",
    "expired": "its time was over",
    "withdrawn": "the agent ended, or gave up, before there was one",
}
"""How a question ended that had no answer, by state."""


class QuestionResponder:
    """Looks after the mailbox of one task from a thread of its own.

    A thread, because an agent that runs in this process keeps the main one busy. It
    starts and ends with a ``with`` block: enter it after ``task.json`` was written, leave it
    when the agent's whole process tree is gone.

    Args:
        answers: the script that it reads from.
        directory: the task directory.
        task_id: id of the task, for the events.
        abort: set when the agent should be ended, because nothing else can come of it.

    Attributes:
        questions: all that was asked, and what became of it; complete after the block.
        diagnostics: what was odd about the mailbox; complete after the block.
    """

    def __init__(
        self,
        answers: ScriptedAnswers,
        directory: TaskDirectory,
        *,
        task_id: str,
        abort: Cancellation | None = None,
    ) -> None:
        self.questions: tuple[AskedQuestion, ...] = ()
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self._answers = answers
        self._mailbox = Mailbox(directory)
        self._events = MailboxEvents(
            directory,
            task_id=task_id,
            log=EventLog(directory.events_file, task_id=task_id, directory=directory),
        )
        self._abort = abort
        self._due: dict[str, tuple[Script, float]] = {}
        self._known: set[str] = set()
        self._answered: set[str] = set()
        self._meant: set[str] = set()
        self._found: list[Diagnostic] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="caesar answers", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop.set()
        self._thread.join(JOIN_TIMEOUT)
        if self._thread.is_alive():
            self._answers.fault("a function of the script did not return")
            return
        self._finish()

    def _work(self) -> None:
        seen = monotonic()
        while not self._stop.is_set():
            before = len(self._known)
            try:
                self._pump()
            except (CaesarError, OSError) as error:
                # Such as ``answers`` that the agent has replaced by a link.
                self._note("mailbox-unreadable", f"the mailbox cannot be used: {error}")
                return
            now = monotonic()
            seen = now if self._due or len(self._known) != before else seen
            # An agent that never asks costs next to nothing; one that asks hears at once.
            pause(interval(min(0.02, max(0.002, (now - seen) / 200))))

    def _pump(self) -> None:
        for question in self._mailbox.questions():
            if question.id not in self._known:
                self._meet(question)
                self._receive(question)
            script, due = self._due.get(question.id, (None, 0.0))
            if script is not None and due <= monotonic():
                del self._due[question.id]
                self._act(question, script)

    def _meet(self, question: AskedQuestion) -> None:
        self._known.add(question.id)
        problem = self._events.add_question(question.id, question.question, question.options)
        self._note_unwritable(problem)

    def _receive(self, question: AskedQuestion) -> None:
        script = self._choose(question)
        if script is not None:
            if script.after is not None:
                self._due[question.id] = (script, monotonic() + script.after)
        elif self._answers.policy == "fail":
            self._close(question.id, "rejected", UNSCRIPTED)
            self._end_agent()

    def _choose(self, question: AskedQuestion) -> Script | None:
        try:
            script = self._answers.choose(question)
        except Exception as error:  # noqa: BLE001 - a matcher of the user's
            self._answers.fault(f"a matcher raised {type(error).__name__}: {error}")
            self._end_agent()
            return None
        if script is not None and script.kind != "answer":
            self._meant.add(question.id)  # silence, too, can be what a test wants
        return script

    def _act(self, question: AskedQuestion, script: Script) -> None:
        if script.kind == "silence":
            self._close(question.id, "expired", "")
            return
        try:
            text = script.text(question)
        except Exception as error:  # noqa: BLE001 - a function of the user's
            self._answers.fault(f"{script} raised {type(error).__name__}: {error}")
            self._close(question.id, "rejected", UNSCRIPTED)
            self._end_agent()
            return
        if script.kind == "reject":
            self._close(question.id, "rejected", text)
            return
        self._answer(question, script, text)

    def _answer(self, question: AskedQuestion, script: Script, text: str) -> None:
        if not isinstance(text, str) or not text:
            self._answers.fault(f"{script} gave {text!r:.80} instead of a text")
            self._close(question.id, "rejected", UNSCRIPTED)
            self._end_agent()
            return
        if self._mailbox.poll(question.id) is not None:
            return  # the agent has given up, or somebody else was first
        # Told before it can be read, so that the order of events is always the same.
        self._note_unwritable(self._events.add_answer(question.id, text))
        try:
            self._mailbox.answer(question.id, text)
        except (CaesarError, OSError) as error:
            self._note("answer-undelivered", f"the answer to {question.id} did not count: {error}")
        else:
            self._answered.add(question.id)

    def _close(self, question_id: str, state: str, detail: str) -> None:
        try:
            if state == "expired":
                self._mailbox.expire(question_id)
            elif state == "withdrawn":
                self._mailbox.withdraw(question_id)
            else:
                self._mailbox.close(question_id, "rejected", detail)
        except (CaesarError, OSError) as error:
            self._note("answer-undelivered", f"{question_id} could not be closed: {error}")

    def _finish(self) -> None:
        for question in self._mailbox.questions(final=True):
            if question.id not in self._known:
                # Asked and gone: there was no time to answer, but it was asked.
                self._meet(question)
                self._choose(question)
            if question.state == "pending":
                self._close(question.id, "withdrawn", "")
        self.questions = self._mailbox.questions(final=True)
        for question in self.questions:
            if (
                question.answer is not None
                and question.options
                and (question.answer not in question.options)
            ):
                self._note(
                    "answer-outside-options",
                    f"{one_line(question.question, limit=120)!r} was answered with "
                    f"{one_line(question.answer, limit=80)!r}, which is none of its options",
                )
            if question.answer is None and question.id not in self._meant:
                self._note(
                    "unanswered-question",
                    f"the agent asked {one_line(question.question, limit=120)!r} "
                    f"and had no answer: {ENDINGS.get(question.state, question.state)}",
                )
            if question.answer is not None and question.id not in self._answered:
                self._note_unwritable(self._events.add_answer(question.id, question.answer))
                if self._answers.policy == "fail":
                    self._note(
                        "answer-foreign",
                        f"{question.id} was answered by somebody who is not the orchestrator",
                    )
        self.diagnostics = (*self._mailbox.diagnostics, *self._found)

    def _end_agent(self) -> None:
        if self._abort is not None:
            self._abort.set()

    def _note_unwritable(self, problem: str) -> None:
        if problem:
            self._note("events-unwritable", f"an event could not be written to the log: {problem}")

    def _note(self, code: str, message: str) -> None:
        if len(self._found) < MAX_DIAGNOSTICS:
            self._found.append(Diagnostic(code=code, message=message))
