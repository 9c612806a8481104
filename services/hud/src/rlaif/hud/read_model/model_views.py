"""What REST says of published and refused reward models, beyond the snapshot."""

from datetime import datetime

from pydantic import Field

from rlaif.contracts.reward_models import GateMetrics, RewardModelManifest
from rlaif.hud.read_model.view import View
from rlaif.hud.read_model.views import RejectionRow


class RejectionDetail(RejectionRow):
    """A refused candidate with all that the gate measured of it."""

    metrics: GateMetrics | None = Field(
        default=None, description="Null from an older writer, and of a champion taken out of use."
    )


class ModelStanding(View):
    """What became of one version, as the HUD saw it."""

    champion: bool
    in_use: bool = Field(description="The trainer says that it uses this version.")
    activated_at: tuple[datetime, ...] = Field(
        description="When it became the champion, oldest first; again after a way back."
    )
    loaded_at_steps: tuple[int, ...] = Field(
        description="Environment steps of the current run at which the trainer loaded it."
    )


class ModelView(View):
    """One published version: its record, and what became of it."""

    manifest: RewardModelManifest
    standing: ModelStanding | None = Field(description="Null when the HUD saw no event of it.")


class AttemptView(View):
    """One training and how it ended."""

    candidate_id: str
    outcome: str = Field(description="published, rejected, unchanged or held.")
    version: int | None
    reasons: tuple[str, ...]
    metrics: GateMetrics
    labels: int
    episodes: int
    seconds: float
    ended_at: datetime


class NeedView(View):
    """Something that a training takes: so many `found`, so many at `least`."""

    what: str
    found: int
    least: int


class JudgeConfigView(View):
    """One judge configuration whose scores are in the store."""

    judge_config: str
    scores: int
    labels: int
    learned: bool = Field(description="Whether its labels are learned from now.")
    followed: bool


class TrainingView(View):
    """Where the training of the next reward model stands, by the service's own word."""

    state: str = Field(description="idle or training.")
    judge_config: str | None
    labels: int
    new_labels: int = Field(description="Those that no training has used.")
    episodes: int
    needs: tuple[NeedView, ...] = Field(description="What a training takes to start by itself.")
    pairs: NeedView | None = Field(description="Decided held-out pairs of the last training.")
    skipped: dict[str, int] = Field(description="Reason → score objects that are no label.")
    judge_configs: tuple[JudgeConfigView, ...] = ()
    last_attempt: AttemptView | None
    last_rejection: AttemptView | None
    demotion: str | None = Field(
        default=None, description="Why the service took a champion out of use the last time."
    )
