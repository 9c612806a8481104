"""JSON of a segment's page and of the list's filters. Unknown is null, never 0."""

from typing import Any, Literal

from pydantic import Field

from rlaif.contracts.ids import Id
from rlaif.contracts.scores import CriterionScore, JudgeCallRecord
from rlaif.contracts.segments import SegmentManifest
from rlaif.hud.read_model.view import View
from rlaif.hud.read_model.views import PictureLink, ScoreDetail, SegmentRow


class Facet(View):
    """One value to filter by."""

    value: str
    segments: int = Field(description="How many have it.")


class SegmentFacets(View):
    """What the segments that the HUD knows can be filtered by, the commonest first."""

    segments: int
    scored: int
    runs: tuple[Facet, ...]
    selected_by: tuple[Facet, ...]
    reward_model_versions: tuple[Facet, ...]
    milestones: tuple[Facet, ...]
    with_model_gap: int = Field(description="Of which judges and reward model can be compared.")


class RubricLine(View):
    """One criterion of the rubric: who decided it, and what it is worth in the score."""

    criterion: str
    weight: float = Field(description="As the rubric has it; those of all criteria sum to 1.")
    score: CriterionScore | None = Field(description="Null when nobody could say.")
    why_not: str | None = Field(description="Why there is no score.")
    decided_by: Literal["votes", "computed", "human"] | None = Field(
        description="`votes` are language models, `computed` is the game's RAM."
    )
    share: float | None = Field(description="Its share of the weight that was judged.")
    part: float | None = Field(description="share * value; all parts sum to the score.")
    known_level: int | None = Field(
        description="Level that the RAM decides without a judge, on the scale of the votes."
    )
    audit: CriterionScore | None = Field(
        description="What judges said of it where the RAM decides, to check the judges."
    )


class CallView(JudgeCallRecord):
    """One call of a language model. Its words are its own: show them as text."""

    said: dict[str, int | None] | None = Field(
        description="What the answer says, without its words; a null stands for evidence that was "
        "not enough. Null when the answer is not kept or cannot be read."
    )


class JudgeCard(View):
    """One judge and all that it was asked about this segment."""

    judge: str
    model: str
    route: str
    decided: tuple[str, ...] = Field(description="Criteria that its votes decided.")
    calls: tuple[CallView, ...]
    ok: int = Field(description="Of `calls`: with a usable answer.")
    prompt_tokens: int | None = Field(description="Of all calls that tell; null when none does.")
    completion_tokens: int | None
    latency_seconds: float | None = Field(description="Mean of the calls that were answered.")
    distrusted: bool = Field(
        description="Its votes do not count yet: not believed or not readable."
    )


class PaySummary(View):
    """What the segment was paid, in all; the steps have it one by one."""

    game: float = Field(description="The game's own reward, undiscounted.")
    parts: dict[str, float] = Field(description="Part → its sum; they sum to `game`.")
    unexplained: float = Field(description="Largest difference of a step's reward and its parts.")
    model: float | None = Field(
        description="What the live model pays at full weight for the segment as the beginning of "
        "an episode; null when no model was live or it does not pay as a potential."
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
    """What the trainer wrote down when the segment was played."""

    env_id: str
    selected_by: str = Field(description="Why it was chosen for the judges.")
    reward_model_version: int | None
    policy_iteration: int
    start_step: int
    rooms: tuple[PlaceView, ...] | None
    milestones: tuple[str, ...] | None
    pay: PaySummary | None = Field(description="Null in what older trainers wrote.")


class StepView(View):
    """One decision step of the segment, and the game after it."""

    step: int
    frame: int = Field(description="Game frames of the segment so far, 60 a second.")
    action: str
    group: int | None = Field(description="Of the room; null while no file is played.")
    room: int | None
    name: str | None = Field(description="Of the room, where the game has one.")
    x: int | None = Field(description="Pixels from the room's left edge.")
    y: int | None
    hearts: float | None
    rupees: int | None
    text: bool | None = Field(description="Text is on the screen.")
    menu: bool | None
    game: float | None = Field(description="The game's own reward; null when it was not told.")
    parts: dict[str, float] = Field(description="Parts that paid; they sum to `game`.")
    model: float | None = Field(description="What the reward model pays for the step.")
    potential: float | None = Field(description="After the step.")


class SegmentSteps(View):
    """A segment step by step: what stands under its frames."""

    segment_id: Id
    steps: tuple[StepView, ...]
    first_potential: float | None = Field(description="Before the first step.")
    pay: PaySummary | None = Field(description="Of all steps; null when nothing is told.")
    pay_problem: str | None = Field(description="Why nothing is told of its pay.")


class SegmentDetail(View):
    """One segment: what the exporter wrote and what the judges said of it."""

    segment: SegmentRow | None = Field(description="Null when the HUD saw no event of it.")
    manifest: SegmentManifest
    score: ScoreDetail | None
    calls: tuple[JudgeCallRecord, ...]
    score_problem: str | None
    pictures: tuple[PictureLink, ...]
    judge_config: str | None = Field(description="Whose score it is.")
    weighted: float | None = Field(description="The score; null when too little was judged.")
    rubric: tuple[RubricLine, ...] = Field(description="Empty without a score.")
    judges: tuple[JudgeCard, ...]
    capture: CaptureView | None = Field(description="What the trainer wrote down.")
    capture_problem: str | None = Field(description="Why that cannot be read.")
    steps_url: str
    pack_url: str = Field(description="All pictures in one object.")
    pictures_are: Literal["every step", "some steps"]
    video_url: str | None = Field(description="Null where the export has no film.")


def known(state: dict[str, Any], *path: str) -> Any:
    """A value inside a state of states.jsonl; None where it is not."""
    value: Any = state
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value
