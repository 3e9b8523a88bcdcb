"""A real model behind the scripted one, while its conversation is recorded."""

from __future__ import annotations

import json
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from typing import Any, Final

from pytest_caesar.model.answer import Answer
from pytest_caesar.model.conversation import Json, ModelRequest
from pytest_caesar.model.generalising import turns_of
from pytest_caesar.model.player import Refused, Said
from pytest_caesar.model.script import Fault, Turn
from pytest_caesar.model.wires.formats import WIRES

_TIMEOUT: Final = 600.0
"""Seconds that a real model has for one answer."""

_KEYS: Final[Mapping[str, tuple[str, str, str]]] = {
    "responses": ("OPENAI_API_KEY", "Authorization", "Bearer {}"),
    "chat": ("OPENAI_API_KEY", "Authorization", "Bearer {}"),
    "messages": ("ANTHROPIC_API_KEY", "x-api-key", "{}"),
    "gemini": ("GEMINI_API_KEY", "x-goog-api-key", "{}"),
}
"""Where the key of each wire format is found, and the header that carries it."""


class Upstream:
    """Passes requests on, and keeps the last of each conversation with its answer.

    Answers are asked for whole: how a stream was cut into chunks is not kept.

    Args:
        url: of the API, as its makers give it (``https://api.openai.com/v1``).
        headers: sent with every request instead of a key of the environment; never kept.
    """

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        self.url = url.rstrip("/")
        self._headers = headers
        self._lock = threading.Lock()
        self._last: dict[str, tuple[ModelRequest, Answer]] = {}

    def ask(self, request: ModelRequest) -> Said | Refused:
        """Return what the real model says."""
        body = {
            name: value
            for name, value in request.body.items()
            if name not in ("stream", "stream_options")
        }
        try:
            told = self._post(request, body)
        except urllib.error.HTTPError as error:
            text = error.read(4096).decode("utf-8", "replace")
            fault = Fault(kind="fail", status=max(400, error.code), message=text)
            return Said(answer=Answer(turn=request.turn), fault=fault)
        except (OSError, ValueError) as error:
            return Refused(message=f"caesar_model: {self.url} cannot be asked: {error}")
        answer = WIRES[request.api].read_answer(told, request.turn)
        if not request.side:
            with self._lock:
                self._last[request.task] = (request, answer)
        return Said(answer=answer)

    def turns(self) -> dict[str, list[Turn]]:
        """Return the turns of each conversation so far, by its task."""
        with self._lock:
            return {task: turns_of(*last) for task, last in self._last.items()}

    def _post(self, request: ModelRequest, body: Json) -> Json:
        path = request.path.replace(":streamGenerateContent", ":generateContent")
        version = self.url.rpartition("/")[2]
        path = path.removeprefix(f"/{version}") if path.startswith(f"/{version}/") else path
        asked = urllib.request.Request(  # noqa: S310 - an address of the test's author
            self.url + path,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json", **self._login(request)},
            method="POST",
        )
        with urllib.request.urlopen(asked, timeout=_TIMEOUT) as answer:  # noqa: S310 - as above
            value: Any = json.load(answer)
        if not isinstance(value, dict):
            message = "its answer is no JSON object"
            raise ValueError(message)  # noqa: TRY004 - what was sent is wrong
        return value

    def _login(self, request: ModelRequest) -> Mapping[str, str]:
        if self._headers is not None:
            return self._headers
        variable, header, form = _KEYS[request.api]
        headers = {"anthropic-version": "2023-06-01"} if request.api == "messages" else {}
        key = os.environ.get(variable)
        return headers if key is None else {**headers, header: form.format(key)}
