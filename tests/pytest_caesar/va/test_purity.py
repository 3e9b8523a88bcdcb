"""What is said to be pure is: no files, no processes, no clocks of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.test_architecture import HARNESS, IO_MODULES, SDK, modules, roots

PURE = [
    *modules(SDK / "va"),
    *(
        HARNESS / f"{name}.py"
        for name in (
            "gates/criteria", "runs/judgement", "gates/messages",
            "va/causes", "va/conversation", "va/dispatched", "va/evidence",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("path", PURE, ids=lambda path: f"{path.parents[1].name}/{path.name}")
def test_a_pure_module_does_no_io(path: Path) -> None:
    assert not roots(path) & {*IO_MODULES, "os", "time"}
