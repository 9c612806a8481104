"""JSON of a segment's page and of the list's filters. Unknown is null, never 0."""

from typing import Literal

from pydantic import Field

from rlaif.contracts.game.segments import SegmentManifest
from rlaif.contracts.judging.scores import CriterionScore, JudgeCallRecord
from rlaif.contracts.model import Id
from rlaif.hud.read_model import View
from rlaif.hud.read_model.views import PictureLink, ScoreDetail, SegmentRow


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
    """Sums of the segment's rewards."""

    game: float = Field(description="The game's own reward, undiscounted.")
    parts: dict[str, float] = Field(description="Part → its sum; they sum to `game`.")
    unexplained: float = Field(description="Largest difference of a step's reward and its parts.")
    model: float | None = Field(
        description="Shaping reward of the live model at full weight, for the segment as the start "
        "of an episode; null without a model."
    )
    rise: float | None = Field(description="Its potential at the end less that at the start.")
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
    """One decision step of the segment, and the game after it."""

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
    steps_url: str
    pack_url: str = Field(description="All pictures in one object.")
    pictures_are: Literal["every step", "some steps"]
    video_url: str | None = Field(description="Null without a film.")
