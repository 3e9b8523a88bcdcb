"""One HTML file about a session, made from what ``--caesar-json`` wrote.

The document comes in, text goes out: views (frozen values) are filled into a Jinja2 template
with the style and the script beside it. Uses ``reporting.results`` and ``reporting.remedies``;
no I/O but reading its own assets, and nothing of a live session.
"""
