"""Which part of a suite a session runs, where it says so."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several sessions that run a suite together; ``index`` starts at 1."""

    index: int
    count: int


def declared_shard(config: pytest.Config) -> Shard | None:
    """Return the part that this session runs, or None where it says nothing of parts.

    It is what ``caesar_shard = 2/4`` says, else what pytest-split (``--splits``, ``--group``) or
    pytest-shard (``--num-shards``, ``--shard-id``) was asked for.

    Raises:
        pytest.UsageError: the ini key says something else.
    """
    text = str(config.getini("caesar_shard")).strip()
    if text:
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            raise pytest.UsageError(
                f"caesar_shard = {text}: expected which part of how many, such as 2/4"
            )
        return _several(Shard(int(found[1]), int(found[2])))
    group, splits = config.getoption("group", None), config.getoption("splits", None)
    if isinstance(group, int) and isinstance(splits, int):
        return _several(Shard(group, splits))
    index, count = config.getoption("shard_id", None), config.getoption("num_shards", None)
    if isinstance(index, int) and isinstance(count, int):
        return _several(Shard(index + 1, count))
    return None


def _several(shard: Shard) -> Shard | None:
    return shard if shard.count > 1 else None
