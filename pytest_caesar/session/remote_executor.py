"""Where trials are sent: ``--caesar-executor``, or what a test gives itself."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from caesar_agent.console import one_line
from pytest_caesar.trials.remote.dispatch import Carrier, ExecutorCarrier

DASK = "dask:"
"""What stands in front of the address of a dask scheduler."""

CONNECT = 30
"""Seconds that a scheduler gets to answer."""


@contextmanager
def carrier_of(executor: object, *, start: Path) -> Iterator[Carrier]:
    """Return what sends trials, for an executor or the text that names one.

    Args:
        executor: an ``Executor``, a ``distributed.Client``, ``dask:ADDRESS``, or
            ``module:function`` that returns one of the first two.
        start: folder that modules are importable from.

    Raises:
        pytest.UsageError: it is none of these, or nobody answers there.
    """
    if isinstance(executor, str) and executor.startswith(DASK):
        from pytest_caesar.trials.remote.dask import DaskCarrier  # noqa: PLC0415 - an extra

        with _client(executor.removeprefix(DASK)) as client:
            yield DaskCarrier(client)
        return
    found = _called(executor, start) if isinstance(executor, str) else executor
    if isinstance(found, Executor):
        yield ExecutorCarrier(found)
    elif type(found).__module__.partition(".")[0] == "distributed":
        from pytest_caesar.trials.remote.dask import DaskCarrier  # noqa: PLC0415 - an extra

        yield DaskCarrier(found)
    else:
        raise pytest.UsageError(
            f"the executor is {one_line(repr(found), limit=120)}: expected a "
            "concurrent.futures.Executor, or a dask.distributed Client"
        )


def _client(address: str) -> Any:
    try:
        distributed: Any = importlib.import_module("distributed")
    except ModuleNotFoundError as error:
        raise pytest.UsageError(
            "dask: needs the package distributed; pip install 'pytest-caesar[dask]'"
        ) from error
    try:
        return distributed.Client(address, timeout=CONNECT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise pytest.UsageError(f"no dask scheduler answers at {address}: {error}") from error


def _called(text: str, start: Path) -> object:
    module, _, name = text.partition(":")
    if str(start) not in sys.path:
        sys.path.insert(0, str(start))
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise pytest.UsageError(
            f"--caesar-executor={text}: {error}; expected dask:ADDRESS, or module:function"
        ) from error
    return function()
