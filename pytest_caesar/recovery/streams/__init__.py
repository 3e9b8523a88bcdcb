"""One file for each native JSONL dialect."""
