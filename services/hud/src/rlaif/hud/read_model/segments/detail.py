"""The detail page of a segment, from its stored objects: rubric, judges, rewards, steps."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, get_args

from rlaif.contracts.game.captures import Capture, SegmentPay
from rlaif.contracts.game.segments import StateRecord
from rlaif.contracts.judging.quest import Source
from rlaif.contracts.judging.scores import JudgeCallRecord, ScoreRecord
from rlaif.contracts.planning.model_answers import NoAnswerError, read_answer_object, whole_number
from rlaif.hud.read_model.segments.views import (
    CaptureView,
    JudgeCallView,
    JudgeCard,
    PaySummary,
    PlaceView,
    RubricLine,
    SegmentSteps,
    StepView,
)
from rlaif.hud.read_model.views import QuestView, Rationale, ScoreDetail

RATIONALE_CHARACTERS = 600
"""A rationale in the table is cut here; the segment's own page has it whole."""


def score_detail(record: ScoreRecord) -> ScoreDetail:
    """Criteria, agreement and the first words of each judge whose call ended well."""
    return ScoreDetail(
        criteria=record.criteria,
        abstentions=record.abstentions,
        agreement=fmean(score.agreement for score in record.criteria.values())
        if record.criteria
        else None,
        shares=_shares(record),
        quest=QuestView(**dict(record.quest)) if record.quest else None,
        rationales=_rationales(record),
        calls_ok=sum(call.outcome == "ok" for call in record.calls),
        calls=len(record.calls),
    )


def _shares(record: ScoreRecord) -> dict[Source, float]:
    """Who decided which share, those who decided nothing too; empty when nothing was judged."""
    decided = record.decided_by
    return {source: decided.get(source, 0.0) for source in get_args(Source)} if decided else {}


def _rationales(record: ScoreRecord) -> tuple[Rationale, ...]:
    first: dict[str, str] = {}
    for call in record.calls:
        if call.outcome == "ok" and call.rationale:
            first.setdefault(call.judge, _cut(call.rationale))
    return tuple(Rationale(judge=judge, text=text) for judge, text in first.items())


def _cut(text: str) -> str:
    if len(text) <= RATIONALE_CHARACTERS:
        return text
    return text[: RATIONALE_CHARACTERS - 1] + "…"


_MAX_LEVELS = 16


def rubric(record: ScoreRecord) -> tuple[RubricLine, ...]:
    """Every criterion with a weight, the heaviest first."""
    judged = sum(record.weights.get(name, 0.0) for name in record.criteria)
    return tuple(
        _line(record, name, weight, judged)
        for name, weight in sorted(record.weights.items(), key=lambda each: -each[1])
    )


def _line(record: ScoreRecord, name: str, weight: float, judged: float) -> RubricLine:
    score = record.criteria.get(name)
    share = weight / judged if score and judged else None
    return RubricLine(
        criterion=name,
        weight=weight,
        score=score,
        reason=None if score else record.abstentions.get(name, "not judged"),
        decided_by=score.source if score else None,
        share=share,
        part=share * score.value if score and share is not None else None,
        known_level=record.known_level(name),
        audit=record.audits.get(name),
    )


def judge_cards(record: ScoreRecord) -> tuple[JudgeCard, ...]:
    """Every judge that was asked, with its calls in the order of its votes."""
    by_judge: dict[str, list[JudgeCallRecord]] = defaultdict(list)
    for call in record.calls:
        by_judge[call.judge].append(call)
    return tuple(_card(record, judge, calls) for judge, calls in sorted(by_judge.items()))


def _card(record: ScoreRecord, judge: str, calls: Sequence[JudgeCallRecord]) -> JudgeCard:
    answered = [call.latency_seconds for call in calls if call.outcome == "ok" and not call.cached]
    return JudgeCard(
        judge=judge,
        model=calls[-1].model,
        route=calls[-1].route,
        decided=tuple(
            name
            for name, score in record.criteria.items()
            if score.source == "votes" and score.judge == judge
        ),
        calls=tuple(JudgeCallView(**dict(call), levels=levels_of(call.answer)) for call in calls),
        ok=sum(call.outcome == "ok" for call in calls),
        prompt_tokens=_sum(call.prompt_tokens for call in calls),
        completion_tokens=_sum(call.completion_tokens for call in calls),
        latency_seconds=fmean(answered) if answered else None,
        excluded=judge in record.distrusted,
    )


def levels_of(answer: str | None) -> dict[str, int | None] | None:
    """The levels, objectives and distances of an answer; None when it cannot be read."""
    if answer is None:
        return None
    try:
        parsed = read_answer_object(answer)
    except NoAnswerError:
        return None
    rated = [(str(k)[:40], v) for k, v in parsed.items() if k not in ("rationale", "reason")]
    levels = {k: whole_number(v) for k, v in rated[:_MAX_LEVELS]}
    return {k: v if type(v) is int else None for k, v in levels.items()}


def capture_view(capture: Capture, names: Mapping[tuple[int, int], str | None]) -> CaptureView:
    """What the trainer wrote down; `names` are those of rooms, as the states have them."""
    rooms = capture.rooms
    return CaptureView(
        env_id=capture.env_id,
        selected_by=capture.selected_by,
        reward_model_version=capture.reward_model_version,
        policy_iteration=capture.policy_iteration,
        start_step=capture.start_step,
        rooms=None
        if rooms is None
        else tuple(PlaceView(group=g, room=r, name=names.get((g, r))) for g, r in rooms),
        milestones=capture.milestones,
    )


def pay_summary(pay: SegmentPay) -> PaySummary:
    """Sums over the steps."""
    game = dict(pay.game)
    parts: dict[int, float] = defaultdict(float)
    for amounts in pay.parts.values():
        for step, amount in amounts:
            parts[step] += amount
    residuals = [abs(game.get(step, 0.0) - parts.get(step, 0.0)) for step in game | parts]
    return PaySummary(
        game=sum(game.values()),
        parts={name: sum(amount for _, amount in found) for name, found in pay.parts.items()},
        unexplained=max(residuals, default=0.0),
        model=None if pay.model is None else sum(pay.model),
        rise=pay.model_rise,
        reward_model_version=pay.reward_model_version,
        weight=pay.weight,
        gamma=pay.gamma,
    )


def room_names(states: Iterable[StateRecord]) -> dict[tuple[int, int], str | None]:
    """(group, room) → the name that the game gives it."""
    found: dict[tuple[int, int], str | None] = {}
    for record in states:
        room = _get(record.state, "room")
        if isinstance(room, dict) and isinstance(room.get("group"), int):
            found.setdefault((room["group"], room.get("room", -1)), room.get("name"))
    return found


def steps(segment_id: str, states: Sequence[StateRecord], pay: SegmentPay | None) -> SegmentSteps:
    """State and rewards of every decision step."""
    game = dict(pay.game) if pay else {}
    parts = {name: dict(amounts) for name, amounts in pay.parts.items()} if pay else {}
    return SegmentSteps(
        segment_id=segment_id,
        steps=tuple(
            StepView(
                step=record.step,
                frame=record.frame,
                action=record.action,
                **_moment(record.state),
                game=game.get(record.step, 0.0) if pay else None,
                parts={
                    name: paid[record.step] for name, paid in parts.items() if record.step in paid
                },
                model=_at(pay.model if pay else None, record.step),
                potential=_at(pay.potentials if pay else None, record.step + 1),
            )
            for record in states
        ),
        pay=pay_summary(pay) if pay else None,
        first_potential=_at(pay.potentials if pay else None, 0),
        pay_problem=None if pay else "The trainer that captured it did not write down its pay.",
    )


def _moment(state: dict[str, Any]) -> dict[str, Any]:
    return {
        "group": _get(state, "room", "group"),
        "room": _get(state, "room", "room"),
        "name": _get(state, "room", "name"),
        "x": _get(state, "player", "x"),
        "y": _get(state, "player", "y"),
        "hearts": _get(state, "player", "hearts"),
        "rupees": _get(state, "rupees"),
        "text": _get(state, "flags", "dialog"),
        "menu": _get(state, "flags", "menu"),
    }


def _get(state: dict[str, Any], *path: str) -> Any:
    """A nested value of a state; None if it is missing."""
    value: Any = state
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _at(values: Sequence[float] | None, index: int) -> float | None:
    return values[index] if values is not None and index < len(values) else None


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
