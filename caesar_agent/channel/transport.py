"""The wire of the return channel: one JSON-RPC message a line, on descriptors of its own.

Nothing else in this process can reach the wire: descriptor 1 leads to stderr and
descriptor 0 to nothing from the moment ``claim`` has run, so a library that
prints, or a child that reads, does no harm.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage
    from mcp_types import JSONRPCMessage

MAX_MESSAGE_BYTES = 64 << 20
"""Longest line that is read, in bytes; a longer one is refused and skipped."""

LAST_ANSWERS = 2.0
"""How long, in seconds, requests that came before the end of the input may still take."""

_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600
_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Wire:
    """The two descriptors of the client.

    Attributes:
        input: what the client writes.
        output: what the client reads.
    """

    input: int
    output: int


def claim(output: int | None = None) -> Wire:
    """Take the standard streams for the protocol and divert them for everybody else.

    Args:
        output: a duplicate of stdout that was made earlier; None to make it now.
    """
    wire_input = _duplicate(0)
    wire_output = _duplicate(1) if output is None else output
    try:
        os.dup2(2, 1)
    except OSError:  # started without stderr
        _divert(1, os.O_WRONLY)
    _divert(0, os.O_RDONLY)
    with suppress(AttributeError, OSError, ValueError):
        sys.stdout.flush()  # what was printed before this moment goes to stderr too
    return Wire(wire_input, wire_output)


def _duplicate(descriptor: int) -> int:
    import fcntl  # noqa: PLC0415 - not there on Windows, where the module must import

    try:
        return fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
    except OSError:  # closed by whoever started us: an empty input, a lost output
        return os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)


def _divert(descriptor: int, flags: int) -> None:
    null = os.open(os.devnull, flags)
    if null != descriptor:
        os.dup2(null, descriptor)
        os.close(null)


class Traffic:
    """Counts the requests that wait for their answers.

    Attributes:
        closing: set at the end of the input: whoever waits for something stops.
    """

    def __init__(self) -> None:
        self.closing = asyncio.Event()
        self._open: set[object] = set()
        self._idle = asyncio.Event()
        self._idle.set()

    def arrived(self, request_id: object) -> None:
        """Note a request."""
        self._open.add(request_id)
        self._idle.clear()

    def settled(self, request_id: object) -> None:
        """Note that a request was answered, or that no answer is wanted any more."""
        self._open.discard(request_id)
        if not self._open:
            self._idle.set()

    async def finish(self) -> None:
        """Ask those who wait to stop, and give the answers a moment to go out."""
        self.closing.set()
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._idle.wait(), LAST_ANSWERS)


@asynccontextmanager
async def connect(
    wire: Wire, traffic: Traffic, *, on_unanswerable: Callable[[str], None] = lambda _: None
) -> AsyncIterator[
    tuple[
        MemoryObjectReceiveStream[SessionMessage | Exception],
        MemoryObjectSendStream[SessionMessage],
    ]
]:
    """Yield the streams that the server of the ``mcp`` package runs on.

    They end when the input does, after the requests that came before were answered.

    Args:
        wire: to the client.
        traffic: counts the requests.
        on_unanswerable: told of a request whose id is none; the client cannot match the answer.
    """
    import anyio  # noqa: PLC0415 - comes with the extra

    to_server, from_client = anyio.create_memory_object_stream[Any](0)
    to_client, from_server = anyio.create_memory_object_stream[Any](0)
    writer = _Writer(wire.output)

    async def receive() -> None:
        async with to_server:
            async for line in _lines(wire.input, traffic.closing):
                for item in _parse(line, on_unanswerable):
                    if isinstance(item, bytes):
                        await writer.write(item)
                        continue
                    _note_arrival(item, traffic)
                    await to_server.send(item)
            await traffic.finish()

    async def send() -> None:
        async with from_server:
            async for item in from_server:
                alive = await writer.write(_encode(item.message))
                if not hasattr(item.message, "method"):
                    traffic.settled(item.message.id)
                if not alive:
                    traffic.closing.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(receive)
        tasks.start_soon(send)
        yield from_client, to_client


def _note_arrival(item: SessionMessage, traffic: Traffic) -> None:
    from mcp_types import JSONRPCNotification, JSONRPCRequest  # noqa: PLC0415 - the extra

    message = item.message
    if isinstance(message, JSONRPCRequest):
        traffic.arrived(message.id)
    elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
        traffic.settled((message.params or {}).get("requestId"))


def _parse(line: bytes | None, on_unanswerable: Callable[[str], None]) -> list[Any]:
    """Return the messages of a line: for the server, or bytes that refuse it."""
    if line is None:
        text = f"the message is longer than {MAX_MESSAGE_BYTES} bytes"
        return [_refusal(_INVALID_REQUEST, text)]
    try:
        # Not pydantic's own decoder, which refuses lone surrogates.
        value = json.loads(line, parse_int=_integer)
    except (ValueError, RecursionError):
        text = "the line is not JSON; expected one JSON-RPC message a line"
        return [_refusal(_PARSE_ERROR, text)]
    # Batches left the protocol with version 2025-06-18; each message of one is
    # answered on a line of its own.
    parts = value if isinstance(value, list) and value else [value]
    return [_message(part, on_unanswerable) for part in parts]


def _integer(digits: str) -> float:
    try:
        return int(digits)
    except ValueError:
        # More digits than Python reads are JSON too: whoever takes the number refuses it.
        return float(digits)


def _message(value: object, on_unanswerable: Callable[[str], None]) -> SessionMessage | bytes:
    from mcp.shared.message import SessionMessage  # noqa: PLC0415 - comes with the extra
    from mcp_types import jsonrpc_message_adapter  # noqa: PLC0415
    from pydantic import ValidationError  # noqa: PLC0415

    if isinstance(value, dict) and "method" in value and "id" in value and not _is_id(value["id"]):
        text = f"the id of a request is text or a whole number, not {json.dumps(value['id'])[:60]}"
        on_unanswerable(f"{value['method']!r:.60} was refused: {text}")
        return _refusal(_INVALID_REQUEST, text, value)
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_python(value, by_name=False))
    except ValidationError:
        return _refusal(_INVALID_REQUEST, "this is not a JSON-RPC 2.0 message", value)


def _is_id(value: object) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool)


def _encode(message: JSONRPCMessage) -> bytes:
    value = message.model_dump(by_alias=True, exclude_unset=True)
    # A lone surrogate cannot be encoded, but its escape can be written and read.
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _refusal(code: int, text: str, value: object = None) -> bytes:
    request_id = value.get("id") if isinstance(value, dict) else None
    if not _is_id(request_id):
        request_id = None
    error = {"code": code, "message": text}
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}).encode()


async def _lines(descriptor: int, closing: asyncio.Event) -> AsyncIterator[bytes | None]:
    """Yield lines as ``Lines`` has them, until the input ends or ``closing`` is set."""
    chunks = _chunks(descriptor)
    lines = Lines()
    stop = asyncio.ensure_future(closing.wait())
    try:
        while True:
            take = asyncio.ensure_future(chunks.get())
            await asyncio.wait({take, stop}, return_when=asyncio.FIRST_COMPLETED)
            if not take.done():
                take.cancel()
                return
            chunk = take.result()
            for line in lines.feed(chunk or b"\n"):
                yield line
            if not chunk:
                return
    finally:
        stop.cancel()


def _chunks(descriptor: int) -> asyncio.Queue[bytes]:
    """Read a descriptor from now on; an empty chunk is the end."""
    # A thread of our own and a daemon: one that is blocked in read() must not keep
    # the process alive after a signal, and files cannot be watched by an event loop.
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue(maxsize=4)

    def pump() -> None:
        with suppress(RuntimeError):  # the loop has ended
            while True:
                try:
                    chunk = os.read(descriptor, _CHUNK)
                except OSError:
                    chunk = b""
                asyncio.run_coroutine_threadsafe(chunks.put(chunk), loop).result()
                if not chunk:
                    return

    threading.Thread(target=pump, daemon=True, name="channel input").start()
    return chunks


class Lines:
    """Cuts chunks into lines; takes no more memory than the longest line that is allowed."""

    def __init__(self, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self._max_bytes = max_bytes
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[bytes | None]:
        """Yield the lines that end in this chunk and are not blank, None for one too long."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            self._add(end)
            line = b"".join(self._parts).strip() if self._size <= self._max_bytes else None
            self._parts, self._size = [], 0
            if line != b"":
                yield line
        self._add(rest)

    def _add(self, part: bytes) -> None:
        self._size += len(part)
        if self._size <= self._max_bytes:
            self._parts.append(part)
        else:
            self._parts.clear()


class _Writer:
    """Writes lines from a thread, so that a client that does not read blocks nothing else."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._jobs: queue.SimpleQueue[tuple[bytes, asyncio.Future[bool]]] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._work, daemon=True, name="channel output").start()

    async def write(self, line: bytes) -> bool:
        """Write one line; False when nobody reads any more."""
        done: asyncio.Future[bool] = self._loop.create_future()
        self._jobs.put((line + b"\n", done))
        return await done

    def _work(self) -> None:
        with suppress(RuntimeError):  # the loop has ended
            while True:
                data, done = self._jobs.get()
                self._loop.call_soon_threadsafe(_resolve, done, self._write_all(data))

    def _write_all(self, data: bytes) -> bool:
        view = memoryview(data)
        try:
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError:
            return False
        return True


def _resolve(done: asyncio.Future[bool], alive: bool) -> None:  # noqa: FBT001 - a callback
    if not done.done():
        done.set_result(alive)
