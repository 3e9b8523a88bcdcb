"""Snapshots of runs, reports, patches and events, kept in ``__caesar__``."""
