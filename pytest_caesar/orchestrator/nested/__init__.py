"""Agents that ask for other agents while they run.

Files that an agent wrote come in, runs of other agents and their results go out. Uses the
orchestrator's values; it is handed what makes an orchestrator.
"""
