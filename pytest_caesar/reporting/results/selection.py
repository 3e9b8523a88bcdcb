"""The options of pytest that choose which tests run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def selection_of(config: pytest.Config) -> list[str]:
    """Return the options that choose tests, as on the command line."""
    option = config.option
    chosen = [
        f"{name} {value}"
        for name, value in (("-k", option.keyword), ("-m", option.markexpr))
        if value
    ]
    chosen += [f"--deselect={one}" for one in getattr(option, "deselect", None) or ()]
    chosen += [f"--{name}" for name in ("lf", "stepwise") if getattr(option, name, False)]
    return chosen
