"""Documents with something wrong in them, for either protocol."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from caesar_agent.documents import Document
from caesar_agent.errors import DocumentError


@st.composite
def mutants(
    draw: st.DrawFn,
    documents: st.SearchStrategy[Any],
    *,
    values: Sequence[Any],
    keys: Sequence[str],
) -> Any:
    """Draw a document in which up to three values were replaced, removed or added.

    Args:
        draw: given by hypothesis.
        documents: JSON values.
        values: what is put in.
        keys: under which it is added.
    """
    value = _copy(draw(documents))
    for _ in range(draw(st.integers(0, 3))):
        container, key = draw(st.sampled_from(places(value) or [(value, "x")]))
        action = draw(st.sampled_from(["replace", "replace", "remove", "add"]))
        new = _copy(draw(st.sampled_from(values)))
        if action == "replace":
            container[key] = new
        elif action == "remove":
            container.pop(key, None) if isinstance(container, dict) else container.pop(key)
        elif isinstance(container, dict):
            container[draw(st.sampled_from(keys))] = new
        else:
            container.append(new)
    return value


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return every container within a document with each of its keys or indices."""
    found: list[tuple[Any, Any]] = []
    waiting = [value]
    while waiting:
        container = waiting.pop()
        items = container.items() if isinstance(container, dict) else enumerate(container)
        for key, item in list(items):
            found.append((container, key))
            if isinstance(item, dict | list):
                waiting.append(item)
    return found


def accepts(document: type[Document], value: object) -> bool:
    """Say whether a model takes a JSON value."""
    try:
        document.from_value(value)
    except DocumentError:
        return False
    return True


def _copy(value: Any) -> Any:
    return json.loads(json.dumps(value))
