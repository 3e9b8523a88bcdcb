"""Whether a session runs in continuous integration, where nothing is recorded; pure."""

from __future__ import annotations

from collections.abc import Mapping


def is_ci(environ: Mapping[str, str]) -> bool:
    """Tell whether this is continuous integration, by the variable that all of them set."""
    return environ.get("CI", "").strip().lower() not in ("", "0", "false", "no")
