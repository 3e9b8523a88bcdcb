"""Results in the forms of a pipeline: summary and annotations, markdown, JUnit.

Cases and comparisons come in, text goes out; pure. Uses ``reporting.results``, and the words
of ``reporting.page``.
"""
