"""Snapshots of runs, reports, patches and events, kept in ``__caesar__``.

Values come in, normalised files and differences go out, by way of syrupy. Uses runs and
reporting; what it must know of the session is a value of its own.
"""
