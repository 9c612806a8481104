"""Rubric, judges, pay and steps of a segment's page."""

import pytest

from rlaif.contracts.game.captures import SegmentPay
from rlaif.contracts.game.segments import StateRecord
from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS, CriterionScore, rubric_mean
from rlaif.hud.read_model.segments.detail import (
    judge_cards,
    levels_of,
    pay_summary,
    room_names,
    rubric,
    steps,
)
from rlaif.testing.data.judging.scores import judge_call, score_record


def votes(value: float, judge: str = "state") -> CriterionScore:
    return CriterionScore(value=value, votes=(int(2 * value),), agreement=1, judge=judge)


def computed(value: float) -> CriterionScore:
    return CriterionScore(value=value, votes=(1,), agreement=1, judge="ram", source="computed")


def test_the_parts_of_the_rubric_sum_to_the_score_and_say_who_decided() -> None:
    criteria = {"progress": votes(1.0), "puzzle": votes(0.5), "novelty": computed(0.5)}
    weighted = rubric_mean({n: c.value for n, c in criteria.items()}, RUBRIC_WEIGHTS)
    record = score_record(
        criteria=criteria, weighted=weighted, abstentions={"dialog": "split_votes"}
    )
    lines = {line.criterion: line for line in rubric(record)}
    assert sum(line.part or 0.0 for line in lines.values()) == pytest.approx(weighted)
    assert sum(line.share or 0.0 for line in lines.values()) == pytest.approx(1.0)
    assert [line.weight for line in rubric(record)] == [0.4, 0.2, 0.2, 0.1, 0.1]
    assert (lines["novelty"].decided_by, lines["progress"].decided_by) == ("computed", "votes")
    assert (lines["dialog"].part, lines["dialog"].reason) == (None, "split_votes")
    assert lines["efficiency"].reason == "not judged"


def test_a_judges_card_has_its_calls_what_they_said_and_what_they_cost() -> None:
    calls = (
        judge_call(judge="vision", vote=0, answer='{"rationale": "r", "progress": 2}',
                   prompt_tokens=900, completion_tokens=20, latency_seconds=2.0),
        judge_call(judge="vision", vote=1, outcome="invalid", answer="{", latency_seconds=9.0),
        judge_call(judge="state", vote=0),
    )  # fmt: skip
    record = score_record(
        criteria={"progress": votes(1.0, "vision")}, calls=calls, distrusted=("state",)
    )
    state, vision = judge_cards(record)
    assert (vision.decided, vision.ok, len(vision.calls)) == (("progress",), 1, 2)
    assert (vision.prompt_tokens, vision.completion_tokens) == (900, 20)
    assert vision.latency_seconds == 2.0, "a call without a usable answer is no latency"
    assert [call.levels for call in vision.calls] == [{"progress": 2}, None]
    assert (state.prompt_tokens, state.excluded, state.decided) == (None, True, ())


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (None, None),
        ("no JSON", None),
        ("[1]", None),
        ('{"rationale": "x", "puzzle": "insufficient_evidence"}', {"puzzle": None}),
        (
            '{"objective_start": 3, "distance_start": 7}',
            {"objective_start": 3, "distance_start": 7},
        ),
    ],
)
def test_an_answer_is_read_as_it_is_or_not_at_all(
    answer: str | None, expected: dict[str, int | None] | None
) -> None:
    assert levels_of(answer) == expected


PAY = SegmentPay(
    game=((1, 0.5), (3, -0.25)),
    parts={"room": ((1, 0.25),), "item": ((1, 0.25),), "damage": ((3, -0.2),)},
    reward_model_version=4,
    weight=1.0,
    gamma=1.0,
    potentials=(0.0, 0.25, 0.25, 0.5, 0.0),
    model=(0.25, 0.0, 0.25, -0.5),
)


def test_pay_is_summed_and_what_its_parts_do_not_explain_is_levels_of() -> None:
    reported = pay_summary(PAY)
    assert (reported.game, reported.model, reported.rise) == (0.25, 0.0, 0.0)
    assert reported.parts == {"room": 0.25, "item": 0.25, "damage": -0.2}
    assert reported.unexplained == pytest.approx(0.05)


def state(step: int, **more: object) -> StateRecord:
    room = {"group": 0, "room": 119, "name": "Seedling"}
    return StateRecord(
        step=step,
        frame=4 * step + 4,
        action="UP",
        state={"running": True, "room": room, "player": {"x": step, "y": 2}, **more},
    )


def test_each_step_has_the_game_after_it_and_its_pay() -> None:
    reported = steps("s-1", [state(n) for n in range(4)], PAY)
    assert [each.game for each in reported.steps] == [0.0, 0.5, 0.0, -0.25]
    assert reported.steps[1].parts == {"room": 0.25, "item": 0.25}
    assert [each.model for each in reported.steps] == [0.25, 0.0, 0.25, -0.5]
    assert reported.first_potential == 0.0
    assert reported.steps[0].potential == 0.25
    assert (reported.steps[3].x, reported.steps[3].name, reported.steps[3].hearts) == (
        3,
        "Seedling",
        None,
    )


def test_an_unrecorded_reward_is_unknown_and_not_0() -> None:
    reported = steps("s-1", [state(0)], None)
    assert (reported.steps[0].game, reported.steps[0].model, reported.steps[0].potential) == (
        None,
        None,
        None,
    )
    assert reported.pay_problem


def test_a_moment_without_a_game_is_nowhere() -> None:
    nowhere = StateRecord(step=0, frame=4, action="NOP", state={"running": False})
    [step] = steps("s-1", [nowhere], None).steps
    assert (step.group, step.x, step.text) == (None, None, None)
    assert room_names([nowhere, state(1)]) == {(0, 119): "Seedling"}
