"""Waiting for an ``async`` agent, also where an event loop runs already."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from caesar_agent.processes.interruption import UNWIND_SECONDS

if TYPE_CHECKING:
    import asyncio


def await_result(value: object) -> object:
    """Return a value as it is, or what comes of it when it has to be awaited."""
    if not isinstance(value, Awaitable):
        return value
    import asyncio  # noqa: PLC0415 - only async agents pay for it

    return _await_in_thread(value) if _loop_runs() else asyncio.run(_wait_for(value))


def _loop_runs() -> bool:
    import asyncio  # noqa: PLC0415

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _wait_for(value: Awaitable[Any]) -> object:
    return await value


def _await_in_thread(value: Awaitable[Any]) -> object:
    """Run a loop of its own in a thread, since this thread's is busy with its caller."""
    import asyncio  # noqa: PLC0415
    import contextvars  # noqa: PLC0415
    import threading  # noqa: PLC0415

    results: list[object] = []
    errors: list[BaseException] = []
    tasks: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[object]]] = []
    stopping = threading.Event()

    async def body() -> object:
        task = asyncio.current_task()
        assert task is not None
        tasks.append((asyncio.get_running_loop(), task))
        # The interruption may have come before there was a task to cancel.
        if stopping.is_set():
            raise asyncio.CancelledError
        return await value

    def work() -> None:
        try:
            results.append(asyncio.run(body()))
        except BaseException as error:  # noqa: BLE001 - raised again where it is waited for
            errors.append(error)

    context = contextvars.copy_context()
    thread = threading.Thread(
        target=context.run, args=(work,), name="caesar-agent-async", daemon=True
    )
    try:
        thread.start()
        thread.join()
    except BaseException:
        stopping.set()
        for loop, task in tasks:
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(task.cancel)
        if thread.ident is not None:
            thread.join(UNWIND_SECONDS)
        raise
    if errors:
        raise errors[0]
    return results[0]
