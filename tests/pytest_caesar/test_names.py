"""The public names of ``pytest_caesar``."""

from __future__ import annotations

import subprocess
import sys

import pytest

import pytest_caesar
from tests.conftest import ROOT


@pytest.mark.parametrize("name", pytest_caesar.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(pytest_caesar, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'pytest_caesar' has no attribute 'Nothing'"):
        _ = pytest_caesar.Nothing


def test_importing_the_package_imports_nothing_else() -> None:
    code = (
        "import sys; before = set(sys.modules); import pytest_caesar;"
        "print(sorted(set(sys.modules) - before))"
    )
    printed = subprocess.run(
        [sys.executable, "-I", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); {code}"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout
    assert printed.strip() == "['__future__', 'pytest_caesar']"


def test_freezing_time_does_not_import_the_harness() -> None:
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); import freezegun, pytest_caesar\n"
        "with freezegun.freeze_time('2026-01-01'): pass\n"
        "print([name for name in sys.modules if name.startswith(('pytest_caesar.', 'caesar_'))])"
    )
    printed = subprocess.run(
        [sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    assert printed.strip() == "[]"
