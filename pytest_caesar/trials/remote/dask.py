"""Trials on the workers of a ``dask.distributed`` cluster."""

from __future__ import annotations

import importlib
import uuid
from concurrent.futures import Executor, Future
from typing import Any

from pytest_caesar.trials.remote.node import Transfer, carry_out
from pytest_caesar.trials.remote.parcel import Parcel


class DaskCarrier:
    """Sends trials to a dask cluster; cancelling ends the agents there.

    Args:
        client: a ``distributed.Client``, which stays open.
    """

    def __init__(self, client: Any) -> None:
        distributed: Any = importlib.import_module("distributed")  # an extra, and untyped
        self._executor: Executor = client.get_executor(pure=False)
        self._name = f"caesar-cancelled-{uuid.uuid4().hex}"
        self._event = distributed.Event(self._name, client=client)

    def submit(self, parcel: Parcel) -> Future[Transfer]:
        """Send one trial."""
        return self._executor.submit(_carry_out, parcel, self._name)

    def cancel(self) -> None:
        """Tell every node that nobody waits any more; their agents end within a second or two."""
        self._event.set()

    def died(self, error: BaseException) -> bool:  # noqa: ARG002 - as others
        """Return False: the scheduler itself gives a trial to another worker, three times."""
        return False


def _carry_out(parcel: Parcel, name: str) -> Transfer:
    distributed: Any = importlib.import_module("distributed")
    event = distributed.Event(name)
    return carry_out(parcel, lambda: bool(event.is_set()))
