"""YAML 1.2 core, as hosts of agent definitions read it: 1.1 would turn ``off`` into false."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Any

import yaml


class YamlProblem(ValueError):  # noqa: N818  (a value of the reader, not an error of ours)
    """Text is not YAML.

    Attributes:
        line: 0-based line of the problem, or None.
        text: what the reader says, on one line.
    """

    def __init__(self, text: str, line: int | None) -> None:
        super().__init__(text)
        self.text = text
        self.line = line


def load_yaml(text: str) -> Any:
    """Read YAML 1.2 with the core schema.

    Unknown tags are passed over, duplicate keys let the last one win, ``<<`` merges, and
    keys are always text. Several documents give a list, as in the hosts.

    Raises:
        YamlProblem: with the line where reading stopped.
    """
    try:
        documents = _load_fast(text) or list(yaml.load_all(text, Loader=_CoreLoader))
    except yaml.MarkedYAMLError as error:
        parts = _DOCUMENT_END.split(text)
        if len(parts) > 1 and error.problem and "document start" in error.problem:
            # YAML 1.2 lets a bare document follow; this reader wants "---" before it.
            return [load_yaml(part) for part in parts if part.strip()]
        mark = error.problem_mark or error.context_mark
        if error.context == "while scanning a simple key":
            mark = error.context_mark  # the problem is only noticed on the line after it
        said = " ".join(part for part in (error.context, error.problem) if part)
        raise YamlProblem(said, mark.line if mark else None) from error
    except yaml.YAMLError as error:
        raise YamlProblem(str(error).splitlines()[0], None) from error
    except RecursionError as error:
        raise YamlProblem("nested too deeply", None) from error
    except (ValueError, TypeError, OverflowError) as error:
        raise YamlProblem(str(error), None) from error
    return documents[0] if len(documents) == 1 else documents or None


def _load_fast(text: str) -> list[Any] | None:
    """Read small, shallow text with libyaml, where there is one; None when it is not sure.

    It is ten times as fast. What it refuses is read again in Python, so that verdict and
    message are the same on a machine without it; and it is not given deep text, since it
    recurses in C.
    """
    if _FastLoader is None or len(text) > _FAST_CHARACTERS:
        return None
    if sum(text.count(sign) for sign in ("[", "{", "- ", "? ", ": ")) > _FAST_SIGNS:
        return None
    if _UNLIKE.search(text):
        return None
    try:
        return list(yaml.load_all(text, Loader=_FastLoader))
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError):
        return None


class _CoreMixin:
    """Constructors of the 1.2 core schema, for whichever parser."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012
    yaml_constructors: dict[str | None, Any] = {}  # noqa: RUF012

    def construct_mapping(
        self: Any,
        node: yaml.MappingNode,
        deep: bool = False,  # noqa: FBT001, FBT002
    ) -> dict[Hashable, Any]:
        self.flatten_mapping(node)
        mapping: dict[Hashable, Any] = {}
        for key_node, value_node in node.value:
            key = self.construct_object(key_node, deep=True)
            mapping[_key_text(key)] = self.construct_object(value_node, deep=deep)
        return mapping

    def construct_document(self: Any, node: yaml.Node) -> Any:
        _check_merges(node)
        return super().construct_document(node)  # type: ignore[misc]


def _check_merges(root: yaml.Node) -> None:
    """Refuse mappings that ``<<`` and aliases would multiply: PyYAML writes merges out.

    Raises:
        yaml.MarkedYAMLError: with the mapping at which the bound is passed.
    """
    keys: dict[int, int] = {}
    seen: set[int] = set()
    pending: list[tuple[yaml.Node, bool]] = [(root, False)]
    while pending:
        node, entered = pending.pop()
        if entered:
            keys[id(node)] = _merged_keys(node, keys)
            if keys[id(node)] > _MOST_KEYS:
                raise yaml.MarkedYAMLError(
                    problem="more keys than a definition can hold, by its merges",
                    problem_mark=node.start_mark,
                )
        elif id(node) not in seen:
            seen.add(id(node))
            pending.append((node, True))
            pending += [(item, False) for item in _children(node) if id(item) not in seen]


def _merged_keys(node: yaml.Node, keys: dict[int, int]) -> int:
    if not isinstance(node, yaml.MappingNode):
        return sum(keys.get(id(item), 0) for item in _children(node))
    return sum(
        keys.get(id(value), 1) if key.tag == "tag:yaml.org,2002:merge" else 1
        for key, value in node.value
    )


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [item for pair in node.value for item in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


class _CoreLoader(_CoreMixin, yaml.SafeLoader):
    """The authority: the parser written in Python, which every machine has."""


_FastLoader: type[yaml.SafeLoader] | None = None
if yaml.__with_libyaml__:
    _FastLoader = type("_FastLoader", (_CoreMixin, yaml.CSafeLoader), {})

_FAST_CHARACTERS = 16_384
_FAST_SIGNS = 1_000
_UNLIKE = re.compile("[\t\r\x85\u2028\u2029\ufeff]|[|>][-+0-9]*#")
"""What the two parsers do not treat alike; found by feeding both with the same mixtures."""


def _key_text(key: object) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, bool):
        return "true" if key else "false"
    if key is None:
        return "null"
    if isinstance(key, float) and key.is_integer() and abs(key) < _FIXED_NOTATION:
        return str(int(key))
    return "[object Object]" if isinstance(key, dict) else str(key)


def _construct_any(loader: _CoreLoader, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_yaml_seq(node)
    return loader.construct_yaml_map(node)


def _construct_bool(loader: _CoreLoader, node: yaml.ScalarNode) -> object:
    text = str(loader.construct_scalar(node))
    return text.lower() == "true" if text.lower() in {"true", "false"} else text


def _construct_null(loader: _CoreLoader, node: yaml.ScalarNode) -> None:
    loader.construct_scalar(node)


def _construct_int(loader: _CoreLoader, node: yaml.ScalarNode) -> object:
    text = str(loader.construct_scalar(node))
    if len(text) > _LONGEST_NUMBER:
        return float("inf")
    if not _INT.fullmatch(text):
        return text
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    return int(text[2:], base) if base != 10 else int(text)


def _construct_float(loader: _CoreLoader, node: yaml.ScalarNode) -> object:
    text = str(loader.construct_scalar(node))
    if not _FLOAT.fullmatch(text):
        return text
    return float(
        text.replace(".inf", "inf").replace(".Inf", "inf").replace(".INF", "inf")
        if "inf" in text.lower()
        else text.lower().replace(".nan", "nan")
    )


_MOST_KEYS = 10_000
"""Keys that a mapping may have once its merges are written out."""
_FIXED_NOTATION = 1e21
"""From here on JavaScript writes numbers with an exponent."""
_LONGEST_NUMBER = 400
"""Python refuses longer integers one day; every host has turned them into Infinity by then."""
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
_INT = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+")
_FLOAT = re.compile(
    r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_DOCUMENT_END = re.compile(r"^\.\.\.[ \t]*$", re.MULTILINE)
_MERGE = re.compile(r"<<")

for _tag, _shape, _first in (
    ("null", _NULL, ["~", "n", "N", ""]),
    ("bool", _BOOL, list("tTfF")),
    ("int", _INT, list("-+0123456789")),
    ("float", _FLOAT, list("-+.0123456789")),
    ("merge", _MERGE, ["<"]),
):
    _whole = re.compile(rf"(?:{_shape.pattern})\Z")
    for _character in _first:
        _CoreMixin.yaml_implicit_resolvers.setdefault(_character, []).append(
            (f"tag:yaml.org,2002:{_tag}", _whole)
        )

_CoreMixin.yaml_constructors.update(
    {
        "tag:yaml.org,2002:null": _construct_null,
        "tag:yaml.org,2002:bool": _construct_bool,
        "tag:yaml.org,2002:int": _construct_int,
        "tag:yaml.org,2002:float": _construct_float,
        "tag:yaml.org,2002:seq": yaml.SafeLoader.construct_yaml_seq,
        "tag:yaml.org,2002:map": yaml.SafeLoader.construct_yaml_map,
        None: _construct_any,
    }
)
