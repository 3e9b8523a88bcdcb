"""From text and files to a report."""
