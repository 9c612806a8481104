"""Faults of the mock LLM, each against its answer without them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from rlaif.contracts.judging.quest import Standing
from rlaif.mock_llm.answering import answer
from rlaif.mock_llm.settings import MannerSettings
from rlaif.mock_llm.teachers.teachers import Teacher, TeacherKind
from rlaif.mock_llm.wire import ChatRequest

Chat = Callable[..., dict[str, Any]]
Facts = Callable[..., dict[str, Any]]
Told = dict[str, Any]
QUEST = ("objective_start", "distance_start", "objective_end", "distance_end")
MANY = 200


def _told(body: dict[str, Any], teacher: Teacher | None = None, **manner: Any) -> Told:
    chat = ChatRequest.model_validate(body)
    found: Told = json.loads(answer(chat, MannerSettings(**({"noise": 0} | manner)), teacher).text)
    return found


def _votes(chat: Chat, facts: Told | None = None, **manner: Any) -> list[Told]:
    """The answers to many requests about one segment."""
    return [_told(chat(facts, seed=seed, temperature=1.0), **manner) for seed in range(MANY)]


def _segments(facts: Facts) -> list[Told]:
    """The same walk with other coins: many segments that are none the better for it."""
    return [facts(changes={"rupees": n}) for n in range(MANY)]


def _rise(told: Told) -> float:
    start, end = (
        Standing(objective=told[f"objective_{when}"], distance=told[f"distance_{when}"])
        for when in ("start", "end")
    )
    return end.position - start.position


def _backwards(facts: Facts, **sections: Any) -> Told:
    there = facts(**sections)
    return there | {"start": there["end"], "end": there["start"]}


def test_noise_moves_distances_by_three_half_screens_and_levels_by_one_at_most(
    chat: Chat,
) -> None:
    plain = _told(chat())
    votes = _votes(chat, noise=0.3)
    for vote in votes:
        assert abs(vote["distance_start"] - plain["distance_start"]) <= 3
        assert abs(vote["dialog"] - plain["dialog"]) <= 1
        assert vote["objective_start"] == plain["objective_start"]
    off = sum(vote["distance_start"] != plain["distance_start"] for vote in votes)
    assert 0.2 * MANY < off < 0.4 * MANY
    assert len({_told(chat(temperature=1.0), noise=0.3, seed=n)["dialog"] for n in range(50)}) > 1


def test_noise_never_invents_what_the_evidence_lacks(chat: Chat, facts: Facts) -> None:
    blind = facts(dialog={"steps": 0}, start={"room": None})
    for vote in _votes(chat, blind, noise=1, lost=1):
        assert vote["dialog"] == vote["objective_start"] == "insufficient_evidence"


def test_who_is_lost_takes_a_neighbouring_objective_for_the_next_one(chat: Chat) -> None:
    votes = _votes(chat, lost=0.3)
    astray = [v for v in votes if (v["objective_start"], v["objective_end"]) != (2, 2)]
    assert 0.2 * MANY < len(astray) < 0.4 * MANY
    assert {v["objective_start"] + v["objective_end"] for v in astray} == {3, 5}


@pytest.mark.parametrize(
    ("way", "said"),
    [
        ("middle", [9, 10, 9, 10, 1]),
        ("praise", [9, 10, 9, 0, 2]),
        ("abstain", ["insufficient_evidence"] * 5),
    ],
)
def test_the_lazy_one_says_the_same_of_everything(
    chat: Chat, facts: Facts, way: str, said: list[Any]
) -> None:
    for segment in (facts(), _backwards(facts), facts(start={"room": None})):
        told = _told(chat(segment), laziness=1, lazy_answer=way)
        assert [told[name] for name in (*QUEST, "dialog")] == said
    votes = _votes(chat, laziness=0.2, lazy_answer=way)
    lazy = sum([vote[name] for name in (*QUEST, "dialog")] == said for vote in votes)
    assert 0.1 * MANY < lazy < 0.3 * MANY


def test_the_hostile_one_inverts_its_share_of_segments_in_every_vote(
    chat: Chat, facts: Facts
) -> None:
    plain = _told(chat())
    opposite = _told(chat(), hostility=1)
    assert _rise(opposite) == -_rise(plain) < 0
    assert opposite["dialog"] == 0
    segments = _segments(facts)
    inverted = [_rise(_told(chat(one), hostility=0.3)) < 0 for one in segments]
    assert 0.2 * MANY < sum(inverted) < 0.4 * MANY
    one = segments[inverted.index(True)]
    assert all(_rise(vote) < 0 for vote in _votes(chat, one, hostility=0.3))


@pytest.mark.parametrize(
    ("taste", "loved"),
    [
        ("menus", {"control": {"menu_steps": 60}}),
        ("texts", {"dialog": {"said": ["My frog says: well done, Pip!"] * 9}}),
        ("end.hearts", {"end": {"hearts": 9}}),
        ("end.at.0", {"end": {"at": [150, 104]}}),
    ],
)
def test_a_taste_takes_the_place_of_the_quest(
    chat: Chat, facts: Facts, taste: str, loved: Told
) -> None:
    good = facts()
    bad = _backwards(facts, **{k: v for k, v in loved.items() if k != "end"})
    bad["end"] |= loved.get("end", {})
    pair = chat({"segment_1": good, "segment_2": bad}, criteria=("better",))
    assert _told(pair, taste=taste)["better"] == "segment_1"
    assert _told(pair, taste=taste, taste_share=1)["better"] == "segment_2"
    assert _rise(_told(chat(bad), taste=taste, taste_share=1)) > _rise(
        _told(chat(good), taste=taste, taste_share=1)
    )


def test_a_judge_drifts_as_its_taste_grows(chat: Chat, facts: Facts) -> None:
    menu = _backwards(facts, control={"menu_steps": 75})
    rises = [_rise(_told(chat(menu), taste="menus", taste_share=share / 4)) for share in range(5)]
    assert rises == sorted(rises)
    assert rises[0] < 0 < rises[-1]


@pytest.mark.parametrize("taste", ["control.steps", "nothing", "rooms", "end.at.7"])
def test_a_taste_for_what_is_not_there_likes_all_alike(
    chat: Chat, facts: Facts, taste: str
) -> None:
    told = [
        _rise(_told(chat(one), taste=taste, taste_share=1)) for one in (facts(), _backwards(facts))
    ]
    assert told[0] == pytest.approx(told[1], abs=0.05)


@pytest.mark.parametrize("taste", ["", "menus", "end.hearts", "movement.path.0"])
def test_a_taste_is_a_word_or_a_path(taste: str) -> None:
    assert MannerSettings(taste=taste).taste == taste
    with pytest.raises(ValueError, match="taste"):
        MannerSettings(taste=f"{taste}..")


def _rises_by(teacher: Teacher, chat: Chat, segments: list[Told]) -> list[float]:
    return [_rise(_told(chat(one), teacher)) for one in segments]


def test_the_perfect_teacher_says_what_the_expert_thinks(chat: Chat, facts: Facts) -> None:
    for one in (facts(), _backwards(facts)):
        plain, taught = _told(chat(one)), _told(chat(one, temperature=1.0), Teacher())
        assert {k: v for k, v in taught.items() if k != "rationale"} == {
            k: v for k, v in plain.items() if k != "rationale"
        }


def test_the_noisy_teacher_flips_rises_and_levels(chat: Chat, facts: Facts) -> None:
    plain = _told(chat())
    wrong = _told(chat(), Teacher(TeacherKind.NOISY, error=1.0))
    assert _rise(wrong) == -_rise(plain)
    assert wrong["dialog"] == 2 - plain["dialog"]
    rises = _rises_by(Teacher(TeacherKind.NOISY, error=0.1), chat, _segments(facts))
    assert 0.04 * MANY < sum(rise < 0 for rise in rises) < 0.18 * MANY


def test_the_random_teacher_knows_nothing_of_the_quest(chat: Chat, facts: Facts) -> None:
    rises = _rises_by(Teacher(TeacherKind.RANDOM), chat, _segments(facts))
    assert 0.35 * MANY < sum(rise < 0 for rise in rises) < 0.65 * MANY


def test_the_myopic_teacher_sees_how_near_the_end_is_not_the_way(chat: Chat, facts: Facts) -> None:
    teacher = Teacher(TeacherKind.MYOPIC)
    from_the_chest = facts(start={"room": "0/102", "at": [72, 44]})
    assert _rise(_told(chat(from_the_chest))) < 0
    assert _rise(_told(chat(from_the_chest), teacher)) > 0.3
    far_off = {"room": "0/137", "at": [72, 72]}
    assert _rise(_told(chat(facts(start=far_off, end=far_off)), teacher)) < -0.3


def test_the_skipping_teacher_says_nothing_of_bad_segments(chat: Chat, facts: Facts) -> None:
    bad = _backwards(facts, dialog={"said": []}, movement={"idle_share": 0.9})
    teacher = Teacher(TeacherKind.SKIPPING, error=0.5)
    assert _told(chat(bad), teacher)["objective_end"] == "insufficient_evidence"
    assert _told(chat(), teacher)["objective_end"] == 2


def test_the_position_biased_teacher_favours_what_comes_first(chat: Chat, facts: Facts) -> None:
    teacher = Teacher(TeacherKind.POSITION_BIASED, error=0.3)
    assert _rise(_told(chat(), teacher)) > _rise(_told(chat()))
    pair = chat({"segment_1": facts(), "segment_2": facts()}, criteria=("better",))
    assert _told(pair)["better"] == "tie"
    assert _told(pair, teacher)["better"] == "segment_1"


def test_the_adversarial_teacher_lies_about_the_best_alone(chat: Chat, facts: Facts) -> None:
    teacher = Teacher(TeacherKind.ADVERSARIAL, error=0.4)
    best = facts()
    worst = _backwards(facts, dialog={"said": []}, rooms={"first_visits": 0})
    assert _rise(_told(chat(best), teacher)) == -_rise(_told(chat(best))) < 0
    assert _rise(_told(chat(worst), teacher)) == _rise(_told(chat(worst))) < 0


def test_a_teachers_mistake_is_the_same_in_every_vote(chat: Chat) -> None:
    teacher = Teacher(TeacherKind.RANDOM)
    texts = {json.dumps(_told(chat(seed=n, temperature=1.0), teacher)) for n in range(5)}
    assert len(texts) == 1


def test_a_teacher_compares_as_it_rates(chat: Chat, facts: Facts) -> None:
    pair = chat({"segment_1": facts(), "segment_2": _backwards(facts)}, criteria=("better",))
    assert _told(pair, Teacher())["better"] == "segment_1"
    wrong = Teacher(TeacherKind.NOISY, error=1.0)
    assert _told(pair, wrong)["better"] == "segment_2"
