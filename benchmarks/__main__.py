"""``python -m benchmarks [NAME…]``: take the figures and print them as a table."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks.measuring import Row, table

HELPERS = {"__main__", "measuring"}


def main(names: list[str]) -> None:
    """Run the named benchmark modules, or all of them."""
    modules = [
        item.name for item in pkgutil.iter_modules(benchmarks.__path__) if item.name not in HELPERS
    ]
    for name in names or modules:
        if name not in modules:
            sys.exit(f"benchmarks: there is no {name!r}; there are {', '.join(modules)}")
    rows: list[Row] = []
    for name in names or modules:
        sys.stderr.write(f"{name} …\n")
        rows += importlib.import_module(f"benchmarks.{name}").rows()
    sys.stdout.write(table(rows) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
