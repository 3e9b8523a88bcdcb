"""Who can be run."""
