"""Reward models: published, rejected, and which one is live."""

from collections.abc import Sequence
from datetime import datetime

from rlaif.contracts.events import (
    ChampionChanged,
    CloudEvent,
    RewardModelPublished,
    RewardModelRejected,
)
from rlaif.contracts.reward_models import GamingAlarm
from rlaif.contracts.telemetry.readings import RewardModelStatus
from rlaif.hud.read_model.views import (
    ChampionView,
    NextModelView,
    RewardModelRow,
    RewardModelsView,
)

MAX_REJECTED = 200


class RejectionView(RewardModelRejected):
    """One candidate that the gate rejected, or a withdrawn champion."""

    rejected_at: datetime


class RewardModels:
    """Folds publications and rejections, repeated or in any order; all are counted.

    The champion is the one that the service reports. Before its first report it is that of the
    event that was stored last: an event may contain any version, activation and time.
    """

    def __init__(self, *, keep_rejected: int = MAX_REJECTED) -> None:
        self._keep_rejected = keep_rejected
        self._published: dict[int, CloudEvent[RewardModelPublished]] = {}
        self._rejected: dict[str, RejectionView] = {}
        self._rejected_ids: set[str] = set()
        self._activations: dict[tuple[int, int], CloudEvent[RewardModelPublished]] = {}
        self._status: RewardModelStatus | None = None
        self._change: CloudEvent[ChampionChanged] | None = None

    @property
    def count(self) -> int:
        return len(self._published)

    @property
    def gaming_alarm(self) -> GamingAlarm | None:
        return self._status.gaming_alarm if self._status else None

    def published(self, event: CloudEvent[RewardModelPublished]) -> bool:
        """Fold a publication, by the gate or a person; returns False if it was known."""
        version, key = event.data.version, (event.data.version, event.data.activation)
        if key in self._activations:
            return False
        self._activations[key] = event
        first = self._published.get(version)
        if first is None or _rank(event) < _rank(first):
            self._published[version] = event
        return True

    def rejected(self, event: CloudEvent[RewardModelRejected]) -> bool:
        """Fold a rejection by the gate; returns False if it was known."""
        data = event.data
        if data.candidate_id in self._rejected_ids:
            return False
        self._rejected_ids.add(data.candidate_id)
        row = RejectionView(rejected_at=event.time, **data.model_dump())
        self._rejected[data.candidate_id] = row
        if len(self._rejected) > self._keep_rejected:
            oldest = min(self._rejected.values(), key=lambda row: row.rejected_at)
            del self._rejected[oldest.candidate_id]
        return True

    def reported(self, status: RewardModelStatus) -> None:
        self._status = status

    def changed(self, event: CloudEvent[ChampionChanged]) -> None:
        self._change = event

    def rolled_back_from(self, event: CloudEvent[RewardModelPublished]) -> int | None:
        """The newer version that this activation replaced; None unless it is a rollback."""
        before = [each for each in self._activations.values() if _rank(each) < _rank(event)]
        version = max(before, key=_rank).data.version if before else 0
        return version if version > event.data.version else None

    def champion(self) -> ChampionView | None:
        """The live version; None before the first publication and after a withdrawal."""
        status = self._status
        if status is not None:
            if status.champion_version is None or status.activation is None:
                return None
            return self._live(status.champion_version, status.activation, status)
        newest = max(self._activations.values(), key=lambda event: event.time, default=None)
        change = self._change
        if change is not None and (newest is None or change.time >= newest.time):
            data = change.data
            if data.withdrawn is not None:
                return None
            return self._live(data.version, data.activation, data)
        return self._live(newest.data.version, newest.data.activation, None) if newest else None

    def view(
        self, *, followed: bool, in_use: int | None, loads: Sequence[tuple[int, int]]
    ) -> RewardModelsView:
        """Rows, newest first; the count of rejections is null until the streams are followed."""
        champion = self.champion()
        source = self._status or (self._change.data if self._change else None)
        return RewardModelsView(
            champion=champion,
            withdrawn=source.withdrawn if source and champion is None else None,
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
            rejected_count=len(self._rejected_ids) if followed else None,
        )

    def rejections(self) -> list[RejectionView]:
        return sorted(self._rejected.values(), key=lambda row: row.rejected_at, reverse=True)

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
            rolled_back_from=self.rolled_back_from(event) if event else None,
            pinned=source.pinned if source else None,
            pin_reason=source.pin_reason if source else None,
            pinned_until=source.pinned_until if source else None,
            gate=source.champion_gate if isinstance(source, RewardModelStatus) else None,
        )


def _steps(version: int, loads: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    return tuple(step for loaded, step in loads if loaded == version)


def _rank(event: CloudEvent[RewardModelPublished]) -> tuple[int, datetime]:
    return event.data.activation, event.time
