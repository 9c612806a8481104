"""Reward models: published, rejected, and which one is live."""

from collections.abc import Sequence
from datetime import datetime

from pydantic import Field

from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import (
    ChampionChanged,
    RewardModelPublished,
    RewardModelRejected,
)
from rlaif.contracts.reward_models import GamingAlarm, GateMetrics, RewardModelManifest
from rlaif.contracts.telemetry import RewardModelStatus
from rlaif.hud.read_model.view import View
from rlaif.hud.read_model.views import (
    ChampionView,
    NextModelView,
    RejectionRow,
    RewardModelRow,
    RewardModelsView,
)


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


REJECTED_SHOWN = 20
"""Rows of the snapshot's section; REST gives all that are kept."""


class RewardModelHistory:
    """Folds publications and rejections, repeated or in any order; all are counted."""

    def __init__(self, *, keep_rejected: int = 200) -> None:
        self._keep_rejected = keep_rejected
        self._published: dict[int, CloudEvent[RewardModelPublished]] = {}
        self._rejected: dict[str, RejectionDetail] = {}
        self._rejected_ids: set[str] = set()
        self._activations: dict[tuple[int, int], CloudEvent[RewardModelPublished]] = {}
        self._status: RewardModelStatus | None = None
        self._change: ChampionChanged | None = None

    @property
    def champion_version(self) -> int | None:
        """The version of the newest activation; a person may have gone back to an older one."""
        champion = self.champion()
        return champion.version if champion else None

    @property
    def published_at(self) -> datetime | None:
        """When the champion changed last."""
        champion = self.champion()
        return champion.since if champion else None

    @property
    def count(self) -> int:
        """Versions published."""
        return len(self._published)

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
        """A candidate did not pass; False when it was known."""
        data = event.data
        if data.candidate_id in self._rejected_ids:
            return False
        self._rejected_ids.add(data.candidate_id)
        self._rejected[data.candidate_id] = RejectionDetail(
            rejected_at=event.time,
            **data.model_dump(),
        )
        if len(self._rejected) > self._keep_rejected:
            oldest = min(self._rejected.values(), key=lambda row: row.rejected_at)
            del self._rejected[oldest.candidate_id]
        return True

    @property
    def gaming_alarm(self) -> GamingAlarm | None:
        """The last alarm that the reward-model service reported since its start."""
        return self._status.gaming_alarm if self._status else None

    def told(self, status: RewardModelStatus) -> None:
        """The service says which champion is live, whether it is pinned, and what it waits for."""
        self._status = status

    def changed(self, change: ChampionChanged) -> None:
        """The champion or its pin changed; this is kept, unlike what the service says."""
        self._change = change

    def went_back(self, event: CloudEvent[RewardModelPublished]) -> int | None:
        """The newer version that this activation took the place of; None unless it went back."""
        before = [each for each in self._activations.values() if _rank(each) < _rank(event)]
        version = max(before, key=_rank).data.version if before else 0
        return version if version > event.data.version else None

    def champion(self) -> ChampionView | None:
        """What is live; None before the first publication, and when it was withdrawn."""
        newest, status = max(self._activations.values(), key=_rank, default=None), self._status
        change = self._change
        # One service sends all three, so their times are of one clock.
        told = (
            status is not None
            and (newest is None or status.at >= newest.time)
            and (change is None or status.at >= change.changed_at)
        )
        if told and status and status.withdrawn is not None:
            return None
        if told and status and status.champion_version and status.activation is not None:
            event = self._activations.get((status.champion_version, status.activation))
            return self._live(status.champion_version, event, status)
        if change is not None and (newest is None or change.activation >= newest.data.activation):
            if change.withdrawn is not None:
                return None
            event = self._activations.get((change.version, change.activation))
            return self._live(change.version, event, change)
        return self._live(newest.data.version, newest, None) if newest else None

    def view(
        self, *, followed: bool, in_use: int | None, loads: Sequence[tuple[int, int]]
    ) -> RewardModelsView:
        """Rows, newest first; the count of refusals is null until the streams are followed."""
        champion = self.champion()
        told = (self._status, self._change) if champion is None else ()
        withdrawn = next((each.withdrawn for each in told if each and each.withdrawn), None)
        return RewardModelsView(
            champion=champion,
            withdrawn=withdrawn,
            next=self._next(),
            published=tuple(
                self._row(
                    version,
                    champion=champion is not None and version == champion.version,
                    in_use=version == in_use,
                    steps=tuple(step for loaded, step in loads if loaded == version),
                )
                for version in sorted(self._published)[::-1]
            ),
            rejected=tuple(
                RejectionRow(**row.model_dump(exclude={"metrics"}))
                for row in self.rejections()[:REJECTED_SHOWN]
            ),
            rejected_count=len(self._rejected_ids) if followed else None,
        )

    def rejections(self) -> list[RejectionDetail]:
        """Refused candidates with all that was measured of them, newest first."""
        return sorted(self._rejected.values(), key=lambda row: row.rejected_at, reverse=True)

    def standing(
        self, version: int, *, in_use: int | None, loads: Sequence[tuple[int, int]]
    ) -> ModelStanding | None:
        """What became of a version; None when no event told of it."""
        if version not in self._published:
            return None
        champion = self.champion()
        activations = (each for each in self._activations.values() if each.data.version == version)
        return ModelStanding(
            champion=champion is not None and champion.version == version,
            in_use=version == in_use,
            activated_at=tuple(sorted(each.time for each in activations)),
            loaded_at_steps=tuple(step for loaded, step in loads if loaded == version),
        )

    def _live(
        self,
        version: int,
        event: CloudEvent[RewardModelPublished] | None,
        told: RewardModelStatus | ChampionChanged | None,
    ) -> ChampionView:
        """The view; before the service has told of a pin it is not known."""
        return ChampionView(
            version=version,
            since=event.time if event else None,
            went_back_from=self.went_back(event) if event else None,
            pinned=told.pinned if told else None,
            pin_reason=told.pin_reason if told else None,
            pinned_until=told.pinned_until if told else None,
            gate=told.champion_gate if isinstance(told, RewardModelStatus) else None,
        )

    def _next(self) -> NextModelView | None:
        if self._status is None:
            return None
        return NextModelView(
            state=self._status.state,
            labels=self._status.labels,
            missing=self._status.missing,
        )

    def _row(
        self, version: int, *, champion: bool, in_use: bool, steps: tuple[int, ...]
    ) -> RewardModelRow:
        event = self._published[version]
        return RewardModelRow(
            version=version,
            published_at=event.time,
            parent_version=event.data.parent_version,
            labels=event.data.labels,
            episodes=event.data.episodes,
            heldout_accuracy=event.data.heldout_accuracy,
            heldout_pairs=event.data.heldout_pairs,
            champion=champion,
            in_use=in_use,
            loaded_at_steps=steps,
        )


def _rank(event: CloudEvent[RewardModelPublished]) -> tuple[int, datetime]:
    """Orders the changes of the champion."""
    return event.data.activation, event.time
