"""The server on loopback: HTTP in front of a player."""

from __future__ import annotations

import contextlib
import json
import re
import selectors
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler
from typing import Any, Final
from urllib.parse import quote, unquote

from pytest_caesar.model.conversation import ModelRequest
from pytest_caesar.model.player import Refused, Said
from pytest_caesar.model.wires.formats import SERVED, WIRES, wire_of
from pytest_caesar.supervision.plain_sockets import loopback_listener, socket_pair

MAX_BODY: Final = 64 * 1024 * 1024
"""Bytes of one request; the longest that a CLI was seen to send has a hundredth of it."""

_IDLE: Final = 300.0
"""Seconds after which a connection that says nothing is closed."""

_OWNER = re.compile(r"/for/([^/]+)/([^/]+)(/.*)")
_NOT_JSON: Final = b'{"this is": not JSON'


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What goes back over the connection.

    Attributes:
        status: of HTTP.
        kind: content type.
        chunks: the body, sent one by one; a single one has its length in the header.
        pause: seconds before each chunk.
        streamed: the body has no length in the header.
        broken: the connection breaks at the end, instead of a proper end.
    """

    status: int = 200
    kind: str = "application/json"
    chunks: tuple[bytes, ...] = ()
    pause: float = 0.0
    streamed: bool = False
    broken: bool = False


Answerer = Callable[[ModelRequest], Said | Refused]


class ModelServer:
    """Serves on a port of 127.0.0.1 until it is closed.

    Args:
        answer: what the model says to a request; called from many threads.
        port: 0 takes a free one.
    """

    def __init__(self, answer: Answerer, *, port: int = 0) -> None:
        self.answer = answer
        self._listener = loopback_listener(port)
        self._listener.setblocking(False)  # noqa: FBT003 - its own name
        self._wake, self._woken = socket_pair()
        self._closed = threading.Event()
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._further: list[socket.socket] = []
        threading.Thread(target=self._accept, name="caesar-model", daemon=True).start()

    @property
    def url(self) -> str:
        """The address, without a slash at its end."""
        return self._url

    @property
    def _url(self) -> str:
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def url_for(self, agent: str, task: str) -> str:
        """Return the address for one task of one agent; requests to it tell whose they are."""
        return f"{self.url}/for/{quote(agent, safe='')}/{quote(task, safe='')}"

    def listen_at(self, listening: socket.socket) -> None:
        """Answer at another listening socket too, until this is closed."""
        listening.setblocking(False)  # noqa: FBT003 - its own name
        with self._lock:
            self._further.append(listening)
        with contextlib.suppress(OSError):
            self._wake.send(b"\0")

    def close(self) -> None:
        """Stop listening and break what is open. Waits for nobody."""
        if self._closed.is_set():
            return
        self._closed.set()
        self._wake.close()
        with self._lock:
            connections = list(self._open)
        for connection in connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    # -- connections

    def _accept(self) -> None:
        with contextlib.ExitStack() as listeners, selectors.DefaultSelector() as selector:
            for own in (self._listener, self._woken):
                selector.register(listeners.enter_context(own), selectors.EVENT_READ)
            while not self._closed.is_set():
                for key, _ in selector.select():
                    if self._closed.is_set():
                        return
                    if key.fileobj is self._woken:
                        self._woken.recv(64)
                        for each in self._taken():
                            selector.register(listeners.enter_context(each), selectors.EVENT_READ)
                        continue
                    with contextlib.suppress(OSError):
                        connection, _ = key.fileobj.accept()  # type: ignore[union-attr]
                        threading.Thread(
                            target=self._serve, args=(connection,), daemon=True
                        ).start()

    def _taken(self) -> list[socket.socket]:
        """Return the listening sockets that came since this was last asked."""
        with self._lock:
            taken, self._further = self._further, []
        return taken

    def _serve(self, connection: socket.socket) -> None:
        connection.settimeout(_IDLE)
        with self._lock:
            self._open.add(connection)
        try:
            if not self._closed.is_set():
                _Handler(connection, ("127.0.0.1", 0), self)  # type: ignore[arg-type]
        except (OSError, ValueError):
            pass  # the other side is gone, or does not speak HTTP
        finally:
            with self._lock:
                self._open.discard(connection)
            with contextlib.suppress(OSError):
                connection.close()

    def wait(self, seconds: float) -> bool:
        """Wait, but no longer than the server is open; tell whether it still is."""
        return not self._closed.wait(seconds)

    # -- requests

    def respond(self, method: str, target: str, body: bytes, program: str) -> Response:
        """Return what is answered to one request."""
        path, _, _ = target.partition("?")
        owner = _OWNER.fullmatch(path)
        agent, task = (unquote(owner[1]), unquote(owner[2])) if owner else ("", "")
        if path.endswith((":countTokens", "/count_tokens")):
            return _json_response({"totalTokens": 100, "input_tokens": 100})
        if method == "GET" and path.endswith("/models"):
            model = {"id": "scripted", "object": "model", "created": 0, "owned_by": "caesar"}
            return _json_response({"object": "list", "data": [model]})
        api = wire_of(path)
        if api is None or method != "POST":
            told = f"the scripted model does not serve {method} {path}; it serves {SERVED}"
            return _json_response({"error": {"message": told}}, status=404)
        wire = WIRES[api]
        try:
            read = json.loads(body)
        except (ValueError, RecursionError) as error:
            told = f"the scripted model got a body that is not JSON: {error}"
            return _json_response(wire.error(400, told), status=400)
        if not isinstance(read, dict):
            told = "the scripted model got a body that is no JSON object"
            return _json_response(wire.error(400, told), status=400)
        place = owner[3] if owner else path
        request = replace(
            wire.read(read, path), agent=agent, task=task, program=program, body=read, path=place
        )
        return render(self.answer(request), request)


def render(said: Said | Refused, request: ModelRequest) -> Response:
    """Return an answer as it goes over the connection, faults and all."""
    wire = WIRES[request.api]
    if isinstance(said, Refused):
        return _json_response(wire.error(400, said.message), status=400)
    fault = said.fault
    if fault is not None and fault.kind == "fail":
        told = fault.message or f"scripted failure: HTTP {fault.status}"
        body = wire.error(fault.status, told)
        return replace(_json_response(body, status=fault.status), pause=said.pause)
    chunks = (
        tuple(wire.stream(said.answer, request))
        if request.stream
        else (_encoded(wire.plain(said.answer, request)),)
    )
    if fault is not None and fault.kind == "malformed":
        chunks = (b"data: " + _NOT_JSON + b"\n\n",) if request.stream else (_NOT_JSON,)
    elif fault is not None:
        chunks = _cut(chunks, at_start=fault.where == "start", streamed=request.stream)
    return Response(
        kind="text/event-stream" if request.stream else "application/json",
        chunks=chunks,
        pause=said.pause,
        streamed=request.stream,
        broken=fault is not None and fault.abrupt,
    )


def _cut(chunks: tuple[bytes, ...], *, at_start: bool, streamed: bool) -> tuple[bytes, ...]:
    if not streamed:
        return (b"" if at_start else chunks[0][: len(chunks[0]) // 2],)
    return () if at_start else chunks[: max(1, len(chunks) // 2)]


def _json_response(body: object, *, status: int = 200) -> Response:
    return Response(status=status, chunks=(_encoded(body),))


def _encoded(body: object) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode("utf-8", "surrogatepass")


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Any

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        """Print nothing."""

    def do_GET(self) -> None:
        """Answer."""
        self._do(b"")

    def do_POST(self) -> None:
        """Read the body, answer."""
        body = self._body()
        if body is None:
            self.close_connection = True
            self.send_error(413, "the body is larger than the scripted model reads")
            return
        self._do(body)

    def _do(self, body: bytes) -> None:
        program = self.headers.get("User-Agent", "").partition("/")[0]
        self._send(self.server.respond(self.command, self.path, body, program))

    def _body(self) -> bytes | None:
        if "chunked" not in self.headers.get("Transfer-Encoding", "").lower():
            size = int(self.headers.get("Content-Length") or 0)
            return self.rfile.read(size) if 0 <= size <= MAX_BODY else None
        read, total = [], 0
        for piece in self._pieces():
            total += len(piece)
            if total > MAX_BODY:
                return None
            read.append(piece)
        return b"".join(read)

    def _pieces(self) -> Iterator[bytes]:
        while True:
            size = int(self.rfile.readline(100).split(b";")[0], 16)
            if not 0 <= size <= MAX_BODY:
                message = "the size of a chunk is not one"
                raise ValueError(message)
            if not size:
                while self.rfile.readline(8192).strip():
                    pass  # trailers
                return
            yield self.rfile.read(size)
            self.rfile.readline(100)

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", response.kind)
        length = sum(map(len, response.chunks))
        if response.streamed:
            self.send_header("Cache-Control", "no-cache")
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length + response.broken))
        self.end_headers()
        for chunk in response.chunks:
            if response.pause and not self.server.wait(response.pause):
                self.close_connection = True
                return
            self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk) if response.streamed else chunk)
            self.wfile.flush()
        if response.broken:
            self.close_connection = True
        elif response.streamed:
            self.wfile.write(b"0\r\n\r\n")
