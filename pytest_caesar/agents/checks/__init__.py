"""Checks on agent definitions: what a host would do with a file that its author did not mean.

Definitions and their source come in, complaints with a line go out. Uses the rest of ``agents``.
"""
