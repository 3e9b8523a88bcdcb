"""The server on loopback: what goes wrong on purpose, and what is not asked as it should be."""

from __future__ import annotations

import contextlib
import http.client
import json
import socket
import threading
from typing import Any
from urllib.parse import urlsplit

import pytest

from pytest_caesar.model.scripted_model import ScriptedModel
from pytest_caesar.model.wires.formats import WIRES
from tests.pytest_caesar.model.small_cli import PATHS, Refused, ask, post, work
from tests.pytest_caesar.model.test_wires import APIS

BODY = {"messages": [{"role": "user", "content": "Hi"}], "tools": [{"function": {"name": "x"}}]}


def connect(model: ScriptedModel) -> http.client.HTTPConnection:
    return http.client.HTTPConnection(urlsplit(model.url).netloc, timeout=10)


def address(model: ScriptedModel) -> tuple[str, int]:
    parts = urlsplit(model.url)
    assert parts.hostname is not None
    assert parts.port is not None
    return parts.hostname, parts.port


def _connect_until_refused(where: tuple[str, int]) -> None:
    """Connect again and again, since the listener closes in a thread of its own; bounded."""
    for _ in range(1000):
        with contextlib.suppress(ConnectionResetError):  # it closes at this very moment
            socket.create_connection(where, timeout=10).close()


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("api", APIS)
def test_faults_are_real_and_pass(api: str, *, stream: bool) -> None:
    with ScriptedModel() as model:
        turn = model.say("All is well and has been for some time.")
        turn.fail(429, times=1, message="slow down").cut("start", abrupt=True, times=1)
        turn.cut("mid", abrupt=True, times=1).malformed(times=1)
        with pytest.raises(Refused, match=r"HTTP 429: .*slow down"):
            work(model.url, api, "Hi", stream=stream)
        for _ in range(2):
            with pytest.raises(http.client.IncompleteRead):
                work(model.url, api, "Hi", stream=stream)
        with pytest.raises(ValueError, match="Expecting"):
            work(model.url, api, "Hi", stream=stream)
        assert work(model.url, api, "Hi", stream=stream).startswith("All is well")


@pytest.mark.parametrize("api", APIS)
def test_a_clean_cut_ends_the_stream_properly_and_too_early(api: str) -> None:
    with ScriptedModel() as model:
        model.say("All is well and has been for some time.").cut("mid")
        request: dict[str, Any] = {"stream": True, "tools": [{"functionDeclarations": [{}]}]}
        text = post(model.url, PATHS[api].format("streamGenerateContent"), request)
    assert "All is well" in text
    assert "for some time" not in text


@pytest.mark.parametrize("api", APIS)
def test_a_failure_reaches_the_cli_in_the_words_of_the_verdict(api: str) -> None:
    with ScriptedModel() as model:
        with pytest.raises(Refused) as caught:
            work(model.url, api, "Hi")
        told = "the model was asked for turn 1, and the script has 0. Add a turn, or end with report(…)"
        assert caught.value.status == 400
        assert told in str(caught.value)
        assert model.judge() == f"caesar_model: {told}"


def test_the_address_says_whose_requests_they_are() -> None:
    with ScriptedModel() as model:
        model.say("x")
        work(model.url_for("my agent/1", "t_0001"), "chat", "Hi")
        (request,) = model.requests
    assert (request.agent, request.task, request.cli) == ("my agent/1", "t_0001", "my agent/1")


def test_one_connection_serves_many_requests_and_chunked_bodies() -> None:
    with ScriptedModel() as model:
        model.say("x")
        connection = connect(model)
        for _ in range(3):
            connection.request(
                "POST",
                "/v1/chat/completions",
                iter([json.dumps(BODY).encode()[:20], json.dumps(BODY).encode()[20:]]),
                {"Content-Type": "application/json"},
                encode_chunked=True,
            )
            answer = connection.getresponse()
            assert answer.status == 200
            assert json.loads(answer.read())["choices"][0]["message"]["content"] == "x"
        connection.close()
    assert len(model.requests) == 3


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "told"),
    [
        ("POST", "/v1/embeddings", b"{}", 404, "does not serve POST /v1/embeddings"),
        ("GET", "/v1/chat/completions", b"", 404, "does not serve GET"),
        ("POST", "/v1/messages", b"{", 400, "a body that is not JSON"),
        ("POST", "/v1/responses", b"[]", 400, "a body that is no JSON object"),
        ("POST", "/v1/responses", b"[" * 100_000, 400, "a body that is not JSON"),
        ("GET", "/v1/models", b"", 200, "scripted"),
        ("POST", "/v1beta/models/m:countTokens", b"{}", 200, "totalTokens"),
    ],
)
def test_what_is_not_served_is_said(
    method: str, path: str, body: bytes, status: int, told: str
) -> None:
    with ScriptedModel() as model:
        connection = connect(model)
        connection.request(method, path, body)
        answer = connection.getresponse()
        assert (answer.status, told in answer.read().decode()) == (status, True)
        connection.close()
    assert model.requests == ()


@pytest.mark.parametrize(
    "sent",
    [
        b"\0\1\2\r\n\r\n",
        b"POST /v1/responses HTTP/1.1\r\nContent-Length: many\r\n\r\n",
        b"POST /v1/responses HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /v1/responses HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"POST /v1/responses HTTP/1.1\r\nContent-Length: -1\r\n\r\n{}",
        b"POST /v1/responses HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\n{}",
        b"POST /v1/responses HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\n{}",
    ],
)
def test_a_client_that_speaks_no_http_harms_nobody(sent: bytes) -> None:
    with ScriptedModel() as model:
        model.say("x")
        with socket.create_connection(address(model), timeout=10) as other:
            other.sendall(sent)
            other.shutdown(socket.SHUT_WR)
            while other.recv(4096):
                pass
        assert work(model.url, "chat", "Hi") == "x"


def test_nothing_listens_after_closing_which_waits_for_nobody() -> None:
    failed: list[Exception] = []

    def talk() -> None:
        try:
            ask(model.url, "chat", [], stream=True)
        except (OSError, http.client.HTTPException) as error:
            failed.append(error)

    with ScriptedModel() as model:
        model.say("x").slow(600)
        where = address(model)
        talking = threading.Thread(target=talk)
        talking.start()
        while not model.requests:
            pass
    talking.join(10)
    assert not talking.is_alive()
    assert len(failed) == 1
    with pytest.raises(ConnectionRefusedError):
        _connect_until_refused(where)


def test_every_wire_says_an_error_in_its_own_form() -> None:
    bodies = {api: WIRES[api].error(401, "no key") for api in APIS}
    assert bodies["gemini"]["error"]["status"] == "UNAUTHENTICATED"
    assert bodies["messages"]["error"]["type"] == "authentication_error"
    assert [body["error"]["message"] for body in bodies.values()] == ["no key"] * 4
