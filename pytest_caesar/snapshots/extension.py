"""How syrupy stores our kinds: one file each, in ``__caesar__/<module>/``."""

from __future__ import annotations

import os
import secrets
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syrupy.data import SnapshotCollection, SnapshotCollections
from syrupy.extensions.single_file import SingleFileSnapshotExtension

from pytest_caesar.settings.file_names import belongs, file_name, file_stem, possible_stems
from pytest_caesar.settings.trial_parameter import without_trial
from pytest_caesar.snapshots.executed_tests import EXECUTED, OUR_FOLDER
from pytest_caesar.snapshots.serialisation import KINDS

if TYPE_CHECKING:
    from syrupy.location import PyTestLocation
    from syrupy.types import SerializedData, SnapshotIndex

FOLDER = OUR_FOLDER


class CaesarExtension(SingleFileSnapshotExtension):
    """Keeps the bytes that it is given; claims only files of tests that ran to their end."""

    snapshot_dirname = FOLDER
    # At the end of the session: what a test wrote that failed afterwards is taken back.
    write_immediately = False
    file_extension = "value.json"

    def serialize(self, data: Any, **_: Any) -> SerializedData:
        """Return the bytes as they are: the fixture has made them."""
        return bytes(data)

    @classmethod
    def dirname(cls, *, test_location: PyTestLocation) -> str:
        """Return the folder of a module's snapshots."""
        module = Path(test_location.filepath)
        return str(module.parent / FOLDER / module.stem)

    @classmethod
    def discovery_dirname(cls, *, test_location: PyTestLocation) -> str:
        """Return the folder of all snapshots beside a module."""
        return str(Path(test_location.filepath).parent / FOLDER)

    @classmethod
    def get_snapshot_name(cls, *, test_location: PyTestLocation, index: SnapshotIndex = 0) -> str:
        """Return the file's name without its kind."""
        return file_name(_stem(test_location), index)

    @classmethod
    def matches_test_location(
        cls, *, test_location: PyTestLocation, snapshot_location: str
    ) -> bool:
        """Tell whether the file belongs to this very test."""
        path = Path(snapshot_location)
        return path.parent == Path(cls.dirname(test_location=test_location)) and belongs(
            path.name.removesuffix(f".{cls.file_extension}"), _stem(test_location)
        )

    def discover_snapshots(
        self, *, test_location: PyTestLocation, ignore_extensions: list[str] | None = None
    ) -> SnapshotCollections:
        """Return the files of tests beside this one that ran to their end in this session."""
        found = SnapshotCollections()
        config = getattr(test_location.item, "config", None)
        executed = config.stash.get(EXECUTED, None) if config is not None else None
        if executed is None:
            return found
        ending = f".{self.file_extension}"
        if ending.rpartition(".")[2] in (ignore_extensions or ()):
            return found
        root = Path(self.discovery_dirname(test_location=test_location))
        for folder, stems in executed.stems_beside(root.parent).items():
            for name in _names(root / folder):
                if name.endswith(ending):
                    possible = possible_stems(name.removesuffix(ending))
                    if not stems.isdisjoint(possible):
                        found.add(
                            self.read_snapshot_collection(
                                snapshot_location=str(root / folder / name)
                            )
                        )
        return found

    def read_snapshot_data_from_location(
        self,
        *,
        snapshot_location: str,
        snapshot_name: str,  # noqa: ARG002 - syrupy passes it
        session_id: str,  # noqa: ARG002 - as above
    ) -> bytes | None:
        """Return the bytes of a file, or None when there is none."""
        try:
            return Path(snapshot_location).read_bytes()
        except FileNotFoundError:
            return None

    @classmethod
    def write_snapshot(cls, **arguments: Any) -> None:
        """Write without the guess of syrupy 6 whether file and test belong together.

        It knows nothing of how we shorten awkward names; ``matches_test_location``, which
        syrupy 7 asks, does.
        """
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r"\s*Can not relate snapshot")
            super().write_snapshot(**arguments)

    @classmethod
    def write_snapshot_collection(
        cls,
        *,
        snapshot_collection: SnapshotCollection,
        name_order: dict[str, int] | None = None,  # noqa: ARG003 - syrupy 7 passes it
    ) -> None:
        """Write a file whole or not at all."""
        path = Path(snapshot_collection.location)
        data = next(iter(snapshot_collection)).data
        assert isinstance(data, bytes)
        temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
        try:
            temporary.write_bytes(data)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _stem(location: PyTestLocation) -> str:
    item = location.item  # one snapshot for all trials of a test
    return file_stem(
        without_trial(item, location.nodeid), without_trial(item, str(location.nodename))
    )


def _names(folder: Path) -> list[str]:
    try:
        return sorted(os.listdir(folder))  # noqa: PTH208 - names are all that is needed
    except (FileNotFoundError, NotADirectoryError):
        return []


class RunExtension(CaesarExtension):
    """A whole run, as a page."""

    file_extension = KINDS["run"]


class ReportExtension(CaesarExtension):
    """A report."""

    file_extension = KINDS["report"]


class PatchExtension(CaesarExtension):
    """A patch, byte for byte."""

    file_extension = KINDS["patch"]


class EventsExtension(CaesarExtension):
    """The events of a run."""

    file_extension = KINDS["events"]


class EvidenceExtension(CaesarExtension):
    """The evidence of a task unit."""

    file_extension = KINDS["evidence"]


class MessagesExtension(CaesarExtension):
    """What orchestrator and agent said to each other."""

    file_extension = KINDS["messages"]


EXTENSIONS: dict[str, type[CaesarExtension]] = {
    "run": RunExtension,
    "report": ReportExtension,
    "patch": PatchExtension,
    "events": EventsExtension,
    "evidence": EvidenceExtension,
    "messages": MessagesExtension,
    "value": CaesarExtension,
}
