"""Programs that stand in for real CLIs where these are not installed."""
