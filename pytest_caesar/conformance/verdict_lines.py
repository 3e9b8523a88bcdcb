"""What people read of the results of one agent: a table, a verdict, what is missing, a badge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from pytest_caesar.conformance.known_failures import BASELINE_NAME, KnownFailures
from pytest_caesar.conformance.profile import NO_PROFILE, PROFILE_NAME, Profile
from pytest_caesar.conformance.requirements import EVERY, LEVELS
from pytest_caesar.conformance.result import Result, Verdict, verdict


def verdict_lines(
    own: Sequence[Result], *, profile: Profile, known: KnownFailures
) -> Iterator[tuple[str, bool]]:
    """Give the lines about one agent at the end of a session, and whether each is bold.

    Args:
        own: its results, one for each requirement.
        profile: what it is for.
        known: failures that are listed.
    """
    found = verdict(own)
    could_not = profile.path is None and any(NO_PROFILE in result.message for result in own)
    if could_not:
        yield NO_PROFILE, True
    for line in table(own):
        yield line, False
    for result in own:
        if EVERY[result.id].kind == "advisory" and result.outcome == "failed":
            yield f"advice {result.id}: {_first_line(result)}", False
    if profile.path is None and not could_not:
        skipped = "what the agent is for is not known, so some of it was skipped"
        yield f"no {PROFILE_NAME} where pytest was started: {skipped}", False
    new = [result.id for result in own if result.outcome == "failed" and result.counts]
    new = [name for name in new if known.knows(name, own[0].agent) is None]
    if new:
        yield f"what cannot be fixed today goes into {BASELINE_NAME}: {' '.join(new)}", False
    yield str(found), True
    for line in how_near(own, found):
        yield line, False
    if found.complete:
        yield badge(found), False


def _first_line(result: Result) -> str:
    return result.message.partition("\n")[0]


MAX_NEAR = 4
"""Requirements that keep a level shut and are named at most."""


def how_near(results: Sequence[Result], found: Verdict) -> list[str]:
    """Say what the next level takes, and what has to be fixed before the harness can judge one."""
    by_id = {result.id: result for result in results}
    lines = []
    level = next((name for name in LEVELS if name in found.missing), None)
    if level is not None and found.complete:
        names = found.missing[level]
        own = [one for one in results if EVERY[one.id].level == level and one.counts]
        passed = sum(one.outcome == "passed" for one in own)
        more = f" and {len(names) - MAX_NEAR} more" if len(names) > MAX_NEAR else ""
        lines.append(
            f"for {level} ({passed} of {len(own)} passed) there is missing: "
            f"{', '.join(names[:MAX_NEAR])}{more}"
        )
        first = by_id[names[0]]
        text = first.message.partition("\n")[0]
        lines.append(f"  {first.id}, {first.outcome}: {text}")
    for level in found.undecided:
        errors = [one for one in results if one.outcome == "error" and EVERY[one.id].level == level]
        text = errors[0].message.strip().rpartition("\n")[2]
        lines.append(f"{level} is not decided: {', '.join(one.id for one in errors)}: {text}")
    return lines


def table(results: Sequence[Result]) -> list[str]:
    """Return the results of one agent as a table by level."""
    columns = ("passed", "failed", "error", "not exercised", "skipped", "advice")
    lines = ["level     " + "".join(f"{name:>15}" for name in columns)]
    for level in LEVELS:
        counts: Counter[str] = Counter()
        for result in results:
            requirement = EVERY[result.id]
            if requirement.level != level:
                continue
            advice = requirement.kind == "advisory" and result.outcome == "failed"
            counts["advice" if advice else result.outcome] += 1
        lines.append(f"{level:<10}" + "".join(f"{counts[name] or '-':>15}" for name in columns))
    return lines


def badge(found: Verdict) -> str:
    """Return a line for a README."""
    text = found.text
    colour = "brightgreen" if found.passed == found.counted else "yellow"
    if found.undecided:
        colour = "lightgrey"
    elif not found.reached:
        colour = "red"
    quoted = quote(text.replace("-", "--").replace(" ", "_"), safe="")
    return (
        f"![{found.title}: {text}](https://img.shields.io/badge/{quote(found.title.replace('-', '--').replace(' ', '_'), safe='')}-"
        f"{quoted}-{colour})"
    )
