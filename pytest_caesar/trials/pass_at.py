"""What a rate means for someone who tries several times; pure."""

from __future__ import annotations

import math

from pytest_caesar.trials.binomial import check_counts


def pass_at(k: int, successes: int, trials: int) -> float | None:
    """Estimate how often at least one of ``k`` attempts succeeds (pass@k), without bias.

    Returns:
        None where there are fewer trials than attempts.

    Source: M. Chen and others, "Evaluating large language models trained on code" (2021),
    section 2.1: 1 - C(n - c, k) / C(n, k).
    """
    _check(k, successes, trials)
    if trials < k:
        return None
    return 1 - math.comb(trials - successes, k) / math.comb(trials, k)


def pass_all(k: int, successes: int, trials: int) -> float | None:
    """Estimate how often all of ``k`` attempts succeed (pass^k), without bias.

    Returns:
        None where there are fewer trials than attempts.

    Source: S. Yao and others, "tau-bench: a benchmark for tool-agent-user interaction in
    real-world domains" (2024), section 3: C(c, k) / C(n, k).
    """
    _check(k, successes, trials)
    if trials < k:
        return None
    return math.comb(successes, k) / math.comb(trials, k)


def _check(k: int, successes: int, trials: int) -> None:
    check_counts(successes, trials)
    if k < 1:
        raise ValueError(f"{k} attempts: expected 1 or more")
