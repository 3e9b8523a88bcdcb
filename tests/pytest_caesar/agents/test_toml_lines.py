from __future__ import annotations

import pytest

from pytest_caesar.agents.toml_lines import Lines, Path

TEXT = '''\
# [policy]
[policy]   # comment
max_depth = 1

[[agent]]
id = "a"
args = [
  "{{prompt}}",
]
[[agent]]
id = "b"
note = """
id = "not a key"
[models]
"""
bin = "x"

[models]
"with blank" = "m"
a.b = "c"
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("policy",), 2),
        (("policy", "max_depth"), 3),
        (("agent", 0), 5),
        (("agent", 0, "args"), 7),
        (("agent", 1, "id"), 11),
        (("agent", 1, "bin"), 16),
        (("agent",), 5),
        (("models",), 18),
        (("models", "with blank"), 19),
        (("models", "a", "b"), 20),
        (("agent", 1, "missing"), 10),
        (("nothing",), None),
    ],
    ids=str,
)
def test_each_key_is_found_on_its_line(path: Path, line: int | None) -> None:
    assert Lines(TEXT).of(path) == line
