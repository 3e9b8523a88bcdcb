"""From the text of a diff to the changes that it makes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_caesar.recovery.diffs import changes_of
from pytest_caesar.workspace.repository import Repository

GIT = b"""\
diff --git a/a.txt b/a.txt
index 1111111..2222222 100644
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
 same
--- a/not/a/header
+++ b/not/a/header
diff --git a/empty b/empty
new file mode 100644
index 0000000..e69de29
diff --git a/gone b/gone
deleted file mode 100644
--- a/gone
+++ /dev/null
@@ -1 +0,0 @@
-x
diff --git a/old name b/new name
similarity index 100%
rename from old name
rename to new name
diff --git "a/caf\\303\\251 \\"x\\"" "b/caf\\303\\251 \\"x\\""
old mode 100644
new mode 100755
diff --git a/b.bin b/b.bin
new file mode 100644
index 0000000..f76dd23
GIT binary patch
literal 4
LcmZQzWMT#Y01f~L

literal 0
HcmV?d00001

"""


def told(diff: bytes) -> list[tuple[str, str]]:
    return [(change.path, change.action) for change in changes_of(diff)]


def test_every_kind_of_change_of_a_git_diff_is_read() -> None:
    assert told(GIT) == [
        ("a.txt", "modified"),
        ("empty", "created"),
        ("gone", "deleted"),
        ("new name", "renamed"),
        ('café "x"', "modified"),
        ("b.bin", "created"),
    ]
    assert changes_of(GIT)[3].summary == "renamed from old name"


def test_a_diff_of_another_program_is_read() -> None:
    diff = b"""\
--- old/a.c\t2026-01-01 00:00:00
+++ new/a.c\t2026-01-02 00:00:00
@@ -1 +1 @@
-x
+y
--- /dev/null
+++ b/made.c
@@ -0,0 +1 @@
+z
"""
    assert told(diff) == [("new/a.c", "modified"), ("made.c", "created")]


def test_what_git_itself_prints_is_read(tmp_path: Path) -> None:
    repository = Repository.create(tmp_path / "repo")
    repository.commit({"a b.txt": "one\n" * 30, "é.txt": "x\n", "d.bin": b"\0\1"})
    repository.git("mv", "a b.txt", "c d.txt")
    repository.write("é.txt", "--- x\n+++ y\n")
    repository.write("d.bin", b"\0\2")
    repository.git("add", "-A")
    diff = repository.git("diff", "--cached", "--binary", "-M")
    assert sorted(told(diff.encode())) == [
        ("c d.txt", "renamed"),
        ("d.bin", "modified"),
        ("é.txt", "modified"),
    ]


def test_no_diff_is_no_change() -> None:
    assert changes_of(b"") == changes_of(b"\n\n") == ()


def test_a_text_that_is_no_diff_is_refused() -> None:
    with pytest.raises(ValueError, match="the diff names no file"):
        changes_of(b"I changed a.txt.\n")


@given(
    st.binary(max_size=200)
    | st.lists(st.sampled_from(GIT.split(b"\n")), max_size=20).map(b"\n".join)
)
def test_nothing_but_a_refusal_comes_of_any_bytes(diff: bytes) -> None:
    try:
        changes = changes_of(diff)
    except ValueError:
        return
    assert all(change.path for change in changes)
