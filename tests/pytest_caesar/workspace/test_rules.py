"""The rules of many files as one, compared with git's own reading of the many."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_caesar.workspace.git import Git
from pytest_caesar.workspace.repository import Repository
from pytest_caesar.workspace.repository_state import check_ignored
from pytest_caesar.workspace.rules import merge_attribute_rules, merge_ignore_rules

PATHS = [
    *("a", "b", "a.log", "keep.log", "d/a", "d/a.log", "d/keep.log", "d/e/a", "d/e/a.log"),
    *("d/e/f/a", "x y/a", "x y/a.log", "g[1]/a", "g[1]/b*", "g1/a", "!bang", "#hash", "d/ space "),
]
FOLDERS = ["", "d", "d/e", "x y", "g[1]"]
PATTERNS = [
    *(
        "*",
        "a",
        "/a",
        "*.log",
        "!keep.log",
        "d",
        "d/",
        "e/",
        "/e",
        "e/a",
        "**/a",
        "d/**",
        "**/e/**",
    ),
    *("!a", "!*.log", "a*", "[ab]", "\\!bang", "\\#hash", "#comment", "", "  ", "a ", "a\\ ", "/*"),
    # What git reads otherwise than it looks.
    *(
        "/",
        "!/",
        "!",
        "//",
        "a\r\r",
        "a \r",
        "a\0b",
        "\0",
        "a\\",
        "a  \\ ",
        "d//",
        "\\ ",
        "[",
        "***",
    ),
    *("!/d", "e/*", "!e/f", "b\\*", "a\r", " space ", " space\\ ", "x y", "?"),
]


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rules")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    files=st.dictionaries(
        st.sampled_from(FOLDERS), st.lists(st.sampled_from(PATTERNS), max_size=4), max_size=4
    )
)
def test_one_exclude_file_ignores_what_the_many_ignore(
    room: Path, files: dict[str, list[str]]
) -> None:
    import tempfile

    many = Repository.create(Path(tempfile.mkdtemp(dir=room)))
    one = Repository.create(Path(tempfile.mkdtemp(dir=room)))
    texts = []
    for folder, patterns in files.items():
        text = "\n".join(patterns) + "\n"
        many.write(f"{folder}/.gitignore" if folder else ".gitignore", text)
        texts.append((folder.encode(), text.encode()))
    (one.path / ".git" / "info" / "exclude").write_bytes(merge_ignore_rules(texts))
    for repository in (many, one):
        for path in PATHS:
            repository.write(path, "")
    paths = [path.encode() for path in PATHS]
    expected = check_ignored(Git(many.path, isolated=True), paths)
    assert check_ignored(Git(one.path, isolated=True), paths) == expected


ATTRIBUTE_LINES = [
    *("* text", "*.log -text", "a eol=lf", "/a eol=crlf", "e/a text=auto", "# no", ""),
    *(
        '"x y/a" eol=lf',
        "d/* !text",
        "**/a ident",
        "[attr]mine text eol=lf",
        "a mine",
        "*.log binary",
    ),
    *("!a text", '"a\\tb" text', "  a text", "keep.log\ttext  eol=lf"),
]


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    files=st.dictionaries(
        st.sampled_from(FOLDERS), st.lists(st.sampled_from(ATTRIBUTE_LINES), max_size=4), max_size=4
    )
)
def test_one_attributes_file_says_what_the_many_say(
    room: Path, files: dict[str, list[str]]
) -> None:
    import tempfile

    many = Repository.create(Path(tempfile.mkdtemp(dir=room)))
    one = Repository.create(Path(tempfile.mkdtemp(dir=room)))
    texts = []
    for folder, lines in files.items():
        text = "\n".join(lines) + "\n"
        many.write(f"{folder}/.gitattributes" if folder else ".gitattributes", text)
        texts.append((folder.encode(), text.encode()))
    (one.path / ".git" / "info" / "attributes").write_bytes(merge_attribute_rules(texts))

    def says(repository: Repository) -> bytes:
        stdin = b"".join(path.encode() + b"\0" for path in PATHS)
        git = Git(repository.path, isolated=True)
        asked = ("text", "eol", "ident", "filter", "working-tree-encoding")
        return git.run("check-attr", "-z", "--stdin", *asked, stdin=stdin).stdout

    assert says(one) == says(many)


def test_attributes_of_an_agent_find_no_room(tmp_path: Path) -> None:
    repo = Repository.create(tmp_path / "repo")
    info = repo.path / ".git" / "info" / "attributes"
    info.write_bytes(merge_attribute_rules([(b"", b"*.md text\n")]))
    repo.write(".gitattributes", "* -text eol=crlf filter=x binary\n*.md -text\n")
    git = Git(repo.path, isolated=True)
    said = git.run("check-attr", "text", "eol", "filter", "binary", "--", "a.md", "b.txt").lines
    assert said == [
        "a.md: text: set",
        "a.md: eol: unspecified",
        "a.md: filter: unspecified",
        "a.md: binary: unspecified",
        "b.txt: text: unspecified",
        "b.txt: eol: unspecified",
        "b.txt: filter: unspecified",
        "b.txt: binary: unspecified",
    ]
