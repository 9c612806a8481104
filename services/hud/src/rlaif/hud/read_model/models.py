"""Reward models: published, rejected, and which one is live."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import Field

from rlaif.contracts.events import (
    ChampionChanged,
    CloudEvent,
    RewardModelPublished,
    RewardModelRejected,
)
from rlaif.contracts.reward_models import GamingAlarm, GateMetrics, RewardModelManifest
from rlaif.contracts.telemetry.readings import RewardModelStatus
from rlaif.hud.read_model import View
from rlaif.hud.read_model.views import (
    ChampionView,
    NextModelView,
    RejectionRow,
    RewardModelRow,
    RewardModelsView,
)


class RejectionDetail(RejectionRow):
    """A rejected candidate with the gate's measurements."""

    metrics: GateMetrics | None = Field(
        default=None,
        description="Null from older versions, and for withdrawn champions.",
    )


class ModelStanding(View):
    """State of one version."""

    champion: bool
    in_use: bool = Field(description="Used by the trainer.")
    activated_at: tuple[datetime, ...] = Field(
        description="When it became the champion, oldest first."
    )
    loaded_at_steps: tuple[int, ...] = Field(
        description="Environment steps of the current run at which the trainer loaded it."
    )


class ModelView(View):
    """One published version: its record and its state."""

    manifest: RewardModelManifest
    standing: ModelStanding | None = Field(description="Null if no event of it is known.")


class AttemptView(View):
    """One training and its outcome."""

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
    """A requirement of a training: the number `found`, and the minimum `least`."""

    what: str
    found: int
    least: int


class JudgeConfigView(View):
    """One judge configuration whose scores are in the store."""

    judge_config: str
    scores: int
    labels: int
    learned: bool = Field(description="Whether its labels are used for training.")
    followed: bool


class TrainingView(View):
    """State of the training of the next reward model, as reported by the service."""

    state: str = Field(description="idle or training.")
    judge_config: str | None
    labels: int
    new_labels: int = Field(description="Not used by any training yet.")
    episodes: int
    needs: tuple[NeedView, ...] = Field(description="Requirements of an automatic training.")
    pairs: NeedView | None = Field(description="Decided held-out pairs of the last training.")
    skipped: dict[str, int] = Field(description="Reason → score objects without a label.")
    judge_configs: tuple[JudgeConfigView, ...] = ()
    last_attempt: AttemptView | None
    last_rejection: AttemptView | None
    demotion: str | None = Field(default=None, description="Why a champion was withdrawn last.")


REJECTED_SHOWN = 20
"""Rows in the snapshot; REST has all that are kept."""

MAX_REJECTED = 200


class RewardModels:
    """Folds publications and rejections, repeated or in any order; all are counted.

    The champion is that of the newest message: an event, which is stored, or the service's reading,
    which is newer.
    """

    def __init__(self, *, keep_rejected: int = MAX_REJECTED) -> None:
        self._keep_rejected = keep_rejected
        self._published: dict[int, CloudEvent[RewardModelPublished]] = {}
        self._rejected: dict[str, RejectionDetail] = {}
        self._rejected_ids: set[str] = set()
        self._activations: dict[tuple[int, int], CloudEvent[RewardModelPublished]] = {}
        self._status: RewardModelStatus | None = None
        self._change: ChampionChanged | None = None

    @property
    def count(self) -> int:
        return len(self._published)

    @property
    def gaming_alarm(self) -> GamingAlarm | None:
        return self._status.gaming_alarm if self._status else None

    def published(self, event: CloudEvent[RewardModelPublished]) -> bool:
        """A version became the champion, by the gate or a person; False when this was known."""
        version, key = event.data.version, (event.data.version, event.data.activation)
        if key in self._activations:
            return False
        self._activations[key] = event
        first = self._published.get(version)
        if first is None or _rank(event) < _rank(first):
            self._published[version] = event
        return True

    def rejected(self, event: CloudEvent[RewardModelRejected]) -> bool:
        """The gate rejected a candidate; False when this was known."""
        data = event.data
        if data.candidate_id in self._rejected_ids:
            return False
        self._rejected_ids.add(data.candidate_id)
        row = RejectionDetail(rejected_at=event.time, **data.model_dump())
        self._rejected[data.candidate_id] = row
        if len(self._rejected) > self._keep_rejected:
            oldest = min(self._rejected.values(), key=lambda row: row.rejected_at)
            del self._rejected[oldest.candidate_id]
        return True

    def reported(self, status: RewardModelStatus) -> None:
        self._status = status

    def changed(self, change: ChampionChanged) -> None:
        self._change = change

    def rolled_back_from(self, event: CloudEvent[RewardModelPublished]) -> int | None:
        """The newer version that this activation replaced; None unless it is a rollback."""
        before = [each for each in self._activations.values() if _rank(each) < _rank(event)]
        version = max(before, key=_rank).data.version if before else 0
        return version if version > event.data.version else None

    def champion(self) -> ChampionView | None:
        """The live version; None before the first publication, and when it was withdrawn."""
        newest = max(self._activations.values(), key=_rank, default=None)
        status, change = self._status, self._change
        # One service sends all three, so that their times are of one clock.
        if (
            status is not None
            and (newest is None or status.at >= newest.time)
            and (change is None or status.at >= change.changed_at)
        ):
            if status.withdrawn is not None:
                return None
            if status.champion_version and status.activation is not None:
                return self._live(status.champion_version, status.activation, status)
        if change is not None and (newest is None or change.activation >= newest.data.activation):
            if change.withdrawn is not None:
                return None
            return self._live(change.version, change.activation, change)
        return self._live(newest.data.version, newest.data.activation, None) if newest else None

    def view(
        self, *, followed: bool, in_use: int | None, loads: Sequence[tuple[int, int]]
    ) -> RewardModelsView:
        """Rows, newest first; the count of rejections is null until the streams are followed."""
        champion = self.champion()
        sources = (self._status, self._change) if champion is None else ()
        return RewardModelsView(
            champion=champion,
            withdrawn=next((each.withdrawn for each in sources if each and each.withdrawn), None),
            next=NextModelView(**self._status.model_dump(include={"state", "labels", "missing"}))
            if self._status
            else None,
            published=tuple(
                RewardModelRow(
                    **event.data.model_dump(),
                    published_at=event.time,
                    champion=champion is not None and version == champion.version,
                    in_use=version == in_use,
                    loaded_at_steps=_steps(version, loads),
                )
                for version, event in sorted(self._published.items())[::-1]
            ),
            rejected=tuple(
                RejectionRow(**row.model_dump(exclude={"metrics"}))
                for row in self.rejections()[:REJECTED_SHOWN]
            ),
            rejected_count=len(self._rejected_ids) if followed else None,
        )

    def rejections(self) -> list[RejectionDetail]:
        return sorted(self._rejected.values(), key=lambda row: row.rejected_at, reverse=True)

    def standing(
        self, version: int, *, in_use: int | None, loads: Sequence[tuple[int, int]]
    ) -> ModelStanding | None:
        """State of a version; None if no event of it is known."""
        if version not in self._published:
            return None
        champion = self.champion()
        activations = (each for each in self._activations.values() if each.data.version == version)
        return ModelStanding(
            champion=champion is not None and champion.version == version,
            in_use=version == in_use,
            activated_at=tuple(sorted(each.time for each in activations)),
            loaded_at_steps=_steps(version, loads),
        )

    def _live(
        self,
        version: int,
        activation: int,
        source: RewardModelStatus | ChampionChanged | None,
    ) -> ChampionView:
        event = self._activations.get((version, activation))
        return ChampionView(
            version=version,
            since=event.time if event else None,
            went_back_from=self.rolled_back_from(event) if event else None,
            pinned=source.pinned if source else None,
            pin_reason=source.pin_reason if source else None,
            pinned_until=source.pinned_until if source else None,
            gate=source.champion_gate if isinstance(source, RewardModelStatus) else None,
        )


def _steps(version: int, loads: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(step for loaded, step in loads if loaded == version)


def _rank(event: CloudEvent[RewardModelPublished]) -> tuple[int, datetime]:
    return event.data.activation, event.time
