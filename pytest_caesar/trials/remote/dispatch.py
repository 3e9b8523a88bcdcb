"""Trials handed to an executor: each counted once, whatever became of workers on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    wait,
)
from pathlib import Path
from typing import Final, Protocol

from caesar_agent.errors import CaesarError
from pytest_caesar.trials.remote.errors import WorkersDiedError
from pytest_caesar.trials.remote.node import Transfer, carry_out
from pytest_caesar.trials.remote.parcel import Parcel
from pytest_caesar.trials.remote.unpacking import unpacked
from pytest_caesar.trials.side_by_side import SideBySide

ATTEMPTS: Final = 3
"""Workers that may die under one trial; then it is an error."""

LOOK: Final = 1.0
"""Seconds of one wait, so that Ctrl-C is heard."""


class Carrier(Protocol):
    """Sends trials to somewhere, and can break off what runs there."""

    def submit(self, parcel: Parcel) -> Future[Transfer]:
        """Send one trial."""

    def cancel(self) -> None:
        """Have what runs broken off, as far as it can be."""

    def died(self, error: BaseException) -> bool:
        """Tell whether an error means that a worker died, so that another may try."""


class ExecutorCarrier:
    """Sends trials to any executor; what runs there ends at its deadline."""

    def __init__(self, executor: Executor) -> None:
        self._executor = executor

    def submit(self, parcel: Parcel) -> Future[Transfer]:
        """Send one trial."""
        return self._executor.submit(carry_out, parcel)

    def cancel(self) -> None:
        """Do nothing: an executor cannot end what runs; what is queued is dropped by its future."""

    def died(self, error: BaseException) -> bool:
        """Tell whether the pool lost a process."""
        return isinstance(error, BrokenExecutor)


def dispatched(
    parcels: Mapping[int, Parcel],
    carrier: Carrier,
    *,
    folder: Path,
    tell: Callable[[Transfer], None] = lambda _: None,
) -> SideBySide:
    """Carry out trials somewhere else, and return their runs by number.

    Args:
        parcels: by the number of the trial.
        carrier: who sends them.
        folder: gets a folder for each trial, which must not exist.
        tell: takes what came back.
    """
    found = SideBySide()
    attempts = dict.fromkeys(parcels, 0)
    waiting: dict[Future[Transfer], int] = {}
    try:
        for number in parcels:
            _send(carrier, parcels[number], waiting, found, attempts)
        while waiting:
            for future in wait(waiting, timeout=LOOK, return_when=FIRST_COMPLETED).done:
                number = waiting.pop(future)
                try:
                    transfer = future.result()
                except (Exception, CancelledError) as error:  # noqa: BLE001 - sorted below
                    if not carrier.died(error):
                        found.errors[number] = error
                    elif attempts[number] < ATTEMPTS:
                        _send(carrier, parcels[number], waiting, found, attempts)
                    else:
                        found.errors[number] = WorkersDiedError(
                            attempts=attempts[number], last=str(error) or type(error).__name__
                        )
                    continue
                tell(transfer)
                found.runs[number] = unpacked(transfer, folder / f"{number:04d}")
    except BaseException:
        carrier.cancel()
        for future in waiting:
            future.cancel()
        raise
    return found


def _send(
    carrier: Carrier,
    parcel: Parcel,
    waiting: dict[Future[Transfer], int],
    found: SideBySide,
    attempts: dict[int, int],
) -> None:
    attempts[parcel.number] += 1
    try:
        waiting[carrier.submit(parcel)] = parcel.number
    except (RuntimeError, CaesarError) as error:  # a pool that is broken or shut down
        found.errors[parcel.number] = error
