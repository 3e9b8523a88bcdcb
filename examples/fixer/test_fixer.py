"""A repair agent under test: pytest --caesar-agent=agent:main"""

READER = {
    "src/reader.py": "def parse(text):\n    return text[0]\n",
    "tests/test_reader.py": (
        "from reader import parse\n\n"
        "def test_letter():\n    assert parse('abc') == 'a'\n\n"
        "def test_empty():\n    assert parse('') is None\n"
    ),
}

AGES = {
    "ages.py": (
        "def is_adult(age):\n    return age > 18\n\n\n"
        "def youngest(ages):\n    low = ages[0]\n    for age in ages:\n"
        "        if age > low:\n            low = age\n    return low\n"
    ),
    "test_ages.py": (
        "import unittest\nfrom ages import is_adult, youngest\n\n"
        "class Ages(unittest.TestCase):\n"
        "    def test_child(self):\n        self.assertFalse(is_adult(17))\n"
        "    def test_birthday(self):\n        self.assertTrue(is_adult(18))\n"
        "    def test_youngest(self):\n        self.assertEqual(youngest([3, 1, 2]), 1)\n"
    ),
}


def contents(run, path):
    return (run.workspace / path).read_text()


def test_a_missing_guard_is_found_and_added(caesar_repo, caesar_orchestrator, caesar_snapshot):
    caesar_repo.commit(READER)

    run = caesar_orchestrator.delegate(
        "Fix the reader on empty input", acceptance_criteria=["the tests pass"]
    )

    assert run.succeeded
    assert run.source == "file"
    assert run.diagnostics == ()
    assert [entry.path for entry in run.reconciliation.matched] == ["src/reader.py"]
    assert contents(run, "src/reader.py") == (
        "def parse(text):\n    return text[0] if text else None\n"
    )
    assert run.patch == caesar_snapshot


def test_two_wrong_operators_are_found_though_nothing_was_raised(caesar_repo, caesar_orchestrator):
    caesar_repo.commit(AGES)

    run = caesar_orchestrator.delegate("Make the tests pass")

    assert run.succeeded
    assert run.summary == "2 tests fixed, all 3 tests pass."
    assert "return age >= 18" in contents(run, "ages.py")
    assert "if age < low:" in contents(run, "ages.py")
    assert run.declared.model_extra["outputs"]["fixed"] == [
        "test_ages.py::Ages::test_birthday",
        "test_ages.py::Ages::test_youngest",
    ]


def test_tests_that_are_written_for_pytest_are_understood(caesar_repo, caesar_orchestrator):
    caesar_repo.commit(
        {
            "pyproject.toml": '[tool.pytest.ini_options]\naddopts = "-x --no-such-option"\n',
            "clamp.py": "def clamp(value, low, high):\n    return min(max(value, low), high - 1)\n",
            "tests/test_clamp.py": (
                "import pytest\nfrom clamp import clamp\n\n"
                "@pytest.fixture\ndef low():\n    return 0\n\n"
                "@pytest.mark.parametrize(('value', 'expected'), [(-5, 0), (5, 5), (50, 9)])\n"
                "def test_clamp(low, value, expected):\n"
                "    assert clamp(value, low, 9) == expected\n"
            ),
            "conftest.py": "",
        }
    )

    run = caesar_orchestrator.delegate("Make the tests pass")

    assert run.succeeded
    assert run.summary == "1 test fixed, all 3 tests pass."
    assert "high - 0" in contents(run, "clamp.py")


def test_its_work_is_on_the_record(caesar_repo, caesar_orchestrator):
    caesar_repo.commit(READER)

    run = caesar_orchestrator.delegate("Fix it")

    assert [command.exit_code for command in run.declared.commands_run] == [1, 0]
    (defect,) = run.declared.findings
    assert (defect.file, defect.line) == ("src/reader.py", 2)
    assert "+    return text[0] if text else None" in defect.detail
    assert [event.type for event in run.events if event.type == "tool_use"] == ["tool_use"] * 4
    assert run.events.of_type("progress")


def test_where_nothing_fails_nothing_is_touched(caesar_repo, caesar_orchestrator):
    caesar_repo.commit({"test_fine.py": "def test_fine():\n    assert True\n"})

    run = caesar_orchestrator.delegate("Fix it")

    assert run.succeeded
    assert run.summary == "All 1 tests pass; there is nothing to fix."
    assert run.changes == ()


def test_what_it_cannot_repair_it_leaves_as_it_was_and_says_where_to_look(
    caesar_repo, caesar_orchestrator
):
    caesar_repo.commit(
        {
            "prime.py": "def is_prime(number):\n    raise NotImplementedError\n",
            "test_prime.py": (
                "from prime import is_prime\n\n"
                "def test_prime():\n    assert [n for n in range(9) if is_prime(n)] == [2, 3, 5, 7]\n"
            ),
        }
    )

    run = caesar_orchestrator.delegate("Fix it")

    assert run.status == "failed"
    assert run.outcome.exit_code == 1
    assert run.changes == ()
    assert [finding.file for finding in run.declared.findings[1:]] == ["prime.py"]
    assert run.declared.next_steps == ("Repair test_prime.py::test_prime by hand",)


def test_what_is_repaired_in_part_is_called_partial(caesar_repo, caesar_orchestrator):
    caesar_repo.commit(READER | {"test_hopeless.py": "def test_hopeless():\n    assert 1 == 2\n"})

    run = caesar_orchestrator.delegate("Fix it")

    assert run.status == "partial"
    assert run.summary == "1 test fixed, 1 still failing."
    assert run.declared.next_steps == ("Repair test_hopeless.py::test_hopeless by hand",)
    assert [change.path for change in run.changes] == ["src/reader.py"]


def test_an_objective_that_names_tests_means_these(caesar_repo, caesar_orchestrator):
    caesar_repo.commit(READER | {"test_hopeless.py": "def test_hopeless():\n    assert 1 == 2\n"})

    run = caesar_orchestrator.delegate("Make `tests/test_reader.py` pass.")

    assert run.succeeded
    assert run.summary == "1 test fixed, all 2 tests pass."


def test_a_read_only_task_gets_a_diagnosis(caesar_repo, caesar_orchestrator):
    caesar_repo.commit(READER)

    run = caesar_orchestrator.delegate("What is wrong?", mode="read-only")

    assert run.status == "partial"
    assert run.changes == ()
    fails, suspect = run.declared.findings
    assert fails.detail == "IndexError: string index out of range"
    assert (suspect.file, suspect.line) == ("src/reader.py", 2)


def test_an_edit_that_never_ends_does_not_hold_it(caesar_repo, caesar_orchestrator):
    caesar_repo.commit(
        {
            "count.py": (
                "def count(limit):\n    number = 0\n    while number < limit - 1:\n"
                "        number += 1\n    return number\n"
            ),
            "test_count.py": "from count import count\n\ndef test_count():\n    assert count(3) == 3\n",
        }
    )

    run = caesar_orchestrator.delegate("Fix it")

    assert run.succeeded


def test_a_repository_without_tests_is_said_to_have_none(caesar_repo, caesar_orchestrator):
    caesar_repo.commit({"README.md": "nothing here\n"})

    run = caesar_orchestrator.delegate("Fix it")

    assert run.status == "failed"
    assert run.summary.startswith("There is no test")


def test_when_time_runs_out_no_edit_stays_behind(caesar_repo, caesar_orchestrator):
    lines = "".join(f"    total = total + {number}\n" for number in range(40))
    caesar_repo.commit(
        {
            "long.py": f"def compute(total):\n{lines}    return total\n",
            "test_long.py": "from long import compute\n\ndef test():\n    assert compute(0) == -1\n",
        }
    )

    run = caesar_orchestrator.delegate("Fix it", timeout=6)

    assert run.status == "failed"
    assert not run.outcome.timed_out
    assert run.changes == ()
