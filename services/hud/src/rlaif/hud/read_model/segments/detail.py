"""A segment's page from its stored objects: rubric, judges, rewards, steps. Unknown is null."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, Literal, get_args

from pydantic import Field

from rlaif.contracts.game.captures import Capture, SegmentPay
from rlaif.contracts.game.segments import SegmentManifest, StateRecord
from rlaif.contracts.judging.quest import Source
from rlaif.contracts.judging.scores import CriterionScore, JudgeCallRecord, ScoreRecord
from rlaif.contracts.model import Id
from rlaif.contracts.planning.model_answers import NoAnswerError, read_answer_object, whole_number
from rlaif.hud.read_model import View
from rlaif.hud.read_model.views import PictureLink, QuestView, Rationale, ScoreDetail, SegmentRow

RATIONALE_CHARACTERS = 600
"""Maximum length of a rationale in the table; the segment's page has the full text."""

_MAX_LEVELS = 16


class Facet(View):
    """One value to filter by."""

    value: str
    segments: int = Field(description="Segments with this value.")


class SegmentFacets(View):
    """Values of the filters, most frequent first."""

    segments: int
    scored: int
    runs: tuple[Facet, ...]
    selected_by: tuple[Facet, ...]
    reward_model_versions: tuple[Facet, ...]
    milestones: tuple[Facet, ...]
    with_model_gap: int = Field(description="Segments with a `model_gap`.")


class RubricLine(View):
    """One criterion of the rubric, and its part of the score."""

    criterion: str
    weight: float = Field(description="In the rubric; the weights sum to 1.")
    score: CriterionScore | None = Field(description="Null without a decision.")
    reason: str | None = Field(description="Reason of a missing score.")
    decided_by: Literal["votes", "computed", "human"] | None = Field(
        description="`votes` of language models, or `computed` from RAM."
    )
    share: float | None = Field(description="Its share of the weight that was judged.")
    part: float | None = Field(description="share * value; all parts sum to the score.")
    known_level: int | None = Field(
        description="Level according to RAM, on the scale of the votes."
    )
    audit: CriterionScore | None = Field(
        description="Judges' votes where RAM decides, to check the judges."
    )


class JudgeCallView(JudgeCallRecord):
    """One call of a language model, which wrote the texts: show them as text only."""

    levels: dict[str, int | None] | None = Field(
        description="Levels of the answer; null for insufficient evidence. Null if the answer is "
        "not kept or cannot be parsed."
    )


class JudgeCard(View):
    """One judge and its calls for this segment."""

    judge: str
    model: str
    route: str
    decided: tuple[str, ...] = Field(description="Criteria that its votes decided.")
    calls: tuple[JudgeCallView, ...]
    ok: int = Field(description="Of `calls`: with a usable answer.")
    prompt_tokens: int | None = Field(description="Sum of the reported ones; null if none.")
    completion_tokens: int | None
    latency_seconds: float | None = Field(description="Mean of the successful calls.")
    excluded: bool = Field(description="It is excluded, or its answers could not be parsed.")


class PaySummary(View):
    """Reward sums of the segment."""

    game: float = Field(description="The game's own reward, undiscounted.")
    parts: dict[str, float] = Field(description="Part → its sum; they sum to `game`.")
    unexplained: float = Field(description="Largest difference of a step's reward and its parts.")
    model: float | None = Field(
        description="Shaping reward of the live model at full weight, for the segment as the start "
        "of an episode; null without a model."
    )
    rise: float | None = Field(description="Its potential at the end minus that at the start.")
    reward_model_version: int | None
    weight: float | None
    gamma: float | None


class PlaceView(View):
    """A room."""

    group: int
    room: int
    name: str | None = None


class CaptureView(View):
    """The trainer's record of the segment."""

    env_id: str
    selected_by: str = Field(description="Why it was selected for the judges.")
    reward_model_version: int | None
    policy_iteration: int
    start_step: int
    rooms: tuple[PlaceView, ...] | None
    milestones: tuple[str, ...] | None


class StepView(View):
    """One emulator step of the segment, and the game after it."""

    step: int
    frame: int = Field(description="Game frames of the segment so far, at 60 Hz.")
    action: str
    group: int | None = Field(description="Of the room; null outside of the game world.")
    room: int | None
    name: str | None = Field(description="Of the room, if it has one.")
    x: int | None = Field(description="Pixels from the room's left edge.")
    y: int | None
    hearts: float | None
    rupees: int | None
    text: bool | None = Field(description="Text is on the screen.")
    menu: bool | None
    game: float | None = Field(description="The game's own reward; null if it was not reported.")
    parts: dict[str, float] = Field(description="Nonzero parts; they sum to `game`.")
    model: float | None = Field(description="Shaping reward of the step.")
    potential: float | None = Field(description="After the step.")


class SegmentSteps(View):
    """A segment step by step."""

    segment_id: Id
    steps: tuple[StepView, ...]
    first_potential: float | None = Field(description="Before the first step.")
    pay: PaySummary | None = Field(description="Of all steps; null if it was not reported.")
    pay_problem: str | None = Field(description="Why `pay` is null.")


class SegmentDetail(View):
    """One segment: manifest, score and record."""

    segment: SegmentRow | None = Field(description="Null if no event of it is known.")
    manifest: SegmentManifest
    score: ScoreDetail | None
    score_problem: str | None
    pictures: tuple[PictureLink, ...]
    judge_config: str | None = Field(description="Judge configuration of the score.")
    weighted: float | None = Field(description="The score; null when too little was judged.")
    rubric: tuple[RubricLine, ...] = Field(description="Empty without a score.")
    judges: tuple[JudgeCard, ...]
    capture: CaptureView | None = Field(description="The trainer's record.")
    capture_problem: str | None = Field(description="Why it cannot be read.")
    pictures_are: Literal["every step", "some steps"]
    video_url: str | None = Field(description="Null without a film.")


def score_detail(record: ScoreRecord) -> ScoreDetail:
    """Criteria, agreement and a truncated rationale of each judge with a successful call."""
    return ScoreDetail(
        criteria=record.criteria,
        abstentions=record.abstentions,
        agreement=fmean(score.agreement for score in record.criteria.values())
        if record.criteria
        else None,
        shares=_shares(record),
        quest=QuestView(**dict(record.quest)) if record.quest else None,
        rationales=_rationales(record),
        calls=len(record.calls),
    )


def _shares(record: ScoreRecord) -> dict[Source, float]:
    """Source → decided share of the judged weight, zeros included; empty if nothing was judged."""
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
    """Every judge that was called, with its calls in the order of its votes."""
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
    """The levels, objectives and distances of an answer; None if it cannot be parsed."""
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
    """The trainer's record; `names` are the rooms' names from the states."""
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
    """(group, room) → its name in the game."""
    found: dict[tuple[int, int], str | None] = {}
    for record in states:
        room = _get(record.state, "room")
        if isinstance(room, dict) and isinstance(room.get("group"), int):
            found.setdefault((room["group"], room.get("room", -1)), room.get("name"))
    return found


def steps(segment_id: str, states: Sequence[StateRecord], pay: SegmentPay | None) -> SegmentSteps:
    """State and rewards of every emulator step."""
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
        pay_problem=None if pay else "The trainer that captured it did not record its rewards.",
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
