"""The real CLIs against the scripted model: ``make clis`` installs them and runs these."""
