"""What a model was asked and what it cost; pure. Unknown is None, never zero."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

UsageSource = Literal["stream", "report", "model"]

MAX_COUNT = 2**53 - 1
"""The largest number of a line that counts as usage, as in a report; infinity is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens, money and turns; whatever is not known is None.

    Attributes:
        input_tokens: read by the model, those from a cache and those written to one included.
        cached_input_tokens: of these, read from a cache.
        cache_write_tokens: of these, written to a cache.
        output_tokens: written by the model, its reasoning included where the source names it.
        reasoning_tokens: of these, spent on reasoning.
        total_tokens: input and output; what the source prints where that is more.
        cost_usd: US dollars.
        turns: answers of the model.
        duration: seconds, as the source says.
        by_model: the same for each model, by its name, where the source tells them apart.
        at_least: a cut, or a sub-agent, hides the rest.
        source: who says so; None when nobody does.
    """

    input_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None
    cost_usd: float | None = None
    turns: int | None = None
    duration: float | None = None
    by_model: Mapping[str, Usage] = field(default_factory=dict)
    at_least: bool = False
    source: UsageSource | None = None

    @property
    def known(self) -> bool:
        """Whether anything is known of tokens, cost or turns."""
        return any(getattr(self, name) is not None for name in COUNTED)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON: every number, None where it is not known."""
        value = {name: getattr(self, name) for name in NUMBERS}
        models = {name: used.as_dict() for name, used in self.by_model.items()}
        if models:
            value["by_model"] = {
                name: {key: number for key, number in used.items() if key in NUMBERS}
                for name, used in models.items()
            }
        return {**value, "at_least": self.at_least, "source": self.source}

    def __repr__(self) -> str:
        told = [
            f"{name}={getattr(self, name)}" for name in NUMBERS if getattr(self, name) is not None
        ]
        least = ["at least"] if self.at_least else []
        return f"<Usage: {', '.join([*told, *least]) or 'unknown'}>"


NUMBERS = tuple(
    item.name for item in fields(Usage) if item.name not in {"by_model", "at_least", "source"}
)
"""Fields that hold a number."""

COUNTED = ("input_tokens", "output_tokens", "cost_usd", "turns")
"""What makes usage known at all."""


def usage(**numbers: Any) -> Usage:
    """Return usage with its total: input and output together, or the one given if that is more."""
    read, written = numbers.get("input_tokens"), numbers.get("output_tokens")
    if read is not None and written is not None:
        numbers["total_tokens"] = max(read + written, numbers.get("total_tokens") or 0)
    return Usage(**numbers)


def added(usages: Iterable[Usage]) -> Usage:
    """Add usage up; a number that one of them does not know is not known of all.

    Returns:
        The sum; of nothing, that nothing is known. Its source is that of all of them, or None.
    """
    parts = list(usages)
    if not parts:
        return Usage()
    total: dict[str, Any] = {}
    for name in NUMBERS:
        values = [getattr(part, name) for part in parts]
        total[name] = None if None in values else sum(values)
    models: dict[str, list[Usage]] = {}
    for part in parts:
        for model, used in part.by_model.items():
            models.setdefault(model, []).append(used)
    sources = {part.source for part in parts}
    return Usage(
        **total,
        by_model={model: added(used) for model, used in models.items()},
        at_least=any(part.at_least for part in parts),
        source=sources.pop() if len(sources) == 1 else None,
    )


class Meter:
    """Adds up what the lines of a stream say; odd numbers are left out."""

    def __init__(self) -> None:
        self.numbers: dict[str, float] = {}
        self.at_least = False

    def add(self, **numbers: object) -> None:
        """Add numbers up by name; what is no count is passed over."""
        for name, number in numbers.items():
            if (counted := count(number)) is not None:
                self.numbers[name] = self.numbers.get(name, 0) + counted

    def usage(self, *, by_model: Mapping[str, Usage] | None = None, **more: Any) -> Usage:
        """Return what was added up, as the stream's word."""
        numbers: dict[str, Any] = {
            name: number if name in {"cost_usd", "duration"} else int(number)
            for name, number in self.numbers.items()
        }
        numbers.update(more)
        if not numbers.get("cost_usd"):
            # A program that knows no price says 0, also beside tokens.
            numbers["cost_usd"] = None
        known = any(numbers.get(name) is not None for name in COUNTED)
        return usage(
            **numbers,
            by_model=by_model or {},
            at_least=self.at_least and known,
            source="stream" if known else None,
        )


def count(number: object) -> float | None:
    """Return a number that can be a count, else None; integers stay integers."""
    if not isinstance(number, (int, float)) or isinstance(number, bool):
        return None
    return number if 0 <= number <= MAX_COUNT else None


def with_cost(used: Usage, cost: float | None) -> Usage:
    """Return it with a cost."""
    return replace(used, cost_usd=cost)
