from __future__ import annotations

import subprocess
import sys
from types import ModuleType

import pytest

import caesar_agent.va
import pytest_caesar.va
from tests.conftest import ROOT


@pytest.mark.parametrize("module", [caesar_agent.va, pytest_caesar.va])
def test_every_public_name_is_there_and_no_other(module: ModuleType) -> None:
    for name in module.__all__:
        assert getattr(module, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        _ = module.Nothing


@pytest.mark.parametrize("package", ["caesar_agent.va", "pytest_caesar.orchestrator.orchestrator"])
def test_the_models_of_the_protocol_are_imported_when_they_are_used(package: str) -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {package};"
        "print([name for name in sys.modules if name.startswith('caesar_agent.va.')])"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert printed.strip() == "[]"
