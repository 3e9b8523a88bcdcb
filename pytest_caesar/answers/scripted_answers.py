"""Scripted answers: what the orchestrator says when an agent asks."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal, TypeAlias

from caesar_agent.console import one_line
from caesar_agent.errors import CaesarError
from caesar_agent.mailbox.reader import AskedQuestion
from pytest_caesar.runs.permission import PermissionRequest

Match: TypeAlias = "str | re.Pattern[str] | Callable[[AskedQuestion], object]"
"""Which questions a script is for: a text that the question contains, a pattern that is
searched in it, or a function that says so."""

Say: TypeAlias = "str | Callable[[AskedQuestion], str]"
"""The answer, or a function that makes it from the question."""


TOLD = 5
"""Questions of one kind that a failure tells one by one: an agent may ask any number."""


class ScriptError(CaesarError, ValueError):
    """A script that cannot be meant.

    Attributes:
        problem: what was found and what was expected.
    """

    __module__ = "pytest_caesar"

    problem: str

    def message(self) -> str:  # noqa: D102 - what it does is said by the base class
        return f"invalid script of answers: {self.problem}"


@dataclass(slots=True, kw_only=True, eq=False)
class Script:
    """What happens to the questions that one matcher picks.

    Attributes:
        kind: answer, stay silent, or refuse to answer.
        match: which questions; None for every one.
        say: the answer; the reason where ``kind`` is ``reject``.
        after: seconds between the question and what happens; None for never.
        times: how many questions it is for, or None.
        optional: it is no failure when it was never used.
        used: how many questions it was used for.
        origin: the script that this one is a copy of, which counts its questions too.
    """

    kind: Literal["answer", "silence", "reject"]
    match: Match | None
    say: Say = ""
    after: float | None = 0.0
    times: int | None = None
    optional: bool = False
    used: int = 0
    origin: Script | None = None

    def picks(self, question: AskedQuestion) -> bool:
        """Tell whether it is for this question."""
        if self.times is not None and self.used >= self.times:
            return False
        if self.match is None:
            return True
        if isinstance(self.match, str):
            return self.match in question.question
        if isinstance(self.match, re.Pattern):
            return self.match.search(question.question) is not None
        return bool(self.match(question))

    def text(self, question: AskedQuestion) -> str:
        """Return what is said, made from the question where it is a function."""
        return self.say if isinstance(self.say, str) else self.say(question)

    def __str__(self) -> str:
        call = {"answer": "on", "silence": "silence", "reject": "reject"}[self.kind]
        return f"{call}({_name(self.match)})"


@dataclass(slots=True)
class PermissionScript:
    """What is said to the requests that one pattern picks.

    Attributes:
        match: a kind, and maybe a pattern behind it.
        reason: why they are refused; "" where they are allowed.
        optional: it is no failure when it was never used.
        used: how many requests it was used for.
    """

    match: str
    reason: str
    optional: bool = False
    used: int = 0

    def picks(self, request: PermissionRequest) -> bool:
        """Tell whether it is for this request."""
        kind, _, pattern = self.match.partition(" ")
        if not fnmatchcase(request.kind, kind):
            return False
        return not pattern or any(fnmatchcase(text, pattern.strip()) for text in request.texts)

    def __str__(self) -> str:
        return f"{'refuse' if self.reason else 'permit'}({self.match!r})"


class ScriptedAnswers:
    """Answers the questions of agents from a script; the object behind ``caesar_answers``.

    The first script that picks a question decides; a question that none picks is
    *unscripted*.

    Args:
        unscripted: ``fail`` refuses such a question and ends the agent, so that a test
            fails at once and by name; ``wait`` leaves it to somebody else, such as
            ``caesar-agent answer``.
    """

    def __init__(self, *, unscripted: Literal["fail", "wait"] = "fail") -> None:
        self.policy: Literal["fail", "wait"] = unscripted
        self._lock = threading.Lock()
        self._scripts: list[Script] = []
        self._unscripted: list[AskedQuestion] = []
        self._errors: list[str] = []
        self._permissions: list[PermissionScript] = []
        self._unpermitted: list[PermissionRequest] = []

    # -- scripting

    def on(
        self,
        match: Match,
        answer: Say,
        *,
        after: float = 0.0,
        times: int | None = None,
        optional: bool = False,
    ) -> ScriptedAnswers:
        """Answer the questions that ``match`` picks.

        Args:
            match: a text that the question contains, a compiled pattern, or a function
                of the question (``question.question``, ``.options``, ``.id``).
            answer: the answer, or a function that makes it from the question.
            after: seconds to let pass first.
            times: how many questions it is for; then the next script that picks one.
            optional: it is no failure when it was never used.

        Returns:
            This object, for the next script.

        Raises:
            ScriptError: the answer is empty, or a number makes no sense.
        """
        if not callable(answer) and not (isinstance(answer, str) and answer):
            raise ScriptError(problem=f"expected a text as the answer, found {answer!r:.80}")
        return self._add("answer", match, answer, after, times, optional=optional)

    def silence(
        self,
        match: Match | None = None,
        *,
        after: float | None = 0.0,
        times: int | None = None,
        optional: bool = False,
    ) -> ScriptedAnswers:
        """Give no answer to the questions that ``match`` picks, every one where it is None.

        The question expires after ``after`` seconds, so that no test waits for five
        minutes. None leaves it open until the agent itself gives up.
        """
        return self._add("silence", match, "", after, times, optional=optional)

    def reject(
        self,
        match: Match | None = None,
        *,
        reason: str = "",
        after: float = 0.0,
        times: int | None = None,
        optional: bool = False,
    ) -> ScriptedAnswers:
        """Refuse the questions that ``match`` picks: the agent's call ends with an error."""
        return self._add("reject", match, reason, after, times, optional=optional)

    def _add(
        self,
        kind: Literal["answer", "silence", "reject"],
        match: Match | None,
        say: Say,
        after: float | None,
        times: int | None,
        *,
        optional: bool,
    ) -> ScriptedAnswers:
        pattern = match.pattern if isinstance(match, re.Pattern) else match
        known = pattern is None or isinstance(pattern, str) or callable(pattern)
        if not known or match == "":
            raise ScriptError(
                problem=f"expected a text, a compiled pattern or a function, found {match!r:.80}"
            )
        if after is not None and not (isinstance(after, int | float) and 0 <= after < math.inf):
            problem = f"expected after= in seconds from 0 on, found {after!r:.80}"
            raise ScriptError(problem=problem)
        if times is not None and not (isinstance(times, int) and times >= 1):
            raise ScriptError(problem=f"expected times= from 1 on, found {times!r:.80}")
        script = Script(
            kind=kind, match=match, say=say, after=after, times=times, optional=optional
        )
        with self._lock:
            self._scripts.append(script)
        return self

    def once_more(self) -> ScriptedAnswers:
        """Return the same script from its start, for another agent that is asked the same.

        What it is asked, and what goes wrong, is told by this object as well.
        """
        other = ScriptedAnswers(unscripted=self.policy)
        other._lock = self._lock
        other._unscripted, other._errors = self._unscripted, self._errors
        other._scripts = [replace(script, used=0, origin=script) for script in self._scripts]
        return other

    def count_questions(self, questions: Iterable[AskedQuestion]) -> None:
        """Take up questions that the same script answered on another machine."""
        for question in questions:
            self.choose(question)

    def permit(self, match: str, *, optional: bool = False) -> ScriptedAnswers:
        """Allow what an agent asks leave for over ACP, where it is scripted.

        Args:
            match: a kind and a pattern, such as ``"edit src/*"`` or ``"execute pytest*"``; the
                pattern may be left out, and ``*`` stands for every kind. It is compared with the
                paths in the workspace, the command and the title.
            optional: it is no failure when it was never used.

        Returns:
            This object, for the next script.

        Raises:
            ScriptError: the text is blank.
        """
        return self._add_permission(match, "", optional=optional)

    def refuse(self, match: str, reason: str, *, optional: bool = False) -> ScriptedAnswers:
        """Refuse what an agent asks leave for over ACP; as ``permit``, with a reason for readers."""
        return self._add_permission(match, reason or "refused by the test", optional=optional)

    def _add_permission(self, match: str, reason: str, *, optional: bool) -> ScriptedAnswers:
        if not isinstance(match, str) or not match.strip():
            raise ScriptError(problem=f"expected a kind and a pattern, found {match!r:.80}")
        self._permissions.append(PermissionScript(match.strip(), reason, optional=optional))
        return self

    def permits(self, request: PermissionRequest) -> tuple[bool, str] | None:
        """Decide what an agent asks leave for; None where nothing is scripted at all.

        Where a test scripts permissions, one that no script is for is refused, and fails it.
        """
        if not self._permissions:
            return None
        for script in tuple(self._permissions):
            if script.picks(request):
                script.used += 1
                return not script.reason, script.reason
        with self._lock:
            self._unpermitted.append(request)
        return False, "no script of the test is for it"

    # -- while the agent runs

    def choose(self, question: AskedQuestion) -> Script | None:
        """Return the script for a question and count it as used; None when it is unscripted."""
        # A matcher is the user's and may take its time: never under the lock.
        for script in tuple(self._scripts):
            if script.picks(question) and self._claim(script):
                return script
        if self.policy == "fail":
            with self._lock:
                self._unscripted.append(question)
        return None

    def _claim(self, script: Script) -> bool:
        with self._lock:
            if script.times is not None and script.used >= script.times:
                return False
            script.used += 1
            if script.origin is not None:
                script.origin.used += 1
            return True

    def fault(self, text: str) -> None:
        """Note that the script itself went wrong, such as a function that raised."""
        with self._lock:
            self._errors.append(text)

    # -- afterwards

    @property
    def scripts(self) -> tuple[Script, ...]:
        """What was scripted, in order."""
        return tuple(self._scripts)

    @property
    def unscripted(self) -> tuple[AskedQuestion, ...]:
        """The questions that no script picked."""
        return tuple(self._unscripted)

    @property
    def unused(self) -> tuple[Script, ...]:
        """The scripts that picked no question, but for the optional ones."""
        return tuple(one for one in self._scripts if not one.used and not one.optional)

    @property
    def errors(self) -> tuple[str, ...]:
        """What went wrong in functions of the script."""
        return tuple(self._errors)

    def problems(self, *, allow_unused: bool = False) -> tuple[str, ...]:
        """Return why a test fails that used these answers: one text each, empty for none."""
        failed = [f"the script of answers failed: {error}" for error in self._errors]
        unscripted = [self._describe(question) for question in self._unscripted]
        found = _few(failed, "failures of the script") + _few(unscripted, "unscripted questions")
        for request in self._unpermitted[:TOLD]:
            found.append(
                f"unscripted permission: the agent asked leave for {str(request)!r}, and no script "
                f"is for it; add caesar_answers.permit({str(request)!r}), or refuse(…)"
            )
        if not allow_unused:
            found += [
                f"never asked: caesar_answers.{script} was not used by any request "
                "(allow that with optional=True)"
                for script in self._permissions
                if not script.used and not script.optional
            ]
            found += [
                f"never asked: caesar_answers.{script} was not used by any question "
                "(allow that with optional=True)"
                for script in self.unused
            ]
        return tuple(found)

    def judge(self, *, allow_unused: bool = False) -> str | None:
        """Return why a test fails, as one text; None when it does not."""
        return "\n".join(self.problems(allow_unused=allow_unused)) or None

    def _describe(self, question: AskedQuestion) -> str:
        text = one_line(question.question, limit=200)
        options = (
            f" (options: {', '.join(map(_name, question.options))})" if question.options else ""
        )
        scripts = ", ".join(map(str, self._scripts[:5])) or "none"
        more = "…" if len(self._scripts) > 5 else ""
        return (
            f"unscripted question: the agent asked {text!r}{options}, and no script picks it "
            f"(scripts: {scripts}{more}); add caesar_answers.on({text!r}, …)"
        )


def _few(texts: list[str], what: str) -> list[str]:
    more = len(texts) - TOLD
    return [*texts[:TOLD], *([f"… and {more} more {what}"] if more > 0 else [])]


def _name(match: object) -> str:
    if match is None:
        return ""
    if isinstance(match, re.Pattern):
        return f"/{one_line(str(match.pattern), limit=60)}/"
    if isinstance(match, str):
        return repr(one_line(match, limit=60))
    return str(getattr(match, "__name__", type(match).__name__))
