"""Questions and answers of one task, as files: ``questions/<id>.json``, ``answers/<id>.json``.

What others wrote there is hostile until ``values`` has read it. Uses documents, events and the
task directory.
"""
