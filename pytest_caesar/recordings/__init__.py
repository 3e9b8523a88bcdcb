"""Recordings of delegations, kept beside the tests and played back without the agent.

A run comes in and becomes a folder of text files; a folder comes in and stands in for the agent.
Uses runs, the orchestrator whose agent it stands in for, workspace and the settings.
"""
