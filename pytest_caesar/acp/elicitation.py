"""What an agent asks a person by ACP, as questions of the return channel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any, Final

from caesar_agent.console import one_line
from caesar_agent.errors import CaesarError
from caesar_agent.mailbox.mailbox import Mailbox
from caesar_agent.mailbox.values import Answer
from caesar_agent.task_directory import TaskDirectory

MAX_FIELDS: Final = 20
"""Fields of a form that are asked for, one question each."""

MAX_ASKED: Final = 100
"""Forms of one session."""

CANCEL: Final = {"action": "cancel"}


class Elicitation:
    """Asks what forms ask, each in a thread of its own, since an answer may take its time.

    Args:
        directory: whose mailbox takes the questions.
        wake: is called when a form is done.
        stopped: tells that nobody waits any more.
    """

    def __init__(
        self,
        directory: TaskDirectory,
        *,
        wake: Callable[[], None],
        stopped: Callable[[], bool],
    ) -> None:
        self._directory = directory
        self._wake = wake
        self._stopped = stopped
        self._over = threading.Event()
        self._done: list[tuple[object, dict[str, Any]]] = []
        self._threads: list[threading.Thread] = []

    def ask(self, ident: object, params: dict[str, Any]) -> None:
        """Ask what a form asks; the answer is in ``answers`` later."""
        if params.get("mode") != "form" or len(self._threads) >= MAX_ASKED:
            self._done.append((ident, dict(CANCEL)))
            return
        thread = threading.Thread(
            target=self._work, args=(ident, params), name="acp elicitation", daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def answers(self) -> list[tuple[object, dict[str, Any]]]:
        """Return the forms that are done, each once."""
        done, self._done = self._done, []
        return done

    def close(self) -> None:
        """Ask nothing more, and wait for who asks."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _work(self, ident: object, params: dict[str, Any]) -> None:
        try:
            content = self._filled(params)
        except (CaesarError, OSError):
            content = None
        answer = dict(CANCEL) if content is None else {"action": "accept", "content": content}
        self._done.append((ident, answer))
        self._wake()

    def _filled(self, params: dict[str, Any]) -> dict[str, Any] | None:
        """Return the fields of a form with their answers, or None where one has none."""
        mailbox = Mailbox(self._directory)
        content: dict[str, Any] = {}
        for name, question, options, kind in _questions(params):
            asked = mailbox.ask(question, options)
            reply = mailbox.wait(asked, given_up=lambda: self._over.is_set() or self._stopped())
            value = _value(reply.text, kind) if isinstance(reply, Answer) else None
            if value is None:
                return None
            content[name] = value
        return content


def _questions(params: dict[str, Any]) -> Iterator[tuple[str, str, list[str], str]]:
    """Give each field of a form: name, question, options, type."""
    schema = params.get("requestedSchema")
    fields = schema.get("properties") if isinstance(schema, dict) else None
    given = list(fields.items())[:MAX_FIELDS] if isinstance(fields, dict) else []
    message = str(params.get("message") or "").strip()
    for name, field in given:
        told = field if isinstance(field, dict) else {}
        title = str(told.get("title") or told.get("description") or name)
        question = message if len(given) == 1 and message else f"{message}\n{title}".strip()
        kind = str(told.get("type") or "string")
        yield str(name), question, _options(told, kind), kind


def _options(field: dict[str, Any], kind: str) -> list[str]:
    if kind == "boolean":
        return ["yes", "no"]
    listed = field.get("enum")
    if isinstance(listed, list):
        return [str(one) for one in listed]
    listed = field.get("oneOf")
    values = (
        [one.get("const") for one in listed if isinstance(one, dict)]
        if isinstance(listed, list)
        else []
    )
    return [one_line(str(one), limit=200) for one in values if one is not None]


def _value(text: str, kind: str) -> Any:
    """Return an answer as the form wants it, or None where it is none of that kind."""
    if kind == "boolean":
        said = text.strip().lower()
        return said in ("yes", "true", "y", "1") if said else None
    if kind in ("integer", "number"):
        try:
            return int(text) if kind == "integer" else float(text)
        except ValueError:
            return None
    return text
