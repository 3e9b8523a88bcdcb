"""How often something held among trials, as a value that compares and explains itself."""

from __future__ import annotations

import functools
from fractions import Fraction

from pytest_caesar.trials.intervals import Interval
from pytest_caesar.trials.pass_at import pass_all, pass_at
from pytest_caesar.trials.rate_gate import Verdict
from pytest_caesar.trials.table import percent, rate_words


@functools.total_ordering
class Rate:
    """How often a check held; compares with a number as the fraction that it is.

    Args:
        verdict: of the trials.
        causes: lines on the trials for which it did not hold.
    """

    def __init__(self, verdict: Verdict, causes: tuple[str, ...] = ()) -> None:
        if verdict.rate is None:
            raise ValueError("a rate of no trials: expected one that counts, or more")
        self._verdict = verdict
        self._rate: Fraction = verdict.rate
        self._causes = causes

    @property
    def successes(self) -> int:
        """Trials for which the check held."""
        return self._verdict.successes

    @property
    def counted(self) -> int:
        """Trials that the rate is of; errors of the harness are not."""
        return self._verdict.counted

    @property
    def errors(self) -> int:
        """Trials that were errors of the harness."""
        return self._verdict.errors

    @property
    def interval(self) -> Interval:
        """Wilson's 95 % interval."""
        return self._verdict.interval

    def pass_at(self, k: int) -> float | None:
        """Estimate how often at least one of ``k`` attempts succeeds; None with fewer trials."""
        return pass_at(k, self.successes, self.counted)

    def pass_all(self, k: int) -> float | None:
        """Estimate how often all of ``k`` attempts succeed; None with fewer trials."""
        return pass_all(k, self.successes, self.counted)

    def __float__(self) -> float:
        return float(self._rate)

    def __eq__(self, other: object) -> bool:
        number = _fraction(other)
        return NotImplemented if number is None else self._rate == number

    def __lt__(self, other: object) -> bool:
        number = _fraction(other)
        return NotImplemented if number is None else self._rate < number

    def __hash__(self) -> int:
        return hash(self._rate)

    def __repr__(self) -> str:
        errors = f", {self.errors} errors of the harness" if self.errors else ""
        three = self.pass_all(3)
        together = "" if three is None else f", 3 of 3: {percent(three)}"
        causes = "".join(f"; {cause}" for cause in self._causes)
        return f"<Rate: {rate_words(self._verdict)}{together}{errors}{causes}>"


def _fraction(value: object) -> Fraction | None:
    """Return a number as it is written: 0.8 is four fifths."""
    if isinstance(value, Rate):
        return value._rate  # noqa: SLF001 - of its own kind
    if isinstance(value, int | Fraction):
        return Fraction(value)
    return Fraction(str(value)) if isinstance(value, float) else None
