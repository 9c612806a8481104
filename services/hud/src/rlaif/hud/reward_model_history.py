"""Which reward models were published, which were refused, and which one the trainer uses."""

from datetime import datetime

from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import RewardModelPublished, RewardModelRejected
from rlaif.hud.views import RejectionRow, RewardModelRow, RewardModelsView


class RewardModelHistory:
    """Folds publications and rejections; repeats and any order are fine.

    Args:
        keep_rejected: Refused candidates kept for display; all are counted.
    """

    def __init__(self, *, keep_rejected: int = 20) -> None:
        self._keep_rejected = keep_rejected
        self._published: dict[int, CloudEvent[RewardModelPublished]] = {}
        self._rejected: dict[str, RejectionRow] = {}
        self._rejected_ids: set[str] = set()
        self._champion: CloudEvent[RewardModelPublished] | None = None
        self._activations: set[tuple[int, int]] = set()
        self._loads: dict[int, int] = {}
        self._loaded: tuple[int | None, int | None] = (None, None)

    @property
    def champion_version(self) -> int | None:
        """The version of the newest activation; a person may have gone back to an older one."""
        return self._champion.data.version if self._champion else None

    @property
    def published_at(self) -> datetime | None:
        """When the champion changed last."""
        return self._champion.time if self._champion else None

    @property
    def count(self) -> int:
        """Versions published."""
        return len(self._published)

    def published(self, event: CloudEvent[RewardModelPublished]) -> bool:
        """A version became the champion: a candidate passed the gate, or a person went back.

        Returns:
            False when this was known.
        """
        version, activation = event.data.version, event.data.activation
        if (version, activation) in self._activations:
            return False
        self._activations.add((version, activation))
        if self._champion is None or _rank(event) > _rank(self._champion):
            self._champion = event
        first = self._published.get(version)
        if first is None or _rank(event) < _rank(first):
            self._published[version] = event
        return True

    def rejected(self, event: CloudEvent[RewardModelRejected]) -> bool:
        """A candidate did not pass.

        Returns:
            False when this candidate was known.
        """
        data = event.data
        if data.candidate_id in self._rejected_ids:
            return False
        self._rejected_ids.add(data.candidate_id)
        self._rejected[data.candidate_id] = RejectionRow(
            rejected_at=event.time,
            **data.model_dump(),
        )
        if len(self._rejected) > self._keep_rejected:
            oldest = min(self._rejected.values(), key=lambda row: row.rejected_at)
            del self._rejected[oldest.candidate_id]
        return True

    def loaded(self, version: int | None, step: int | None) -> bool:
        """The trainer says which version it uses and since which step.

        Returns:
            True when that is news.
        """
        news = (version, step)
        if news == self._loaded:
            return False
        self._loaded = news
        if version is not None and step is not None:
            self._loads[version] = step
        return True

    def view(self, *, followed: bool) -> RewardModelsView:
        """Rows, newest first; the count of refusals is null until the streams are followed."""
        return RewardModelsView(
            published=tuple(self._row(version) for version in sorted(self._published)[::-1]),
            rejected=tuple(
                sorted(self._rejected.values(), key=lambda row: row.rejected_at, reverse=True)
            ),
            rejected_count=len(self._rejected_ids) if followed else None,
        )

    def _row(self, version: int) -> RewardModelRow:
        event = self._published[version]
        return RewardModelRow(
            version=version,
            published_at=event.time,
            parent_version=event.data.parent_version,
            labels=event.data.labels,
            episodes=event.data.episodes,
            heldout_accuracy=event.data.heldout_accuracy,
            heldout_pairs=event.data.heldout_pairs,
            champion=version == self.champion_version,
            in_use=version == self._loaded[0],
            loaded_at_step=self._loads.get(version),
        )


def _rank(event: CloudEvent[RewardModelPublished]) -> tuple[int, datetime]:
    """Orders the changes of the champion."""
    return event.data.activation, event.time
