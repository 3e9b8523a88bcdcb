"""What a scripted model knows of an agent's work."""

from __future__ import annotations

from pytest_caesar.model.answer import Usage as Answered
from pytest_caesar.model.conversation import ModelRequest, PastCall, PastTurn
from pytest_caesar.model.witness import calls_seen, used_for


def call(ident: str, command: str, result: str | None) -> PastCall:
    return PastCall(id=ident, name="bash", arguments={"command": command}, result=result)


def request(*calls: PastCall, task: str = "t_0001") -> ModelRequest:
    turns = tuple(PastTurn(calls=(one,)) for one in calls)
    return ModelRequest(api="chat", history=turns, task=task)


def test_a_call_counts_once_however_often_its_history_is_repeated() -> None:
    first = call("1", "pytest -q", "1 failed\n<exited with exit code 1>")
    second = call("2", "pytest -q", "Exit code: 0")
    requests = [request(), request(first), request(first, second), request(task="t_0002")]

    seen = calls_seen(requests, "t_0001")
    assert [(one.command, one.exit_code, one.status) for one in seen] == [
        ("pytest -q", 1, "failed"),
        ("pytest -q", 0, "succeeded"),
    ]
    assert [one.begun for one in seen] == [1, 3]


def test_calls_without_ids_are_told_apart_by_their_place() -> None:
    same = call("", "ls", "a")

    assert len(calls_seen([request(same), request(same, same)], "t_0001")) == 2


def test_a_call_without_a_result_was_not_carried_out_yet() -> None:
    assert calls_seen([request(call("1", "ls", None))], "t_0001") == ()


def test_what_answers_cost_is_added_up_by_model() -> None:
    told = used_for([("m", Answered(input_tokens=5, output_tokens=1)), ("n", Answered())])

    assert (told.input_tokens, told.output_tokens, told.turns) == (105, 11, 2)
    assert sorted(told.by_model) == ["m", "n"]
    assert told.source == "model"
    assert used_for([]).input_tokens is None
