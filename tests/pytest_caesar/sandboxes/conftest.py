"""Sandboxes are tried where they work; elsewhere the reason is told."""

from __future__ import annotations

import pytest

from pytest_caesar.sandboxes.choice import broken_text, proof_of
from pytest_caesar.sandboxes.sandbox import SandboxError


@pytest.fixture(scope="session")
def bubblewrap() -> str:
    """The name of the sandbox, where it works."""
    try:
        proof = proof_of("bubblewrap")
    except SandboxError as error:
        pytest.skip(str(error))
    if proof.broken:
        pytest.skip(f"on this machine it does not hold that {broken_text(proof)}")
    return "bubblewrap"
