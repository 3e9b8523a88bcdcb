"""Which wire format an address is for."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from pytest_caesar.model.answer import Answer
from pytest_caesar.model.conversation import Api, Json, ModelRequest
from pytest_caesar.model.wires import chat, gemini, messages, responses


class Wire(Protocol):
    """What each wire format can do."""

    def read(self, body: Json, path: str) -> ModelRequest:
        """Read a request."""

    def plain(self, answer: Answer, request: ModelRequest) -> Json:
        """Return an answer as one body."""

    def stream(self, answer: Answer, request: ModelRequest) -> list[bytes]:
        """Return an answer as the chunks of a stream of server-sent events."""

    def read_answer(self, body: Json, turn: int) -> Answer:
        """Read what a model answered, from a whole body."""

    def error(self, status: int, message: str) -> Json:
        """Return the body of an error."""


WIRES: Mapping[Api, Wire] = MappingProxyType(
    {"responses": responses, "chat": chat, "gemini": gemini, "messages": messages}
)
"""Every wire format by its name."""

_ENDINGS: Mapping[str, Api] = MappingProxyType(
    {
        "/chat/completions": "chat",
        "/responses": "responses",
        "/messages": "messages",
        ":generateContent": "gemini",
        ":streamGenerateContent": "gemini",
    }
)

SERVED = "POST …/responses, …/chat/completions, …/messages, …/models/MODEL:generateContent"
"""What is served, for messages."""


def wire_of(path: str) -> Api | None:
    """Return the wire format of a path (without its query), or None."""
    return next((api for ending, api in _ENDINGS.items() if path.endswith(ending)), None)
