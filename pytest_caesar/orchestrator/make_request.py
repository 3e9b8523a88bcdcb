"""What a caller wishes, brought into the one shape of a request."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pytest_caesar.gates.criteria import command_of
from pytest_caesar.orchestrator.request import Request

if TYPE_CHECKING:
    from pytest_caesar.gates.gates import Gate, GateLike


def request_of(
    objective: str,
    *,
    constraints: Iterable[str] = (),
    acceptance_criteria: Iterable[str] = (),
    channel: bool = False,
    workspace: Path | str | None = None,
    placed: Iterable[str] = (),
    gates: Iterable[GateLike] = (),
    promised: Iterable[str] = (),
    **fields: Any,
) -> Request:
    """Bring what a caller wishes into one shape, and refuse what cannot be delegated."""
    request = Request(
        objective=objective,
        constraints=_sentences(constraints),
        acceptance_criteria=_sentences(acceptance_criteria),
        channel=channel,
        workspace=Path(workspace).absolute() if workspace is not None else None,
        placed=_sentences(placed),
        promised=_sentences(promised),
        **fields,
    )
    request.check()
    return replace(request, gates=_gates(gates, request.acceptance_criteria))


def _gates(gates: Iterable[GateLike], criteria: tuple[str, ...]) -> tuple[Gate, ...]:
    """Return the gates that were given, and those that the criteria are."""
    given = gates if isinstance(gates, str) else tuple(gates)
    if not given and not any(map(command_of, criteria)):
        return ()
    from pytest_caesar.gates.gates import as_gates, criteria_gates  # noqa: PLC0415 - seldom needed

    made = as_gates(given)
    return as_gates((*made, *criteria_gates(criteria, gates=made)))


def _sentences(values: Iterable[str]) -> tuple[str, ...]:
    """Return a tuple; a lone string stays one, for ``Request.check`` to refuse."""
    return cast("tuple[str, ...]", values) if isinstance(values, str) else tuple(values)
