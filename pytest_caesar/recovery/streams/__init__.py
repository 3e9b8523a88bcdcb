"""The native JSON streams of known command lines, one module a dialect.

Lines of a log come in; events, the agent's own words, its tool calls and its usage go out. Pure:
documents and nothing else of the harness. ``dialects`` has them all by name.
"""
