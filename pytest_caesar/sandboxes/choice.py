"""Which sandbox is taken, and what was proved of it."""

from __future__ import annotations

import threading
from typing import Final

from caesar_agent.diagnostics import Diagnostic
from pytest_caesar.agents.errors import near_miss
from pytest_caesar.sandboxes.bubblewrap import Bubblewrap
from pytest_caesar.sandboxes.invariants import INVARIANTS
from pytest_caesar.sandboxes.probe import Proof, prove
from pytest_caesar.sandboxes.sandbox import Sandbox, SandboxError

NONE: Final = "none"
AUTO: Final = "auto"

OWN_SANDBOXES: Final[tuple[Sandbox, ...]] = (Bubblewrap(),)
"""What comes with this package."""

SANDBOXES: Final[dict[str, Sandbox]] = {sandbox.name: sandbox for sandbox in OWN_SANDBOXES}
"""Every sandbox that can be asked for, by its name; plugins add theirs."""

_proofs: dict[str, Proof | SandboxError] = {}
_proving = threading.Lock()


def names() -> tuple[str, ...]:
    """Return what may be asked for."""
    return (NONE, AUTO, *SANDBOXES)


def check_name(name: str) -> str:
    """Return the name of a sandbox, or refuse one that there is not.

    Raises:
        SandboxError: with the names that there are.
    """
    if name in names():
        return name
    raise SandboxError(
        name=name,
        problem="there is none of that name" + near_miss(name, names()),
        remedy=f"take one of {', '.join(names())}",
    )


def proof_of(name: str) -> Proof:
    """Return what was proved of a sandbox, which is tried once in each process.

    Raises:
        SandboxError: it is not there, or nothing can be run in it.
    """
    with _proving:
        if name not in _proofs:
            try:
                _proofs[name] = prove(SANDBOXES[name])
            except SandboxError as error:
                _proofs[name] = error
        found = _proofs[name]
    if isinstance(found, SandboxError):
        raise found
    return found


def chosen(name: str) -> tuple[Proof | None, list[Diagnostic]]:
    """Return the sandbox to take, or None for none, and what is to be said of the choice.

    Args:
        name: ``none``, ``auto``, or the name of one.

    Raises:
        SandboxError: one that was asked for by name is not there, or does not hold.
    """
    if check_name(name) == NONE:
        return None, []
    if name != AUTO:
        proof = proof_of(name)
        if proof.broken:
            raise SandboxError(
                name=name,
                problem="on this machine it does not hold that " + broken_text(proof),
                remedy="take sandbox 'auto', which goes on and says so, or 'none'",
            )
        return proof, []
    problems: list[str] = []
    usable: list[Proof] = []
    for each in SANDBOXES:
        try:
            usable.append(proof_of(each))
        except SandboxError as error:  # noqa: PERF203 - one that is not there stops no other
            problems.append(str(error))
    if not usable:
        text = f"the agent runs in no sandbox: {'; '.join(problems)}"
        return None, [Diagnostic(code="sandbox-weak", message=text)]
    best = min(usable, key=lambda proof: len(proof.broken))
    if not best.broken:
        return best, []
    text = f"in the sandbox {best.sandbox.name} it does not hold that {broken_text(best)}"
    return best, [Diagnostic(code="sandbox-weak", message=text)]


def broken_text(proof: Proof) -> str:
    """Say what does not hold."""
    return "; ".join(f"{INVARIANTS[name]} ({name}: {what})" for name, what in proof.broken.items())
