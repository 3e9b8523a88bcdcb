"""The fake orchestrator: from a task to a run."""
