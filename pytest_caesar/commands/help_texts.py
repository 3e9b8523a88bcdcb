"""What is said of fields and of pytest's options, in the options of these commands."""

from __future__ import annotations

import re

_SPOKEN = (
    (r"--caesar-subprocess \(or subprocess=True\)", "--subprocess"),
    (r"--caesar-subprocess", "--subprocess"),
    (r"\bsandbox '(\w+)'", r"--sandbox \1"),
    (r"--caesar-runner=NAME", "--runner NAME"),
    (r"--caesar-runner", "--runner"),
    (r"--caesar-pass-env \(or caesar_pass_env\)", "--pass-env"),
    (r"--caesar-pass-env=(\S+)", r"--pass-env \1"),
    (r"--caesar-pass-env\b", "--pass-env"),
    (r", or use caesar_model$", ""),
    (r'--caesar-agent="', '"'),
    (r"\bbase_ref and placed\b", "--base-ref and --placed"),
    (r"\bbase_ref\b", "--base-ref"),
    (r"\bworkspace=", "--workspace"),
    (r"\bisolation '(worktree|inplace)'", r"--isolation \1"),
    (r"\bthe timeout is\b", "--deadline is"),
)


def in_options(text: str) -> str:
    """Say with the options of ``pytest-caesar`` what a message says with others."""
    for pattern, option in _SPOKEN:
        text = re.sub(pattern, option, text)
    return text
