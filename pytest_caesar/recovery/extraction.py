"""Find the report in what an agent printed: fenced block first, then a self-declared object."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from caesar_agent.diagnostics import Diagnostic
from caesar_agent.documents.report import Report
from pytest_caesar.recovery.candidates import Candidate, Kind, Passage
from pytest_caesar.recovery.decoding import Reading, canonical, read_report
from pytest_caesar.recovery.echo import Echo
from pytest_caesar.recovery.evidence import Form
from pytest_caesar.recovery.scanning import Span, Survey

MAX_CANDIDATES = 10_000
"""Places of one form that are looked at, the last ones first; a log with more is hostile."""

MAX_OBJECT_BYTES = 16 * 1024 * 1024
"""Size of one object in a log that is still decoded; bounds the memory of recovery."""

MAX_TOLD = 3
"""Broken reports that are told one by one; the rest is told as a number."""

_PROSE_AFTER = 80
"""Bytes after the opening line of an empty block that are compared with the brief."""

_FOLLOWING = 512
"""Bytes after a broken report that are compared with the brief."""

_PROTOCOL = re.compile(rb'"protocol"\s*:\s*"(caesar[^"\n]{0,60})')
_PREFIXED = re.compile(rb'\{[ \t\r]*\n[^{}"\n]{0,256}[^{}"\s][ \t]*"protocol"')
_OTHER_DOCUMENT = re.compile(rb'\{\s*"protocol"\s*:\s*"caesar\.(?!report)')
_TASK_ID = re.compile(rb'"task_id"\s*:\s*"([^"\\\n]{1,200})"')

_FORMS: tuple[Form, ...] = ("fence", "object")


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """What a log had to say.

    Attributes:
        chosen: the last valid report of the better form, or None.
        superseded: a newer or better one could not be read.
        broken: some report could not be read, whether or not one was chosen.
        diagnostics: what was seen and did not count, newest first.
    """

    chosen: Candidate | None = None
    superseded: bool = False
    broken: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def report(self) -> Report | None:
        """The report that was chosen."""
        return self.chosen.reading.report if self.chosen else None


def extract(passages: Sequence[Passage], *, echo: Echo, task_id: str) -> Extraction:
    """Choose the report among the passages of a log.

    Args:
        passages: in the order in which they were printed; those that are verbatim
            may hold the others.
        echo: what the brief looks like when it is repeated.
        task_id: the task whose report is looked for; "" accepts any.
    """
    groups = (
        [passage for passage in passages if passage.verbatim],
        [passage for passage in passages if not passage.verbatim],
    )
    search = _Search(echo, task_id)
    for group in groups:
        search.look_through(group)
    return _decide(search)


class _Search:
    """Looks for the last report of each form, and keeps what it passed on the way."""

    def __init__(self, echo: Echo, task_id: str) -> None:
        self.seen: dict[Form, list[Candidate]] = {"fence": [], "object": []}
        self.chosen: dict[Form, Candidate] = {}
        self.capped = False
        self._echo = echo
        self._task_id = task_id
        self._looked: Counter[Form] = Counter()

    def look_through(self, passages: Sequence[Passage]) -> None:
        """Go through passages that do not hold each other, the last one first."""
        wanted = set(_FORMS)
        for passage in reversed(passages):
            if not wanted:
                break
            survey = Survey(passage.text)
            wanted -= {
                form for form in _FORMS if form in wanted and self._ends(form, survey, passage)
            }

    def _ends(self, form: Form, survey: Survey, passage: Passage) -> bool:
        """Say whether what comes before this passage cannot matter any more."""
        last = self.chosen.get(form)
        for span in _places(form, survey):
            if form == "object" and (
                passage.excludes(span.start) or _OTHER_DOCUMENT.match(survey.text, span.start)
            ):
                continue  # nor does it count as looked at: events come by the thousand
            if self._looked[form] == MAX_CANDIDATES:
                self.capped = True
                return True
            self._looked[form] += 1
            candidate = _judge(form, span, survey, passage, self._echo, self._task_id)
            if last is not None and candidate.order < last.order:
                return True
            if candidate.kind == "report":
                self.chosen[form] = candidate
                return True
            self.seen[form].append(candidate)
        return False


def _places(form: Form, survey: Survey) -> Iterator[Span]:
    """Yield where reports of one form may stand, the last one first."""
    if form == "object":
        yield from survey.objects_backwards()
        return
    for block in survey.blocks_backwards():
        if not block.spans:
            yield Span(block.start, block.end, closed=False)
        yield from reversed(block.spans)


def _judge(
    form: Form, span: Span, survey: Survey, passage: Passage, echo: Echo, task_id: str
) -> Candidate:
    excerpt = survey.excerpt(span)
    if not excerpt.startswith(b"{"):
        excerpt = survey.text[span.start : span.end + _PROSE_AFTER]
        reading = Reading(flaw="malformed", problem="no JSON object follows its opening line")
    elif span.closed and len(excerpt) > MAX_OBJECT_BYTES:
        reading = Reading(flaw="malformed", problem=f"it is larger than {MAX_OBJECT_BYTES} bytes")
    elif span.closed:
        reading = read_report(excerpt, task_id=task_id)
    else:
        cut = "the log ends" if span.end == len(survey.text) else "it breaks off"
        reading = Reading(flaw="malformed", problem=f"{cut} before the object is closed")
    if reading.flaw == "malformed" and _PREFIXED.match(excerpt):
        reading = replace(
            reading, problem="its lines begin with what is not part of it, as a logger puts there"
        )
    start, end = passage.start, passage.end
    following = survey.text[span.end : span.end + _FOLLOWING]
    kind = _kind(form, reading, (excerpt, following), echo, task_id)
    if kind != "report":
        # Ten thousand decoded values would outweigh the log they came from.
        reading = replace(reading, value=None)
    if passage.verbatim:
        start, end = passage.start + span.start, passage.start + span.end
    return Candidate(
        kind=kind,
        form=form,
        reading=reading,
        order=(start if span.closed or not passage.verbatim else end, span.start),
        passage=passage,
        offset=span.start,
        start=start,
        end=end,
    )


def _kind(
    form: Form, reading: Reading, texts: tuple[bytes, bytes], echo: Echo, task_id: str
) -> Kind:
    excerpt, following = texts
    if reading.flaw is None:
        return "echo" if echo.is_shown(reading.value) else "report"
    if reading.flaw == "foreign":
        return "foreign"
    if reading.value is not None and echo.is_shown(reading.value):
        return "echo"
    declares = _declares_report(reading.value, excerpt)
    if (form == "object" or reading.flaw == "version") and not declares:
        return "other"
    if reading.flaw == "version":
        return "version"
    if echo.holds(excerpt, following):
        return "echo"
    named = _TASK_ID.search(excerpt)
    if named and task_id and named.group(1) != task_id.encode("utf-8", "surrogatepass"):
        return "foreign"
    return "broken"


def _declares_report(value: object, excerpt: bytes) -> bool:
    """Say whether an object is meant as a report of some version."""
    if isinstance(value, dict):
        return str(value.get("protocol")).startswith("caesar.report")
    # What is torn may hold other documents; any report in it makes it one.
    return any(match[1].startswith(b"caesar.report") for match in _PROTOCOL.finditer(excerpt))


def _decide(search: _Search) -> Extraction:
    seen, chosen = search.seen, search.chosen
    fence, bare = chosen.get("fence"), chosen.get("object")
    best = fence or bare
    unread = [c for form in seen.values() for c in form if c.kind in {"broken", "version"}]
    if best is not None:
        # A later one, or one of the better form.
        better = "fence" if best.form == "object" else None
        unread = [c for c in unread if c.order > best.order or c.form == better]
    unread.sort(key=lambda c: c.order, reverse=True)
    diagnostics = [*_told(unread), *_ignored(seen)]
    if fence and bare and bare.order > fence.order and _differ(fence, bare):
        diagnostics.append(
            Diagnostic(
                code="report-conflict",
                message=f"a later object outside the block says {_status(bare)} where the block "
                f"says {_status(fence)}; a block counts before an object",
            )
        )
    if search.capped:
        diagnostics.append(
            Diagnostic(
                code="report-candidates-capped",
                message=f"more than {MAX_CANDIDATES} places look like a report; "
                "the older ones were not looked at",
            )
        )
    return Extraction(
        chosen=best,
        superseded=best is not None and bool(unread),
        broken=bool(unread),
        diagnostics=tuple(diagnostics),
    )


def _told(unread: list[Candidate]) -> list[Diagnostic]:
    told = []
    for candidate in unread[:MAX_TOLD]:
        what = "caesar:report block" if candidate.form == "fence" else "report object"
        where = f"at {candidate.place}"
        if candidate.kind == "version":
            code, text = "report-version", f"unsupported version of a report {where}"
        else:
            code, text = "report-malformed", f"malformed {what} {where}"
            if candidate.reading.flaw == "invalid":
                code, text = "report-invalid", f"invalid {what} {where}"
        told.append(Diagnostic(code=code, message=f"{text}: {candidate.reading.problem}"))
    if len(unread) > MAX_TOLD:
        told.append(
            Diagnostic(
                code="report-malformed",
                message=f"{len(unread) - MAX_TOLD} more reports could not be read",
            )
        )
    return told


def _ignored(seen: dict[Form, list[Candidate]]) -> list[Diagnostic]:
    ignored = [candidate for form in seen.values() for candidate in form]
    told = []
    foreign = [candidate for candidate in ignored if candidate.kind == "foreign"]
    if foreign:
        told.append(
            Diagnostic(
                code="report-of-another-task",
                message=f"{len(foreign)} of another task, such as at {foreign[0].place}: "
                f"{foreign[0].reading.problem or 'it names another task'}",
            )
        )
    echoes = [candidate for candidate in ignored if candidate.kind == "echo"]
    if echoes:
        told.append(
            Diagnostic(
                code="report-echoes-brief",
                message=f"the example of the brief stands in the log at {echoes[0].place}; "
                "it is not an answer",
            )
        )
    return told


def _differ(one: Candidate, two: Candidate) -> bool:
    return canonical(one.reading.value) != canonical(two.reading.value)


def _status(candidate: Candidate) -> str:
    report = candidate.reading.report
    return report.status if report else "nothing"
