import json
from collections.abc import Callable
from typing import Any

import pytest

from rlaif.mock_llm.answering import Completion, answer
from rlaif.mock_llm.reading import UnreadablePromptError
from rlaif.mock_llm.settings import MannerSettings
from rlaif.mock_llm.teachers.teachers import Teacher, TeacherKind
from rlaif.mock_llm.wire import ChatRequest

Chat = Callable[..., dict[str, Any]]


def _answer(body: dict[str, Any], teacher: Teacher | None = None, **changes: Any) -> Completion:
    server_seed = changes.pop("server_seed", 7)
    chat = ChatRequest.model_validate({"max_tokens": 256} | body | changes)
    return answer(chat, MannerSettings(seed=server_seed, noise=0.5), teacher)


def test_an_answer_fits_the_asked_schema_with_the_rationale_first(chat: Chat) -> None:
    body = chat(criteria=("progress", "novelty", "charm"))
    told = json.loads(_answer(body).text)
    assert list(told) == ["rationale", "progress", "novelty", "charm"]
    properties = body["response_format"]["json_schema"]["schema"]["properties"]
    assert all(told[name] in properties[name]["enum"] for name in list(told)[1:])
    assert told["charm"] == "insufficient_evidence"


def test_the_same_request_gets_the_same_answer(chat: Chat) -> None:
    body = chat(temperature=1.0)
    assert len({_answer(body).text for _ in range(5)}) == 1


def test_temperature_zero_is_without_noise(chat: Chat) -> None:
    texts = {_answer(chat(seed=seed), seed=seed).text for seed in range(50)}
    assert len(texts) == 1


def test_noise_follows_the_seeds_and_moves_by_one_level_at_most(chat: Chat) -> None:
    body = chat(temperature=1.0)
    plain = json.loads(_answer(body, temperature=0.0).text)
    levels = [json.loads(_answer(body, seed=seed).text) for seed in range(200)]
    assert all(abs(told["progress"] - plain["progress"]) <= 1 for told in levels)
    off = sum(told["progress"] != plain["progress"] for told in levels)
    assert 60 < off < 140
    assert len({_answer(body, server_seed=seed).text for seed in range(50)}) > 1


def test_noise_never_invents_a_level_where_evidence_lacks(chat: Chat, facts: Any) -> None:
    body = chat(facts(dialog={"steps": 0}), temperature=2.0)
    told = {json.loads(_answer(body, seed=seed).text)["dialog"] for seed in range(50)}
    assert told == {"insufficient_evidence"}


def test_without_a_schema_the_rubric_of_the_system_message_says_what_to_answer(chat: Chat) -> None:
    body = chat()
    body["messages"][0]["content"] = "Rubric\n- progress: Closer to the end?\n- puzzle: Solved?\n"
    told = json.loads(_answer(body, response_format={"type": "json_object"}).text)
    assert list(told) == ["rationale", "progress", "puzzle"]


def test_a_short_limit_of_tokens_cuts_the_answer_off(chat: Chat) -> None:
    done = _answer(chat(), max_tokens=5)
    assert done.finish_reason == "length"
    assert done.completion_tokens == 5
    assert len(done.text) == 20


def test_tokens_are_counted_with_pictures(chat: Chat) -> None:
    body = chat()
    plain = _answer(body).prompt_tokens
    text = body["messages"][1]["content"]
    url = {"url": "data:image/png;base64,AAAA"}
    body["messages"][1]["content"] = [
        {"type": "text", "text": text},
        {"type": "image_url", "image_url": url},
    ]
    assert _answer(body).prompt_tokens == plain + 256


@pytest.mark.parametrize(
    "content",
    [
        "Plan the next move.",
        "```json\n[1]\n```",
        "```json\nnope\n```",
        "```json\n{}\n```\n" * 2,
        None,
    ],
)
def test_what_is_no_judge_prompt_is_refused_with_the_reason(chat: Chat, content: Any) -> None:
    body = chat()
    body["messages"][1]["content"] = content
    with pytest.raises(UnreadablePromptError, match="json"):
        _answer(body)


def test_a_simulated_teacher_takes_the_place_of_the_noise(chat: Chat) -> None:
    body = chat()
    plain = json.loads(_answer(body, temperature=0.0).text)
    perfect = json.loads(_answer(body, temperature=1.0, teacher=Teacher()).text)
    assert {k: v for k, v in perfect.items() if k != "rationale"} == {
        k: v for k, v in plain.items() if k != "rationale"
    }
    wrong = json.loads(_answer(body, teacher=Teacher(TeacherKind.NOISY, error=1.0)).text)
    for name, level in perfect.items():
        if isinstance(level, int):
            assert wrong[name] == 2 - level


def test_a_teachers_mistake_is_the_same_in_every_vote(chat: Chat) -> None:
    teacher = Teacher(TeacherKind.RANDOM)
    texts = {_answer(chat(seed=n), seed=n, teacher=teacher).text for n in range(5)}
    assert len(texts) == 1
