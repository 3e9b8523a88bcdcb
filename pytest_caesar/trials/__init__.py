"""Repeats of a test and what they say about a rate: statistics, verdicts, comparisons, many runs.

A trial is one execution of a test, from a fresh repository. The statistics are pure functions
of numbers and import nothing of the project; the verdict is a pure function of the outcomes,
in the order of their numbers. What runs many trials (threads, executors) is beside them and may
use the orchestrator; the pytest session uses this room, never the other way round.
"""
