"""What tokens cost, from the JSON that LiteLLM keeps; pure. No price is built in."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from caesar_agent.errors import CaesarError
from pytest_caesar.recovery.usage import Usage, added

MAX_PRICES_BYTES = 64 * 1024 * 1024
"""Size of a file of prices that is read at most, in bytes; LiteLLM's has some 1.5 MB."""

_INPUT = "input_cost_per_token"
_OUTPUT = "output_cost_per_token"
_CACHED = "cache_read_input_token_cost"
_WRITTEN = "cache_creation_input_token_cost"


class PricesError(CaesarError, ValueError):
    """A file of prices cannot be used.

    Attributes:
        path: the file, as it was named.
        problem: what is wrong with it, and what is expected.
    """

    __module__ = "pytest_caesar"

    path: str
    problem: str

    def message(self) -> str:
        """Return the problem as it is shown."""
        return f"prices {self.path}: {self.problem}"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for one token.

    Attributes:
        read, written: input and output.
        cached, kept: input from a cache, and into one; None where they cost as other input.
    """

    read: float
    written: float
    cached: float | None = None
    kept: float | None = None


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices by model, as LiteLLM spells their names.

    Attributes:
        models: those that are listed.
        ask: knows further ones, or None.
    """

    models: Mapping[str, Price]
    ask: Callable[[str], Price | None] | None = None

    def of(self, model: str) -> Price | None:
        """Return the price of a model, by its name or by what follows the provider's."""
        found = self.models.get(model) or self.models.get(model.rsplit("/", 1)[-1])
        return self.ask(model) if found is None and self.ask is not None else found

    def cost(self, used: Usage, *, model: str | None = None) -> float | None:
        """Return what tokens cost, or None where a number, the model or its price is unknown.

        Args:
            used: of one run; ``by_model`` counts where every model has its tokens there.
            model: whose tokens they are where the usage does not tell.
        """
        told = {name: part for name, part in used.by_model.items() if part.total_tokens is not None}
        if told and added(told.values()).input_tokens == used.input_tokens:
            costs = [self._cost(name, part) for name, part in told.items()]
            return None if None in costs else sum(cost for cost in costs if cost is not None)
        if len(used.by_model) == 1:
            model = next(iter(used.by_model))
        return self._cost(model, used) if model and len(used.by_model) < 2 else None

    def _cost(self, model: str, used: Usage) -> float | None:
        price = self.of(model)
        if price is None or used.input_tokens is None or used.output_tokens is None:
            return None
        cached, kept = used.cached_input_tokens or 0, used.cache_write_tokens or 0
        written = max(used.output_tokens, (used.total_tokens or 0) - used.input_tokens)
        return (
            max(0, used.input_tokens - cached - kept) * price.read
            + cached * (price.read if price.cached is None else price.cached)
            + kept * (price.read if price.kept is None else price.kept)
            + written * price.written
        )


def priced(used: Usage, prices: Prices | None, *, model: str | None) -> Usage:
    """Return usage with its cost where the agent's program does not say it."""
    if prices is None or used.cost_usd is not None:
        return used
    cost = prices.cost(used, model=model)
    return used if cost is None else replace(used, cost_usd=cost)


def read_prices(path: Path) -> Prices:
    """Read a file of prices.

    Raises:
        PricesError: it cannot be read, or holds no prices.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MAX_PRICES_BYTES + 1)
    except OSError as error:
        raise PricesError(path=str(path), problem=error.strerror or str(error)) from error
    if len(data) > MAX_PRICES_BYTES:
        raise PricesError(path=str(path), problem=f"larger than {MAX_PRICES_BYTES} bytes")
    return parse_prices(data, path=str(path))


def parse_prices(data: bytes, *, path: str) -> Prices:
    """Read the JSON of LiteLLM; models without both prices are passed over.

    Raises:
        PricesError: it is no such JSON, or prices nothing.
    """
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise PricesError(path=path, problem=f"not JSON: {error}") from error
    if not isinstance(value, dict):
        raise PricesError(path=path, problem=f"expected an object of models, found {_kind(value)}")
    models = {name: price for name, part in value.items() if (price := price_of(part)) is not None}
    if not models:
        raise PricesError(
            path=path,
            problem=f'no model has "{_INPUT}" and "{_OUTPUT}" as numbers; expected the JSON that '
            "LiteLLM keeps as model_prices_and_context_window.json",
        )
    return Prices(models)


def price_of(part: object) -> Price | None:
    """Return a price from the keys of LiteLLM, or None where it is none."""
    if not isinstance(part, dict):
        return None
    read, written, cached, kept = (
        _number(part.get(name)) for name in (_INPUT, _OUTPUT, _CACHED, _WRITTEN)
    )
    return None if read is None or written is None else Price(read, written, cached, kept)


def _number(value: object) -> float | None:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    return float(value) if math.isfinite(value) and value >= 0 else None


def _kind(value: object) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean"}
    return names.get(type(value), "null" if value is None else "a number")
