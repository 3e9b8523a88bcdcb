"""What a session was asked for: options, ini keys, the marker, and the files of a test.

pytest's configuration comes in, frozen values go out. Uses agents and the orchestrator's settings;
what records, compares or runs reads it from here.
"""
