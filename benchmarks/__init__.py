"""Figures of the design, each a ratio or a difference taken side by side in one run."""
