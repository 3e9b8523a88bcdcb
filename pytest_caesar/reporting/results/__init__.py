"""What a session left as JSON: its cases, several shards as one, two sessions side by side.

Documents of ``--caesar-json`` come in, values and documents go out; pure. Anything in a
document may be absent or of another type, since agents and other versions wrote parts of it.
"""
