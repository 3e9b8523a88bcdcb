"""Programs that misbehave, run as agents by the tests beside this folder."""
