"""Recordings of delegations, kept beside the tests and played back without the agent."""
