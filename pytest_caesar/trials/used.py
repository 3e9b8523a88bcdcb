"""What a trial used: tokens and money, where they are known."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_caesar.recovery.usage import Usage, added
from pytest_caesar.runs.run import Run


def usage_of(runs: Sequence[Run]) -> dict[str, float]:
    """Add up what the runs of a trial used; what one of them does not know is left out."""
    if not runs:
        return {}
    total: Usage = added(run.total_usage for run in runs)
    tokens = total.total_tokens
    if tokens is None and total.input_tokens is not None and total.output_tokens is not None:
        tokens = total.input_tokens + total.output_tokens
    found = {"tokens": tokens, "cost_usd": total.cost_usd}
    return {name: float(value) for name, value in found.items() if value is not None}
