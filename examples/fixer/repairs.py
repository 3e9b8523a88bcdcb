"""Small edits that could repair one line of Python; pure.

Each one is a defect that people really make, undone: a wrong operator, an index that is
off by one, a missing guard, a wrong variable. Which one is right the tests say.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

COMPARISONS = {
    ast.Lt: ("<", ["<=", ">", ">="]),
    ast.LtE: ("<=", ["<", ">=", ">"]),
    ast.Gt: (">", [">=", "<", "<="]),
    ast.GtE: (">=", [">", "<=", "<"]),
    ast.Eq: ("==", ["!="]),
    ast.NotEq: ("!=", ["=="]),
    ast.In: ("in", ["not in"]),
    ast.NotIn: ("not in", ["in"]),
    ast.Is: ("is", ["is not"]),
    ast.IsNot: ("is not", ["is"]),
}
ARITHMETIC = {
    ast.Add: ("+", ["-"]),
    ast.Sub: ("-", ["+"]),
    ast.Mult: ("*", ["/", "//", "+", "**"]),
    ast.Div: ("/", ["//", "*"]),
    ast.FloorDiv: ("//", ["/", "%"]),
    ast.Mod: ("%", ["//"]),
}
LOGIC = {ast.And: ("and", ["or"]), ast.Or: ("or", ["and"])}
DEFAULTS = ("None", "0", '""', "[]", "{}", "()", "False", "True")
GUARDED = {
    "IndexError",
    "KeyError",
    "ZeroDivisionError",
    "TypeError",
    "AttributeError",
    "ValueError",
}
"""Errors that a missing guard raises."""


@dataclass(frozen=True)
class Repair:
    """One edit of a source file.

    Attributes:
        source: the whole file after it.
        what: what was done, in a few words.
    """

    source: bytes
    what: str


def repairs(source: bytes, line: int, error: str) -> Iterator[Repair]:
    """Return the repairs of one line, the likely ones for this error first, each once."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return
    text = _Text(source)
    nodes = [node for node in ast.walk(tree) if getattr(node, "lineno", None) == line]
    function = _function_around(tree, line)
    guards = list(_guards(text, tree, function, line))
    edits = [*_operators(text, nodes), *_conditions(text, nodes), *_numbers(text, nodes)]
    edits += list(_lookups(text, nodes))
    edits += list(_names(text, nodes, function))
    edits = [*guards, *edits] if error in GUARDED else [*edits, *guards]
    seen = {source}
    for start, end, new, what in edits:
        after = source[:start] + new.encode() + source[end:]
        if after not in seen and _is_python(after):
            seen.add(after)
            yield Repair(after, what)


class _Text:
    """A source file by positions of the syntax tree: lines from 1, columns in bytes."""

    def __init__(self, source):
        self.source = source
        self.starts = [0, 0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))

    def span(self, node):
        start = self.starts[node.lineno] + node.col_offset
        return start, self.starts[node.end_lineno] + node.end_col_offset

    def of(self, node):
        start, end = self.span(node)
        return self.source[start:end].decode()


def _operators(text, nodes):
    for node in nodes:
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            for left, operator, right in zip(sides, node.ops, sides[1:], strict=False):
                yield from _between(text, left, right, COMPARISONS.get(type(operator)))
        elif isinstance(node, ast.BinOp):
            yield from _between(text, node.left, node.right, ARITHMETIC.get(type(node.op)))
        elif isinstance(node, ast.AugAssign):
            yield from _between(text, node.target, node.value, ARITHMETIC.get(type(node.op)))
        elif isinstance(node, ast.BoolOp):
            for left, right in zip(node.values, node.values[1:], strict=False):
                yield from _between(text, left, right, LOGIC[type(node.op)])


def _between(text, left, right, known):
    if known is None:
        return
    old, others = known
    start, end = text.span(left)[1], text.span(right)[0]
    at = text.source.find(old.encode(), start, end)
    if at >= 0:
        for new in others:
            yield at, at + len(old), new, f"{old} became {new}"


def _conditions(text, nodes):
    for node in nodes:
        if isinstance(node, ast.If | ast.While | ast.IfExp):
            start, end = text.span(node.test)
            yield start, end, f"not ({text.of(node.test)})", "the condition was turned round"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield *text.span(node), text.of(node.operand), "a negation was removed"


def _numbers(text, nodes):
    for node in nodes:
        if isinstance(node, ast.Constant) and type(node.value) is int:
            for value in (node.value - 1, node.value + 1, 0):
                yield *text.span(node), str(value), f"{node.value} became {value}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
            yield *text.span(node), str(not node.value), f"{node.value} became {not node.value}"
        elif isinstance(node, ast.Call) and text.of(node.func) == "range":
            for argument in node.args:
                for step in ("+ 1", "- 1"):
                    new = f"{text.of(argument)} {step}"
                    yield *text.span(argument), new, f"the range ends at {new}"


def _lookups(text, nodes):
    for node in nodes:
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load):
            continue
        index = text.of(node.slice)
        if not isinstance(node.slice, ast.Slice | ast.Constant):
            for step in ("- 1", "+ 1"):
                yield *text.span(node.slice), f"{index} {step}", f"the index became {index} {step}"
        if not isinstance(node.slice, ast.Slice):
            for default in ("", *(f", {default}" for default in DEFAULTS[1:])):
                new = f"{text.of(node.value)}.get({index}{default})"
                yield *text.span(node), new, f"a missing key gives {default[2:] or None}"


def _guards(text, tree, function, line):
    """Answer with a default where a name is empty, None or zero."""
    if function is None:
        return
    local = _local_names(function)
    for node in ast.walk(tree):
        value = getattr(node, "value", None)
        if not isinstance(node, ast.Return | ast.Assign) or value is None:
            continue
        if not node.lineno <= line <= (node.end_lineno or 0):
            continue
        names = {part.id: None for part in ast.walk(value) if isinstance(part, ast.Name)}
        for name in names:
            if name in local:
                for default in (*DEFAULTS, name):
                    new = f"{text.of(value)} if {name} else {default}"
                    yield *text.span(value), new, f"guarded against an empty {name}"


def _names(text, nodes, function):
    if function is None:
        return
    local = _local_names(function)
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in local:
            for name in sorted(local - {node.id}):
                yield *text.span(node), name, f"{node.id} became {name}"


def _local_names(function):
    arguments = {node.arg for node in ast.walk(function) if isinstance(node, ast.arg)}
    stored = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return arguments | stored


def _function_around(tree, line):
    found = None
    for node in ast.walk(tree):
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        # Breadth first: the innermost comes last.
        if inside and node.lineno <= line <= (node.end_lineno or 0):
            found = node
    return found


def _is_python(source):
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True
